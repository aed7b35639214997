"""Scores, question verdicts and the battery's verdict at every boundary; the causes and their phases; the report."""

from dataclasses import replace

import pytest

from core.models import Answer, Category, Mode, Scope, Source
from core.qa.models import (
    COUNTS,
    PHASES,
    Battery,
    BatteryQuestion,
    BatterySummary,
    BookInfo,
    BookType,
    Cause,
    Criteria,
    Diagnosis,
    Difficulty,
    Dimension,
    DimensionScore,
    Form,
    GivenAnswer,
    Judgement,
    Phase,
    QuestionResult,
    QuestionType,
    QuestionVerdict,
    Report,
)
from core.qa.report import build_report, compare, judged, report_markdown
from core.qa.verdict import cut, decide, diagnose, global_score, phase_name, question_verdict, type_scores, weighted
from core.thresholds import load_thresholds

QA = load_thresholds().qa
A, B, C, D = QuestionType
SOURCE = Source("f1", "iva_2025", "Manual", 3, ("Cap",), "El tipo es del 21 por ciento.", 0.9, "", Scope.PUBLIC)
ANSWER = Answer("«El tipo es del 21 por ciento.» [1]", True, Category.DIRECT, Mode.EXTRACTIVE, (SOURCE,))


def scores(precision: float, voice: float, limits: float, utility: float) -> tuple[DimensionScore, ...]:
    values = (precision, voice, limits, utility)
    return tuple(DimensionScore(d, v, "El tipo es del 21 por ciento.") for d, v in zip(Dimension, values, strict=True))


def question(kind: QuestionType, number: int = 1) -> BatteryQuestion:
    form = {A: Form.FIGURE, B: Form.CASE, C: Form.ABSENT_TOPIC, D: Form.FALSE_STATEMENT}[kind]
    return BatteryQuestion(
        f"{kind}-{number}", kind, form, Difficulty.BASIC, f"¿{kind} {number}?", ("f1",), f"Sección {number % 3}",
        "Se espera esto.", Criteria(precision=(("21 por ciento", "21 %"),)),
        false_statement="El tipo es del 5 por ciento." if kind is D else "",
        true_passage="El tipo es del 21 por ciento." if kind is D else "",
    )  # fmt: skip


def result(
    kind: QuestionType, score: float | None, number: int = 1, cause: Cause = Cause.UNKNOWN_TOPIC
) -> QuestionResult:
    verdict = question_verdict(score, QA)
    low = verdict in (QuestionVerdict.FAIL, QuestionVerdict.BORDERLINE)
    return QuestionResult(
        question(kind, number),
        GivenAnswer(f"{kind}-{number}", ANSWER, 0.2, "2026-01-01T00:00:00Z"),
        Judgement("comprobador", scores(score, score, score, score) if score else (), reason="" if score else "se agotó el tiempo"),
        score,
        verdict,
        Diagnosis(cause, PHASES[cause], "Falla.", "Corregir.") if low else None,
    )  # fmt: skip


def battery(failed: dict[QuestionType, int], good: float, fail: float = 5.9) -> list[QuestionResult]:
    """A prescriptive battery (4, 5, 3, 3) in which some fail and the rest have ``good``."""
    rows = []
    for kind, count in COUNTS[BookType.PRESCRIPTIVE].items():
        for n in range(1, count + 1):
            rows.append(result(kind, fail if n <= failed.get(kind, 0) else good, n))
    return rows


def test_weights_are_35_25_25_15() -> None:
    assert weighted(scores(10, 1, 1, 1)) == 4.15 and weighted(scores(1, 10, 1, 1)) == 3.25
    assert weighted(scores(1, 1, 10, 1)) == 3.25 and weighted(scores(1, 1, 1, 10)) == 2.35
    assert weighted(scores(7.5, 7.5, 7.5, 7.5)) == 7.5 and weighted(scores(10, 10, 10, 10)) == 10


@pytest.mark.parametrize(
    "wrong", [scores(0, 5, 5, 5), scores(11, 5, 5, 5), scores(5, 5, 5, 5)[:3], scores(5, 5, 5, 5) * 2]
)
def test_scores_that_are_none(wrong: tuple[DimensionScore, ...]) -> None:
    with pytest.raises(ValueError, match="scor"):
        weighted(wrong)


@pytest.mark.parametrize(
    ("score", "verdict"),
    [
        (10, "pass"), (7.5, "pass"), (7.499, "borderline"), (7.4, "borderline"), (6.0, "borderline"),
        (5.999, "fail"), (5.9, "fail"), (1, "fail"), (None, "not_judged"),
    ],
)  # fmt: skip
def test_question_verdicts(score: float | None, verdict: str) -> None:
    assert question_verdict(score, QA) == verdict


