"""Quotations of a claim, verbatim in a passage or not."""

import re
from collections.abc import Sequence

from core.answering.attachment import View
from core.answering.claims import quotations

_ELLIPSIS = re.compile(r"\s*(?:\[…\]|\[\.\.\.\]|\(…\)|\(\.\.\.\)|…|\.\.\.)\s*")


def pieces(text: str) -> list[str]:
    """The quotations of a text, parted at their ellipses."""
    return [p for a, b in quotations(text) for p in _ELLIPSIS.split(text[a + 1 : b - 1]) if p.strip()]


def quoted_in(body: str, views: Sequence[View]) -> tuple[list[tuple[int, int]], str]:
    """Spans of the quotations of a claim, and the first that stands in no passage ('' if all do)."""
    texts = [folded(v.text) for v in views]
    spans: list[tuple[int, int]] = []
    for start, end in quotations(body):
        for piece in _ELLIPSIS.split(body[start + 1 : end - 1]):
            wanted = folded(piece)
            if wanted and not any(wanted in text for text in texts):
                return spans, piece
        spans.append((start, end))
    return spans, ""


def folded(text: str) -> str:
    """Text with white space folded."""
    return " ".join(text.split())


def blank(body: str, spans: Sequence[tuple[int, int]]) -> str:
    """``body`` with the spans blanked out, lengths kept."""
    for start, end in spans:
        body = body[:start] + " " * (end - start) + body[end:]
    return body
