"""Quotable units of a section: sentences, and lists whole with the sentence that leads into them."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from core.ingestion.fragments import heading_lines
from core.ingestion.sentences import split_sentences
from core.models import Fragment

_BULLET = re.compile(
    r"^\s*(?:(?P<bullet>[•◦○▪■□‣·●–—*-])\s|(?P<ordinal>\d{1,2}\.[ºª])\s|(?P<number>\d{1,3}[.)])\s|(?P<letter>[a-zñ]{1,2}[.)])\s|(?P<upper>[A-ZÑ][.)])\s)"
)
MAX_LIST_ITEMS = 20
_MAX_LIST_CHARS = 2600


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


@dataclass(frozen=True, slots=True)
class Unit:
    """What is quoted together: one sentence, or a lead-in with its list. ``cut`` says that the list goes on."""

    quotes: tuple[Quote, ...]
    cut: bool = False

    @property
    def text(self) -> str:
        """All quoted text, one quote a line."""
        return "\n".join(quote.text for quote in self.quotes)

    @property
    def fragment(self) -> Fragment:
        """The fragment in which the unit begins."""
        return self.quotes[0].fragment


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
    first item's kind of marker, each with its first sentence, until the text goes on without one. A row of a
    table comes with the table's header.
    """
    if fragments and all(fragment.kind == "table" for fragment in fragments):
        return [unit for fragment in fragments for unit in _row_units(fragment)]
    quotes = [quote for fragment in fragments for quote in quotes_of(fragment)]
    units: list[Unit] = []
    index = 0
    while index < len(quotes):
        quote = quotes[index]
        follows = quotes[index + 1] if index + 1 < len(quotes) else None
        if quote.text.endswith(":") and follows is not None and follows.item:
            units.append(_list_unit(quotes, index))
        else:
            units.append(Unit((quote,)))
        index += 1
    return units


def _row_units(fragment: Fragment) -> list[Unit]:
    quotes = quotes_of(fragment)
    rows = [quote for quote in quotes if quote.text.startswith("|")]
    if len(rows) < 2:
        return [Unit((quote,)) for quote in quotes]
    return [Unit((rows[0], row)) for row in rows[1:]]


def _list_unit(quotes: Sequence[Quote], lead: int) -> Unit:
    own = marker_kind(quotes[lead].text)
    kind = marker_kind(quotes[lead + 1].text)
    items = [quotes[lead]]
    size = len(quotes[lead].text)
    for quote in quotes[lead + 1 :]:
        this = marker_kind(quote.text) if quote.item else ""
        if this and this == own and own != kind:
            break  # back at the level of the sentence that led in
        if this == kind:
            if len(items) > MAX_LIST_ITEMS or size + len(quote.text) > _MAX_LIST_CHARS:
                return Unit(tuple(items), cut=True)
            items.append(quote)
            size += len(quote.text)
    return Unit(tuple(items))