@pytest.mark.parametrize(
    ("score", "shown"),
    [(7.95, "7.9"), (7.999, "7.9"), (8.0, "8.0"), (7.0, "7.0"), (6.99, "6.9"), (7.9999999, "8.0"), (10, "10.0")],
)
def test_scores_are_cut_on_screen(score: float, shown: str) -> None:
    assert cut(score) == shown


@pytest.mark.parametrize(
    ("good", "verdict"), [(6.99, "reject"), (7.0, "human_review"), (7.95, "human_review"), (7.999, "human_review"), (8.0, "approve"), (9.9, "approve")]
)  # fmt: skip
def test_the_global_score_decides_at_its_bounds(good: float, verdict: str) -> None:
    rows = battery({}, good)
    assert global_score(rows) == good
    assert decide(rows, checklist_true=True, thresholds=QA).verdict == verdict


@pytest.mark.parametrize(
    ("failed", "verdict", "says"),
    [
        ({D: 1}, "human_review", "1 fallo"),
        ({D: 2}, "human_review", "2 fallo"),
        ({D: 3}, "reject", "3 fallos en preguntas trampa"),
        ({C: 1}, "approve", "Score global"),
        ({C: 2}, "reject", "2 fallos en preguntas de borde"),
        ({A: 1}, "approve", "Score global"),
        ({A: 2}, "reject", "sistemático en el tipo A: 2 de 4"),
        ({B: 2}, "approve", "Score global"),
        ({B: 3}, "reject", "sistemático en el tipo B: 3 de 5"),
        ({C: 1, D: 1}, "human_review", "1 fallo"),
        ({C: 2, D: 1}, "reject", "borde"),
        ({A: 1, B: 2, C: 1}, "approve", "Score global"),
    ],
)
def test_failures_decide_by_type(failed: dict[QuestionType, int], verdict: str, says: str) -> None:
    decision = decide(battery(failed, 10.0), checklist_true=True, thresholds=QA)
    assert decision.verdict == verdict and says in " ".join(decision.reasons)
    assert (decision.phase is not None) == (verdict == "reject")


def test_more_than_one_failed_c_returns_to_phase_4_whatever_the_cause() -> None:
    rows = [replace(r, diagnosis=Diagnosis(Cause.IGNORES_LIMITS, Phase.PROFILE, "x", "y")) if r.diagnosis else r for r in battery({C: 2}, 10.0)]  # fmt: skip
    assert decide(rows, checklist_true=True, thresholds=QA).phase is Phase.SOURCE


def test_what_is_not_judged_is_not_averaged_and_needs_a_person() -> None:
    rows = [*battery({}, 9.0)[:-1], result(D, None, 3)]
    assert global_score(rows) == 9.0 and type_scores(rows)[3].not_judged == 1
    decision = decide(rows, checklist_true=True, thresholds=QA)
    assert decision.verdict == "human_review" and "1 pregunta(s) sin juzgar" in " ".join(decision.reasons)
    nobody = [result(k, None, n) for k, count in COUNTS[BookType.PRESCRIPTIVE].items() for n in range(1, count + 1)]
    assert global_score(nobody) is None
    assert decide(nobody, checklist_true=False, thresholds=QA).verdict == "human_review"


def test_a_checklist_line_that_is_not_true_needs_a_person() -> None:
    assert decide(battery({}, 9.0), checklist_true=False, thresholds=QA).verdict == "human_review"
    assert decide(battery({}, 6.0), checklist_true=False, thresholds=QA).verdict == "reject"


@pytest.mark.parametrize(
    ("kind", "values", "invented", "cause", "phase"),
    [
        (A, (1, 9, 9, 5), ("5 por ciento",), Cause.INVENTS_FACTS, "4"),
        (A, (7, 1, 7, 7), (), Cause.WRONG_VOICE, "1B"),
        (A, (1, 8, 8, 2), (), Cause.UNKNOWN_TOPIC, "3 o 4"),
        (D, (5, 8, 1, 5), (), Cause.CONFIRMS_FALSE, "4 (Bloque 1)"),
        (C, (5, 8, 1, 5), ("x",), Cause.IGNORES_LIMITS, "1B"),
        (B, (6, 7, 7, 1), (), Cause.NOT_ACTIONABLE, "3"),
        (B, (7, 7, 2, 7), (), Cause.IGNORES_LIMITS, "1B"),
    ],
)
def test_causes_and_the_phase_each_returns_to(
    kind: QuestionType, values: tuple[float, float, float, float], invented: tuple[str, ...], cause: Cause, phase: str
) -> None:
    found = diagnose(kind, Judgement("comprobador", scores(*values), invented), QA)
    assert found and found.cause is cause and found.phase.value == phase and found.correction


