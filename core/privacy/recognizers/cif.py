"""CIF of companies and other bodies: a letter, seven figures and a check figure or letter."""

import re
from collections.abc import Iterator

from stdnum.es import cif

from core.privacy.kinds import CERTAIN, LIKELY, Kind, Match
from core.privacy.recognizers.context import GAP, LEFT, NOT_MONEY, RIGHT, TAX_LABEL, before, easy, solid

_CIF = re.compile(
    rf"{LEFT}(?<![a-z]\.)(?:(?-i:ES)[ .\-]{{0,2}}|es-?)?(?P<p>[A-HJNP-SUVW])[ .\-/]{{0,3}}\d(?:{GAP}\d){{6}}{GAP}(?P<c>[0-9A-J]){RIGHT}{NOT_MONEY}",
    re.IGNORECASE,
)


def find(text: str) -> Iterator[Match]:
    """CIFs in a plain text; with a wrong check digit only after a label."""
    for match in _CIF.finditer(text):
        value = solid(match[0])
        value = value.removeprefix("ES") if len(value) > 9 else value
        labelled = bool(TAX_LABEL.search(before(text, match.start())))
        if cif.is_valid(value) and (labelled or not easy(match[0], match["p"])):
            yield Match(match.start(), match.end(), Kind.CIF, CERTAIN)
        elif labelled and not easy(match[0], match["p"]):
            yield Match(match.start(), match.end(), Kind.CIF, LIKELY)
