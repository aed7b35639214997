"""The seal's rules: the whole truth table around every threshold, and what must hold of any signals."""

import itertools
import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.answering.sealing import Sealer
from core.models import Answer, Category, Level, Mode, Scope, SealMode, SelfCheck, Signals, Source
from core.seal.explain import HONEST_LIMITS, NAMES, seal_json, signal_rows
from core.seal.rules import number, percent, seal
from core.seal.signals import SIGNAL_VERSIONS, measure, recalibrated
from core.thresholds import load_thresholds

THRESHOLDS = load_thresholds()
ORDER = {Level.LOW: 0, Level.MEDIUM: 1, Level.HIGH: 2}
BEST = Signals(rerank=1.0, coverage=1.0, self_check=SelfCheck.SUPPORTED, supporting=5)

# Each value with what the specification makes of it: whether it allows medium, and whether it allows high.
UNDER, OVER = math.nextafter, math.nextafter
RERANK = [
    (0.0, False, False), (UNDER(0.4, 0), False, False), (0.4, True, False), (OVER(0.4, 1), True, False),
    (UNDER(0.6, 0), True, False), (0.6, True, True), (OVER(0.6, 1), True, True), (1.0, True, True),
]  # fmt: skip
COVERAGE = [(0.0, False), (UNDER(0.9, 0), False), (0.9, True), (OVER(0.9, 1), True), (1.0, True)]
SUPPORTING = [(0, False, False), (1, True, False), (2, True, True), (3, True, True)]


def expected(rerank, coverage, supporting, check, refusal, fallback, mode) -> Level:  # type: ignore[no-untyped-def]
    if refusal or fallback or not rerank[1] or not supporting[1]:
        return Level.LOW
    high = rerank[2] and coverage[1] and supporting[2]
    if mode is SealMode.NORMAL:
        if check is SelfCheck.UNSUPPORTED:
            return Level.LOW
        if check is not SelfCheck.SUPPORTED:  # it failed or was not made: one level down
            return Level.MEDIUM if high else Level.LOW
    return Level.HIGH if high else Level.MEDIUM


def test_truth_table() -> None:
    counted = dict.fromkeys(Level, 0)
    table = itertools.product(RERANK, COVERAGE, SUPPORTING, SelfCheck, (False, True), ("", "tiempo agotado"), SealMode)
    for rerank, coverage, supporting, check, refusal, fallback, mode in table:
        signals = Signals(rerank[0], coverage[0], check, refusal, fallback, supporting[0])
        found = seal(signals, THRESHOLDS, mode)
        assert found.level is expected(rerank, coverage, supporting, check, refusal, fallback, mode), (signals, mode)
        assert found.reasons and found.signals is signals
        assert (found.mode, found.thresholds_version) == (mode, THRESHOLDS.version)
        counted[found.level] += 1
    assert sum(counted.values()) == 8 * 5 * 4 * 4 * 2 * 2 * 2 and all(counted.values()), counted
    print(f"\ntruth table: {sum(counted.values())} rows, {counted}")


signals_drawn = st.builds(
    Signals,
    rerank=st.floats(0, 1) | st.sampled_from([r[0] for r in RERANK]),
    coverage=st.floats(0, 1) | st.sampled_from([c[0] for c in COVERAGE]),
    self_check=st.sampled_from(SelfCheck),
    refusal=st.booleans(),
    fallback=st.sampled_from(["", "reintentos agotados"]),
    supporting=st.integers(0, 4),
)
CHECKS = [SelfCheck.UNSUPPORTED, SelfCheck.ERROR, SelfCheck.SUPPORTED]


@given(signals_drawn, st.sampled_from(SealMode), st.data())
def test_a_worse_signal_never_raises_the_seal(signals: Signals, mode: SealMode, data: st.DataObject) -> None:
    worse_checks = {
        SelfCheck.SUPPORTED: list(SelfCheck), SelfCheck.ERROR: CHECKS[:2], SelfCheck.NOT_RUN: CHECKS[:2],
        SelfCheck.UNSUPPORTED: CHECKS[:1],
    }  # fmt: skip
    worse = Signals(
        rerank=data.draw(st.floats(0, signals.rerank)),
        coverage=data.draw(st.floats(0, signals.coverage)),
        self_check=data.draw(st.sampled_from(worse_checks[signals.self_check])),
        refusal=signals.refusal or data.draw(st.booleans()),
        fallback=signals.fallback or data.draw(st.sampled_from(["", "sin presupuesto"])),
        supporting=data.draw(st.integers(0, signals.supporting)),
    )
    one = data.draw(st.sampled_from(["rerank", "coverage", "self_check", "refusal", "fallback", "supporting"]))
    before = ORDER[seal(signals, THRESHOLDS, mode).level]
    assert ORDER[seal(worse, THRESHOLDS, mode).level] <= before
    assert ORDER[seal(replace(signals, **{one: getattr(worse, one)}), THRESHOLDS, mode).level] <= before


@given(signals_drawn, st.sampled_from(SealMode), st.booleans())
def test_fallback_or_refusal_is_always_low(signals: Signals, mode: SealMode, refused: bool) -> None:
    bad = replace(signals, refusal=True) if refused else replace(signals, fallback="tiempo agotado")
    assert seal(bad, THRESHOLDS, mode).level is Level.LOW


