"""Payment cards: 13 to 19 figures, first 2 to 6, Luhn check digit."""

import re
from collections.abc import Iterator

from stdnum import luhn

from core.privacy.kinds import CERTAIN, LIKELY, Kind, Match
from core.privacy.recognizers.context import before, digits

_CARD = re.compile(r"(?<!\d)(?<!\d[.,])(?<![A-Z]\d)[2-6]\d{3}(?:[ .\-]{0,2}\d){9,15}(?![.,]?\d)")
_GROUPS = re.compile(r"\d{4}([ .\-]{1,2})\d{4}\1\d{4}\1\d{4}|\d{4}([ .\-]{1,2})\d{6}\2\d{5}|\d{15,16}")
_LABEL = re.compile(r"\b(?:tarjetas?|visa|master\s?card|amex|american express|maestro|card)\b", re.IGNORECASE)


def find(text: str) -> Iterator[Match]:
    """Card numbers in a plain text: valid and in the usual groups, or after a word for a card."""
    for match in _CARD.finditer(text):
        valid = luhn.is_valid(digits(match[0]))
        labelled = bool(_LABEL.search(before(text, match.start())))
        usual = bool(_GROUPS.fullmatch(match[0]))
        if valid and (usual or labelled):
            yield Match(match.start(), match.end(), Kind.CARD, CERTAIN)
        elif labelled and (usual or len(digits(match[0])) in (15, 16)):
            yield Match(match.start(), match.end(), Kind.CARD, LIKELY)
