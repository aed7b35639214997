"""Every figure of a Spanish text as a typed, normalised value with its place.

A value's ``norm`` is a string that two notations of the same thing share: ``30 %`` and «treinta por ciento» are both
percent ``30``; ``3.005,06 €`` and ``3005.06 EUR`` are both money ``3005.06``.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from enum import StrEnum

from core.answering.numerals import flat, numerals


class Kind(StrEnum):
    """What a value measures or names."""

    PERCENT = "percent"
    MONEY = "money"
    DATE = "date"
    MONTH = "month"
    PERIOD = "period"
    QUARTER = "quarter"
    YEAR = "year"
    ARTICLE = "article"
    LAW = "law"
    PART = "part"
    MODEL = "model"
    FRACTION = "fraction"
    ORDINAL = "ordinal"
    NUMBER = "number"


@dataclass(frozen=True, slots=True)
class Value:
    """A value at ``start``:``end`` of its text. ``detail`` narrows it: a date's year, a period's kind of days."""

    kind: Kind
    norm: str
    start: int
    end: int
    detail: str = ""
    words: bool = False


_MONTHS = "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre".split()
_MONTH = rf"(?:{'|'.join(_MONTHS)}|setiembre)"
_MONTH_LIST = rf"{_MONTH}(?:\s*(?:,|y|e|o)\s+(?:de\s+)?{_MONTH}\b)*"
_DAY = r"(?:[1-9]|[12]\d|3[01]|primero|uno)(?:[ºo]\b|\.º)?"
_DAYS = rf"{_DAY}(?:\s*(?:,|y|e|o|u|a|al|hasta|-|–)\s*(?:(?:el|al|hasta|dia)\s+){{0,3}}{_DAY})*"
_ORDINALS = {
    stem: n
    for n, stems in enumerate("primer|segund|tercer|cuart|quint|sext|septim|octav|noven|decim".split("|"), start=1)
    for stem in stems.split()
}
_ORDINAL = rf"(?:{'|'.join(_ORDINALS)})(?:[oa]s?|)"
_LATIN = r"bis|ter|quater|quinquies|sexies|septies|octies|nonies|decies|undecies|duodecies|terdecies|quaterdecies"
_SPELLED = {w: str(n) for n, w in enumerate("uno dos tres cuatro cinco seis siete ocho nueve diez".split(), start=1)}
_ITEM = (
    rf"\d+(?:\s*\.?[ºªo]\b\.?)?(?:\s+(?:{_LATIN})\b)?"
    rf"(?:\.\s?(?:\d+|{'|'.join(_SPELLED)})\b(?:\s?\.?[ºª])?|\.?\s?[a-zñ]['’]?\)|\.[a-zñ]\b(?!\w))*"
)
_AND = r"(?:\s*,\s*|\s+(?:y|e|o|u|a|al|hasta)\s+(?:el\s+|al\s+)?(?:articulo\s+)?|\s*[-–]\s*)"
_UNITS = {"dia": "día", "semana": "semana", "mes": "mes", "ano": "año", "trimestre": "trimestre", "hora": "hora",
          "ejercicio": "ejercicio", "semestre": "semestre", "minuto": "minuto"}  # fmt: skip

_ARTICLE = re.compile(rf"\b(?:articulos?|arts?\.?)\s*(?P<items>{_ITEM}(?:{_AND}{_ITEM})*)")
_DISPOSITION = re.compile(
    rf"\bdisposicion(?:es)?\s+(?P<which>adicional|transitoria|final|derogatoria)(?:es|s)?\s+(?P<n>\d+[.ªº]*|(?:{_ORDINAL}\s?)+|unica)"
    rf"|\bd\.?(?P<short>[atf])\.?\s*(?P<m>\d+)[.ªº]*"
)
_LAW = re.compile(r"(?<![\d/])(?P<n>(?:\d{1,5}/(?:19|20)\d\d|(?:19|20)\d\d/\d{1,4}(?=/(?:ue|ce|cee)\b)))(?![\d/]*\d)")
_PART = re.compile(
    rf"\b(?P<what>apartados?|letras?|reglas?|parrafos?|casillas?|epigrafes?|numeros?|capitulos?|titulos?|anexos?|claves?)\s+"
    rf"(?P<items>(?:\d+(?:\.\d+)*[.ºª]*|[a-zñ]['’]?\)|(?:{'|'.join(_SPELLED)}|{_ORDINAL}|[ivx]+)\b)"
    rf"(?:(?:\s*,\s*|\s+(?:y|e|o|a)\s+)(?:\d+(?:\.\d+)*[.ºª]*|[a-zñ]\)))*)"
)
_MODEL = re.compile(
    r"\b(?:modelos?|formularios?|impresos?|mod\.)\s+(?:n[uº]m?\.?\s+)?(?P<items>\d{2,3}\b(?:(?:\s*[,/]\s*|\s+(?:y|e|o|u|a)\s+)(?:el\s+)?(?:modelo\s+)?\d{2,3}\b(?!\s*(?:€|%|euros|por)))*)"
)
_NUMERIC_DATE = re.compile(
    r"(?<![\d/.-])(?:(?P<y>\d{4})-(?P<m>\d{1,2})-(?P<d>\d{1,2})|(?P<d2>\d{1,2})(?P<s>[/.-])(?P<m2>\d{1,2})(?P=s)(?P<y2>\d{4}|\d{2}))(?![\d/-])"
)
_DATE = re.compile(
    rf"\b(?P<days>{_DAYS})(?:,?\s+ambos\s+inclusive,?)?\s+(?:de(?:\s+los\s+meses\s+de|l\s+mes\s+de)?\s+)?(?P<months>{_MONTH_LIST})\b(?:\s+(?:de|del)\s+(?:ano\s+)?(?P<year>\d{{4}})\b)?"
)
_LONE_MONTH = re.compile(rf"\b(?P<month>{_MONTH})\b(?:\s+(?:de|del)\s+(?:ano\s+)?(?P<year>(?:19|20)\d\d)\b)?")
_QUARTER = re.compile(rf"\b(?:(?P<n>[1-4])\s?(?:t\b|\.?(?:er|º|o)\.?\s*trimestre)|(?P<word>{_ORDINAL})\s+trimestre)")
_YEAR = re.compile(
    r"(?<![\w.,/])(?P<year>(?:19[6-9]|20\d)\d)(?![\w]|[.,]\d|\s*(?:€|%|euros?\b|eur\b|pesetas|por\s+cien))"
)
_FRACTION = re.compile(
    r"\b(?P<half>(?:la\s+)?mitad)\b|\b(?:(?P<top>un|una|dos|tres)\s+)?(?P<part>tercios?|terceras?\s+partes?|cuartos?\s+(?=d)|cuartas?\s+partes?|quintos?\s+(?=d)|quintas?\s+partes?|decimas?\s+partes?)\b|\b(?P<times>doble|triple|duplo)\b"
)
_ORDINAL_RE = re.compile(
    rf"(?<!\bun )(?<!\ben )\b(?P<word>{_ORDINAL})\b(?!\s*(?:lugar|parte))|(?<![\w.])(?P<n>\d{{1,2}})\.?(?:er|[ºª])(?!\w)"
)
# A note's mark in superscript may stand between the figure and its unit.
_NOTE = r"[⁰¹²³⁴⁵⁶⁷⁸⁹⁽⁾]*"
_PERCENT = re.compile(rf"{_NOTE}\s*(?:%|por\s?cien(?:to)?\b|por\s+100\b|puntos?\s+porcentual(?:es)?)")
_MONEY = re.compile(rf"{_NOTE}\s*(?:(?:de\s+)?(?:€|euros?\b|eur\b)|(?P<pts>(?:de\s+)?(?:pesetas?|ptas?)\b))")
_PERIOD = re.compile(
    rf"\s+(?:primeros\s+|ultimos\s+|siguientes\s+)?(?P<unit>{'|'.join(_UNITS)})(?:s|es)?\b(?:\s+(?P<detail>habil|natural)(?:es)?\b)?"
)
_LIST = re.compile(r"\s*(?:,|/|y|o|u|e|a|al|-|–|hasta|y\s+(?:el|los|un)|o\s+(?:el|un)|y\s+del?|al?\s+el)\s*")


_SCALED = re.compile(r"(?<=[\d\w])\s+(mil|millon(?:es)?)\b")


def read_values(text: str) -> tuple[Value, ...]:
    """All values of ``text`` in reading order; offsets are those of ``text``."""
    rest = flat(text)
    found: list[Value] = []
    for pattern, make in _PATTERNS:
        for match in list(pattern.finditer(rest)):
            made = list(make(match))
            if made:
                found += made
                rest = rest[: match.start()] + "\0" * (match.end() - match.start()) + rest[match.end() :]
    found += _counted(rest)
    return tuple(sorted(found, key=lambda v: (v.start, v.end)))


def plain(value: Decimal) -> str:
    """A decimal without needless zeros: ``3000.00`` is ``3000``."""
    text = f"{value:f}"
    return (text.rstrip("0").rstrip(".") if "." in text else text) or "0"


def _each(match: re.Match[str], pattern: str, group: str = "items") -> Iterator[tuple[str, int, int]]:
    at = match.start(group)
    for item in re.finditer(pattern, match[group]):
        yield item.group(), at + item.start(), at + item.end()


def _articles(match: re.Match[str]) -> Iterator[Value]:
    for text, start, end in _each(match, _ITEM):
        latin = re.search(rf"\b(?:{_LATIN})\b", text)
        steps = re.findall(rf"\d+|\b(?:{'|'.join(_SPELLED)})\b|\b[a-zñ](?=['’]?\)|$)", text)
        steps = [_SPELLED.get(step, step) for step in steps]
        if latin:
            steps[0] += latin.group()
        yield Value(Kind.ARTICLE, ".".join(steps), start, end)


def _ordinal(word: str) -> str:
    return next((str(n) for stem, n in _ORDINALS.items() if word.startswith(stem)), word)


def _dispositions(match: re.Match[str]) -> Iterator[Value]:
    which = match["which"] or {"a": "adicional", "t": "transitoria", "f": "final"}[match["short"]]
    number = match["n"] or match["m"]
    digits = re.match(r"\d+", number)
    norm = digits.group() if digits else "+".join(_ordinal(w) for w in number.split())
    yield Value(Kind.ARTICLE, f"{which[0]}-{norm}", match.start(), match.end())


def _laws(match: re.Match[str]) -> Iterator[Value]:
    yield Value(Kind.LAW, match["n"], match.start(), match.end())


def _parts(match: re.Match[str]) -> Iterator[Value]:
    if match["what"].startswith("numero") and not re.search(r"[ºª]", match["items"]):
        return
    for text, start, end in _each(match, r"\d+(?:\.\d+)*|\b[a-zñ](?=['’]?\))|\b[a-z]{2,}\b|\b[ivx]+\b"):
        yield Value(Kind.PART, _SPELLED.get(text, _ordinal(text)).lstrip("0") or "0", start, end)


def _models(match: re.Match[str]) -> Iterator[Value]:
    for text, start, end in _each(match, r"\d{2,3}"):
        yield Value(Kind.MODEL, text, start, end)


def _numeric_dates(match: re.Match[str]) -> Iterator[Value]:
    day, month, year = (int(match[n] or match[f"{n}2"]) for n in "dmy")
    if 1 <= day <= 31 and 1 <= month <= 12:
        yield Value(Kind.DATE, f"{day}/{month}", match.start(), match.end(), str(year if year > 99 else 2000 + year))


def _dates(match: re.Match[str]) -> Iterator[Value]:
    months = list(_each(match, _MONTH, "months"))
    for text, start, end in _each(match, r"\d+|primero|uno", "days"):
        day = text if text.isdigit() else "1"
        for index, (month, month_start, month_end) in enumerate(months):
            place = (start, end) if index == 0 else (month_start, month_end)
            yield Value(Kind.DATE, f"{day}/{_month(month)}", *place, match["year"] or "")
    if match["year"]:
        yield Value(Kind.YEAR, match["year"], match.start("year"), match.end("year"))


def _month(name: str) -> int:
    return _MONTHS.index("septiembre" if name == "setiembre" else name) + 1


def _months(match: re.Match[str]) -> Iterator[Value]:
    yield Value(Kind.MONTH, str(_month(match["month"])), match.start(), match.end("month"), match["year"] or "")
    if match["year"]:
        yield Value(Kind.YEAR, match["year"], match.start("year"), match.end("year"))


def _quarters(match: re.Match[str]) -> Iterator[Value]:
    yield Value(Kind.QUARTER, match["n"] or _ordinal(match["word"]), match.start(), match.end())


def _years(match: re.Match[str]) -> Iterator[Value]:
    yield Value(Kind.YEAR, match["year"], match.start(), match.end())


def _fractions(match: re.Match[str]) -> Iterator[Value]:
    if match["half"]:
        norm = "1/2"
    elif match["times"]:
        norm = "3" if match["times"] == "triple" else "2"
    else:
        top = {"dos": "2", "tres": "3"}.get(match["top"] or "", "1")
        bottom = next(n for stem, n in {**_ORDINALS, "terci": 3}.items() if match["part"].startswith(stem))
        if match["top"] is None and match["part"].startswith("tercer"):
            return
        norm = f"{top}/{bottom}"
    yield Value(Kind.FRACTION, norm, match.start(), match.end())


def _ordinals(match: re.Match[str]) -> Iterator[Value]:
    word = match["word"]
    if word and word.endswith("s"):  # «los tres primeros» counts nothing of its own
        return
    if word in ("terceros", "tercero", "tercera", "terceras", "cuarto", "decimas", "segundos") or (
        word and len(word) < 5
    ):
        return
    yield Value(Kind.ORDINAL, match["n"] or _ordinal(word), match.start(), match.end())


_PATTERNS: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], Iterator[Value]]], ...] = (
    (_NUMERIC_DATE, _numeric_dates),
    (_LAW, _laws),
    (_DISPOSITION, _dispositions),
    (_ARTICLE, _articles),
    (_PART, _parts),
    (_MODEL, _models),
    (_DATE, _dates),
    (_LONE_MONTH, _months),
    (_QUARTER, _quarters),
    (_YEAR, _years),
    (_FRACTION, _fractions),
    (_ORDINAL_RE, _ordinals),
)


def _counted(rest: str) -> list[Value]:
    """Numbers by the unit that follows; in a list («21, 10 y 4 por ciento») the last one's unit is that of all."""
    found: list[Value] = []
    for number in numerals(rest):
        if found and number.start < found[-1].end:
            continue  # the «ciento» of «por ciento»
        unit, end, detail = _unit(rest, number.start, number.end)
        if number.article and unit is Kind.NUMBER:
            continue
        norm = plain(number.value)
        if unit is Kind.PERIOD:
            detail, _, quality = detail.partition(" ")
            norm, detail = f"{norm} {detail}", quality
        found.append(Value(unit, norm, number.start, end, detail, number.words))
    for index in range(len(found) - 2, -1, -1):
        here, after = found[index], found[index + 1]
        shares = after.kind in (Kind.PERCENT, Kind.MONEY, Kind.PERIOD) and here.kind is Kind.NUMBER
        scale = _SCALED.search(rest[after.start : after.end])
        if here.kind is Kind.NUMBER and len(here.norm) < 4 and scale and _LIST.fullmatch(rest[here.end : after.start]):
            here = replace(here, norm=plain(Decimal(here.norm) * (1000 if scale[1] == "mil" else 1_000_000)))
        if shares and _LIST.fullmatch(rest[here.end : after.start]):
            norm = f"{here.norm} {after.norm.partition(' ')[2]}" if after.kind is Kind.PERIOD else here.norm
            found[index] = replace(here, kind=after.kind, norm=norm, detail=after.detail)
    return found


def _unit(rest: str, start: int, end: int) -> tuple[Kind, int, str]:
    if match := _PERCENT.match(rest, end):
        return Kind.PERCENT, match.end(), ""
    if match := _MONEY.match(rest, end):
        return Kind.MONEY, match.end(), "pesetas" if match["pts"] else ""
    if match := _PERIOD.match(rest, end):
        detail = f"{_UNITS[match['unit']]} {match['detail'] or ''}"
        return Kind.PERIOD, match.end(), detail.strip()
    if rest[:start].endswith(("€", "€ ")):
        return Kind.MONEY, end, ""
    return Kind.NUMBER, end, ""
