"""CCC, the bank account number from before the IBAN: 4-4-2-10 figures with two check digits."""

import re
from collections.abc import Iterator

from stdnum.es import ccc

from core.privacy.kinds import CERTAIN, LIKELY, Kind, Match
from core.privacy.recognizers.context import before, digits

_CCC = re.compile(r"(?<!\d)(?<!\d[.,])\d(?:[ .\-/]{0,2}\d){19}(?![.,]?\d)")
_GROUPS = re.compile(r"\d{4}[ .\-/]{0,2}\d{4}[ .\-/]{0,2}\d{2}[ .\-/]{0,2}\d{10}")
_LABEL = re.compile(r"\b(?:c\.?c\.?c\.?|c/c|cuentas?|cta)\b", re.IGNORECASE)


def find(text: str) -> Iterator[Match]:
    """Account numbers in a plain text; with wrong check digits only in the usual groups or after a label."""
    for match in _CCC.finditer(text):
        if ccc.is_valid(digits(match[0])):
            yield Match(match.start(), match.end(), Kind.CCC, CERTAIN)
        elif _LABEL.search(before(text, match.start())) or (_GROUPS.fullmatch(match[0]) and not match[0].isdigit()):
            yield Match(match.start(), match.end(), Kind.CCC, LIKELY)
