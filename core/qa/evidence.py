"""Whether a quotation is really in an answer. Both judges check their evidence here."""

import re
from collections.abc import Iterable, Mapping

from core.answering.both import as_shown
from core.answering.claims import renumbered
from core.retrieval.terms import fold

_ELLIPSIS = re.compile(r"\[…\]|\[\.\.\.\]|\(…\)|\(\.\.\.\)|…|\.{3,}")
_MARK = re.compile(r"\[\s*\d{1,3}(?:\s*[,;]\s*\d{1,3})*\s*\]")
_DRESS = re.compile(r"[*_#|«»“”\"'‘’]+")
_LONGEST = 240


def bare(text: str) -> str:
    """Lower case without accents, citation marks, emphasis, quotation marks and needless white space."""
    return " ".join(_DRESS.sub(" ", _MARK.sub(" ", fold(as_shown(text)))).split()).replace(" .", ".").replace(" ,", ",")


def is_quoted(quote: str, answer: str) -> bool:
    """Whether each piece of ``quote`` (an ellipsis joins pieces) stands in ``answer``, in order; '' does not."""
    rest = bare(answer)
    pieces = [p for p in (bare(piece).strip(" .,;:") for piece in _ELLIPSIS.split(quote)) if p]
    for piece in pieces:
        at = rest.find(piece)
        if at < 0:
            return False
        rest = rest[at + len(piece) :]
    return bool(pieces)


def shortened(text: str) -> str:
    """A stretch of an answer as evidence: without its marks, and no longer than one likes to read."""
    text = " ".join(renumbered(text, {}).split())
    return text if len(text) <= _LONGEST else text[:_LONGEST].rsplit(" ", 1)[0]


def not_there(quotes: Mapping[str, str], answer: str) -> list[str]:
    """The names of the quotes that do not stand in ``answer``."""
    return [name for name, quote in quotes.items() if not is_quoted(quote, answer)]


def kept(quotes: Iterable[str], answer: str) -> tuple[str, ...]:
    """The quotes that stand in ``answer``, without repeats."""
    return tuple(dict.fromkeys(q for q in quotes if is_quoted(q, answer)))
