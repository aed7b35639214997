"""Quotable units, extraction and the engine, with fakes."""

from dataclasses import replace

import numpy as np
import pytest

from core.answering.checking import DraftChecker
from core.answering.compose import by_page, compose, joined
from core.answering.cues import gives_time
from core.answering.engine import AnswerEngine
from core.answering.extractive import Extract, Extractor, Searched
from core.answering.parts import parts_of
from core.answering.premises import figures_of, premise_of
from core.answering.render import answer_json, conversation_markdown, spanish_date, validity
from core.answering.scope_model import KINDS, ScopeModel, evidence_features, kind_input, personal_input
from core.answering.sentence_model import load_sentence_model
from core.answering.signs import read_signs
from core.answering.units import marker_kind, quotes_of, units_of
from core.errors import InvalidQuestionError
from core.evaluation.run import concludes
from core.models import Answer, Category, Fragment, Mode, RetrievedFragment, Scope, Source
from core.retrieval.expected import KnownAnswers
from core.retrieval.features import CandidateSet
from core.retrieval.search import SearchResult
from core.retrieval.terms import TermStatistics
from core.thresholds import load_thresholds

TERMS = TermStatistics({}, 1000)
SENTENCES = load_sentence_model()


def extract(question: str, found: list[RetrievedFragment]) -> Extract:
    """What the trained model quotes when each fragment is a section of its own."""
    return Extractor(lambda f: [f], TERMS, SENTENCES, KnownAnswers({})).extract(
        question, [Searched(question, found, {})]
    )


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
    extracted = extract("¿Qué libros registro debe llevar un sujeto pasivo?", hits(other, BOOKS))
    text, sources = compose(extracted, about=lambda _: (2025, "2025-10-02"))
    assert "«1. Libro de facturas expedidas.» [1]" in text and "Manual" in text and "página 1" in text
    assert sources[0].passage.split("\n")[0].startswith("Los sujetos pasivos") and sources[0].fiscal_year == 2025


def test_the_exception_that_follows_is_quoted_too() -> None:
    f = fragment(
        "Sección\nLas retribuciones al cónyuge son deducibles. No obstante, en estimación objetiva no lo son. Otra cosa distinta."
    )
    extracted = extract("¿son deducibles las retribuciones al cónyuge?", hits(f))
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
        extract("¿cuándo se presenta el 130 del tercer trimestre de 2026?", hits(pages)),
        about=lambda _: (2026, ""),
    )
    assert re.findall(r"»(?! \[\d+\])", text) == []
    assert {int(n) for n in re.findall(r"\[(\d+)\]", text)} == set(range(1, len(sources) + 1))
    assert "Hasta el 20 de octubre" in text
    assert {s.page for s in sources} == {40, 41}
    for source in sources:
        assert all(line in pages.text for line in source.passage.split("\n"))


def chosen_text(question: str, *fragments: Fragment, relevance: float = 0.8) -> str:
    """What an answer quotes, one quote a line."""
    extracted = extract(question, hits(*fragments, relevance=relevance))
    return "\n".join(unit.text for unit, _ in extracted.units)


SURCHARGES = fragment(
    "Recargos\nLos recargos son incompatibles entre sí.\nEl recargo ejecutivo será del cinco por ciento.\n"
    "El recargo ordinario será del 20 por ciento.",
    path=("Recargos",),
)


def test_an_item_comes_with_the_sentences_that_lead_into_it() -> None:
    nested = fragment("Art\nSe aplica el 10 por 100 a:\n1. Las entregas de:\n• Agua.\n2. Los servicios de:\n• Hoteles.")
    assert ["Se aplica el 10 por 100 a:", "2. Los servicios de:", "• Hoteles."] in [
        [q.text for q in unit.quotes] for unit in units_of([nested])
    ]


def test_two_lists_of_one_level_stay_apart() -> None:
    text = "Art\nExentas:\n• La enseñanza.\n• La sanidad.\nNo exentas:\n• La cirugía estética."
    lists = [[q.text for q in u.quotes] for u in units_of([fragment(text, path=("Art",))]) if u.heads]
    assert lists[0] == ["Exentas:", "• La enseñanza.", "• La sanidad."]
    assert lists[-1] == ["No exentas:", "• La cirugía estética."]


def test_a_numbered_paragraph_is_no_item_of_a_list_in_the_one_before() -> None:
    text = "Art\n2. Son profesionales:\na) Los notarios.\n4. Se aplicarán estos tipos:\na) El 2 por ciento."
    last = units_of([fragment(text, path=("Art",))])[-1]
    assert [q.text for q in last.quotes] == ["4. Se aplicarán estos tipos:", "a) El 2 por ciento."]


