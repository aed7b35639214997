"""What a value is attached to: the words around it, and how far they agree between a claim and a passage.

A value's profile weighs the words near it: by distance, less across clauses and little across sentences; in a table,
the row's label and the column's header. Two places agree as far as their profiles share words.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from core.answering.numerals import flat
from core.answering.values import Kind, Value, read_values
from core.answering.wording import term_of

_TOKEN = re.compile(r"[^\W_]+|\n|[|;:.!?()¦]|,")
_WINDOW = 36
_LINES_BEFORE = 2
_RANGE = 4
# How far apart a sign puts the words around it, in words.
_STEPS = {",": 3, ";": 8, ":": 2, "(": 2, ")": 2, "\n": 4, "¦": 12, ".": 0, "!": 0, "?": 0}
_CLAUSE_WORDS = frozenset("mientras cuando si salvo excepto pero aunque y o e".split())
_UP = re.compile(
    r"(?:superior(?:es)?|mas|mayor(?:es)?|exced\w+|super\w+|rebas\w+|minim[oa]s?|menos\b(?=\s*$)|partir|desde|empiez\w+|empez\w+|comienz\w+|comenz\w+|inici\w+|sobrepas\w+|despues)"
)
_DOWN = re.compile(
    r"(?:inferior(?:es)?|menor(?:es)?|hasta|maxim[oa]s?|tope|limite|antes|termin\w+|acab\w+|finaliz\w+|venc\w+|mas\s+tardar|como\s+mucho|dentro)"
)
_ITEM = re.compile(r"\s*(?:[•◦○▪■·–—*-]|\d{1,3}\.?[ºª)]|\d{1,3}\.|[a-zñ][.)])\s")
# Kinds that name the same when they stand beside another value: «2.º» in a row is the second quarter.
_CLASS = dict.fromkeys((Kind.QUARTER, Kind.ORDINAL, Kind.PART), "order") | dict.fromkeys(
    (Kind.MONEY, Kind.NUMBER, Kind.PERCENT), "amount"
)
# How near a word is to a value: in its row's label or column's header, its clause, its sentence, its line, the lines before.
LABEL, CLAUSE, SENTENCE, LINE, BEFORE, NEIGHBOUR = range(6)
# Fitted by logistic regression on the differences between the true place of a value and its best rival, over true
# answers (tests/data/true_answers.json and sentences of the product's own answers); see `features` for the order.
WEIGHTS = (0.33, 0.94, 1.02, 0.31, 0.34, 1.28, 0.33, 2.62)
# The same for two values that stand in the passage in the claim's order (or, negative, in the other).
ORDER_WEIGHT = 0.14


class Link(NamedTuple):
    """A word beside a value: how near (level, tokens between) and on which side (-1 before, 1 after)."""

    level: int
    distance: int
    side: int


@dataclass(frozen=True, slots=True)
class Place:
    """A value in its text, with what stands around it."""

    value: Value
    profile: Mapping[str, Link]


@dataclass(frozen=True, slots=True)
class View:
    """A text read for comparison: stems by sentence, values with their profiles. ``tabular`` if it has table rows."""

    text: str
    stems: frozenset[str]
    sentences: tuple[tuple[str, frozenset[str]], ...]
    places: tuple[Place, ...]
    tabular: bool


@dataclass(frozen=True, slots=True)
class _Token:
    word: str
    term: str
    start: int
    sentence: int
    clause: int
    line: int
    cell: int
    position: int


@lru_cache(maxsize=512)
def view(text: str, context: str = "") -> View:
    """Read a text; the words of ``context`` count for all of it, its values as places without neighbours."""
    whole = f"{context}\n{text}" if context else text
    values = read_values(whole)
    tokens = _tokens(whole)
    inside = {token.start: v for v in values for token in tokens if v.start <= token.start < v.end}
    items = {number for number, line in enumerate(whole.split("\n")) if _ITEM.match(line)}
    places = tuple(_place(value, tokens, inside, items) for value in values)
    lines: dict[int, list[_Token]] = {}
    for token in tokens:
        lines.setdefault(token.sentence, []).append(token)
    sentences = tuple(
        (whole[group[0].start : group[-1].start + len(group[-1].word)], frozenset(t.term for t in group if t.term))
        for group in lines.values()
    )
    everything = frozenset(t.term for t in tokens if t.term)
    return View(whole, everything, sentences, places, "\n|" in f"\n{text}")


def _tokens(text: str) -> list[_Token]:
    lowered = flat(text)
    found: list[_Token] = []
    sentence = clause = line = cell = position = 0
    for match in _TOKEN.finditer(lowered):
        word = match.group()
        position += _STEPS.get(word, 1)
        if word == "\n":
            line, sentence, clause, cell = line + 1, sentence + 1, clause + 1, 0
        elif word == "|":
            cell, clause = cell + 1, clause + 1
        elif word in ".!?":
            after = text[match.end() : match.end() + 2]
            if after[:1].isspace() and not after[1:2].islower():
                sentence, clause = sentence + 1, clause + 1
        elif word in ";:(),¦":
            if not (word == "," and after_digit(lowered, match.start())):
                clause += 1
            else:
                position -= _STEPS[","] - 1
        else:
            if word in _CLAUSE_WORDS:
                clause += 1
            original = text[match.start() : match.end()]
            found.append(_Token(word, term_of(original), match.start(), sentence, clause, line, cell, position))
    return found


def after_digit(text: str, at: int) -> bool:
    """Whether the comma at ``at`` is a decimal one."""
    return at > 0 and text[at - 1].isdigit() and text[at + 1 : at + 2].isdigit()


def _place(value: Value, tokens: Sequence[_Token], beside: Mapping[int, Value], items: Collection[int]) -> Place:
    at = _index(tokens, value.start)
    if at is None:
        return Place(value, {})
    here = tokens[at]
    last = at
    while last + 1 < len(tokens) and tokens[last + 1].start < value.end:
        last += 1
    profile: dict[str, Link] = {}
    for step, index in ((-1, at - 1), (1, last + 1)):
        while 0 <= index < len(tokens):
            token = tokens[index]
            index += step
            distance = abs(token.position - tokens[at if step < 0 else last].position)
            if distance > _WINDOW or (
                token.line > here.line
                or token.line < here.line - _LINES_BEFORE
                or (here.cell and token.line != here.line)
            ):
                break
            if token.line < here.line and token.line in items and here.line in items:
                continue  # another item of the same list
            feature = token.term
            if token.start in beside:
                other = beside[token.start]
                partner = value.kind is Kind.DATE and distance <= _RANGE  # the other end of «del 1 al 20 de abril»
                feature = f"={_CLASS.get(other.kind, other.kind)}{other.norm}" if other.kind is not value.kind else ""
                if partner and other.kind is value.kind:
                    feature = f"={step}{other.norm}"
            if feature:
                _keep(profile, feature, Link(_level(here, token), distance, step))
    if here.cell:
        _add_column(profile, here, tokens)
    _add_neighbours(profile, value, tokens, at, last)
    return Place(value, profile)


def _keep(profile: dict[str, "Link"], feature: str, link: "Link") -> None:
    known = profile.get(feature)
    if known is None or 4 * link.level + link.distance < 4 * known.level + known.distance:
        profile[feature] = link


def _level(here: _Token, token: _Token) -> int:
    if here.cell:
        return LABEL if token.cell in (1, here.cell) else SENTENCE
    if token.line != here.line:
        return BEFORE
    if token.sentence != here.sentence:
        return LINE
    return CLAUSE if token.clause == here.clause else SENTENCE


def _add_column(profile: dict[str, "Link"], here: _Token, tokens: Sequence[_Token]) -> None:
    """The words of the column's header: the first row of the block of rows that this one is in."""
    rows = sorted({t.line for t in tokens if t.cell and t.line <= here.line}, reverse=True)
    first = here.line
    for line in rows:
        if line < first - 2:
            break
        first = line
    for token in tokens:
        if token.line == first and token.cell == here.cell and token.term:
            _keep(profile, token.term, Link(LABEL, 1, -1))


