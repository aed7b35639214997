"""The documents of one session: add, list, look at, remove. Nothing here can reach another session's."""

import contextlib
import logging
import secrets
import shutil
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from core.config import Settings
from core.documents.intake import (
    DONE,
    FAILED,
    STORING,
    Prepared,
    Report,
    Upload,
    check_upload,
    prepare,
    read_upload,
    shown_name,
    upload_settings,
)
from core.documents.quotas import check_pages, check_room
from core.documents.record import PrivateDocument, write_record
from core.documents.redaction import DocumentRedactor
from core.documents.sessions import Sessions
from core.errors import AsesoriaError, SessionEndedError, UnreadableDocumentError
from core.ingestion.worker import render_in_worker
from core.models import Fragment
from core.retrieval.embedder import Embedder

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class UploadProgress:
    """Where an upload stands. ``index`` is its place among the files; ``share`` how much of the stage is done, 0..1."""

    index: int
    name: str
    stage: str
    share: float = 0.0
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one file: a document, or the Spanish message of the error (``error``).

    ``note`` says where nothing new was made (the same file again) or something was replaced.
    """

    name: str
    document: PrivateDocument | None = None
    error: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class Holdings:
    """All fragments of the session with their vectors (fragments × dimension), in order of document and place."""

    fragments: tuple[Fragment, ...]
    vectors: NDArray[np.float32]
    documents: tuple[PrivateDocument, ...]


Progress = Callable[[UploadProgress], None]


class SessionDocuments:
    """The private documents of the session ``session_id``. Safe to use from several threads and tabs."""

    def __init__(
        self,
        sessions: Sessions,
        session_id: str,
        *,
        settings: Settings,
        embedder: Embedder,
        redactor: DocumentRedactor,
    ) -> None:
        """What is in ``session_id``'s folder.

        Raises:
            SessionEndedError: ``session_id`` has not the form of an id.
        """
        self._sessions = sessions
        self._session = sessions.at(session_id)
        self._settings = settings
        self._embedder = embedder
        self._redactor = redactor
        self._guard = threading.Lock()
        self._held: tuple[tuple[str, ...], Holdings] | None = None

    @property
    def session_id(self) -> str:
        """The session's id."""
        return self._session.id

    def redacted(self, question: str) -> str:
        """A question without personal data; its values are called as in the documents."""
        return self._redactor.redact_question(question)

    def documents(self) -> tuple[PrivateDocument, ...]:
        """The documents, in the order in which they were added."""
        return self._session.documents()

    def add(self, uploads: Sequence[Upload], *, progress: Progress | None = None) -> tuple[Outcome, ...]:
        """Take in files one after another; an error in one is its outcome, and the others are done."""
        outcomes = []
        for index, upload in enumerate(uploads):
            name = shown_name(upload.name)

            def report(stage: str, share: float, detail: str, index: int = index, name: str = name) -> None:
                if progress:
                    progress(UploadProgress(index, name, stage, share, detail))

            try:
                outcome = self._add(upload, report)
                report(DONE, 1.0, "")
            except AsesoriaError as error:
                log.info("upload refused: %s", type(error).__name__)
                outcome = Outcome(name, error=str(error))
                report(FAILED, 1.0, str(error))
            except OSError as error:  # the disk is full, or the session ended while the file was being written
                log.warning("upload failed: %s", type(error).__name__)
                outcome = Outcome(
                    name,
                    error="No se ha podido guardar el archivo en el disco. No ha quedado nada a medias: vuelva a subirlo.",
                )
                report(FAILED, 1.0, outcome.error)
            outcomes.append(outcome)
        return tuple(outcomes)

    def remove(self, doc_id: str) -> None:
        """Erase one document: its record, table and original. One that is not there is no error."""
        if not self._sessions.exists(self._session):
            return
        with self._sessions.locked(self._session):
            documents = self.documents()
            gone = [d for d in documents if d.doc_id == doc_id]
            write_record(self._session.folder, tuple(d for d in documents if d.doc_id != doc_id))
            self._erase(gone)
        self.forget()

    def remove_all(self) -> None:
        """Erase every document and the session itself: nothing of it is left on the disk."""
        self._sessions.end(self._session.id)
        self.forget()

    def holdings(self) -> Holdings:
        """Everything there is to search, kept in memory while the documents stay the same.

        Vectors made with another model cannot be compared: those documents are left out (the page says so).
        """
        documents = tuple(d for d in self.documents() if d.made_with == self._embedder.fingerprint)
        version = tuple(d.doc_id for d in documents)
        with self._guard:
            if self._held is None or self._held[0] != version:
                self._held = (version, self._read(documents))
            return self._held[1]

    def text(self, doc_id: str) -> list[Fragment]:
        """A document's redacted text, in reading order."""
        return [f for f in self.holdings().fragments if f.doc_id == doc_id]

    def section_around(self, fragment: Fragment, *, radius: int = 8) -> list[Fragment]:
        """The fragments of the same section and kind around one, itself included, in reading order."""
        text = self.text(fragment.doc_id)
        one = next((f for f in text if f.id == fragment.id), fragment)  # ``fragment`` may come with its orders blanked
        return [
            f
            for f in text
            if abs(f.ordinal - one.ordinal) <= radius and (f.section_path, f.kind) == (one.section_path, one.kind)
        ]

    def page_image(self, doc_id: str, page: int, passages: tuple[str, ...] = ()) -> bytes:
        """A page of the original as PNG, passages marked. It shows what was redacted in the text: to its owner only.

        Raises:
            UnreadableDocumentError: the document is gone, has no pages, or the page cannot be drawn.
        """
        document = next((d for d in self.documents() if d.doc_id == doc_id), None)
        if document is None or not document.paged:
            raise UnreadableDocumentError("Este documento ya no está o no tiene páginas que mostrar.")
        path = self._session.files / document.filename
        return render_in_worker(path, upload_settings(self._settings), page=page, passages=passages)

    def holds(self, doc_id: str) -> bool:
        """Whether the document is (still) there."""
        return any(d.doc_id == doc_id for d in self.documents())

    def derived(self, doc_id: str, *, make: bool = True) -> Path:
        """The folder of what is made of a document and goes with it; made unless it is there, or ``make`` is False.

        Raises:
            SessionEndedError: the session has ended. UnreadableDocumentError: the document is gone.
        """
        folder = self._session.derived / doc_id
        if make:
            with self._sessions.locked(self._session):
                if not self.holds(doc_id):
                    raise UnreadableDocumentError("Este documento ya no está en su sesión. Súbalo de nuevo.")
                folder.mkdir(parents=True, exist_ok=True)
        return folder

    def touch(self) -> None:
        """Note that the session is in use."""
        self._sessions.touch(self._session)

    def forget(self) -> None:
        """Drop what is kept in memory."""
        with self._guard:
            self._held = None

    def _read(self, documents: tuple[PrivateDocument, ...]) -> Holdings:
        store = self._session.store(self._embedder.dimension)
        fragments: list[Fragment] = []
        vectors = [np.zeros((0, self._embedder.dimension), np.float32)]
        for document in documents:
            some, rows = store.read(document.doc_id)
            if any(f.session_id != self._session.id for f in some):
                raise SessionEndedError(
                    "Los documentos de esta sesión no se pueden leer. Bórrelos y vuelva a subirlos."
                )
            fragments.extend(some)
            vectors.append(rows)
        return Holdings(tuple(fragments), np.concatenate(vectors), documents)

    def _add(self, upload: Upload, report: Report) -> Outcome:
        check_upload(upload, self._settings)
        digest = upload.sha256
        if (again := self._same_file(upload, digest)) is not None:
            return again
        check_room(upload.key, self.documents(), self._settings)
        begun = time.monotonic()
        with self._sessions.stage(self._session.id) as stage:
            staged = stage / f"original{upload.suffix}"
            staged.write_bytes(upload.data)
            document = read_upload(staged, self._settings, report)
            check_pages(upload.key, len(document.pages), self.documents(), self._settings)
            doc_id = f"p_{secrets.token_hex(12)}"
            ready = prepare(
                document,
                name=upload.name,
                doc_id=doc_id,
                session_id=self._session.id,
                redactor=self._redactor,
                embedder=self._embedder,
                report=report,
            )
            report(STORING, 0.0, "")
            entry = self._entry(upload, digest, doc_id, ready, time.monotonic() - begun)
            replaced = self._publish(entry, ready, staged)
        self.forget()
        note = "Sustituye a la versión anterior, que se ha borrado." if replaced else ""
        return Outcome(shown_name(upload.name), entry, note=note)

    def _entry(self, upload: Upload, digest: str, doc_id: str, ready: Prepared, seconds: float) -> PrivateDocument:
        return PrivateDocument(
            doc_id=doc_id,
            name=upload.key,
            title=ready.title,
            suffix=upload.suffix,
            sha256=digest,
            size=len(upload.data),
            pages=len(ready.document.pages),
            paged=ready.document.paged,
            tables=len(ready.document.tables),
            fragments=len(ready.fragments),
            added_at=datetime.now(UTC).isoformat(timespec="seconds"),
            seconds=round(seconds, 1),
            made_with=self._embedder.fingerprint,
            warnings=ready.document.warnings,
            redacted=ready.redacted,
            findings=ready.findings,
        )

    def _publish(self, entry: PrivateDocument, ready: Prepared, staged: Path) -> bool:
        """Table, then original, then the record that vouches for both, then the erasure of what it replaces."""
        session = self._session
        with self._sessions.locked(session):
            store = session.store(self._embedder.dimension)
            try:
                store.write(entry.doc_id, ready.fragments, ready.vectors)
                staged.rename(session.files / entry.filename)
                documents = self.documents()
                replaced = [d for d in documents if d.name == entry.name or d.sha256 == entry.sha256]
                kept = tuple(d for d in documents if d not in replaced)
                check_room(entry.name, kept, self._settings)
                check_pages(entry.name, entry.pages, kept, self._settings)
                write_record(session.folder, (*kept, entry))
            except BaseException:
                self._erase([entry])
                raise
            self._erase(replaced)
        return bool(replaced)

    def _erase(self, documents: Sequence[PrivateDocument]) -> None:
        store = self._session.store(self._embedder.dimension)
        for document in documents:
            store.drop(document.doc_id)
            (self._session.files / document.filename).unlink(missing_ok=True)
            _remove_folder(self._session.derived / document.doc_id)

    def _same_file(self, upload: Upload, digest: str) -> Outcome | None:
        """The outcome where the same bytes are there already; an old version under the new name goes."""
        same = next(
            (d for d in self.documents() if d.sha256 == digest and d.made_with == self._embedder.fingerprint), None
        )
        if same is None:
            return None
        old = [d for d in self.documents() if d.name == upload.key and d.doc_id != same.doc_id]
        for document in old:
            self.remove(document.doc_id)
        shown = "Ya estaba" if same.name == upload.key else f"Es el mismo archivo que «{shown_name(same.name)}»"
        gone = " La versión anterior con este nombre se ha borrado." if old else ""
        return Outcome(shown_name(upload.name), same, note=f"{shown}: no se ha duplicado.{gone}")


def _remove_folder(folder: Path) -> None:
    """Remove a folder, in one step for whoever still writes into it; the sweep finishes what cannot be removed now."""
    gone = folder.with_name(f"{folder.name}.gone")
    with contextlib.suppress(OSError):
        folder.rename(gone)
    shutil.rmtree(gone, ignore_errors=True)
