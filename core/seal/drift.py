"""Has the share of ``high`` seals risen without a reason? The last days against as many before, on daily counts."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from core.models import Level
from core.thresholds import DriftThresholds

Counts = NDArray[np.int64]
Floats = NDArray[np.float64]

# A rise of exactly the threshold is not over it, whatever binary fractions say.
_EPSILON = 1e-9


class Colour(StrEnum):
    """State of the drift; ``none`` where there are too few answers to say."""

    NONE = "none"
    GREEN = "green"
    AMBER = "amber"
    RED = "red"


@dataclass(frozen=True, slots=True)
class Versions:
    """What must stay the same for two days to be comparable."""

    prompt: str
    model: str
    thresholds: str


@dataclass(frozen=True, slots=True)
class DailyCount:
    """How many answers of a UTC day carry a level, under given versions."""

    day: date
    versions: Versions
    level: Level
    answers: int


@dataclass(frozen=True, slots=True)
class Drift:
    """The colour on a day. ``points``: rise of the high share in percentage points (0 where not compared).

    Shares are in 0..1, of the span that ends on ``day`` and of the one before it.
    """

    day: date
    colour: Colour
    points: float
    share_last: float
    share_before: float
    answers_last: int
    answers_before: int
    reason: str


@dataclass(frozen=True, slots=True)
class Comparison:
    """As arrays, for each day of each stream that has two whole spans behind it."""

    last: Counts
    last_high: Counts
    before: Counts
    before_high: Counts
    points: Floats
    colours: NDArray[np.str_]


def compare(high: Counts, answers: Counts, limits: DriftThresholds) -> Comparison:
    """Colours of streams of daily counts, arrays of shape (…, days); the result has days - 2 · span + 1 columns.

    Red: the share of the last span is more than ``red_points`` over that of the span before, and the rise is at least
    ``significance`` standard errors of a difference of two binomial shares (pooled). Amber: from ``amber_points``.
    """
    span = limits.days
    high_sums, sums = _rolling(high, span), _rolling(answers, span)
    last, last_high = sums[..., span:], high_sums[..., span:]
    before, before_high = sums[..., :-span], high_sums[..., :-span]
    enough = (last >= limits.minimum_answers) & (before >= limits.minimum_answers)
    n, m = np.maximum(last, 1), np.maximum(before, 1)
    rise = np.where(enough, last_high / n - before_high / m, 0.0)
    pooled = (last_high + before_high) / (n + m)
    error = np.sqrt(pooled * (1 - pooled) * (1 / n + 1 / m))
    points = 100 * rise
    red = (points > limits.red_points + _EPSILON) & (rise >= limits.significance * error - _EPSILON)
    amber = points >= limits.amber_points - _EPSILON
    colours = np.select(
        [~enough, red, amber], [str(Colour.NONE), str(Colour.RED), str(Colour.AMBER)], str(Colour.GREEN)
    )
    return Comparison(last, last_high, before, before_high, points, colours)


def _rolling(values: Counts, span: int) -> Counts:
    sums = np.cumsum(np.concatenate([np.zeros_like(values[..., :1]), values], axis=-1), axis=-1)
    return np.asarray(sums[..., span:] - sums[..., :-span])


def present_versions(counts: Sequence[DailyCount]) -> Versions | None:
    """The versions of the last day that has answers; the most frequent of that day."""
    if not counts:
        return None
    last = max(c.day for c in counts)
    totals: dict[Versions, int] = {}
    for c in counts:
        if c.day == last:
            totals[c.versions] = totals.get(c.versions, 0) + c.answers
    return max(totals, key=lambda v: (totals[v], v.prompt, v.model, v.thresholds))


def drift_by_day(counts: Sequence[DailyCount], limits: DriftThresholds, *, until: date) -> tuple[Drift, ...]:
    """The colour of each day up to ``until``, from answers with the present versions only, oldest first.

    The first day is the first of those answers; a day without two whole spans behind it has no colour unless the
    answers there are enough all the same.
    """
    versions = present_versions([c for c in counts if c.day <= until])
    own = [c for c in counts if c.versions == versions and c.day <= until]
    if not own:
        return ()
    first = min(c.day for c in own)
    span = limits.days
    start = first - timedelta(days=2 * span - 1)  # empty days before the first: windows are short there
    length = (until - start).days + 1
    high, answers = np.zeros(length, np.int64), np.zeros(length, np.int64)
    for c in own:
        place = (c.day - start).days
        answers[place] += c.answers
        high[place] += c.answers if c.level is Level.HIGH else 0
    found = compare(high, answers, limits)
    changed = any(c.versions != versions and c.day > until - timedelta(days=2 * span) for c in counts)
    return tuple(
        _drift(found, i, first + timedelta(days=i), limits, changed=changed) for i in range(len(found.colours))
    )


def _drift(found: Comparison, i: int, day: date, limits: DriftThresholds, *, changed: bool) -> Drift:
    last, before = int(found.last[i]), int(found.before[i])
    colour = Colour(str(found.colours[i]))
    share_last = int(found.last_high[i]) / last if last else 0.0
    share_before = int(found.before_high[i]) / before if before else 0.0
    points = float(found.points[i])
    return Drift(
        day, colour, points, share_last, share_before, last, before, _reason(colour, points, limits, changed=changed)
    )


def _reason(colour: Colour, points: float, limits: DriftThresholds, *, changed: bool) -> str:
    shown = f"{points:+.1f}".replace(".", ",").replace("-", "−")
    span = limits.days
    if colour is Colour.NONE:
        since = (
            " Desde el último cambio de instrucciones, modelo o umbrales solo cuentan las posteriores."
            if changed
            else ""
        )
        return (
            f"Hay pocas respuestas para comparar: hacen falta {limits.minimum_answers} en los últimos {span} días y "
            f"otras tantas en los {span} anteriores.{since}"
        )
    text = f"La parte de respuestas con confianza alta ha variado {shown} puntos respecto a los {span} días anteriores"
    if colour is Colour.RED:
        return f"{text}, sin que cambiaran las instrucciones, el modelo ni los umbrales: hay que revisarlo."
    if colour is Colour.AMBER and points > limits.red_points:
        return f"{text}; con tan pocas respuestas puede ser casualidad."
    return f"{text}."


def episodes(colours: Sequence[Colour | str]) -> tuple[int, ...]:
    """Places at which an episode of red begins. It lasts until the colour is green: a red that flickers is one.

    Days without colour neither end nor begin one.
    """
    starts, inside = [], False
    for place, colour in enumerate(colours):
        if colour == Colour.RED and not inside:
            starts.append(place)
            inside = True
        elif colour == Colour.GREEN:
            inside = False
    return tuple(starts)
