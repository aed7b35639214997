"""Tables of the manuals against what a person reads on the printed page (tests/data/tables_by_eye.json).

The data was typed from pictures of the pages, never from an extractor. Its conventions are those of `Table`: a cell
over several rows is repeated in each, one over several columns stands in the first, header rows are joined, and list
marks are kept. ``whole``: the rows given are all that the table has. ``cut``: the page's edge cuts the table, and
only the columns before it are given. ``title``: the heading that stands right above it, where there is one.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pymupdf
import pytest

from core.models import Table
from tests.official import BODY_BOTTOM, BODY_TOP, IVA, MANUALS, RENTA, fragments, loaded, squeeze

pytestmark = pytest.mark.corpus

BY_EYE: list[dict[str, Any]] = json.loads(
    (Path(__file__).parent.parent / "data" / "tables_by_eye.json").read_text("utf-8")
)
IDS = [f"{'renta' if t['file'] == RENTA else 'iva'}-p{next(iter(t['rows']))}-{i}" for i, t in enumerate(BY_EYE)]

AMOUNT = re.compile(r"(?<![\d.,])(?:\d{1,3}(?:\.\d{3})*,\d{1,4}|\d{1,3}(?:\.\d{3})+)(?!\d|[.,]\d)")
# 4.056,30 cut by a space or a line's end. Lists ("1, 2", "322, 353"), "casilla 85.\n10. Volumen" and dates are not amounts.
CUT_AMOUNT = re.compile(
    r"\d\s+[.,]\d"  # 4 .056,30; 405630\n.,
    r"|\d\.\s+\d{3},\d"  # 4. 056,30
    r"|\d[.,]\n\d{2,3}\b(?![.)ºª])"  # 4.056,\n30
    r"|(?<!\d)\d{1,3}(?:\.\d{3})*,\s+\d{2}(?=\s*(?:euros|€|%|\||$))"  # 4.056, 30 euros
)
ONLY_FIGURES = re.compile(r"[-–(]?[\d.,\s]+\)?")
LIST_OF_NUMBERS = re.compile(r"\d{1,3}(?:,\s?\d{1,3})+")
# Printed so in the manuals (pages looked at): a space inside the amount is what the document says.
PRINTED_SO = {(RENTA, 1302): "24.107, 20 euros", (IVA, 139): "889, 60 euros"}


def candidates(given: dict[str, Any]) -> list[Table]:
    page = int(next(iter(given["rows"])))
    return [table for table in loaded(given["file"]).tables if page in table.row_pages]


def rows_on(table: Table, page: int, width: int | None) -> list[list[str]]:
    return [list(row)[:width] for row, row_page in zip(table.rows, table.row_pages, strict=True) if row_page == page]


@pytest.mark.parametrize("given", BY_EYE, ids=IDS)
def test_rows_read_by_eye_are_found_cell_by_cell(given: dict[str, Any]) -> None:
    width = len(given["header"]) if given.get("cut") else None
    tables = [t for t in candidates(given) if list(t.header)[:width] == given["header"]]
    assert tables, f"header {given['header']} is not among {[t.header for t in candidates(given)]}"
    best = max(
        tables, key=lambda t: sum(row in rows_on(t, int(p), width) for p, rows in given["rows"].items() for row in rows)
    )
    for page, rows in given["rows"].items():
        found = rows_on(best, int(page), width)
        for row in rows:
            assert row in found, f"page {page}: {row} is not among {found}"


@pytest.mark.parametrize(
    "given", [g for g in BY_EYE if g["whole"]], ids=[i for i, g in zip(IDS, BY_EYE, strict=True) if g["whole"]]
)
def test_a_table_ends_where_it_ends_on_paper(given: dict[str, Any]) -> None:
    """All rows, in order, each on its page, and none of the next table's."""
    width = len(given["header"]) if given.get("cut") else None
    wanted = [(int(page), row) for page, rows in given["rows"].items() for row in rows]
    found = [[(p, list(r)[:width]) for p, r in zip(t.row_pages, t.rows, strict=True)] for t in candidates(given)]
    assert wanted in found, f"{len(wanted)} rows are printed; tables of {[len(rows) for rows in found]} rows were read"


@pytest.mark.parametrize(
    "given", [g for g in BY_EYE if g["title"]], ids=[i for i, g in zip(IDS, BY_EYE, strict=True) if g["title"]]
)
def test_a_table_has_the_heading_above_it_as_title(given: dict[str, Any]) -> None:
    page, rows = next(iter(given["rows"].items()))
    titles = [t.title for t in candidates(given) if rows[0] in rows_on(t, int(page), None)]
    assert given["title"] in titles


def test_the_sample_is_large_enough() -> None:
    assert sum(g["file"] == RENTA for g in BY_EYE) >= 13
    assert sum(g["file"] == IVA for g in BY_EYE) >= 7
    cells = [cell for g in BY_EYE for rows in g["rows"].values() for row in rows for cell in row]
    assert len(cells) > 700
    assert sum(any(ch.isdigit() for ch in cell) for cell in cells) > 300


# Every table


def cells_of(filename: str) -> Iterator[tuple[int, str]]:
    for table in loaded(filename).tables:
        yield from ((table.page or 0, cell) for cell in table.header)
        yield from ((page, cell) for page, row in zip(table.row_pages, table.rows, strict=True) for cell in row)


