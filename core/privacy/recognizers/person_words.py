"""What a word of a text can be in a person's name."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from core.privacy.gazetteer import Gazetteer, fold

# A word with its inner hyphens and apostrophes; an abbreviated first name or initial keeps its dot.
_WORD = re.compile(r"[^\W\d_]+(?:['’·-][^\W\d_]+)*")
_SHORT_FIRST = {"fco", "fca", "ant", "jse", "jme", "gpe", "dgo", "rfa", "alf"}
PARTICLES = frozenset("de del la las los el y i e da do dos das di van von der ben bin al san santa d'".split())
NEVER = frozenset(
    "nif nie cif dni iban ccc naf nuss tel tfno tlf tfn telf fax movil email mail correo iva irpf irnr igic aeat boe bic swift sl slu sa "
    "slp slne cb sc scp coop sociedad limitada anonima fecha total base euros eur factura fra nº num numero calle avda avenida plaza paseo "
    "cp codigo postal don dona sr sra srta dr dra enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre "
    "lunes martes miercoles jueves viernes sabado domingo ley real decreto orden articulo modelo anexo capitulo titulo seccion madrid "
    "barcelona espana españa estado agencia tributaria hacienda seguridad social registro tribunal supremo constitucional ministerio "
    "banco caja ayuntamiento comunidad universidad hospital colegio instituto fundacion asociacion grupo hermanos hnos hijos viuda "
    "cliente titular nombre apellidos documento direccion domicilio importe concepto cuenta tarjeta ref referencia expediente asunto "
    "atentamente saludos gracias firmado firma hola estimado estimada buenos buenas dias tardes notario abogado abogada col dana roj sts".split()
)
COMPANY = re.compile(
    r"[ ]*,?[ ]*(?:s\.?\s?l\.?(?:\s?[up]\.?|\s?n\.?\s?e\.?)?|s\.?\s?a\.?(?:\s?u\.?)?|s\.?\s?c\.?(?:\s?p\.?)?|c\.?\s?b\.?|s\.?\s?coop\.?|sociedad limitada|"
    r"sociedad an[oó]nima|gmbh|ltd|inc|e\.?s\.?p\.?j\.?)(?![^\W_])",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Token:
    """A word and its place. ``first`` and ``last``: what it may be; ``strong``: it is nothing else.

    ``unknown``: a capitalised word of no list; ``ordinary``: a capitalised word of the language.
    """

    start: int
    end: int
    text: str
    first: bool = False
    last: bool = False
    strong: bool = False
    particle: bool = False
    unknown: bool = False
    capital: bool = False
    initial: bool = False
    ordinary: bool = False

    @property
    def name(self) -> bool:
        """Whether it is a known name of either kind."""
        return self.first or self.last


def tokens(text: str, names: Gazetteer) -> Iterator[Token]:
    """The words of a line of plain text, with what each can be."""
    end = 0
    for match in _WORD.finditer(text):
        if match.start() >= end:
            token = _token(text, match, names)
            end = token.end
            yield token


def _token(text: str, match: re.Match[str], names: Gazetteer) -> Token:
    start, end, word = match.start(), match.end(), match[0]
    capital = word[0].isupper()
    dotted = text[end : end + 1] == "."
    folded = fold(word)
    if folded == "m" and text[end : end + 2] == ".ª":
        return Token(start, end + 2, word + ".ª", first=True, strong=True, capital=True)
    if (folded in _SHORT_FIRST or folded == "mª") and (dotted or "ª" in word):
        return Token(start, end + dotted, word, first=True, strong=folded in ("fco", "fca", "mª"), capital=capital)
    if len(word) == 1 and capital and dotted and (word != "D" or _initial_d(text, start)):
        return Token(start, end + 1, word, initial=True, capital=True)
    if folded in PARTICLES:
        return Token(start, end, word, particle=True, capital=capital)
    if folded in NEVER and not (capital and names.known(folded)):
        return Token(start, end, word, capital=capital)
    parts = [fold(p) for p in re.split("['’·-]", word)] if not names.known(folded) else [folded]
    first = (
        any(p in names.first or p in names.loose_first for p in parts)
        if len(parts) == 1
        else all(p in names.first for p in parts)
    )
    last = any(p in names.last or p in names.loose_last for p in parts)
    strong = any(p in names.first or p in names.last for p in parts)
    ordinary = unknown = False
    if not first and not last and capital and len(word) > 2:
        ordinary = any(names.ordinary(p) for p in re.split("['’·-]", word) if p)
        unknown = not ordinary
    return Token(
        start, end, word, first=first, last=last, strong=strong, unknown=unknown, capital=capital, ordinary=ordinary
    )


def _initial_d(text: str, start: int) -> bool:
    """Whether "D." is an initial and not "don": another initial stands beside it."""
    return bool(
        re.search(r"(?<![^\W_])[^\W\d_]\.[ ]?$", text[max(0, start - 4) : start])
        or re.match(r"D\.[ ]?[A-ZÁÉÍÓÚÑ]\.[ ]?[A-ZÁÉÍÓÚÑ]", text[start : start + 8])
    )
