"""A little Spanish grammar for making questions out of sentences: verbs, articles, numbers, denial."""

import re

# Third persons of the present that open the predicate in laws and manuals. The future (-rá, -rán) needs no list.
_PRESENT = (
    "es|son|est[áa]n?|tienen?|deben?|pueden?|corresponden?|comprenden?|constituyen?|incluyen?|consisten?|prescriben?|"
    "permiten?|suponen?|quedan?|existen?|determinan?|aplican?|consideran?|entienden?|realizan?|exigen?|requieren?|"
    "producen?|devengan?|presentan?|efectúan?|calculan?|obtienen?|integran?|regulan?|establecen?|refieren?|ha|han|hay|"
    "extinguen?|interrumpen?|suspenden?|inician?|finalizan?|terminan?|caducan?|pierden?|conservan?|expiden?|"
    "localizan?|gravan?|recaen?|procede|proceden|resultan?|tributan?|ascienden?|computan?|opera|operan|surten?|afectan?|"
    "recoge|recogen|implican?|conllevan?|garantizan?|necesitan?|depende|dependen|sirven?|ayudan?|ocurren?|nacen?|crecen?"
)
FINITE = rf"(?:\w+r(?:á|án)|{_PRESENT})"
VERB = rf"(?:no\s+)?(?:se\s+)?{FINITE}\b"
_DETERMINERS = (
    "el|la|los|las|un|una|unos|unas|todo|toda|todos|todas|cualquier|cada|quienes|sus?|al|del|ningún|ninguna|lo|quien"
)
_FUNCTION = (
    "se|no|en|a|de|por|para|con|sin|si|cuando|tanto|ni|tratándose|transcurrido|siempre|tampoco|solo|sólo|desde|hasta|"
    "durante|toda|ambos"
)
_NUMBERS = (
    "un|uno|una|dos|tres|cuatro|cinco|seis|siete|ocho|nueve|diez|once|doce|trece|catorce|quince|dieciséis|diecisiete|"
    "dieciocho|diecinueve|veinte"
).split("|")
NUMBER = r"(?:\d[\d.,]*\d|\d|(?:" + "|".join([*_NUMBERS, "treinta", "cuarenta", "cincuenta", "sesenta", "cien"]) + "))"
_WORD_VALUES = {
    "un": 1, "uno": 1, "una": 1, "dos": 2, "tres": 3, "cuatro": 4, "cinco": 5, "seis": 6, "siete": 7, "ocho": 8, "nueve": 9,
    "diez": 10, "once": 11, "doce": 12, "trece": 13, "catorce": 14, "quince": 15, "veinte": 20, "treinta": 30, "cuarenta": 40,
    "cincuenta": 50, "sesenta": 60, "cien": 100,
}  # fmt: skip
MONTHS = "enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|octubre|noviembre|diciembre"
# The future of laws in the present of a question.
_TO_PRESENT = {
    "será": "es", "serán": "son", "podrá": "puede", "podrán": "pueden", "deberá": "debe", "deberán": "deben",
    "tendrá": "tiene", "tendrán": "tienen", "estará": "está", "estarán": "están", "quedará": "queda",
    "quedarán": "quedan", "habrá": "ha", "habrán": "han", "corresponderá": "corresponde",
    "corresponderán": "corresponden", "aplicará": "aplica", "aplicarán": "aplican", "considerará": "considera",
    "considerarán": "consideran", "entenderá": "entiende", "entenderán": "entienden", "producirá": "produce",
    "producirán": "producen", "presentará": "presenta", "presentarán": "presentan", "comprenderá": "comprende",
    "comprenderán": "comprenden", "incluirá": "incluye", "incluirán": "incluyen", "constituirá": "constituye",
    "constituirán": "constituyen", "consistirá": "consiste", "consistirán": "consisten", "conservarán": "conservan",
    "conservará": "conserva", "iniciará": "inicia", "iniciarán": "inician", "finalizará": "finaliza",
    "finalizarán": "finalizan", "terminará": "termina", "terminarán": "terminan", "exigirá": "exige",
    "exigirán": "exigen", "determinará": "determina", "determinarán": "determinan", "realizará": "realiza",
    "realizarán": "realizan", "efectuará": "efectúa", "efectuarán": "efectúan", "devengará": "devenga",
    "devengarán": "devengan", "interrumpirá": "interrumpe", "interrumpirán": "interrumpen", "prescribirá": "prescribe",
    "prescribirán": "prescriben", "extinguirá": "extingue", "extinguirán": "extinguen", "existirá": "existe",
    "existirán": "existen", "contendrá": "contiene", "contendrán": "contienen", "computará": "computa",
    "computarán": "computan", "practicará": "practica", "practicarán": "practican", "suspenderá": "suspende",
    "suspenderán": "suspenden", "perderá": "pierde", "perderán": "pierden", "calculará": "calcula",
    "calcularán": "calculan", "obtendrá": "obtiene", "obtendrán": "obtienen", "sancionará": "sanciona",
    "sancionarán": "sancionan", "imputará": "imputa", "imputarán": "imputan", "reducirá": "reduce",
    "reducirán": "reducen", "ascenderá": "asciende", "ascenderán": "ascienden", "resultará": "resulta",
    "resultarán": "resultan", "procederá": "procede", "procederán": "proceden", "ajustará": "ajusta",
    "ajustarán": "ajustan", "contará": "cuenta", "contarán": "cuentan", "comenzará": "comienza",
    "notificará": "notifica", "notificarán": "notifican", "incurrirán": "incurren", "incurrirá": "incurre",
    "dictará": "dicta", "dictarán": "dictan", "tributará": "tributa", "tributarán": "tributan",
}  # fmt: skip
_MASCULINE = frozenset(
    (
        "avión camión guion sistema problema régimen idioma programa tema día esquema diagrama mapa mes interés país "
        "impuesto lugar"
    ).split()
)
_FEMININE_ENDS = ("ión", "dad", "tad", "tud", "ez", "umbre", "sis", "ie", "clase", "base", "parte", "fase", "orden")
_FEMININE_PLURAL_ENDS = (
    "iones",
    "dades",
    "tades",
    "tudes",
    "bases",
    "tesis",
    "clases",
    "partes",
    "fases",
    "series",
    "órdenes",
)


