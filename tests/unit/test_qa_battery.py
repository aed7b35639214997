"""The deterministic generator: grammar, statements, counts, checks. No model, no index."""

import json
import re
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from core.config import PROJECT_ROOT
from core.ingestion.fragments import make_fragments
from core.ingestion.loader import load
from core.models import DocumentInfo, Fragment, Scope
from core.qa.battery import content_key, generate_battery
from core.qa.borders import absent
from core.qa.checks import contradicts, problems
from core.qa.generator_narrative import actors, people
from core.qa.generator_rules import asked, rule_candidates, without_pointer
from core.qa.models import COUNTS, FORMS, BookInfo, BookType, Criteria, Form, QuestionType
from core.qa.spanish import denied, like, number_forms, of, present, with_article
from core.qa.text import DocumentText, Statement, bare
from core.qa.traps import figure_traps

BOOK_PATH = PROJECT_ROOT / "tests" / "data" / "libro_narrativo.md"
TITLE = "La imprenta de la calle Olmo"


def fragments_of(path: Path, title: str) -> list[Fragment]:
    info = DocumentInfo("libro", title, "", "", path.name, source_scope=Scope.PRIVATE, session_id="s")
    return make_fragments(load(path), info, lambda texts: [len(t) // 4 for t in texts])


def story(kind: BookType = BookType.NARRATIVE) -> BookInfo:
    return BookInfo("libro", TITLE, "Equipo de AsesorIA", kind, "novela", source_scope=Scope.PRIVATE, session_id="s")


@pytest.fixture(scope="module")
def book() -> list[Fragment]:
    return fragments_of(BOOK_PATH, TITLE)


@pytest.mark.parametrize(
    ("clause", "opposite"),
    [
        ("deberá presentar la declaración", "no tendrá que presentar la declaración"),
        ("no podrá deducir la cuota", "podrá deducir la cuota"),
        ("se aplicará el tipo general", "no se aplicará el tipo general"),
        ("será correlativa", "no será correlativa"),
    ],
)
def test_a_clause_is_denied(clause: str, opposite: str) -> None:
    assert denied(clause).casefold() == opposite


@pytest.mark.parametrize(
    ("phrase", "expected"),
    [
        ("factura rectificativa", "la factura rectificativa"),
        ("Recargos del período ejecutivo", "los recargos del período ejecutivo"),
        ("Régimen simplificado", "el régimen simplificado"),
        ("Clases de prorrata", "las clases de prorrata"),
        ("la prescripción", "la prescripción"),
    ],
)
def test_a_noun_gets_its_article(phrase: str, expected: str) -> None:
    assert with_article(phrase) == expected


def test_numbers_keep_their_notation() -> None:
    assert number_forms("cuatro") == ("cuatro", "4")
    assert like("cuatro", 6) == "seis"
    assert like("6.000", 12000) == "12.000"
    assert like("10,5", 8) == "8,0"
    assert of("el plazo") == "del plazo"
    assert present("no podrán") == "no pueden"


@pytest.mark.parametrize(
    ("parts", "question"),
    [
        (("Cuándo", "deberá", "La factura", "expedirse en papel"), "¿Cuándo debe expedirse la factura en papel?"),
        (("En qué plazo", "serán", "Las solicitudes", "atendidas por el órgano"), "¿En qué plazo son atendidas las solicitudes por el órgano?"),
        (("Cuándo", "tendrá", "La extinción de la deuda", "lugar"), "¿Cuándo tiene lugar la extinción de la deuda?"),
    ],
)  # fmt: skip
def test_the_subject_goes_after_its_verb(parts: tuple[str, str, str, str], question: str) -> None:
    wh, verb, subject, middle = parts
    assert asked(wh, verb, subject, middle) == question


def test_a_pointer_at_the_end_is_cut_only_where_something_is_left() -> None:
    whole = (
        "La factura deberá emitirse por vía electrónica todos los meses de acuerdo con lo dispuesto en el artículo 8."
    )
    assert without_pointer(whole) == "La factura deberá emitirse por vía electrónica todos los meses."
    assert without_pointer("Se pagará en el plazo previsto en la ley.") == "Se pagará en el plazo previsto en la ley."


RULES = """# Reglamento de prueba

## Artículo 1. Conservación de los registros contables

1. Se entenderá por registro contable el documento en el que se anota cada operación de la empresa por orden de fecha.
2. El plazo para la conservación de los registros contables será de seis años desde el último asiento.
3. Los registros contables podrán conservarse en formato electrónico en cualquier país de la Unión Europea.
4. Si el registro contable se destruye en un incendio, el titular deberá comunicarlo a la autoridad en diez días.

## Artículo 2. Multas por falta de registro

1. La multa por falta de registro contable será del 15 por ciento de las operaciones omitidas.
2. No será exigible el registro contable cuando la actividad tenga carácter esporádico y gratuito.
"""


@pytest.fixture(scope="module")
def rules(tmp_path_factory: pytest.TempPathFactory) -> list[Fragment]:
    path = tmp_path_factory.mktemp("qa") / "reglas.md"
    path.write_text(RULES, "utf-8")
    return fragments_of(path, "Reglamento de prueba")


def test_rules_become_questions(rules: list[Fragment]) -> None:
    questions = {c.question for c in rule_candidates(DocumentText(rules))}
    assert {
        "¿Qué se entiende por registro contable?",
        "¿Cuál es el plazo para la conservación de los registros contables?",
        "¿Qué hay que hacer si el registro contable se destruye en un incendio?",
        "¿Pueden conservarse los registros contables en formato electrónico en cualquier país de la Unión Europea?",
        "¿Cuál es la multa por falta de registro contable?",
        "¿Cuándo no es exigible el registro contable?",
    } <= questions


def test_facts_are_the_sources_own(rules: list[Fragment]) -> None:
    by_question = {c.question: c for c in rule_candidates(DocumentText(rules))}
    assert "seis años" in by_question["¿Cuál es el plazo para la conservación de los registros contables?"].facts[0]
    assert "15 %" in by_question["¿Cuál es la multa por falta de registro contable?"].facts[0]


def test_a_shortfall_is_shown_and_not_padded(rules: list[Fragment]) -> None:
    battery = generate_battery(BookInfo("reglas", "Reglamento de prueba", "", BookType.ANALYTIC), rules)
    counts = {t: sum(q.type is t for q in battery.questions) for t in QuestionType}
    short = {s.type: s for s in battery.summary.shortfalls}
    for kind, wanted in COUNTS[BookType.ANALYTIC].items():
        assert counts[kind] <= wanted
        assert (kind in short) == (counts[kind] < wanted)
    assert short and all(s.reason and s.made == counts[s.type] for s in short.values())


@pytest.mark.parametrize("seed", [0, 1, 2, 3])
@pytest.mark.parametrize("kind", [BookType.NARRATIVE, BookType.HYBRID])
def test_a_story_gets_exactly_its_questions(book: list[Fragment], seed: int, kind: BookType) -> None:
    battery = generate_battery(story(kind), book, seed=seed)
    assert battery.summary.by_type == {str(t): n for t, n in COUNTS[kind].items()}
    assert battery.summary.shortfalls == ()
    text = DocumentText(book)
    for i, q in enumerate(battery.questions):
        assert problems(q, battery.book, text, before=battery.questions[:i]) == [], q.question
        assert q.form in FORMS[q.type]


def test_the_story_is_long_enough() -> None:
    assert len(BOOK_PATH.read_text("utf-8").split()) >= 3000


def test_the_same_seed_gives_the_same_battery_and_another_seed_another(book: list[Fragment]) -> None:
    assert generate_battery(story(), book, seed=4) == generate_battery(story(), list(reversed(book)), seed=4)
    assert generate_battery(story(), book, seed=4).questions != generate_battery(story(), book, seed=5).questions


def test_false_statements_are_not_in_the_source(book: list[Fragment]) -> None:
    text = DocumentText(book)
    for seed in range(6):
        for q in generate_battery(story(), book, seed=seed).questions:
            if q.type is QuestionType.D:
                assert bare(q.false_statement) not in text.folded
                assert bare(q.true_passage) in text.folded


@pytest.mark.parametrize(
    ("false", "true", "expected"),
    [
        ("El plazo será de seis años", "El plazo será de cuatro años.", True),
        ("El plazo no será de cuatro años", "El plazo será de cuatro años.", True),
        ("El plazo será de cuatro años", "El plazo será de cuatro años.", False),
        ("La luna es de queso", "El plazo será de cuatro años.", False),
    ],
)
def test_what_contradicts(false: str, true: str, expected: bool) -> None:
    assert contradicts(false, true) is expected


def test_checks_find_what_is_wrong(book: list[Fragment]) -> None:
    text = DocumentText(book)
    battery = generate_battery(story(), book)
    right = next(q for q in battery.questions if q.type is QuestionType.A)

    def wrong(**changes: object) -> str:
        return " ".join(problems(replace(right, **changes), battery.book, text))  # type: ignore[arg-type]

    assert "no existe" in wrong(expected_fragments=("nada",))
    assert "no está en sus fragmentos" in wrong(criteria=Criteria(precision=(("hipopótamo",),)))
    assert "cifras" in wrong(expected_answer=f"{right.expected_answer} Fueron 4321.")
    assert "no se apoya" in wrong(
        expected_answer="Los dinosaurios herbívoros desaparecieron durante glaciaciones remotas."
    )
    assert "no tiene respuesta" in wrong(expected_answer="")
    assert "repite" in " ".join(problems(right, battery.book, text, before=[right]))
    trap = next(q for q in battery.questions if q.form is Form.FALSE_STATEMENT)
    true_one = replace(trap, false_statement=trap.true_passage)
    assert "está en el documento" in " ".join(problems(true_one, battery.book, text))


def test_an_absent_topic_is_absent(book: list[Fragment]) -> None:
    text = DocumentText(book)
    assert absent(("ajedrez",), text)
    assert not absent(("imprenta",), text)
    near = lambda _: [text.fragments[1]]  # noqa: E731
    assert not absent(("zzz",), text, "la maleta de cartón y la llave", near)


def test_the_review_is_whole_and_keeps_four_fifths() -> None:
    review = json.loads((PROJECT_ROOT / "data" / "eval" / "battery_review.json").read_text("utf-8"))
    questions = review["questions"]
    assert len(questions) == review["drawn"] == 40
    assert all(isinstance(q["kept"], bool) and len(q["why"]) > 20 for q in questions)
    assert sum(q["kept"] for q in questions) == review["kept"] >= 0.8 * len(questions)


def test_a_compound_number_is_one_fact() -> None:
    told = "Tomás regaló a Martín su componedor de latón, gastado por treinta y siete años de dedos."
    made = replace(fragments_of(BOOK_PATH, TITLE)[0], text=told)
    statement = Statement(made, told, 0)
    (trap,) = figure_traps(story(), DocumentText([made]), [statement], Random(1))
    assert trap.facts == (("treinta y siete años",),)
    assert trap.forbidden[0].startswith("treinta y ") and trap.forbidden[0] in trap.false_statement


def test_a_story_whose_names_were_taken_out_is_a_story_still(book: list[Fragment]) -> None:
    text = DocumentText(book)
    words = {word for f in book for word in re.findall(r"[A-ZÁÉÍÓÚÑ][a-záéíóúñ]{2,}", f.text)}
    persons = dict.fromkeys((*people(text), *actors(text, words)))
    names = {name: f"<NOMBRE_{n}>" for n, name in enumerate(persons, start=1)}
    gone = re.compile(rf"\b(?:{'|'.join(names)})\b")

    def redacted(text: str) -> str:
        return gone.sub(lambda match: names[match.group()], text)

    own = [replace(f, text=redacted(f.text)) for f in book]
    assert not actors(DocumentText(own), words), "nobody who does something is called by name any more"
    battery = generate_battery(story(), own, seed=3)
    assert battery.summary.by_type == {str(t): n for t, n in COUNTS[BookType.NARRATIVE].items()}
    assert battery.summary.shortfalls == ()
    assert any("<NOMBRE_" in q.question for q in battery.questions)
    text = DocumentText(own)
    for i, q in enumerate(battery.questions):
        assert problems(q, battery.book, text, before=battery.questions[:i]) == [], q.question


def test_a_file_uploaded_again_gets_the_same_questions() -> None:
    made = []
    for doc_id in ("d-1a2b", "d-3c4d"):
        info = DocumentInfo(doc_id, TITLE, "", "", BOOK_PATH.name, source_scope=Scope.PRIVATE, session_id=doc_id)
        fragments = make_fragments(load(BOOK_PATH), info, lambda texts: [len(t) // 4 for t in texts])
        own = replace(story(), doc_id=doc_id, session_id=doc_id)
        made.append([generate_battery(own, fragments, seed=s, identity=content_key(fragments)) for s in (3, 4)])
    (first, other_seed), (again, _) = made
    assert [replace(q, expected_fragments=()) for q in first.questions] == [
        replace(q, expected_fragments=()) for q in again.questions
    ]
    assert first.id != again.id  # of another document all the same
    assert {q.question for q in first.questions} != {q.question for q in other_seed.questions}


def test_another_text_has_another_key(book: list[Fragment]) -> None:
    assert content_key(book) != content_key([replace(book[0], text=f"{book[0].text} Fin."), *book[1:]])
    assert content_key(book) != content_key(book[1:])
