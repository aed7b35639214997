"""From placed lines to blocks in reading order: rows, columns, list items, paragraphs, headings."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import median

from core.ingestion.cleaning import EdgeLine, clean_text, find_repeated_lines, join_hyphenated
from core.ingestion.pdf import Line, OutlineEntry, PdfPage
from core.models import Block

_MARKER = re.compile(r"^(?:[•◦○▪■□‣·●–—\-*➢➤✓❑o]|\(?\d{1,3}[.)ºª]\)?|\(?[a-zñA-ZÑ][.)º]|\(?[ivxIVX]{1,5}[.)])$")
_ITEM_START = re.compile(
    r"^(?:[•◦○▪■□‣·●➢➤✓❑]\s|[–—-]\s(?=\S)|\(?\d{1,3}[.)]\s|\d{1,2}\.[ºª]\s|\(?[a-zñA-ZÑ]\)\s|\(?[a-zñ]\.\s|\(?[ivxIVX]{1,4}\)\s)"
)
_SUPERSCRIPTS = str.maketrans("0123456789()*", "⁰¹²³⁴⁵⁶⁷⁸⁹⁽⁾*")
_SENTENCE_END = (".", ":", ";", "?", "!", "…", "»", ")", "”")

# A gutter between columns is at least this wide (points) and each column this share of the text's width.
_MIN_GUTTER = 14.0
_MIN_COLUMN_SHARE = 0.25
_MIN_COLUMN_ROWS = 3


@dataclass(slots=True)
class Row:
    """What stands on one visual line, left to right."""

    lines: list[Line]
    text: str = ""
    size: float = 0.0
    bold: bool = False
    right: float = 0.0

    @property
    def x0(self) -> float:
        return min(line.x0 for line in self.lines)

    @property
    def x1(self) -> float:
        return max(line.x1 for line in self.lines)

    @property
    def y0(self) -> float:
        return min(line.y0 for line in self.lines)

    @property
    def y1(self) -> float:
        return max(line.y1 for line in self.lines)

    @property
    def text_x0(self) -> float:
        """Where the text starts, its list marker aside."""
        rest = [line.x0 for line in self.lines if not _MARKER.match(line.text.strip())]
        return min(rest, default=self.x0)


def make_row(lines: Sequence[Line]) -> Row:
    """Join lines of one baseline; small raised figures become superscripts so that they never glue to a number."""
    lines = sorted(lines, key=lambda line: line.x0)
    main = max(lines, key=lambda line: (not _MARKER.match(line.text.strip()), len(line.text.strip())))
    parts: list[str] = []
    previous: Line | None = None
    for line in lines:
        text = line.text
        raised = line.size <= 0.78 * main.size and (line.y0 + line.y1) / 2 < (main.y0 + main.y1) / 2
        if raised and re.fullmatch(r"[\d()*]+", text.strip()):
            text = text.strip().translate(_SUPERSCRIPTS)
        elif (
            parts
            and previous is not None
            and (line.x0 - previous.x1 > 0.12 * main.size)
            and not parts[-1].endswith(" ")
        ):
            parts.append(" ")
        parts.append(text)
        previous = line
    solid = [line for line in lines if not _MARKER.match(line.text.strip())] or lines
    return Row(
        lines=lines,
        text=re.sub(r"\s+", " ", "".join(parts)).strip(),
        size=main.size,
        bold=all(line.bold for line in solid),
    )


def group_rows(lines: Sequence[Line]) -> list[Row]:
    """Lines that overlap by half their height stand on one row."""
    rows: list[list[Line]] = []
    for line in sorted(lines, key=lambda item: ((item.y0 + item.y1) / 2, item.x0)):
        centre = (line.y0 + line.y1) / 2
        for row in reversed(rows[-4:]):
            top, bottom = min(r.y0 for r in row), max(r.y1 for r in row)
            overlap = min(bottom, line.y1) - max(top, line.y0)
            same = overlap >= 0.5 * min(line.height, bottom - top) or (
                top <= centre <= bottom and line.height < 0.5 * (bottom - top)
            )
            crosses = any(min(r.x1, line.x1) - max(r.x0, line.x0) > 2 for r in row)
            if same and not crosses:
                row.append(line)
                break
        else:
            rows.append([line])
    made = [make_row(row) for row in _attach_marks(rows)]
    return sorted(made, key=lambda row: (row.y0 + row.y1) / 2)


def _attach_marks(rows: list[list[Line]]) -> list[list[Line]]:
    """Put a small raised figure that stands on a row of its own beside the text that it marks."""
    kept: list[list[Line]] = []
    marks: list[Line] = []
    for row in rows:
        if len(row) == 1 and re.fullmatch(r"[\d()*]{1,4}", row[0].text.strip()):
            marks.append(row[0])
        else:
            kept.append(row)
    for mark in marks:
        for row in kept:
            near = [
                line
                for line in row
                if mark.size <= 0.78 * line.size
                and -1.5 * line.size <= mark.x0 - line.x1 <= line.size
                and line.y0 - 0.5 * line.height <= (mark.y0 + mark.y1) / 2 <= line.y1
            ]
            if near:
                row.append(mark)
                break
        else:
            kept.append([mark])
    return kept


def _with_right_edge(rows: list[Row], page_width: float, *, column: bool) -> list[Row]:
    """Tell each row how far right a full line reaches, so that a line ended on purpose is known as such.

    Outside columns that is at least the left margin's mirror: a page of short lines is a page of records.
    """
    if rows:
        left, right = min(row.x0 for row in rows), max(row.x1 for row in rows)
        if not column and left < 0.4 * page_width:
            right = max(right, 0.95 * (page_width - left))
        for row in rows:
            row.right = right
    return rows


def reading_order(lines: Sequence[Line], page_width: float, *, column: bool = False) -> list[Row]:
    """Rows in the order a person reads: columns one after the other where the page has them.

    A recursive X-Y cut (Nagy and Seth, 1984): a band of the page is cut at a gutter that no line crosses, where
    both sides are columns of text and not list markers; else at its widest empty strip.
    """
    if len(lines) < 2 * _MIN_COLUMN_ROWS:
        return _with_right_edge(group_rows(lines), page_width, column=column)
    bands = _split_bands(lines)
    ordered: list[Row] = []
    for band in bands:
        gutter = _gutter(band)
        if gutter is None:
            ordered.extend(_with_right_edge(group_rows(band), page_width, column=column))
        else:
            ordered.extend(reading_order([line for line in band if line.x1 <= gutter], page_width, column=True))
            ordered.extend(reading_order([line for line in band if line.x0 >= gutter], page_width, column=True))
    return ordered


def _split_bands(lines: Sequence[Line]) -> list[list[Line]]:
    """Horizontal bands: full-width text apart from stretches that have a gutter."""
    rows = group_rows(lines)
    left, right = min(line.x0 for line in lines), max(line.x1 for line in lines)
    middle_candidates = _gutter_candidates(lines)
    if not middle_candidates:
        return [list(lines)]
    x = middle_candidates[0]
    bands: list[list[Line]] = []
    kind: bool | None = None
    for row in rows:
        crossing = any(line.x0 < x - 2 and line.x1 > x + 2 for line in row.lines)
        if crossing != kind or not bands:
            bands.append([])
            kind = crossing
        bands[-1].extend(row.lines)
    return bands if right - left > 0 else [list(lines)]


def _gutter_candidates(lines: Sequence[Line]) -> list[float]:
    """Positions right of which many lines begin, with other lines ending left of them, the best first."""
    left, right = min(line.x0 for line in lines), max(line.x1 for line in lines)
    width = right - left
    starts = Counter(
        round(line.x0 / 3) * 3 for line in lines if left + _MIN_COLUMN_SHARE * width < line.x0 < right - 0.15 * width
    )
    scored = []
    for start, _ in starts.most_common(6):
        x = start - 4.0
        after = [line for line in lines if line.x0 >= x]
        before = [line for line in lines if line.x1 <= x]
        crossing = len(lines) - len(after) - len(before)
        if len(after) >= _MIN_COLUMN_ROWS and len(before) >= _MIN_COLUMN_ROWS:
            scored.append((min(len(after), len(before)) - crossing, x))
    return [x for score, x in sorted(scored, reverse=True) if score > 0]


def _gutter(lines: Sequence[Line]) -> float | None:
    """The x of a gutter that splits ``lines`` into two columns of running text, if there is one."""
    left, right = min(line.x0 for line in lines), max(line.x1 for line in lines)
    width = right - left
    best: tuple[float, float] | None = None
    edges = sorted((line.x0, line.x1) for line in lines)
    reach = edges[0][1]
    for x0, x1 in edges[1:]:
        if x0 - reach >= _MIN_GUTTER and (best is None or x0 - reach > best[0]):
            best = (x0 - reach, (x0 + reach) / 2)
        reach = max(reach, x1)
    if best is None:
        return None
    x = best[1]
    before = group_rows([line for line in lines if line.x1 <= x])
    after = group_rows([line for line in lines if line.x0 >= x])
    for column in (before, after):
        words = [len(row.text.split()) for row in column]
        extent = max(row.x1 for row in column) - min(row.x0 for row in column)
        if len(column) < _MIN_COLUMN_ROWS or extent < _MIN_COLUMN_SHARE * width or median(words) < 3:
            return None  # a table's columns, or list markers
    return x


def strip_furniture(pages: Sequence[PdfPage]) -> tuple[list[list[Line]], list[str]]:
    """Each page's lines without headers, footers and page numbers (see `find_repeated_lines`), and what was removed."""
    rows = [group_rows([line for line in page.lines if line.angle == 0]) for page in pages]
    edges = [[EdgeLine(row.text, row.y0) for row in page] for page in rows]
    gone = find_repeated_lines(edges)
    kept: list[list[Line]] = []
    removed: list[str] = []
    for page, page_rows, indices in zip(pages, rows, gone, strict=True):
        removed.extend(page_rows[i].text for i in sorted(indices))
        dropped = {id(line) for i in indices for line in page_rows[i].lines}
        kept.append([line for line in page.lines if id(line) not in dropped])
    return kept, removed


