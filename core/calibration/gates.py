"""What a measured calibration allows: grades, exit codes, and when the seal changes its mode."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from core.calibration.statistics import Estimate, Measured
from core.models import SealMode
from core.thresholds import CalibrationThresholds


class Grade(StrEnum):
    """Where a figure stands against its bands; ``unmeasured`` where there is none."""

    EXPECTED = "expected"
    ACCEPTABLE = "acceptable"
    BLOCKING = "blocking"
    UNMEASURED = "unmeasured"


GRADE_TEXT = {
    Grade.EXPECTED: "como se espera",
    Grade.ACCEPTABLE: "aceptable",
    Grade.BLOCKING: "bloqueante",
    Grade.UNMEASURED: "sin medida",
}

# Exit codes of ``python -m core calibrate --gate``. What cannot be measured does not pass.
EXIT_CODES = {Grade.EXPECTED: 0, Grade.ACCEPTABLE: 3, Grade.BLOCKING: 4, Grade.UNMEASURED: 4}


def grade_pearson(found: Measured, thresholds: CalibrationThresholds) -> Grade:
    """r over 0.7 expected, over 0.5 acceptable, else blocking (bounds themselves belong to the lower band)."""
    return _grade(found, thresholds.pearson_expected, thresholds.pearson_acceptable)


def grade_kappa(found: Measured, thresholds: CalibrationThresholds) -> Grade:
    """kappa over 0.6 expected, over 0.4 acceptable, else blocking."""
    return _grade(found, thresholds.kappa_expected, thresholds.kappa_acceptable)


def _grade(found: Measured, expected: float, acceptable: float) -> Grade:
    if not isinstance(found, Estimate):
        return Grade.UNMEASURED
    if found.value > expected:
        return Grade.EXPECTED
    return Grade.ACCEPTABLE if found.value > acceptable else Grade.BLOCKING


def worst(grades: Sequence[Grade]) -> Grade:
    """The grade that decides: the one furthest from what is expected."""
    order = (Grade.EXPECTED, Grade.ACCEPTABLE, Grade.UNMEASURED, Grade.BLOCKING)
    return max(grades, key=order.index)


@dataclass(frozen=True, slots=True)
class BaselineFigure:
    """What the switch reads of a stored baseline: r (None where unmeasured) and its number of cases."""

    r: float | None
    n: int


@dataclass(frozen=True, slots=True)
class ModeDecision:
    """The mode that the seal should have, and why, in Spanish."""

    mode: SealMode
    reason: str


def decide_mode(
    baselines: Sequence[BaselineFigure], current: SealMode, thresholds: CalibrationThresholds
) -> ModeDecision | None:
    """Whether the seal's mode changes, from the stored baselines in order of time; None where it stays.

    Two baselines in a row under the acceptable r switch to deterministic; one does not; an acceptable one switches
    back. A baseline without r, or with fewer cases than ``switch_cases``, counts for neither.
    """
    counted = [b for b in baselines if b.r is not None and b.n >= thresholds.switch_cases]
    if not counted or counted[-1].r is None:
        return None
    if current is SealMode.DETERMINISTIC:
        if counted[-1].r > thresholds.pearson_acceptable:
            return ModeDecision(SealMode.NORMAL, f"La última calibración es aceptable (r = {_text(counted[-1].r)}).")
        return None
    last = counted[-thresholds.switch_after :]
    if len(last) < thresholds.switch_after or any(b.r is None or b.r >= thresholds.pearson_acceptable for b in last):
        return None
    values = ", ".join(_text(b.r) for b in last if b.r is not None)
    return ModeDecision(
        SealMode.DETERMINISTIC,
        f"{len(last)} calibraciones seguidas con r menor que {_text(thresholds.pearson_acceptable)} ({values}).",
    )


def _text(value: float) -> str:
    return f"{value:.2f}".replace(".", ",")
