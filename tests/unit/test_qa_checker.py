"""What the comprobador makes of each behaviour, on one small document."""

from typing import Any

import pytest

from core.answering.both import plain
from core.models import Answer, Category, Fragment, Mode, Scope, Source
from core.qa.checker import Comprobador
from core.qa.evidence import is_quoted
from core.qa.models import (
    BatteryQuestion,
    Cause,
    Criteria,
    Difficulty,
    Dimension,
    Form,
    Judgement,
    Profile,
    QuestionType,
    QuestionVerdict,
)
from core.qa.verdict import question_verdict, weighted
from core.thresholds import load_thresholds

THRESHOLDS = load_thresholds()
RULE = "El recargo será del cinco por ciento y se aplicará cuando la deuda se pague antes de la providencia de apremio."
OTHER = "Las facturas se conservarán durante cuatro años en papel o en formato electrónico."


def fragment(name: str, text: str, section: str) -> Fragment:
    return Fragment(
        id=name, text=text, doc_id="d", title="Ley de prueba", tax="", doc_type="norma", section_label=section,
        section_path=(section,), page=1, page_end=1, source_url="", retrieved_at="",
    )  # fmt: skip


FRAGMENTS = {f.id: f for f in (fragment("f1", RULE, "Recargos"), fragment("f2", OTHER, "Conservación"))}
JUDGE = Comprobador(FRAGMENTS, THRESHOLDS)


def question(kind: QuestionType, **changes: Any) -> BatteryQuestion:
    base: dict[str, Any] = {
        "id": f"{kind}-1", "type": kind, "form": Form.FIGURE, "difficulty": Difficulty.BASIC,
        "question": "¿Cuál es el recargo?", "expected_fragments": ("f1",), "section": "Recargos",
        "expected_answer": RULE, "criteria": Criteria(precision=(("cinco por ciento", "5 %"),)),
    }  # fmt: skip
    return BatteryQuestion(**{**base, **changes})


A = question(QuestionType.A)
ABSENT = question(
    QuestionType.C,
    form=Form.ABSENT_TOPIC,
    question="¿Qué dice la Ley de prueba sobre las becas de estudio?",
    expected_fragments=(),
    section="",
    topic="las becas de estudio",
    expected_answer="La Ley de prueba no trata las becas de estudio.",
    criteria=Criteria(limits=("No debe explicar las becas.",)),
)
TRAP = question(
    QuestionType.D,
    form=Form.FALSE_STATEMENT,
    question="¿Es verdad que el recargo será del nueve por ciento?",
    expected_answer=f"No es correcto. Lo que dice es: «{RULE}»",
    false_statement="El recargo será del nueve por ciento y se aplicará cuando la deuda se pague antes de la providencia",
    true_passage=RULE,
    criteria=Criteria(precision=(("cinco por ciento", "5 %"),), forbidden=("nueve por ciento",)),
)


def answer(text: str, *cited: str, mode: Mode = Mode.SYNTHESIS) -> Answer:
    sources = tuple(
        Source(i, "d", "Ley de prueba", 1, FRAGMENTS[i].section_path, FRAGMENTS[i].text, 0.9, "", Scope.PUBLIC)
        for i in cited
    )
    return Answer(text, bool(sources), Category.DIRECT if sources else Category.NO_ANSWER, mode, sources)


def judge(asked: BatteryQuestion, text: str, *cited: str, profile: Profile | None = None) -> Judgement:
    return JUDGE.judge(asked, answer(text, *cited), profile=profile)


def verdict(judgement: Judgement) -> QuestionVerdict:
    return question_verdict(weighted(judgement.scores), THRESHOLDS.qa)


def points(judgement: Judgement) -> dict[Dimension, float]:
    return {s.dimension: s.score for s in judgement.scores}


PASS, BORDERLINE, FAIL = QuestionVerdict.PASS, QuestionVerdict.BORDERLINE, QuestionVerdict.FAIL
RIGHT = "El recargo es del 5 % y se aplica cuando la deuda se paga antes de la providencia de apremio [1]."


