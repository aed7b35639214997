"""The text of the official documents comes through unchanged, but for white space and hyphens at a line's end."""

import random
import re
from pathlib import Path

import pymupdf
import pytest
from bs4 import BeautifulSoup

from tests.official import BODY_BOTTOM, BODY_TOP, CALENDAR, IVA, LAWS, MANUALS, PDFS, RENTA, fragments, loaded, squeeze

pytestmark = pytest.mark.corpus

SEED = 2025
# What the BOE's site or its editors add to the norm, as core/corpus/boe_html.py leaves it out; cells become table rows.
NOT_NORMATIVE = {"bloque", "linkSubir", "pie_unico"}
# pymupdf gives a list's marks on lines of their own, after their items or even two items later: they are left out here.
BULLETS = re.compile("[•◦○▪‣·]")
MARKER_LINE = re.compile(r"(?m)^[ \t]*(?:[•◦○▪‣·]|\d{1,3}[.)ºª]+|[a-zñA-ZÑ][.)]|[ivxIVX]{1,5}[.)])[ \t]*$")


def law_paragraphs(path: Path) -> list[str]:
    soup = BeautifulSoup(path.read_bytes(), "lxml")
    return [
        p.get_text()
        for p in soup.select("div#textoxslt div.bloque p")
        if p.get_text().strip()
        and not p.find_parent(["blockquote", "form", "table"])
        and not NOT_NORMATIVE & set(p.get("class") or ())
    ]


def manual_paragraphs(path: Path, without_tables: set[int]) -> list[tuple[int, str]]:
    """Text blocks of the body, of pages without tables."""
    found = []
    with pymupdf.open(path) as pdf:
        for number in sorted(without_tables):
            blocks = pdf[number - 1].get_text("blocks", flags=pymupdf.TEXTFLAGS_BLOCKS & ~pymupdf.TEXT_PRESERVE_IMAGES)
            body = [text for _, y0, _, y1, text, *_ in blocks if y1 > BODY_TOP and y0 < BODY_BOTTOM]
            found.extend(
                (number, piece) for text in body for piece in MARKER_LINE.split(text) if len(piece.split()) >= 5
            )
    return found


def words_only(text: str) -> str:
    return squeeze(BULLETS.sub("", text))


def pages_without_tables(filename: str) -> set[int]:
    document = loaded(filename)
    return set(document.pages) - {page for table in document.tables for page in table.row_pages}


@pytest.mark.parametrize("filename", LAWS)
def test_paragraphs_of_a_law_are_unchanged(filename: str, corpus_dir: Path) -> None:
    paragraphs = law_paragraphs(corpus_dir / filename)
    text = squeeze("".join(block.text for block in loaded(filename).blocks))
    assert len(paragraphs) > 150
    sample = random.Random(f"{SEED} {filename}").sample(paragraphs, 7)
    assert [p for p in sample if squeeze(p) not in text] == []


@pytest.mark.parametrize(("filename", "count"), [(RENTA, 30), (IVA, 20)])
def test_paragraphs_of_a_manual_are_unchanged(filename: str, count: int, corpus_dir: Path) -> None:
    paragraphs = manual_paragraphs(corpus_dir / filename, pages_without_tables(filename))
    document = loaded(filename)
    as_blocks = words_only("".join(block.text for block in document.blocks))
    as_pages = words_only("".join(document.pages[number] for number in sorted(document.pages)))
    sample = random.Random(f"{SEED} {filename}").sample(paragraphs, count)
    assert [(page, p) for page, p in sample if words_only(p) not in as_blocks or words_only(p) not in as_pages] == []


@pytest.mark.parametrize("filename", MANUALS)
def test_no_paragraph_of_a_manual_is_changed(filename: str, corpus_dir: Path) -> None:
    """The same over all of them: nothing hangs on the sample."""
    paragraphs = manual_paragraphs(corpus_dir / filename, pages_without_tables(filename))
    text = words_only("".join(block.text for block in loaded(filename).blocks))
    assert len(paragraphs) > 2000
    assert [(page, p) for page, p in paragraphs if words_only(p) not in text] == []


def test_list_numbers_come_before_their_items() -> None:
    """IVA manual, page 328, as printed: pymupdf gives each mark after its item."""
    books = [
        "1. Libro Registro de facturas expedidas.",
        "2. Libro Registro de facturas recibidas.",
        "3. Libro Registro de bienes de inversión.",
        "4. Libro Registro de determinadas operaciones intracomunitarias.",
        "5. Libros Registro especiales:",
        "• Libro Registro de operaciones realizadas en el régimen simplificado.",
        "• Libro Registro de operaciones realizadas en el régimen especial de la agricultura, ganadería y pesca.",
        "• Recibos expedidos que justifican el reintegro de las compensaciones en la adquisición de bienes o servicios a sujetos pasivos acogidos al régimen especial de la agricultura, ganadería y pesca.",
        "• Libro Registro de operaciones realizadas en el régimen especial de bienes usados, objetos de arte, antigüedades y objetos de colección.",
        "• Registro de las operaciones incluidas en los regímenes especiales aplicables a las ventas a distancia y a determinadas entregas interiores de bienes y prestaciones de servicios.",
    ]
    document = loaded(IVA)
    assert [block.text for block in document.blocks if block.page == 328 and block.kind == "item"] == books
    assert "\n".join(books) in document.pages[328]
    assert any("\n".join(books) in fragment.text for fragment in fragments(IVA))


def test_a_deadline_goes_with_the_items_of_the_next_page() -> None:
    """Calendar, pages 40 and 41: the date and the heading are on one page, the form's number on the next."""
    found = [
        f for f in fragments(CALENDAR) if f.section_path[-2:] == ("Hasta el 20 de octubre", "Pagos fraccionados Renta")
    ]
    assert len(found) == 1
    assert (found[0].page, found[0].page_end) == (40, 41)
    assert "Estimación directa: 130" in found[0].text
    assert "Estimación objetiva: 131" in found[0].text
    assert "Hasta el 20 de octubre" in found[0].text
    assert found[0].page_at(found[0].text.index("Estimación directa")) == 41


@pytest.mark.parametrize("filename", PDFS)
def test_no_warnings(filename: str) -> None:
    assert loaded(filename).warnings == ()
