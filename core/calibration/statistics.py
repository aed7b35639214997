"""The numbers of the calibration: correlation, agreement, shares, reliability, risk and coverage.

scipy and scikit-learn do the arithmetic. What cannot be computed honestly (too few cases, a constant, NaN) is
`Unmeasured` with a named reason, never a number.
"""

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from sklearn.metrics import cohen_kappa_score

from core.models import Level

# The seal as a number (issue and `confidence_seal.md`: an ordinal class, low < medium < high).
LEVEL_VALUE: Mapping[Level, float] = {Level.LOW: 0.0, Level.MEDIUM: 0.5, Level.HIGH: 1.0}
RESAMPLES = 2000
CONFIDENCE = 0.95
_SEED = 20261130

Floats = NDArray[np.float64]


class Reason(StrEnum):
    """Why a figure is not given."""

    TOO_FEW = "too_few"
    NOT_A_NUMBER = "not_a_number"
    ONE_LEVEL = "one_level"
    ONE_VERDICT = "one_verdict"
    OUT_OF_RANGE = "out_of_range"
    DIFFERENT_LENGTHS = "different_lengths"


REASON_TEXT: Mapping[Reason, str] = {
    Reason.TOO_FEW: "hay muy pocos casos",
    Reason.NOT_A_NUMBER: "hay valores que no son números",
    Reason.ONE_LEVEL: "todos los sellos son iguales",
    Reason.ONE_VERDICT: "todos los veredictos son iguales",
    Reason.OUT_OF_RANGE: "hay valores fuera de 0 a 1",
    Reason.DIFFERENT_LENGTHS: "las listas no tienen la misma longitud",
}


@dataclass(frozen=True, slots=True)
class Unmeasured:
    """A figure that cannot be given, and why. ``n``: cases there were."""

    reason: Reason
    n: int

    @property
    def text(self) -> str:
        """The reason in Spanish."""
        return f"Sin medida: {REASON_TEXT[self.reason]} (n = {self.n})."


@dataclass(frozen=True, slots=True)
class Estimate:
    """A figure with its 95 % interval, the number of cases, and the p value where the test has one."""

    value: float
    low: float
    high: float
    n: int
    p: float | None = None


Measured = Estimate | Unmeasured


def pearson(seal: Sequence[float], faithfulness: Sequence[float], *, minimum: int) -> Measured:
    """Pearson's r between the seal as a number (`LEVEL_VALUE`) and faithfulness (0..1), two-sided p,
    percentile bootstrap interval over the cases."""
    x, y = np.asarray(seal, dtype=np.float64), np.asarray(faithfulness, dtype=np.float64)
    problem = _problem(x, y, minimum)
    if problem:
        return problem
    if np.ptp(x) == 0:
        return Unmeasured(Reason.ONE_LEVEL, len(x))
    if np.ptp(y) == 0:
        return Unmeasured(Reason.ONE_VERDICT, len(x))
    found = stats.pearsonr(x, y)
    low, high = _interval((x, y), _correlations)
    return Estimate(float(found.statistic), low, high, len(x), float(found.pvalue))


def kappa(first: Sequence[float], second: Sequence[float], *, minimum: int) -> Measured:
    """Cohen's kappa between two raters' verdicts (faithful: ≥ 0.5), with a percentile bootstrap interval.

    Two raters who both give one and the same verdict to every case leave kappa undefined (0/0): `Unmeasured`.
    """
    x, y = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    problem = _problem(x, y, minimum)
    if problem:
        return problem
    a, b = x >= 0.5, y >= 0.5
    if len(set(a.tolist()) | set(b.tolist())) == 1:
        return Unmeasured(Reason.ONE_VERDICT, len(a))
    value = float(cohen_kappa_score(a, b))
    low, high = _interval((a.astype(np.float64), b.astype(np.float64)), _kappas)
    return Estimate(value, low, high, len(a))


def pairwise_kappas(scores: Mapping[str, Sequence[float]], *, minimum: int) -> dict[tuple[str, str], Measured]:
    """Kappa of each pair of judges over the same cases, in the judges' order."""
    return {(a, b): kappa(scores[a], scores[b], minimum=minimum) for a, b in combinations(scores, 2)}


def faithful_by_level(levels: Sequence[Level], faithfulness: Sequence[float]) -> dict[Level, Measured]:
    """Share of faithful answers (≥ 0.5) at each level, with Wilson's interval (Wilson, 1927)."""
    y = np.asarray(faithfulness, dtype=np.float64)
    found: dict[Level, Measured] = {}
    for level in Level:
        own = y[[seal == level for seal in levels]] if len(levels) == len(y) else y[:0]
        if len(levels) != len(y):
            found[level] = Unmeasured(Reason.DIFFERENT_LENGTHS, len(y))
        elif not np.isfinite(own).all():
            found[level] = Unmeasured(Reason.NOT_A_NUMBER, len(own))
        elif not len(own):
            found[level] = Unmeasured(Reason.TOO_FEW, 0)
        else:
            faithful = int((own >= 0.5).sum())
            interval = stats.binomtest(faithful, len(own)).proportion_ci(CONFIDENCE, method="wilson")
            found[level] = Estimate(faithful / len(own), float(interval.low), float(interval.high), len(own))
    return found


@dataclass(frozen=True, slots=True)
class ReliabilityBin:
    """One bin of the reliability curve: mean of the predicted probability, observed share, cases."""

    predicted: float
    observed: float
    n: int


