"""Saving a measurement, and what follows from it: the seal's mode and an alert to the reviewers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from core.calibration.gates import BaselineFigure, Grade, ModeDecision, decide_mode
from core.calibration.measure import Calibration, calibration_json
from core.calibration.statistics import Estimate, Measured
from core.errors import RecordsError
from core.records.baselines import Baseline, append_baseline, list_baselines
from core.records.database import Database
from core.records.reviews import OPEN, list_reviews, open_review
from core.seal.state import change_state, read_states
from core.thresholds import CalibrationThresholds

# Kind of the inbox's items that a blocking kappa opens.
CALIBRATION = "calibration"
# What a baseline names as changed, by the name of its version.
_NAMES = {
    "prompt": "instrucciones", "model": "modelo", "corpus": "documentos", "thresholds": "umbrales",
    "reference": "conjunto de referencia", "judges": "jueces",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Saved:
    """What saving did. ``decision``: the switch of the seal's mode, None where it stays. ``alert``: one was opened."""

    number: int
    decision: ModeDecision | None
    alert: bool


def save_baseline(
    database: Database,
    found: Calibration,
    *,
    versions: Mapping[str, str],
    who: str,
    thresholds: CalibrationThresholds,
) -> Saved:
    """Store ``found`` with all ``versions`` (prompt, model, corpus, thresholds, reference, judges, …), then do what the
    gates say: switch the seal's mode, open an alert for a blocking kappa. ``who``: a person or a part of the program.

    Raises:
        RecordsError: there is no name, or the records cannot be written.
    """
    if not who.strip():
        raise RecordsError("Para guardar una línea de base hay que decir quién la guarda.")
    number = append_baseline(
        database,
        saved_by=who.strip(),
        versions=versions,
        n=found.pearson.n,
        pearson=_value(found.pearson),
        kappa=_value(found.kappa),
        details={**calibration_json(found), "versions": dict(versions)},
    )
    return Saved(number, apply_mode(database, thresholds), _alert(database, found, number))


def apply_mode(database: Database, thresholds: CalibrationThresholds) -> ModeDecision | None:
    """Bring the seal's mode in step with the stored baselines; the decision, None where nothing changes."""
    figures = [BaselineFigure(b.pearson, b.n) for b in list_baselines(database)]
    decision = decide_mode(figures, read_states(database)[-1].mode, thresholds)
    if decision is None or not change_state(
        database, decision.mode, reason=decision.reason, changed_by="calibración del sello"
    ):
        return None
    return decision


def changes(baselines: Sequence[Baseline]) -> tuple[tuple[str, ...], ...]:
    """For each baseline, in Spanish, what had changed since the one before (nothing for the first)."""
    found: list[tuple[str, ...]] = []
    for index, baseline in enumerate(baselines):
        before = versions_of(baselines[index - 1]) if index else versions_of(baseline)
        now = versions_of(baseline)
        found.append(tuple(name for key, name in _NAMES.items() if before.get(key, "") != now.get(key, "")))
    return tuple(found)


def versions_of(baseline: Baseline) -> Mapping[str, str]:
    """All versions that a baseline was measured with."""
    stored = baseline.details.get("versions")
    return {
        "prompt": baseline.prompt_version,
        "model": baseline.model,
        "corpus": baseline.corpus_version,
        "thresholds": baseline.thresholds_version,
        **(stored if isinstance(stored, dict) else {}),
    }


def _alert(database: Database, found: Calibration, number: int) -> bool:
    """An alert for a blocking kappa, unless one is open."""
    if found.grade_kappa is not Grade.BLOCKING or not isinstance(found.kappa, Estimate):
        return False
    if list_reviews(database, kind=CALIBRATION, status=OPEN):
        return False
    value = f"{found.kappa.value:.2f}".replace(".", ",")
    return open_review(
        database,
        kind=CALIBRATION,
        subject=f"kappa:{number}",
        title="Los veredictos y el panel de jueces no concuerdan",
        details={
            "baseline": number,
            "kappa": round(found.kappa.value, 4),
            "ci": [round(found.kappa.low, 4), round(found.kappa.high, 4)],
            "n": found.kappa.n,
            "reason": f"La kappa de Cohen de la línea de base {number} es {value} (n = {found.kappa.n}): bloqueante.",
        },
    )


def _value(found: Measured) -> float | None:
    return found.value if isinstance(found, Estimate) else None
