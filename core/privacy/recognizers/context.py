"""What the recognisers share: the words around a number, and the pieces of their patterns."""

import re

# Glued to its label or standing free: "NIF12345678Z", "(12345678Z)"; never inside a longer word or number.
LEFT = r"(?:(?<![^\W_])|(?<=nif)|(?<=dni)|(?<=nie)|(?<=cif)|(?<=iva)|(?<=iban)|(?<=naf))(?<!\d[.,/])"
RIGHT = r"(?![^\W_])"
GAP = r"[ .\-]{0,2}"
TAX_LABEL = re.compile(
    r"\b(?:[nd]\.?\s?[ifn]\.?\s?[fi]\.?|n\.?i\.?e\.?|c\.?i\.?f\.?|v\.?a\.?t\.?|identificaci[oó]n|identidad|documento|"
    r"contribuyente|obligado)\b",
    re.IGNORECASE,
)
NOT_MONEY = r"(?![.,]?\d)(?!\s?(?:€|euros?\b|eur\b|%))"


def before(text: str, start: int, reach: int = 40) -> str:
    """The ``reach`` characters before ``start``, on its line and the one above."""
    return text[max(0, start - reach) : start]


def digits(text: str) -> str:
    """Only its figures."""
    return "".join(c for c in text if c.isdigit())


def solid(text: str) -> str:
    """Letters and figures only, upper case."""
    return "".join(c for c in text if c.isalnum()).upper()


DIRECT = re.compile(
    r"(?:n\.?\s?i\.?\s?[fe]|d\.?\s?n\.?\s?i|c\.?\s?i\.?\s?f|vat|iva)\.?(?:\s(?:es|n[uú]m(?:ero|\.)?)|\s?n[ºo°.]{1,2})?(?:\s?[:\-]|\ses)?\s{0,2}$",
    re.IGNORECASE,
)
OTHER_NUMBER = re.compile(
    r"\b(?:pedido|factura|fra|ref(?:erencia)?|expediente|expte|justificante|albar[aá]n|c[oó]digo|contrato|p[oó]liza|registro|"
    r"casilla|isbn|issn|ep[ií]grafe|cnae|orden|serie|lote|csv|nrc|matr[ií]cula|localizador|bastidor|modelo|boe)\b[^\w\n]{0,4}(?:n\.?[ºo°]|n[uú]m(?:ero|\.)?)?[^\w\n]{0,3}$",
    re.IGNORECASE,
)
_WORDS, _UNITS = "aeouy", "mghlst"


def labelled_directly(text: str, start: int) -> bool:
    """Whether the label of a tax number stands right before ``start``."""
    return bool(DIRECT.search(before(text, start, 24)))


def easy(found: str, letter: str) -> bool:
    """Whether a form may be chance: its letter is lower case, stands alone after a blank and is a word of its own
    ("1.250.000 a"), or a unit behind grouped figures ("1.250.000 m").
    """
    at = found.rfind(letter)
    near = found[max(0, at - 1) : at] if at else found[1:2]
    return letter.islower() and near == " " and (letter in _WORDS or ("." in found and letter in _UNITS))
