"""Sums of an invoice that do not add up: said, never mended, and only where there is no other way to read them.

Checked: base × rate = VAT or withholding; base + VAT + surcharge − withholding = total; quantity × price = amount;
base + VAT = total in a row; a column and its total; the lines and the base. A document that says nothing of a rate, or
holds other amounts between base and total (discounts, payments on account), is not judged.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal

from core.documents.amounts import Entry, entries, kind_of, parse_amount, parse_rate
from core.models import LoadedDocument, Table
from core.retrieval.terms import fold

# Each amount is rounded to the cent, and rounding line by line may differ from rounding the sum.
_CENT = Decimal("0.01")
_TOLERANCE = 2 * _CENT
# A relation between the columns of a table is taken as meant when this share of its rows (at least two) keeps it.
_MOST = 0.6
_MAX_FINDINGS = 8


@dataclass(frozen=True, slots=True)
class Finding:
    """One sum that does not add up, in plain Spanish with the document's own figures; ``page`` counts from 1."""

    text: str
    page: int | None = None


def check_arithmetic(document: LoadedDocument) -> tuple[Finding, ...]:
    """What does not add up in ``document``, in reading order; nothing where one cannot be sure."""
    found = list(entries(document))
    checks = [*_summaries(found)]
    for table in document.tables:
        checks += [*_rows(table), *_column_totals(table, found)]
    checks += _lines_against_base(document.tables, found)
    return tuple(dict.fromkeys(checks))[:_MAX_FINDINGS]


def _summaries(found: Sequence[Entry]) -> Iterator[Finding]:
    """Each stretch from a base to the total that follows it."""
    group: list[Entry] = []
    for entry in found:
        if group and entry.kind == "base" and group[-1].kind == "total":
            yield from _summary(group)
            group = []
        if group or entry.kind == "base":
            group.append(entry)
    yield from _summary(group)


def _summary(group: Sequence[Entry]) -> Iterator[Finding]:
    parts = list(group)
    while parts and parts[-1].kind == "other":
        parts.pop()
    bases = [e for e in parts if e.kind == "base"]
    for entry in parts:
        if entry.kind in ("vat", "surcharge", "withholding") and entry.rate is not None:
            base = _base_for(entry, parts, bases)
            if base is not None and not _equal(abs(entry.amount), expected := _share(base.amount, entry.rate)):
                yield Finding(
                    f"{_money(base.amount)} × {_figure(entry.rate)} % son {_money(expected)}, y el documento dice "
                    f"{_money(abs(entry.amount))} («{entry.label}»).",
                    entry.page,
                )
    yield from _total(parts, bases)


def _base_for(entry: Entry, parts: Sequence[Entry], bases: Sequence[Entry]) -> Entry | None:
    """The base that a tax is of: the only one, the one of its rate, or the one just before it."""
    if len(bases) == 1:
        return bases[0] if bases[0].rate in (None, entry.rate) or entry.kind == "withholding" else None
    same = [base for base in bases if base.rate == entry.rate]
    if len(same) == 1:
        return same[0]
    before = parts[parts.index(entry) - 1] if parts.index(entry) else None
    return before if entry.kind == "vat" and before is not None and before.kind == "base" else None


def _total(parts: Sequence[Entry], bases: Sequence[Entry]) -> Iterator[Finding]:
    totals = [e for e in parts if e.kind == "total"]
    if not totals or not bases or any(e.kind == "other" for e in parts[: parts.index(totals[0])]):
        return
    taxes = [e for e in parts if e.kind in ("vat", "surcharge")]
    withheld = [e for e in parts if e.kind == "withholding"]
    if not taxes or any(e.sums for e in (*bases, *taxes)) or len(bases) > len(taxes):
        return  # without the tax, or with sums among the parts, it is not plain what the total adds
    gross = sum((e.amount for e in (*bases, *taxes)), Decimal(0))
    net = gross - sum((abs(e.amount) for e in withheld), Decimal(0))
    for total in totals:
        if any(_equal(total.amount, right) for right in (net, gross)):
            continue
        signs = " + ".join(_money(e.amount) for e in (*bases, *taxes))
        minus = "".join(f" − {_money(abs(e.amount))}" for e in withheld)
        yield Finding(
            f"{signs}{minus} son {_money(net)}, y el documento dice {_money(total.amount)} («{total.label}»).",
            total.page,
        )


def _rows(table: Table) -> Iterator[Finding]:
    """Relations between the columns of each row."""
    columns = _columns(table)
    pages = table.row_pages or (table.page,) * len(table.rows)
    rows = [(page, row) for page, row in zip(pages, table.rows, strict=False) if not _is_total(row)]
    if {"quantity", "price", "amount"} <= columns.keys() and not columns.keys() & {"discount", "vat", "rate"}:
        q, p, a = columns["quantity"], columns["price"], columns["amount"]
        yield from _relation(rows, (q, p, a), lambda x, y: x * y, "×", must_be_usual=True)
    if {"base", "rate", "vat"} <= columns.keys():
        b, r, v = columns["base"], columns["rate"], columns["vat"]
        yield from _relation(rows, (b, r, v), lambda x, y: x * y / 100, "×", must_be_usual=False)
    if {"base", "vat", "total"} <= columns.keys() and not columns.keys() & {"withholding", "surcharge", "discount"}:
        b, v, t = columns["base"], columns["vat"], columns["total"]
        yield from _relation(rows, (b, v, t), lambda x, y: x + y, "+", must_be_usual=True)


