"""Quotable units of a section: sentences, lists whole and item by item with what leads into them, rows of tables."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from core.ingestion.fragments import heading_lines
from core.ingestion.sentences import split_sentences
from core.models import Fragment

_BULLET = re.compile(
    r"^\s*(?:(?P<bullet>[•◦○▪■□‣·●–—*-])\s|(?P<ordinal>\d{1,2}\.[ºª])\s|(?P<number>\d{1,3}[.)])\s|(?P<letter>[a-zñ]{1,2}[.)])\s|(?P<upper>[A-ZÑ][.)])\s)"
)
MAX_LIST_ITEMS = 20
_MAX_LIST_CHARS = 2600
# Lines without markers that a colon may lead into, and the longest of them.
_MAX_PLAIN_ITEMS = 4
_MAX_PLAIN_CHARS = 300
_ENDS = (".", ";", ",", ")", "»", "”")
# A table is quoted whole up to this size.
_MAX_TABLE_ROWS = 8
_MAX_TABLE_CHARS = 900


@dataclass(frozen=True, slots=True)
class Quote:
    """Exact text of a fragment. ``start`` is its offset in the fragment's text."""

    fragment: Fragment
    text: str
    start: int
    item: bool = False

    @property
    def page(self) -> int | None:
        """Page on which the quote begins."""
        return self.fragment.page_at(self.start)

    @property
    def place(self) -> tuple[int, int]:
        """Where the quote stands in its document; sorts in reading order."""
        return self.fragment.ordinal, self.start


@dataclass(frozen=True, slots=True)
class Unit:
    """What is quoted together: a sentence, or the items of a list or rows of a table with what leads into them.

    The first ``heads`` quotes lead in: sentences that end in a colon, or the header of a table. ``cut`` says
    that the list goes on.
    """

    quotes: tuple[Quote, ...]
    cut: bool = False
    heads: int = 0

    @property
    def text(self) -> str:
        """All quoted text, one quote a line."""
        return "\n".join(quote.text for quote in self.quotes)

    @property
    def fragment(self) -> Fragment:
        """The fragment in which the unit begins."""
        return self.quotes[0].fragment

    @property
    def body(self) -> tuple[Quote, ...]:
        """What the unit says, without what leads into it."""
        return self.quotes[self.heads :]

    @property
    def is_list(self) -> bool:
        """Whether this is several items or rows."""
        return self.heads > 0 and len(self.body) > 1


@dataclass(frozen=True, slots=True)
class _Open:
    """A list that is being read: the sentence that led in, its own marker's kind, and that of its items."""

    lead: Quote
    own: str
    kind: str


def marker_kind(line: str) -> str:
    """What kind of list marker a line begins with ('' for none); two kinds are two levels of a list."""
    match = _BULLET.match(line)
    if not match:
        return ""
    kind = match.lastgroup or ""
    return f"{kind}{match.group(kind)}" if kind == "bullet" else kind


def quotes_of(fragment: Fragment) -> list[Quote]:
    """The sentences of a fragment's text, its heading lines left out."""
    found: list[Quote] = []
    heads = set(heading_lines(fragment.section_path))
    at = 0
    for index, line in enumerate(fragment.text.split("\n")):
        if not (index < len(heads) and line in heads):
            first = True
            whole_row = fragment.kind == "table" and line.startswith("|")
            for start, end in [(0, len(line))] if whole_row else split_sentences(line):
                found.append(Quote(fragment, line[start:end], at + start, item=first and bool(marker_kind(line))))
                first = False
        at += len(line) + 1
    return found


