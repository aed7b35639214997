"""IBAN of any country (ISO 13616, modulo 97). ES with 22 figures counts even with wrong check digits."""

import re
from collections.abc import Iterator

from stdnum import iban

from core.privacy.kinds import CERTAIN, Kind, Match
from core.privacy.recognizers.context import LEFT, RIGHT, solid

_SEP = r"[ .\-/]{0,2}"
_SPANISH = re.compile(rf"{LEFT}ES{_SEP}\d(?:{_SEP}\d){{21}}(?:{_SEP}\d){{0,2}}{RIGHT}", re.IGNORECASE)
_SHORT = re.compile(rf"(?<=iban)[ :.]{{1,3}}(?P<v>ES{_SEP}\d(?:{_SEP}\d){{17,20}}){RIGHT}", re.IGNORECASE)
_ANY = re.compile(rf"{LEFT}(?!ES)[A-Z]{{2}}{_SEP}\d{_SEP}\d(?:{_SEP}[0-9A-Z]){{11,30}}", re.IGNORECASE)
_SHORTEST, _LONGEST = 15, 34


def find(text: str) -> Iterator[Match]:
    """IBANs in a plain text. One with a figure too many or too few counts after the word IBAN."""
    for match in _SPANISH.finditer(text):
        yield Match(match.start(), match.end(), Kind.IBAN, CERTAIN)
    for match in _SHORT.finditer(text):
        yield Match(match.start("v"), match.end("v"), Kind.IBAN, CERTAIN)
    for match in _ANY.finditer(text):
        if sum(c.isdigit() for c in match[0]) < 8:
            continue
        end = _end(match[0])
        if end and not text[match.start() + end : match.start() + end + 1].isalnum():
            yield Match(match.start(), match.start() + end, Kind.IBAN, CERTAIN)


def _end(candidate: str) -> int:
    """Where the IBAN that the candidate begins with ends; 0 where it begins with none."""
    places = [index for index, char in enumerate(candidate) if char.isalnum()]
    whole = solid(candidate)
    for length in range(min(len(places), _LONGEST), _SHORTEST - 1, -1):
        if iban.is_valid(whole[:length], check_country=False):
            return places[length - 1] + 1
    return 0
