"""The statistics against scipy, scikit-learn and worked examples; and everything that has no figure."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from sklearn.calibration import calibration_curve
from sklearn.metrics import cohen_kappa_score

from core.calibration.gates import (
    EXIT_CODES,
    BaselineFigure,
    Grade,
    decide_mode,
    grade_kappa,
    grade_pearson,
    worst,
)
from core.calibration.panel import PanelCase, unreliable
from core.calibration.statistics import (
    LEVEL_VALUE,
    Estimate,
    Measured,
    Reason,
    Unmeasured,
    _calibration_errors,
    _correlations,
    _kappas,
    calibration_error,
    faithful_by_level,
    kappa,
    pairwise_kappas,
    pearson,
    reliability,
    risk_coverage,
)
from core.models import Level, SealMode
from core.thresholds import load_thresholds

GATES = load_thresholds().calibration
LEVELS = [Level.LOW] * 10 + [Level.MEDIUM] * 20 + [Level.HIGH] * 30
FAITHFUL = [0.0] * 8 + [1.0] * 2 + [0.0] * 6 + [1.0] * 14 + [0.0] * 1 + [1.0] * 29
SEAL = [LEVEL_VALUE[level] for level in LEVELS]


def value(found: Measured) -> Estimate:
    assert isinstance(found, Estimate), found
    return found


def test_pearson_is_scipy_s_with_an_interval_around_it() -> None:
    found, expected = value(pearson(SEAL, FAITHFUL, minimum=20)), stats.pearsonr(SEAL, FAITHFUL)
    assert found.value == pytest.approx(expected.statistic) and found.p == pytest.approx(expected.pvalue)
    assert found.low < found.value < found.high and found.n == 60
    reference = stats.bootstrap(
        (np.array(SEAL), np.array(FAITHFUL)), lambda a, b: stats.pearsonr(a, b).statistic,
        paired=True, vectorized=False, n_resamples=2000, method="percentile", rng=np.random.default_rng(1),
    ).confidence_interval  # fmt: skip
    assert (found.low, found.high) == pytest.approx((reference.low, reference.high), abs=0.03)


def test_pearson_worked_example() -> None:
    """A perfect line is 1; of (1, 2, 3, 4, 5)/5 with (2, 4, 5, 4, 5)/5 r = 6 / sqrt(10 · 6) by hand."""
    assert value(pearson([0.0, 0.5, 1.0] * 5, [0.0, 0.5, 1.0] * 5, minimum=3)).value == pytest.approx(1.0)
    found = value(pearson([0.2, 0.4, 0.6, 0.8, 1.0], [0.4, 0.8, 1.0, 0.8, 1.0], minimum=5))
    assert found.value == pytest.approx(6 / math.sqrt(60))


def test_kappa_worked_example() -> None:
    """The 2 × 2 table 20, 5, 10, 15: agreement 0.70, by chance 0.50, kappa 0.40."""
    first = [1.0] * 25 + [0.0] * 25
    second = [1.0] * 20 + [0.0] * 5 + [1.0] * 10 + [0.0] * 15
    found = value(kappa(first, second, minimum=20))
    assert found.value == pytest.approx(0.4) and found.low < 0.4 < found.high
    assert found.value == pytest.approx(cohen_kappa_score(np.array(first) > 0, np.array(second) > 0))


def test_many_samples_at_once_are_the_libraries_one_by_one() -> None:
    """The bootstrap computes its samples together; each must be what scipy and scikit-learn give, NaN where undefined."""
    random = np.random.default_rng(3)
    a, b = (random.random((40, 25)) < 0.8).astype(float), (random.random((40, 25)) < 0.7).astype(float)
    a[0], b[0] = 1.0, 1.0
    kappas, correlations = _kappas(a, b), _correlations(a, b)
    assert math.isnan(kappas[0]) and math.isnan(correlations[0])
    for i in range(1, 40):
        assert kappas[i] == pytest.approx(cohen_kappa_score(a[i], b[i]))
        assert correlations[i] == pytest.approx(stats.pearsonr(a[i], b[i]).statistic)
    p = random.random((20, 30))
    y = (random.random((20, 30)) < p).astype(float)
    for row, (predicted, outcome) in zip(_calibration_errors(p, y, bins=10), zip(p, y, strict=True), strict=True):
        observed, mean = calibration_curve(outcome, predicted, n_bins=10, strategy="quantile")
        assert row == pytest.approx(float(np.mean(np.abs(observed - mean))))  # thirty cases: three a bin


def test_pairwise_kappas_name_each_pair_once() -> None:
    found = pairwise_kappas({"a": FAITHFUL, "b": FAITHFUL, "c": FAITHFUL[::-1]}, minimum=20)
    assert list(found) == [("a", "b"), ("a", "c"), ("b", "c")]
    assert value(found["a", "b"]).value == 1.0 and value(found["a", "c"]).value < 0.2


def test_shares_and_risk_by_level() -> None:
    shares = faithful_by_level(LEVELS, FAITHFUL)
    assert [round(value(shares[level]).value, 3) for level in (Level.LOW, Level.MEDIUM, Level.HIGH)] == [
        0.2,
        0.7,
        0.967,
    ]
    # Wilson's interval for 8 of 10 is 0.490 to 0.943 in the textbooks.
    eight = value(faithful_by_level([Level.LOW] * 10, [1.0] * 8 + [0.0] * 2)[Level.LOW])
    assert (eight.low, eight.high) == pytest.approx((0.4902, 0.9433), abs=5e-4)
    points = risk_coverage(LEVELS, FAITHFUL)
    assert [(p.level, round(p.coverage, 3), round(value(p.risk).value, 3)) for p in points] == [
        (Level.HIGH, 0.5, 0.033), (Level.MEDIUM, 0.833, 0.14), (Level.LOW, 1.0, 0.25),
    ]  # fmt: skip
    assert faithful_by_level([Level.HIGH], [1.0])[Level.LOW] == Unmeasured(Reason.TOO_FEW, 0)
    assert risk_coverage([], []) == () and risk_coverage([Level.LOW], [math.nan]) == ()


def test_reliability_is_scikit_learn_s_where_bins_are_even() -> None:
    rng = np.random.default_rng(3)
    p = rng.permutation(np.linspace(0.005, 0.995, 100))
    y = (rng.random(100) < p).astype(float)
    curve = reliability(p.tolist(), y.tolist())
    assert not isinstance(curve, Unmeasured)
    observed, predicted = calibration_curve(y, p, n_bins=10, strategy="quantile")
    assert [b.observed for b in curve] == pytest.approx(observed.tolist())
    assert [b.predicted for b in curve] == pytest.approx(predicted.tolist())
    assert sum(b.n for b in curve) == 100
    ece = value(calibration_error(p.tolist(), y.tolist(), minimum=20))
    assert ece.value == pytest.approx(float(np.mean(np.abs(observed - predicted))))
    assert value(calibration_error([0.5] * 40, [0.0, 1.0] * 20, bins=1, minimum=20)).value == pytest.approx(0.0)


SOME = st.lists(st.tuples(st.sampled_from([0.0, 0.5, 1.0]), st.sampled_from([0.0, 1.0])), min_size=20, max_size=60)


@settings(max_examples=15, deadline=None)
@given(SOME, st.randoms(use_true_random=False))
def test_order_does_not_matter(cases: list[tuple[float, float]], random: object) -> None:
    shuffled = cases.copy()
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    for measure in (pearson, kappa):
        a = measure([x for x, _ in cases], [y for _, y in cases], minimum=20)
        b = measure([x for x, _ in shuffled], [y for _, y in shuffled], minimum=20)
        if isinstance(a, Estimate):
            assert value(b).value == pytest.approx(a.value, abs=1e-9)
        else:
            assert a == b


@settings(max_examples=15, deadline=None)
@given(SOME)
def test_swapping_raters_or_labels_leaves_kappa_and_turns_r(cases: list[tuple[float, float]]) -> None:
    x, y = [a for a, _ in cases], [b for _, b in cases]
    binary = [float(a >= 0.5) for a in x]
    straight, swapped = kappa(binary, y, minimum=20), kappa(y, binary, minimum=20)
    flipped = kappa([1 - v for v in binary], [1 - v for v in y], minimum=20)
    if isinstance(straight, Estimate):
        assert value(swapped).value == pytest.approx(straight.value)
        assert value(flipped).value == pytest.approx(straight.value)
        assert -1 <= straight.value <= 1
    found, turned = pearson(x, y, minimum=20), pearson(x, [1 - v for v in y], minimum=20)
    if isinstance(found, Estimate):
        assert value(turned).value == pytest.approx(-found.value)


@pytest.mark.parametrize(
    ("x", "y", "reason"),
    [
        ([0.0, 1.0] * 9, [0.0, 1.0] * 9, Reason.TOO_FEW),
        ([], [], Reason.TOO_FEW),
        ([1.0] * 30, [0.0, 1.0] * 15, Reason.ONE_LEVEL),
        ([0.0, 1.0] * 15, [1.0] * 30, Reason.ONE_VERDICT),
        ([0.0, math.nan] * 15, [0.0, 1.0] * 15, Reason.NOT_A_NUMBER),
        ([0.0, math.inf] * 15, [0.0, 1.0] * 15, Reason.NOT_A_NUMBER),
        ([0.0, 2.0] * 15, [0.0, 1.0] * 15, Reason.OUT_OF_RANGE),
        ([0.0, 1.0] * 15, [0.0, 1.0] * 14, Reason.DIFFERENT_LENGTHS),
    ],
)
def test_what_has_no_figure_has_a_reason(x: list[float], y: list[float], reason: Reason) -> None:
    found = pearson(x, y, minimum=20)
    assert isinstance(found, Unmeasured) and found.reason is reason and "Sin medida" in found.text
    if reason not in (Reason.ONE_LEVEL, Reason.ONE_VERDICT):
        assert isinstance(kappa(x, y, minimum=20), Unmeasured)
        assert isinstance(calibration_error(x, y, minimum=20), Unmeasured)
    assert isinstance(kappa([1.0] * 30, [1.0] * 30, minimum=20), Unmeasured)


def test_the_panel_leaves_out_what_its_judges_do_not_agree_on() -> None:
    apart = PanelCase("a", {"x": 1.0, "y": 0.6, "z": 0.9})
    near = PanelCase("b", {"x": 0.9, "y": 0.6, "z": 0.9})
    assert (apart.reliable(0.3), near.reliable(0.3)) == (False, True)
    assert unreliable([apart, near], 0.3) == (apart,)
    assert PanelCase("c", {"x": 1.0, "y": 0.0}).majority == 0.0
    assert PanelCase("d", {"x": 1.0, "y": 0.5, "z": 0.0}).majority == 1.0


@pytest.mark.parametrize(
    ("r", "grade", "code"),
    [(0.71, Grade.EXPECTED, 0), (0.7, Grade.ACCEPTABLE, 3), (0.51, Grade.ACCEPTABLE, 3), (0.5, Grade.BLOCKING, 4), (-0.2, Grade.BLOCKING, 4)],
)  # fmt: skip
def test_grades_and_exit_codes(r: float, grade: Grade, code: int) -> None:
    assert grade_pearson(Estimate(r, r, r, 60), GATES) is grade and EXIT_CODES[grade] == code
    assert grade_kappa(Estimate(r - 0.1, r, r, 60), GATES) is grade
    assert grade_kappa(Unmeasured(Reason.TOO_FEW, 3), GATES) is Grade.UNMEASURED
    assert worst([grade, Grade.EXPECTED]) is grade and worst([Grade.BLOCKING, Grade.UNMEASURED]) is Grade.BLOCKING


NORMAL, DETERMINISTIC = SealMode.NORMAL, SealMode.DETERMINISTIC


@pytest.mark.parametrize(
    ("figures", "current", "to"),
    [
        ([], NORMAL, None),
        ([(0.4, 60)], NORMAL, None),
        ([(0.4, 60), (0.3, 60)], NORMAL, DETERMINISTIC),
        ([(0.4, 60), (0.5, 60)], NORMAL, None),
        ([(0.4, 60), (0.6, 60), (0.3, 60)], NORMAL, None),
        ([(0.4, 60), (0.3, 10)], NORMAL, None),
        ([(0.4, 60), (None, 60), (0.3, 60)], NORMAL, DETERMINISTIC),
        ([(0.4, 60), (0.3, 60), (0.2, 60)], DETERMINISTIC, None),
        ([(0.3, 60), (0.5, 60)], DETERMINISTIC, None),
        ([(0.3, 60), (0.51, 60)], DETERMINISTIC, NORMAL),
        ([(0.3, 60), (0.9, 10)], DETERMINISTIC, None),
    ],
)
def test_the_mode_switches_after_two_and_back_after_one(
    figures: list[tuple[float | None, int]], current: SealMode, to: SealMode | None
) -> None:
    decision = decide_mode([BaselineFigure(r, n) for r, n in figures], current, GATES)
    assert (decision.mode if decision else None) is to
    assert decision is None or decision.reason