def _add_neighbours(profile: dict[str, "Link"], value: Value, tokens: Sequence[_Token], at: int, last: int) -> None:
    """The words right before and after as they stand, and whether the value is a floor or a ceiling."""
    if at > 0 and tokens[at - 1].line == tokens[at].line:
        profile[f"<{tokens[at - 1].word}"] = Link(NEIGHBOUR, 1, -1)
    if last + 1 < len(tokens) and tokens[last + 1].line == tokens[at].line:
        profile[f">{tokens[last + 1].word}"] = Link(NEIGHBOUR, 1, 1)
    side = direction([t.word for t in tokens[max(0, at - 12) : at] if t.sentence == tokens[at].sentence])
    if value.kind is Kind.DATE:
        after = [t.word for t in tokens[last + 1 : last + 3] if t.sentence == tokens[at].sentence]
        before = [t.word for t in tokens[max(0, at - 2) : at] if t.sentence == tokens[at].sentence]
        if {"a", "al", "hasta"} & set(after[:1]) and tokens[last + len(after)].word != "partir":
            side = "up"
        elif {"a", "al"} & set(before[-1:]):
            side = "down"
    if side:
        profile[f"#{side}"] = Link(NEIGHBOUR, 1, -1)


def direction(words: Sequence[str]) -> str:
    """«up» for a floor (more than, from), «down» for a ceiling (up to, less than), '' for neither; the last one counts."""
    found = ""
    near = len(words) - 6
    for index, word in enumerate(words):
        up, down = bool(_UP.fullmatch(word)), bool(_DOWN.fullmatch(word))
        if word == "menos":
            up, down = (index > 0 and words[index - 1] == "al") or (index > 0 and words[index - 1] == "lo"), False
            down = not up
        if word == "mas" and index + 1 < len(words) and words[index + 1] == "tardar":
            found = "down"
            continue
        if not (up or down) or index < near:
            continue
        side = "up" if up else "down"
        negated = _negates(words[max(0, index - 8) : index + 1]) or "sin" in words[max(0, index - 2) : index]
        found = {"up": "down", "down": "up"}[side] if negated and word not in ("hasta", "desde", "partir") else side
    return found


