"""The calibration as page and command read it: reference, panel and people's verdicts joined, and measured."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from core.calibration.measure import Calibration, Case, measure
from core.calibration.panel import PanelCase
from core.calibration.reference import PanelScores, ReferenceCase, ReferenceSet, load_panel, load_reference
from core.config import Settings
from core.errors import RegisterError
from core.models import Level
from core.records.verdicts import Verdict
from core.thresholds import CalibrationThresholds

REPORT, TUNING = "report", "tuning"


@dataclass(frozen=True, slots=True)
class Reference:
    """The reference set with the panel's scores. ``panel_problem``: why there are none, in Spanish, else ''."""

    found: ReferenceSet
    panel: PanelScores | None
    panel_problem: str

    def versions(self) -> dict[str, str]:
        """What the answers were made and judged with; several values of one are joined by « + »."""
        keys = sorted({key for case in self.found.cases for key in case.versions})
        own = {key: " + ".join(sorted({case.versions.get(key, "") for case in self.found.cases})) for key in keys}
        judges = ", ".join(f"{j.name} {j.version}" for j in self.panel.judges) if self.panel else ""
        return {**own, "reference": self.found.version, "judges": judges}

    def panel_cases(self) -> tuple[PanelCase, ...]:
        """The scored cases; none where the scores are of another reference set."""
        return self.panel.cases() if self.panel else ()


def read_reference(settings: Settings) -> Reference:
    """Reference set and panel scores; read once for each state of the files.

    Raises:
        RegisterError: there is no valid reference set. A missing panel is no error.
    """
    return _read(
        settings.reference_file, settings.panel_file, _state(settings.reference_file), _state(settings.panel_file)
    )


@lru_cache(maxsize=4)
def _read(reference: Path, panel: Path, _reference_state: float, _panel_state: float) -> Reference:
    if not reference.exists():
        raise RegisterError(
            f"Todavía no hay conjunto de referencia ({reference.name}): sin él no se puede medir si el sello acierta."
        )
    found = load_reference(reference)
    if not found.cases:
        raise RegisterError(f"El conjunto de referencia ({reference.name}) no tiene ningún caso.")
    try:
        scores = load_panel(panel)
    except RegisterError as error:
        return Reference(
            found, None, str(error) if panel.exists() else f"El panel todavía no ha puntuado ({panel.name})."
        )
    if scores.reference_version != found.version:
        return Reference(
            found,
            None,
            f"El panel puntuó el conjunto {scores.reference_version} y este es el {found.version}: "
            "ejecute «python scripts/score_panel.py».",
        )
    return Reference(found, scores, "")


def _state(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


@dataclass(frozen=True, slots=True)
class JudgedCase:
    """A reference case with people's verdicts. ``faithfulness``: theirs (majority; in a tie, the maintainers') where
    there is any, else the maintainers'."""

    case: ReferenceCase
    people: tuple[Verdict, ...]
    faithfulness: float

    def as_case(self) -> Case:
        """What the statistics read."""
        rerank = self.case.signals.get("rerank")
        number = float(rerank) if isinstance(rerank, int | float) else float("nan")
        return Case(self.case.id, self.case.level, self.faithfulness, number)


def with_people(found: ReferenceSet, verdicts: Sequence[Verdict], *, count_people: bool = True) -> list[JudgedCase]:
    """The cases with the verdicts given on them (on this version of the set). A person's last verdict on a case counts."""
    given: dict[str, dict[str, Verdict]] = {}
    for verdict in verdicts:
        if verdict.kind == "reference" and verdict.reference_version == found.version:
            given.setdefault(verdict.case_id, {})[verdict.reviewer] = verdict
    return [_judged(case, tuple(given.get(case.id, {}).values()), count_people) for case in found.cases]


def _judged(case: ReferenceCase, people: tuple[Verdict, ...], count_people: bool) -> JudgedCase:
    value = case.faithfulness
    if people and count_people:
        yes = sum(verdict.faithfulness for verdict in people)
        if 2 * yes != len(people):
            value = float(2 * yes > len(people))
    return JudgedCase(case, people, value)


@dataclass(frozen=True, slots=True)
class CaseFilter:
    """Which reference cases: empty means all. ``part``: ``report``, ``tuning``, '' for both."""

    part: str = REPORT
    categories: tuple[str, ...] = ()
    modes: tuple[str, ...] = ()
    documents: tuple[str, ...] = ()
    versions: tuple[str, ...] = ()

    def keeps(self, case: ReferenceCase) -> bool:
        """Whether ``case`` passes."""
        return (
            (not self.part or case.part == self.part)
            and (not self.categories or case.category in self.categories)
            and (not self.modes or case.mode in self.modes)
            and (not self.documents or any(source.doc_id in self.documents for source in case.sources))
            and (not self.versions or case.versions.get("thresholds", "") in self.versions)
        )


def measured(reference: Reference, cases: Sequence[JudgedCase], thresholds: CalibrationThresholds) -> Calibration:
    """The measurement of these cases; kept, for its intervals take a second."""
    panel = tuple((case.case_id, tuple(case.scores.items())) for case in reference.panel_cases())
    return _measured(tuple(case.as_case() for case in cases), panel, thresholds)


@lru_cache(maxsize=64)
def _measured(
    cases: tuple[Case, ...],
    panel: tuple[tuple[str, tuple[tuple[str, float], ...]], ...],
    thresholds: CalibrationThresholds,
) -> Calibration:
    return measure(cases, [PanelCase(case_id, dict(scores)) for case_id, scores in panel], thresholds)


def shipped(reference: Reference, verdicts: Sequence[Verdict], thresholds: CalibrationThresholds) -> Calibration:
    """The measurement that counts: the part ``report``, unfiltered, with people's verdicts."""
    cases = [c for c in with_people(reference.found, verdicts) if c.case.part == REPORT]
    return measured(reference, cases, thresholds)


def production(
    rows: Sequence[Mapping[str, object]], verdicts: Sequence[Verdict], thresholds: CalibrationThresholds
) -> tuple[Calibration, list[Case]]:
    """The measurement of interactions that people have given a verdict on. ``rows``: id, level and signals."""
    given: dict[str, dict[str, float]] = {}
    for verdict in verdicts:
        if verdict.kind == "interaction":
            given.setdefault(verdict.case_id, {})[verdict.reviewer] = verdict.faithfulness
    cases = []
    for row in rows:
        own = given.get(str(row["id"]))
        signals = row["signals"]
        rerank = signals.get("rerank") if isinstance(signals, dict) else None
        if own:
            value = float(2 * sum(own.values()) > len(own))
            number = float(rerank) if isinstance(rerank, int | float) else float("nan")
            cases.append(Case(str(row["id"]), Level(str(row["level"])), value, number))
    return measure(cases, (), thresholds), cases
