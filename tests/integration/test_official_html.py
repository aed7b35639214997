"""Nothing normative is lost, and nothing of the sites is left, in the official pages as converted."""

import re
import unicodedata
from functools import cache
from pathlib import Path

import pytest
from bs4 import BeautifulSoup
from bs4.element import Tag

from core.corpus.html_markdown import ConvertedHtml, html_to_markdown

pytestmark = pytest.mark.corpus

BOE = {
    "ley-35-2006.html": "2026-04-29",
    "ley-37-1992.html": "2026-02-28",
    "ley-58-2003.html": "2024-12-21",
    "rd-439-2007.html": "2026-02-28",
    "rd-1007-2023.html": "2025-12-03",
    "rd-1065-2007.html": "2025-04-02",
    "rd-1619-2012.html": "2026-03-31",
    "rd-1624-1992.html": "2026-02-28",
}
AEAT = {
    "modelo-111-instrucciones.html": "2024-03-26",
    "modelo-115-obligaciones-retenedor.html": "2026-03-16",
    "modelo-130-instrucciones.html": "2026-04-01",
    "modelo-131-instrucciones.html": "2026-04-01",
    "modelo-303-procedure.html": "2026-02-13",
    "modelo-347-procedure.html": "2026-04-30",
    "modelo-349-plazos-presentacion.html": "2026-07-08",
    "modelo-390-procedure.html": "2026-02-13",
}
TWO_BODIES = [
    "rd-439-2007.html",
    "rd-1007-2023.html",
    "rd-1065-2007.html",
    "rd-1619-2012.html",
    "rd-1624-1992.html",
]
BOE_CHROME = [
    "Subir",
    "[Bloque",
    "Ref. BOE-A",
    "Seleccionar redacción",
    "Última actualización",
    "Texto añadido,",
]
AEAT_CHROME = [
    "Página actualizada",
    "Generar PDF",
    "Saltar al contenido",
    "Índice:",
    "Anterior",
    "Menú móvil",
]
HISTORY = re.compile(r"^(?:Se (?:modifica|añade|deroga|suprime)|Redactad[oa]s? (?:conforme|el apartado))")
NOT_NORMATIVE = ".bloque, .pie_unico, .nota_pie, .nota_pie_2, .textoCompleto, .inforel, form p, td p, th p"


@cache
def _read(path: Path) -> tuple[BeautifulSoup, ConvertedHtml]:
    html = path.read_bytes()
    return BeautifulSoup(html, "lxml"), html_to_markdown(html)


def _plain(text: str) -> str:
    """Compatibility forms undone (² is 2), no white space, no soft hyphens: only the words are compared."""
    return "".join(unicodedata.normalize("NFKC", text).replace("\u00ad", "").split())


def _headings(markdown: str) -> list[tuple[int, str]]:
    return [(len(marks), text) for marks, text in re.findall(r"^(#{1,6}) (.+)$", markdown, re.M)]


def _preamble(soup: BeautifulSoup) -> Tag | None:
    link = next((a for a in soup.select("#lista-marcadores a") if a.get_text() == "[Preámbulo]"), None)
    return soup.select_one(f"div.bloque[id='{str(link['href'])[1:]}']") if link else None


@pytest.mark.parametrize(("name", "date"), [*BOE.items(), *AEAT.items()])
def test_title_and_date(corpus_dir: Path, name: str, date: str) -> None:
    converted = _read(corpus_dir / name)[1]
    assert converted.document_date == date
    assert converted.markdown.startswith(f"# {converted.title}\n")


@pytest.mark.parametrize("name", BOE)
def test_every_article_has_its_heading_in_order(corpus_dir: Path, name: str) -> None:
    soup, converted = _read(corpus_dir / name)
    preamble = _preamble(soup)
    expected = [
        " ".join(tag.get_text().split())
        for tag in soup.select("div.bloque h5.articulo")
        if preamble is None or tag.find_parent("div") is not preamble
    ]
    found = [
        text
        for level, text in _headings(converted.markdown)
        if (level == 6 and text != "Preámbulo") or text.startswith("Disposici")
    ]
    assert found == expected


@pytest.mark.parametrize("name", BOE)
def test_every_other_heading_is_there_in_order(corpus_dir: Path, name: str) -> None:
    soup, converted = _read(corpus_dir / name)
    preamble = _preamble(soup)
    expected = "".join(
        _plain(tag.get_text()) for tag in soup.select("div.bloque h4") if tag.find_parent("div") is not preamble
    )
    found = "".join(
        _plain(text)
        for level, text in _headings(converted.markdown)[1:]
        if level < 6 and text != "Firma" and not text.startswith("Disposici")
    )
    assert found.replace(".", "") == expected.replace(".", "")


@pytest.mark.parametrize("name", BOE)
def test_every_normative_paragraph_is_there_in_order(corpus_dir: Path, name: str) -> None:
    soup, converted = _read(corpus_dir / name)
    text, position = _plain(converted.markdown), 0
    paragraphs = soup.select(f"div.bloque p:not({NOT_NORMATIVE})")
    assert len(paragraphs) > 100
    for tag in paragraphs:
        quote = tag.find_parent("blockquote")
        if quote is not None and not quote.get("class"):
            continue
        expected = _plain(re.sub(r"\s*Ref\. BOE-A-\S+", "", tag.get_text()) if quote else tag.get_text())
        found = text.find(expected.rstrip("."), position)
        assert found >= 0, tag.get_text()[:200]
        position = found


