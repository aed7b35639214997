"""What a question asks for, and how well a sentence's wording fits: a date, a figure, a list, a definition."""

import re
from collections.abc import Iterable, Set
from dataclasses import dataclass, field

from core.answering.units import Unit
from core.retrieval.terms import TermStatistics, stems

# Everyday words with the words of laws and manuals for the same, and forms of one word that no common root shows.
_SAME = (
    ("alquiler", "arrendamiento", "arrendar"),
    ("coche", "vehículo", "turismo", "automóvil"),
    ("módulos", "objetiva"),
    ("casa", "vivienda", "domicilio"),
    ("comida", "manutención", "restaurante", "restauración"),
    ("suministros", "luz", "agua", "electricidad", "internet", "telefonía"),
    ("multa", "sanción"),
    ("tique", "ticket", "simplificada"),
    ("ordenador", "informático", "informática"),
    ("verifactu", "verificables", "informáticos", "informático"),
    ("software", "informático", "programa"),
    ("tarde", "extemporánea", "retraso"),
    ("impagada", "impago", "incobrable"),
    ("caduca", "prescribe", "prescripción"),
    ("recurrir", "recurso", "interposición", "reclamación"),
    ("aplazar", "aplazamiento", "fraccionamiento", "aplazarse"),
    ("guardar", "conservar", "conservación"),
    ("devolver", "devolución"),
    ("deducir", "deducible", "deducción", "desgravar"),
    ("facturar", "factura", "facturación"),
    ("enviar", "envío", "remisión", "remitir"),
    ("emitir", "expedir", "expedición"),
    ("alta", "inicio", "comienzo"),
    ("baja", "cese"),
    ("médico", "médica", "sanitaria"),
    ("empleado", "trabajador", "asalariado"),
    ("importe", "cuantía", "cantidad"),
    ("límite", "máximo", "exceda", "supere", "superar"),
    ("obligado", "obligación", "obligatorio"),
    ("hacienda", "administración", "tributaria"),
    ("contestar", "atender", "aportar"),
    ("negativo", "pérdida"),
    ("recuperar", "modificación", "rectificar"),
)
_MONTH = "enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|octubre|noviembre|diciembre"
_NUMBER = "un|uno|una|dos|tres|cuatro|cinco|seis|siete|ocho|nueve|diez|once|doce|quince|veinte|treinta|cincuenta"
_ASKS_TIME = re.compile(
    r"\b(?:plazos?|fechas?|(?:hasta )?qu[eé] d[ií]as?|vencen?|vencimiento|cu[aá]nto tiempo"
    r"|cu[aá]nt[oa]s (?:a[nñ]os|mes(?:es)?|d[ií]as))\b",
    re.IGNORECASE,
)
_ASKS_WHEN = re.compile(r"\bcu[aá]ndo\b", re.IGNORECASE)
_ASKS_FIGURE = re.compile(
    r"\b(?:cu[aá]nt[oa]s?|porcentajes?|tanto por ciento|por ciento|topes?|l[ií]mites?|importe|cuant[ií]a"
    r"|m[aá]xim[oa]|m[ií]nim[oa]|(?:qu[eé]|cu[aá]l(?:es)? (?:es|son|ser[aá]) (?:el|la|los|las)) "
    r"(?:tipos?|iva|recargos?|retenci[oó]n|inter[eé]s|sanci[oó]n|multa|reducci[oó]n))\b",
    re.IGNORECASE,
)
_ASKS_PERCENT = re.compile(
    r"\b(?:porcentajes?|tanto por ciento|tipos?|reten\w+|recargos?|por ?ciento|%|iva (?:llevan?|lleva|le pongo|cobro)"
    r"|(?:qu[eé]|cu[aá]nto) (?:iva|irpf)|desgrav\w+|rebaja\w*)(?!\w)",
    re.IGNORECASE,
)
_ASKS_AMOUNT = re.compile(
    r"\b(?:importe|l[ií]mite|tope|m[aá]xim[oa]|m[ií]nim[oa]|cuant[ií]a|dinero|multa|sanci[oó]n|factur\w+|euros|cu[aá]nto)\b",
    re.IGNORECASE,
)
_ASKS_FORM = re.compile(
    r"\b(?:(?:qu[eé]|cu[aá]l(?: es)?(?: el)?) (?:modelos?|impresos?|formularios?|papel(?:es)?|declaraci[oó]n)|modelo)\b",
    re.IGNORECASE,
)
_ASKS_LIST = re.compile(
    r"\b(?:qu[eé] (?:libros|requisitos|datos|documentos|debe|tiene que|ha de|modelos"
    r"|gastos|operaciones|condiciones|casos|bienes|tipos|productos)"
    r"|cu[aá]les|requisitos|conten)",
    re.IGNORECASE,
)
_ASKS_WHO = re.compile(r"\bqui[eé]n(?:es)?\b", re.IGNORECASE)
_ASKS_MEANING = re.compile(
    r"\b(?:qu[eé] (?:es|son|significa|se (?:entiende|considera))|en qu[eé] consiste|concepto|definici[oó]n)\b",
    re.IGNORECASE,
)
_ASKS_WHETHER = re.compile(
    r"^\W*(?:(?:si|y) )?(?:me |se |te )?(?:puedo|puede|pueden|es|son|est[aá]n?|hay"
    r"|tengo|debo|tiene|soy|hace falta|tributan?|llevan?|pagan?|necesito)\b",
    re.IGNORECASE,
)
_NEGATION = re.compile(r"\b(?:no|sin|exclu\w+|exent\w+|exenci\w+)\b", re.IGNORECASE)

