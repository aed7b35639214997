"""Telephones: Spanish ones in any grouping, foreign ones with their prefix (phonenumbers says which can exist).

Nine bare figures may be an order number: they count by their context. The numbers that the Tax Agency publishes for
its own services are nobody's personal data (``data/privacy/telefonos_publicos.txt``).
"""

import re
from collections.abc import Iterator
from functools import lru_cache

from core.privacy.gazetteer import FOLDER
from core.privacy.kinds import CERTAIN, LIKELY, Kind, Match
from core.privacy.recognizers.context import before, digits

_FOREIGN = re.compile(r"(?<![\w+])\(?(?:\+|00)[ ]?[1-9](?:[ .\-/()]{0,3}\d){7,14}(?!\d)")
_SPANISH = re.compile(
    r"(?<![\w€])(?<!\d[.,/-])(?<![-+]\d)(?:\(?34\)?[ .\-]{1,2})?(?P<n>\(?[6-9](?:[ .\-/()]{0,2}\d){8})(?![\w])(?![.,]\d)"
)
_PREFIXED = re.compile(r"(?<![\w+])\(?(?:\+|00)[ ]?34\)?(?:[ .\-/()]{0,3}\d){9}(?!\d)")
_SHAPES = {
    (3, 3, 3),
    (3, 2, 2, 2),
    (2, 3, 2, 2),
    (2, 3, 4),
    (3, 6),
    (2, 7),
    (3, 4, 2),
    (3, 2, 4),
    (1, 2, 2, 2, 2),
    (2, 2, 2, 3),
}
_SHAPES |= {(3, 3, 1, 2), (1, 4, 4), (5, 4), (5, 2, 2), (6, 3), (4, 5), (3, 1, 3, 2), (2, 2, 3, 2), (1, 8)}
# Ways to say a number that no other figure has: they count even where no such number was given out.
_SPOKEN = {(3, 3, 3), (3, 2, 2, 2), (2, 3, 2, 2)}
_LABEL = re.compile(
    r"\b(?:[tm](?=[.:] )|tel[eé]?f?o?n?o?s?|tfn?o?s?|tl?f[no]*s?|tlfs?|m[oó]vil(?:es)?|fax|fijo|whats?app|wsp|ll[aá]m\w*|contact\w*|n[uú]mero es)\b",
    re.IGNORECASE,
)
_OTHER = re.compile(
    r"\b(?:pedido|factura|fra|ref(?:erencia)?|expediente|justificante|albar[aá]n|c[oó]digo|contrato|p[oó]liza|registro|"
    r"casilla|isbn|issn|epígrafe|cnae|orden|n[uú]m(?:ero)?|n\.?[ºo°]|id|csv|nrc|lote|serie|cup[oó]n|boe|total|importe|base)\b[^\w\n]{0,4}$",
    re.IGNORECASE,
)
_MONEY = re.compile(r"\s?(?:€|euros?\b|eur\b|%|unidades|uds)", re.IGNORECASE)
_OFFICIAL = re.compile(
    r"\b(?:aeat|agencia tributaria|agencia estatal de administraci[oó]n tributaria)\b[^\n]{0,20}$", re.IGNORECASE
)


@lru_cache(maxsize=1)
def _public() -> frozenset[str]:
    lines = (FOLDER / "telefonos_publicos.txt").read_text("utf-8").splitlines()
    return frozenset(digits(line.partition("#")[0]) for line in lines) - {""}


def find(text: str) -> Iterator[Match]:
    """Telephones in a plain text."""
    for match in _PREFIXED.finditer(text):
        yield Match(match.start(), match.end(), Kind.PHONE, CERTAIN)
    for match in _FOREIGN.finditer(text):
        if end := _possible(match[0]):
            yield Match(match.start(), match.start() + end, Kind.PHONE, CERTAIN)
    for match in _SPANISH.finditer(text):
        number = digits(match["n"])
        if number in _public() or _OFFICIAL.search(before(text, match.start())) or _MONEY.match(text, match.end()):
            continue
        if _counts(text, match, number):
            start = match.start() - (
                1
                if match["n"].count(")") > match["n"].count("(") and text[match.start() - 1 : match.start()] == "("
                else 0
            )
            yield Match(max(start, 0), match.end(), Kind.PHONE, LIKELY)


def _counts(text: str, match: re.Match[str], number: str) -> bool:
    """Whether nine figures are a telephone: by the label before them, else by their grouping or first figure."""
    near = before(text, match.start())
    label = list(_LABEL.finditer(near))
    other = _OTHER.search(near)
    if label and not (other and other.start() > label[-1].end()):
        return True
    if other:
        return False
    groups = tuple(len(g) for g in re.findall(r"\d+", match["n"]))
    if groups == (9,):
        return number[0] in "67" or (number[0] in "89" and _exists(number))
    spoken = groups in _SPOKEN and (groups != (3, 3, 3) or "." not in match["n"])  # "912.345.678" may be an amount
    return groups in _SHAPES and (number[0] in "67" or spoken or _exists(number))


def _exists(number: str) -> bool:
    import phonenumbers

    return bool(phonenumbers.is_valid_number(phonenumbers.parse(number, "ES")))


def _possible(candidate: str) -> int:
    """Length of the longest start of the candidate that is a number with a country prefix; 0 for none."""
    import phonenumbers

    ends = [m.end() for m in re.finditer(r"\d+", candidate)]
    for end in reversed(ends):
        number = digits(candidate[:end])
        number = number.removeprefix("00") if not candidate.lstrip("(").startswith("+") else number
        try:
            parsed = phonenumbers.parse(f"+{number}", None)
        except phonenumbers.NumberParseException:
            continue
        valid = phonenumbers.is_valid_number(parsed)
        if valid or (
            phonenumbers.is_possible_number(parsed) and candidate.lstrip("(").startswith("+") and end == ends[-1]
        ):
            return end
    return 0