def test_no_diagnosis_where_it_passes_or_was_not_judged_and_the_judge_s_own_first() -> None:
    own = Diagnosis(Cause.WRONG_VOICE, Phase.PROFILE, "x", "y")
    assert diagnose(A, Judgement("m", scores(9, 9, 9, 9), diagnosis=own), QA) is None
    assert diagnose(A, Judgement("m", (), reason="tiempo"), QA) is None
    assert diagnose(A, Judgement("m", scores(1, 9, 9, 5), diagnosis=own), QA) is own


def test_the_whole_table_of_phases() -> None:
    assert {c: p.value for c, p in PHASES.items()} == {
        Cause.INVENTS_FACTS: "4", Cause.WRONG_VOICE: "1B", Cause.UNKNOWN_TOPIC: "3 o 4",
        Cause.CONFIRMS_FALSE: "4 (Bloque 1)", Cause.IGNORES_LIMITS: "1B", Cause.NOT_ACTIONABLE: "3",
    }  # fmt: skip
    assert phase_name(Phase.PROFILE, Scope.PUBLIC) == "Fase 1B: registro y ámbito"
    assert phase_name(Phase.CONTENT, Scope.PRIVATE) == "Fase 3: secciones"
    assert phase_name(Phase.SOURCE, Scope.PUBLIC) == "Fase 4: fuente indexada"
    assert phase_name(Phase.SOURCE, None) == "Fase 4: Fuente Completa"


def report(rows: list[QuestionResult], name: str = "r1") -> Report:
    whole = Battery(
        "b1", BookInfo("iva_2025", "Manual IVA", "AEAT", BookType.PRESCRIPTIVE), 7, "deterministic", 1, "v",
        tuple(r.question for r in rows), BatterySummary({}, {}, (), ()),
    )  # fmt: skip
    again = judged(whole, {r.question.id: r.given for r in rows}, {r.question.id: r.judgement for r in rows}, QA)
    return build_report(
        whole,
        again,
        report_id=name,
        created_at="2026-01-01T00:00:00Z",
        engine="extractive",
        judge="comprobador",
        thresholds=QA,
    )


def test_the_report_of_a_good_battery_is_approved_with_every_tick_computed() -> None:
    found = report(battery({}, 9.0))
    assert found.verdict == "approve" and found.global_score == 9.0 and found.human == {}
    assert len(found.checklist) == 11 and [line.ok for line in found.checklist] == [True] * 9 + [None, None]
    text = report_markdown(found)
    assert "✅ APROBADO" in text and "| **TOTAL** | **15** | **9.0** |" in text and text.count("- [x]") == 9


def test_ticks_fail_when_what_they_say_is_not_so() -> None:
    rows = battery({}, 9.0)
    strange = replace(ANSWER, sources=(replace(SOURCE, doc_id="renta_2025"),))
    rows[0] = replace(rows[0], given=replace(rows[0].given, answer=strange))
    rows[1] = replace(rows[1], question=replace(rows[1].question, expected_answer=" "))
    rows[-1] = replace(rows[-1], question=replace(rows[-1].question, false_statement=""))
    found = report(rows[:2] + rows[3:])
    assert found.verdict == "human_review"
    assert [line.ok for line in found.checklist[:8]] == [False, False, True, False, False, False, True, True]
    assert "renta_2025" in found.checklist[5].detail and "A-2" in found.checklist[3].detail


def test_the_report_of_a_rejection_says_cause_phase_and_what_to_run() -> None:
    found = report(battery({A: 2, D: 1}, 9.0))
    assert found.verdict == "reject" and found.phase and found.correction and found.rerun
    text = report_markdown(found)
    assert "🔴 RECHAZADO" in text and "Causa raíz del rechazo" in text and "Regresar a: Fase" in text and "A-1" in text
    assert found.checklist[9].ok is True


def test_the_report_for_a_person_lists_what_to_look_at() -> None:
    rows = battery({D: 1}, 9.0)
    rows[0] = result(A, None, 1)
    found = report(rows)
    assert found.verdict == "human_review" and set(found.human) == {"A-1", "D-1"} and found.checklist[10].ok is True
    assert "tiempo" in found.human["A-1"] and found.checklist[6].ok is False
    low = report(battery({}, 7.9))
    assert low.verdict == "human_review" and len(low.human) == 3 and "7.9/10" in report_markdown(low)


def test_patterns_name_types_and_dimensions() -> None:
    found = report(battery({A: 4}, 9.0, fail=2.0))
    assert any("tipo A" in p for p in found.patterns)


def test_two_reports_side_by_side() -> None:
    before, after = report(battery({A: 1}, 9.0), "r1"), report(battery({D: 1}, 9.0), "r2")
    found = compare(before, after)
    assert [c.question_id for c in found.improved] == ["A-1"] and [c.question_id for c in found.broke] == ["D-1"]
    assert (found.only_before, found.only_after) == ((), ())
    other = replace(after, battery=replace(after.battery, book=replace(after.battery.book, doc_id="x")))
    with pytest.raises(ValueError, match="one document"):
        compare(before, other)
