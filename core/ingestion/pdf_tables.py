"""The only module that knows pdfplumber: ruled tables of a PDF page, cell by cell."""

import multiprocessing
import re
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from math import floor
from pathlib import Path
from typing import Any

from core.ingestion.cleaning import join_hyphenated, normalize_characters
from core.ingestion.pdf import Line

_SUPERSCRIPTS = str.maketrans("0123456789()*", "⁰¹²³⁴⁵⁶⁷⁸⁹⁽⁾*")
_BROKEN_AMOUNT = re.compile(r"(?<=\d[.,])\n(?=\d)|(?<=\d)\n(?=[.,]\d)")
# From so many pages with tables on, a second process is worth its start.
_PARALLEL_PAGES = 60
_DAY_LETTERS = {"L", "M", "X", "J", "V", "S", "D"}


@dataclass(frozen=True, slots=True)
class RawTable:
    """A table as found on one page: box (x0, top, x1, bottom) in points and rows of cells, all of one length."""

    page: int
    box: tuple[float, float, float, float]
    rows: tuple[tuple[str, ...], ...]
    header_rows: int
    useful: bool


def clean_cell(text: str) -> str:
    """A cell's text on one line; words and amounts cut by the cell's width are mended."""
    text = normalize_characters(text).strip()
    text = _BROKEN_AMOUNT.sub("", text)
    text = join_hyphenated(text)
    return re.sub(r"\s+", " ", text).strip()


def find_ruled_tables(
    path: Path,
    *,
    visible: Mapping[int, Sequence[Line]],
    progress: Callable[[int], None] | None = None,
) -> list[RawTable]:
    """Ruled tables of the pages in ``visible`` (page from 1 → its visible lines; other characters are ignored).

    Boxes of a single column are not tables: their text stays in the flow and they are not returned.
    """
    numbers = sorted(visible)
    if len(numbers) < _PARALLEL_PAGES or "fork" not in multiprocessing.get_all_start_methods():
        return _tables_of(path, numbers, visible, progress)
    # Two processes, every other page each: reading tables is the slowest part of a long manual.
    with ProcessPoolExecutor(max_workers=1, mp_context=multiprocessing.get_context("fork")) as pool:
        other = pool.submit(_tables_of, path, numbers[1::2], {n: visible[n] for n in numbers[1::2]}, None)
        mine = _tables_of(path, numbers[0::2], visible, progress)
        return sorted([*mine, *other.result()], key=lambda t: (t.page, t.box[1], t.box[0]))


def _tables_of(
    path: Path,
    numbers: Sequence[int],
    visible: Mapping[int, Sequence[Line]],
    progress: Callable[[int], None] | None,
) -> list[RawTable]:
    import pdfplumber

    found: list[RawTable] = []
    with pdfplumber.open(path) as pdf:
        for number in numbers:
            page: Any = pdf.pages[number - 1]
            page.process_object = _quick_characters(page)
            found.extend(_page_tables(page, number, visible[number]))
            page.close()
            if progress:
                progress(number)
    return found


def _quick_characters(page: Any) -> Callable[[Any], dict[str, Any]]:
    """``page.process_object`` with characters made of the attributes that are read here and in the extraction of cells.

    The library's own looks at each of a character's attributes in turn, which takes longer than reading the page.
    """
    from pdfminer.layout import LTChar

    every = page.process_object
    shift_x, shift_y = page.mediabox[:2]
    height, number, above = page.height, page.page_number, page.initial_doctop

    def process(item: Any) -> dict[str, Any]:
        if type(item) is not LTChar or isinstance(item.fontname, bytes):
            found: dict[str, Any] = every(item)
            return found
        top, bottom = (height - item.y1) + shift_y, (height - item.y0) + shift_y
        return {
            "object_type": "char",
            "page_number": number,
            "text": item.get_text(),
            "fontname": item.fontname,
            "size": item.size,
            "upright": item.upright,
            "matrix": item.matrix,
            "adv": item.adv,
            "x0": item.x0 + shift_x,
            "x1": item.x1 + shift_x,
            "y0": item.y0,
            "y1": item.y1,
            "top": top,
            "bottom": bottom,
            "doctop": above + top,
            "width": item.width,
            "height": item.height,
        }

    return process


def _page_tables(page: Any, number: int, lines: Sequence[Line]) -> list[RawTable]:
    # The lines that a point's height (in whole points) may be in, so that not each character is held against each line.
    by_height: dict[int, list[tuple[float, float, float, float]]] = {}
    for line in lines:
        box = (line.x0 - 1, line.y0 - 1, line.x1 + 1, line.y1 + 1)
        for y in range(floor(box[1]), floor(box[3]) + 1):
            by_height.setdefault(y, []).append(box)

    width, height = float(page.width), float(page.height)

    def shown(item: dict[str, Any]) -> bool:
        if item.get("object_type") == "rect":  # the paper of the page's body: its edges are no rules
            return not (item["width"] > 0.8 * width and item["height"] > 0.8 * height and not item["stroke"])
        if item.get("object_type") != "char":
            return True
        x, y = (item["x0"] + item["x1"]) / 2, (item["top"] + item["bottom"]) / 2
        return any(x0 <= x <= x1 and y0 <= y <= y1 for x0, y0, x1, y1 in by_height.get(floor(y), ()))

    page = page.filter(shown)
    _mark_superscripts(page.chars)
    _level_list_marks(page.chars)
    found = []
    for table in page.find_tables():
        if len(table.rows) == 0 or max(len(row.cells) for row in table.rows) < 2:
            continue
        rows, header_rows = _drop_empty(*_cells(page, table))
        if not rows or len(rows[0]) < 2:
            continue
        useful = _is_useful(rows)
        if not useful and not _is_month(rows):
            continue
        x0, top, x1, bottom = (float(v) for v in table.bbox)
        found.append(RawTable(number, (x0, top, x1, bottom), rows, header_rows, useful))
    return found


