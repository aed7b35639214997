"""Recognisers, views, placeholders and the redaction of documents, with the patterns alone (no NLP engine)."""

import re
import threading
from pathlib import Path
from typing import Any

import pytest

from core.config import PROJECT_ROOT, Settings
from core.ingestion.page_texts import page_texts
from core.models import Block, LoadedDocument, Table
from core.privacy.document import redact_document, redact_title
from core.privacy.kinds import Kind, Match, resolve
from core.privacy.measure import RECALL_PATH, measure, recall_table
from core.privacy.patterns import find_patterns
from core.privacy.placeholders import Placeholders, normalise
from core.privacy.recognizers import naf
from core.privacy.redactor import Redactor, spans_of, splice
from tests.pii_generator import SETS, lines, load

NEGATIVES = (Path(__file__).parent.parent / "data" / "pii_negatives.txt").read_text("utf-8").splitlines()


class PatternEngine:
    """The engine without NLP."""

    def find(self, text: str) -> list[Match]:
        return find_patterns(text)

    def replace(self, text: str, spans: list[tuple[int, int, str]]) -> str:
        for start, end, name in reversed(spans):
            text = f"{text[:start]}<{name}>{text[end:]}"
        return text


@pytest.fixture
def redactor(settings: Settings) -> Redactor:
    made = Redactor(settings)
    made._engine = PatternEngine()  # type: ignore[assignment]
    return made


def redacted(text: str) -> str:
    return splice(text, spans_of(text, find_patterns(text), Placeholders()))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("NIF: 12345678Z.", "NIF: <NIF_1>."),
        ("nif12345678z", "nif<NIF_1>"),
        ("DNI 12.345.678-Z", "DNI <NIF_1>"),
        ("con NIF ES12345678Z y", "con NIF <NIF_1> y"),
        ("mi DNI es 12345678z", "mi DNI es <NIF_1>"),
        ("1234567L", "<NIF_1>"),
        ("DNI: 12.345.678", "DNI: <NIF_1>"),
        ("NIF 12345678A (error)", "NIF <NIF_1> (error)"),
        ("K0867756N", "<NIF_1>"),
        ("NIF: 1234\n5678Z\nFecha", "NIF: <NIF_1>\nFecha"),
        ("NIF: 123456-\n78Z", "NIF: <NIF_1>"),
        ("| 12345678 | Z |", "| <NIF_1> |"),
        ("X1234567L y x-1234567-l", "<NIE_1> y <NIE_1>"),
        ("CIF:B99999013", "CIF:<CIF_1>"),
        ("CIF B-99.999.013", "CIF <CIF_1>"),
        ("ES78 9999 0001 4101 2345 6789", "<IBAN_1>"),
        ("es7899990001410123456789 a nombre", "<IBAN_1> a nombre"),
        ("IBAN ES00 9999 0001 4101 2345 6789", "IBAN <IBAN_1>"),
        ("| ES78 9999 | 0001 4101 | 2345 6789 |", "| <IBAN_1> |"),
        ("DE89 3704 0044 0532 0130 00 en", "<IBAN_1> en"),
        ("tarjeta 4111 1111 1111 1111", "tarjeta <TARJETA_1>"),
        ("juan.perez@ejemplo.es", "<EMAIL_1>"),
        ("correo juan (at) ejemplo.es", "correo <EMAIL_1>"),
        ("juan arroba ejemplo punto es", "<EMAIL_1>"),
        ("juan.perez@ejem\nplo.es\nOtra", "<EMAIL_1>\nOtra"),
        ("Gracias.\njuan@ejemplo.es", "Gracias.\n<EMAIL_1>"),
        ("Tel. +34 600 000 012", "Tel. <TELEFONO_1>"),
        ("móvil 600000012", "móvil <TELEFONO_1>"),
        ("llame al 91-555-01-23", "llame al <TELEFONO_1>"),
        ("+33 1 42 68 53 00", "<TELEFONO_1>"),
        ("C/ Inventada 12, 3.º B, 28000 Madrid", "<DIRECCION_1>"),
        ("Cliente: María García López", "Cliente: <NOMBRE_1>"),
        ("GARCÍA LÓPEZ, MARÍA", "<NOMBRE_1>"),
        ("D. Iñaki Etxebarria Goikoetxea firma", "D. <NOMBRE_1> firma"),
        ("Atentamente,\nLucía Prueba Ejemplo", "Atentamente,\n<NOMBRE_1>"),
        ("hablé con maría garcía ayer", "hablé con <NOMBRE_1> ayer"),
        ("NIF\u00a012345678\u2011Z", "NIF\u00a0<NIF_1>"),
        ("12345\u200b678Z", "<NIF_1>"),
        ("１２３４５６７８Z", "<NIF_1>"),
    ],
)
def test_forms_that_people_write(text: str, expected: str) -> None:
    assert redacted(text) == expected