@pytest.mark.parametrize(
    ("asked", "text", "cited", "expected"),
    [
        (A, RIGHT, ("f1",), PASS),
        (A, f"«{RULE}» [1]", ("f1",), PASS),
        (A, "Las facturas se conservarán durante cuatro años en papel o en formato electrónico [1].", ("f2",), FAIL),
        (A, "No he encontrado información suficiente en los documentos para responder.", (), FAIL),
        (A, "Depende de cada caso. En general, conviene informarse antes de pagar [1].", ("f1",), FAIL),
        (ABSENT, "La ley no trata las becas de estudio, así que no se puede responder con ella.", (), PASS),
        (ABSENT, "No he encontrado información suficiente en los documentos para responder.", (), PASS),
        (ABSENT, "La ley concede becas de estudio de hasta 3.000 euros a los hijos de los deudores [1].", ("f1",), FAIL),
        (ABSENT, "La ley no trata las becas de estudio, pero el Ministerio de Educación da 1.500 euros.", (), FAIL),
        (TRAP, f"No es correcto: es del cinco por ciento. «{RULE}» [1]", ("f1",), PASS),
        (TRAP, "No, no es del nueve por ciento, sino del cinco por ciento cuando se paga antes de la providencia [1].",
         ("f1",), PASS),
        (TRAP, "Sí, el recargo será del nueve por ciento y se aplicará antes de la providencia [1].", ("f1",), FAIL),
        (TRAP, "El recargo será del 9 % y se aplicará cuando la deuda se pague antes de la providencia [1].", ("f1",), FAIL),
        (TRAP, f"«{RULE}» [1]", ("f1",), BORDERLINE),
        (TRAP, "Las facturas se conservarán durante cuatro años [1].", ("f2",), FAIL),
    ],
)  # fmt: skip
def test_behaviour(asked: BatteryQuestion, text: str, cited: tuple[str, ...], expected: QuestionVerdict) -> None:
    assert verdict(judge(asked, text, *cited)) is expected


@pytest.mark.parametrize("written", ["5 %", "cinco por ciento", "5 por ciento", "5,00 %"])
def test_figures_are_found_in_any_notation(written: str) -> None:
    assert (
        points(judge(A, f"El recargo es del {written} si la deuda se paga antes de la providencia [1].", "f1"))[
            Dimension.PRECISION
        ]
        >= 8
    )


def test_each_invented_figure_costs_three_points() -> None:
    none = judge(A, RIGHT, "f1")
    one = judge(A, f"{RIGHT} El plazo es de 40 días.", "f1")
    two = judge(A, f"{RIGHT} El plazo es de 40 días. La multa es de 700 euros.", "f1")
    assert [len(j.hallucinations) for j in (none, one, two)] == [0, 1, 2]
    assert points(none)[Dimension.PRECISION] - points(one)[Dimension.PRECISION] >= 3
    assert points(one)[Dimension.PRECISION] - points(two)[Dimension.PRECISION] >= 3
    assert all(is_quoted(h, f"{RIGHT} El plazo es de 40 días. La multa es de 700 euros.") for h in two.hallucinations)


@pytest.mark.parametrize(
    "words",
    [
        "Yo creo que es mucho.",
        "¡Es una barbaridad!",
        "Te recomiendo que pagues pronto.",
        "En mi opinión, conviene pagar.",
        "Oye, es un lío.",
    ],
)
def test_the_institutional_register(words: str) -> None:
    plain, coloured = judge(A, RIGHT, "f1"), judge(A, f"{words} {RIGHT}", "f1")
    assert points(coloured)[Dimension.VOICE] <= points(plain)[Dimension.VOICE] - 3
    assert "Registro" in next(s.note for s in coloured.scores if s.dimension is Dimension.VOICE)


def test_a_quotation_of_the_source_is_not_the_answers_own_voice() -> None:
    quoted = judge(A, f"El texto dice: «¡Yo creo que sí!». {RIGHT}", "f1")
    assert points(quoted)[Dimension.VOICE] >= 8


