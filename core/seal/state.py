"""The seal's state: normal or deterministic, since when and why. `change_state` is the one way to change it."""

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass

from core.errors import RecordsError
from core.models import SealMode
from core.records.database import Database
from core.records.states import append_state, state_history

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class SealState:
    """``since`` is ISO 8601 in UTC, '' where the state was never changed. ``reason`` is in Spanish."""

    mode: SealMode
    since: str
    reason: str
    changed_by: str


INITIAL = SealState(SealMode.NORMAL, "", "Estado inicial: cuentan las cinco señales.", "")


def change_state(database: Database, mode: SealMode, *, reason: str, changed_by: str) -> bool:
    """Switch the seal to ``mode``; False if it is in that mode already (nothing is stored then).

    ``changed_by`` is a person's name or the part of the program that decided it.

    Raises:
        RecordsError: there is no reason, or the records cannot be written.
    """
    if not reason.strip() or not changed_by.strip():
        raise RecordsError("Para cambiar el estado del sello hay que decir el motivo y quién lo cambia.")
    return append_state(database, mode=str(mode), reason=reason.strip(), changed_by=changed_by.strip())


def read_states(database: Database) -> tuple[SealState, ...]:
    """All states, oldest first, the present one last. Never empty: it begins with the initial one.

    Raises:
        RecordsError: the records cannot be read.
    """
    return (
        INITIAL,
        *(SealState(SealMode(r.mode), r.since, r.reason, r.changed_by) for r in state_history(database)),
    )


class StateReader:
    """The present state, for each answer: read from the records, or the last one known where they cannot be read.

    ``open_database`` should give a database that waits for locks only a moment: an answer waits for it.
    ``has_model``: without a language model there is no self-check, so the mode is deterministic whatever the state.
    """

    def __init__(self, open_database: Callable[[], Database], *, has_model: Callable[[], bool]) -> None:
        self._open_database = open_database
        self._has_model = has_model
        self._database: Database | None = None
        self._known = INITIAL
        self._lock = threading.Lock()

    @property
    def has_model(self) -> bool:
        """Whether a language model is configured."""
        return self._has_model()

    def state(self) -> SealState:
        """The stored state."""
        with self._lock:
            try:
                if self._database is None:
                    self._database = self._open_database()
                self._known = read_states(self._database)[-1]
            except RecordsError as error:
                log.warning("the seal's state cannot be read: %s", type(error.__cause__ or error).__name__)
            return self._known

    def mode(self) -> SealMode:
        """The mode for the next answer's seal."""
        return self.state().mode if self._has_model() else SealMode.DETERMINISTIC
