"""Cadastral references: 20 characters, urban or rural, the last two of them control letters."""

import re
from collections.abc import Iterator

from stdnum.es import referenciacatastral

from core.privacy.kinds import CERTAIN, LIKELY, Kind, Match
from core.privacy.recognizers.context import RIGHT, before, solid

_SEP = r"[ .\-]{0,2}"
_ANY = re.compile(rf"(?<![^\W_])\d(?:{_SEP}[0-9A-Z]){{17}}(?:{_SEP}[A-Z]){{2}}{RIGHT}", re.IGNORECASE)
_SHAPE = re.compile(r"\d{7}[A-Z]{2}\d{4}[A-Z]\d{4}[A-Z]{2}|\d{5}[A-Z]\d{12}[A-Z]{2}")
_PARCEL = re.compile(rf"(?<![^\W_])(?:\d{{7}}{_SEP}[A-Z]{{2}}\d{{4}}[A-Z]|\d{{5}}[A-Z]\d{{8}}){RIGHT}", re.IGNORECASE)
_FIGURES = 9  # every reference has more
_LABEL = re.compile(r"catastr|\bref\b|\brc\b|parcela|finca", re.IGNORECASE)


def find(text: str) -> Iterator[Match]:
    """Cadastral references in a plain text; with wrong control letters by their shape; 14 figures after a label."""
    for match in _ANY.finditer(text):
        value = solid(match[0])
        if sum(c.isdigit() for c in value) < _FIGURES:
            continue
        if referenciacatastral.is_valid(value):
            yield Match(match.start(), match.end(), Kind.CADASTRAL, CERTAIN)
        elif _SHAPE.fullmatch(value):
            yield Match(match.start(), match.end(), Kind.CADASTRAL, LIKELY)
    for match in _PARCEL.finditer(text):
        if _LABEL.search(before(text, match.start())):
            yield Match(match.start(), match.end(), Kind.CADASTRAL, LIKELY)
