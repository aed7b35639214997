"""What has been acknowledged and is not in the database yet: one file per process, each line on the disk when it is
acknowledged. A process that dies leaves its file to the next one that looks."""

import contextlib
import json
import os
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from core.records.interactions import new_id

# Lines that are no entry (never expected) are kept here, not thrown away.
REJECTED = "rejected.txt"


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing to be stored. ``kind``: interaction or feedback; ``row`` as the table takes it."""

    kind: str
    row: dict[str, Any]

    def line(self) -> bytes:
        """As a line of the file. NaN is refused: it would be no JSON."""
        return json.dumps({"kind": self.kind, "row": self.row}, ensure_ascii=True, allow_nan=False).encode() + b"\n"


class Spool:
    """This process's file. Safe to use from several threads; `OSError` where the disk refuses."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._folder = folder
        self._path = folder / f"{os.getpid()}-{new_id()}.jsonl"
        # Held for the life of the process; the system gives it up when the process dies, however it dies.
        self._owned = _lock(self._path)
        self._owned.acquire(timeout=0)
        self._file = os.open(self._path, os.O_CREAT | os.O_RDWR | os.O_APPEND, 0o600)
        self._size = self._dropped = 0
        self._torn = False  # whether a failed attempt may have left part of a line behind ``_size``
        self._lock = threading.Lock()
        _sync_folder(folder)

    def append(self, lines: Sequence[bytes]) -> None:
        """Write ``lines`` to the disk: when this returns they survive a crash. All of them or none."""
        data = b"".join(lines)
        with self._lock:
            try:
                if self._torn:
                    os.ftruncate(self._file, self._size)
                    self._torn = False
                written = 0
                while written < len(data):
                    written += os.write(self._file, data[written:])
                os.fsync(self._file)
            except OSError:
                self._torn = True
                with contextlib.suppress(OSError):
                    os.ftruncate(self._file, self._size)
                raise
            self._size += len(data)

    @property
    def empty(self) -> bool:
        """Whether all that was acknowledged has been dropped as well."""
        return self._size == 0

    def pending(self) -> tuple[list[bytes], int]:
        """Lines acknowledged and not dropped yet, and the place to give to `drop`."""
        with self._lock:
            start, end = self._dropped, self._size
        return _lines(os.pread(self._file, end - start, start)), end

    def drop(self, place: int) -> None:
        """Drop the lines before ``place``, which are in the database; the file is cut once all of it is.

        (After a crash before that, lines are stored a second time: ids are unique, so nothing is doubled.)
        """
        with self._lock:
            self._dropped = place
            if place == self._size:
                os.ftruncate(self._file, 0)
                self._size = self._dropped = 0

    def reject(self, lines: Sequence[bytes]) -> None:
        """Keep aside lines that cannot be stored."""
        with (self._folder / REJECTED).open("ab") as file:
            file.write(b"".join(lines))

    def orphans(self) -> Iterator[tuple[list[bytes], Path]]:
        """Files of processes that are no more, one after the other, held while they are read; see `remove`.

        A last line without its end was never acknowledged, and is left out.
        """
        for path in sorted(self._folder.glob("*.jsonl")):
            if path == self._path:
                continue
            lock = _lock(path)
            try:
                lock.acquire(timeout=0)
            except Timeout:
                continue
            try:
                if path.exists():
                    yield _lines(path.read_bytes()), path
            finally:
                lock.release()
                if not path.exists():
                    Path(lock.lock_file).unlink(missing_ok=True)

    def remove(self, path: Path) -> None:
        """Remove the file of a process that is no more, its lines being stored."""
        path.unlink(missing_ok=True)

    def close(self) -> None:
        """Give the file up; it is removed if nothing is left in it."""
        with self._lock:
            os.close(self._file)
            if self._size == 0:
                self._path.unlink(missing_ok=True)
            self._owned.release()
            if self._size == 0:
                Path(self._owned.lock_file).unlink(missing_ok=True)


def parse(line: bytes) -> Entry | None:
    """The entry of a line; None where it is none."""
    try:
        data = json.loads(line)
        return Entry(str(data["kind"]), dict(data["row"]))
    except (ValueError, KeyError, TypeError):
        return None


def _lines(data: bytes) -> list[bytes]:
    return data[: data.rfind(b"\n") + 1].splitlines(keepends=True)


def _lock(path: Path) -> FileLock:
    # thread_local=False: taken by one thread and given up by another
    return FileLock(path.with_suffix(".lock"), thread_local=False)


def _sync_folder(folder: Path) -> None:
    """Make the new file's name last too; not every system lets a folder be synced."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
