"""Which lines of a text are worth the NLP engine: those where a person could be accepted at all."""

import re
from collections.abc import Iterator

from core.privacy.gazetteer import Gazetteer, fold, gazetteer

_CAPITAL = re.compile(r"\b[A-ZÁÉÍÓÚÜÑÀÈÒÇ][^\W\d_]+")
_PAIR = re.compile(r"\b([A-ZÁÉÍÓÚÜÑÀÈÒÇ][^\W\d_]{2,})[ ](?=([A-ZÁÉÍÓÚÜÑÀÈÒÇ][^\W\d_]{2,}))")
_LONGEST = 3000


def candidate_lines(text: str) -> Iterator[tuple[int, int]]:
    """(start, end) of the lines that hold a capitalised known name with another capitalised word beside it.

    A very long line is cut at blanks, so that one line of 100,000 characters does not go through at once.
    """
    names = gazetteer()
    at = 0
    for line in text.split("\n"):
        start = at
        at += len(line) + 1
        while len(line) > _LONGEST:
            cut = line.rfind(" ", _LONGEST // 2, _LONGEST)
            cut = cut if cut > 0 else _LONGEST
            if _candidate(line[:cut], names):
                yield start, start + cut
            start += cut
            line = line[cut:]
        if _candidate(line, names):
            yield start, start + len(line)


def _candidate(line: str, names: Gazetteer) -> bool:
    for match in _CAPITAL.finditer(line):
        folded = fold(match[0])
        if folded in names.first or folded in names.last:
            return True
        if (folded in names.loose_first or folded in names.loose_last) and re.match(
            r"[ ](?:(?:de|del|la|y)[ ])*[A-ZÁÉÍÓÚÑ]", line[match.end() : match.end() + 12]
        ):
            return True
    return any(not names.ordinary(match[1]) and not names.ordinary(match[2]) for match in _PAIR.finditer(line))
