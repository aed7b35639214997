"""A plain and strict check of a draft, for tests that need one and are not about it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from core.models import Fragment
from core.retrieval.terms import stems

_SENTENCE = re.compile(r"[^\n]*?\[\d+\](?:\s*\[\d+\])*[.;]?|[^\n]+")
_FIGURE = re.compile(r"\d+(?:[.,]\d+)*")


@dataclass(frozen=True)
class Verified:
    """What is left of a draft."""

    text: str
    coverage: float
    supporting: int


def verify(draft: str, passages: Mapping[int, Fragment]) -> Verified:
    """Keeps a sentence whose figures all stand in the fragments that it cites, with most of its words."""
    kept, cited, total = [], set(), 0
    for match in _SENTENCE.finditer(draft):
        sentence = match.group().strip()
        if not any(ch.isalnum() for ch in sentence):
            continue
        total += 1
        marks = {int(mark) for mark in re.findall(r"\[(\d+)\]", sentence)}
        said = re.sub(r"\[\d+\]", "", sentence)
        text = "\n".join(passages[mark].text for mark in marks & set(passages))
        words = set(stems(said))
        if not marks or marks - set(passages) or set(_FIGURE.findall(said)) - set(_FIGURE.findall(text)):
            continue
        if len(words & set(stems(text))) >= 0.7 * len(words):
            kept.append(sentence)
            cited |= marks
    return Verified(" ".join(kept), len(kept) / total if total else 0.0, len(cited))
