"""What a question puts into a document's mouth, and what a document is silent on: read, looked for, told."""

from dataclasses import replace

import pytest

from core.answering.checked import CheckedExtractor
from core.answering.compose import compose
from core.answering.extractive import Extract, Searched
from core.answering.one_document import coverage, of_one_document
from core.answering.scope import Assessment
from core.answering.sentence_model import load_sentence_model
from core.answering.silence import beyond_the_text, is_silent, topic_asked
from core.answering.stated import Stated, Way, contradiction, nearest, stated_in, verbatim
from core.models import Category, Fragment, RetrievedFragment
from core.retrieval.expected import KnownAnswers
from core.retrieval.search import SearchResult
from core.retrieval.terms import TermStatistics
from tests.unit.test_answering import fragment

RULES = fragment(
    "La numeración de las facturas dentro de cada serie será correlativa. "
    "El procedimiento deberá concluir en el plazo máximo de seis meses contados desde la notificación del inicio. "
    "Los duplicados de las facturas llevarán la expresión «duplicado»."
)


def hits(*fragments: Fragment) -> tuple[RetrievedFragment, ...]:
    return tuple(RetrievedFragment(f, relevance=0.5) for f in fragments)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        (
            "¿Puedes citarme literalmente el pasaje en el que el libro «La imprenta de la calle Olmo» dice: "
            "«Clara no organizó una feria»?",
            Stated(Way.QUOTATION, "Clara no organizó una feria"),
        ),
        (
            '¿Dónde pone "el contribuyente pagará en dos plazos"?',
            Stated(Way.QUOTATION, "el contribuyente pagará en dos plazos"),
        ),
        ("¿Dónde dice «factura simplificada»?", None),
        (
            "¿Dónde dice mi factura «Total a pagar: 2.000,00 € antes de junio»?",
            Stated(Way.QUOTATION, "Total a pagar: 2.000,00 € antes de junio"),
        ),
        ("¿Qué dice el libro «La imprenta de la calle Olmo» sobre el ajedrez?", None),
        ("¿Qué dice este libro «La imprenta de la calle Olmo» de la crecida?", None),
        (
            "¿Dice la ley que la numeración de los recibos no será correlativa?",
            Stated(Way.REPORT, "la numeración de los recibos no será correlativa"),
        ),
        (
            "¿Es verdad, en cuanto al plazo, que el procedimiento concluirá en diez meses?",
            Stated(Way.REPORT, "el procedimiento concluirá en diez meses"),
        ),
        (
            "Según el manual, la cuota soportada no podrá deducirse nunca, ¿verdad?",
            Stated(Way.REPORT, "la cuota soportada no podrá deducirse nunca"),
        ),
        (
            "La regla de que la factura rectificativa se expide en un año está en el Código de Comercio, ¿verdad?",
            Stated(Way.ATTRIBUTION, "la factura rectificativa se expide en un año", "el Código de Comercio"),
        ),
        (
            "Lo de que Lucía leyó el cuaderno en un autobús lo escribió Galdós, ¿no es así?",
            Stated(Way.ATTRIBUTION, "Lucía leyó el cuaderno en un autobús", "Galdós"),
        ),
        (
            "El Código Civil dice que la numeración de las facturas será correlativa, ¿no?",
            Stated(Way.ATTRIBUTION, "la numeración de las facturas será correlativa", "El Código Civil"),
        ),
        ("¿Qué debe contener una factura?", None),
        ("¿Es verdad que me lo descuento?", None),
    ],
)
def test_what_a_question_states(question: str, expected: Stated | None) -> None:
    assert stated_in(question) == expected


@pytest.mark.parametrize(
    ("claim", "says"),
    [
        ("la numeración de las facturas dentro de cada serie no será correlativa", "lo contrario"),
        ("la numeración de las facturas dentro de cada serie será correlativa", ""),
        (
            "el procedimiento deberá concluir en el plazo máximo de diez meses contados desde la notificación",
            "otro plazo",
        ),
        ("el procedimiento deberá concluir en el plazo máximo de 6 meses contados desde la notificación", ""),
        ("la numeración de los contenedores del puerto no será correlativa", ""),
    ],
)
def test_what_the_nearest_sentence_says_otherwise(claim: str, says: str) -> None:
    near = nearest(claim, hits(RULES))
    assert (contradiction(claim, near) if near else "") == says


def test_word_by_word_or_not_at_all() -> None:
    ((unit, _),) = verbatim("la numeración de las facturas, dentro de cada SERIE, será correlativa", hits(RULES))
    assert unit.text.startswith("La numeración")
    assert len(verbatim("serie será correlativa. El procedimiento deberá concluir en el plazo", hits(RULES))) == 0
    two = "será correlativa. El procedimiento deberá concluir en el plazo máximo de seis meses contados desde la notificación del inicio."
    assert [u.text.split()[0] for u, _ in verbatim(f"La numeración de las facturas dentro de cada serie {two}", hits(RULES))] == [
        "La", "El",
    ]  # fmt: skip
    assert verbatim("la numeración de las facturas dentro de cada serie no será correlativa", hits(RULES)) == ()


@pytest.mark.parametrize(
    ("question", "topic"),
    [
        ("¿Qué limitaciones tiene lo que dice el Manual sobre el procedimiento de rectificación?", "el procedimiento de rectificación"),
        ("¿Hay alguna sentencia o estudio posterior que contradiga lo que dice la Ley sobre los plazos?", "los plazos"),
        ("¿Sirve también en otros países lo que establece el Reglamento sobre los duplicados?", "los duplicados"),
        ("¿Qué deja sin contar el libro «La imprenta» en el capítulo «La crecida»?", "La crecida"),
        ("¿Cuáles son las limitaciones del enfoque del autor?", ""),
        ("¿Qué limitaciones tiene la deducción por vivienda habitual?", None),
        ("¿Hay alguna sentencia sobre las dietas?", None),
        ("¿Sirve mi factura en otros países?", None),
    ],
)  # fmt: skip
def test_questions_beyond_the_text(question: str, topic: str | None) -> None:
    found = beyond_the_text(question)
    assert (found.topic if found else None) == topic


