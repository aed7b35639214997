"""Quotable units, extraction and the engine, with fakes."""

import numpy as np
import pytest

from core.answering.engine import AnswerEngine
from core.answering.extractive import compose, extract
from core.answering.render import answer_json, conversation_markdown, spanish_date, validity
from core.answering.scope import KINDS, ScopeModel, personal_features, read_signs
from core.answering.units import marker_kind, quotes_of, units_of
from core.errors import InvalidQuestionError
from core.models import Answer, Category, Fragment, Mode, RetrievedFragment, Scope, Source
from core.retrieval.features import CandidateSet
from core.retrieval.search import SearchResult
from core.retrieval.terms import TermStatistics
from core.thresholds import Thresholds

TERMS = TermStatistics({}, 1000)


def fragment(text: str, *, page: int | None = 1, path: tuple[str, ...] = ("Sección",), kind: str = "text", ordinal: int = 0, breaks: tuple[int, ...] = ()) -> Fragment:  # fmt: skip
    return Fragment(
        id=f"id{ordinal}", text=text, doc_id="doc", title="Manual", tax="IVA", doc_type="manual", section_label=path[-1],
        section_path=path, page=page, page_end=page, source_url="https://x.es", retrieved_at="2026-01-01",
        kind="table" if kind == "table" else "text", ordinal=ordinal, page_breaks=breaks,
    )  # fmt: skip


BOOKS = fragment(
    "Sección\nLos sujetos pasivos han de llevar los siguientes Libros Registros:\n1. Libro de facturas expedidas.\n"
    "2. Libro de facturas recibidas.\n3. Libros especiales:\n• Libro del régimen simplificado.\nLos libros pueden ser electrónicos."
)


def hits(*fragments: Fragment, relevance: float = 0.8) -> list[RetrievedFragment]:
    return [RetrievedFragment(f, relevance - 0.01 * i) for i, f in enumerate(fragments)]


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("• uno", "bullet•"),
        ("○ dos", "bullet○"),
        ("1. tres", "number"),
        ("2.º cuatro", "ordinal"),
        ("a) cinco", "letter"),
        ("IVA", ""),
        ("2025 fue", ""),
    ],
)
def test_marker_kinds(line: str, kind: str) -> None:
    assert marker_kind(line) == kind


def test_quotes_are_exact_and_leave_headings_out() -> None:
    for quote in quotes_of(BOOKS):
        assert BOOKS.text[quote.start : quote.start + len(quote.text)] == quote.text
    assert "Sección" not in [q.text for q in quotes_of(BOOKS)]


def test_a_list_is_one_unit_with_its_lead_in_and_without_the_level_below() -> None:
    unit = next(u for u in units_of([BOOKS]) if len(u.quotes) > 1)
    assert [q.text for q in unit.quotes] == [
        "Los sujetos pasivos han de llevar los siguientes Libros Registros:",
        "1. Libro de facturas expedidas.",
        "2. Libro de facturas recibidas.",
        "3. Libros especiales:",
    ]


def test_a_list_goes_on_in_the_next_fragment() -> None:
    first = fragment("Art\nLa factura contendrá:\na) Número.\nb) Fecha.", path=("Art",), ordinal=1)
    second = fragment(
        "Art\nc) NIF.\nAsimismo será obligatorio:\n1.º Otro dato.\nd) Domicilio.", path=("Art",), ordinal=2
    )
    unit = units_of([first, second])[0]
    assert [q.text for q in unit.quotes][1:] == ["a) Número.", "b) Fecha.", "c) NIF.", "d) Domicilio."]
    assert {q.fragment.id for q in unit.quotes} == {"id1", "id2"}


def test_a_long_list_is_cut_and_says_so() -> None:
    items = "\n".join(f"{n}. Elemento número {n} de la lista." for n in range(1, 60))
    unit = units_of([fragment(f"Lista siguiente:\n{items}", path=("",))])[0]
    assert unit.cut and len(unit.quotes) < 30


def test_a_table_row_comes_with_its_header() -> None:
    table = fragment("Sección\n| Módulo | Euros |\n| Mesas | 1.000,00 |\n| Barra | 250,00 |", kind="table")
    units = units_of([table])
    assert [q.text for q in units[1].quotes] == ["| Módulo | Euros |", "| Barra | 250,00 |"]


def test_extract_chooses_the_list_for_a_which_question() -> None:
    other = fragment("Otra\nLos libros se conservan cuatro años.", path=("Otra",), ordinal=5)
    extracted = extract(
        "¿Qué libros registro debe llevar un sujeto pasivo?", hits(other, BOOKS), neighbours=lambda f: [f], terms=TERMS
    )
    text, sources = compose(extracted, about=lambda _: (2025, "2025-10-02"))
    assert "«1. Libro de facturas expedidas.» [1]" in text and "Manual" in text and "página 1" in text
    assert sources[0].passage.split("\n")[0].startswith("Los sujetos pasivos") and sources[0].fiscal_year == 2025


def test_the_exception_that_follows_is_quoted_too() -> None:
    f = fragment(
        "Sección\nLas retribuciones al cónyuge son deducibles. No obstante, en estimación objetiva no lo son. Otra cosa distinta."
    )
    extracted = extract("¿son deducibles las retribuciones al cónyuge?", hits(f), neighbours=lambda x: [x], terms=TERMS)
    text, _ = compose(extracted, about=lambda _: (None, ""))
    assert "«No obstante, en estimación objetiva no lo son.» [1]" in text


