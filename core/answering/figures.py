"""A claim's values against the cited passages: whether they stand there, and attached to the same thing."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import combinations, pairwise

from core.answering.attachment import LABEL, ORDER_WEIGHT, Place, View, agreement, rarity_of
from core.answering.equivalence import same
from core.answering.values import Kind, Value
from core.thresholds import VerifyThresholds

_COUNTED = re.compile(
    r"\s*(?:casos?|supuestos?|requisitos?|condiciones|opciones|formas|vias|tipos|grupos|situaciones)\b"
)
# Kinds that number and name things rather than measure them: a rival nearby says little.
LOOSE = {Kind.ORDINAL, Kind.PART, Kind.QUARTER, Kind.MONTH, Kind.YEAR}


@dataclass(frozen=True, slots=True)
class Slot:
    """A value of a claim: its best place in the passages with its agreement, and that of each other value."""

    place: Place
    best: Place
    own: float
    rivals: Mapping[str, float]
    same: tuple[Place, ...]

    @property
    def value(self) -> Value:
        """The claim's value."""
        return self.place.value

    @property
    def norm(self) -> str:
        """The value as the passage has it."""
        return self.best.value.norm


def slot_of(place: Place, views: Sequence[View]) -> Slot | None:
    """A value of a claim against the cited passages; None where none of them has it."""
    own: list[tuple[Place, View]] = []
    others: list[Place] = []
    for v in views:
        for p in v.places:
            if same(place.value, p.value, tabular=v.tabular):
                own.append((p, v))
            else:
                others.append(p)
    if not own:
        return None
    kinds = {p.value.kind for p, _ in own}
    rarity = rarity_of([p for v in views for p in v.places], kinds)
    best, score = max(((p, agreement(place, p, rarity)) for p, _ in own), key=lambda pair: pair[1])
    rivals: dict[str, float] = {}
    for p in others:
        if p.value.kind is best.value.kind:
            rivals[p.value.norm] = max(rivals.get(p.value.norm, 0.0), agreement(place, p, rarity))
    return Slot(place, best, score, rivals, tuple(p for p, _ in own))


def exchanged(one: Slot, other: Slot) -> float:
    """How much better two values of one kind would agree with the passages if they changed places; 0 if they cannot."""
    if one.norm == other.norm or other.norm not in one.rivals or one.norm not in other.rivals:
        return -1.0
    if one.value.kind in LOOSE or _is_small(one.value):
        return -1.0
    return one.rivals[other.norm] + other.rivals[one.norm] - one.own - other.own


def _order(one: Slot, other: Slot) -> int:
    """1 where the passage has the two values in the claim's order, -1 where it has them in the other."""
    return 1 if (one.value.start < other.value.start) == (one.best.value.start < other.best.value.start) else -1


def _side(place: Place) -> str:
    return "#up" if "#up" in place.profile else "#down" if "#down" in place.profile else ""


def tolerated(value: Value, views: Sequence[View], text: str) -> bool:
    """Values that need not stand as such: our own count of cases, the parts of an article given by list marks."""
    after = text[value.end :].lower()
    if value.kind is Kind.NUMBER and value.words and _COUNTED.match(after):
        return True
    if value.words and re.search(r"\b(?:los|las|estos|esos|estas|esas|otros|otras)\s+$", text[: value.start].lower()):
        return True
    if value.kind is Kind.DATE and not value.detail:  # «del 1 al 20 del mes siguiente (abril, julio)»
        day, _, month = value.norm.partition("/")
        places = [p for v in views for p in v.places]
        there = [p.value for p in places]
        return any(
            p.value.kind is Kind.NUMBER and p.value.norm == day and _BEFORE_DAY & set(p.profile) for p in places
        ) and any(
            (p.kind is Kind.MONTH and p.norm == month) or (p.kind is Kind.DATE and p.norm.endswith(f"/{month}"))
            for p in there
        )
    if value.kind is Kind.PART or (value.kind is Kind.ARTICLE and "." in value.norm):
        steps = [value.norm] if value.kind is Kind.PART else value.norm.split(".")
        if value.kind is Kind.ARTICLE:
            first, *steps = steps
            if not any(
                p.value.kind is Kind.ARTICLE and p.value.norm.split(".")[0] == first for v in views for p in v.places
            ):
                return False
        return all(any(_marked(step, v.text) for v in views) for step in steps)
    return value.kind is Kind.ORDINAL and any(_marked(value.norm, v.text) for v in views)


