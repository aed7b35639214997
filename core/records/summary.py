"""What the calibration page shows of the interactions, counted by the database; nothing here reads all rows."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Select, String, cast, func, select

from core.records.database import Database
from core.records.schema import interactions


@dataclass(frozen=True, slots=True)
class Filters:
    """Which interactions: '' or an empty tuple means all. ``since`` and ``until`` are days (ISO), both included.

    ``versions`` are of the thresholds. ``documents``: at least one of them is cited.
    """

    since: str = ""
    until: str = ""
    categories: tuple[str, ...] = ()
    modes: tuple[str, ...] = ()
    documents: tuple[str, ...] = ()
    versions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LevelCount:
    """How many answers of a day have a level, a category and a mode."""

    day: str
    level: str
    category: str
    mode: str
    grounded: bool
    answers: int


def level_counts(database: Database, filters: Filters) -> list[LevelCount]:
    """Answers by day, level, category and mode, oldest day first."""
    c = interactions.c
    keys = (c.day, c.level, c.category, c.mode, c.grounded)
    query = _only(select(*keys, func.count()), filters).group_by(*keys).order_by(*keys)
    with database.reading() as connection:
        return [LevelCount(*row) for row in connection.execute(query)]


def newest(database: Database, filters: Filters, *, limit: int) -> list[dict[str, Any]]:
    """The newest ``limit`` interactions, without their answers."""
    c = interactions.c
    query = select(c.id, c.created_at, c.question, c.level, c.category, c.mode)
    query = _only(query, filters).order_by(c.created_at.desc(), c.id).limit(limit)
    with database.reading() as connection:
        return [dict(row) for row in connection.execute(query).mappings()]


def by_ids(database: Database, ids: Sequence[str], filters: Filters) -> list[dict[str, Any]]:
    """These interactions as far as they are there and pass the filters: id, question, level, mode and signals."""
    c = interactions.c
    query = select(c.id, c.question, c.level, c.category, c.mode, c.signals)
    query = _only(query, filters).where(c.id.in_(list(ids))).order_by(c.created_at, c.id)
    with database.reading() as connection:
        return [dict(row) for row in connection.execute(query).mappings()]


def thresholds_versions(database: Database) -> list[str]:
    """The versions of the thresholds that some interaction was sealed with."""
    column = interactions.c.thresholds_version
    with database.reading() as connection:
        return list(connection.execute(select(column).distinct().order_by(column)).scalars())


def _only(query: Select[Any], filters: Filters) -> Select[Any]:
    c = interactions.c
    if filters.since:
        query = query.where(c.day >= filters.since)
    if filters.until:
        query = query.where(c.day <= filters.until)
    for column, wanted in (
        (c.category, filters.categories),
        (c.mode, filters.modes),
        (c.thresholds_version, filters.versions),
    ):
        if wanted:
            query = query.where(column.in_(wanted))
    if filters.documents:
        cited = [cast(c.sources, String).contains(f'"doc_id": "{doc}"', autoescape=True) for doc in filters.documents]
        condition = cited[0]
        for other in cited[1:]:
            condition = condition | other
        query = query.where(condition)
    return query
