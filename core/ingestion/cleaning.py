"""Cleaning that never changes what the text says: hyphens, white space, and lines repeated on every page."""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

# Characters that print as nothing or as a plain space.
_CONTROLS = [*range(0x00, 0x09), 0x0B, 0x0C, *range(0x0E, 0x20), 0x7F]
_INVISIBLE = dict.fromkeys([0x00AD, 0x200B, 0x200C, 0x200D, 0x2060, 0xFEFF, *_CONTROLS])
_SPACES = dict.fromkeys([0x00A0, 0x2007, 0x2009, 0x200A, 0x202F, 0x2002, 0x2003, 0x3000], " ")
_LIGATURES = {0xFB00: "ff", 0xFB01: "fi", 0xFB02: "fl", 0xFB03: "ffi", 0xFB04: "ffl"}
_TRANSLATION = {**_INVISIBLE, **_SPACES, **_LIGATURES}

_HYPHEN_BREAK = re.compile(r"(\w+)(?:-|‐)[ \t]*\n[ \t]*(\w+)")
_SOFT_HYPHEN_BREAK = re.compile(r"\u00ad[ \t]*\n[ \t]*")
# A line that starts like this starts something of its own.
_STARTS_ITEM = re.compile(
    r"(?:[•◦○▪‣·–—*-]\s|\d{1,3}[.)ºª]|\d{1,2}\.\d|[a-zñA-ZÑ][.)]\s|[ivxIVX]{1,5}[.)]\s|#{1,6}\s|\|)"
)

# A line shorter than this was ended on purpose (a record, a heading), not wrapped by an editor.
_WRAPPED_LINE = 50

# Edge lines: how many to look at, and on how many pages a line must stand to be furniture.
_MAX_EDGE_LINES = 6
_MIN_PAGES = 3
_MIN_SHARE = 0.2
_RUNNING_SHARE = 0.8
_RUNNING_REPEATS = 0.35
_PAGE_WORDS = re.compile(r"(?:p[áa]gs?\.?|p[áa]gina|page|hoja|folio|n\.?º)\s*$", re.IGNORECASE)


def normalize_characters(text: str) -> str:
    """Unicode NFC without control characters, invisible marks, odd spaces and ligatures."""
    return unicodedata.normalize("NFC", text.replace("\r\n", "\n").replace("\r", "\n")).translate(_TRANSLATION)


def join_hyphenated(text: str, *, frequency: Callable[[str], float] | None = None) -> str:
    """Mend words that a line's end has cut ("reten-\\nciones"), keeping hyphens that belong to the word.

    A hyphen stays when a figure or capitals stand beside it ("2025-\\n2026", "NIF-\\nIVA"), or when the joined
    form is no known word while both halves are ("autónomo-\\nempleador"). ``frequency`` gives a word's Zipf frequency.
    """
    zipf = frequency or spanish_word

    def mend(match: re.Match[str]) -> str:
        left, right = match.group(1), match.group(2)
        if left[-1].isdigit() or right[0].isdigit() or right[0].isupper():
            return f"{left}-{right}"
        if zipf(left + right) >= _KNOWN_ZIPF:
            return left + right
        if min(zipf(left), zipf(right)) >= _KNOWN_HALF_ZIPF:
            return f"{left}-{right}"
        return left + right

    previous = None
    while previous != text:  # "a-\nb-\nc": the second break is seen once the first is mended
        previous, text = text, _HYPHEN_BREAK.sub(mend, text)
    return text


# Zipf frequency (log10 of uses per thousand million words). Halves such as "ciones" reach 2.7 in the list,
# so a kept hyphen also needs a joined form that is unknown.
_KNOWN_ZIPF = 0.5
_KNOWN_HALF_ZIPF = 2.3


@lru_cache(maxsize=20_000)
def _zipf(word: str) -> float:
    from wordfreq import zipf_frequency  # imported late: it unpacks a word list

    return float(zipf_frequency(word, "es"))


def spanish_word(word: str) -> float:
    """How common ``word`` is in Spanish, on the Zipf scale; 0.0 for an unknown one."""
    return _zipf(word.lower())


