"""What a question takes for granted, and the passage that says otherwise.

Only two plain kinds of contradiction are looked for: another figure of the same kind (a percentage, an amount, a
length of time, a date) where the passage has one, and a rule that denies what the question affirms or the reverse.
Where neither shows, nothing is said of the premise: it is not confirmed either.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from core.answering.cues import Asked
from core.answering.units import Unit
from core.retrieval.terms import fold, stems

_MONTHS = "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre".split()
_MONTH = "|".join(_MONTHS)
_WORDS = {
    "un": 1, "uno": 1, "una": 1, "dos": 2, "tres": 3, "cuatro": 4, "cinco": 5, "seis": 6, "siete": 7, "ocho": 8,
    "nueve": 9, "diez": 10, "doce": 12, "quince": 15, "veinte": 20, "treinta": 30, "cincuenta": 50, "cien": 100,
}  # fmt: skip
_NUMBER = rf"(?:\d+(?:[.,]\d+)*|{'|'.join(_WORDS)})"
_PERCENT = re.compile(rf"\b({_NUMBER})\s*(?:%|por 100\b|por ciento\b|por cien\b)")
_LENGTH = re.compile(rf"\b({_NUMBER})\s+(?:primeros\s+)?(dias?|mes(?:es)?|anos?)\b")
_DATE = re.compile(rf"\b(\d{{1,2}})\s+(?:de\s+)?({_MONTH})\b")
_MONTH_YEAR = re.compile(rf"\b({_MONTH})\s+(?:de|del)\s+(?:ano\s+)?(20\d\d)\b")
_AMOUNT = re.compile(rf"\b({_NUMBER})\s*(millon(?:es)?|mil)?\s*(?:de )?(?:euros?|€|eur)?(?!\s*(?:%|por c))")
_MONEY = re.compile(rf"\b({_NUMBER})\s*(millon(?:es)?|mil)?\s*(?:de )?(?:euros?\b|€)")
# An amount that a question states of the rule, not of the asker's own affairs.
_OF_THE_RULE = re.compile(
    r"(?:hasta|mas de|menos de|superior a|a partir de|limite (?:es|son|de)|maximo (?:es|son|de)|tope (?:es|de)"
    r"|es de|son de|pasar de|valen hasta|multa (?:es|de)|minimo (?:es|de))\s+(?:los |las |el |unos )?$"
)
_TAG = re.compile(
    r"[,;.]?\s*¿?\b(?:no|verdad|cierto|correcto|vale|a que si|es asi|es verdad"
    r"|no es asi|o no|no es verdad|estoy en lo cierto)\s*\?+\s*$"
)
_OPENING = re.compile(
    r"^\W*(?:como (?!(?:lo|la|los|las|se|me|puedo|hago|tengo|debo|recupero|hay que)\b)|ya que|dado que|puesto que"
    r"|visto que|si total"
    r"|me (?:han dicho|dicen|dijo|dijeron|comentan) que|(?:he|tengo) (?:oido|leido|entendido) (?:que)?|segun (?:mi|un)"
    r"|¿?(?:verdad|es verdad|es cierto) que|al ser|siendo)\b"
)
_INNER = re.compile(r"\b(?:(?:me|nos) (?:dice|dicen|ha dicho|han dicho|dijo)|ya que|puesto que|dado que|como)\s")
_NEGATIVE = re.compile(r"\b(?:no|nadie|nada|ningun[oa]?|nunca|tampoco|sin)\b|\bexent[oa]s?\b|\blibr(?:e|a|an) de\b")
_DENIAL = re.compile(
    r"\bno (?:\w+ ){0,3}?(?:deduc\w+|oblig\w+|podra\w*|puede\w*|exist\w+|sera\w*|procede\w*|tendra\w*|tiene\w*|son|es|esta\w*"
    r"|resulta\w*|se \w+|quedara\w*|deber\w+|supon\w+)\b|\ben ningun caso\b|\bexen(?:t[oa]s?|cion(?:es)?)\b|\bexclui?d[oa]s?\b"
)
_AFFIRMATION = re.compile(
    r"\b(?:deducibles?|podra\w*|deber\w+|obligad[oa]s?|tendra\w*|sera\w*|sujet[oa]s?|se aplic\w+"
    r"|llevar\w*|resulta\w*|estan|son|se \w+ran?)\b"
)
_NOT_EXEMPT = re.compile(r"\bno exent[oa]s?\b")
_OF_EXEMPTION = re.compile(r"\bexent\w+|\bsin iva\b|\bno (?:llevan?|tienen?|pagan?|cobr\w+) (?:el )?iva\b")
_LIMIT = re.compile(
    r"\b(?:limites?|maxim[oa]s?|no exceda\w*|no supere\w*|proporcion|\d+ por (?:100|ciento)|en la medida)\b"
)
_ALWAYS = re.compile(r"\b(?:siempre|todo|toda|todos|entero|entera|integro|al 100|en cualquier caso|da igual)\b")
# By the first letter of the kind of figure: percent, length, date, month, amount.
_OTHER = {"p": "otro porcentaje", "l": "otro plazo", "d": "otra fecha", "m": "otra fecha", "a": "otro importe"}
# How much of the question's words a passage must cover to be of the same thing, and how probable it must be next to
# the best. Chosen on the dev half and on questions with true premises.
_SAME_THING, _NEAR_BEST, _READ = 0.1, 0.5, 3


@dataclass(frozen=True, slots=True)
class Correction:
    """The unit that says otherwise, and what it states ``other`` than the question ('' for a no against a yes)."""

    unit: Unit
    other: str


def premise_of(question: str) -> str:
    """What ``question`` takes for granted (folded), '' where it only asks."""
    text = fold(question)
    tagged = _TAG.search(text)
    body = text[: tagged.start()] if tagged else text
    opening = _OPENING.search(body)
    how = re.match(r"\W*c[oó]mo\b", question, re.IGNORECASE)
    asks_how = how and ("ó" in how.group().casefold() or not (tagged or "," in body))
    if opening and not asks_how:
        return body[opening.end() :].split("?")[0].strip(" ,.")
    if tagged and len(stems(body)) >= 2:
        return body.split("¿")[0].strip(" ,.") or body.strip(" ¿?,.")
    return ""


def correction(question: str, asked: Asked, scored: Sequence[tuple[Unit, float]]) -> Correction | None:
    """The first of the units to be quoted (best first, with probabilities) that says otherwise than the premise."""
    premise = premise_of(question)
    if not premise or not scored:
        return None
    best = scored[0][1]
    likely = [unit for unit, p in scored if p >= _NEAR_BEST * best]
    of_the_same = [unit for i, unit in enumerate(likely) if i == 0 or _concerns(asked, unit)][:_READ]
    asserted = figures_asserted(premise)
    for kind, value in asserted:
        for unit in of_the_same:
            figures = {v for k, v in figures_of(_with_headings(unit)) if k == kind}
            if figures:  # the first passage with such a figure decides
                if value not in figures:
                    return Correction(unit, _OTHER[kind[0]])
                break
    stated = {figure for unit, _ in scored for figure in figures_of(_with_headings(unit))}
    if "siempre" not in premise and any(figure in stated for figure in asserted):
        return None  # the documents do speak of this figure
    return next((Correction(unit, "") for unit in of_the_same if _says_otherwise(premise, unit)), None)


def _says_otherwise(premise: str, unit: Unit) -> bool:
    """Whether a rule denies what ``premise`` affirms, or the reverse."""
    if unit.fragment.kind == "table":
        return False
    text = fold("\n".join(quote.text for quote in (unit.quotes[: unit.heads] if unit.is_list else unit.quotes)))
    if _OF_EXEMPTION.search(premise):
        return bool(_NOT_EXEMPT.search(text))
    if _NEGATIVE.search(premise):
        return bool(_AFFIRMATION.search(text)) and not _DENIAL.search(text)
    return bool(_DENIAL.search(_NOT_EXEMPT.sub("sujeto", text)) or (_ALWAYS.search(premise) and _LIMIT.search(text)))


def figures_asserted(premise: str) -> list[tuple[str, str]]:
    """Figures that a premise states of the rule: kind and value."""
    found = _figures(premise)
    for match in _AMOUNT.finditer(premise):
        value = _amount(match)
        if value >= 100 and _OF_THE_RULE.search(premise[: match.start()]) and not _is_year(match.group(1)):
            found.append(("amount", f"{value:g}"))
    return found


def figures_of(text: str) -> set[tuple[str, str]]:
    """Figures of a passage: kind and value."""
    text = fold(text)
    found = set(_figures(text))
    found.update(("amount", f"{_amount(match):g}") for match in _MONEY.finditer(text))
    return found


def _figures(text: str) -> list[tuple[str, str]]:
    found = [("percent", f"{_value(m.group(1)):g}") for m in _PERCENT.finditer(text)]
    found += [(f"length {m.group(2)[0]}", f"{_value(m.group(1)):g}") for m in _LENGTH.finditer(text)]
    found += [("date", f"{int(m.group(1))} {m.group(2)}") for m in _DATE.finditer(text)]
    return found + [("month", f"{m.group(1)} {m.group(2)}") for m in _MONTH_YEAR.finditer(text)]


def _concerns(asked: Asked, unit: Unit) -> bool:
    return asked.coverage(set(stems(_with_headings(unit)))) >= _SAME_THING


def _with_headings(unit: Unit) -> str:
    return "\n".join((*unit.fragment.section_path[-2:], unit.text))


def _value(number: str) -> float:
    if number in _WORDS:
        return float(_WORDS[number])
    if re.fullmatch(r"\d{1,3}(?:\.\d{3})+(?:,\d+)?", number):
        number = number.replace(".", "")
    return float(number.replace(".", "").replace(",", ".") if number.count(",") == 1 else number.replace(",", ""))


def _amount(match: re.Match[str]) -> float:
    scale = match.group(2) or ""
    return _value(match.group(1)) * (1_000_000 if scale.startswith("millon") else 1000 if scale == "mil" else 1)


def _is_year(number: str) -> bool:
    return bool(re.fullmatch(r"20\d\d", number))