def _relation(
    rows: Sequence[tuple[int | None, tuple[str, ...]]],
    places: tuple[int, int, int],
    combine: Callable[[Decimal, Decimal], Decimal],
    sign: str,
    *,
    must_be_usual: bool,
) -> Iterator[Finding]:
    left, right, result = places
    kept, broken = 0, []
    for page, row in rows:
        if max(places) >= len(row):
            continue
        x, y, z = parse_amount(row[left]), _number(row[right]), parse_amount(row[result])
        x = x if x is not None else _number(row[left])
        if x is None or y is None or z is None:
            continue
        expected = combine(x, y).quantize(_CENT, ROUND_HALF_UP)
        if _equal(expected, z):
            kept += 1
        else:
            broken.append((page, row, expected, z))
    if must_be_usual and (kept < 2 or kept < _MOST * (kept + len(broken))):
        return
    for page, row, expected, z in broken:
        name = f"«{row[0].strip()[:40]}»: " if row[0].strip() and 0 not in places else ""
        yield Finding(
            f"{name}{row[left].strip()} {sign} {row[right].strip()} son {_money(expected)}, y el documento dice {_money(z)}.",
            page,
        )


def _column_totals(table: Table, found: Iterable[Entry]) -> Iterator[Finding]:
    """A last row of totals, or a line «Total base: …» on the table's last page, against the columns."""
    if len(table.rows) < 2:
        return
    totals = [row for row in table.rows if _is_total(row)]
    lines = [row for row in table.rows if not _is_total(row)]
    if len(totals) > 1 or (totals and table.rows[-1] is not totals[0]):
        return  # subtotals: it is not plain which rows a sum adds
    end = table.page_end or table.page
    for place, heading in enumerate(table.header):
        kind = kind_of(heading)
        values = [parse_amount(row[place]) for row in lines if place < len(row) and row[place].strip()]
        numbers = [v for v in values if v is not None]
        if len(numbers) < 2 or len(numbers) < len(values) or _is_no_sum(heading):
            continue
        said: list[tuple[Decimal | None, int | None]] = [
            (parse_amount(row[place]), end) for row in totals if place < len(row)
        ]
        if kind in ("base", "vat") and not totals:
            sums = [e for e in found if e.kind == kind and e.sums and e.page in (end, None)]
            said = [(e.amount, e.page) for e in sums[:1]]
        for value, page in said:
            if value is not None and not _equal(value, added := sum(numbers, Decimal(0))):
                yield Finding(
                    f"La columna «{heading.strip()}» suma {_money(added)}, y el documento dice {_money(value)}.", page
                )


def _lines_against_base(tables: Sequence[Table], found: Sequence[Entry]) -> list[Finding]:
    """The amounts of the only table of lines against the only base (or the total, where they include the tax)."""
    bases = [e for e in found if e.kind == "base"]
    totals = [e for e in found if e.kind == "total"]
    lists = [(t, c) for t in tables if "amount" in (c := _columns(t)) and {"quantity", "price"} & c.keys()]
    if len(bases) != 1 or len(lists) != 1 or "discount" in lists[0][1]:
        return []
    table, columns = lists[0]
    rows = [row for row in table.rows if not _is_total(row)]
    values = [parse_amount(row[columns["amount"]]) for row in rows if columns["amount"] < len(row)]
    numbers = [v for v in values if v is not None]
    if not numbers or len(numbers) != len(rows) or any("descuento" in fold(e.label) for e in found):
        return []
    added = sum(numbers, Decimal(0))
    if any(_equal(added, e.amount) for e in (*bases, *totals)):
        return []
    base = bases[0]
    text = f"Las líneas suman {_money(added)}, y el documento dice {_money(base.amount)} («{base.label}»)."
    return [Finding(text, base.page)]


def _columns(table: Table) -> dict[str, int]:
    """Place of each column whose heading leaves no doubt; a heading that occurs twice is left out."""
    named: dict[str, list[int]] = {}
    for place, heading in enumerate(table.header):
        text = fold(heading)
        words = set(text.replace(".", " ").replace("(", " ").split())
        if "%" in text or "tipo" in words:
            name = "rate" if "ret" not in text and "irpf" not in text else "withholding"
        elif words & {"dto", "descuento", "dcto"}:
            name = "discount"
        elif words & {"cantidad", "cant", "uds", "unidades", "horas", "ud"}:
            name = "quantity"
        elif "precio" in words or "tarifa" in words:
            name = "price"
        elif (kind := kind_of(heading)) != "other":
            name = kind
        elif "importe" in words:
            name = "amount"
        else:
            continue
        named.setdefault(name, []).append(place)
    return {name: places[0] for name, places in named.items() if len(places) == 1}


def _is_total(row: Sequence[str]) -> bool:
    first = next((cell for cell in row if cell.strip()), "")
    return fold(first).strip(" *:").startswith(("total", "suma", "subtotal"))


def _is_no_sum(heading: str) -> bool:
    text = fold(heading)
    return any(word in text for word in ("precio", "saldo", "tipo", "%", "acumulad", "tarifa"))


def _number(cell: str) -> Decimal | None:
    """An amount, a rate or a plain count."""
    amount = parse_amount(cell)
    if amount is not None:
        return amount
    rate = parse_rate(cell)
    if rate is not None:
        return rate
    text = cell.strip()
    return Decimal(text) if text.isdigit() and len(text) <= 6 else None


def _share(base: Decimal, rate: Decimal) -> Decimal:
    return (abs(base) * rate / 100).quantize(_CENT, ROUND_HALF_UP)


def _equal(a: Decimal, b: Decimal) -> bool:
    return abs(a - b) <= _TOLERANCE


def _money(value: Decimal) -> str:
    text = f"{value:,.2f}".replace(",", "\x00").replace(".", ",").replace("\x00", ".")
    return f"{text} €"


def _figure(value: Decimal) -> str:
    return f"{value.normalize():f}".replace(".", ",")
