"""The inbox of what waits for a person: drift alerts, answers marked as bad, and whatever else opens an item.

An item is decided once, by a person with a reason; who decides names the version that was read, so that two reviewers
cannot overwrite each other unseen.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, RowMapping, select, update

from core.errors import RecordsError, ReviewConflictError
from core.records.database import Database
from core.records.interactions import new_id, utc_now
from core.records.schema import reviews

# Kinds of items. Others may be added: the inbox shows what it is given.
FEEDBACK, DRIFT = "feedback", "drift"
OPEN, CLOSED = "open", "closed"


@dataclass(frozen=True, slots=True)
class Review:
    """An item of the inbox. ``subject`` says what it is about: one item per kind and subject, ever.

    ``closed_by``, ``decision`` and ``reason`` are '' while it is open.
    """

    id: str
    kind: str
    subject: str
    title: str
    details: Mapping[str, Any]
    status: str
    opened_at: str
    closed_at: str
    closed_by: str
    decision: str
    reason: str
    version: int


def open_review(
    database: Database, *, kind: str, subject: str, title: str, details: Mapping[str, Any] | None = None
) -> bool:
    """Put an item into the inbox; False if there is (or was) one of this kind and subject already."""
    with database.writing() as connection:
        return open_in(connection, kind=kind, subject=subject, title=title, details=details)


def open_in(
    connection: Connection, *, kind: str, subject: str, title: str, details: Mapping[str, Any] | None = None
) -> bool:
    """As `open_review`, within the caller's transaction."""
    same = select(reviews.c.id).where(reviews.c.kind == kind, reviews.c.subject == subject)
    if connection.execute(same).first() is not None:
        return False
    connection.execute(
        reviews.insert().values(
            id=new_id(), kind=kind, subject=subject, title=title, details=dict(details or {}), status=OPEN,
            opened_at=utc_now(), closed_at="", closed_by="", decision="", reason="", version=1,
        )
    )  # fmt: skip
    return True


def list_reviews(database: Database, *, status: str = OPEN, kind: str = "") -> list[Review]:
    """Items of a status ('' for all), of a kind ('' for all), oldest first."""
    query = select(reviews).order_by(reviews.c.opened_at, reviews.c.id)
    if status:
        query = query.where(reviews.c.status == status)
    if kind:
        query = query.where(reviews.c.kind == kind)
    with database.reading() as connection:
        return [_review(row) for row in connection.execute(query).mappings()]


def close_review(database: Database, review: Review, *, person: str, reason: str, decision: str = "") -> Review:
    """Close ``review`` as it was read. ``decision`` is a word of the kind's own.

    Raises:
        RecordsError: no person or no reason is given.
        ReviewConflictError: the item has changed since it was read.
    """
    person, reason = person.strip(), reason.strip()
    if not person or not reason:
        raise RecordsError("Para cerrar una revisión hacen falta su nombre y un motivo.")
    unchanged = (reviews.c.id == review.id) & (reviews.c.version == review.version) & (reviews.c.status == OPEN)
    with database.writing() as connection:
        changed = connection.execute(
            update(reviews)
            .where(unchanged)
            .values(
                status=CLOSED, closed_at=utc_now(), closed_by=person, reason=reason, decision=decision,
                version=review.version + 1,
            )
        ).rowcount  # fmt: skip
        row = connection.execute(select(reviews).where(reviews.c.id == review.id)).mappings().first()
        if not changed:
            by = f" por {row['closed_by']}" if row is not None and row["closed_by"] else ""
            raise ReviewConflictError(
                f"Esta revisión ha cambiado mientras la leía{by}. Vuelva a abrirla antes de decidir."
            )
        assert row is not None
        return _review(row)


def _review(row: RowMapping) -> Review:
    return Review(**row)
