"""Amounts of an invoice as printed, each with what its label says it is."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from core.models import LoadedDocument, Table
from core.retrieval.terms import fold

Kind = Literal["base", "vat", "surcharge", "withholding", "total", "other"]

# Two decimals, thousands in groups; «1.250,00» or «1,250.00». A figure before «%» is a rate, not an amount.
_AMOUNT = re.compile(
    r"(?<![\w.,/])(?P<sign>[-−–]\s?)?(?P<figure>\d{1,3}(?:\.\d{3})+,\d{2}|\d{1,3}(?:,\d{3})+\.\d{2}|\d+[.,]\d{2})"
    r"(?![\w/]|[.,]\d|\s*%)"
)
_RATE = re.compile(r"(?<![\d.,])(\d{1,2}(?:[.,]\d{1,2})?)\s*%")
_VAT = re.compile(r"\b(?:iva|i\.v\.a\.?|cuota)(?!\w)")
_WITHHELD = re.compile(r"\b(?:retencion(?:es)?|irpf|i\.r\.p\.f\.?|ret\.)(?!\w)")
_BASE = re.compile(r"\b(?:base(?:s)?(?: imponibles?)?|subtotal|importe neto|neto|sin iva)\b")
_TOTAL = re.compile(r"\b(?:total|liquido|importe a (?:pagar|ingresar|percibir)|a pagar)\b")
_LABEL_CHARS = 60


@dataclass(frozen=True, slots=True)
class Entry:
    """A labelled amount. ``rate`` is the percentage in its label, None where there is none."""

    kind: Kind
    label: str
    amount: Decimal
    rate: Decimal | None
    page: int | None
    sums: bool = False


def parse_amount(text: str) -> Decimal | None:
    """The one amount that a cell holds; None where it holds none, several, or anything but money around it."""
    found = list(_AMOUNT.finditer(text))
    rest = _AMOUNT.sub("", text).replace("€", "").replace("EUR", "").replace("*", "").strip()
    return _value(found[0]) if len(found) == 1 and not rest else None


def parse_rate(text: str) -> Decimal | None:
    """The percentage that a text states, None where it states none or several."""
    found = {match.group(1).replace(",", ".") for match in _RATE.finditer(text)}
    return Decimal(found.pop()) if len(found) == 1 else None


def kind_of(label: str) -> Kind:
    """What a label or column heading names."""
    text = fold(label)
    if "recargo" in text:
        return "surcharge"
    if _BASE.search(text) and not _WITHHELD.search(text):
        return "base"
    if _WITHHELD.search(text):
        return "other" if _BASE.search(text) else "withholding"
    if _VAT.search(text) and not re.search(r"\binclu|\bcon iva|\btotal\b.*\b(?:factura|con)\b", text):
        return "vat"
    return "total" if _TOTAL.search(text) else "other"


def entries(document: LoadedDocument) -> Iterator[Entry]:
    """The labelled amounts in reading order: of lines of text, and of table rows with one amount only."""
    for block in document.blocks:
        if block.table is not None:
            yield from _of_table(document.tables[block.table])
            continue
        for line in block.text.split("\n"):
            yield from _of_line(line, block.page if document.paged else None)


def _of_table(table: Table) -> Iterator[Entry]:
    pages = table.row_pages or (table.page,) * len(table.rows)
    for page, row in [(table.page, table.header), *zip(pages, table.rows, strict=False)]:
        cells = [cell for cell in row if cell.strip()]
        if 2 <= len(cells) <= 3 and parse_amount(cells[-1]) is not None:
            if len(cells) == 3 and parse_rate(cells[1]) is None:
                continue
            yield from _of_line(" ".join(cells), page)


def _of_line(line: str, page: int | None) -> Iterator[Entry]:
    start = 0
    for match in _AMOUNT.finditer(line):
        label = line[start : match.start()].strip(" :|.€*\t")
        start = match.end()
        kind = kind_of(label) if label and len(label) <= _LABEL_CHARS else "other"
        yield Entry(kind, label, _value(match), parse_rate(label), page, sums=fold(label).startswith(("total", "suma")))


def _value(match: re.Match[str]) -> Decimal:
    figure = match["figure"]
    whole, cents = re.sub(r"[.,]", "", figure[:-3]), figure[-2:]
    value = Decimal(f"{whole}.{cents}")
    return -value if match["sign"] else value
