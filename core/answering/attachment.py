"""What a value is attached to: the words around it, and how far they agree between a claim and a passage.

A value's profile weighs the words near it: by distance, less across clauses and little across sentences; in a table,
the row's label and the column's header. Two places agree as far as their profiles share words.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from core.answering.numerals import flat
from core.answering.values import Kind, Value, read_values
from core.retrieval.terms import stem, stems

_TOKEN = re.compile(r"[^\W_]+|\n|[|;:.!?()]|,")
_WINDOW = 28
_PREFIX = 6
_CLAUSE_WORDS = frozenset("mientras cuando si salvo excepto pero aunque y o e".split())
_UP = re.compile(
    r"(?:superior(?:es)?|mas|mayor(?:es)?|exced\w+|super\w+|rebas\w+|minim[oa]s?|menos\b(?=\s*$)|partir|desde|sobrepas\w+|despues)"
)
_DOWN = re.compile(
    r"(?:inferior(?:es)?|menor(?:es)?|hasta|maxim[oa]s?|tope|limite|antes|mas\s+tardar|como\s+mucho|dentro)"
)
# Words of which one excludes the others: a claim on the one is not supported by a passage on the other.
CONTRASTS: tuple[frozenset[str], ...] = tuple(
    frozenset(stem(word)[:_PREFIX] for word in group.split())
    for group in (
        "directa objetiva",
        "normal simplificada",
        "mensual trimestral anual",
        "entregas prestaciones adquisiciones",
        "agrícolas ganaderas forestales pesqueras",
        "profesionales empresariales",
        "devengado soportado",
        "alta baja",
        "ascendientes descendientes",
        "general reducido superreducido",
        "leve grave",
        "repercutido soportado",
        "mobiliario inmobiliario",
        "físicas jurídicas",
        "solteros casados",
        "individual conjunta",
        "total parcial",
        "primer segundo tercero cuarto",
    )
)
_CONTRAST = frozenset().union(*CONTRASTS)


@dataclass(frozen=True, slots=True)
class Place:
    """A value in its text, with its profile (feature to weight)."""

    value: Value
    profile: Mapping[str, float]
    line: int
    sentence: int


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


@lru_cache(maxsize=100_000)
def term_of(word: str) -> str:
    """The stem cut to its first letters, so that «deducible» and «deducción» are near; '' for function words."""
    found = stems(word)
    return found[0][:_PREFIX] if found else ""


def terms_of(text: str) -> frozenset[str]:
    """All terms of a text."""
    return frozenset(t for t in (term_of(w) for w in re.findall(r"[^\W_]+", text)) if t)


@lru_cache(maxsize=512)
def view(text: str, context: str = "") -> View:
    """Read a text; the words of ``context`` count for all of it, its values as places without neighbours."""
    whole = f"{context}\n{text}" if context else text
    values = read_values(whole)
    tokens = _tokens(whole)
    inside = sorted((v.start, v.end) for v in values)
    places = tuple(_place(value, tokens, inside) for value in values)
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
    sentence = clause = line = cell = 0
    for match in _TOKEN.finditer(lowered):
        word = match.group()
        if word == "\n":
            line, sentence, clause, cell = line + 1, sentence + 1, clause + 1, 0
        elif word == "|":
            cell, clause = cell + 1, clause + 1
        elif word in ".!?":
            after = text[match.end() : match.end() + 2]
            if after[:1].isspace() and not after[1:2].islower():
                sentence, clause = sentence + 1, clause + 1
        elif word in ";:(),":
            if not (word == "," and after_digit(lowered, match.start())):
                clause += 1
        else:
            if word in _CLAUSE_WORDS:
                clause += 1
            original = text[match.start() : match.end()]
            found.append(_Token(word, term_of(original), match.start(), sentence, clause, line, cell))
    return found


def after_digit(text: str, at: int) -> bool:
    """Whether the comma at ``at`` is a decimal one."""
    return at > 0 and text[at - 1].isdigit() and text[at + 1 : at + 2].isdigit()


def _place(value: Value, tokens: Sequence[_Token], inside: Sequence[tuple[int, int]]) -> Place:
    at = _index(tokens, value.start)
    if at is None:
        return Place(value, {}, 0, 0)
    here = tokens[at]
    spans = [(a, b) for a, b in inside]
    profile: dict[str, float] = {}
    last = at
    while last + 1 < len(tokens) and tokens[last + 1].start < value.end:
        last += 1
    for step, bound in ((-1, at), (1, last)):
        distance = 0
        index = bound + step
        while 0 <= index < len(tokens) and distance < _WINDOW:
            token = tokens[index]
            distance += 1
            index += step
            if abs(token.line - here.line) > 1 and not here.cell:
                break
            if not token.term or any(a <= token.start < b for a, b in spans):
                continue
            weight = _nearness(here, token, distance)
            if token.term in _CONTRAST:
                weight *= 2
            profile[token.term] = max(profile.get(token.term, 0.0), weight)
    if here.cell:
        _add_column(profile, here, tokens)
    _add_neighbours(profile, tokens, at, last)
    return Place(value, profile, here.line, here.sentence)


def _nearness(here: _Token, token: _Token, distance: int) -> float:
    if here.cell and token.line != here.line:
        return 0.02
    if here.cell:
        return 1.0 if token.cell in (1, here.cell) else 0.4
    weight = 1 / (1 + distance / 4)
    if token.sentence != here.sentence:
        return 0.15 * weight
    return weight if token.clause == here.clause else 0.6 * weight


def _add_column(profile: dict[str, float], here: _Token, tokens: Sequence[_Token]) -> None:
    """The words of the column's header: the first row of the block of rows that this one is in."""
    rows = sorted({t.line for t in tokens if t.cell and t.line <= here.line}, reverse=True)
    first = here.line
    for line in rows:
        if line < first - 2:
            break
        first = line
    for token in tokens:
        if token.line == first and token.cell == here.cell and token.term:
            profile[token.term] = max(profile.get(token.term, 0.0), 1.0)