def test_lines_without_markers_come_with_their_lead_in() -> None:
    text = "Art\nNo se incluirán las operaciones siguientes:\nLas de seguros.\nLas de suministro de agua."
    unit = units_of([fragment(text, path=("Art",))])[0]
    assert len(unit.quotes) == 3 and unit.heads == 1


def test_a_small_table_is_a_unit_too() -> None:
    table = fragment("Sección\nLos tipos son:\n| IVA | Recargo |\n| 21% | 5,2% |\n| 10% | 1,4% |", kind="table")
    whole = units_of([table])[-1]
    assert [q.text for q in whole.quotes] == ["Los tipos son:", "| IVA | Recargo |", "| 21% | 5,2% |", "| 10% | 1,4% |"]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("¿Cuánto es el recargo ejecutivo?", "El recargo ejecutivo será del cinco por ciento."),
        ("¿Qué porcentaje tiene el recargo ordinario?", "El recargo ordinario será del 20 por ciento."),
    ],
)
def test_a_question_for_a_figure_gets_the_sentence_with_the_figure(question: str, expected: str) -> None:
    assert expected in chosen_text(question, SURCHARGES)


def test_the_date_of_a_cited_law_is_no_term() -> None:
    assert not gives_time("Se rectificará según el Real Decreto 1619/2012, de 30 de noviembre.")
    assert gives_time("Se rectificará, según la Ley 37/1992, de 28 de diciembre, en los cuatro años siguientes.")


def test_a_sentence_that_leans_on_the_one_before_is_not_quoted_alone() -> None:
    f = fragment(
        "Art\nLa retención de los profesionales será del 15 por ciento de los ingresos íntegros satisfechos.\n"
        "No obstante, al inicio de la actividad profesional la retención será del 7 por ciento.",
        path=("Art",),
    )
    quoted = chosen_text("¿Qué retención hay al inicio de la actividad profesional?", f)
    assert quoted.index("15 por ciento") < quoted.index("7 por ciento")


@pytest.mark.parametrize(
    "empty", ["Presentación mediante fichero del modelo 347", "¿Cuándo se presenta el modelo 347?"]
)
def test_a_label_or_a_question_is_no_answer_where_there_is_one(empty: str) -> None:
    f = fragment(f"Gestiones\n{empty}\nEl modelo 347 se presenta durante el mes de febrero.", path=("Gestiones",))
    assert (
        chosen_text("¿Cuándo se presenta el modelo 347?", f) == "El modelo 347 se presenta durante el mes de febrero."
    )


def test_a_question_in_the_affirmative_is_not_answered_only_with_what_is_not() -> None:
    f = fragment(
        "Bienes\nNo se consideran bienes de inversión los envases.\n"
        "Se consideran bienes de inversión los destinados a usarse más de un año.",
        path=("Bienes",),
    )
    assert "Se consideran bienes de inversión los destinados" in chosen_text("¿Qué son bienes de inversión?", f)


def test_a_rule_of_a_past_year_gives_way_to_the_present_one() -> None:
    old = fragment("DA\nEn el período impositivo 2023 la deducción será del 7 por ciento.", path=("DA",), ordinal=1)
    new = fragment("Manual\nPara el ejercicio 2025 la deducción será del 5 por ciento.", path=("Manual",), ordinal=2)
    assert chosen_text("¿Qué porcentaje de deducción hay?", old, new).startswith("Para el ejercicio 2025")


def test_an_answer_stays_short() -> None:
    text = "\n".join(f"El plazo del modelo {n} termina el {n} de abril de cada año." for n in range(1, 20))
    extracted = extract("¿Cuál es el plazo del modelo?", hits(fragment(f"Plazos\n{text}", path=("Plazos",))))
    assert sum(len(unit.quotes) for unit, _ in extracted.units) <= 4


def test_articles_of_one_law_are_introduced_each() -> None:
    one = fragment("Artículo 1\nEl plazo para recurrir es de un mes.", page=None, path=("Artículo 1",), ordinal=1)
    two = fragment(
        "Artículo 2\nEl plazo para recurrir acaba en un mes natural.", page=None, path=("Artículo 2",), ordinal=9
    )
    units = tuple((units_of([f])[0], RetrievedFragment(f, 0.8)) for f in (one, two))
    text, _ = compose(Extract(units), about=lambda _: (None, ""))
    assert text.count("**Manual**") == 2


def test_an_introduction_leaves_out_the_repeated_title_and_shortens_long_headings() -> None:
    f = fragment("Uno.\nDos.", path=("Manual práctico, de larga denominación", "Artículo 5. " + "muy largo " * 30))
    text, _ = compose(Extract(((units_of([f])[0], RetrievedFragment(f, 0.8)),)), about=lambda _: (None, ""))
    first = text.split("\n")[0]
    assert "larga denominación" not in first and "…" in first and len(first) < 180


