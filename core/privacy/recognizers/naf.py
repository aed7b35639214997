"""Number of affiliation to the Social Security (NAF, 12 figures) and of a contribution account (11 figures).

The last two figures are province and number modulo 97 (a number below 10,000,000 is written as seven figures).
"""

import re
from collections.abc import Iterator

from core.privacy.kinds import CERTAIN, LIKELY, Kind, Match
from core.privacy.recognizers.context import before, digits

_NAF = re.compile(r"(?<!\d)(?<!\d[.,/])\d{2}[ .\-/]{0,3}\d(?:[ .]?\d){5,7}[ .\-/]{0,3}\d{2}(?![.,/]?\d)")
_LABEL = re.compile(
    r"\b(?:naf|nuss|n\.?\s?s\.?\s?s\.?|s\.?s\.?|seg(?:uridad|\.)?\s?social|afiliaci[oó]n|cotizaci[oó]n|c\.?c\.?c\.?)(?![^\W_])",
    re.IGNORECASE,
)
_PROVINCES = {*range(1, 54), 66}


def find(text: str) -> Iterator[Match]:
    """Social Security numbers in a plain text; with wrong check digits only after a label."""
    for match in _NAF.finditer(text):
        value = digits(match[0])
        if len(value) not in (11, 12) or int(value[:2]) not in _PROVINCES:
            continue
        labelled = bool(_LABEL.search(before(text, match.start())))
        valid = is_valid(value)
        if valid and (len(value) == 12 or labelled):
            yield Match(match.start(), match.end(), Kind.NAF, CERTAIN)
        elif labelled:
            yield Match(match.start(), match.end(), Kind.NAF, LIKELY)


def is_valid(value: str) -> bool:
    """Whether the check digits of the 11 or 12 figures hold."""
    province, number = int(value[:2]), int(value[2:-2])
    whole = province * 10**7 + number if number < 10**7 else int(value[:-2])
    return whole % 97 == int(value[-2:])