@pytest.mark.parametrize("name", BOE)
def test_the_text_outside_tables_and_notes_is_the_page_s_own_and_nothing_else(corpus_dir: Path, name: str) -> None:
    page = BeautifulSoup((corpus_dir / name).read_bytes(), "lxml")
    for tag in page.select("div.bloque :is(form, table, .bloque, .pie_unico, blockquote:not(.sangrado))"):
        tag.decompose()
    expected = _plain("".join(block.get_text() for block in page.select("div.bloque")))
    blocks = _read(corpus_dir / name)[1].markdown.split("\n\n")[1:]
    written = [re.sub(r"^#+ ", "", block) for block in blocks if not block.startswith(("|", "Nota del BOE: "))]
    found = _plain("".join(text for text in written if text not in ("Preámbulo", "Firma")))
    assert found.replace(".", "") == expected.replace(".", "")


@pytest.mark.parametrize("name", [*BOE, *AEAT])
def test_every_table_cell_is_there(corpus_dir: Path, name: str) -> None:
    soup, converted = _read(corpus_dir / name)
    rows = [line for line in converted.markdown.splitlines() if line.startswith("|")]
    text = _plain("\n".join(rows)).replace("\\|", "|")
    for cell in soup.select("#textoxslt td, #textoxslt th, #acc-main td, #acc-main th"):
        for words in cell.stripped_strings:
            assert _plain(words) in text, words


@pytest.mark.parametrize("name", [*BOE, *AEAT])
def test_rows_of_a_table_have_the_same_number_of_cells(corpus_dir: Path, name: str) -> None:
    tables = re.findall(r"(?:^\|.*\|$\n?)+", _read(corpus_dir / name)[1].markdown, re.M)
    for table in tables:
        lines = table.strip().splitlines()
        assert len({len(re.findall(r"(?<!\\)\|", line)) for line in lines}) == 1
        assert set(lines[1]) == set("| -")


@pytest.mark.parametrize("name", BOE)
def test_nothing_of_the_boe_site_is_left(corpus_dir: Path, name: str) -> None:
    soup, converted = _read(corpus_dir / name)
    assert [words for words in BOE_CHROME if words in converted.markdown] == []
    paragraphs = {_plain(text.removeprefix("Nota del BOE: ")) for text in converted.markdown.split("\n\n")}
    for tag in soup.select("blockquote p.nota_pie"):
        note = re.sub(r"\s*Ref\. BOE-A-\S+", "", " ".join(tag.get_text().split())).rstrip(" .") + "."
        assert not HISTORY.match(note) or _plain(note) not in paragraphs, note


@pytest.mark.parametrize("name", TWO_BODIES)
def test_articles_of_the_decree_and_of_its_reglamento_are_apart(corpus_dir: Path, name: str) -> None:
    path: list[tuple[int, str]] = []
    places: dict[str, set[str]] = {}
    for level, text in _headings(_read(corpus_dir / name)[1].markdown):
        path = [*((above, name) for above, name in path if above < level), (level, text)]
        number = re.match(r"Artículo (?:\d+(?: \w+)?|único)(?=\.)", text)
        if number:
            key = " › ".join([*(name for _, name in path[:-1] if "REGLAMENTO" in name), number[0]])
            places.setdefault(key, set()).add(text)
    assert [key for key, texts in places.items() if len(texts) > 1] == []
    assert any("REGLAMENTO" in key for key in places)
    assert any("REGLAMENTO" not in key for key in places)


def test_amounts_updated_by_an_order_are_told_beside_the_text(corpus_dir: Path) -> None:
    markdown = _read(corpus_dir / "rd-439-2007.html")[1].markdown
    article = markdown.split("###### Artículo 9. Dietas")[1].split("\n#")[0]
    assert article.index("0,19 euros") < article.index("Nota del BOE: Téngase en cuenta") < article.index("0,26 euros")


def test_the_electronic_invoice_says_from_when_it_is_in_force(corpus_dir: Path) -> None:
    markdown = _read(corpus_dir / "rd-1619-2012.html")[1].markdown
    article = markdown.split("###### Artículo 8 bis.")[1].split("\n#")[0]
    assert "Nota del BOE: Redacción publicada el 31/03/2026, en vigor a partir del 20/04/2026." in article


@pytest.mark.parametrize("name", AEAT)
def test_nothing_of_the_aeat_site_is_left(corpus_dir: Path, name: str) -> None:
    markdown = _read(corpus_dir / name)[1].markdown
    assert [words for words in AEAT_CHROME if words in markdown] == []
    assert not re.search(r"https?://|^\s*(?:- )?Ayuda$", markdown, re.M)


@pytest.mark.parametrize("name", AEAT)
def test_every_paragraph_and_item_of_the_instructions_is_there(corpus_dir: Path, name: str) -> None:
    soup, converted = _read(corpus_dir / name)
    text = _plain(converted.markdown)
    for tag in soup.select("#acc-main p, #acc-main li"):
        if tag.find(["p", "li", "i", "span"]) or tag.find_parent(["nav", "td", "form"]):
            continue
        assert _plain(tag.get_text()) in text, tag.get_text()[:200]
