"""Recall on a set of texts whose personal values are known, and the figures that the privacy notice shows."""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from core.config import PROJECT_ROOT
from core.privacy.kinds import SPANISH_NAMES, Kind, Match, resolve

RECALL_PATH = PROJECT_ROOT / "data" / "eval" / "pii_recall.json"
_COUNTRY = re.compile(r"es[\s-]*", re.IGNORECASE)


class KnownValue(Protocol):
    """Where a value stands in a text of the set."""

    @property
    def kind(self) -> str: ...
    @property
    def start(self) -> int: ...
    @property
    def end(self) -> int: ...


class KnownText(Protocol):
    """A text of the set."""

    @property
    def text(self) -> str: ...
    @property
    def values(self) -> Sequence[KnownValue]: ...


@dataclass(frozen=True, slots=True)
class KindRecall:
    """Of ``total`` values of a kind ``found`` were covered to the last letter and figure."""

    kind: Kind
    total: int
    found: int

    @property
    def recall(self) -> float:
        """Share found, 0..1."""
        return self.found / self.total if self.total else 0.0


def measure(cases: Iterable[KnownText], find: Callable[[str], list[Match]]) -> list[KindRecall]:
    """Recall per kind. A value counts as found when every letter and figure of it is covered.

    The country prefix before a tax number ("ES") need not be: it is nobody's.
    """
    total: Counter[Kind] = Counter()
    found: Counter[Kind] = Counter()
    for case in cases:
        covered = bytearray(len(case.text))
        for match in resolve(find(case.text)):
            covered[match.start : match.end] = b"\1" * (match.end - match.start)
        for value in case.values:
            kind, start = Kind(value.kind), value.start
            prefix = _COUNTRY.match(case.text, start) if kind in (Kind.NIF, Kind.NIE, Kind.CIF) else None
            start = prefix.end() if prefix else start
            total[kind] += 1
            found[kind] += all(covered[i] for i in range(start, value.end) if case.text[i].isalnum())
    return [KindRecall(kind, total[kind], found[kind]) for kind in Kind if total[kind]]


def share_redacted(texts: Iterable[str], find: Callable[[str], list[Match]]) -> tuple[int, int]:
    """(words touched by a find, words) of texts without personal data."""
    touched = words = 0
    for text in texts:
        spans = [m.span() for m in re.finditer(r"\S+", text)]
        words += len(spans)
        matches = resolve(find(text))
        touched += sum(any(m.start < end and start < m.end for m in matches) for start, end in spans)
    return touched, words


def recall_table() -> Mapping[str, float]:
    """Spanish name of each kind -> measured recall (0..1), as stored by ``scripts/measure_pii.py``; {} without it."""
    try:
        rows = json.loads(RECALL_PATH.read_text("utf-8"))["set"]["kinds"]
        return {SPANISH_NAMES[Kind(kind)]: float(row["recall"]) for kind, row in rows.items()}
    except (OSError, ValueError, KeyError):
        return {}
