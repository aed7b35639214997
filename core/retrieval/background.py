"""The index brought in step in a thread, with a picture of where each document stands."""

import logging
import threading
from collections.abc import Sequence

from core.errors import AsesoriaError
from core.retrieval.indexer import FAILED, READY, DocumentProgress, Indexer, IndexReport

log = logging.getLogger(__name__)


class BackgroundIndexing:
    """Runs the indexer once in a daemon thread. All methods may be called from any thread."""

    def __init__(self, indexer: Indexer, doc_ids: Sequence[str]) -> None:
        self._indexer = indexer
        self._doc_ids = tuple(doc_ids)
        self._lock = threading.Lock()
        self._progress: dict[str, DocumentProgress] = {}
        self._thread: threading.Thread | None = None
        self._error = ""
        self.report: IndexReport | None = None

    def start(self) -> None:
        """Start if it is not running; after errors it may be started again."""
        with self._lock:
            if self._thread is not None and self._thread.is_alive():
                return
            self._error = ""
            self._thread = threading.Thread(target=self._run, name="indexing", daemon=True)
            self._thread.start()

    @property
    def running(self) -> bool:
        """Whether documents are still being done."""
        return self._thread is not None and self._thread.is_alive()

    @property
    def error(self) -> str:
        """Why the whole run failed ('' if it did not)."""
        return self._error

    def progress(self) -> tuple[DocumentProgress, ...]:
        """Where each document stands, in the order of the run."""
        with self._lock:
            return tuple(self._progress.values())

    def counts(self) -> tuple[int, int, int]:
        """Documents ready, failed and in all."""
        stages = [p.stage for p in self.progress()]
        return stages.count(READY), stages.count(FAILED), len(self._doc_ids)

    def wait(self, timeout: float | None = None) -> None:
        """Wait for the run to end."""
        if self._thread is not None:
            self._thread.join(timeout)

    def _note(self, progress: DocumentProgress) -> None:
        with self._lock:
            self._progress[progress.doc_id] = progress

    def _run(self) -> None:
        try:
            self.report = self._indexer.run(self._doc_ids, progress=self._note)
        except AsesoriaError as error:
            self._error = str(error)
        except Exception:  # a thread's error would be lost: log it in full, tell the user plainly
            log.exception("indexing failed")
            self._error = (
                "La indexación se ha interrumpido por un error inesperado. Reinicie AsesorIA: seguirá donde se quedó. "
                "Si se repite, mire el registro de errores de la consola."
            )