def body_size(pages: Sequence[PdfPage]) -> float:
    """The size of most of the document's letters, in points."""
    counts: Counter[float] = Counter()
    for page in pages:
        for line in page.lines:
            if not line.bold:
                counts[line.size] += len(line.text)
    return counts.most_common(1)[0][0] if counts else 10.0


def _fold(text: str) -> str:
    return re.sub(r"[\W_]+", "", text.casefold())


@dataclass(slots=True)
class _Open:
    """A paragraph under construction."""

    kind: str
    rows: list[Row]
    page: int
    texts: list[str]
    pages: list[int]


class BlockBuilder:
    """Turns rows, page by page, into blocks; paragraphs that run over a page's end are joined."""

    def __init__(self, *, size: float, outline: Sequence[OutlineEntry]) -> None:
        self._size = size
        self._outline: dict[int, list[tuple[str, int, str]]] = {}
        for entry in outline:
            self._outline.setdefault(entry.page, []).append((_fold(entry.title), entry.level, entry.title))
        self._sizes: dict[float, int] = {}
        self._open: _Open | None = None
        self.blocks: list[Block] = []

    def add_page(self, number: int, rows: Sequence[Row], tables: Sequence[tuple[float, str]] = ()) -> None:
        """Add one page's rows. ``tables``: height at which each stands and the id kept as its block's text."""
        pending = sorted(tables)
        titles = list(self._outline.get(number, ()))
        previous: Row | None = None
        for row in rows:
            while pending and pending[0][0] <= row.y0:
                self._close()
                self.blocks.append(Block("table", pending.pop(0)[1], page=number))
                previous = None
            self._add_row(row, previous, number, titles)
            previous = row
        for _, text in pending:
            self._close()
            self.blocks.append(Block("table", text, page=number))

    def add_texts(self, number: int, texts: Sequence[str]) -> None:
        """Add lines that have no place in the flow: form fields, notes."""
        if texts:
            self._close()
            self.blocks.extend(Block("paragraph", clean_text(text), page=number) for text in texts if text.strip())

    def finish(self) -> list[Block]:
        """Close the last paragraph; give headings their levels."""
        self._close()
        return self.blocks

    def _is_heading(self, row: Row, titles: list[tuple[str, int, str]]) -> bool:
        folded = _fold(row.text)
        if not folded or len(row.text) > 400:
            return False
        if row.bold and row.size > 1.08 * self._size and re.search(r"[^\W\d_]", row.text):
            return True
        return any(title.startswith(folded) and len(folded) >= min(len(title), 12) for title, _, _ in titles) and (
            row.bold or row.size > 1.08 * self._size
        )

    def _add_row(self, row: Row, previous: Row | None, page: int, titles: list[tuple[str, int, str]]) -> None:
        if not row.text:
            return
        kind = "heading" if self._is_heading(row, titles) else "item" if self._starts_item(row) else "paragraph"
        current = self._open
        if current is not None and self._continues(current, row, previous, kind, page):
            current.rows.append(row)
            current.texts.append(row.text)
            current.pages.append(page)
            return
        self._close()
        self._open = _Open(kind, [row], page, [row.text], [page])

    @staticmethod
    def _starts_item(row: Row) -> bool:
        first = row.lines[0].text.strip()
        return bool(_ITEM_START.match(row.text)) or (len(row.lines) > 1 and bool(_MARKER.match(first)))

    def _continues(self, current: _Open, row: Row, previous: Row | None, kind: str, page: int) -> bool:
        last = current.rows[-1]
        if kind == "item" or (kind == "heading") != (current.kind == "heading"):
            return False
        if kind == "heading":
            return previous is not None and row.size == last.size and row.y0 - last.y1 < 0.6 * row.size
        if page != current.pages[-1] or previous is None:
            text = current.texts[-1].rstrip()
            if page > current.pages[-1] + 1 or abs(row.size - last.size) > 0.6 or text.endswith(_SENTENCE_END):
                return False
            return text.endswith(("-", ",")) or row.text[:1].islower() or row.text[:1].isdigit() or text[-1:].isalnum()
        gap = row.y0 - last.y1
        if abs(row.size - last.size) > 0.8 or gap < -1.2 * row.size:
            return False
        if row.bold != last.bold and last.text.endswith((".", ":")):
            return False
        limit = 0.45 * row.size
        if gap > limit:
            return False
        if _ended_on_purpose(last, row) and not row.text[:1].islower():
            return False
        if current.kind == "item" and row.text_x0 < current.rows[0].text_x0 - 3 and not row.text[:1].islower():
            return False
        indented = row.x0 - last.x0 > 8 and current.kind == "paragraph" and len(current.rows) > 1
        return not (indented and last.text.endswith((".", ":")))

    def _close(self) -> None:
        current, self._open = self._open, None
        if current is None:
            return
        text, breaks = _join_lines(current.texts, current.pages)
        if not text:
            return
        if current.kind == "heading":
            level = self._level(current, text)
            self.blocks.append(Block("heading", text, page=current.page, level=level))
        else:
            kind = "item" if current.kind == "item" else "paragraph"
            self.blocks.append(Block(kind, text, page=current.page, page_breaks=breaks))  # type: ignore[arg-type]

    def _level(self, current: _Open, text: str) -> int:
        """Ten times the print size, negated later: the bigger, the further out; the outline settles ties."""
        folded = _fold(text)
        for title, level, _ in self._outline.get(current.page, ()):
            if folded == title or (len(folded) > 15 and (title.startswith(folded) or folded.startswith(title))):
                return level
        return -round(10 * current.rows[0].size)


