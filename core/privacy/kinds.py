"""The words of this package: kinds of personal data, what was found, and what is left after redaction."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class Kind(StrEnum):
    """Kinds of personal data. The value is the word inside the placeholder: ``<NIF_1>``."""

    NIF = "NIF"
    NIE = "NIE"
    CIF = "CIF"
    IBAN = "IBAN"
    CCC = "CCC"
    CARD = "TARJETA"
    NAF = "NAF"
    CADASTRAL = "REF_CATASTRAL"
    EMAIL = "EMAIL"
    PHONE = "TELEFONO"
    PERSON = "NOMBRE"
    ADDRESS = "DIRECCION"


SPANISH_NAMES: Mapping[Kind, str] = {
    Kind.NIF: "NIF o DNI",
    Kind.NIE: "NIE",
    Kind.CIF: "CIF",
    Kind.IBAN: "IBAN",
    Kind.CCC: "cuenta bancaria (CCC)",
    Kind.CARD: "tarjeta de pago",
    Kind.NAF: "número de la Seguridad Social",
    Kind.CADASTRAL: "referencia catastral",
    Kind.EMAIL: "correo electrónico",
    Kind.PHONE: "teléfono",
    Kind.PERSON: "nombre de persona",
    Kind.ADDRESS: "dirección postal",
}

# Of two overlapping finds of equal certainty the kind further up wins.
PRIORITY = (
    Kind.IBAN,
    Kind.CADASTRAL,
    Kind.EMAIL,
    Kind.CCC,
    Kind.CARD,
    Kind.NIE,
    Kind.NIF,
    Kind.CIF,
    Kind.NAF,
    Kind.PHONE,
    Kind.ADDRESS,
    Kind.PERSON,
)

CERTAIN, LIKELY, POSSIBLE = 1.0, 0.8, 0.6
"""Scores: proved by check digits or an unmistakable form; by its form and context; by its context alone."""


@dataclass(frozen=True, slots=True)
class Match:
    """A find at ``start:end`` of a text. ``score`` is one of CERTAIN, LIKELY, POSSIBLE."""

    start: int
    end: int
    kind: Kind
    score: float = CERTAIN


@dataclass(frozen=True, slots=True)
class PiiSpan:
    """Where a value stood in the text before redaction, and what stands for it now. Never the value."""

    start: int
    end: int
    kind: Kind
    placeholder: str

    @property
    def length(self) -> int:
        """Length of the value, in characters."""
        return self.end - self.start


@dataclass(frozen=True, slots=True)
class Redaction:
    """A text without its personal data. ``spans`` point into the text as it was; ``counts``: finds per kind."""

    text: str
    spans: tuple[PiiSpan, ...] = ()
    counts: Mapping[Kind, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class DocumentReport:
    """What was redacted in a document: finds per kind, and how many distinct values of each kind."""

    counts: Mapping[Kind, int]
    distinct: Mapping[Kind, int]

    @property
    def total(self) -> int:
        """Finds of every kind."""
        return sum(self.counts.values())


def count(spans: Iterable[PiiSpan]) -> dict[Kind, int]:
    """Finds per kind, in the order of `Kind`."""
    found = Counter(span.kind for span in spans)
    return {kind: found[kind] for kind in Kind if found[kind]}


def resolve(matches: Iterable[Match]) -> list[Match]:
    """Matches that do not overlap, in order of place.

    Of two that overlap the more certain wins, then the longer, then the kind further up in `PRIORITY`; what sticks
    out of the loser stays covered, under the loser's own kind.
    """
    ranked = sorted(matches, key=lambda m: (-m.score, m.start - m.end, PRIORITY.index(m.kind), m.start))
    kept: list[Match] = []
    for match in ranked:
        pieces = [(match.start, match.end)]
        for other in kept:
            if other.start < match.end and match.start < other.end:
                pieces = [
                    part
                    for start, end in pieces
                    for part in ((start, min(end, other.start)), (max(start, other.end), end))
                    if part[0] < part[1]
                ]
        kept.extend(Match(start, end, match.kind, match.score) for start, end in pieces)
    return sorted(kept, key=lambda m: m.start)
