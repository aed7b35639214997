"""Questions that put words into a document's mouth: a literal quotation, a statement, or where something is written.

«¿Puedes citar literalmente dónde dice: «…»?», «¿Dice la ley que …?», «La regla de que … está en el Código de Comercio,
¿verdad?». What is stated is looked for in the documents themselves, sentence by sentence.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from core.answering.polarity import negated
from core.answering.units import Unit, units_of
from core.answering.values import Kind, read_values
from core.answering.wording import terms_of
from core.models import Fragment, RetrievedFragment
from core.retrieval.terms import fold, stems

_QUOTED = re.compile(
    r"(?:\b(?:dic\w+|pon\w+|que|citas?|frases?|pasaje|literal\w*|textual\w*|afirma\w*|escrib\w+)|[:,]"
    r"|\b(?:dic\w+|pon\w+)\s+(?:mi|nuestr[oa]|es[ea]|est[ea]) (?!libro|novela|obra|manual|documento)\w+)\s*:?\s*"
    r"(?:«(?P<a>[^«»]+)»|“(?P<b>[^“”]+)”|\"(?P<c>[^\"]+)\")",
    re.IGNORECASE,
)
_CITES = re.compile(
    r"\b(?:cit(?:a|as|ar\w*|e|es|eme|ame)|literal\w*|textual\w*|palabra por palabra|frase|pasaje|donde|pone|dicen?)\b"
)
_MIN_QUOTED_WORDS = 4
_SAYS = r"(?:dice|establece|afirma|sostiene|cuenta|recoge|señala|indica|explica|enseña)"
_REPORTS = (
    re.compile(rf"^\W*{_SAYS}\b[^?]*?\bque (?P<claim>[^?]+)\?*\s*$", re.IGNORECASE),
    re.compile(
        r"^\W*es (?:cierto|verdad|correcto)\b(?:,[^?]{1,200}?,)? que,? ?(?:según [^?]+?, )?(?P<claim>[^?]+)\?*\s*$",
        re.IGNORECASE,
    ),
    re.compile(
        r"^\W*según (?:el|la|los|las) [^?]+?, (?P<claim>[^?]+?), ¿(?:verdad|no|cierto|no es así|es así)\?*\s*$",
        re.IGNORECASE,
    ),
    re.compile(
        r"^\W*(?:he (?:leído|oído|visto)|me (?:han dicho|dicen|dijeron|contaron)|tengo entendido|dicen|leí)\b(?:,[^?]{1,200}?,)? "
        r"que (?P<claim>[^?]+?)[.,;]\s*¿(?:es (?:correcto|así|verdad|cierto)|verdad|no es así)\?*\s*$",
        re.IGNORECASE,
    ),
)
_TAG = r",\s*¿(?:verdad|no|cierto|no es así|es así|no es verdad|correcto)\?*\s*$"
_ATTRIBUTED = (
    re.compile(
        rf"^\W*(?:(?:la|esa|esta) (?:regla|norma|idea|frase)|lo|eso) (?:de )?que (?P<claim>.+) "
        rf"(?:está|figura|aparece|viene|se recoge|consta) en (?P<other>[^¿?]+?){_TAG}",
        re.IGNORECASE,
    ),
    re.compile(
        rf"^\W*(?:(?:lo|eso) (?:de )?)?que (?P<claim>.+) lo (?:escribió|dijo|dice|contó|cuenta|afirmó|afirma|sostiene) "
        rf"(?P<other>[^¿?]+?){_TAG}",
        re.IGNORECASE,
    ),
    re.compile(rf"^\W*(?P<other>(?:el|la|los|las) [^,¿?]+?) {_SAYS} que (?P<claim>[^¿?]+?){_TAG}", re.IGNORECASE),
)
# How much of what is stated a sentence holds (share of stems), and how much of the sentence that is, to be the same
# sentence with another word or figure; for a quotation, to be worth showing as the nearest.
_SAME, _OF_IT, _NEAR = 0.8, 0.6, 0.5
# A statement of fewer stems is held by chance.
_MIN_STEMS = 4
_FIGURES = {
    Kind.PERCENT: "otro porcentaje", Kind.MONEY: "otro importe", Kind.PERIOD: "otro plazo", Kind.DATE: "otra fecha",
    Kind.YEAR: "otra fecha", Kind.MONTH: "otra fecha", Kind.NUMBER: "otra cifra",
}  # fmt: skip


class Way(StrEnum):
    """How a question states something."""

    QUOTATION = "quotation"
    REPORT = "report"
    ATTRIBUTION = "attribution"


@dataclass(frozen=True, slots=True)
class Stated:
    """What a question states; ``other`` is where or by whom it says that it is written (attributions only)."""

    way: Way
    text: str
    other: str = ""


@dataclass(frozen=True, slots=True)
class Nearest:
    """The unit of the documents nearest to what is stated, the hit that it is from, and the share of it that it holds."""

    unit: Unit
    hit: RetrievedFragment
    holds: float
    alike: float


def stated_in(question: str) -> Stated | None:
    """What ``question`` states of a document; None where it only asks."""
    if _CITES.search(fold(question)):
        quoted = [m["a"] or m["b"] or m["c"] for m in _QUOTED.finditer(question)]
        long = [text for text in quoted if len(text.split()) >= _MIN_QUOTED_WORDS]
        if long:
            return Stated(Way.QUOTATION, long[-1].strip())
    for pattern in _ATTRIBUTED:
        if (match := pattern.search(question)) and len(stems(match["claim"])) >= _MIN_STEMS:
            return Stated(Way.ATTRIBUTION, match["claim"].strip(), match["other"].strip())
    for pattern in _REPORTS:
        if (match := pattern.search(question)) and len(stems(match["claim"])) >= _MIN_STEMS:
            return Stated(Way.REPORT, match["claim"].strip(" ,.«»"))
    return None


def nearest(text: str, found: Iterable[RetrievedFragment]) -> Nearest | None:
    """The sentence, item or row of the fragments that is most like ``text``; None where none shares half of it."""
    wanted = set(stems(text))
    best: Nearest | None = None
    for hit in found:
        if len(wanted & set(stems(hit.fragment.text))) < _NEAR * len(wanted):
            continue
        for unit in units_of([hit.fragment]):
            there = set(stems(unit.text))
            shared = len(wanted & there)
            holds = shared / max(1, len(wanted))
            alike = 2 * shared / max(1, len(wanted) + len(there))
            if holds >= _NEAR and (best is None or alike > best.alike):
                best = Nearest(unit, hit, holds, alike)
    return best


def verbatim(text: str, found: Iterable[RetrievedFragment]) -> tuple[tuple[Unit, RetrievedFragment], ...]:
    """The units of the first fragment that has ``text`` word by word (case, accents and signs apart); none if none has."""
    wanted = _bare(text)
    for hit in found:
        if wanted and f" {wanted} " in f" {_bare(hit.fragment.text)} ":
            units = units_of([hit.fragment])
            whole = [u for u in units if wanted in _bare(u.text)]
            if whole:
                return ((min(whole, key=lambda u: len(u.text)), hit),)
            parts = [u for u in units if not u.is_list and _bare(u.text) and _bare(u.text) in wanted]
            if parts:
                return tuple((unit, hit) for unit in parts)
    return ()


def contradiction(text: str, near: Nearest) -> str:
    """What the nearest sentence says otherwise: "lo contrario", "otro plazo" …; '' where it does not, or is not the same."""
    said = near.unit.text
    if near.holds < _SAME or near.alike < _OF_IT:
        return ""
    both = terms_of(text) & terms_of(said)
    if (negated(text) ^ negated(said)) & both:
        return "lo contrario"
    there = {(v.kind, v.norm) for v in read_values(said)}
    for value in read_values(text):
        same_kind = {norm for kind, norm in there if kind is value.kind}
        if value.kind in _FIGURES and same_kind and value.norm not in same_kind:
            return _FIGURES[value.kind]
    return ""


def names(other: str, fragment: Fragment) -> bool:
    """Whether a fragment or its document's title names the law or author ``other``."""
    there = f"{fragment.title}\n{' '.join(fragment.section_path)}\n{fragment.text}"
    if numbers := re.findall(r"\d+/\d{4}", other):
        return any(number in there for number in numbers)
    wanted = set(stems(other))
    return bool(wanted) and wanted <= set(stems(there))


def _bare(text: str) -> str:
    return re.sub(r"[\W_]+", " ", fold(text)).strip()


def same_statement(near: Nearest) -> bool:
    """Whether the nearest sentence holds (nearly) all of what is stated."""
    return near.holds >= _SAME
