"""The history of the seal's state. Written by `core.seal.state` only."""

from dataclasses import dataclass

from sqlalchemy import select

from core.records.database import Database
from core.records.interactions import utc_now
from core.records.schema import seal_state


@dataclass(frozen=True, slots=True)
class StateRow:
    """One state: its mode, from when, why, and who or what changed it."""

    mode: str
    since: str
    reason: str
    changed_by: str


def state_history(database: Database) -> list[StateRow]:
    """All states, the present one last; empty before the first change."""
    c = seal_state.c
    with database.reading() as connection:
        rows = connection.execute(select(c.mode, c.since, c.reason, c.changed_by).order_by(c.id))
        return [StateRow(*row) for row in rows]


def append_state(database: Database, *, mode: str, reason: str, changed_by: str) -> bool:
    """Add a state unless the present one has the same mode already; whether it was added."""
    with database.writing() as connection:
        last = connection.execute(select(seal_state.c.mode).order_by(seal_state.c.id.desc()).limit(1)).scalar()
        if last == mode:
            return False
        connection.execute(seal_state.insert().values(mode=mode, since=utc_now(), reason=reason, changed_by=changed_by))
    return True