def _marked(step: str, text: str) -> bool:
    """Whether a line, or a phrase after a colon, begins with the list mark ``step``."""
    return bool(
        re.search(rf"(?:^|\n|[:;.]\s+)(?:[-•*]\s*)?{re.escape(step)}\s?(?:\.?\s?[ºª]\.?|[.)'’])", text, re.IGNORECASE)
    )


def misplaced(slots: Sequence[Slot], limits: VerifyThresholds) -> tuple[Slot, Slot | None] | None:
    """The first value that the passages have for another thing; with a second one if the two are exchanged."""
    claimed = {slot.norm for slot in slots}
    for slot in slots:
        if slot.value.kind in LOOSE or _is_small(slot.value):
            continue
        rival = max((score for norm, score in slot.rivals.items() if norm not in claimed), default=0.0)
        margin = limits.rival_margin * (2 if slot.value.kind is Kind.NUMBER or _is_bare(slot) else 1)
        if any(other is not slot and other.best is slot.best for other in slots):
            margin = limits.twice_margin  # one figure of the source said of two things
        if rival > slot.own + margin:
            return slot, None
    for one, other in combinations(slots, 2):
        if exchanged(one, other) - ORDER_WEIGHT * _order(one, other) > limits.swap_margin:
            return one, other
    return None


_BEFORE_DAY = {f"<{word}" for word in "el del al a hasta dia dias y".split()}
_UP_TO = re.compile(r"\s*(?:a|al|hasta)\s+(?:el\s+)?|\s*y\s+(?:el\s+)?")


def backward(slots: Sequence[Slot], text: str) -> Slot | None:
    """The first end of a range that lies before its beginning («del 30 al 1 de enero», «entre 500 y 100 euros»)."""
    for one, other in pairwise(slots):
        between = text[one.value.end : other.value.start]
        if one.value.kind is not other.value.kind or not _UP_TO.fullmatch(between):
            continue
        if "y" in between.split() and not re.search(
            r"\bentre\s+(?:el\s+|los\s+días\s+)?$", text[: one.value.start].lower()
        ):
            continue
        if one.value.kind is Kind.DATE and one.value.norm.partition("/")[2] != other.value.norm.partition("/")[2]:
            continue
        first, last = _size(one.value), _size(other.value)
        if first is not None and last is not None and first > last:
            return one
    return None


def _size(value: Value) -> Decimal | None:
    """What a range compares: an amount, or the day of a date (within one month, as ranges of days are written)."""
    if value.kind is Kind.DATE:
        return Decimal(value.norm.partition("/")[0])
    return Decimal(value.norm) if value.kind in (Kind.MONEY, Kind.PERCENT) else None


def wrong_way(slots: Sequence[Slot]) -> Slot | None:
    """The first value that the claim gives as a floor and the passages only as a ceiling, or the reverse."""
    for slot in slots:
        side = _side(slot.place)
        if side and {_side(p) for p in slot.same} == {"#up" if side == "#down" else "#down"}:
            return slot
    return None


def _is_bare(slot: Slot) -> bool:
    """Whether the passage has the value as a number without a unit, and not in a row of a table that labels it."""
    return slot.best.value.kind is Kind.NUMBER and not any(link.level == LABEL for link in slot.best.profile.values())


def _is_small(value: Value) -> bool:
    """Whether it is a bare number that may be a day, a list's mark or a count of our own."""
    return value.kind is Kind.NUMBER and value.norm.isdigit() and int(value.norm) <= 31
