"""The text of each page of a document, put together from its blocks and tables."""

from collections.abc import Sequence
from itertools import pairwise

from core.ingestion.tables import table_lines
from core.models import Block, Table


def page_texts(blocks: Sequence[Block], tables: Sequence[Table], total: int) -> dict[int, str]:
    """Page number -> text, for the pages 1 to ``total`` of a paged document."""
    parts: dict[int, list[str]] = {number: [] for number in range(1, total + 1)}
    for block in blocks:
        page = block.page or 1
        if block.table is not None:
            table = tables[block.table]
            lines = table_lines(table)
            head = len(lines) - len(table.rows)
            parts[page].extend(lines[:head])
            for row_page, line in zip(table.row_pages, lines[head:], strict=True):
                parts[row_page].append(line)
            continue
        cuts = [0, *block.page_breaks, len(block.text)]
        for offset, (start, end) in enumerate(pairwise(cuts)):
            if piece := block.text[start:end].strip():
                parts[page + offset].append(piece)
    return {number: "\n".join(texts) for number, texts in parts.items()}


def flow_text(blocks: Sequence[Block], tables: Sequence[Table]) -> str:
    """The text of a document without pages."""
    shown = []
    for block in blocks:
        if block.table is None:
            shown.append(block.text)
        else:
            table = tables[block.table]
            shown.append("\n".join(" | ".join(row) for row in (table.header, *table.rows)))
    return "\n\n".join(shown)