def _ended_on_purpose(last: Row, row: Row) -> bool:
    """Whether ``last`` left room for the first word of ``row``: then its author, not the margin, ended it."""
    if last.text.endswith(("-", "‐", ",")):
        return False
    letter = (row.x1 - row.x0) / max(len(row.text), 1)
    first_word = letter * (len(row.text.split(" ", 1)[0]) + 1)
    return last.right > 0 and last.x1 + first_word < last.right - 0.06 * last.right


def _join_lines(texts: Sequence[str], pages: Sequence[int]) -> tuple[str, tuple[int, ...]]:
    """Join a paragraph's rows and clean it; offsets at which each later page begins."""
    # A private-use mark survives the cleaning and says where the page turned.
    joined = texts[0]
    for index in range(1, len(texts)):
        turn = "\ue000" * (pages[index] - pages[index - 1])
        if turn and re.search(r"\w[-‐]$", joined):
            # Mend the cut word first, so that the mark does not stand inside it.
            head, _, tail = joined.rpartition(" ")
            first, _, rest = texts[index].partition(" ")
            joined = f"{head} {turn}{join_hyphenated(f'{tail}{chr(10)}{first}')} {rest}".strip()
        else:
            joined = f"{joined}\n{turn}{texts[index]}"
    # Items keep their lines in clean_text; here every row belongs to one paragraph.
    lines = joined.split("\n")
    text = lines[0]
    for line in lines[1:]:
        text = join_hyphenated(f"{text}\n{line}") if re.search(r"\w[-‐]$", text) else f"{text} {line}"
    text = clean_text(text.replace("\n", " "))
    breaks: list[int] = []
    while (at := text.find("\ue000")) >= 0:
        text = text[:at] + text[at + 1 :].lstrip(" ") if at == 0 or text[at - 1] == " " else text[:at] + text[at + 1 :]
        breaks.append(at)
    return text.strip(), tuple(breaks)


def settle_levels(blocks: Sequence[Block]) -> list[Block]:
    """Give headings found by their print alone a level below the outline's, the bigger print further out."""
    sizes = sorted({-b.level for b in blocks if b.kind == "heading" and b.level < 0}, reverse=True)
    deepest = max((b.level for b in blocks if b.kind == "heading" and b.level > 0), default=0)
    depth = {size: deepest + 1 + rank for rank, size in enumerate(sizes)}
    return [replace(b, level=depth[-b.level]) if b.kind == "heading" and b.level < 0 else b for b in blocks]