_TIME = re.compile(
    rf"\b\d{{1,2}}\s+(?:de|al|y|hasta)\s+(?:el\s+)?(?:\d{{1,2}}\s+de\s+)?(?:{_MONTH})|\bmes(?:es)? de (?:{_MONTH})"
    rf"|\b(?:\d+|{_NUMBER})\s+(?:primeros\s+)?(?:días|mes(?:es)?|años?|trimestres?)\b"
    r"|\bdía \d+|\bentre los días\b|\bfin de mes\b",
    re.IGNORECASE,
)
_CITATION = re.compile(
    rf"\b(?:ley|real decreto|orden|resolución|reglamento|directiva|sentencia|boe)\b"
    rf"[^,;.]{{0,40}}?,? de \d{{1,2}} de (?:{_MONTH})(?: de \d{{4}})?",
    re.IGNORECASE,
)
_OCCASION = re.compile(r"\b(?:cuando|siempre que|en los (?:casos|supuestos)|en el momento|si)\b", re.IGNORECASE)
_FIGURE = re.compile(
    rf"\d[\d.,]*\s*(?:%|por 100|por ciento|(?:millones )?(?:de )?euros|€)|\b(?:{_NUMBER}) por (?:100|ciento)\b|\binterés legal\b",
    re.IGNORECASE,
)
_PERCENT = re.compile(rf"\d\s*(?:%|por 100|por ciento)|\b(?:{_NUMBER}) por (?:100|ciento)\b", re.IGNORECASE)
_AMOUNT = re.compile(r"\d[\d.,]*\s*(?:(?:millones )?(?:de )?euros|€)", re.IGNORECASE)
_FORM = re.compile(r"\bmodelos?\s+(?:[\w]+\s){0,2}\d{3}\b|\bdeclaración censal\b", re.IGNORECASE)
_RULE = re.compile(
    r"\b(?:podr[áa]n?|puede[n]?|deber[áa]n?|debe[n]?"
    r"|(?:no )?(?:es|son|ser[áa]n?) (?:fiscalmente )?(?:deducibles?|exig\w+|oblig\w+)"
    r"|exent\w+|obligad[oa]s?|deducibles?|deducirse|tendr[áa]n? derecho|proceder[áa]|no \w+r[áa]n?)\b",
    re.IGNORECASE,
)
_NUMBERS = re.compile(r"\d+(?:[.,]\d+)*")
_WHO = re.compile(
    r"\b(?:sujetos? pasivos?|contribuyentes?|empresari[oa]s?|profesionales|personas"
    r"|comerciantes|obligad[oa]s?|entidades|quienes)\b",
    re.IGNORECASE,
)
_MEANING = re.compile(
    r"\b(?:es|son|consiste en|consisten en|será|se entiende(?:n|rá|rán)? por|se considera(?:n|rá|rán)?"
    r"|t(?:iene|ienen|endrá|endrán) (?:la )?consideración"
    r"|se denomina|se define|se aplica(?:rá)?)\b",
    re.IGNORECASE,
)
_MARKER = r"^\W*(?:[a-zñ\d]{1,2}[.)ºª]+\s*)?"
_DENIES = re.compile(
    rf"{_MARKER}(?:no (?!obstante)|tampoco|en ningún caso|quedan? excluid|quedarán excluid|se exceptúa)", re.IGNORECASE
)
_LEADS_TO_EXCEPTIONS = re.compile(r"\b(?:excepci\w+|excepto|salvo|exclu\w+)[^.]{0,40}:$", re.IGNORECASE)
_LEANS = re.compile(
    rf"{_MARKER}(?:no obstante|sin embargo|por el contrario|ahora bien|tampoco|asimismo|igualmente|también|todo ello"
    r"|lo (?:anterior|establecido|dispuesto|previsto|señalado)"
    r"|en (?:est[eao]s?|es[eao]s?|tal(?:es)?|dich[ao]s?|ambos|otro|caso contrario)\b"
    r"|a (?:estos|tal(?:es)?|dichos?) efectos?|dich[ao]s?\b|est[aeo]s?\b|tal(?:es)? )",
    re.IGNORECASE,
)
_EXCEPTION = re.compile(
    r"^(?:no obstante|sin embargo|excepto|salvo|en ningún caso|a excepción|por el contrario|ahora bien|tampoco)\b",
    re.IGNORECASE,
)
# What answers nothing by itself: references to norms, notes, titles of orders, sums of an example.
_REFERENCE = re.compile(
    r"^\W*(?:normativa:|nota del boe|véase|vid\.|orden [a-z]{2,4}/|real decreto[ -]|ley \d|resolución de"
    r"|\(?art[s.]|precisiones:|consulta)",
    re.IGNORECASE,
)
_SUM = re.compile(r"\d\s*(?:[x×=+÷]|\s[-–]\s)\s*\(?\d|=\s*\d")
_EXAMPLE = re.compile(r"\b(?:ejemplos?|supuestos? prácticos?|casos? prácticos?|solución)\b", re.IGNORECASE)
_ASIDE = re.compile(
    r"^(?:preámbulo|exposición de motivos|disposición (?:transitoria|derogatoria|final))", re.IGNORECASE
)
_TAX_YEAR = re.compile(
    r"\b(?:período impositivo|periodo impositivo|ejercicios?|años?|desde|hasta|para|en)\s+(20\d\d)\b", re.IGNORECASE
)
# A line without a stop at its end that is no longer than this is a label; so is anything very short.
_LABEL_CHARS, _BARE_CHARS = 90, 30
_STOPS = (".", ";", ",", ")", "»", "”", '"')
# Stems of which one begins the other are forms of one word from this length on («deduc», «deduccion»).
_ROOT_CHARS = 5