def _mark_superscripts(chars: Sequence[dict[str, Any]]) -> None:
    """Turn small raised figures into superscript characters, in place."""
    previous: dict[str, Any] | None = None
    for char in chars:
        size = char["size"]
        if previous is not None and re.fullmatch(r"[\d()*]", char["text"]):
            base = previous["size"]
            raised = char["bottom"] < previous["bottom"] - 0.1 * base
            near = abs(char["top"] - previous["top"]) < base and -1 < char["x0"] - previous["x1"] < base
            if size < 0.8 * base and raised and near:
                char["text"] = char["text"].translate(_SUPERSCRIPTS)
                continue  # the base stays the full-size character
        previous = char if char["text"].strip() else previous


def _level_list_marks(chars: Sequence[dict[str, Any]]) -> None:
    """Give small list marks the height of the line that they stand on, so that they sort before its text. In place."""
    for mark in chars:
        if mark["text"] not in "○◦▪▫":
            continue
        middle = (mark["top"] + mark["bottom"]) / 2
        right = [c for c in chars if c["x0"] >= mark["x1"] and c["top"] <= middle <= c["bottom"] and c["text"].strip()]
        line = min(right, key=lambda c: c["x0"], default=None)
        if line is not None and mark["size"] < 0.6 * line["size"]:
            mark.update({key: line[key] for key in ("top", "bottom", "doctop")})


def _cells(page: Any, table: Any) -> tuple[list[list[str]], int]:
    """Text of every cell. A cell that covers several rows is repeated in each; one over several columns is not."""
    texts = table.extract(x_tolerance=1.5, y_tolerance=3) or []
    columns = max(len(row) for row in texts)
    xs: list[float | None] = [None] * columns
    for row in table.rows:
        for j, cell in enumerate(row.cells):
            if cell is not None and xs[j] is None:
                xs[j] = (cell[0] + min(cell[2], cell[0] + 6)) / 2
    rows: list[list[str]] = []
    for i, row in enumerate(table.rows):
        top, bottom = row.bbox[1], row.bbox[3]
        middle = (top + bottom) / 2
        cells = []
        for j in range(columns):
            text = texts[i][j] if j < len(texts[i]) else None
            x = xs[j]
            if text is None and rows and x is not None:
                above = next((c for c in table.cells if c[0] <= x <= c[2] and c[1] <= middle <= c[3]), None)
                if above is not None and above[1] < top - 1 and above[0] >= x - 8:
                    cells.append(rows[-1][j])
                    continue
            cells.append(clean_cell(text or ""))
        rows.append(cells)
    return rows, _header_rows(page, table, rows)


def _header_rows(page: Any, table: Any, rows: Sequence[Sequence[str]]) -> int:
    """How many rows at the top are header: wholly bold, and not every row is."""
    bold = []
    for row in table.rows[:4]:
        x0, top, x1, bottom = row.bbox
        chars = [
            c
            for c in page.chars
            if top <= (c["top"] + c["bottom"]) / 2 <= bottom and x0 <= c["x0"] <= x1 and c["text"].strip()
        ]
        bold.append(bool(chars) and all("bold" in c["fontname"].lower() for c in chars))
    count = next((i for i, is_bold in enumerate(bold) if not is_bold or (i and _has_amount(rows[i]))), len(bold))
    count = min(count, 3, len(rows) - 1)
    if count == 0 and len(rows) > 1 and all(cell and not re.search(r"\d", cell) for cell in rows[0]):
        body = [cell for row in rows[1:] for cell in row]
        return 1 if any(re.search(r"\d", cell) for cell in body) else 0
    return max(count, 0)


def _has_amount(row: Sequence[str]) -> bool:
    return any(re.fullmatch(r"\d{1,3}(?:\.\d{3})*(?:,\d+)?", cell) and re.search(r"[.,]", cell) for cell in row)


def _drop_empty(rows: list[list[str]], header_rows: int) -> tuple[tuple[tuple[str, ...], ...], int]:
    """Without rows and columns that are empty from end to end."""
    kept_rows = [(i < header_rows, row) for i, row in enumerate(rows) if any(row)]
    if not kept_rows:
        return (), 0
    columns = [j for j in range(len(rows[0])) if any(row[j] for _, row in kept_rows)]
    return (
        tuple(tuple(row[j] for j in columns) for _, row in kept_rows),
        sum(1 for is_header, _ in kept_rows if is_header),
    )


def _is_useful(rows: Sequence[Sequence[str]]) -> bool:
    """Not the grid of a month, nor a handful of signs."""
    cells = [cell for row in rows for cell in row if cell]
    if len(cells) < 2:
        return False
    return not _is_month(rows) and sum(len(cell) for cell in cells) >= 8


def _is_month(rows: Sequence[Sequence[str]]) -> bool:
    cells = [cell for row in rows for cell in row if cell]
    days = sum(1 for cell in cells if cell in _DAY_LETTERS or re.fullmatch(r"[1-9]|[12]\d|3[01]", cell))
    return len(rows[0]) in (5, 6, 7) and days >= 0.9 * len(cells)
