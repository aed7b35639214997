"""Sessions of private documents: a random id, a folder of its own, and an end that leaves no file and no row."""

import contextlib
import logging
import os
import re
import secrets
import shutil
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import filelock

from core.config import Settings
from core.documents.record import RECORD_NAME, PrivateDocument, read_record, write_record
from core.documents.store import SessionStore
from core.errors import AsesoriaError, SessionEndedError
from core.privacy.placeholders import Placeholders

log = logging.getLogger(__name__)
# At DEBUG it writes the paths of its locks, and who knows a session's id reaches its documents.
logging.getLogger("filelock").setLevel(logging.WARNING)

_ID = re.compile(r"\A[0-9a-f]{32}\Z")
# A session being erased carries this name until nothing of it is left; the sweep finishes what a crash began.
_ENDING = ".ending-"
_ENDED_TEXT = "Los documentos de esta sesión ya se han borrado. Vuelva a subirlos si los necesita."
# A session without documents that has not been used for so long is no more than an empty folder.
_EMPTY_S = 600.0
SWEEP_EVERY_S = 300.0


def new_session_id() -> str:
    """128 random bits, as 32 hexadecimal characters."""
    return secrets.token_hex(16)


def is_session_id(text: object) -> bool:
    """Whether ``text`` (of a cookie, say) has the form of an id. Nothing else ever becomes part of a path."""
    return isinstance(text, str) and _ID.match(text) is not None


@dataclass(frozen=True, slots=True)
class Session:
    """The places of one session. All that is kept of it lies in ``folder``."""

    id: str
    folder: Path

    @property
    def staging(self) -> Path:
        """Uploads under way, each in a folder with a lock that its process holds."""
        return self.folder / "staging"

    @property
    def files(self) -> Path:
        """Originals, kept to show the cited page to their owner."""
        return self.folder / "files"

    @property
    def index(self) -> Path:
        """The session's LanceDB database."""
        return self.folder / "index"

    @property
    def derived(self) -> Path:
        """What others make of a document and keep, in a folder named by its id: it goes with the document."""
        return self.folder / "derived"

    def documents(self) -> tuple[PrivateDocument, ...]:
        """What the session holds; nothing where it has ended."""
        return read_record(self.folder) or ()

    def store(self, dimension: int) -> SessionStore:
        """The session's own database."""
        return SessionStore(self.index, dimension=dimension)


