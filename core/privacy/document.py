"""A whole document without personal data: blocks, headings, table cells, pages and file name.

The document is laid out as one text (blocks on lines, table rows between ``|``), so that a value broken over two
lines, blocks, pages or cells is found; then each piece gets back what belongs to it.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from core.ingestion.page_texts import flow_text, page_texts
from core.ingestion.tables import with_sections
from core.models import Block, LoadedDocument, Table
from core.privacy.gazetteer import fold, gazetteer
from core.privacy.kinds import DocumentReport, Kind, Match, PiiSpan, Redaction, count
from core.privacy.placeholders import Placeholders
from core.privacy.redactor import Redactor, spans_of, splice

Progress = Callable[[str, int, int], None]
# The document is searched in parts of about so many characters, so that progress can be shown.
_PART = 60_000
_OVERLAP_LINES = 2


@dataclass(frozen=True, slots=True)
class _Piece:
    """A block's text or a cell, and where it stands in the laid-out text."""

    start: int
    text: str


class _Layout:
    """The document as one text, and its pieces by place."""

    def __init__(self, document: LoadedDocument) -> None:
        self._parts: list[str] = []
        self._size = 0
        self.blocks: dict[int, _Piece] = {}
        self.cells: dict[tuple[int, int, int], _Piece] = {}  # table, row (-1 = header), column
        for index, block in enumerate(document.blocks):
            if block.table is None:
                self.blocks[index] = self._add(block.text)
                self._write("\n")
            else:
                self._table(block.table, document.tables[block.table])
        self.text = "".join(self._parts)

    def _write(self, text: str) -> None:
        self._parts.append(text)
        self._size += len(text)

    def _add(self, text: str) -> _Piece:
        piece = _Piece(self._size, text)
        self._write(text)
        return piece

    def _table(self, number: int, table: Table) -> None:
        self._write("\n")
        for row, cells in enumerate((table.header, *table.rows), start=-1):
            self._write("|")
            for column, cell in enumerate(cells):
                self._write(" ")
                self.cells[number, row, column] = _Piece(self._size, cell)
                self._write(cell.replace("|", "¦").replace("\n", " "))
                self._write(" |")
            self._write("\n")
        self._write("\n")


def redact_document(
    document: LoadedDocument,
    redactor: Redactor,
    placeholders: Placeholders,
    *,
    progress: Progress | None = None,
) -> tuple[LoadedDocument, DocumentReport]:
    """The document without personal data, and what was replaced.

    ``placeholders`` is the session's numbering: the same value has the same placeholder in all its documents.
    ``progress`` is called with "datos personales", the share done and the whole, in characters.

    Raises:
        AcquisitionError: the model of names cannot be had. Nothing is returned half redacted.
    """
    layout = _Layout(document)
    spans = spans_of(layout.text, _find(layout.text, redactor, progress), placeholders)
    blocks = [
        _redact_block(block, layout.blocks[index], spans) if block.table is None else block
        for index, block in enumerate(document.blocks)
    ]
    tables = [_redact_table(number, table, layout, spans) for number, table in enumerate(document.tables)]
    tables = with_sections(blocks, tables)
    pages = (
        page_texts(blocks, tables, max(document.pages, default=0)) if document.paged else {1: flow_text(blocks, tables)}
    )
    clean = replace(document, blocks=tuple(blocks), tables=tuple(tables), pages=pages)
    found = count(spans)
    return clean, DocumentReport(found, {kind: len({s.placeholder for s in spans if s.kind is kind}) for kind in found})


def redact_title(title: str, redactor: Redactor, placeholders: Placeholders) -> Redaction:
    """A file name or title without personal data: "_" and "-" between words are read as blanks.

    Raises:
        AcquisitionError: the model of names cannot be had.
    """
    engine = redactor.load()
    name, dot, suffix = title.rpartition(".") if re.search(r"\.\w{1,8}$", title) else (title, "", "")
    spaced = re.sub(r"[_+]|(?<=[^\W\d])-(?=[^\W\d])", " ", name)
    found = [*engine.find(name), *engine.find(spaced)]
    cased = re.sub(r"(?<![^\W_])[^\W\d_]", lambda m: m[0].upper(), spaced)
    if len(cased) == len(name):
        # every word has a capital now: only what begins or ends with a first name counts
        found += [m for m in engine.find(cased) if m.kind is not Kind.PERSON or _has_first_name(cased[m.start : m.end])]
    spans = spans_of(name, found, placeholders)
    return Redaction(splice(name, spans) + dot + suffix, spans, count(spans))