@given(signals_drawn)
def test_deterministic_mode_leaves_only_the_self_check_out(signals: Signals) -> None:
    levels = {seal(replace(signals, self_check=check), THRESHOLDS, SealMode.DETERMINISTIC).level for check in SelfCheck}
    assert levels == {seal(replace(signals, self_check=SelfCheck.SUPPORTED), THRESHOLDS, SealMode.NORMAL).level}


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf, -1e-9, 1.0000001])
@pytest.mark.parametrize("name", ["rerank", "coverage"])
def test_what_is_no_share_is_low_and_says_so(name: str, bad: float) -> None:
    found = seal(replace(BEST, **{name: bad}), THRESHOLDS, SealMode.NORMAL)
    assert found.level is Level.LOW and "no se ha podido medir" in found.reasons[0]
    assert seal_json(found)["signals"][name] is None
    assert "no medida" in " ".join(row.value for row in signal_rows(found, THRESHOLDS.seal))


def test_fewer_than_no_citations_is_low() -> None:
    assert seal(replace(BEST, supporting=-1), THRESHOLDS, SealMode.NORMAL).level is Level.LOW


def test_every_reason_is_said() -> None:
    found = seal(Signals(0.5, 0.5, SelfCheck.ERROR, supporting=1), THRESHOLDS, SealMode.NORMAL)
    said = " ".join(found.reasons)
    assert found.level is Level.LOW
    assert all(
        part in said
        for part in (
            "0,50, menos de 0,60",
            "50 % de lo redactado, menos del 90 %",
            "sola cita",
            "autoverificación falló",
        )
    )
    worst = seal(Signals(0.1, 0, SelfCheck.UNSUPPORTED, True, "tiempo agotado"), THRESHOLDS, SealMode.NORMAL)
    assert len(worst.reasons) == 4 and "tiempo agotado" in worst.reasons[0]


def test_a_value_just_under_its_threshold_is_not_shown_as_the_threshold() -> None:
    assert number(0.5999) == "0,59" and number(0.6) == "0,60" and percent(0.8999) == "89 %" and percent(0.29) == "29 %"


def test_the_five_signals_are_explained_against_their_thresholds() -> None:
    rows = signal_rows(seal(BEST, THRESHOLDS, SealMode.NORMAL), THRESHOLDS.seal)
    assert len(rows) == 5 == len(SIGNAL_VERSIONS) and all(row.fine for row in rows)
    assert signal_rows(seal(BEST, THRESHOLDS, SealMode.DETERMINISTIC), THRESHOLDS.seal)[2].fine is None
    assert set(NAMES) == set(Level) and len(HONEST_LIMITS) == 3
    assert [c.version for c in THRESHOLDS.seal.changes][-1] <= THRESHOLDS.version


def source(fragment: str, passage: str, relevance: float) -> Source:
    return Source(fragment, "doc", "Manual", 1, ("A",), passage, relevance, "", Scope.PUBLIC)


def test_signals_are_measured_on_the_parts_of_an_answer() -> None:
    found = measure("El plazo es el 20.", grounded=True, relevances=[0.2, 0.7], coverage=1.0, supporting=2)
    assert found == Signals(0.7, 1.0, supporting=2)
    assert measure("x", grounded=False, relevances=[], coverage=1.0, supporting=0) == Signals(0.0, 1.0, refusal=True)
    assert math.isnan(measure("x", grounded=True, relevances=[0.9, math.nan], coverage=1, supporting=1).rerank)


def test_an_abstention_is_low_and_the_mode_is_asked_for_each_answer() -> None:
    modes = iter([SealMode.DETERMINISTIC, SealMode.NORMAL])
    sealer = Sealer(THRESHOLDS, lambda: next(modes))
    refused = Answer("No sé.", False, Category.NO_ANSWER, Mode.EXTRACTIVE)
    first = sealer.with_seal(refused, relevances=[0.9], coverage=0.0, supporting=0)
    assert first.seal is not None and first.seal.level is Level.LOW and first.seal.mode is SealMode.DETERMINISTIC
    second = sealer.with_seal(refused, relevances=[0.9], coverage=0.0, supporting=0)
    assert second.seal is not None and second.seal.mode is SealMode.NORMAL


@pytest.mark.parametrize(
    ("relevances", "answered", "rerank"),
    [((0.9, 0.2), 0.5, 0.5), ((0.2,), 0.9, 0.9), ((0.2, 0.9), None, 0.9), ((0.9,), 0.0, 0.0), ((), None, 0.0)],
)
def test_what_is_quoted_counts_where_its_relevance_is_known(
    relevances: tuple[float, ...], answered: float | None, rerank: float
) -> None:
    found = measure("x", grounded=True, relevances=relevances, answered=answered, coverage=1.0, supporting=2)
    assert found.rerank == rerank


def test_relevance_grows_with_both_probabilities_and_stays_one() -> None:
    limits = THRESHOLDS.seal.model_copy(
        update={"answered_weight": 2.0, "relevance_weight": 1.0, "answered_intercept": -1.0}
    )
    steps = (0.0, 0.2, 0.5, 0.8, 1.0)
    for fixed in steps:
        for found in ([recalibrated(p, fixed, limits) for p in steps], [recalibrated(fixed, p, limits) for p in steps]):
            assert found == sorted(found) and all(0 <= p <= 1 for p in found)
    assert recalibrated(0.5, 0.5, limits) == pytest.approx(1 / (1 + math.e))
    assert recalibrated(0.8, 0.2, limits) == pytest.approx(1 / (1 + math.exp(1 - math.log(4))))