def test_a_topic_is_treated_where_some_passage_has_half_of_its_words() -> None:
    assert (
        topic_asked("¿Qué dice el Reglamento sobre los duplicados de las facturas?") == "los duplicados de las facturas"
    )
    assert topic_asked("¿Aparece en la novela «La crecida» algún viaje a China?") == "algún viaje a China"
    assert topic_asked("¿Qué dice la factura?") == "" == topic_asked("¿Aparece en la factura el IVA?")
    assert not is_silent("los duplicados de las facturas", hits(RULES), lambda _: 1.0)
    assert is_silent("la energía nuclear", hits(RULES), lambda _: 1.0)
    assert not is_silent("", hits(RULES), lambda _: 1.0)


def extract(question: str, *fragments: Fragment) -> tuple[Extract, str]:
    found = hits(*fragments)
    search = SearchResult(found=found, raw=None, vector=None, candidates=None, timings={})  # type: ignore[arg-type]
    extractor = CheckedExtractor(
        lambda f: [f], TermStatistics({}, 1), load_sentence_model(), KnownAnswers({}), search=lambda text, own: search
    )
    extracted = extractor.extract(question, [Searched(question, found, {})])
    return extracted, compose(extracted, about=lambda _: (None, ""))[0] if extracted.units else ""


@pytest.mark.parametrize(
    ("question", "says", "quotes"),
    [
        ("¿Puedes citar dónde dice: «La numeración de las facturas dentro de cada serie no será correlativa»?", "no aparece", "será correlativa"),
        ("¿Puedes citar dónde dice: «La numeración de las facturas dentro de cada serie será correlativa»?", "Sí: esas palabras", "será correlativa"),
        ("¿Dice el Reglamento que el procedimiento deberá concluir en el plazo máximo de dos meses contados desde la notificación?", "otro plazo", "seis meses"),
        ("La regla de que la numeración de las facturas dentro de cada serie será correlativa está en el Código de Comercio, ¿verdad?", "No puedo confirmar", "correlativa"),
        ("¿Sirve también en otros países lo que establece el Reglamento sobre los duplicados de las facturas?", "no dice que sea aplicable en otros países", "duplicado"),
    ],
)  # fmt: skip
def test_it_is_told_above_the_nearest_passage(question: str, says: str, quotes: str) -> None:
    extracted, text = extract(question, RULES)
    assert extracted.lead
    lead, _, rest = text.partition("\n\n")
    assert says in lead and quotes in rest and "{" not in text


def test_nothing_near_and_nothing_on_the_topic_is_no_answer() -> None:
    assert extract("¿Puedes citar dónde dice: «En un lugar de la Mancha vivía un hidalgo»?", RULES)[0].units == ()
    assert extract("¿Qué dice el Reglamento sobre la energía nuclear?", RULES)[0].units == ()


def test_what_speaks_of_it_or_names_it_is_quoted_plainly() -> None:
    abroad = replace(
        RULES, text="Los duplicados de las facturas se admiten también en otros países de la Unión Europea."
    )
    question = "¿Sirve también en otros países lo que establece el Reglamento sobre los duplicados de las facturas?"
    assert not extract(question, abroad)[0].lead
    asked = "La regla de que la numeración de las facturas dentro de cada serie será correlativa está en {}, ¿verdad?"
    assert not extract(asked.format(RULES.title), RULES)[0].lead


@pytest.mark.parametrize(
    ("question", "share"),
    [
        ("¿Qué plazo tiene el procedimiento desde la notificación?", 1.0),
        ("¿Qué plazo tiene el procedimiento según el libro «La caza del zorro en invierno»?", 1.0),
        ("¿Qué se entiende por energía nuclear en el procedimiento?", 1 / 3),
        ("¿Puedes citar dónde dice: «el procedimiento deberá concluir en diez meses»?", 0.8),
        ("¿?", 0.0),
    ],
)
def test_how_much_of_a_question_a_passage_covers(question: str, share: float) -> None:
    assert coverage(question, RULES, lambda _: 1.0) == pytest.approx(share, abs=0.17)


@pytest.mark.parametrize(
    ("kind", "question", "answered"),
    [
        ("out_of_scope", "¿Qué plazo tiene el procedimiento?", True),
        ("no_answer", "¿Qué plazo tiene el procedimiento?", True),
        ("no_answer", "¿Qué se entiende por energía nuclear?", False),
        ("territory", "¿Qué plazo tiene el procedimiento?", False),
        ("other_year", "¿Qué plazo tiene el procedimiento?", False),
    ],
)
def test_one_document_answers_what_a_passage_covers(kind: str, question: str, answered: bool) -> None:
    search = SearchResult(found=hits(RULES), raw=None, vector=None, candidates=None, timings={})  # type: ignore[arg-type]
    before = Assessment(Category.OUT_OF_SCOPE, kind, 0.1, "No respondo.")
    after = of_one_document(before, question, search, weight=lambda _: 1.0, threshold=0.6)
    assert (after.refusal == "") is answered and (after is before) is not answered
    greeting = replace(before, is_no_question=True)
    assert of_one_document(greeting, question, search, weight=lambda _: 1.0, threshold=0.0) is greeting
