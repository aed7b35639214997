"""A draft in Markdown as claims: sentences, items of lists and rows of tables, each with the ``[n]`` it cites."""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field

from core.ingestion.sentences import split_sentences

_MARK = re.compile(r"\[\s*\d{1,3}(?:\s*[,;]\s*\d{1,3})*\s*\]")
_MARKS = re.compile(rf"(?:\s*{_MARK.pattern})+")
_BOX = re.compile(r"\bcasillas?\s*$", re.IGNORECASE)
_LEADING_MARKS = re.compile(rf"^\s*(?:{_MARK.pattern}[\s.;,]*)+")
_BULLET = re.compile(r"^\s*(?:(?:[-*+•]|\d{1,2}[.)]|[a-zñ]\))\s+){1,2}")
_SEPARATOR = re.compile(r"^\s*\|?[\s:|-]*-{2,}[\s:|-]*$")


@dataclass(frozen=True, slots=True)
class Segment:
    """A stretch of a claim and the numbers that follow it; ``start`` is its offset in the claim's body."""

    start: int
    end: int
    numbers: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class DraftClaim:
    """One claim. ``body`` is its text without marks, emphasis and list mark; ``line``:``start``:``end`` its place."""

    text: str
    body: str
    segments: tuple[Segment, ...]
    numbers: tuple[int, ...]
    line: int
    start: int
    end: int
    row: bool = False
    lead: bool = False
    header: str = ""


@dataclass(slots=True)
class _Reader:
    own: frozenset[str]
    claims: list[DraftClaim] = field(default_factory=list)
    header: str = ""
    inherited: tuple[int, ...] = ()


def marks_in(text: str) -> tuple[int, ...]:
    """The numbers of the ``[n]`` marks of a text, in order, without repeats."""
    found = [int(n) for mark in _marks(text) for n in re.findall(r"\d+", mark.group())]
    return tuple(dict.fromkeys(found))


def renumbered(text: str, numbers: dict[int, int]) -> str:
    """``text`` with each mark's numbers replaced; a number without a new one is left out."""

    def swap(match: re.Match[str]) -> str:
        new = [numbers[int(n)] for n in re.findall(r"\d+", match.group()) if int(n) in numbers]
        return f"[{', '.join(map(str, dict.fromkeys(new)))}]" if new else ""

    for mark in reversed(_marks(text)):
        text = text[: mark.start()] + swap(mark) + text[mark.end() :]
    return text


def _marks(text: str, pattern: re.Pattern[str] = _MARK) -> list[re.Match[str]]:
    """The citation marks of a text: not what looks like one inside a quotation, nor a form's box («casilla [121]»)."""
    quoted = [(start + at, end + at) for at, line in _lines(text) for start, end in quotations(line)]
    return [
        mark
        for mark in pattern.finditer(text)
        if not any(a <= mark.start() < b for a, b in quoted) and not _BOX.search(text, 0, mark.start())
    ]


def _lines(text: str) -> Iterator[tuple[int, str]]:
    at = 0
    for line in text.split("\n"):
        yield at, line
        at += len(line) + 1


def quotations(text: str) -> list[tuple[int, int]]:
    """Spans of the outermost quotations «…» (others may stand inside), and of “…” with more than two words."""
    spans: list[tuple[int, int]] = []
    opened: list[int] = []
    for index, character in enumerate(text):
        if character == "«":
            opened.append(index)
        elif character == "»" and opened:
            start = opened.pop()
            if not opened:
                spans.append((start, index + 1))
    if opened and text.rfind("»") > opened[0]:  # the passage itself opens one that it does not close
        spans = [(a, b) for a, b in spans if b <= opened[0]] + [(opened[0], text.rfind("»") + 1)]
    for match in re.finditer(r"“[^“”]*”", text):
        if match.group().count(" ") > 1 and not any(a <= match.start() < b for a, b in spans):
            spans.append(match.span())
    return sorted(spans)


def is_bullet(line: str) -> bool:
    """Whether a line is an item of a list."""
    return bool(_BULLET.match(line))


def is_lead(line: str) -> bool:
    """Whether a line leads into a list: it ends in a colon, citations aside."""
    return _MARKS.sub("", line).rstrip(" *_").endswith(":")


def is_structure(line: str) -> bool:
    """Empty lines, headings, rules and the line under a table's header say nothing."""
    return not line.strip() or line.lstrip().startswith("#") or bool(_SEPARATOR.match(line))