class FakeRetriever:
    def __init__(self, found: list[RetrievedFragment]) -> None:
        self.found = found

    def run(self, question: str, k: int) -> SearchResult:
        return SearchResult(
            tuple(self.found[:k]),
            np.ones(3, np.float32),
            np.ones(3, np.float32),
            CandidateSet([], np.zeros((0, 28), np.float32)),
            {},
        )


def scope_model(answers: bool, *, size: int = 3) -> ScopeModel:
    """A model that always finds a question answerable, or never."""
    signs, vector = read_signs("x"), np.ones(size, np.float32)
    nothing = SearchResult((), vector, vector, CandidateSet([], np.zeros((0, 28), np.float32)), {})
    evidence = len(evidence_features(nothing, np.full(len(KINDS), 1 / len(KINDS)), signs))
    weights = np.zeros(evidence + 1, np.float32)
    weights[-1] = 5.0 if answers else -5.0
    kinds = np.zeros((len(KINDS), len(kind_input(vector, "x", signs)) + 1), np.float32)
    kinds[KINDS.index("no_answer"), -1] = 1.0
    personal = np.zeros(len(personal_input(vector, "x")) + 1, np.float32)
    personal[-3], personal[-1] = 5.0, -2.0  # the formulas alone decide
    return ScopeModel(
        kind_weights=kinds,
        personal_weights=personal,
        answer_weights=weights,
        means=np.zeros(evidence, np.float32),
        scales=np.ones(evidence, np.float32),
        trust=np.array([1.0, 0.0, 0.0, 0.0, 0.0], np.float32),
    )


