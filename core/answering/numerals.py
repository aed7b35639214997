"""Numerals of Spanish text, in figures and in words, as exact decimals."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

_ACCENTS = str.maketrans("áàéèíìóòúùüñ", "aaeeiioouuun")
_UNITS = {
    word: value
    for value, words in enumerate(
        "cero|un uno una|dos|tres|cuatro|cinco|seis|siete|ocho|nueve|diez|once|doce|trece|catorce|quince|dieciseis|"
        "diecisiete|dieciocho|diecinueve|veinte|veintiun veintiuno veintiuna|veintidos|veintitres|veinticuatro|"
        "veinticinco|veintiseis|veintisiete|veintiocho|veintinueve".split("|")
    )
    for word in words.split()
}
_TENS = dict(zip("treinta cuarenta cincuenta sesenta setenta ochenta noventa".split(), range(30, 100, 10), strict=True))
_HUNDREDS = {"cien": 100, "ciento": 100} | {
    f"{stem}{gender}": 100 * n
    for n, stem in enumerate(
        "doscient trescient cuatrocient quinient seiscient setecient ochocient novecient".split(), start=2
    )
    for gender in ("os", "as")
}
_SCALES = {"mil": 1000, "millon": 1_000_000, "millones": 1_000_000}
_WORDS = _UNITS | _TENS | _HUNDREDS | _SCALES
_WORD = "|".join(sorted(_WORDS, key=len, reverse=True))
# 3.005,06 · 3005.06 · 0,5 · 12 450; a superscript note mark is no decimal digit, so it is never part of a figure.
_FIGURE = (
    r"(?:\d{1,3}(?:\.\d{3})+(?!\d)(?:,\d+)?|\d{1,3}(?:[\u00a0\u202f ]\d{3})+(?!\d)(?:,\d+)?|\d+[.,]\d+(?![\d.]*\d)|\d+)"
)
_NUMERAL = re.compile(
    rf"(?<![\w.,])(?P<sign>[-−–](?=\d))?(?P<figure>{_FIGURE})(?![a-z])(?:\s+(?P<scale>mil(?:lon(?:es)?)?)\b)?"
    rf"|\b(?P<words>(?:{_WORD})(?:\s+(?:y\s+)?(?:{_WORD}))*)\b"
)


@dataclass(frozen=True, slots=True)
class Numeral:
    """A number at ``start``:``end`` of a text. ``article`` says it is «un», «una» or «uno», which may count nothing."""

    value: Decimal
    start: int
    end: int
    article: bool = False
    words: bool = False


def flat(text: str) -> str:
    """Lower case without accents, each character in its place (offsets stay those of ``text``)."""
    lower = text.lower()
    if len(lower) != len(text):
        lower = "".join(ch.lower() if len(ch.lower()) == 1 else ch for ch in text)
    return lower.translate(_ACCENTS)


def figure(text: str) -> Decimal:
    """The value of a figure as printed: point or space for thousands and comma for decimals, or a decimal point."""
    text = re.sub(r"[\u00a0\u202f ]", "", text)
    if "," in text:
        return Decimal(text.replace(".", "").replace(",", "."))
    if re.fullmatch(r"\d{1,3}(?:\.\d{3})+", text):
        return Decimal(text.replace(".", ""))
    return Decimal(text)


def numerals(flattened: str) -> Iterator[Numeral]:
    """The numerals of a text that `flat` made, in order."""
    for match in _NUMERAL.finditer(flattened):
        if match["figure"]:
            value = figure(match["figure"])
            if match["scale"]:
                value *= _SCALES[match["scale"]]
            yield Numeral(value, match.start("figure"), match.end())
        else:
            yield from _in_words(match["words"], match.start())


def _in_words(text: str, offset: int) -> Iterator[Numeral]:
    """Split a run of number words into numbers: «cuatro mil doscientos», but «dos» and «tres» in «dos y tres»."""
    total = current = 0
    last = ""
    start: int | None = None
    end = 0
    joined = False
    for word in re.finditer(r"\w+", text):
        token = word.group()
        if token == "y":
            joined = True
            continue
        if start is not None and not _continues(token, last, current, total, joined=joined):
            yield _number(text, start, end, total + current, offset)
            total = current = 0
            start = None
        if start is None:
            start = word.start()
        if token in _SCALES:
            scaled = (current or 1) * _SCALES[token]
            total, current = total + scaled, 0
        else:
            current += _WORDS[token]
        last, end, joined = token, word.end(), False
    if start is not None:
        yield _number(text, start, end, total + current, offset)


def _number(text: str, start: int, end: int, value: int, offset: int) -> Numeral:
    alone = text[start:end] in ("un", "una", "uno")
    return Numeral(Decimal(value), offset + start, offset + end, article=alone, words=True)


def _continues(token: str, last: str, current: int, total: int, *, joined: bool) -> bool:
    if joined:
        return last in _TENS and token in _UNITS and 0 < _UNITS[token] < 10
    if token in _SCALES:
        return last != "mil" or token != "mil"
    if last in _SCALES:
        return True
    if token in _HUNDREDS or not current:
        return False
    return last in _HUNDREDS