def present(verb: str) -> str:
    """A verb group with its future turned to the present where the form is known ("no podrán" → "no pueden")."""
    return " ".join(_TO_PRESENT.get(word, word) for word in verb.split())


def lower_first(text: str) -> str:
    """The first letter in lower case where the first word is a function word or a verb, and so no name."""
    first = re.match(r"\w*", text)
    if first is None or not re.match(rf"(?:{_DETERMINERS}|{_FUNCTION}|{FINITE})$", first.group(), re.IGNORECASE):
        return text
    return text[:1].lower() + text[1:]


def is_feminine(noun: str) -> bool:
    """Whether a noun is (probably) feminine, by its ending."""
    noun = noun.casefold()
    single = noun[:-1] if noun.endswith(("as", "os")) else noun
    if single in _MASCULINE or noun.rstrip("s") in _MASCULINE:
        return False
    return noun.endswith((*_FEMININE_ENDS, *_FEMININE_PLURAL_ENDS, "a", "as"))


def article(noun_phrase: str) -> str:
    """The definite article for a noun phrase without one ("facturas simplificadas" → "las")."""
    noun = re.match(r"[^\W\d_]+", noun_phrase)
    word = noun.group() if noun else noun_phrase
    plural = word.casefold().endswith("s") and word.casefold() not in ("interés", "mes", "análisis", "crisis", "tesis")
    if is_feminine(word):
        return "las" if plural else "el" if re.match(r"(?:agua|alta|acta|arma|área)\b", word, re.IGNORECASE) else "la"
    return "los" if plural else "el"


def with_article(noun_phrase: str) -> str:
    """A noun phrase with its definite article; unchanged where it has a determiner."""
    if re.match(rf"(?:{_DETERMINERS}|este|esta)\b", noun_phrase, re.IGNORECASE):
        return lower_first(noun_phrase)
    name = noun_phrase if noun_phrase[1:2].isupper() else noun_phrase[:1].lower() + noun_phrase[1:]
    return f"{article(noun_phrase)} {name}"


def of(noun_phrase: str) -> str:
    """ "de" before a noun phrase, contracted ("de" + "el" → "del")."""
    return f"del {noun_phrase[3:]}" if noun_phrase.startswith("el ") else f"de {noun_phrase}"


def number_forms(number: str) -> tuple[str, ...]:
    """Ways of writing a number: "cuatro" and "4"."""
    folded = number.casefold()
    if folded in _WORD_VALUES:
        return (number, str(_WORD_VALUES[folded]))
    for word, value in _WORD_VALUES.items():
        if folded == str(value) and word not in ("uno", "una"):
            return (number, word)
    return (number,)


def number_value(number: str) -> float | None:
    """The value of a number in Spanish notation ("1.200,50", "cuatro"); None where it is none."""
    folded = number.casefold()
    if folded in _WORD_VALUES:
        return float(_WORD_VALUES[folded])
    try:
        return float(folded.replace(".", "").replace(",", "."))
    except ValueError:
        return None


def like(number: str, value: float) -> str:
    """``value`` written the way ``number`` is (in words or figures, with thousands points and decimals)."""
    if number.casefold() in _WORD_VALUES:
        for word, known in _WORD_VALUES.items():
            if known == value and word not in ("uno", "una"):
                return word
        return str(int(value))
    decimals = len(number.partition(",")[2]) if "," in number else 0
    text = f"{value:,.{decimals}f}"
    text = text.replace(",", "_").replace(".", ",").replace("_", ".")
    return (
        text if "." in number or (value < 10_000 and decimals) else text.replace(".", "") if "." not in number else text
    )


def denied(clause: str) -> str:
    """A clause whose first finite verb is denied, or no longer denied; '' where no verb is found.

    "deberá presentar" → "no tendrá que presentar"; "no podrá deducir" → "podrá deducir"; "se aplicará" → "no se aplicará".
    """
    match = re.search(rf"(?<![\wáéíóú])(?P<no>no\s+)?(?P<se>(?:se|le|les)\s+)?(?P<v>{FINITE})\b", clause, re.IGNORECASE)
    if match is None:
        return ""
    before, after = clause[: match.start()], clause[match.end() :]
    se, verb = match["se"] or "", match["v"]
    if match["no"]:
        out = f"{se}{verb}"
    elif verb.casefold() in ("deberá", "deberán", "debe", "deben") and not re.match(r"\s+ser\b", after):
        swap = {"deberá": "tendrá que", "deberán": "tendrán que", "debe": "tiene que", "deben": "tienen que"}
        out = f"no {se.lower()}{swap[verb.casefold()]}"
    else:
        out = f"no {se.lower()}{verb.lower()}"
    if not before:
        out = out[:1].upper() + out[1:]
    return f"{before}{out}{after}"
