"""NIF of persons: DNI number and letter, and the K, L and M numbers. Check letter: number modulo 23."""

import re
from collections.abc import Iterator

from core.privacy.kinds import CERTAIN, LIKELY, Kind, Match
from core.privacy.recognizers.context import (
    GAP,
    LEFT,
    OTHER_NUMBER,
    RIGHT,
    TAX_LABEL,
    before,
    digits,
    easy,
    labelled_directly,
    solid,
)

_LETTERS = "TRWAGMYFPDXBNJZSQVHLCKE"
_PREFIX = r"(?:(?:(?-i:ES)[ .\-]{0,2}|es-?))?"
_DNI = re.compile(
    rf"{LEFT}{_PREFIX}(?P<n>\d(?:{GAP}\d){{4,7}})[ .\-/]{{0,3}}(?P<c>[A-Z]){RIGHT}(?!['’]\w)", re.IGNORECASE
)
_KLM = re.compile(rf"{LEFT}{_PREFIX}(?P<k>[KLM]){GAP}(?P<n>\d(?:{GAP}\d){{6}}){GAP}(?P<c>[A-Z]){RIGHT}", re.IGNORECASE)
_NO_LETTER = re.compile(
    r"(?<![^\W_])(?:d\.?n\.?i\.?|n\.?i\.?f\.?)(?:[ ]?n[ºo°.]{1,2})?[ ]?:?[ ]?(?P<v>\d{1,2}\.\d{3}\.\d{3}|\d{7,8})(?![\d.,\-]*[^\W_])",
    re.IGNORECASE,
)
_USUAL = re.compile(
    r"(?:ES[ .\-]{0,2})?(?:\d{8}|\d\d([.\- ])\d{3}\1\d{3})(?:(?:[ .\-/]| - )?[A-Z]|[.\-/]?[a-z]| - [a-z])"
)  # the ways to write it that leave no doubt, whatever the letter
_LONGEST = 8
_SHORTEST = 7  # with the leading zeros left out; shorter still only after a label


def find(text: str) -> Iterator[Match]:
    """NIFs of persons in a plain text. A wrong check letter (a typo) counts after a label or in a usual form."""
    for match in _DNI.finditer(text):
        number, letter = digits(match["n"]), match["c"]
        valid = _LETTERS[int(number) % 23] == letter.upper()
        labelled = bool(TAX_LABEL.search(before(text, match.start())))
        chance = easy(match[0], letter) and not (len(number) == _LONGEST and match[0].endswith(f"- {letter}"))
        whole = len(number) == _LONGEST and not chance
        if (valid and len(number) >= _SHORTEST and not chance) or (whole and labelled_directly(text, match.start())):
            yield Match(match.start(), match.end(), Kind.NIF, CERTAIN)
        elif whole and _USUAL.fullmatch(match[0]) and not OTHER_NUMBER.search(before(text, match.start())):
            yield Match(match.start(), match.end(), Kind.NIF, LIKELY)  # a likely typo
        elif labelled and (valid or (len(number) >= _SHORTEST and not chance) or _glued(match)):
            yield Match(match.start(), match.end(), Kind.NIF, LIKELY)
    for match in _NO_LETTER.finditer(text):
        yield Match(match.start("v"), match.end("v"), Kind.NIF, LIKELY)
    for match in _KLM.finditer(text):
        valid = _LETTERS[int(digits(match["n"])) % 23] == match["c"].upper()
        labelled = bool(TAX_LABEL.search(before(text, match.start())))
        if labelled or (valid and not easy(match[0], match["k"])):
            sure = valid or labelled_directly(text, match.start())
            yield Match(match.start(), match.end(), Kind.NIF, CERTAIN if sure else LIKELY)


def _glued(match: re.Match[str]) -> bool:
    return len(solid(match[0]).removeprefix("ES")) == 9 and match["n"].isdigit()
