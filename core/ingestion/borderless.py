"""Tables without rules: rows whose cells stand under one another in the same columns."""

import re
from collections.abc import Sequence

from core.ingestion.layout import Row, group_rows
from core.ingestion.pdf import Line
from core.ingestion.pdf_tables import RawTable, clean_cell

_AMOUNT = re.compile(
    r"^[-+(]?\s*(?:\d{1,3}(?:\.\d{3})+|\d+)(?:,\d+)?\s*(?:€|%|eur|euros)?\)?$|^-?\d+[.,]\d{2}$", re.IGNORECASE
)
_MIN_COLUMNS = 3
_MIN_ROWS = 3
_GAP = 12.0


def find_borderless_tables(page: int, lines: Sequence[Line]) -> list[RawTable]:
    """Runs of at least three rows with at least three columns, one of them of figures; a header row is needed.

    Prudent on purpose: a missed table stays readable as text, a wrong one would tear text apart.
    """
    rows = group_rows(lines)
    found: list[RawTable] = []
    index = 0
    while index < len(rows):
        header = _cells(rows[index])
        if len(header) < _MIN_COLUMNS or any(_AMOUNT.match(c.text.strip()) for c in header):
            index += 1
            continue
        body: list[list[str]] = []
        end = index + 1
        while end < len(rows) and (cells := _place(rows[end], header)) is not None:
            if rows[end].y0 - rows[end - 1].y1 > 3 * max(rows[end].size, 8):
                break
            body.append(cells)
            end += 1
        figures = sum(1 for cells in body if any(_AMOUNT.match(c) for c in cells[1:]))
        if len(body) >= _MIN_ROWS - 1 and figures >= 0.6 * len(body):
            used = rows[index:end]
            box = (min(r.x0 for r in used), used[0].y0, max(r.x1 for r in used), used[-1].y1)
            table = (tuple(clean_cell(c.text) for c in header), *(tuple(cells) for cells in body))
            found.append(RawTable(page, box, table, 1, True))
            index = end
        else:
            index += 1
    return found


def _cells(row: Row) -> list[Line]:
    """The row's lines as cells; what stands close together is one cell."""
    cells: list[Line] = []
    for line in row.lines:
        if cells and line.x0 - cells[-1].x1 < _GAP:
            last = cells[-1]
            cells[-1] = Line(f"{last.text} {line.text}", last.x0, last.y0, line.x1, line.y1, last.size, last.bold)
        else:
            cells.append(line)
    return cells


def _place(row: Row, header: Sequence[Line]) -> list[str] | None:
    """The row's cells under the header's columns (the nearest by left, centre or right edge), or None."""
    placed = [""] * len(header)
    cells = _cells(row)
    if not cells or len(cells) > len(header) or (len(cells) < 2 and len(header) > 2):
        return None
    for cell in cells:
        centre = (cell.x0 + cell.x1) / 2
        distance = [min(abs(cell.x0 - h.x0), abs(cell.x1 - h.x1), abs(centre - (h.x0 + h.x1) / 2)) for h in header]
        column = distance.index(min(distance))
        if distance[column] > 25 or placed[column]:
            return None
        placed[column] = clean_cell(cell.text)
    return placed
