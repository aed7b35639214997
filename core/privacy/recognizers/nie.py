"""NIE of foreigners: X, Y or Z, seven figures and a check letter (X=0, Y=1, Z=2 before the number, modulo 23)."""

import re
from collections.abc import Iterator

from stdnum.es import nie

from core.privacy.kinds import CERTAIN, LIKELY, Kind, Match
from core.privacy.recognizers.context import GAP, LEFT, RIGHT, TAX_LABEL, before, easy, labelled_directly, solid

_NIE = re.compile(
    rf"{LEFT}(?:(?-i:ES)[ .\-]{{0,2}}|es-?)?(?P<p>[XYZ]){GAP}\d(?:{GAP}\d){{6}}[ .\-/]{{0,3}}(?P<c>[A-Z]){RIGHT}",
    re.IGNORECASE,
)


def find(text: str) -> Iterator[Match]:
    """NIEs in a plain text; with a wrong letter too (a likely typo)."""
    for match in _NIE.finditer(text):
        value = solid(match[0])
        value = value.removeprefix("ES") if len(value) > 9 else value
        chance = easy(match[0], match["p"])
        if nie.is_valid(value) or (not chance and labelled_directly(text, match.start())):
            yield Match(match.start(), match.end(), Kind.NIE, CERTAIN)
        elif TAX_LABEL.search(before(text, match.start())) or not chance:
            yield Match(match.start(), match.end(), Kind.NIE, LIKELY)