def clean_text(text: str) -> str:
    """Clean extracted text: words cut at a line's end, white space, lines of one paragraph joined.

    Paragraph breaks (blank lines), list items, table rows, headings and short lines keep their lines. No word, figure or sign
    is added or removed, but for hyphens at a line's end (see `join_hyphenated`).
    """
    text = _SOFT_HYPHEN_BREAK.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))
    text = join_hyphenated(normalize_characters(text))
    paragraphs = []
    for raw in re.split(r"\n[ \t]*\n", text):
        lines: list[str] = []
        for line in raw.split("\n"):
            line = re.sub(r"[ \t]+", " ", line).strip()
            if not line:
                continue
            joins = (
                lines
                and not _STARTS_ITEM.match(line)
                and not lines[-1].startswith(("#", "|"))
                and (line[0].islower() or (len(lines[-1]) >= _WRAPPED_LINE and not lines[-1].endswith((".", ":"))))
            )
            if joins:
                lines[-1] = f"{lines[-1]} {line}"
            else:
                lines.append(line)
        if lines:
            paragraphs.append("\n".join(lines))
    return "\n\n".join(paragraphs)


@dataclass(frozen=True, slots=True)
class EdgeLine:
    """A line as the repetition test sees it. ``y`` is its place on the page in points, or its index."""

    text: str
    y: float


def _key(line: EdgeLine, page: int, total: int) -> str:
    """The line with the page's own number masked where it is plainly a page number."""
    text = re.sub(r"\s+", " ", line.text).strip().casefold()
    numbers = {str(page), str(page - 1), str(page + 1), str(page - 2)}
    parts = re.split(r"(\d+)", text)
    letters = re.sub(r"[\W\d_]", "", text)
    for i in range(1, len(parts), 2):
        before, after = "".join(parts[:i]), "".join(parts[i + 1 :])
        alone = len(letters) <= 2 and parts[i] in numbers  # "41", "- 41 -", "41 / 87", "41 de 87"
        labelled = bool(_PAGE_WORDS.search(before))
        of_total = parts[i] == str(total) and bool(re.search(r"#\s*(?:/|de|of)\s*$", before))
        ends = after.strip() == "" and parts[i] in numbers and bool(re.search(r"[-–—|·]\s*$", before))
        if alone or labelled or of_total or ends:
            parts[i] = "#"
    return "".join(parts)


def find_repeated_lines(pages: Sequence[Sequence[EdgeLine]]) -> list[set[int]]:
    """Indices, per page, of header and footer lines. Lines are peeled from the page's edges inwards.

    A line is furniture when it stands outermost on at least three pages and a fifth of them (page numbers
    masked), or when that place, at one height, holds a running title: the same text on neighbouring pages.
    Nothing is removed behind a line that is not furniture, so text in the body is never touched.
    """
    total = len(pages)
    removed: list[set[int]] = [set() for _ in pages]
    if total < _MIN_PAGES:
        return removed
    for from_top in (True, False):
        for _ in range(_MAX_EDGE_LINES):
            outer: list[int | None] = []
            for lines, gone in zip(pages, removed, strict=True):
                order = range(len(lines)) if from_top else range(len(lines) - 1, -1, -1)
                outer.append(next((i for i in order if i not in gone and lines[i].text.strip()), None))
            found = _furniture(pages, outer, total)
            if not found:
                break
            for page_index in found:
                index = outer[page_index]
                if index is not None:
                    removed[page_index].add(index)
    return removed


def _furniture(pages: Sequence[Sequence[EdgeLine]], outer: Sequence[int | None], total: int) -> set[int]:
    """Pages (indices) whose outermost line is furniture."""
    keys = [None if i is None else _key(pages[p][i], p + 1, total) for p, i in enumerate(outer)]
    counts = Counter(key for key in keys if key)
    enough = max(_MIN_PAGES, _MIN_SHARE * total)
    found = {p for p, key in enumerate(keys) if key and counts[key] >= enough}
    heights = Counter(round(pages[p][i].y) for p, i in enumerate(outer) if i is not None and p not in found)
    for height, _count in heights.most_common(2):
        slot = [p for p, i in enumerate(outer) if i is not None and abs(pages[p][i].y - height) <= 2]
        # Left and right pages may carry different titles (chapter, section), hence two pages on either side.
        repeats = sum(
            1 for p in slot if any(0 <= q < total and keys[q] == keys[p] for q in (p - 2, p - 1, p + 1, p + 2))
        )
        if len(slot) >= _RUNNING_SHARE * total and repeats >= _RUNNING_REPEATS * len(slot):
            found.update(slot)
    return found


def remove_repeated_lines(pages: Sequence[str]) -> list[str]:
    """Pages of text without the headers, footers and page numbers that stand at their edges on page after page."""
    split = [page.split("\n") for page in pages]
    edges = []
    for lines in split:
        count = len(lines)
        # No geometry here: a line's place is its distance from the nearer edge.
        edges.append([EdgeLine(text=t, y=float(i if i < count / 2 else i - count)) for i, t in enumerate(lines)])
    gone = find_repeated_lines(edges)
    return ["\n".join(t for i, t in enumerate(lines) if i not in gone[p]) for p, lines in enumerate(split)]