def engine(found: list[RetrievedFragment], *, answers: bool = True) -> AnswerEngine:
    return AnswerEngine(
        retriever=FakeRetriever(found),
        neighbours=lambda f: [f],
        terms=lambda: TERMS,
        about=lambda _: (2025, ""),
        scope=scope_model(answers),
        sentences=SENTENCES,
        known=KnownAnswers({}),
        thresholds=load_thresholds(),
        max_question_chars=100,
        verify=DraftChecker(load_thresholds()),
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


def test_asked_for_several_things_the_outer_list_is_quoted_whole() -> None:
    extracted = extract("¿Qué libros registro debe llevar quien está en el régimen simplificado?", hits(BOOKS))
    text, _ = compose(extracted, about=lambda _: (None, ""))
    assert "«1. Libro de facturas expedidas.» [1]" in text and "«3. Libros especiales:» [1]" in text


def test_sentences_of_one_line_are_one_quote_and_a_quote_ends_with_its_page() -> None:
    text = "Sec\nUna frase. Otra frase.\nTercera que sigue en otra página."
    f = fragment(text, path=("Sec",), page=7, breaks=(text.index("sigue"),))
    quotes = quotes_of(f)
    assert [q.text for q in joined(quotes)] == ["Una frase. Otra frase.", "Tercera que sigue en otra página."]
    pieces = by_page(quotes[-1])
    assert [(p.text, p.page) for p in pieces] == [("Tercera que", 7), ("sigue en otra página.", 8)]
    assert all(f.text[p.start : p.start + len(p.text)] == p.text for p in pieces)


@pytest.mark.parametrize(
    ("question", "texts"),
    [
        ("¿cuánto pago de cuota y con qué modelo lo declaro?", ["cuánto pago de cuota", "con qué modelo lo declaro"]),
        (
            "vendo quesos en mi granja, ¿qué tipo de IVA aplico? ¿y hasta cuándo tengo para declararlo?",
            ["qué tipo de IVA aplico", "hasta cuándo tengo para declararlo"],
        ),
        ("¿qué plazo tiene el 303 y el 130?", ["Modelo 303", "Modelo 130"]),
        ("¿puedo deducir el móvil en el IVA y en la renta?", ["IVA", "IRPF"]),
        (
            "Cerré el taller en marzo y no lo dije. Necesito saber cuándo había que avisar y también la sanción",
            ["Necesito saber cuándo había que avisar", "también la sanción"],
        ),
        (
            "Dejo el negocio; plazo para la baja censal y si la puedo mandar por internet",
            ["plazo para la baja censal", "si la puedo mandar por internet"],
        ),
        (
            "quiero saber si las clases llevan iva y también hasta cuándo presento el 303",
            ["quiero saber si las clases llevan iva", "también hasta cuándo presento el 303"],
        ),
        ("Corregir un 130 ya presentado: cómo se hace y cuántos años tengo", ["cómo se hace", "cuántos años tengo"]),
        ("¿Cuál es el plazo y la multa del 347?", []),
        ("¿qué fecha límite e importe tiene el 390?", []),
        ("tengo intereses y recargos, ¿son gasto?", []),
        ("¿qué datos lleva una factura?", []),
        ("vendo quesos, ¿qué tipo de IVA aplico?", []),
    ],
)
def test_parts_of_a_question(question: str, texts: list[str]) -> None:
    assert [part.title.strip("¿?").casefold() for part in parts_of(question)] == [text.casefold() for text in texts]


def test_a_part_is_searched_with_what_the_question_is_about() -> None:
    second = parts_of("soy ganadero en módulos, cuánto adelanto de IRPF y cuándo se presenta")[1]
    assert "ganadero" in second.query and "IRPF" in second.query and "cuándo se presenta" in second.query


@pytest.mark.parametrize(
    ("question", "premise"),
    [
        ("como el recargo es del 7%, lo pago, ¿no?", "recargo es del 7%"),
        ("ya que nadie lleva libros, no los llevo, vale?", "nadie lleva libros"),
        ("el plazo es de dos meses, ¿verdad?", "plazo es de dos meses"),
        ("¿cómo presento el 303?", ""),
        ("como lo hago para darme de baja", ""),
    ],
)
def test_what_a_question_takes_for_granted(question: str, premise: str) -> None:
    found = premise_of(question)
    assert premise in found if premise else found == ""


@pytest.mark.parametrize(
    ("text", "figures"),
    [
        ("el 5 por 100 o el diez por ciento", {("percent", "5"), ("percent", "10")}),
        ("en el plazo de un mes", {("length m", "1")}),
        ("del 1 al 20 de abril", {("date", "20 abril")}),
        ("no exceda de 3.005,06 euros", {("amount", "3005.06")}),
        ("antes del 1 de julio de 2027", {("date", "1 julio"), ("month", "julio 2027")}),
    ],
)
def test_figures_are_read_in_every_form(text: str, figures: set[tuple[str, str]]) -> None:
    assert figures_of(text) == figures


@pytest.mark.parametrize(
    ("question", "first"),
    [
        (
            "como el recargo ejecutivo es del 9%, pago eso, ¿no?",
            "**No: el pasaje citado da otro porcentaje que la pregunta [1].**",
        ),
        ("el recargo ejecutivo es del 5%, ¿verdad?", ""),
        ("¿cuánto es el recargo ejecutivo?", ""),
    ],
)
def test_another_figure_than_the_premise_is_said_first(question: str, first: str) -> None:
    f = fragment("Recargos\nEl recargo ejecutivo será del cinco por ciento.", path=("Recargos",))
    text, _ = compose(extract(question, hits(f)), about=lambda _: (None, ""))
    assert text.startswith(first or "**Manual**")
    assert "«El recargo ejecutivo será del cinco por ciento.» [1]" in text


@pytest.mark.parametrize(
    ("question", "corrected"),
    [
        ("en módulos descuento siempre el sueldo de mi cónyuge, ¿verdad?", True),
        ("en módulos no se descuenta el sueldo del cónyuge, ¿verdad?", False),
    ],
)
def test_a_rule_that_denies_the_premise_is_said_first(question: str, corrected: bool) -> None:
    f = fragment("Módulos\nEn módulos no resulta en ningún caso deducible el sueldo del cónyuge.", path=("Módulos",))
    text, _ = compose(extract(question, hits(f)), about=lambda _: (None, ""))
    assert text.startswith("**Cuidado:") is corrected


def test_a_premise_that_nothing_contradicts_is_not_confirmed() -> None:
    answer = engine(hits(BOOKS)).ask(
        "como llevo los libros registro de facturas en una agenda, está bien así, ¿verdad?"
    )
    assert answer.grounded and "compruébelo" in answer.text and "No:" not in answer.text


def test_each_thing_asked_is_answered_under_its_own_heading() -> None:
    books = engine(hits(BOOKS, SURCHARGES))
    answer = books.ask("¿qué libros registro he de llevar y cuánto es el recargo ejecutivo?")
    assert "**¿qué libros registro he de llevar?**" in answer.text
    assert "**¿cuánto es el recargo ejecutivo?**" in answer.text
    assert answer.text.count("«El recargo ejecutivo será del cinco por ciento.»") == 1


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("Le sale a pagar 200 euros.", True),
        ("Usted puede restarlo.", True),
        ("**Ley**, página 3 (Tipo del 19 por ciento):\n«Se aplicará el 19 por ciento.» [1]", False),
    ],
)
def test_a_conclusion_in_our_own_words_is_noticed(text: str, verdict: bool) -> None:
    answer = engine(hits(BOOKS)).ask("¿Qué libros registro debe llevar un sujeto pasivo?")
    assert concludes(replace(answer, text=text)) is verdict