# Of the meaning of the question's words, how much must stand before the verb that defines.
_DEFINED_SHARE = 0.4


@dataclass(frozen=True, slots=True)
class Asked:
    """A question as its words and what it asks for. ``groups``: stems that mean the same, and their weight."""

    groups: tuple[tuple[frozenset[str], float], ...]
    time: bool
    when: bool
    figure: bool
    amount: bool
    percent: bool
    form: bool
    several: bool
    who: bool
    meaning: bool
    whether: bool
    negative: bool
    years: frozenset[str]
    numbers: frozenset[str]
    seen: dict[str, tuple[int, ...]] = field(default_factory=dict, compare=False, repr=False)

    def coverage(self, present: Set[str]) -> float:
        """Share of the question's words, by weight, that are among the stems ``present`` (0..1)."""
        total = sum(weight for _, weight in self.groups)
        return sum(self.groups[i][1] for i in self.covered(present)) / total if total else 0.0

    def covered(self, present: Set[str]) -> set[int]:
        """Which of the question's words are among the stems ``present``, in this or another form."""
        return {i for word in present for i in self._groups_of(word)}

    def _groups_of(self, word: str) -> tuple[int, ...]:
        known = self.seen.get(word)
        if known is None:
            known = tuple(i for i, (group, _) in enumerate(self.groups) if word in group or _another_form(group, word))
            self.seen[word] = known
        return known


def read_question(question: str, terms: TermStatistics) -> Asked:
    """Read what ``question`` asks for from its wording."""
    groups: dict[frozenset[str], float] = {}
    figure = bool(_ASKS_FIGURE.search(question))
    for term in dict.fromkeys(stems(question)):
        same = frozenset({term}.union(*(group for group in _SAME_STEMS if term in group)))
        groups[same] = max(groups.get(same, 0.0), terms.weight(term))
    return Asked(
        groups=tuple(groups.items()),
        time=bool(_ASKS_TIME.search(question)),
        when=bool(_ASKS_WHEN.search(question)),
        figure=figure,
        amount=figure and bool(_ASKS_AMOUNT.search(question)),
        percent=figure and bool(_ASKS_PERCENT.search(question)),
        form=bool(_ASKS_FORM.search(question)),
        several=bool(_ASKS_LIST.search(question)),
        who=bool(_ASKS_WHO.search(question)),
        meaning=bool(_ASKS_MEANING.search(question)),
        whether=bool(_ASKS_WHETHER.search(question)),
        negative=bool(_NEGATION.search(question)),
        years=frozenset(re.findall(r"\b20\d\d\b", question)),
        numbers=numbers(question),
    )