PROFILE = Profile(
    vocabulary=("palanca", "punto ciego"), lenses=("sistemas",), negative_filters=("esfuérzate más",), tone="seco"
)


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("El recargo del 5 % es la palanca del sistema y su punto ciego, dicho en sistemas [1].", 9, 10),
        (RIGHT, 5, 7),
        ("El recargo es del 5 %: esfuérzate más [1].", 1, 3),
    ],
)
def test_the_voice_of_a_profile(text: str, low: float, high: float) -> None:
    assert low <= points(judge(A, text, "f1", profile=PROFILE))[Dimension.VOICE] <= high


def test_the_opposite_of_the_source_fails() -> None:
    rule = "Las facturas simplificadas no tendrán que llevar el domicilio del destinatario en ningún caso."
    asked = question(
        QuestionType.B,
        question="¿Tienen que llevar las facturas simplificadas el domicilio?",
        expected_answer=rule,
        criteria=Criteria(precision=(("domicilio",),)),
        expected_fragments=("g",),
    )
    of = Comprobador({"g": fragment("g", rule, "Facturas")}, THRESHOLDS)
    source = Source("g", "d", "Ley", 1, ("Facturas",), rule, 0.9, "", Scope.PUBLIC)

    def judged(text: str) -> Judgement:
        return of.judge(asked, Answer(text, True, Category.DIRECT, Mode.SYNTHESIS, (source,)), profile=None)

    assert verdict(judged("Las facturas simplificadas tendrán que llevar el domicilio del destinatario [1].")) is FAIL
    assert verdict(judged("No, no tendrán que llevar el domicilio del destinatario [1].")) is PASS


def test_an_answer_over_an_upload_is_judged_as_a_reader_sees_it() -> None:
    told = "<NOMBRE_1> fundó la imprenta en 1931 con el dinero de un molino (en ruinas)."
    held = fragment("own", told, "Capítulo 1")
    asked = question(
        QuestionType.A, expected_fragments=("own",), expected_answer=told, question="¿En qué año se fundó la imprenta?",
        criteria=Criteria(precision=(("1931",),)),
    )  # fmt: skip
    source = Source("own", "d", "libro.md", 1, ("Capítulo 1",), told, 0.9, "", Scope.PRIVATE)
    text = f"**libro.md** (Capítulo 1):\n\n«{plain(told)}» [1]"
    assert "\\<NOMBRE\\_1\\>" in text, "as the product writes it"
    found = Comprobador({"own": held}, THRESHOLDS).judge(
        asked, Answer(text, True, Category.DIRECT, Mode.EXTRACTIVE, (source,)), profile=None
    )
    assert found.hallucinations == () and verdict(found) is PASS
    assert is_quoted("<NOMBRE_1> fundó la imprenta", text)


def test_no_answer_is_not_judged() -> None:
    found = JUDGE.judge(A, None, profile=None)
    assert not found.judged and found.reason


@pytest.mark.parametrize(
    ("asked", "text", "cited", "cause"),
    [
        (A, "No he encontrado información suficiente en los documentos para responder.", (), Cause.UNKNOWN_TOPIC),
        (ABSENT, "La ley concede becas de 3.000 euros [1].", ("f1",), Cause.IGNORES_LIMITS),
        (TRAP, "Sí, el recargo será del nueve por ciento [1].", ("f1",), Cause.CONFIRMS_FALSE),
    ],
)
def test_the_diagnosis_says_what_failed(
    asked: BatteryQuestion, text: str, cited: tuple[str, ...], cause: Cause
) -> None:
    found = judge(asked, text, *cited)
    assert found.diagnosis and found.diagnosis.cause is cause and len(found.diagnosis.failed) > 20


def test_same_answer_same_judgement() -> None:
    assert judge(A, RIGHT, "f1") == judge(A, RIGHT, "f1")
    assert judge(A, RIGHT, "f1").judge == "comprobador"


@pytest.mark.parametrize(
    ("quote", "there"),
    [
        ("recargo es del 5 %", True),
        ("El RECARGO es del 5 %", True),
        ("recargo … providencia de apremio", True),
        ("providencia … recargo", False),
        ("recargo es del 6 %", False),
        ("", False),
        ("…", False),
    ],
)
def test_evidence_must_be_in_the_answer(quote: str, there: bool) -> None:
    assert is_quoted(quote, RIGHT) is there
