"""Keeps interactions without delaying or breaking an answer, and without losing one that it has acknowledged.

`record` hands the entry to a thread that writes it to the spool and syncs it (that is the acknowledgement); another
thread moves the spool into the database. A database that is locked or a disk that is full is told in ``problem`` and
tried again; meanwhile entries wait in the spool, or in memory where the disk takes nothing.
"""

import atexit
import logging
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from core.errors import RecordsError
from core.records.database import Database
from core.records.interactions import Feedback, Interaction
from core.records.spool import REJECTED, Entry, Spool, parse
from core.records.store import apply_retention, store

log = logging.getLogger(__name__)

# How long an answer waits for its acknowledgement at most; the entry is written all the same.
WAIT_S = 0.25
_RETRY_S = 1.0
_ORPHANS_S = 60.0
_HOUSE_WORK_S = 3600.0
# Entries kept in memory while the disk takes nothing.
_MOST_WAITING = 10_000
_BATCH = 500


@dataclass(frozen=True, slots=True)
class Receipt:
    """``acknowledged``: the entry is on the disk and survives a crash; otherwise it is still being tried."""

    id: str
    acknowledged: bool


@dataclass(slots=True)
class _Item:
    line: bytes
    done: threading.Event = field(default_factory=threading.Event)


class Recorder:
    """One per process. ``open_database`` is called until it succeeds; ``house_work`` runs at start and
    then every hour, after the retention has been applied."""

    def __init__(
        self,
        open_database: Callable[[], Database],
        folder: Path,
        *,
        retention_days: int,
        house_work: Callable[[Database], object] | None = None,
        wait_s: float = WAIT_S,
        retry_s: float = _RETRY_S,
    ) -> None:
        self._open_database = open_database
        self._folder = folder / "spool"
        self._retention_days = retention_days
        self._more_work = house_work
        self._wait_s = wait_s
        self._retry_s = retry_s
        self._waiting: deque[_Item] = deque()
        self._changed = threading.Condition()  # guards ``_waiting``
        self._moved = threading.Condition()
        self._to_move = threading.Event()
        self._closing = threading.Event()
        self._spool: Spool | None = None
        self._spool_lock = threading.Lock()
        self._database: Database | None = None
        self._next_orphans = self._next_work = 0.0
        self._refused = 0
        self._disk_problem = self._database_problem = ""
        self._writer = threading.Thread(target=self._write_loop, name="records-spool", daemon=True)
        self._mover = threading.Thread(target=self._move_loop, name="records-move", daemon=True)
        self._writer.start()
        self._mover.start()
        self._to_move.set()
        atexit.register(self.close)

    @property
    def problem(self) -> str:
        """What is wrong, for the user; '' where all is well."""
        lost = f" {self._refused} no han cabido y se han perdido." if self._refused else ""
        return f"{self._disk_problem or self._database_problem}{lost}".strip()

    @property
    def waiting(self) -> int:
        """Entries that are not on the disk yet."""
        return len(self._waiting)

    def record(self, interaction: Interaction) -> Receipt:
        """Keep an interaction. Never raises for a disk or a database; waits for them at most a moment."""
        return Receipt(interaction.id, self._hand_over(Entry("interaction", interaction.row())))

    def give_feedback(self, feedback: Feedback) -> Receipt:
        """Keep a thumb and its comment, as `record`."""
        return Receipt(feedback.interaction_id, self._hand_over(Entry("feedback", feedback.row())))

    def flush(self, timeout: float = 10.0) -> bool:
        """Wait until all that was handed over is in the database; whether it is."""
        self._to_move.set()
        with self._moved:
            return self._moved.wait_for(self._all_moved, timeout)

    def close(self, timeout: float = 5.0) -> None:
        """Write what is left and stop. What does not get into the database waits in the spool for the next start."""
        if self._closing.is_set():
            return
        atexit.unregister(self.close)
        self._closing.set()
        with self._changed:
            self._changed.notify_all()
        self._writer.join(timeout)
        self._to_move.set()
        self._mover.join(timeout)
        if self._waiting:
            log.error("%d entries could not be written to the disk", len(self._waiting))
        if self._writer.is_alive() or self._mover.is_alive():
            return  # they hold file and database still; the process's end gives both up
        if self._spool is not None:
            self._spool.close()
        if self._database is not None:
            self._database.close()

    def _all_moved(self) -> bool:
        settled = self._database is not None and self._next_orphans > 0
        return settled and not self._waiting and (self._spool is None or self._spool.empty)

    def _own_spool(self) -> Spool:
        with self._spool_lock:
            if self._spool is None:
                self._spool = Spool(self._folder)
            return self._spool

    def _hand_over(self, entry: Entry) -> bool:
        item = _Item(entry.line())
        with self._changed:
            if self._closing.is_set() or len(self._waiting) >= _MOST_WAITING:
                self._refused += 1
                log.error("an entry was refused: %d are waiting for the disk", len(self._waiting))
                return False
            self._waiting.append(item)
            self._changed.notify()
        return item.done.wait(self._wait_s)

    # --- first thread: memory to spool

    def _write_loop(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: bool(self._waiting) or self._closing.is_set())
                items = list(self._waiting)
            written = self._write(items) if items else True
            if self._closing.is_set() and (not written or not self._waiting):
                return
            if not written:
                self._closing.wait(self._retry_s)

    def _write(self, items: list[_Item]) -> bool:
        try:
            self._own_spool().append([item.line for item in items])
        except OSError as error:
            if not self._disk_problem:
                log.error("the spool cannot be written: %s", error.strerror)
            self._disk_problem = (
                f"Las respuestas no se están pudiendo guardar en el disco ({error.strerror}). "
                "Libere espacio o revise los permisos: se reintenta solo."
            )
            return False
        self._disk_problem = ""
        with self._changed:
            for item in items:
                self._waiting.popleft()
                item.done.set()
        self._to_move.set()
        return True

    # --- second thread: spool to database

    def _move_loop(self) -> None:
        while True:
            self._to_move.wait(_ORPHANS_S)
            self._to_move.clear()
            last = self._closing.is_set() and not self._writer.is_alive()
            moved = self._move()
            with self._moved:
                self._moved.notify_all()
            if last:
                return
            if not moved:
                self._closing.wait(self._retry_s)
                self._to_move.set()

    def _move(self) -> bool:
        """All that is due; False where the database or the disk refuses."""
        try:
            if self._database is None:
                self._database = self._open_database()
            spool = self._own_spool()
            lines, place = spool.pending()
            if lines:
                self._store(self._database, spool, lines)
                spool.drop(place)
            if time.monotonic() >= self._next_orphans:
                for left, path in spool.orphans():
                    self._store(self._database, spool, left)
                    spool.remove(path)
                    log.info("%d entries of an earlier process stored", len(left))
                self._next_orphans = time.monotonic() + _ORPHANS_S
            if time.monotonic() >= self._next_work and not self._closing.is_set():
                self._house_work(self._database)
                self._next_work = time.monotonic() + _HOUSE_WORK_S
        except (RecordsError, OSError) as error:
            if not self._database_problem:
                log.error("the records cannot be written: %s", type(error.__cause__ or error).__name__)
            self._database_problem = (
                str(error)
                if isinstance(error, RecordsError)
                else f"El disco falla ({error.strerror}). Se reintenta solo."
            )
            return False
        except Exception:  # a thread's error would be lost, and the thread with it
            if not self._database_problem:
                log.exception("the records cannot be written")
            self._database_problem = "Los registros han fallado por un error inesperado. Mire la consola."
            return False
        self._database_problem = ""
        return True

    def _store(self, database: Database, spool: Spool, lines: list[bytes]) -> None:
        """Into the database; what is no entry is put aside, so that it holds up nothing."""
        for start in range(0, len(lines), _BATCH):
            part = lines[start : start + _BATCH]
            entries = [parse(line) for line in part]
            try:
                store(database, [e for e in entries if e is not None])
                bad = [line for line, e in zip(part, entries, strict=True) if e is None]
            except (ValueError, KeyError):
                bad = [line for line, e in zip(part, entries, strict=True) if e is None or not _stored(database, e)]
            if bad:
                log.error("%d entries cannot be stored and are put aside", len(bad))
                spool.reject(bad)

    def _house_work(self, database: Database) -> None:
        erased = apply_retention(database, self._retention_days)
        if erased:
            log.info("%d interactions erased: older than %d days", erased, self._retention_days)
        rejected = self._folder / REJECTED
        if rejected.exists() and time.time() - rejected.stat().st_mtime > self._retention_days * 24 * 3600:
            rejected.unlink()
        if self._more_work is not None:
            self._more_work(database)


def _stored(database: Database, entry: Entry) -> bool:
    try:
        store(database, [entry])
    except (ValueError, KeyError):
        return False
    return True
