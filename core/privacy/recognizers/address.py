"""Postal addresses: kind of way, name, number, floor, postcode and town."""

import re
from collections.abc import Iterator

from core.privacy.kinds import CERTAIN, LIKELY, Kind, Match
from core.privacy.recognizers.context import before

_WAY = (
    r"(?:c/\.?|c\.|cl\.|cl/|cl(?=[ ])|calle|avda\.?|avenida|av\.|avgda\.?|avinguda|plaza|plza\.?|pza\.?|pl\.|plaça|paseo|p\.?º|pso\.?|passeig|pg\.|"
    r"camino|cno\.?|cmno\.|camí|carretera|ctra\.?|crta\.?|ronda|rda\.?|traves[ií]a|trav\.|urbanizaci[oó]n|urb\.|pol[ií]gono(?:\s+industrial)?|"
    r"p\.\s?i\.|pol\.(?:\s*ind\.)?|rambla|rbla\.?|carrer|glorieta|gta\.?|v[ií]a|cuesta|callej[oó]n|pasaje|psje\.?|alameda|bulevar|"
    r"costanilla|r[uú]a|kalea|barrio|bº|partida|parque empresarial|edificio)"
)
_WORD = r"(?:[^\W\d_][\w'’·-]*\.?|\d{1,2}(?= de ))"
_NAME = rf"(?:{_WORD}[ ]+){{0,6}}?{_WORD}"
_NUMBER = r"(?:n\.?[ºo°]\.?\s?|n[uú]m(?:ero|\.)?\s?|km\.?\s?|parcela\s|portal\s|bloque\s|nave\s)?\d{1,4}(?:[,.]\d{1,2})?(?:[ ]?(?:bis|dupl?\.?|[a-zA-Z](?![^\W_.])))?|s/n"
_UNIT = (
    r"(?:(?:piso|planta|pta\.?|puerta|esc(?:alera)?\.?|portal|bloque|blq\.?|bajos?|bjo\.?|entlo\.?|entresuelo|[aá]tico|local|oficina|of\.|nave|"
    r"iz(?:q(?:uier)?)?da\.?|izq\.?|dcha\.?|derecha|dcho\.?|centro|principal|ppal\.?|interior|int\.?)(?:[ ]*\d{1,3}[ºª°]?(?!\d))?(?:[ ]*[a-zA-Z](?![^\W_.]))?"
    r"|\d{1,2}\s?\.?\s?[ºª°oa]\.?(?:[ -]*[a-zA-Z0-9]{1,2}(?![^\W_.]))?|\d{1,2}[ -]?[a-zA-Z](?![^\W_])|(?-i:[A-H](?![^\W_.])))"
)
_TOWN_WORD = r"(?-i:[A-ZÁÉÍÓÚÑÀÈÒÇ][\w'’·-]*)"
_TOWN = rf"{_TOWN_WORD}(?:[ ]+(?:(?:de|del|la|las|los|el|y|do|da|d')[ ]+){{0,2}}{_TOWN_WORD}){{0,4}}(?:\s?\([^)\n]{{2,30}}\))?"
_POSTCODE = r"(?:c\.?\s?p\.?\s?:?\s?)?(?:E-)?(?:0[1-9]|[1-4]\d|5[0-2])\d{3}(?!\d)"
_SEP = r"[ ]*(?:,|\.|-|–|;|\n)?[ ]*\n?[ ]*"
_PLACE = rf"{_POSTCODE}{_SEP}{_TOWN}"
_LEFT = r"(?<![\w/])"
_THEN = r"(?:(?<=[/.ºª])|(?![^\W\d_]))[ ]*"
_WITH_NUMBER = re.compile(
    rf"{_LEFT}(?!c/c){_WAY}{_THEN}{_NAME}[ ]*,?[ ]*(?:{_NUMBER})(?![\d%€])(?:{_SEP}{_UNIT}){{0,4}}(?:{_SEP}{_PLACE})?",
    re.IGNORECASE,
)
_WITH_PLACE = re.compile(rf"{_LEFT}(?!c/c){_WAY}{_THEN}{_NAME}{_SEP}{_PLACE}", re.IGNORECASE)
_LABELLED = re.compile(
    r"(?:domicilio|direcci[oó]n|domiciliad[oa] en|residencia)(?: fiscal| social)?\s?[:|]\s*(?P<v>[^\n|]{6,120})",
    re.IGNORECASE,
)
_POST_TOWN = re.compile(rf"(?:^|(?<=[\n|]))[ ]*(?P<v>{_PLACE})[ ]*(?=$|[\n|])")
_SMALL = frozenset(
    "de del dels la las los les el els l d y i e da do das dos o a en nº n núm num número numero km s parcela nave portal bloque".split()
)
_LAW = re.compile(
    r"\b(?:v[ií]a)\s+(?:de|ejecutiva|administrativa|judicial|telem[aá]tica|electr[oó]nica)", re.IGNORECASE
)
# After "vía", "partida", "barrio"... prose goes on in lower case; the name of a street does not.
_CAPITAL = re.compile(r"(?-i:[A-ZÁÉÍÓÚÑÀÈÒÇ])|\d")
_WEAK = re.compile(
    r"v[ií]a|cuesta|partida|barrio|edificio|plaza|camino|ronda|parque|c\.|cl|pl\.|av\.|pol\.|urb\.|pg\.|cl\.",
    re.IGNORECASE,
)


def find(text: str) -> Iterator[Match]:
    """Postal addresses in a plain text."""
    for pattern in (_WITH_NUMBER, _WITH_PLACE):
        for match in pattern.finditer(text):
            if _street(match[0]):
                yield Match(match.start(), match.end(), Kind.ADDRESS, CERTAIN)
    for match in _LABELLED.finditer(text):
        if value := _PLACE_IN.search(match["v"]):
            yield Match(match.start("v"), match.start("v") + value.end(), Kind.ADDRESS, LIKELY)
    for match in _POST_TOWN.finditer(text):
        if not re.search(r"euros|€|\d[.,]\d", before(text, match.start(), 1) + match["v"]):
            yield Match(match.start("v"), match.end("v"), Kind.ADDRESS, LIKELY)


_PLACE_IN = re.compile(rf".*{_PLACE}", re.IGNORECASE)


def _street(found: str) -> bool:
    """Whether the words after the kind of way are a name: capitals or figures among them, and no turn of prose."""
    if _LAW.match(found):
        return False
    way = re.match(_WAY, found, re.IGNORECASE)
    assert way is not None
    rest = re.sub(r"^[ ]*\d{1,2} (?=de )", " ", found[way.end() :], flags=re.IGNORECASE)  # "Avda. 12 de Octubre"
    words = re.findall(r"[^\W\d_]\w*", re.split(r"\d|\bs/n\b", rest, flags=re.IGNORECASE)[0])
    names = [w for w in words if w.casefold() not in _SMALL]
    if not names:
        return bool(re.match(r"\s*\d", found[way.end() :])) and way[0].lower().startswith(("calle", "c/"))
    capital = sum(1 for w in names if _CAPITAL.match(w))
    if _WEAK.fullmatch(way[0]):
        return capital == len(names)
    return capital * 2 > len(names) or len(names) <= 3
