"""Ways to look at one text: odd characters made plain, broken lines joined, table cells joined.

A recogniser reads plain text; what it finds in a view is mapped back to the text as it is. A value broken over a
line, a page, a block or a cell is whole in one of the views.
"""

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from core.privacy.kinds import CERTAIN, Kind, Match

Finder = Callable[[str], Iterator[Match]]

_DASHES = "‐‑‒–—―−﹣－"
_PLAIN = str.maketrans(
    {
        **dict.fromkeys(_DASHES, "-"),
        **dict.fromkeys("\u00a0\u2007\u2009\u200a\u202f\u2002\u2003\u3000\t\r\f\v", " "),
        "＠": "@",
    }
)
_INVISIBLE = "\u00ad\u200b\u200c\u200d\u2060\ufeff\x00"
_ODD = re.compile(r"[\uff01-\uff5e]|[" + _INVISIBLE + "]|[\u0300-\u036f]")
_BREAK = re.compile(r"[ ]*-?[ ]*\n\s*")
_PIPE_ROW = re.compile(r"^[ ]*\|(.*)\|[ ]*$", re.MULTILINE)
_RULE = re.compile(r"[\s:|-]*")
# Kinds that may be looked for over the border of a cell: their check digits rule out chance.
_OVER_CELLS = frozenset({Kind.NIF, Kind.NIE, Kind.CIF, Kind.IBAN, Kind.CCC, Kind.CADASTRAL, Kind.EMAIL})
# Kinds looked for over the end of a line; those that may run over two ends.
_OVER_LINES = _OVER_CELLS | {Kind.CARD, Kind.NAF}
_LONG = frozenset({Kind.IBAN, Kind.CCC, Kind.CADASTRAL})
# "0⏎6316315D": what stands on one line is a valid number with its zero left out; the longer one is the number.
_WIDER = frozenset({Kind.NIF, Kind.NIE, Kind.CIF, Kind.IBAN})
_MAX_CELLS = 8
_REACH = 60
_MIDDLE = re.compile(r"[\dA-Za-z]")


@dataclass(frozen=True, slots=True)
class View:
    """``text`` as a recogniser sees it; ``origin[i]`` is where character i stands in the original.

    ``seams`` are offsets into ``text`` at which something was left out (a line break, the border of a cell).
    """

    text: str
    origin: Sequence[int]
    seams: tuple[int, ...] = ()

    def back(self, match: Match) -> Match:
        """The match in the original's offsets."""
        return Match(self.origin[match.start], self.origin[match.end - 1] + 1, match.kind, match.score)

    def seams_in(self, match: Match) -> int:
        """How many seams lie inside the match."""
        return bisect_left(self.seams, match.end) - bisect_left(self.seams, match.start + 1)


def plain_view(text: str) -> View:
    """The text with plain blanks, dashes, digits and letters (one for one), and without invisible characters."""
    translated = text.translate(_PLAIN)
    if not _ODD.search(translated):
        return View(translated, range(len(text)))
    chars: list[str] = []
    origin: list[int] = []
    for index, char in enumerate(translated):
        if char in _INVISIBLE:
            continue
        if "\u0300" <= char <= "\u036f" and chars:  # an accent written apart from its letter
            whole = unicodedata.normalize("NFC", chars[-1] + char)
            if len(whole) == 1:
                chars[-1] = whole
                continue
        chars.append(unicodedata.normalize("NFKC", char) if "\uff01" <= char <= "\uff5e" else char)
        origin.append(index)
    return View("".join(chars), origin)


def seam_view(view: View, *, breaks: int = 1) -> View:
    """For each end of a line the text around it, joined over ``breaks`` line ends, without the hyphen there.

    Only the surroundings of what can be the middle of a value are kept: a figure, capital or mark of an address on
    either side. Rows of tables are left out; see `cell_views`.
    """
    text = view.text
    ends = [m for m in _BREAK.finditer(text) if _broken(text, m.start(), m.end())]
    parts: list[str] = []
    origin: list[int] = []
    seams: list[int] = []
    size = 0
    for first in range(len(ends) - breaks + 1):
        group = ends[first : first + breaks]
        if breaks > 1 and group[-1].end() - group[0].start() > _REACH:
            continue
        at = max(0, group[0].start() - _REACH)
        for match in group:
            parts.append(text[at : match.start()])
            origin.extend(view.origin[at : match.start()])
            size += match.start() - at
            seams.append(size)
            at = match.end()
        parts.extend((text[at : at + _REACH], "\n\n"))
        tail = view.origin[at : at + _REACH]
        origin.extend(tail)
        origin.extend((0, 0))
        size += len(tail) + 2
    return View("".join(parts), origin, tuple(seams))


