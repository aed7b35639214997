"""Follow-ups within a conversation, understood without a model: what leans on the question before becomes whole."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from core.retrieval.terms import fold, stems

WHAT_IS_MEANT = (
    "No sé a qué se refiere, porque esa pregunta depende de otra y en esta conversación no hay ninguna respondida antes. "
    "Escríbala entera, por ejemplo: «¿Cuál es el plazo para presentar el modelo 130?»."
)
_MAX_TOPIC_CHARS = 400
# From so many words with a topic of their own a question stands by itself, whatever it begins with.
_OWN_TOPICS = 2
_OWN_TOPICS_OF_A_CONDITION = 3
_MAX_BARE_WORDS = 6
# So many words of the kind below, together, are a topic ("presentar tarde una declaración").
_OWN_GENERIC = 3

# Words that carry no topic of a tax question by themselves: what is asked about something, and what is done with it.
_GENERIC = frozenset(
    stems(
        """falta mejor plazo fecha día mes trimestre año periodo tiempo antes después tarde límite máximo mínimo importe
        cantidad cuantía porcentaje tipo tope requisito condición excepción ejemplo documento papel justificante
        casilla modelo caso manera forma modo regla norma artículo ley página fuente sitio detalle resumen
        diferencia razón motivo consecuencia multa sanción recargo interés coste precio obligación obligatorio
        derecho posible necesario presentar presenta presento pagar paga pago pagan ingresar declarar declara
        aplicar aplica aplico deducir deduce deduzco deducible desgravar desgrava hacer hago hace haga poner pongo
        pone incluir incluye meter meto cobrar cobro usar uso sirve servir valer vale cuenta contar pasa pasar
        ocurre sucede pedir pide piden exige exigen dame dime ponme dámelo funciona significa entiende entender
        entiendo explica explicar aclara resume resumir ampliar amplía cierto verdad igual mismo misma anterior
        dicho dices dice decir afecta depende corresponde toca queda llevar llevo lleva sale salir sigue seguir
        cumplir cumplo cumple conviene sumar debería podría concreto general normal exacto exactamente siempre nunca
        ahora luego entonces además apartado dato fecha final principio primero segundo tercero cuarto"""
    )
)
_INTERROGATIVE = re.compile(r"\b(?:que|cual|cuales|cuando|cuanto|cuanta|cuantos|cuantas|como|donde|quien|quienes)\b")
_VERB = re.compile(
    r"\b(?:es|son|esta|estan|hay|puedo|puede|pueden|podemos|podria|debo|debe|deben|tengo|tiene|tienen|tenemos|hace falta|"
    r"necesito|necesita|sirve|vale|valen|cuenta|lleva|llevan|paga|pagan|pago|deduce|deducen|deduzco|desgrava|desgravan|"
    r"tributa|tributan|aplica|aplican|presenta|presento|presentan|declara|declaro|corresponde|cambia|afecta|entra|entran|"
    r"existe|existen|sale|queda|cubre|incluye|incluyen|retiene|retienen|facturo)\b"
)
_OPENER = re.compile(
    r"^(?:(?:y|e|o|pero|entonces|pues|vale|ok|okey|bueno|bien|ah|ya|aja|perfecto|gracias|de acuerdo|entendido|hola|oye|"
    r"muchas gracias|es decir|o sea|por cierto|vaya)\b[\s,.;:!¡¿?…-]*)+"
)
_JOINING = re.compile(r"\b(?:y|o|pero|entonces|pues)\b")
_CONDITION = re.compile(r"^(?:si|en caso de|siendo|aunque)\b(?! es (?:que|posible))")
_PHRASE = re.compile(
    r"^(?:el|la|los|las|lo de|lo|un|una|unos|unas|mi|mis|para|por|con|sin|en|de|del|al|a|desde|hasta|segun|respecto|sobre|"
    r"como|sus?|otr[oa]s?|este|esta|ese|esa|tambien|tampoco|solo)\b(?! que\b)"
)
_ALSO = re.compile(r"^(?:tambien|tampoco|lo mismo|igual(?:mente)?|ni|ademas|solo|al reves|lo contrario)\b")
_PRONOUN = re.compile(
    r"\b(?:\w+[aei]r(?:se)?l[oa]s?|eso|esto|ello|aquello|lo anterior|lo mismo(?! [^?]*\bque )|lo dicho|est[eao]s? ultim[oa]s?|"
    r"(?:ese|esa|esos|esas|dich[oa]s?|aquell?[oa]s?)(?= [a-z]{3})|(?:este|esta|estos|estas)"
    r"(?= (?:caso|modelo|gasto|plazo|deduccion|regla|regimen|impuesto|requisito|importe|limite|porcentaje|factura|operacion|"
    r"norma|articulo|situacion|excepcion)\b)|ahi|entonces$)(?:\b|(?= ))"
)
_DOUBT = re.compile(r"^(?:(?:es|estas|esta) )?(?:segur[oa]|de verdad|en serio|verdad)$")
_TO_THE_MACHINE = re.compile(r"\b(?:eres|tu|te|usted|llamas|puedes|sabes|asesoria|tal)\b")
_REQUEST = re.compile(r"^(?:explic|aclar|resum|ampli|detall|repit)\w*\s*")
_BARE_REQUEST = re.compile(
    r"^(?:explic\w+|aclar\w+|resum\w+|ampli\w+|detall\w+|repit\w+|continua|sigue|dame|dime|ponme|mas|que mas|y eso|"
    r"(?:pon(?:me)? )?(?:un|por) ejemplo|no (?:lo )?entiendo|por que|como|cuando|cuanto|donde|quien|cual(?:es)?)\b"
)
_LEADING = re.compile(
    r"^\W*(?:(?:(?:a partir de|desde|hasta|en|de|a|con|para|por)\s+)?(?:qu[eé]|cu[aá]l(?:es)?|cu[aá]ndo|cu[aá]nt[oa]s?|"
    r"c[oó]mo|d[oó]nde|qui[eé]n(?:es)?)\s+|"
    r"(?:es (?:verdad|cierto) que|si|es|son|est[aá]n?|hay que|hay|(?:me |se )?(?:puedo|pueden?|debo|deben?)|tengo que|"
    r"tienen? que|tengo|tienen?|hace falta|necesito|se \w+(?= (?:el|la|los|las|una?)\b)|"
    r"plazos?|fechas?|d[ií]a|mes|l[ií]mites?|importe|porcentaje|para|de|del|el|la|los|las|una?|me|se|nos|lo)\s+)+",
    re.IGNORECASE,
)

_CONTRACTED = re.compile(r"\b(a|de) el(?= [a-zñ\d])")
# Things of one kind: naming another of the same kind puts it in the place of the first.
_KINDS = tuple(
    re.compile(
        rf"\b(?:(?P<article>el|la|los|las|una?|unos|unas|al|del|mis?|tus?|sus?) )?(?P<noun>{words})\b", re.IGNORECASE
    )
    for words in (
        r"modelo \d{3}|(?:0[34]\d|1[0-9]{2}|[23]\d{2}|840|720|721)(?! ?(?:€|euros|%))",
        r"(?:primer|segundo|tercer|cuarto|primero|tercero|último|ultimo|[1-4]º|[1-4]\.º|[1-4]) ?(?:trimestre)",
        r"(?:19|20)\d\d",
        r"enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|octubre|noviembre|diciembre",
        r"IVA|IRPF|renta|impuesto sobre sociedades",
        r"módulos|modulos|estimación objetiva|estimacion objetiva|estimación directa(?: simplificada| normal)?|"
        r"estimacion directa(?: simplificada| normal)?|directa simplificada|directa normal|régimen simplificado|régimen general|"
        r"recargo de equivalencia|criterio de caja",
        r"coche|turismo|furgoneta|furgo|moto|motocicleta|camión|camion|bici|bicicleta|patinete|taxi|vehículo|vehiculo",
        r"mujer|marido|cónyuge|conyuge|pareja|hijos?|hijas?|padres?|madre|hermanos?|hermanas?|familiares?|cuñad[oa]|sobrin[oa]s?",
        r"luz|agua|gas|internet|teléfono|telefono|móvil|movil|calefacción|electricidad",
        r"ordenador|portátil|portatil|impresora|tablet|mobiliario|maquinaria|herramientas|software|programas? informáticos?",
        r"local|oficina|despacho|nave|piso|casa|vivienda|garaje|plaza de garaje",
        r"comidas?|restaurantes?|hoteles|hotel|dietas|gasolina|combustible|peajes?|aparcamiento|parking|seguros?|gestoría",
        r"empresari[oa]s?|profesional(?:es)?|agricultor(?:es)?|ganader[oa]s?|taxistas?|transportistas?|sociedad(?:es)?|"
        r"comunidad(?:es)? de bienes|particular(?:es)?",
        r"mensual(?:mente)?|trimestral(?:mente)?|anual(?:mente)?",
    )
)


@dataclass(frozen=True, slots=True)
class Turn:
    """A question of the conversation as it was typed, and whether it got an answer with sources."""

    question: str
    grounded: bool


@dataclass(frozen=True, slots=True)
class Resolved:
    """The stand-alone ``question``; ``follow_up`` says that it was made from two. ``unclear``: there is nothing to lean on."""

    question: str
    follow_up: bool = False
    unclear: bool = False


def resolve(question: str, history: Sequence[Turn]) -> Resolved:
    """The question as it stands alone. ``history`` is oldest first; only an answered last question can be leant on."""
    if not leans(question):
        return Resolved(question)
    antecedent = _antecedent(history)
    if antecedent:
        return Resolved(_joined(question, antecedent), follow_up=True)
    own = topics(question)
    return Resolved(question, unclear=len(own) < _OWN_TOPICS)


def leans(question: str) -> bool:
    """Whether a question cannot be understood without what was said before."""
    text = _plain(question)
    opener = _OPENER.match(text)
    core = text[opener.end() :] if opener else text
    joins = bool(opener and _JOINING.search(opener.group()))
    own = topics(_REQUEST.sub("", core))
    if not core or _TO_THE_MACHINE.search(core):
        return joins and not core
    pronoun = _PRONOUN.search(core)
    if _DOUBT.match(core) or (pronoun and not topics(core[: pronoun.start()]) and len(own) <= _OWN_TOPICS):
        return True
    if not own:
        if not joins and len(set(stems(core))) >= _OWN_GENERIC:
            return False
        return bool(
            opener or _BARE_REQUEST.match(core) or _INTERROGATIVE.search(core) or len(core.split()) <= _MAX_BARE_WORDS
        )
    if _ALSO.match(core) and len(own) < _OWN_TOPICS:
        return True
    if not joins:
        return False
    if _CONDITION.match(core):
        main = _main_clause(core)
        return len(own) < (_OWN_TOPICS if main else _OWN_TOPICS_OF_A_CONDITION)
    asks = _INTERROGATIVE.search(core) or _VERB.search(core)
    if _PHRASE.match(core) and not asks:
        return True
    return not asks and len(own) < _OWN_TOPICS


def topics(text: str) -> set[str]:
    """Stems of the words that say what a question is about."""
    return {stem for stem in stems(text) if stem not in _GENERIC}


def _main_clause(core: str) -> bool:
    """Whether a text that begins with a condition goes on to ask something."""
    _, comma, rest = core.partition(",")
    after = rest if comma else core.split(" ", 2)[-1]
    return bool(_INTERROGATIVE.search(after)) or (bool(comma) and bool(_VERB.search(rest)))


def _antecedent(history: Sequence[Turn]) -> str:
    """The last question, made whole from those before it; '' if there is none or it was not answered."""
    whole = ""
    for turn in history:
        if not turn.grounded:
            whole = ""
            continue
        whole = _joined(turn.question, whole) if whole and leans(turn.question) else turn.question
    return whole


def _joined(question: str, antecedent: str) -> str:
    """One question from a follow-up and what it leans on."""
    core = _stripped(question)
    if _DOUBT.match(fold(core)):
        return antecedent
    replaced, changed = _replaced(antecedent, core)
    asks = bool(_INTERROGATIVE.search(fold(core)) or _PRONOUN.search(fold(core)))
    if not asks and changed and set(stems(core)) <= set(stems(replaced)):
        return replaced  # the same, of another thing
    if not asks and topics(core):
        return f"{replaced.rstrip(' ?.!')}, {core}?"
    topic = _LEADING.sub("", replaced.strip(" ¿?.!")) or replaced
    return f"¿{core[:1].upper()}{core[1:]}, sobre {topic[:_MAX_TOPIC_CHARS].strip(' ¿?.!')}?"


def _replaced(antecedent: str, core: str) -> tuple[str, bool]:
    """The antecedent with what the follow-up names put in the place of its like; whether anything was."""
    changed = False
    for kind in _KINDS:
        new, old = kind.search(core), kind.search(antecedent)
        if new and old and fold(new["noun"]) != fold(old["noun"]):
            antecedent = _CONTRACTED.sub(r"\1l", kind.sub(partial(_in_place, new=new), antecedent))
            changed = True
    return antecedent, changed


def _in_place(old: re.Match[str], *, new: re.Match[str]) -> str:
    """The new noun where the old one stood, with its own article where both have one, and contracted as Spanish does."""
    standing, article = (old["article"] or "").casefold(), (new["article"] or "").casefold()
    if not standing or not article:
        return f"{old['article'] or ''}{' ' if standing else ''}{new['noun']}"
    preposition = {"al": "a ", "del": "de "}.get(standing, "")
    return f"{preposition}{'el' if article in ('al', 'del') else article} {new['noun']}"


def _stripped(question: str) -> str:
    """The follow-up without signs around it and without what it begins with to join on."""
    text = question.strip(" ¿?¡!.…,;:-\t\n")
    opener = _OPENER.match(_plain(text))
    return text[opener.end() :].strip(" ¿?¡!.…,") or text if opener else text


def _plain(text: str) -> str:
    """Lower case without accents, of the same length as ``text`` without the signs around it."""
    folded = "".join(fold(ch)[:1] or " " for ch in text.strip(" ¿?¡!.…,;:-\t\n"))
    return folded
