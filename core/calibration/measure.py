"""One measurement of the calibration, from cases to the numbers that page, command and baseline show."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from core.calibration.gates import Grade, grade_kappa, grade_pearson, worst
from core.calibration.panel import PanelCase
from core.calibration.statistics import (
    LEVEL_VALUE,
    Estimate,
    Measured,
    ReliabilityBin,
    RiskPoint,
    Unmeasured,
    calibration_error,
    faithful_by_level,
    kappa,
    pairwise_kappas,
    pearson,
    reliability,
    risk_coverage,
)
from core.models import Level
from core.thresholds import CalibrationThresholds


@dataclass(frozen=True, slots=True)
class Case:
    """What the statistics read of one answer: seal, verdict (0..1) and the highest rerank score (0..1)."""

    id: str
    level: Level
    faithfulness: float
    rerank: float


@dataclass(frozen=True, slots=True)
class Calibration:
    """All that is known of the seal's calibration on some cases.

    ``pearson`` leaves out the cases on which the judges are too far apart (``excluded``), ``pearson_all`` does not;
    the same with ``kappa``, which is between the verdicts and the panel's majority.
    """

    cases: int
    excluded: tuple[str, ...]
    pearson: Measured
    pearson_all: Measured
    kappa: Measured
    kappa_all: Measured
    pairwise: Mapping[tuple[str, str], Measured]
    by_level: Mapping[Level, Measured]
    ece: Measured
    curve: tuple[ReliabilityBin, ...]
    risk: tuple[RiskPoint, ...]
    grade_pearson: Grade
    grade_kappa: Grade

    @property
    def grade(self) -> Grade:
        """The worse of the two gates."""
        return worst((self.grade_pearson, self.grade_kappa))


def measure(cases: Sequence[Case], panel: Sequence[PanelCase], thresholds: CalibrationThresholds) -> Calibration:
    """Measure ``cases`` (of the part that set no threshold) against verdicts and panel.

    A panel case without a case of the same id is ignored; a case without panel scores counts for r, not for kappa.
    """
    minimum = thresholds.minimum_cases
    known = {case.id: case for case in cases}
    scored = [p for p in panel if p.case_id in known]
    left_out = {p.case_id for p in scored if not p.reliable(thresholds.max_dispersion)}
    kept = [case for case in cases if case.id not in left_out]
    agreeing = [p for p in scored if p.case_id not in left_out]
    found_r = _pearson(kept, minimum)
    found_kappa = _kappa(agreeing, known, minimum)
    names = list(scored[0].scores) if scored else []
    curve = reliability([c.rerank for c in cases], [c.faithfulness for c in cases])
    return Calibration(
        cases=len(cases),
        excluded=tuple(sorted(left_out)),
        pearson=found_r,
        pearson_all=_pearson(cases, minimum),
        kappa=found_kappa,
        kappa_all=_kappa(scored, known, minimum),
        pairwise=pairwise_kappas({n: [p.scores[n] for p in scored] for n in names}, minimum=minimum),
        by_level=faithful_by_level([c.level for c in cases], [c.faithfulness for c in cases]),
        ece=calibration_error([c.rerank for c in cases], [c.faithfulness for c in cases], minimum=minimum),
        curve=() if isinstance(curve, Unmeasured) else curve,
        risk=risk_coverage([c.level for c in cases], [c.faithfulness for c in cases]),
        grade_pearson=grade_pearson(found_r, thresholds),
        grade_kappa=grade_kappa(found_kappa, thresholds),
    )


def _pearson(cases: Sequence[Case], minimum: int) -> Measured:
    return pearson([LEVEL_VALUE[c.level] for c in cases], [c.faithfulness for c in cases], minimum=minimum)


def _kappa(panel: Sequence[PanelCase], known: Mapping[str, Case], minimum: int) -> Measured:
    return kappa([known[p.case_id].faithfulness for p in panel], [p.majority for p in panel], minimum=minimum)


def as_json(found: Measured, *, name: str = "value") -> dict[str, object]:
    """A figure as the command prints it; one that cannot be given has null and the reason."""
    if isinstance(found, Estimate):
        data: dict[str, object] = {name: round(found.value, 4), "ci": [round(found.low, 4), round(found.high, 4)]}
        if found.p is not None:
            data["p"] = float(f"{found.p:.3g}")
        return {**data, "n": found.n}
    return {name: None, "ci": None, "n": found.n, "reason": str(found.reason)}


def calibration_json(found: Calibration) -> dict[str, object]:
    """The measurement as ``python -m core calibrate --json`` prints it and a baseline stores it."""
    return {
        "cases": found.cases,
        "pearson": {**as_json(found.pearson, name="r"), "grade": str(found.grade_pearson)},
        "pearson_all": as_json(found.pearson_all, name="r"),
        "kappa": {
            **as_json(found.kappa),
            "excluded": list(found.excluded),
            "grade": str(found.grade_kappa),
        },
        "kappa_all": as_json(found.kappa_all),
        "pairwise_kappa": {f"{a} / {b}": as_json(value) for (a, b), value in found.pairwise.items()},
        "faithful_by_level": {str(level): as_json(value, name="share") for level, value in found.by_level.items()},
        "ece": as_json(found.ece),
        "reliability": [{"predicted": b.predicted, "observed": b.observed, "n": b.n} for b in found.curve],
        "risk_coverage": [
            {"level": str(p.level), "coverage": p.coverage, "risk": as_json(p.risk, name="share")} for p in found.risk
        ],
        "grade": str(found.grade),
    }