def _has_first_name(name: str) -> bool:
    return any(fold(word) in gazetteer().first for word in re.findall(r"[^\W\d_]+", name))


def _find(text: str, redactor: Redactor, progress: Progress | None) -> list[Match]:
    """The finds of the whole text, searched part by part; parts overlap by some lines and end outside tables."""
    engine = redactor.load()
    found: list[Match] = []
    start = 0
    while start < len(text):
        end = _part_end(text, start + _PART)
        found.extend(Match(m.start + start, m.end + start, m.kind, m.score) for m in engine.find(text[start:end]))
        if progress:
            progress("datos personales", end, len(text))
        if end >= len(text):
            break
        start = max(_lines_back(text, end), start + 1)
    return list(dict.fromkeys(found))


def _part_end(text: str, near: int) -> int:
    if near >= len(text):
        return len(text)
    at = text.find("\n", near)
    while at != -1 and at + 1 < len(text) and (text[at - 1] == "|" or text[at + 1] == "|"):
        at = text.find("\n", at + 1)  # a table is read whole: its header says what is in its columns
    if at == -1:
        return len(text)
    return at + 1


def _lines_back(text: str, at: int) -> int:
    for _ in range(_OVERLAP_LINES + 1):
        at = text.rfind("\n", 0, at - 1 if at else 0)
        if at <= 0:
            return 0
    return at + 1


def _redact_piece(piece: _Piece, spans: Sequence[PiiSpan]) -> tuple[str, list[tuple[int, int, int]]]:
    """The piece's new text, and (start, end, length of what replaced it) of each change, in the piece's offsets.

    A value that goes on from the piece before leaves nothing here: its placeholder stands where it begins.
    """
    end = piece.start + len(piece.text)
    parts: list[str] = []
    changes: list[tuple[int, int, int]] = []
    at = 0
    for span in spans:
        if span.end <= piece.start or span.start >= end:
            continue
        left, right = max(span.start - piece.start, 0), min(span.end, end) - piece.start
        new = span.placeholder if span.start >= piece.start else ""
        parts.extend((piece.text[at:left], new))
        changes.append((left, right, len(new)))
        at = right
    return "".join((*parts, piece.text[at:])), changes


def _redact_block(block: Block, piece: _Piece, spans: Sequence[PiiSpan]) -> Block:
    text, changes = _redact_piece(piece, _near(piece, spans))
    if not changes:
        return block
    breaks = tuple(_moved(offset, changes) for offset in block.page_breaks)
    return replace(block, text=text, page_breaks=breaks)


def _moved(offset: int, changes: Sequence[tuple[int, int, int]]) -> int:
    """Where an offset stands after the changes; one inside a value moves behind its placeholder."""
    shift = 0
    for start, end, length in changes:
        if end <= offset:
            shift += length - (end - start)
        elif start < offset:
            return start + shift + length
    return offset + shift


def _near(piece: _Piece, spans: Sequence[PiiSpan]) -> Sequence[PiiSpan]:
    """The spans that touch the piece (spans are in order and do not overlap)."""
    first = bisect_right(spans, piece.start, key=lambda s: s.end)
    last = bisect_left(spans, piece.start + len(piece.text), key=lambda s: s.start)
    return spans[first:last]


def _redact_table(number: int, table: Table, layout: _Layout, spans: Sequence[PiiSpan]) -> Table:
    def cell(row: int, column: int, text: str) -> str:
        piece = layout.cells.get((number, row, column))
        return _redact_piece(piece, _near(piece, spans))[0] if piece else text

    header = tuple(cell(-1, i, text) for i, text in enumerate(table.header))
    rows = tuple(tuple(cell(r, i, text) for i, text in enumerate(row)) for r, row in enumerate(table.rows))
    return replace(table, header=header, rows=rows)
