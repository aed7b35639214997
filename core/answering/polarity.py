"""Whether a claim says what its passage says, or its opposite: negation, duty and permission."""

import re
from collections.abc import Iterable

from core.answering.numerals import flat
from core.answering.wording import term_of

_WORD = re.compile(r"[^\W\d_]+")
_NEGATIONS = frozenset("no nunca tampoco ningun ninguna ninguno ni jamas sin".split())
_NEGATIVE = re.compile(
    r"\b(?:no|nunca|tampoco|ningun[oa]?|ni|jamas|sin|salvo|excepto|except\w+|exent\w+|exenc\w+|exclu\w+|exoner\w+|dispens\w+|"
    r"prohib\w+|impid\w+|imposib\w+|neg\w+|denieg\w+|improceden\w+|carec\w+|falta\w*|solo|unicamente|exclusiv\w+|"
    r"libr\w+|eximi\w+|innecesari\w+|inaplic\w+|indebid\w+|ajen\w+|fuera|contrario|limit\w+)\b"
)
# «No superior a», «no exceda», «no obstante», «no residente»: they deny nothing of the claim's verb.
_HARMLESS = re.compile(
    r"\bno\s+(?:se\s+)?(?:obstante|solo|superior\w*|inferior\w*|exced\w*|super[ae]\w*|rebas\w*|residente\w*|mas\s+tarde|establec\w+|"
    r"obstaculi\w+|profesional\w*)\b|\bsin\s+(?:perjuicio|embargo|que\s+(?:exceda|supere))|\bsi\s+no\s*[,;]|\bo\s+no\b"
)
_DUTY = re.compile(
    r"\b(?:deb(?:e|en|era|eran|iendo)|obligat\w+|obligad[oa]s?|obligacion\w*|tien(?:e|en)\s+que|tendran?\s+que|"
    r"ha(?:n|bra|bran)?\s+de|preceptiv\w+|hay\s+que|exig\w+|necesari\w+|imprescindible)\b"
)
_PERMISSION = re.compile(
    r"\b(?:pued(?:e|en|a|an)|podra|podran|podria\w*|permit\w+|opta\w*|opcion\w*|voluntari\w+|facultativ\w+|"
    r"cabe|posib\w+|autoriz\w+|derecho\s+a)\b"
)
_AUXILIARY = frozenset(
    term_of(word) or word
    for word in """podrá podrán puede pueden deberá deberán debe deben será serán estará estarán está están ha han habrá
    obligado obligados obligada obligación necesario tendrá tendrán tiene tienen hay procede procederá caso"""
    .split()
)  # fmt: skip


def negated(text: str) -> set[str]:
    """The terms that a text denies: the first content words after each negation."""
    lowered = _HARMLESS.sub(lambda m: " " * len(m.group()), flat(text))
    found: set[str] = set()
    for clause in re.split(r"[.;:,()\n|]", lowered):
        words = _WORD.findall(clause)
        for index, word in enumerate(words):
            if word in _NEGATIONS:
                found.update(_next_terms(words[index + 1 :]))
    return found


def _next_terms(words: Iterable[str], count: int = 2) -> list[str]:
    found: list[str] = []
    for word in words:
        if word in _NEGATIONS:
            break
        term = term_of(word)
        if term:
            found.append(term)
            if term not in _AUXILIARY and len([t for t in found if t not in _AUXILIARY]) >= count:
                break
    return found


def is_negative(text: str) -> bool:
    """Whether a text has any word that denies, exempts or excludes."""
    return bool(_NEGATIVE.search(_HARMLESS.sub(" ", flat(text))))


def denies(text: str) -> bool:
    """Whether a text has an outright negation."""
    lowered = _HARMLESS.sub(" ", flat(text))
    return any(word in _NEGATIONS and word not in ("sin", "ni") for word in _WORD.findall(lowered))


def modal_terms(text: str) -> dict[str, set[str]]:
    """What a text says must be done («duty») or may be done («permission»): the first content word after each cue."""
    lowered = flat(text)
    found: dict[str, set[str]] = {}
    for name, pattern in (("duty", _DUTY), ("permission", _PERMISSION)):
        for match in pattern.finditer(lowered):
            clause = re.split(r"[.;:()\n|]", lowered[match.end() :], maxsplit=1)[0]
            for term in _next_terms(_WORD.findall(clause), count=1)[-1:]:
                found.setdefault(term, set()).add(name)
    return found


def modality_conflict(claim: str, source: str) -> bool:
    """Whether a claim says of the same thing that it must be done where its source says that it may, or the reverse."""
    ours, theirs = modal_terms(claim), modal_terms(source)
    return any(
        said <= {"duty", "permission"} and theirs[term].isdisjoint(said)
        for term, said in ours.items()
        if term in theirs
    )