def is_cut(cell: str) -> bool:
    """Whether an amount in a cell has white space inside."""
    if "\n" in cell or CUT_AMOUNT.search(cell):
        return True
    figures = ONLY_FIGURES.fullmatch(cell.strip()) is not None and re.search(r"\s", cell.strip()) is not None
    return figures and not LIST_OF_NUMBERS.fullmatch(cell.strip())


@pytest.mark.parametrize(
    ("cell", "cut"),
    [("405630\n. ,", True), ("4.056,\n30", True), ("4. 056,30", True), ("4.056 ,30", True), ("4 056,30", True), ("4.056, 30 euros", True),
     ("4.056,30", False), ("1, 2", False), ("322, 353,369, 308,341", False), ("45/75,6/28 por 100", False), ("Ley 7/2024. 100 euros", False),
     ("1.250 + 0,25 x (CE- 500 euros)", False), ("1.200,00²", False)],
)  # fmt: skip
def test_what_a_cut_amount_is(cell: str, cut: bool) -> None:
    assert is_cut(cell) is cut


@pytest.mark.parametrize("filename", MANUALS)
def test_no_amount_of_a_table_is_cut(filename: str) -> None:
    cells = list(cells_of(filename))
    assert len(cells) > 1000
    assert [(page, cell) for page, cell in cells if is_cut(cell)] == []


@pytest.mark.parametrize("filename", MANUALS)
def test_no_header_holds_an_amount_with_cents_or_thousands(filename: str) -> None:
    """A bold row of totals is not a header. Thresholds in a header's sentence ("hasta 6.000 euros") are."""
    found = [(t.page, t.header) for t in loaded(filename).tables if any(AMOUNT.fullmatch(cell) for cell in t.header)]
    assert found == []


@pytest.mark.parametrize("filename", MANUALS)
def test_a_continued_table_is_the_first_thing_of_its_next_page(filename: str, corpus_dir: Path) -> None:
    """Text above it, such as the heading of another activity, means that another table begins."""
    wrong = []
    with pymupdf.open(corpus_dir / filename) as pdf:
        for table in loaded(filename).tables:
            for page in sorted(set(table.row_pages) - {table.page}):
                own = "|".join(
                    map(squeeze, [*table.header, *(cell for row in rows_on(table, page, None) for cell in row)])
                )
                lines = [
                    (line["bbox"][1], text)
                    for block in pdf[page - 1].get_text("dict")["blocks"]
                    for line in block.get("lines", ())
                    if (text := "".join(span["text"] for span in line["spans"])).strip() and line["bbox"][1] > BODY_TOP
                ]
                first = min(lines)[1]
                if squeeze(first) not in own:
                    wrong.append((page, first))
    assert wrong == []


@pytest.mark.parametrize("filename", MANUALS)
def test_no_amount_of_a_page_is_lost(filename: str, corpus_dir: Path) -> None:
    """Every whole amount that pymupdf reads on a page is in the page's text as loaded, tables included."""
    document = loaded(filename)
    lost = []
    with pymupdf.open(corpus_dir / filename) as pdf:
        for page in pdf:
            printed = page.get_text("text", clip=pymupdf.Rect(0, BODY_TOP, page.rect.width, BODY_BOTTOM))
            missing = set(AMOUNT.findall(printed)) - set(AMOUNT.findall(document.pages[page.number + 1]))
            lost.extend((page.number + 1, amount) for amount in sorted(missing))
    assert lost == []


# Every fragment


@pytest.mark.parametrize("filename", MANUALS)
def test_no_amount_of_a_fragment_is_cut(filename: str) -> None:
    found = []
    for fragment in fragments(filename):
        text = fragment.text
        for page in range(fragment.page or 0, (fragment.page_end or 0) + 1):
            text = text.replace(PRINTED_SO.get((filename, page), "\0"), "")
        found.extend((fragment.page, text[max(0, m.start() - 40) : m.end() + 20]) for m in CUT_AMOUNT.finditer(text))
    assert found == []


@pytest.mark.parametrize("filename", MANUALS)
def test_no_fragment_has_a_footer(filename: str) -> None:
    footer = re.compile(r"^\s*Página \d+\s*$|\d{2}/\d{2}/\d{4} - Manual práctico", re.M)
    assert [(f.page, f.text) for f in fragments(filename) if footer.search(f.text)] == []


@pytest.mark.parametrize("filename", MANUALS)
def test_no_page_or_fragment_has_the_running_title(filename: str, corpus_dir: Path) -> None:
    """The title at the top right may be in the text only as often as the page's body has it (as a heading has)."""
    document = loaded(filename)
    pages: dict[int, tuple[str, str]] = {}
    with pymupdf.open(corpus_dir / filename) as pdf:
        for page in pdf:
            edge = page.get_text("text", clip=pymupdf.Rect(150, 0, page.rect.width, BODY_TOP - 2))
            body = page.get_text("text", clip=pymupdf.Rect(0, BODY_TOP, page.rect.width, BODY_BOTTOM))
            pages[page.number + 1] = squeeze(edge), squeeze(body)
    assert sum(bool(title) for title, _ in pages.values()) > 0.95 * len(pages)
    wrong = [
        n for n, (title, body) in pages.items() if title and squeeze(document.pages[n]).count(title) > body.count(title)
    ]
    assert wrong == []
    bodies = "".join(body for _, body in pages.values())
    cut_off = {title for title, _ in pages.values() if title and title not in bodies}
    lines = {squeeze(line) for fragment in fragments(filename) for line in fragment.text.split("\n")}
    assert cut_off & lines == set()
