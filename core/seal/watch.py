"""Drift seen on the records: daily counts in, colours out, and an alert into the inbox when an episode begins."""

from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta

from core.models import Level
from core.records.database import Database
from core.records.reviews import DRIFT, OPEN, list_reviews, open_review
from core.records.store import daily_levels
from core.seal.drift import Colour, DailyCount, Drift, Versions, drift_by_day, episodes
from core.thresholds import DriftThresholds

# How far back colours are shown and episodes are looked for.
HISTORY_DAYS = 120


def read_counts(database: Database, *, until: date | None = None, days: int = HISTORY_DAYS) -> list[DailyCount]:
    """Daily counts of the last ``days`` days up to ``until`` (today, in UTC, unless given)."""
    until = until or datetime.now(UTC).date()
    return [
        DailyCount(r.day, Versions(r.prompt_version, r.model, r.thresholds_version), Level(r.level), r.answers)
        for r in daily_levels(database, since=until - timedelta(days=days - 1))
        if r.day <= until
    ]


def read_drift(database: Database, limits: DriftThresholds, *, until: date | None = None) -> tuple[Drift, ...]:
    """The colour of each day up to ``until`` (today, in UTC, as far as it has come), oldest first."""
    until = until or datetime.now(UTC).date()
    return drift_by_day(read_counts(database, until=until), limits, until=until)


def watch_drift(database: Database, limits: DriftThresholds, *, until: date | None = None) -> bool:
    """Open an alert if the last day is red, its episode has none yet, and no drift alert is open; whether it did.

    An alert stays open until a person closes it with a reason; the same episode opens no second one.
    """
    found = read_drift(database, limits, until=until)
    if not found or found[-1].colour is not Colour.RED or list_reviews(database, kind=DRIFT, status=OPEN):
        return False
    first = found[_last_episode(found)]
    last = found[-1]
    return open_review(
        database,
        kind=DRIFT,
        subject=f"high-share:{first.day.isoformat()}",
        title="Deriva del sello: sube la parte de respuestas con confianza alta",
        details={
            "day": last.day.isoformat(),
            "points": round(last.points, 1),
            "share_last": round(last.share_last, 4),
            "share_before": round(last.share_before, 4),
            "answers_last": last.answers_last,
            "answers_before": last.answers_before,
            "reason": last.reason,
        },
    )


def _last_episode(found: Sequence[Drift]) -> int:
    return episodes([d.colour for d in found])[-1]