def units_of(fragments: Sequence[Fragment]) -> list[Unit]:
    """Units of consecutive fragments of one section, in reading order.

    A list begins at a sentence that ends in a colon and is followed by an item; it takes the items with the
    first item's kind of marker, each with its first sentence, until another list of that kind begins. Each item
    is a unit too, with the sentences that lead into it. A row of a table comes with the table's header; a small
    table is a unit too.
    """
    if fragments and all(fragment.kind == "table" for fragment in fragments):
        return [unit for fragment in fragments for unit in _table_units(fragment)]
    quotes = [quote for fragment in fragments for quote in quotes_of(fragment)]
    units: list[Unit] = []
    open_lists: list[_Open] = []
    for index, quote in enumerate(quotes):
        leads = _leads_of(quote, open_lists)
        follows = quotes[index + 1] if index + 1 < len(quotes) else None
        if quote.text.endswith(":") and follows is not None:
            if follows.item:
                kind = marker_kind(follows.text)
                open_lists = [o for o in open_lists if o.kind != kind]
                units.append(_list_unit(quotes, index, leads, {o.kind for o in open_lists}))
                open_lists.append(_Open(quote, marker_kind(quote.text) if quote.item else "", kind))
            else:
                units.append(_plain_list(quotes, index, leads))
        else:
            units.append(Unit((*leads, quote), heads=len(leads)))
    return units


def _leads_of(quote: Quote, open_lists: list[_Open]) -> tuple[Quote, ...]:
    """The sentences that lead into an item, outermost first; closes the lists that the item ends."""
    kind = marker_kind(quote.text) if quote.item else ""
    if not kind:
        return ()
    for index, opened in enumerate(open_lists):
        if opened.own == kind:
            del open_lists[index:]  # back at the level of the item that led in
            break
        if opened.kind == kind:
            del open_lists[index + 1 :]
            break
    else:
        return ()
    return tuple(o.lead for o in open_lists)


def _list_unit(quotes: Sequence[Quote], lead: int, above: tuple[Quote, ...], around: set[str]) -> Unit:
    """The list that ``quotes[lead]`` leads into; ``around`` are the kinds of items of the lists that it is in."""
    own = marker_kind(quotes[lead].text)
    kind = marker_kind(quotes[lead + 1].text)
    items: list[Quote] = []
    size = len(quotes[lead].text)
    cut = False
    for index in range(lead + 1, len(quotes)):
        quote = quotes[index]
        this = marker_kind(quote.text) if quote.item else ""
        if this and this != kind and (this == own or this in around):
            break  # back at the level of the sentence that led in
        if not this and _leads_into(quotes, index, kind):
            break  # another list of the same level
        if this == kind:
            if items and not kind.startswith("bullet") and _marker(quote) == _marker(items[0]):
                break  # the count begins anew
            if len(items) >= MAX_LIST_ITEMS or size + len(quote.text) > _MAX_LIST_CHARS:
                cut = True
                break
            items.append(quote)
            size += len(quote.text)
    return Unit((*above, quotes[lead], *items), cut=cut, heads=len(above) + 1)


def _plain_list(quotes: Sequence[Quote], lead: int, above: tuple[Quote, ...]) -> Unit:
    """A sentence that ends in a colon, with the short lines without markers that it leads into."""
    items: list[Quote] = []
    for quote in quotes[lead + 1 : lead + 1 + _MAX_PLAIN_ITEMS]:
        if quote.item or not quote.text.endswith(_ENDS) or (items and len(quote.text) > _MAX_PLAIN_CHARS):
            break
        items.append(quote)
    return Unit((*above, quotes[lead], *items), heads=len(above) + (1 if items else 0))


def _leads_into(quotes: Sequence[Quote], index: int, kind: str) -> bool:
    follows = quotes[index + 1] if index + 1 < len(quotes) else None
    return (
        quotes[index].text.endswith(":") and follows is not None and follows.item and marker_kind(follows.text) == kind
    )


def _marker(quote: Quote) -> str:
    return quote.text.split(maxsplit=1)[0]


def _table_units(fragment: Fragment) -> list[Unit]:
    quotes = quotes_of(fragment)
    rows = [replace(quote, item=True) for quote in quotes if quote.text.startswith("|")]
    if len(rows) < 2:
        return [Unit((quote,)) for quote in quotes]
    header = replace(rows[0], item=False)
    lead = [quote for quote in quotes if quote.text.endswith(":") and quote.start < header.start][-1:]
    head = (*lead, header)
    units = [Unit((*head, row), heads=len(head)) for row in rows[1:]]
    if 1 < len(rows) - 1 <= _MAX_TABLE_ROWS and sum(len(row.text) for row in rows) <= _MAX_TABLE_CHARS:
        units.append(Unit((*head, *rows[1:]), heads=len(head)))
    return units