@pytest.mark.parametrize("line", NEGATIVES)
def test_what_is_no_personal_data_stays(line: str) -> None:
    assert redacted(line) == line


@pytest.mark.parametrize(
    "name",
    (
        "Hodei Agirrezabala Iturriaga|Queralt Soldevila i Masdeu|Brais Loureiro Touriño|Yuliana Londoño Restrepo|Leidy Tipán Guamán|"
        "Soukaina El Idrissi Benjelloun|Hamza Ait Lahcen|Bogdan Munteanu|Guiying Zhou|Mamadou Diallo|Kateryna Shevchenko|"
        "María de los Ángeles de la Rosa Pazos|Ana Belén Ruiz de Azúa López de Lacalle|Nagore Sánchez-Cano Goñi|"
        "ENEKO LIZARRAGA AZPIAZU|MANUEL GANA JIMÉNEZ|Perdomo Betancor, Ayoze|ZUBIAURRE GOÑI, UXUE|Ramas Restrepo, Josué|"
        "J. M. Perdomo|A. Asensio Coca|Yecid Ayala y Sarabia|Julie Calvo Coca|Noah Vidal Pou"
    ).split("|"),
)
@pytest.mark.parametrize("frame", ["Titular de la cuenta: {}.", "Ayer vino {} a la oficina.", "| {} | 120,00 |"])
def test_names_from_everywhere(name: str, frame: str) -> None:
    left = redacted(frame.format(name))
    assert not any(word in left for word in name.replace(",", "").replace(".", "").split() if len(word) > 2), left


@pytest.mark.parametrize(
    "value",
    (
        "75-728-923W|ES57.659.577-p|42414632/S|37643641 - r|NIF12345678Z|DNI: 507-\n45331 E|K-\n1378581-F|Y 1.986.661 B|"
        "IBAN:ES129999595080119111\n5424|T. 870 71 02 41|marta@mi-tienda.\nshop|MARTA@MI-TIENDA\n.SHOP|"
        "Avda. 12 de Octubre, 101 5º-2ª|C/. Sagasta, 3, entlo. 1ª, 08820 El Prat|CL Juan Bravo, 99|Urb. dels Àngels núm. 60, 46980 Paterna"
    ).split("|"),
)
def test_odd_forms(value: str) -> None:
    kept = {"nif", "dni", "iban", "t"}
    assert {w for w in re.findall(r"\w+", redacted(value).casefold()) if "_" not in w} <= kept


def test_the_negatives_stay_in_one_text_too() -> None:
    text = "\n".join(NEGATIVES)
    assert redacted(text) == text
    assert len(NEGATIVES) >= 150


def test_shared_negatives(cases: Path) -> None:
    lines_ = (cases / "pii_negativos.txt").read_text("utf-8").splitlines()
    changed = [line for line in lines_ if redacted(line) != line]
    assert all(line.startswith(("NIF inválido", "Pedido 812345678")) for line in changed), len(changed)


