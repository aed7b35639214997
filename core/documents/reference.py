"""Does a question speak of a document of one's own? "mi factura", "la carta", "¿qué total sale?"."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from core.retrieval.terms import fold, stems

# Kinds of document that a person may have (folded).
NOUN = (
    r"(?:facturas?|cartas?|notificaci(?:on|ones)|documentos?|archivos?|ficheros?|pdf|contratos?|recibos?|tickets?|tiques?|"
    r"presupuestos?|requerimientos?|escritos?|liquidaci(?:on|ones)|propuestas?|resoluci(?:on|ones)|providencias?|nominas?|"
    r"extractos?|justificantes?|certificados?|albaran(?:es)?|textos?|papel(?:es)?|hojas?|borrador(?:es)?|libros? de facturas|"
    r"informes?|tablas?|anexos?|polizas?|escrituras?|acuerdos?|correos?|comunicaci(?:on|ones)|minutas?|sanci(?:on|ones))"
)
# Names of any file: they tell none of them from the others.
_ANY_FILE = frozenset(stems("documento archivo fichero pdf escrito texto papel hoja"))
_OWN = re.compile(
    rf"\b(?:mis?|nuestr[ao]s?|es[ae]s?|es[eo]s?|est[aeo]s?|dich[ao]s?|aquel(?:la)?) (?:\w+ )?{NOUN}\b"
    rf"|\b{NOUN} (?:que (?:he|hemos|me|nos|te) |subid\w+|adjunt\w+|recibid\w+|enviad\w+|de arriba)"
    r"|\b(?:he|hemos) (?:subido|adjuntado|cargado|enviado|recibido|pasado)\b|\badjunt[oa]s?\b"
    r"|\b(?:me|nos) (?:ha llegado|han mandado|han enviado|reclaman|notifican|dan de plazo)\b"
)
# "la factura", "el contrato": of one's own where the question asks for something that stands on a single document.
_DEFINITE = re.compile(rf"\b(?:la|el|las|los|del|al) {NOUN}\b")
_PROPERTY = re.compile(
    r"\b(?:que|cual(?:es)?(?: es| son)?(?: el| la| los| las)?|cuanto|cuanta|cuantos|cuantas|cuando|quien(?:es)?|a quien|de quien|"
    r"a nombre de quien|de cuanto|por cuanto|con que)\b[^?]*?\b"
    r"(?:total(?:es)?|importes?|bases?(?: imponibles?)?|iva|retenci\w+|irpf|vence|vencen|vencimiento|fechas?|numero|numeracion|"
    r"emisor|emite|emitio|client\w+|proveedor\w*|destinatari\w+|firma\w*|conceptos?|lineas?|sale|salen|suma\w*|pone|dice|"
    r"reclama\w*|pid\w+|plazo|fianza|renta|precios?|cantidad(?:es)?|forma de pago|referencia|expedient\w+|cuota|recargo|"
    r"paga\w*|debo|tengo que pagar|cuesta|cost\w+|intereses|alquiler|clausulas?|paginas?)\b"
)
_GENERAL = re.compile(
    r"\b(?:tipos? (?:general|reducid|superreducid|impositiv)\w*|vigentes?|con caracter general|en general)\b"
)
_MENTION = re.compile(
    rf"(?:\b(?:segun|de|en|por|para|con|a) )?\b(?:mis?|nuestr[ao]s?|es[aeo]s?|est[aeo]s?|la|el|las|los|del|al) {NOUN}\b"
    r"(?: que (?:me|nos) han? \w+| que (?:he|hemos) \w+)?|\bsegun la (?:norma|ley)\b"
)
# What asks for the rule, whatever document the question speaks of.
_RULE = re.compile(
    r"\b(?:deduc\w+|desgrav\w+|obligatori\w+|obligad\w+|es legal|"
    r"segun la (?:ley|norma)|la (?:ley|norma)|normativa|es correct\w+|esta bien|"
    r"puedo|puede\w*|debo|debe\w*|tengo que|hay que|hace falta|recurr\w+|alega\w*|sancion\w*|multa|"
    r"plazo (?:legal|para)|requisitos|"
    r"como (?:se|hago|contesto|declaro)|modelo \d{3}|exent\w+|tipo de iva|que iva lleva|contener|declar\w+|tribut\w+)\b"
)
_FEW_STEMS = 4


@dataclass(frozen=True, slots=True)
class Reference:
    """``own``: the question names a document of one's own. ``bare``: it asks for what stands on a single document
    ("¿qué total sale?") and names no other topic. ``rule``: it (also) asks what the rule is. ``nouns``: stems of the
    kinds of document named."""

    own: bool
    bare: bool
    rule: bool
    nouns: frozenset[str] = frozenset()

    @property
    def any(self) -> bool:
        """Whether the own documents are meant."""
        return self.own or self.bare


def read_reference(question: str, titles: Sequence[str] = ()) -> Reference:
    """Read the wording of ``question``; ``titles`` are the (redacted) names of the session's documents."""
    text = fold(question)
    asks = bool(_PROPERTY.search(text))
    own = bool(_OWN.search(text)) or (asks and bool(_DEFINITE.search(text))) or _names(text, titles)
    bare = asks and len(set(stems(question))) <= _FEW_STEMS and not _GENERAL.search(text)
    nouns = frozenset(stems(" ".join(re.findall(rf"\b{NOUN}\b", text)))) - _ANY_FILE
    return Reference(own=own, bare=bare, rule=bool(_RULE.search(text)), nouns=nouns)


def is_named(question: str, reference: Reference, *, title: str, opening: str) -> bool:
    """Whether the question names this document: its file's name, or its kind as title or first lines give it."""
    return _names(fold(question), [title]) or bool(reference.nouns & set(stems(f"{title.replace('_', ' ')} {opening}")))


def without_mention(question: str) -> str:
    """The question without the own document that it names, to search for the rule alone."""
    text = fold(question)
    if len(text) != len(question):
        return question
    pieces, at = [], 0
    for match in _MENTION.finditer(text):
        pieces.append(question[at : match.start()])
        at = match.end()
    return " ".join("".join((*pieces, question[at:])).split())


def _names(text: str, titles: Sequence[str]) -> bool:
    """Whether a file's name, or the number in it, stands in the question."""
    for title in titles:
        name = fold(re.sub(r"\.[A-Za-z0-9]{1,10}$", "", title)).replace("_", " ").strip()
        numbers = re.findall(r"\d{2,}(?:[-/]\d+)+|\d{5,}", name)
        if (len(name) >= 5 and name in text) or any(number in text for number in numbers):
            return True
    return False