def _add_neighbours(profile: dict[str, float], tokens: Sequence[_Token], at: int, last: int) -> None:
    """The words right before and after as they stand, and whether the value is a floor or a ceiling."""
    if at > 0 and tokens[at - 1].line == tokens[at].line:
        profile[f"<{tokens[at - 1].word}"] = 0.3
    if last + 1 < len(tokens) and tokens[last + 1].line == tokens[at].line:
        profile[f">{tokens[last + 1].word}"] = 0.3
    side = direction([t.word for t in tokens[max(0, at - 6) : at] if t.sentence == tokens[at].sentence])
    if side:
        profile[f"#{side}"] = 0.8


def direction(words: Sequence[str]) -> str:
    """«up» for a floor (more than, from), «down» for a ceiling (up to, less than), '' for neither; the last one counts."""
    found = ""
    for index, word in enumerate(words):
        up, down = bool(_UP.fullmatch(word)), bool(_DOWN.fullmatch(word))
        if word == "menos":
            up, down = (index > 0 and words[index - 1] == "al") or (index > 0 and words[index - 1] == "lo"), False
            down = not up
        if word == "mas" and index + 1 < len(words) and words[index + 1] == "tardar":
            found = "down"
            continue
        if not (up or down):
            continue
        side = "up" if up else "down"
        negated = "no" in words[max(0, index - 3) : index] or "sin" in words[max(0, index - 2) : index]
        found = {"up": "down", "down": "up"}[side] if negated and word not in ("hasta", "desde", "partir") else side
    return found


def _index(tokens: Sequence[_Token], start: int) -> int | None:
    low, high = 0, len(tokens)
    while low < high:
        middle = (low + high) // 2
        if tokens[middle].start < start:
            low = middle + 1
        else:
            high = middle
    return low if low < len(tokens) else None


def agreement(claim: Place, passage: Place) -> float:
    """How far two places agree: the sum over shared words of the product of their weights."""
    return sum(weight * passage.profile[term] for term, weight in claim.profile.items() if term in passage.profile)


def same(claim: Value, passage: Value, *, tabular: bool = False) -> bool:
    """Whether a passage's value is that of the claim, its type included."""
    if claim.kind is passage.kind:
        if claim.kind is Kind.ARTICLE:
            return passage.norm == claim.norm or passage.norm.startswith(f"{claim.norm}.")
        if claim.norm != passage.norm:
            return False
        if claim.kind in (Kind.PERIOD, Kind.MONEY):
            return not claim.detail or claim.detail == passage.detail
        return not (claim.detail and passage.detail) or claim.detail == passage.detail
    return _across(claim, passage, tabular=tabular)


def _across(claim: Value, passage: Value, *, tabular: bool) -> bool:
    kinds = (claim.kind, passage.kind)
    bare = {Kind.NUMBER}
    if passage.kind in bare and claim.kind in (Kind.PERCENT, Kind.MONEY):
        return tabular and claim.norm == passage.norm
    if passage.kind in bare and claim.kind in (Kind.MODEL, Kind.PART, Kind.ORDINAL, Kind.QUARTER, Kind.YEAR):
        return claim.norm == passage.norm
    if claim.kind in bare and passage.kind in (Kind.MODEL, Kind.YEAR, Kind.PART):
        return claim.norm == passage.norm
    if claim.kind in bare and passage.kind is Kind.PERIOD:
        return claim.norm == passage.norm.split()[0]
    if claim.kind in bare and passage.kind in (Kind.PERCENT, Kind.MONEY):
        return claim.norm == passage.norm and not claim.words
    if kinds == (Kind.MONTH, Kind.DATE):
        return claim.norm == passage.norm.partition("/")[2]
    if kinds == (Kind.PART, Kind.ARTICLE):
        return claim.norm in passage.norm.split(".")[1:]
    if kinds in ((Kind.PART, Kind.ORDINAL), (Kind.ORDINAL, Kind.PART), (Kind.QUARTER, Kind.ORDINAL)):
        return claim.norm == passage.norm
    if kinds == (Kind.FRACTION, Kind.PERCENT):
        return {"1/2": "50", "1/4": "25", "3/4": "75", "1/5": "20", "1/10": "10"}.get(claim.norm) == passage.norm
    if kinds == (Kind.PERCENT, Kind.FRACTION):
        return {"50": "1/2", "25": "1/4", "75": "3/4", "20": "1/5", "10": "1/10"}.get(claim.norm) == passage.norm
    return False