def gives_figure(text: str) -> bool:
    """Whether a text states an amount or a percentage."""
    return bool(_FIGURE.search(text))


def gives_amount(text: str) -> bool:
    """Whether a text states an amount of money."""
    return bool(_AMOUNT.search(text))


def gives_percent(text: str) -> bool:
    """Whether a text states a percentage."""
    return bool(_PERCENT.search(text))


def gives_occasion(text: str) -> bool:
    """Whether a text says on what occasion something happens."""
    return bool(_OCCASION.search(text))


def says_who(text: str) -> bool:
    """Whether a text names those whom it concerns."""
    return bool(_WHO.search(text))


def names_form(text: str) -> bool:
    """Whether a text names a form by its number."""
    return bool(_FORM.search(text))


def rules(text: str) -> bool:
    """Whether a text says that something may, must or must not be."""
    return bool(_RULE.search(text))


def denies(text: str) -> bool:
    """Whether a text begins by saying what is not, or leads into exceptions."""
    return bool(_DENIES.match(text) or _LEADS_TO_EXCEPTIONS.search(text))


def is_example(unit: Unit) -> bool:
    """Whether a unit is of an example, or a sum."""
    parts = (*unit.fragment.section_path[-2:], unit.quotes[0].text[:_BARE_CHARS])
    return bool(_SUM.search(unit.text)) or any(_EXAMPLE.search(part) for part in parts)


def is_aside(heading: str) -> bool:
    """Whether a heading is of a preamble or a transitory rule."""
    return bool(_ASIDE.match(heading))


def numbers(text: str) -> frozenset[str]:
    """The figures of a text, without the points between thousands."""
    return frozenset(re.sub(r"\.(?=\d{3}\b)", "", match) for match in _NUMBERS.findall(text))


def gives_time(text: str) -> bool:
    """Whether a text states a date or a length of time; the dates of cited norms do not count."""
    return bool(_TIME.search(_CITATION.sub("", text)))


def tax_years(text: str) -> set[str]:
    """The tax years that a text speaks of."""
    return set(_TAX_YEAR.findall(text))


def stale(asked: Asked, unit: Unit, latest: str) -> bool:
    """Whether a unit is of past years only, older than the one before ``latest``, and none that was asked for."""
    years = tax_years(f"{unit.text}\n{chr(10).join(unit.fragment.section_path[-1:])}")
    return bool(years) and not years & asked.years and int(max(years)) < int(latest) - 1


def leans(unit: Unit) -> bool:
    """Whether a unit is understood only with the sentence before it."""
    return bool(_LEANS.match(unit.quotes[0].text))


def is_exception(text: str) -> bool:
    """Whether a sentence takes back part of the one before it."""
    return bool(_EXCEPTION.match(text))


def says_nothing(unit: Unit) -> bool:
    """Whether a unit is a label, a question, a reference, or leads into what is not quoted."""
    body = unit.body or unit.quotes
    last = body[-1].text.rstrip()
    return (
        last.endswith(("?", ":"))
        or bool(_REFERENCE.match(body[0].text))
        or (
            body[0].fragment.kind == "text"
            and not (unit.heads and any(quote.item for quote in body))
            and all(is_label(q.text) for q in body)
        )
    )


def is_label(text: str) -> bool:
    """Whether a line is no sentence but a name of what follows or stands beside it."""
    text = text.rstrip()
    return len(text) < _BARE_CHARS or (len(text) <= _LABEL_CHARS and not text.endswith(_STOPS))


def _another_form(group: frozenset[str], word: str) -> bool:
    """Whether a word and one of the group begin alike, so far that they are forms of one word."""
    return len(word) >= _ROOT_CHARS and any(
        len(stem) >= _ROOT_CHARS and (word.startswith(stem) or stem.startswith(word)) for stem in group
    )


def defines(asked: Asked, unit: Unit) -> bool:
    """Whether a unit says what the thing asked for is."""
    first = unit.quotes[0].text
    verb = _MEANING.search(first)
    return verb is not None and asked.coverage(set(stems(first[: verb.start()] or first))) >= _DEFINED_SHARE


def _stem_sets(groups: Iterable[Iterable[str]]) -> tuple[frozenset[str], ...]:
    return tuple(frozenset(stem for word in group for stem in stems(word)) for group in groups)


_SAME_STEMS = _stem_sets(_SAME)