def read_claims(draft: str, own: Collection[str] = ()) -> list[DraftClaim]:
    """The claims of a draft in order. Lines equal to one of ``own`` are the product's own words and claim nothing.

    An item without a mark takes those of the line that leads into its list; a line that only leads in takes those
    of its items.
    """
    lines = draft.split("\n")
    reader = _Reader(frozenset(text.strip() for block in own for text in block.split("\n")))
    for number, line in enumerate(lines):
        if line.strip() in reader.own or is_structure(line):
            if line.strip() and not _SEPARATOR.match(line):
                reader.inherited, reader.header = (), ""
            continue
        if line.lstrip().startswith("|"):
            _read_row(reader, lines, number)
        else:
            _read_text(reader, lines, number)
    return reader.claims


def _read_row(reader: _Reader, lines: list[str], number: int) -> None:
    line = lines[number]
    if number + 1 < len(lines) and _SEPARATOR.match(lines[number + 1]):
        reader.header = line
        reader.inherited = marks_in(line) or reader.inherited
        return
    reader.claims.append(_claim(line, number, 0, len(line), inherited=reader.inherited, header=reader.header))


def _read_text(reader: _Reader, lines: list[str], number: int) -> None:
    line = lines[number]
    bullet = _BULLET.match(line)
    if not bullet:
        reader.inherited, reader.header = (), ""
    offset = bullet.end() if bullet else 0
    spans = _sentences(line[offset:])
    for index, (start, end) in enumerate(spans):
        last = index == len(spans) - 1
        lead = last and is_lead(line)
        inherited = _below(lines, number) if lead else reader.inherited if bullet else ()
        claim = _claim(line, number, offset + start, offset + end, inherited=inherited, lead=lead)
        if any(ch.isalnum() for ch in claim.body):
            reader.claims.append(claim)
    if is_lead(line):
        reader.inherited = marks_in(line)


def _below(lines: list[str], number: int) -> tuple[int, ...]:
    """The citations of the list or table that follows a line."""
    found: list[int] = []
    for line in lines[number + 1 :]:
        if line.strip() and not is_bullet(line) and not line.lstrip().startswith("|"):
            break
        found += marks_in(line)
    return tuple(dict.fromkeys(found))


def _sentences(text: str) -> list[tuple[int, int]]:
    """Spans of sentences; a quotation is never split, and marks after a full stop belong to what they follow."""
    masked = text
    for start, end in (*quotations(text), *(m.span() for m in re.finditer(r"“[^“”]*”", text))):
        masked = masked[: start + 1] + re.sub(r"[.!?…:;\s«»]", "_", masked[start + 1 : end - 1]) + masked[end - 1 :]
    masked = re.sub(r"\[[^\]]*\](?:\s*\[[^\]]*\])*", lambda m: "_" * len(m.group()), masked)
    # "Texto. [1] Otro" and "Texto.[1] Otro": the marks move before the full stop for the splitting, lengths kept.
    masked = re.sub(r"([.!?])(\s*)(_{3,})(?=\s|$)", lambda m: "_" * (len(m.group()) - 1) + m.group(1), masked)
    return split_sentences(masked)


def _claim(
    line: str, number: int, start: int, end: int, *, inherited: tuple[int, ...], lead: bool = False, header: str = ""
) -> DraftClaim:
    text = line[start:end]
    segments: list[Segment] = []
    body = ""
    at = 0
    for match in _marks(text, _MARKS):
        piece = _plain(text[at : match.start()])
        numbers = marks_in(match.group())
        if any(ch.isalnum() for ch in piece) or not segments:
            segments.append(Segment(len(body), len(body) + len(piece), numbers))
        else:
            previous = segments[-1]
            segments[-1] = Segment(previous.start, len(body) + len(piece), (*previous.numbers, *numbers))
        body += f"{piece}¦"  # a sign that stands for the marks, so that what they part stays apart
        at = match.end()
    rest = _plain(text[at:])
    if rest:
        numbers = segments[-1].numbers if segments else inherited
        segments.append(Segment(len(body), len(body) + len(rest), numbers))
        body += rest
    numbers = tuple(dict.fromkeys(n for segment in segments for n in segment.numbers))
    row = line.lstrip().startswith("|")
    if row:  # a mark in one cell is that of the row
        segments = [Segment(0, len(body), numbers)]
    return DraftClaim(text, body, tuple(segments), numbers, number, start, end, row=row, lead=lead, header=header)


def _plain(text: str) -> str:
    """Emphasis and code marks taken out."""
    return re.sub(r"\*\*|__|`|(?<!\w)[*_](?=\w)|(?<=\w)[*_](?!\w)", "", text)