def test_every_quoted_sentence_has_a_mark_and_every_mark_a_source() -> None:
    import re

    pages = fragment(
        "Hasta el 20 de octubre\nPagos\n• Tercer trimestre 2026:\n○ Estimación directa: 130",
        path=("Octubre", "Hasta el 20 de octubre", "Pagos"),
        page=40,
        breaks=(54,),
    )
    text, sources = compose(
        extract(
            "¿cuándo se presenta el 130 del tercer trimestre de 2026?",
            hits(pages),
            neighbours=lambda f: [f],
            terms=TERMS,
        ),
        about=lambda _: (2026, ""),
    )
    assert re.findall(r"»(?! \[\d+\])", text) == []
    assert {int(n) for n in re.findall(r"\[(\d+)\]", text)} == set(range(1, len(sources) + 1))
    assert "Hasta el 20 de octubre" in text
    assert {s.page for s in sources} == {40, 41}
    for source in sources:
        assert all(line in pages.text for line in source.passage.split("\n"))


class FakeRetriever:
    def __init__(self, found: list[RetrievedFragment]) -> None:
        self.found = found

    def run(self, question: str, k: int) -> SearchResult:
        return SearchResult(
            tuple(self.found[:k]), np.ones(3, np.float32), CandidateSet([], np.zeros((0, 28), np.float32)), {}
        )


def scope_model(answers: bool) -> ScopeModel:
    """A model that always finds a question answerable, or never."""
    width = 3 + len(read_signs("x").numbers())
    evidence = 3 + 6 + 1 + len(read_signs("x").numbers())
    weights = np.zeros(evidence + 1, np.float32)
    weights[-1] = 5.0 if answers else -5.0
    kinds = np.zeros((len(KINDS), width + 1), np.float32)
    kinds[KINDS.index("no_answer"), -1] = 1.0
    personal = np.zeros(3 + len(personal_features("x")) + 1, np.float32)
    personal[-3], personal[-1] = 5.0, -2.0  # the formulas alone decide
    return ScopeModel(kinds, personal, weights, np.zeros(evidence, np.float32), np.ones(evidence, np.float32))


def engine(found: list[RetrievedFragment], *, answers: bool = True) -> AnswerEngine:
    return AnswerEngine(
        retriever=FakeRetriever(found),
        neighbours=lambda f: [f],
        terms=lambda: TERMS,
        about=lambda _: (2025, ""),
        scope=scope_model(answers),
        thresholds=Thresholds("t", answerable=0.5),
        max_question_chars=100,
    )


def test_engine_answers_with_sources_for_the_common_territory() -> None:
    answer = engine(hits(BOOKS)).ask("¿Qué libros registro debe llevar un sujeto pasivo?")
    assert answer.grounded and answer.category is Category.DIRECT and answer.mode is Mode.EXTRACTIVE and answer.sources
    assert "territorio común" in answer.text


def test_a_personal_case_gets_the_general_rule_and_no_verdict() -> None:
    answer = engine(hits(BOOKS)).ask("tengo un bar, ¿cuánto me sale a pagar por los libros registro?")
    assert answer.category is Category.PERSONAL_CASE and answer.grounded
    assert answer.text.startswith("**Esta es la regla general") and "asesor" in answer.text


@pytest.mark.parametrize(("found", "answers"), [([], True), (hits(BOOKS), False)])
def test_not_finding_is_an_answer_not_an_error(found: list[RetrievedFragment], answers: bool) -> None:
    answer = engine(found, answers=answers).ask("¿Cuánto cuesta un billete de tren?")
    assert (answer.grounded, answer.sources, answer.category) == (False, (), Category.NO_ANSWER)
    assert "No he encontrado información suficiente" in answer.text


def test_another_language_is_answered_in_spanish_and_says_so() -> None:
    answer = engine(hits(BOOKS)).ask("which registry books must I keep for the VAT tax?")
    assert "responde en español" in answer.text


def test_meaningless_words_get_a_gentle_message() -> None:
    answer = engine(hits(BOOKS)).ask("qwrtz plkjh zxcvb")
    assert answer.category is Category.OUT_OF_SCOPE and not answer.grounded and "No entiendo" in answer.text


@pytest.mark.parametrize("question", ["", "   ", "¿?", "\x00", "a" * 101])
def test_questions_that_are_none(question: str) -> None:
    with pytest.raises(InvalidQuestionError):
        engine([]).ask(question)


def test_an_answer_without_sources_cannot_claim_to_be_grounded() -> None:
    with pytest.raises(ValueError, match="grounded"):
        Answer("x", grounded=True, category=Category.DIRECT, mode=Mode.EXTRACTIVE)


SOURCE = Source(
    "f",
    "doc",
    "Ley del IVA",
    None,
    ("Título I", "Artículo 1"),
    "Texto.",
    0.7,
    "https://x.es",
    Scope.PUBLIC,
    None,
    "2026-03-31",
)


def test_json_and_markdown_forms() -> None:
    answer = Answer("Texto «a» [1]", True, Category.DIRECT, Mode.EXTRACTIVE, (SOURCE,))
    data = answer_json(answer)
    assert set(data["sources"][0]) >= {
        "doc_id",
        "title",
        "page",
        "section_path",
        "passage",
        "relevance",
        "source_url",
        "source_scope",
    }
    assert (data["grounded"], data["category"], data["mode"]) == (True, "direct", "extractive")
    markdown = conversation_markdown([("¿Qué?", answer)])
    assert (
        "## ¿Qué?" in markdown and "[1] Ley del IVA (vigente a 31/03/2026)" in markdown and "asesor fiscal" in markdown
    )
    assert validity(SOURCE) == "vigente a 31/03/2026" and spanish_date("mal") == "mal"
