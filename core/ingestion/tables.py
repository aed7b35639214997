"""From tables as found on each page to tables as a reader understands them: whole, with header and title."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from core.ingestion.pdf_tables import RawTable
from core.models import Block, Table


def extract_tables(path: Path) -> list[Table]:
    """Tables of a PDF or Markdown file: exact cells, parts on following pages joined, useless ones left out.

    Raises:
        UnsupportedFileTypeError, UnreadableDocumentError: as `core.ingestion.loader.load`.
    """
    from core.ingestion.loader import load

    return list(load(path).tables)


def merge_header(rows: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """Several header rows as one: the column's own texts joined, a spanning text kept on its first column."""
    merged = []
    for column in zip(*rows, strict=True):
        parts = list(dict.fromkeys(cell for cell in column if cell))
        merged.append(" ".join(parts))
    return tuple(merged)


def join_raw_tables(
    raw: Sequence[RawTable], *, page_ends: dict[int, bool], page_starts: dict[int, bool]
) -> list[tuple[Table, list[RawTable]]]:
    """Useful tables, each with the raw parts it was made of.

    A table goes on over the page when it is the last thing of its page (``page_ends[page]``), the next page
    begins with a table of as many columns, and that one has no header of its own or the same.
    """
    joined: list[tuple[Table, list[RawTable]]] = []
    for part in raw:
        if not part.useful:
            continue
        header = merge_header(part.rows[: part.header_rows]) if part.header_rows else ()
        body = part.rows[part.header_rows :]
        if joined and page_starts.get(part.page, False) and _continues(joined[-1], part, header, page_ends):
            table, parts = joined[-1]
            rows = body if part.header_rows else part.rows
            joined[-1] = (
                replace(
                    table,
                    rows=(*table.rows, *rows),
                    page_end=part.page,
                    row_pages=(*table.row_pages, *([part.page] * len(rows))),
                ),
                [*parts, part],
            )
            continue
        if not body:
            body, header = part.rows, ("",) * len(part.rows[0])
        table = Table(
            header=header or ("",) * len(body[0]),
            rows=tuple(body),
            page=part.page,
            page_end=part.page,
            row_pages=(part.page,) * len(body),
        )
        joined.append((table, [part]))
    return joined


def _continues(
    open_table: tuple[Table, list[RawTable]],
    part: RawTable,
    header: tuple[str, ...],
    page_ends: dict[int, bool],
) -> bool:
    table, parts = open_table
    last = parts[-1]
    same_width = len(table.header) == len(part.rows[0])
    repeats = not part.header_rows or header == table.header
    return last.page + 1 == part.page and page_ends.get(last.page, False) and same_width and repeats


def table_lines(table: Table) -> list[str]:
    """The table as pipe rows, header first where it has one."""
    rows = [table.header, *table.rows] if any(table.header) else list(table.rows)
    return ["| " + " | ".join(cell or " " for cell in row) + " |" for row in rows]


def with_sections(blocks: Sequence[Block], tables: list[Table]) -> list[Table]:
    """Give each table the headings it stands under, and the nearest one as its title."""
    path: list[tuple[int, str]] = []
    for block in blocks:
        if block.kind == "heading":
            path = [
                *((level, text) for level, text in path if level < block.level),
                (block.level, block.text),
            ]
        elif block.table is not None:
            names = tuple(text for _, text in path)
            tables[block.table] = replace(tables[block.table], section_path=names, title=names[-1] if names else "")
    return tables
