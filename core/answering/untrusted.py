"""Users' documents: what in them speaks to the machine, or poses as a citation, is left out before anything is made of it.

The prompt says that fragments are data and the verification removes what they do not support; this is the wall in
front of both, for what a document of the user's own says itself. Official documents are left as they are.
"""

import re
from dataclasses import replace

from core.models import Fragment, RetrievedFragment, Scope
from core.retrieval.search import SearchResult
from core.retrieval.terms import fold

_ABOUT = r"(?:instruccion|indicacion|regla|orden|mensaje|anterior|previ|prompt|instruction|rule|above|previous)"
_ORDERS = re.compile(
    rf"\b(?:ignor|olvid|desobede|descart|omit|disregard|forget)\w*\b.{{0,60}}\b{_ABOUT}"
    rf"|\b(?:no (?:sigas|hagas caso|tengas en cuenta)|haz caso omiso|do not follow)\b.{{0,60}}\b{_ABOUT}"
    r"|\b(?:nota|aviso|mensaje|orden|instruccion\w*|note|message)\b.{0,20}\b(?:asistente|modelo de lenguaje|chatbot|"
    r"inteligencia artificial|"
    r"asesoria\b|sistema|assistant|model|ai)\b"
    r"|\b(?:responde|contesta|afirma|repite|escribe|di|dile|answer|respond|reply|say)\b (?:siempre|solo|solamente|unicamente|"
    r"exactamente|que|always|only|that)\b"
    r"|\b(?:siempre|always|must) (?:responde|contesta|answer|respond|reply)\b"
    r"|\b(?:revela|muestra|imprime|reveal|print|show)\b.{0,30}\b(?:prompt|instruccion|instruction|nif|iban|datos)"
    r"|\b(?:eres|actua como|comportate como|a partir de ahora|desde ahora|you are now|from now on|act as)\b.{0,40}"
    r"\b(?:asistente|modelo|experto|asesor|responde|debes|assistant|model|must)"
    r"|^\W*(?:system|assistant|sistema|asistente)\s*(?:prompt)?\s*:|prompt de sistema|system prompt"
    r"|^\W*```\s*(?:system|assistant)"
    r"|\[\s*(?:fuente|source|cita)\s*:|</?\s*(?:fragmento|pregunta|system|instruc\w+)\b|<\|"
)
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
# What poses as one of our citations.
_MARK = re.compile(r"\[(\s*\d{1,3}(?:\s*[,;]\s*\d{1,3})*\s*)\]")
_ENDS = (".", "!", "?", ":", "»", ")")


def without_orders(hit: RetrievedFragment) -> RetrievedFragment:
    """A hit whose fragment's orders are blanked, see `blanked`."""
    fragment = blanked(hit.fragment)
    return hit if fragment is hit.fragment else replace(hit, fragment=fragment)


def data_only(result: SearchResult) -> SearchResult:
    """A search's result with what speaks to the machine blanked in users' fragments."""
    return replace(result, found=tuple(without_orders(hit) for hit in result.found))


def blanked(fragment: Fragment) -> Fragment:
    """A user's fragment with spaces in the place of lines that speak to the machine; offsets stay as they are.

    A line that does not end a sentence takes the next one with it; ``[1]`` becomes ``(1)``; headings and a title that
    speak to the machine are left out. Fragments of official documents come back as they are.
    """
    if fragment.source_scope is Scope.PUBLIC:
        return fragment
    text = _COMMENT.sub(lambda match: _blank(match.group()), fragment.text)
    lines, goes_on = [], False
    for line in text.split("\n"):
        if goes_on or is_order(line):
            goes_on = not line.rstrip().endswith(_ENDS) and bool(line.strip())
            line = _blank(line)
        lines.append(line)
    return replace(
        fragment,
        text=_MARK.sub(r"(\1)", "\n".join(lines)),
        title="Documento propio" if is_order(fragment.title) else fragment.title,
        section_path=tuple(heading for heading in fragment.section_path if not is_order(heading)),
    )


def is_order(text: str) -> bool:
    """Whether a line speaks to the machine."""
    return bool(_ORDERS.search(fold(text)))


def _blank(text: str) -> str:
    return re.sub(r"[^\n]", " ", text)