class Sessions:
    """All sessions of one run-time folder: made, kept, ended and swept. Safe for several threads and processes."""

    def __init__(self, settings: Settings, *, on_end: Callable[[str], object] | None = None) -> None:
        """``on_end`` is called with the id of each session that has ended, to erase what others keep of it."""
        self._root = settings.private_dir
        self._on_end = on_end
        self._placeholders: dict[str, Placeholders] = {}
        self._idle_s = settings.session_hours * 3600
        self._away_s = settings.session_away_minutes * 60
        self._open_pages: Counter[str] = Counter()
        self._left: set[str] = set()
        self._guard = threading.Lock()
        self._sweeping: threading.Thread | None = None

    def at(self, session_id: str) -> Session:
        """The places of a session, whether it exists or not.

        Raises:
            SessionEndedError: ``session_id`` has not the form of an id.
        """
        if not is_session_id(session_id):
            raise SessionEndedError(_ENDED_TEXT)
        return Session(session_id, self._root / session_id)

    def placeholders(self, session_id: str) -> Placeholders:
        """The session's numbering of personal data; in memory only, and gone with the session."""
        with self._guard:
            return self._placeholders.setdefault(session_id, Placeholders())

    def exists(self, session: Session) -> bool:
        """Whether the session has a record: without one it does not exist, whatever else is there."""
        return read_record(session.folder) is not None

    @contextmanager
    def stage(self, session_id: str) -> Iterator[Path]:
        """A folder for one upload under way, in a session that is made unless it exists; gone at the end.

        Its lock is held meanwhile, so that the sweep can tell an upload under way from what a crash has left.
        """
        session = self.at(session_id)
        stage = session.staging / secrets.token_hex(8)
        with self._lock(session):
            if not self.exists(session):
                for folder in (session.staging, session.files, session.index):
                    folder.mkdir(exist_ok=True)
                write_record(session.folder, ())
            stage.mkdir()
            held = filelock.FileLock(stage / ".lock", timeout=0)
            held.acquire()
        try:
            yield stage
        finally:
            held.release()
            _remove(stage)

    def touch(self, session: Session) -> None:
        """Note that the session is in use."""
        with contextlib.suppress(FileNotFoundError):
            os.utime(session.folder / RECORD_NAME)

    @contextmanager
    def locked(self, session: Session) -> Iterator[None]:
        """One thread or process at a time changes a session.

        Raises:
            SessionEndedError: the session has ended.
        """
        with self._lock(session):
            if not self.exists(session):
                self._forget(session)
                raise SessionEndedError(_ENDED_TEXT)
            yield

    def end(self, session_id: str) -> None:
        """Erase the session: documents, database, folder. One that does not exist is no error."""
        session = self.at(session_id)
        with self._guard:
            self._left.discard(session_id)
        if session.folder.is_dir():
            with self._lock(session):
                ending = self._set_aside(session)
            _remove(ending)
            log.info("a session of private documents ended")
        self._ended(session_id)

    def enter(self, session_id: str) -> None:
        """A page of the session was opened."""
        with self._guard:
            self._open_pages[session_id] += 1
            self._left.discard(session_id)

    def leave(self, session_id: str) -> None:
        """A page of the session was closed; after the last one, the time until its end is short."""
        with self._guard:
            self._open_pages[session_id] -= 1
            if self._open_pages[session_id] > 0:
                return
            del self._open_pages[session_id]
            self._left.add(session_id)
        if is_session_id(session_id):
            self.touch(self.at(session_id))

    def sweep(self, *, starting: bool = False) -> int:
        """End what is due and remove what no record vouches for; returns how many sessions ended.

        ``starting``: the app has just begun, so sessions without documents go at once.
        """
        ended = 0
        for path in _entries(self._root):
            if not is_session_id(path.name):
                _remove(path)
                continue
            session = Session(path.name, path)
            try:
                with self._lock(session, wait=0):
                    due = self._is_due(session, starting=starting)
                    ending = self._set_aside(session) if due else None
                    if ending is None:
                        self._tidy(session)
            except filelock.Timeout:
                continue  # in use: the next sweep sees to it
            if ending is not None:
                _remove(ending)
                self._ended(session.id)
                ended += 1
        return ended

    def start_sweeping(self, every_s: float = SWEEP_EVERY_S) -> None:
        """Sweep now, as at start-up, and then from time to time in the background."""
        self.sweep(starting=True)
        with self._guard:
            if self._sweeping is None:
                self._sweeping = threading.Thread(
                    target=self._sweep_on, args=(every_s,), name="session-sweep", daemon=True
                )
                self._sweeping.start()

    def _sweep_on(self, every_s: float) -> None:
        while True:
            time.sleep(every_s)
            try:
                self.sweep()
            except OSError as error:  # a full disk must not end the sweeping
                log.warning("sweep failed: %s", type(error).__name__)

    def _ended(self, session_id: str) -> None:
        with self._guard:
            self._placeholders.pop(session_id, None)
        if self._on_end is not None:
            try:
                self._on_end(session_id)
            except AsesoriaError as error:
                log.warning("not everything that is kept of a session could be erased: %s", type(error).__name__)

    def _is_due(self, session: Session, *, starting: bool) -> bool:
        if any(not _abandoned(stage) for stage in _entries(session.staging)):
            return False  # an upload is under way
        documents = read_record(session.folder)
        if documents is None:
            return True
        idle = time.time() - (session.folder / RECORD_NAME).stat().st_mtime
        with self._guard:
            is_open, left = session.id in self._open_pages, session.id in self._left
        if not documents and not is_open:
            return starting or idle > _EMPTY_S
        return idle > (self._away_s if left else self._idle_s)

    def _tidy(self, session: Session) -> None:
        """Remove what no record vouches for: uploads whose process is gone, their files and half-written tables."""
        documents = session.documents()
        known, names = {d.doc_id for d in documents}, {d.filename for d in documents}
        leftovers = [
            *(stage for stage in _entries(session.staging) if _abandoned(stage)),
            *(path for path in _entries(session.index) if path.name.removesuffix(".lance") not in known),
            *(path for path in _entries(session.files) if path.name not in names),
            *(path for path in _entries(session.derived) if path.name not in known),
            *session.folder.glob(f"{RECORD_NAME}.partial"),
        ]
        for path in leftovers:
            _remove(path)

    def _set_aside(self, session: Session) -> Path:
        """Move the session out of the way in one step, so that a crash while erasing leaves no session."""
        ending = self._root / f"{_ENDING}{secrets.token_hex(8)}"
        with contextlib.suppress(FileNotFoundError):
            session.folder.rename(ending)
        return ending

    def _forget(self, session: Session) -> None:
        """Remove the folder that taking the lock of an ended session has made."""
        with contextlib.suppress(OSError):
            (session.folder / ".lock").unlink(missing_ok=True)
            session.folder.rmdir()

    @contextmanager
    def _lock(self, session: Session, *, wait: float = -1) -> Iterator[None]:
        session.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        with filelock.FileLock(session.folder / ".lock", timeout=wait):
            yield


def _entries(folder: Path) -> list[Path]:
    return list(folder.iterdir()) if folder.is_dir() else []


def _abandoned(stage: Path) -> bool:
    """Whether no living process holds the staging folder's lock (a killed process's lock is free)."""
    try:
        with filelock.FileLock(stage / ".lock", timeout=0):
            return True
    except (filelock.Timeout, OSError):
        return False


def _remove(path: Path) -> None:
    """Remove a file or folder; what is gone already is no error."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
