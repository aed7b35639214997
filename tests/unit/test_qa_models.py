"""The battery's words: counts, phases and the way to JSON and back."""

import pytest

from core.models import Answer, Category, Mode, Scope, Source
from core.qa.models import (
    COUNTS,
    FORMS,
    MAX_QUESTIONS,
    MIN_PER_TYPE,
    MIN_QUESTIONS,
    PHASES,
    WEIGHTS,
    BatteryQuestion,
    BookType,
    Cause,
    Criteria,
    Difficulty,
    Dimension,
    DimensionScore,
    Form,
    GivenAnswer,
    Judgement,
    QuestionType,
)
from core.qa.serial import StoredDataError, from_json, to_data, to_json


@pytest.mark.parametrize(
    ("book", "counts"),
    [
        (BookType.PRESCRIPTIVE, (4, 5, 3, 3)),
        (BookType.NARRATIVE, (5, 3, 4, 3)),
        (BookType.ANALYTIC, (5, 4, 4, 3)),
        (BookType.ACADEMIC, (6, 3, 4, 3)),
        (BookType.HYBRID, (4, 4, 4, 3)),
    ],
)
def test_counts_are_the_calibrated_ones(book: BookType, counts: tuple[int, ...]) -> None:
    assert tuple(COUNTS[book].values()) == counts
    assert MIN_QUESTIONS <= sum(counts) <= MAX_QUESTIONS
    assert min(counts) >= MIN_PER_TYPE


def test_every_form_belongs_to_one_type() -> None:
    listed = [form for forms in FORMS.values() for form in forms]
    assert sorted(listed) == sorted(Form)


def test_every_cause_has_a_phase_and_every_dimension_a_weight() -> None:
    assert set(PHASES) == set(Cause)
    assert set(WEIGHTS) == set(Dimension)
    assert sum(WEIGHTS.values()) == pytest.approx(1.0)


def test_a_question_and_an_answer_survive_json() -> None:
    question = BatteryQuestion(
        id="D-1", type=QuestionType.D, form=Form.FALSE_STATEMENT, difficulty=Difficulty.ADVANCED, question="¿Es así?",
        expected_fragments=("a",), section="Art. 1", expected_answer="No.",
        criteria=Criteria(precision=(("10 por ciento", "10 %"),), limits=("No confirmar.",)),
        false_statement="20", true_passage="10",
    )  # fmt: skip
    assert from_json(BatteryQuestion, to_json(question)) == question
    assert to_data(question)["difficulty"] == "avanzada"
    source = Source("a", "d", "T", 3, ("Art. 1",), "texto", 0.5, "", Scope.PUBLIC)
    answer = Answer(
        text="x [1]", grounded=True, category=Category.DIRECT, mode=Mode.EXTRACTIVE, sources=(source,),
        timings={"search_ms": 1.0},
    )  # fmt: skip
    given = GivenAnswer("D-1", answer, 0.2, "2026-01-01T00:00:00+00:00")
    assert from_json(GivenAnswer, to_json(given)) == given


def test_damaged_json_is_a_domain_error() -> None:
    with pytest.raises(StoredDataError, match="Vuelva a ejecutarla"):
        from_json(BatteryQuestion, '{"id": 3}')


def test_judged_needs_all_four_dimensions() -> None:
    scores = tuple(DimensionScore(d, 8, "cita") for d in Dimension)
    assert Judgement("comprobador", scores).judged
    assert not Judgement("comprobador", scores[:3]).judged
    assert not Judgement("llm:x", (), reason="JSON roto").judged