@pytest.mark.parametrize("name", list(SETS))
def test_the_frozen_sets_are_what_the_generator_writes(name: str) -> None:
    assert lines(name) == (PROJECT_ROOT / "tests" / "data" / f"pii_{name}.jsonl").read_text("utf-8")


def test_identifiers_are_found_without_the_engine() -> None:
    """What a question relies on before the engine is loaded; the full bars are in tests/integration/test_privacy.py."""
    rows = {row.kind: row.recall for row in measure(load("set")[:600], find_patterns)}
    assert min(rows[k] for k in (Kind.NIF, Kind.NIE, Kind.CIF, Kind.IBAN, Kind.EMAIL)) >= 0.995


def test_one_value_one_placeholder() -> None:
    places = Placeholders()
    assert places.name(Kind.NIF, "12345678Z") == places.name(Kind.NIF, "es-12.345.678-z") == "NIF_1"
    assert places.name(Kind.NIF, "87654321X") == "NIF_2"
    assert places.name(Kind.PERSON, "GARCÍA LÓPEZ, MARÍA") == places.name(Kind.PERSON, "María García López")
    assert normalise(Kind.PHONE, "+34 600 000 012") == normalise(Kind.PHONE, "600000012") == "600000012"
    assert normalise(Kind.EMAIL, "Juan (at) ejemplo.es") == "juan@ejemplo.es"
    assert normalise(Kind.NIF, "1234567L") == "01234567l"


def test_placeholders_keep_no_value() -> None:
    places = Placeholders()
    places.name(Kind.NIF, "12345678Z")
    kept = repr([getattr(places, name) for name in vars(places)])
    assert "12345678" not in kept.lower()
    assert Placeholders()._key != places._key


def test_placeholders_from_many_threads() -> None:
    places, names = Placeholders(), []
    threads = [
        threading.Thread(target=lambda: names.extend(places.name(Kind.NIF, str(i % 50)) for i in range(500)))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(names)) == 50 and places.distinct() == {Kind.NIF: 50}


def test_resolve_keeps_what_sticks_out() -> None:
    kept = resolve([Match(0, 10, Kind.ADDRESS, 1.0), Match(5, 15, Kind.PERSON, 0.8)])
    assert [(m.start, m.end, m.kind) for m in kept] == [(0, 10, Kind.ADDRESS), (10, 15, Kind.PERSON)]


def test_naf_check_digits() -> None:
    assert naf.is_valid("281234567840") and not naf.is_valid("281234567841")


def document(*blocks: Block, tables: tuple[Table, ...] = (), pages: int = 1) -> LoadedDocument:
    return LoadedDocument(blocks, page_texts(blocks, tables, pages), tables)


def test_a_document_is_redacted_everywhere(redactor: Redactor) -> None:
    table = Table(
        ("Titular", "Cuenta", "Importe"),
        (("Marta Supuesta Inexistente", "ES2799990002 919876543210", "12,00"), ("", "", "3,00")),
        page=1,
        page_end=1,
        row_pages=(1, 1),
        title="Datos de Marta Supuesta Inexistente",
        section_path=("Datos de Marta Supuesta Inexistente",),
    )
    loaded = document(
        Block("heading", "Datos de Marta Supuesta Inexistente", page=1, level=1),
        Block("table", "", page=1, table=0),
        Block("paragraph", "El NIF es 1234", page=1),
        Block("paragraph", "5678Z y el total 15,00.", page=1),
        tables=(table,),
    )
    clean, report = redact_document(loaded, redactor, Placeholders())
    assert clean.tables[0].rows == (("<NOMBRE_1>", "<IBAN_1>", "12,00"), ("", "", "3,00"))
    assert clean.tables[0].title == clean.blocks[0].text == "Datos de <NOMBRE_1>"
    assert clean.tables[0].section_path == ("Datos de <NOMBRE_1>",)
    assert [b.text for b in clean.blocks[2:]] == ["El NIF es <NIF_1>", " y el total 15,00."]
    assert "Marta" not in repr(clean) and "5678Z" not in repr(clean) and "91987" not in repr(clean)
    assert report.counts == {Kind.NIF: 1, Kind.IBAN: 1, Kind.PERSON: 2} and report.distinct[Kind.PERSON] == 1