def reliability(
    probability: Sequence[float], outcome: Sequence[float], *, bins: int = 10
) -> tuple[ReliabilityBin, ...] | Unmeasured:
    """The reliability curve in bins of equal mass (fewer where there are fewer cases than bins)."""
    p, y = np.asarray(probability, dtype=np.float64), np.asarray(outcome, dtype=np.float64)
    problem = _problem(p, y, 1)
    if problem:
        return problem
    order = np.argsort(p, kind="stable")
    parts = [part for part in np.array_split(order, min(bins, len(order))) if len(part)]
    return tuple(ReliabilityBin(float(p[part].mean()), float(y[part].mean()), len(part)) for part in parts)


def calibration_error(
    probability: Sequence[float], outcome: Sequence[float], *, bins: int = 10, minimum: int
) -> Measured:
    """Expected calibration error over bins of equal mass (Naeini et al., 2015; Nixon et al., 2019 for the bins)."""
    p, y = np.asarray(probability, dtype=np.float64), np.asarray(outcome, dtype=np.float64)
    problem = _problem(p, y, minimum)
    if problem:
        return problem
    value = float(_calibration_errors(p, y, bins=bins))
    low, high = _interval((p, y), partial(_calibration_errors, bins=bins))
    return Estimate(value, low, high, len(p))


@dataclass(frozen=True, slots=True)
class RiskPoint:
    """If only answers of ``level`` or better are trusted: share of all answers (coverage), share of those that is
    not faithful (risk)."""

    level: Level
    coverage: float
    risk: Measured


def risk_coverage(levels: Sequence[Level], faithfulness: Sequence[float]) -> tuple[RiskPoint, ...]:
    """Selective risk against coverage at each level, strictest first (El-Yaniv and Wiener, 2010)."""
    y = np.asarray(faithfulness, dtype=np.float64)
    if len(levels) != len(y) or not len(y) or not np.isfinite(y).all():
        return ()
    values = np.array([LEVEL_VALUE[level] for level in levels])
    points = []
    for level in (Level.HIGH, Level.MEDIUM, Level.LOW):
        own = y[values >= LEVEL_VALUE[level]]
        risk: Measured = Unmeasured(Reason.TOO_FEW, 0)
        if len(own):
            wrong = int((own < 0.5).sum())
            interval = stats.binomtest(wrong, len(own)).proportion_ci(CONFIDENCE, method="wilson")
            risk = Estimate(wrong / len(own), float(interval.low), float(interval.high), len(own))
        points.append(RiskPoint(level, len(own) / len(y), risk))
    return tuple(points)


def _correlations(x: Floats, y: Floats, axis: int = -1) -> Floats:
    """Pearson's r along ``axis``, NaN for a constant: scipy's own, many samples at once."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", category=stats.ConstantInputWarning)
        return np.asarray(stats.pearsonr(x, y, axis=axis).statistic)


def _kappas(a: Floats, b: Floats, axis: int = -1) -> Floats:
    """Cohen's kappa of 0/1 verdicts along ``axis``, NaN where it is 0/0.

    scikit-learn computes one at a time, which takes seconds for a bootstrap; a test holds the two together.
    """
    first, second = a.mean(axis=axis), b.mean(axis=axis)
    observed = (a == b).mean(axis=axis)
    chance = first * second + (1 - first) * (1 - second)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(chance < 1, (observed - chance) / (1 - chance), np.nan)


def _calibration_errors(p: Floats, y: Floats, axis: int = -1, *, bins: int = 10) -> Floats:
    """Expected calibration error along ``axis``, with the bins of `reliability`."""
    p, y = np.moveaxis(p, axis, -1), np.moveaxis(y, axis, -1)
    order = np.argsort(p, axis=-1, kind="stable")
    p, y = np.take_along_axis(p, order, axis=-1), np.take_along_axis(y, order, axis=-1)
    n = p.shape[-1]
    parts = [part for part in np.array_split(np.arange(n), min(bins, n)) if len(part)]
    gaps = [len(part) * np.abs(p[..., part].mean(axis=-1) - y[..., part].mean(axis=-1)) for part in parts]
    return np.asarray(sum(gaps) / n)


def _problem(x: Floats, y: Floats, minimum: int) -> Unmeasured | None:
    if len(x) != len(y):
        return Unmeasured(Reason.DIFFERENT_LENGTHS, min(len(x), len(y)))
    if not (np.isfinite(x).all() and np.isfinite(y).all()):
        return Unmeasured(Reason.NOT_A_NUMBER, len(x))
    if len(x) < minimum:
        return Unmeasured(Reason.TOO_FEW, len(x))
    if ((x < 0) | (x > 1)).any() or ((y < 0) | (y > 1)).any():
        return Unmeasured(Reason.OUT_OF_RANGE, len(x))
    return None


def _interval(data: tuple[Floats, Floats], statistic: Callable[..., Floats]) -> tuple[float, float]:
    """Percentile bootstrap over pairs (Efron and Tibshirani, 1993); constant resamples are left out.

    ``statistic(x, y, axis=…)`` takes many samples at once.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", category=stats.DegenerateDataWarning)
        found = stats.bootstrap(
            data,
            statistic,
            paired=True,
            vectorized=True,
            n_resamples=RESAMPLES,
            confidence_level=CONFIDENCE,
            method="percentile",
            rng=np.random.default_rng(_SEED),
        )
    drawn = found.bootstrap_distribution
    drawn = drawn[np.isfinite(drawn)]
    tail = 100 * (1 - CONFIDENCE) / 2
    return float(np.percentile(drawn, tail)), float(np.percentile(drawn, 100 - tail))