_VERB = re.compile(
    r"se|pued\w+|pod\w+|exced\w+|super\w*|rebas\w+|sea\w*|ser\w*|teng\w+|ten\w+|tien\w+|obt\w+|hay\w*|hub\w+|pas\w+|"
    r"alcan\w+|result\w+|perci\w+|han|ha|es|son|deb\w+"
)


def _negates(words: Sequence[str]) -> bool:
    """Whether «no» stands before a verb, and so turns a floor into a ceiling («no tenga rentas superiores a»)."""
    return any(a == "no" and bool(_VERB.fullmatch(b)) for a, b in pairwise(words))


def _index(tokens: Sequence[_Token], start: int) -> int | None:
    low, high = 0, len(tokens)
    while low < high:
        middle = (low + high) // 2
        if tokens[middle].start < start:
            low = middle + 1
        else:
            high = middle
    return low if low < len(tokens) else None


def features(claim: Place, passage: Place, rarity: Mapping[str, float]) -> tuple[float, ...]:
    """How two places agree, by kind of agreement; ``rarity`` weighs what few of the passages' values have near."""
    near = clause = sentence = line = around = sided = neighbour = beside = 0.0
    for term, link in claim.profile.items():
        there = passage.profile.get(term)
        if there is None or term[0] == "#":
            continue
        weight = rarity.get(term, 1.0)
        if link.level == NEIGHBOUR:
            neighbour += weight
            continue
        here = weight / (1 + link.distance / 4)
        if term[0] == "=":
            beside += (1.0 if there.level <= SENTENCE else 0.5) * here / (1 + there.distance / 8)
            continue
        both = here / (1 + there.distance / 4)
        near += both
        if there.level > SENTENCE:
            line += both
            around += here
            continue
        sentence += here
        if there.level <= CLAUSE and link.level <= CLAUSE:
            clause += both
        if there.side == link.side and link.level <= SENTENCE:
            sided += both
    return near, clause, sentence, line, around, sided, neighbour, beside


def rarity_of(places: Sequence[Place], kinds: Collection[Kind]) -> dict[str, float]:
    """For each feature the share, by kind, of the passages' distinct values that do not have it near (at least a little)."""
    holders: dict[str, set[str]] = {}
    values = {p.value.norm for p in places if p.value.kind in kinds}
    for place in places:
        if place.value.kind in kinds:
            for feature in place.profile:
                holders.setdefault(feature, set()).add(place.value.norm)
    total = max(1, len(values))
    return {feature: (1 + total - len(held)) / total for feature, held in holders.items()}


def agreement(claim: Place, passage: Place, rarity: Mapping[str, float]) -> float:
    """How far two places agree: the features weighed."""
    return sum(w * f for w, f in zip(WEIGHTS, features(claim, passage, rarity), strict=True))