def test_page_breaks_stay_in_place(redactor: Redactor) -> None:
    before, after = "Emitida a 12345678Z. La cuenta es ES78 9999 0001 ", "4101 2345 6789 y termina aquí."
    loaded = document(Block("paragraph", before + after, page=3, page_breaks=(len(before),)), pages=4)
    clean, _ = redact_document(loaded, redactor, Placeholders())
    block = clean.blocks[0]
    assert block.text == "Emitida a <NIF_1>. La cuenta es <IBAN_1> y termina aquí."
    assert block.text[block.page_breaks[0] :] == " y termina aquí."
    assert clean.pages[3] == "Emitida a <NIF_1>. La cuenta es <IBAN_1>" and clean.pages[4] == "y termina aquí."


def test_a_long_document_is_searched_in_parts(redactor: Redactor) -> None:
    filler = "Gasto de papelería de la oficina por importe de doce euros con cincuenta céntimos, sin más."
    blocks = [Block("paragraph", filler, page=1) for _ in range(1500)]
    blocks[700] = Block("paragraph", "NIF 12345678Z", page=1)
    seen: list[tuple[str, int, int]] = []
    clean, report = redact_document(
        document(*blocks), redactor, Placeholders(), progress=lambda *args: seen.append(args)
    )
    assert report.total == 1 and clean.blocks[700].text == "NIF <NIF_1>"
    assert len(seen) > 1 and seen[-1][1] == seen[-1][2]


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("factura_12345678Z_abril.pdf", "factura_<NIF_1>_abril.pdf"),
        ("factura_juan_perez_garcia.pdf", "factura_<NOMBRE_1>.pdf"),
        ("factura 2026-014.pdf", "factura 2026-014.pdf"),
    ],
)
def test_file_names(redactor: Redactor, title: str, expected: str) -> None:
    assert redact_title(title, redactor, Placeholders()).text == expected


def test_a_question_never_waits_for_the_engine(settings: Settings) -> None:
    redactor = Redactor(settings)
    result = redactor.redact_question("¿Mi NIF 12345678Z y el correo juan@ejemplo.es valen en el modelo 036?")
    assert result.text == "¿Mi NIF <NIF_1> y el correo <EMAIL_1> valen en el modelo 036?"
    assert not redactor.ready
    assert [(s.kind, s.length) for s in result.spans] == [(Kind.NIF, 9), (Kind.EMAIL, 15)]


def test_tax_questions_are_left_alone(settings: Settings) -> None:
    redactor = Redactor(settings)
    for question in (
        "¿Qué dice el artículo 20.Uno.23.º de la Ley 37/1992?",
        "¿Cuándo se presenta el modelo 303 del 1T de 2026?",
        "¿El IVA de la gasolina me lo puedo deducir?",
        "¿Puedo deducirme 26,67 euros al día en dietas?",
        "¿Qué es el recargo de equivalencia en Castilla y León?",
    ):
        assert redactor.redact_question(question).text == question


def test_nothing_is_redacted_without_the_model(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    """Fail closed: where the model cannot be had the error goes up and no text comes back."""
    from core.errors import AcquisitionError
    from core.privacy import spanish_model

    def refuse(*_: Any, **__: Any) -> None:
        raise AcquisitionError("No se pudo descargar el modelo.")

    monkeypatch.setattr(spanish_model, "fetch_wheel_members", refuse)
    monkeypatch.setattr("core.privacy.spanish_model.load_pipeline", refuse)
    with pytest.raises(AcquisitionError):
        Redactor(settings).redact_pii("NIF 12345678Z")


def test_the_notice_shows_the_measured_figures() -> None:
    table = recall_table()
    assert RECALL_PATH.exists() and table["NIF o DNI"] >= 0.995 and table["nombre de persona"] >= 0.94
