"""Extraction that first looks whether the documents say what the question has them say, or anything on what it asks."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from core.answering.extractive import Extract, Extractor, Searched
from core.answering.silence import beyond_the_text, is_silent, topic_asked
from core.answering.stated import (
    Nearest,
    Stated,
    Way,
    contradiction,
    names,
    nearest,
    same_statement,
    stated_in,
    verbatim,
)
from core.answering.units import Unit
from core.models import RetrievedFragment, Scope
from core.retrieval.search import SearchResult

# How many fragments are searched for a quotation or a topic, and read for the nearest sentence.
SEARCHED = 40
# How many of those found for a topic are read for what is said on it.
_READ_ON_TOPIC = 8

_NOT_QUOTED = "No: esa cita literal no aparece en los pasajes consultados. El más parecido [{mark}] dice otra cosa."
_NOT_ATTRIBUTED = (
    "No puedo confirmar que esté donde dice la pregunta, ni que sea de quien dice: el pasaje es de {title} [{mark}]."
)


@dataclass(frozen=True)
class CheckedExtractor(Extractor):
    """An `Extractor` that tells what is not in the documents. ``search`` finds `SEARCHED` fragments, official or (True)
    of the session's own documents."""

    search: Callable[[str, bool], SearchResult]

    def extract(self, question: str, parts: Sequence[Searched]) -> Extract:
        """See `Extractor`."""
        if not parts:
            return super().extract(question, parts)
        own = any(hit.fragment.source_scope is Scope.PRIVATE for hit in parts[0].found)
        if (stated := stated_in(question)) and (checked := self._stated(stated, own)):
            return checked
        if (beyond := beyond_the_text(question)) and (told := self._on_topic(beyond.topic, question, parts, own)):
            return told if beyond.spoken([u for u, _ in told.units]) else _led(told.units, beyond.aspect.silent)
        if (topic := topic_asked(question)) and is_silent(topic, self.search(topic, own).found, self.terms.weight):
            return Extract(())
        return super().extract(question, parts)

    def _stated(self, stated: Stated, own: bool) -> Extract | None:
        """What the documents say to a statement; None where they neither have nor contradict it."""
        found = self.search(stated.text, own).found
        near = nearest(stated.text, found)
        if stated.way is Way.QUOTATION:
            if whole := verbatim(stated.text, found):
                return _led(whole, "Sí: esas palabras están en este pasaje [{mark}].")
            return _led(_one(near), _NOT_QUOTED) if near else Extract(())
        if near is None or not same_statement(near):
            return None
        if stated.way is Way.ATTRIBUTION and not names(stated.other, near.hit.fragment):
            return _led(_one(near), _NOT_ATTRIBUTED)
        other = contradiction(stated.text, near)
        return _led(_one(near), f"No: el pasaje citado dice {other} [{{mark}}].") if other else None

    def _on_topic(self, topic: str, question: str, parts: Sequence[Searched], own: bool) -> Extract | None:
        """What the documents say on a ``topic``, on the question where that is ''; None for nothing."""
        if not topic:
            return super().extract(question, parts)
        result = self.search(topic, own)
        asked = f"¿Qué se dice sobre {topic}?"
        extracted = super().extract(asked, [Searched(asked, result.found[:_READ_ON_TOPIC], result.expected)])
        return extracted if extracted.units else None


def _one(near: Nearest) -> tuple[tuple[Unit, RetrievedFragment], ...]:
    return ((near.unit, near.hit),)


def _led(units: tuple[tuple[Unit, RetrievedFragment], ...], lead: str) -> Extract:
    return Extract(units, lead=f"**{lead}**")
