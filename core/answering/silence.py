"""Questions about what a text cannot say of itself, and about topics that it does not treat.

What came after it, what its limits are, whether it serves elsewhere: a document answers that only where it speaks of it.
Quoting what it does say on the topic, without saying that it is silent on what was asked, would pass for an answer.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from core.answering.units import Unit
from core.models import RetrievedFragment
from core.retrieval.terms import fold, stems

_BOOK = r"(?:libro|novela|obra|manual|documento|texto|ley|norma|reglamento)"
_VERB = r"(?:dice|cuenta|establece|ensena|explica|recoge|sostiene|propone|defiende|afirma|senala|regula|opina)"
# The question is about what a document says, or about an author's approach, and not about its subject alone.
_OF_THE_TEXT = re.compile(
    rf"\blo que (?:se )?{_VERB}\b|\b(?:enfoque|planteamiento|tesis|teoria|metodo|marco|framework) (?:del?|de la|de los) "
    rf"(?:autor\w*|{_BOOK})\b|\bdeja sin \w+r\b|\bque (?:criticas|objeciones|reproches)\b"
)
_TOPIC = re.compile(
    r"\b(?:sobre|acerca de|respecto (?:a|de)|en el cap[ií]tulo)\s+(?P<topic>[^?]+)\?*\s*$", re.IGNORECASE
)
_ASKS_TOPIC = re.compile(
    rf"^\W*(?:qu[eé] {_VERB}\b[^?]*?\b(?:sobre|acerca de|respecto (?:a|de))\s+(?P<a>[^?]+)"
    r"|(?:habla|trata|menciona|explica|dice algo)\b[^?]*?\b(?:de|sobre)\s+(?P<b>[^?]+)"
    rf"|(?:aparece|sale|se (?:menciona|habla de|cuenta|explica)) en (?:el|la|este|esta) {_BOOK}(?: «[^»]+»)? "
    r"(?P<c>[^?]+))\?*\s*$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Aspect:
    """Something that a text may be silent on. ``asked``: in folded questions; ``spoken``: in folded passages of a text
    that does speak of it; ``silent``: what is said where it does not."""

    asked: re.Pattern[str]
    spoken: re.Pattern[str]
    silent: str


_ASPECTS = (
    Aspect(
        re.compile(
            r"\b(?:posterior\w*|mas recient\w+|mas nuev\w+|mas actual\w*|desde entonces)\b.*\b(?:contradi\w+|desm\w+|"
            r"cuestion\w+|corrig\w+|super\w+|matiz\w+|cambi\w+|confirm\w+)|\bhay\b.*\b(?:estudios?|investigaci\w+|sentencias?|"
            r"jurisprudencia|doctrina)\b.*\b(?:contradi\w+|desm\w+|cuestion\w+)"
        ),
        re.compile(r"\b(?:sentencias?|jurisprudencia|estudios? posterior\w*|investigaci\w+ posterior\w*)\b"),
        "No: el documento no recoge nada posterior a su propio texto, así que no puede decir si algo lo contradice.",
    ),
    Aspect(
        re.compile(
            r"\b(?:limitaci\w+|puntos? debil\w*|debilidad\w*|carencias?|defectos?|criticas?|objeciones|"
            r"reproches|fallos?)\b|\bdeja sin \w+r\b"
        ),
        re.compile(
            r"\b(?:limitaci\w+ de (?:este|esta|el presente)|queda fuera de (?:este|esta)|no (?:se )?(?:trata|aborda)\w*)\b"
        ),
        "El documento no señala limitaciones ni críticas de lo que dice en este punto, ni lo que deja fuera.",
    ),
    Aspect(
        re.compile(r"\b(?:otros? paises?|extranjero|fuera de espana|resto del mundo|otros? estados?|otra comunidad)\b"),
        re.compile(r"\b(?:paises?|extranjer\w+|estados? miembros?|union europea|internacional\w*|no establecid\w+)\b"),
        "El documento no dice que sea aplicable en otros países.",
    ),
    Aspect(
        re.compile(r"\ben que (?:\w+ )?(?:situacion|context|cas|circunstanci|supuest)\w*\b.*\bno\b"),
        re.compile(r"\b(?:no (?:se )?(?:sirv|val|aplic|funcion)\w+|salvo|excepto|except\w+|exclu\w+)\b"),
        "El documento no dice en qué situaciones no serviría.",
    ),
)
# A fragment speaks of a topic that holds so much of its words, by their weight.
_SPOKEN_OF = 0.5


@dataclass(frozen=True, slots=True)
class Beyond:
    """A question about something beyond the text: the aspect, and the topic on which the text can be quoted ('' for none)."""

    aspect: Aspect
    topic: str

    def spoken(self, units: Sequence[Unit]) -> bool:
        """Whether what would be quoted speaks of the aspect."""
        return any(self.aspect.spoken.search(fold(unit.text)) for unit in units)


def beyond_the_text(question: str) -> Beyond | None:
    """What a question asks beyond the text; None for any other question."""
    text = fold(question)
    if not _OF_THE_TEXT.search(text):
        return None
    for aspect in _ASPECTS:
        if aspect.asked.search(text):
            topic = _TOPIC.search(question)
            return Beyond(aspect, topic["topic"].strip(" «».") if topic else "")
    return None


def topic_asked(question: str) -> str:
    """The topic of a question that asks what a document says on it («¿qué dice X sobre …?»); '' for any other."""
    match = _ASKS_TOPIC.search(question)
    return (match["a"] or match["b"] or match["c"] or "").strip(" «».") if match else ""


def is_silent(topic: str, found: Sequence[RetrievedFragment], weight: Callable[[str], float]) -> bool:
    """Whether none of the fragments found for a topic speaks of it: no one has half of its words by their weight."""
    wanted = {term: weight(term) for term in stems(topic)}
    total = sum(wanted.values())
    if not total:
        return False
    for hit in found:
        there = set(stems("\n".join((hit.fragment.text, *hit.fragment.section_path))))
        if sum(w for term, w in wanted.items() if term in there) >= _SPOKEN_OF * total:
            return False
    return True