def _broken(text: str, start: int, end: int) -> bool:
    """Whether a value can run over this line end."""
    left, right = text[start - 1 : start], text[end : end + 1]
    if left == "|" or right == "|" or not left or not right:
        return False
    return (
        bool(_MIDDLE.search(text[max(0, start - 6) : start]) and _MIDDLE.search(text[end : end + 6]))
        or "@" in text[max(0, start - 40) : end + 40]
    )


@dataclass(frozen=True, slots=True)
class Grid:
    """A table of the text: for each row the (start, end) of its cells. The first row is the header."""

    rows: tuple[tuple[tuple[int, int], ...], ...]


def grids(text: str) -> list[Grid]:
    """Tables written as rows between ``|``; rows that follow each other make one table, rules are left out."""
    found: list[list[tuple[tuple[int, int], ...]]] = []
    last = -2
    for match in _PIPE_ROW.finditer(text):
        if match.start() != last + 1:
            found.append([])
        last = match.end()
        if _RULE.fullmatch(match.group(1)):
            continue
        cells, at = [], match.start(1)
        for piece in match.group(1).split("|"):
            left = len(piece) - len(piece.lstrip())
            cells.append((at + left, at + max(left, len(piece.rstrip()))))
            at += len(piece) + 1
        found[-1].append(tuple(cells))
    return [Grid(tuple(rows)) for rows in found if rows]


def cell_views(view: View, tables: Sequence[Grid]) -> Iterator[View]:
    """For each table two views: every row's cells joined, and every column's cells joined."""
    for grid in tables:
        width = max(len(row) for row in grid.rows)
        columns = [[row[i] for row in grid.rows if i < len(row)] for i in range(width)]
        for lines in (grid.rows, columns):
            chars: list[str] = []
            origin: list[int] = []
            seams: list[int] = []
            for line in lines:
                for start, end in line:
                    piece = re.sub(r"-$", "", view.text[start:end])
                    seams.append(len(origin))
                    chars.append(piece)
                    origin.extend(view.origin[start : start + len(piece)])
                chars.append("\n\n")
                origin.extend([0, 0])
            yield View("".join(chars), origin, tuple(seams))


@dataclass(frozen=True, slots=True)
class Views:
    """All the views of one text, made once for all recognisers."""

    plain: View
    seams: View
    double: View
    cells: tuple[View, ...]
    grids: tuple[Grid, ...]


def views_of(text: str) -> Views:
    """The views of a text."""
    plain = plain_view(text)
    tables = tuple(grids(plain.text))
    return Views(plain, seam_view(plain), seam_view(plain, breaks=2), tuple(cell_views(plain, tables)), tables)


def search(finder: Finder, kind: Kind, views: "Views") -> list[Match]:
    """All finds of a recogniser in the plain view and the views made from it, in the original's offsets.

    In a joined view only what crosses a seam counts, and only when it is certain and the plain view has no certain
    find at that place.
    """
    view = views.plain
    lines = (*((views.seams,) if kind in _OVER_LINES else ()), *((views.double,) if kind in _LONG else ()))
    cells = views.cells if kind in _OVER_CELLS else ()
    flat = [view.back(m) for m in finder(view.text)]
    found = list(flat)
    others = [(other, False) for other in lines if other.seams]
    for other, over_cells in (*others, *((v, True) for v in cells)):
        for match in finder(other.text):
            crossed = other.seams_in(match)
            if not crossed or match.score < CERTAIN or crossed > _MAX_CELLS:
                continue
            if over_cells and not _whole_cells(other, match):
                continue
            back = other.back(match)
            inside = [m for m in flat if m.start < back.end and back.start < m.end and m.kind is back.kind]
            wider = back.kind in _WIDER and all(back.start <= m.start and m.end <= back.end for m in inside)
            if not inside or wider or (back.kind is not Kind.EMAIL and any(m.score < CERTAIN for m in inside)):
                found.append(back)
    return found


def _whole_cells(view: View, match: Match) -> bool:
    """Whether the match begins where a cell or a word of it does, and ends where a cell does."""
    at = bisect_left(view.seams, match.start)
    begins = at < len(view.seams) and view.seams[at] == match.start
    begins = begins or (match.kind is not Kind.CCC and view.text[match.start - 1 : match.start] in (" ", ":"))
    at = bisect_left(view.seams, match.end)
    ends = view.text[match.end : match.end + 2] in ("\n\n", "") or (
        at < len(view.seams) and view.seams[at] == match.end
    )
    return begins and ends
