"""Reading, writing and erasing interactions and opinions."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any

from sqlalchemy import Connection, RowMapping, Table, delete, func, select

from core.records.database import Database
from core.records.interactions import iso
from core.records.reviews import FEEDBACK, open_in
from core.records.schema import feedback as opinions
from core.records.schema import interactions, reviews, verdicts
from core.records.spool import Entry

_FETCH = 500


@dataclass(frozen=True, slots=True)
class DayCount:
    """How many answers of a UTC day have this level, with these versions."""

    day: date
    level: str
    prompt_version: str
    model: str
    thresholds_version: str
    answers: int


def store(database: Database, entries: Sequence[Entry]) -> None:
    """Write entries in one transaction. One that is there already is left as it is: giving it twice changes nothing.

    A thumb down opens an item of the inbox in the same transaction.

    Raises:
        ValueError: an entry is of no known kind or lacks what its table wants.
    """
    with database.writing() as connection:
        for entry in entries:
            if entry.kind == "interaction":
                if not _there(connection, interactions, "id", entry.row["id"]):
                    connection.execute(interactions.insert().values(_known(interactions, entry.row)))
            elif entry.kind == "feedback":
                _store_feedback(connection, entry.row)
            else:
                raise ValueError(f"unknown kind of entry: {entry.kind}")


def _store_feedback(connection: Connection, row: Mapping[str, Any]) -> None:
    key = opinions.c.interaction_id == row["interaction_id"]
    before = connection.execute(select(opinions.c.at).where(key)).scalar()
    if before is not None and before >= row["at"]:
        return
    if before is not None:
        connection.execute(delete(opinions).where(key))
    connection.execute(opinions.insert().values(_known(opinions, row)))
    if row["thumb"] == "down":
        open_in(connection, kind=FEEDBACK, subject=row["interaction_id"], title="Respuesta marcada como mala")


def _known(table: Table, row: Mapping[str, Any]) -> dict[str, Any]:
    """The row's values for the table's columns; one written by an older program may lack the newest.

    Raises:
        ValueError: a value that must be there is not.
    """
    missing = [c.name for c in table.columns if c.name not in row and not c.nullable and c.default is None]
    if missing:
        raise ValueError(f"entry without {', '.join(missing)}")
    return {c.name: row[c.name] for c in table.columns if c.name in row}


def _there(connection: Connection, table: Table, key: str, value: str) -> bool:
    return connection.execute(select(table.c[key]).where(table.c[key] == value)).first() is not None


def get(database: Database, interaction_id: str) -> dict[str, Any] | None:
    """One interaction with its opinion, None if it is not (or no more) there."""
    with database.reading() as connection:
        row = connection.execute(_joined().where(interactions.c.id == interaction_id)).mappings().first()
    return _plain(row) if row else None


def each(database: Database, *, since: str = "", until: str = "") -> Iterator[dict[str, Any]]:
    """Interactions with their opinions, oldest first; ``since`` and ``until`` are days (ISO), both included."""
    query = _joined().order_by(interactions.c.created_at, interactions.c.id)
    if since:
        query = query.where(interactions.c.day >= since)
    if until:
        query = query.where(interactions.c.day <= until)
    with database.reading() as connection:
        for row in connection.execution_options(yield_per=_FETCH).execute(query).mappings():
            yield _plain(row)


def _joined() -> Any:
    return select(
        interactions,
        func.coalesce(opinions.c.thumb, "").label("thumb"),
        func.coalesce(opinions.c.comment, "").label("comment"),
        func.coalesce(opinions.c.at, "").label("feedback_at"),
    ).select_from(interactions.outerjoin(opinions, opinions.c.interaction_id == interactions.c.id))


def _plain(row: RowMapping) -> dict[str, Any]:
    return dict(row)


def count(database: Database) -> int:
    """How many interactions are kept."""
    with database.reading() as connection:
        return connection.execute(select(func.count()).select_from(interactions)).scalar_one()


def daily_levels(database: Database, *, since: date) -> list[DayCount]:
    """Answers per day, level and versions, from ``since`` on, oldest first."""
    c = interactions.c
    keys = (c.day, c.level, c.prompt_version, c.model, c.thresholds_version)
    query = select(*keys, func.count()).where(c.day >= since.isoformat()).group_by(*keys).order_by(*keys)
    with database.reading() as connection:
        return [
            DayCount(date.fromisoformat(day), level, prompt, model, thresholds, answers)
            for day, level, prompt, model, thresholds, answers in connection.execute(query)
        ]


def erase(database: Database, interaction_ids: Sequence[str]) -> int:
    """Erase interactions with all that hangs on them. How many there were."""
    with database.writing() as connection:
        erased = _erase(connection, list(interaction_ids))
    database.leave_no_trace()
    return erased


def erase_session(database: Database, ref: str) -> int:
    """Erase all interactions of a session (``ref`` from `session_ref`). How many there were."""
    return _erase_where(database, interactions.c.session_ref == ref) if ref else 0


def erase_everything(database: Database) -> int:
    """Erase all interactions, opinions and the items of the inbox that stand for one. How many interactions."""
    return _erase_where(database, interactions.c.id != "")


def apply_retention(database: Database, days: int, *, now: datetime | None = None) -> int:
    """Erase interactions older than ``days`` days. How many there were."""
    limit = iso((now or datetime.now(UTC)) - timedelta(days=days))
    return _erase_where(database, interactions.c.created_at < limit)


def _erase_where(database: Database, condition: Any) -> int:
    with database.writing() as connection:
        ids = list(connection.execute(select(interactions.c.id).where(condition)).scalars())
        erased = _erase(connection, ids)
    database.leave_no_trace()
    return erased


def _erase(connection: Connection, ids: list[str]) -> int:
    erased = 0
    for start in range(0, len(ids), _FETCH):
        part = ids[start : start + _FETCH]
        connection.execute(delete(opinions).where(opinions.c.interaction_id.in_(part)))
        connection.execute(delete(reviews).where(reviews.c.kind == FEEDBACK, reviews.c.subject.in_(part)))
        connection.execute(delete(verdicts).where(verdicts.c.kind == "interaction", verdicts.c.case_id.in_(part)))
        erased += connection.execute(delete(interactions).where(interactions.c.id.in_(part))).rowcount
    return erased
