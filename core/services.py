"""The one composition root: builds the shared objects from the settings."""

import hashlib
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Generic, TypeVar

from core.answering.checking import DraftChecker
from core.answering.engine import AnswerEngine
from core.answering.llm import ChatModel, build_chat_model
from core.answering.ports import Retriever, Synthesis
from core.answering.prompt import PROMPT_VERSION
from core.answering.recording import interaction_of
from core.answering.scope import load_scope_model
from core.answering.scope_model import MODEL_PATH as SCOPE_PATH
from core.answering.sealing import Sealer
from core.answering.sentence_model import MODEL_PATH as SENTENCES_PATH
from core.answering.sentence_model import load_sentence_model
from core.answering.synthesis import Limits
from core.assets import Progress
from core.config import Settings
from core.corpus.refresh import with_refreshed
from core.corpus.register import find, load_register
from core.documents.library import SessionDocuments
from core.documents.redaction import SessionRedactor
from core.documents.relevance import load_relevance
from core.documents.search import SessionSearch
from core.documents.sessions import Sessions
from core.errors import IndexNotReadyError, NothingApprovedError, RecordsError
from core.models import Answer, DocumentInfo, Fragment
from core.privacy.redactor import Redactor, shared_redactor
from core.records.database import Database, records_folder, records_url
from core.records.interactions import AnswerVersions, Channel, Feedback, Thumb, session_ref
from core.records.recorder import Receipt, Recorder
from core.records.store import erase_session
from core.retrieval.adapter import ADAPTER_PATH, IDENTITY, Adapter, load_adapter
from core.retrieval.background import BackgroundIndexing
from core.retrieval.embedder import Embedder, build_embedder
from core.retrieval.expected import KnownAnswers, known_answers, load_expected
from core.retrieval.indexer import Indexer, made_with
from core.retrieval.manifest import Manifest, read_manifest
from core.retrieval.reranker import RERANKER_PATH, CrossEncoderReranker, FusionReranker, Reranker, load_reranker
from core.retrieval.search import HybridSearch
from core.retrieval.snapshot import take_snapshot
from core.retrieval.store import FragmentStore, QuestionStore
from core.retrieval.terms import TermStatistics
from core.seal.state import StateReader
from core.seal.watch import watch_drift
from core.thresholds import Thresholds, load_thresholds

if TYPE_CHECKING:
    from core.qa.store import SqlRunStore
    from core.qa.uploads import UploadDesks


# What was trained and decides what is found, answered and quoted.
_TRAINED = (ADAPTER_PATH, RERANKER_PATH, SCOPE_PATH, SENTENCES_PATH)


@dataclass(frozen=True)
class Services:
    """What pages, API and command line share. Made by `build_services`; safe to use from several threads."""

    settings: Settings
    register: tuple[DocumentInfo, ...]
    thresholds: Thresholds
    embedder: Embedder
    store: FragmentStore
    questions: QuestionStore
    indexer: Indexer
    adapter: Adapter
    reranker: Reranker
    known: KnownAnswers
    redactor: Redactor
    model: ChatModel | None = None

    @property
    def doc_ids(self) -> tuple[str, ...]:
        """Documents to be indexed: those of the setting, else the whole register."""
        chosen = [d.strip() for d in self.settings.documents.split(",") if d.strip()]
        return tuple(find(self.register, d).doc_id for d in chosen) or tuple(i.doc_id for i in self.register)

    def redact(self, text: str) -> str:
        """A question or comment without what identifies a person, before any record or model sees it."""
        return self.redactor.redact_question(text).text

    def manifest(self) -> Manifest:
        """What is indexed now, with the present parts only."""
        return self.indexer.manifest()

    def about(self, doc_id: str) -> tuple[int | None, str]:
        """Tax year and stated date of an indexed document."""
        document = self._manifests.get(self._manifest_changed()).documents.get(doc_id)
        return (document.fiscal_year, document.document_date) if document else (None, "")

    def search(self) -> HybridSearch:
        """The search over what is indexed now.

        Raises:
            IndexNotReadyError: nothing is indexed, or it was made with another model or fragment version.
        """
        stored = read_manifest(self.indexer.manifest_path)
        if not stored.documents:
            raise IndexNotReadyError(
                "Todavía no hay ningún documento indexado. Espere a que termine el primero, o ejecute «python -m core index»."
            )
        if stored.made_with != made_with(self.embedder):
            raise IndexNotReadyError(
                "El índice se creó con otro modelo u otra versión y no se usa. Ejecute «python -m core index» para rehacerlo."
            )
        return self._searches.get(_version(stored))

    def terms(self) -> TermStatistics:
        """Term statistics of what is indexed."""
        return self.search().terms

    @cached_property
    def _searches(self) -> "_Latest[tuple[tuple[str, str], ...], HybridSearch]":
        """The search over the present index; made anew when a document has been added, replaced or removed."""
        return _Latest(
            lambda version: HybridSearch(
                store=self.store,
                questions=self.questions,
                snapshot=take_snapshot(self.store, self.questions, self.adapter),
                embedder=self.embedder,
                adapter=self.adapter,
                reranker=self.reranker,
                terms=TermStatistics.load(self.indexer.terms_dir, [doc_id for doc_id, _ in version]),
            )
        )

    @cached_property
    def engine(self) -> AnswerEngine:
        """The answering engine over the public corpus."""
        from core.retrieval.retriever import HybridRetriever  # LlamaIndex takes seconds to import

        retriever = HybridRetriever(self.search, allowed=self.approved)
        return self.engine_over(retriever, self.store.section_around, self.terms)

    @cached_property
    def qa_store(self) -> "SqlRunStore":
        """The batteries, reports and statuses of the official documents."""
        from core.qa.store import SqlRunStore  # late: the database library

        return SqlRunStore(records_folder(self.settings))

    @cached_property
    def upload_desks(self) -> "UploadDesks":
        """The batteries over the documents of the sessions; kept in those sessions' folders only."""
        from core.qa.uploads import build_upload_desks

        return build_upload_desks(self)

    def approved(self) -> frozenset[str] | None:
        """The documents that may answer: those whose battery is approved where that is required, else None (all).

        Raises:
            NothingApprovedError: it is required and no document is approved.
        """
        if not self.settings.require_qa:
            return None
        found = self.qa_store.qa_statuses()
        approved = frozenset(doc_id for doc_id, status in found.items() if status == "aprobado")
        if not approved:
            raise NothingApprovedError(
                "Solo se responde con documentos aprobados por la batería de calidad (ASESORIA_REQUIRE_QA=1) y todavía "
                "no hay ninguno. Ejecute «python -m core qa run» y revise el informe, o quite ese ajuste."
            )
        return approved

    def engine_over(
        self,
        retriever: Retriever,
        neighbours: Callable[[Fragment], Sequence[Fragment]],
        terms: Callable[[], TermStatistics],
        *,
        one_document: bool = False,
    ) -> AnswerEngine:
        """The product's engine over any search: the public one, or (``one_document``) one held to a single document."""
        return AnswerEngine(
            retriever=retriever,
            neighbours=neighbours,
            terms=terms,
            about=self.about,
            scope=load_scope_model(),
            sentences=load_sentence_model(),
            known=self.known,
            thresholds=self.thresholds,
            max_question_chars=self.settings.max_question_chars,
            verify=DraftChecker(self.thresholds),
            synthesis=self._synthesis(),
            sealer=Sealer(self.thresholds, self.seal_state.mode),
            redact=self.redact,
            one_document=one_document,
        )

    def _synthesis(self) -> Synthesis | None:
        """The model that writes answers, where there is one."""
        if self.model is None:
            return None
        self.model.load()
        settings = self.settings
        limits = Limits(settings.llm_timeout_s, settings.llm_retries, settings.llm_num_ctx, settings.llm_max_tokens)
        return Synthesis(self.model, limits)

    def answer_and_record(self, question: str, channel: Channel) -> tuple[Answer, Receipt]:
        """Answer from the public corpus and keep the interaction. Errors as `AnswerEngine.ask`."""
        clock = time.perf_counter()
        answer = self.engine.ask(question)
        return answer, self.record(question, answer, channel=channel, latency_ms=1000 * (time.perf_counter() - clock))

    def record(
        self,
        question: str,
        answer: Answer,
        *,
        channel: Channel,
        latency_ms: float,
        session_id: str = "",
        private_session: bool = False,
    ) -> Receipt:
        """Keep an answered question (redacted here). Never fails for a disk or database; see `Recorder.record`.

        ``private_session``: the session has documents of its own, so that no text of the answer is kept.
        """
        return self.recorder.record(
            interaction_of(
                self.redact(" ".join(question.split())),
                answer,
                channel=channel,
                versions=self.versions(),
                latency_ms=latency_ms,
                session_id=session_id,
                private_session=private_session,
            )
        )

    def give_feedback(self, interaction_id: str, thumb: Thumb, comment: str = "") -> Receipt:
        """Keep a thumb and its comment (redacted here)."""
        return self.recorder.give_feedback(Feedback(interaction_id, thumb, self.redact(comment)))

    def forget_session(self, session_id: str) -> int:
        """Erase what is kept of a session's questions. How many there were.

        Raises:
            RecordsError: the records cannot be written now; nothing is erased.
        """
        self.upload_desks.forget(session_id)
        if not self.recorder.flush():
            raise RecordsError(self.recorder.problem or "Los registros están ocupados. Vuelva a intentarlo.")
        return erase_session(self.records, session_ref(session_id))

    def versions(self) -> AnswerVersions:
        """What answers are made with now."""
        prompt = PROMPT_VERSION if self.model else "none"
        corpus = self._corpus_versions.get(self._manifest_changed())
        return AnswerVersions(prompt=prompt, model=self._model_version, corpus=corpus)

    def _manifest_changed(self) -> int:
        """When what is indexed changed last (nanoseconds); 0 where nothing is."""
        try:
            return self.indexer.manifest_path.stat().st_mtime_ns
        except OSError:
            return 0

    @cached_property
    def _manifests(self) -> "_Latest[int, Manifest]":
        """What is indexed; read anew when it has changed, not once a source."""
        return _Latest(lambda _: self.manifest())

    @cached_property
    def _corpus_versions(self) -> "_Latest[int, str]":
        """Hash of what is indexed; read anew when the manifest has changed."""
        return _Latest(lambda _: _corpus_version(self.manifest()))

    @cached_property
    def _model_version(self) -> str:
        name = self.model.name if self.model else "none"
        return f"{name}|{self.embedder.fingerprint}|{self.settings.reranker}-{trained_version()}"

    def open_records(self, *, busy_s: float = 5.0) -> Database:
        """The database of the records.

        Raises:
            RecordsError: it cannot be used now, or is of another version.
        """
        return Database(records_url(self.settings), busy_s=busy_s)

    @cached_property
    def records(self) -> Database:
        """The database of the records, for pages. Raises as `open_records`; tried again at the next call then."""
        return self.open_records()

    @cached_property
    def recorder(self) -> Recorder:
        """Keeps interactions; applies the retention and watches the drift. One per process."""
        return Recorder(
            self.open_records,
            records_folder(self.settings),
            retention_days=self.settings.retention_days,
            house_work=lambda database: watch_drift(database, self.thresholds.drift),
        )

    @cached_property
    def seal_state(self) -> StateReader:
        """The seal's state, as each answer reads it."""
        return StateReader(lambda: self.open_records(busy_s=0.05), has_model=lambda: self.model is not None)

    @cached_property
    def sessions(self) -> Sessions:
        """The sessions of private documents; swept from the start of the app on."""
        return Sessions(self.settings, on_end=self.forget_session)

    def private_search(self, session_id: str) -> SessionSearch:
        """The search over the public corpus and the documents of one session.

        Raises:
            SessionEndedError: ``session_id`` has not the form of an id.
        """
        from core.retrieval.retriever import HybridRetriever

        numbering = self.sessions.placeholders(session_id)
        documents = SessionDocuments(
            self.sessions,
            session_id,
            settings=self.settings,
            embedder=self.embedder,
            redactor=SessionRedactor(self.redactor, numbering),
        )
        # An earlier process has numbered what it redacted; its numbers stand for other values than ours would.
        held = documents.holdings()
        numbering.skip_used([*(f.text for f in held.fragments), *(d.title for d in held.documents)])
        return SessionSearch(
            HybridRetriever(self.search, allowed=self.approved),
            documents,
            adapter=self.adapter,
            terms=self.terms,
            model=load_relevance(),
            thresholds=self.thresholds.documents,
        )

    @cached_property
    def indexing(self) -> BackgroundIndexing:
        """The index being brought in step in the background; started by the app, once."""
        return BackgroundIndexing(self.indexer, self.doc_ids)


K = TypeVar("K")
V = TypeVar("V")


def _version(manifest: Manifest) -> tuple[tuple[str, str], ...]:
    return tuple(sorted((d.doc_id, d.indexed_at) for d in manifest.documents.values()))


def _corpus_version(manifest: Manifest) -> str:
    indexed = "|".join(sorted(f"{d.doc_id}:{d.sha256}" for d in manifest.documents.values()))
    return hashlib.sha256(indexed.encode()).hexdigest()[:16]


class _Latest(Generic[K, V]):
    """Keeps the value of the last key asked for."""

    def __init__(self, make: Callable[[K], V]) -> None:
        self._make = make
        self._lock = threading.Lock()
        self._held: tuple[K, V] | None = None

    def get(self, key: K) -> V:
        """The value for ``key``, made if the last key was another."""
        with self._lock:
            if self._held is None or self._held[0] != key:
                self._held = (key, self._make(key))
            return self._held[1]


def trained_version() -> str:
    """Changes (8 hexadecimal digits) with whatever was trained that decides an answer; "none" where nothing was."""
    trained = [hashlib.sha256(path.read_bytes()).digest() for path in _TRAINED if path.exists()]
    return hashlib.sha256(b"".join(trained)).hexdigest()[:8] if trained else "none"


def build_services(settings: Settings, *, progress: Progress | None = None) -> Services:
    """Build everything; downloads the embedding model on first use.

    Raises:
        AcquisitionError: the model cannot be had. RegisterError: a data file is not valid.
        SettingsError: a setting means nothing.
    """
    register = with_refreshed(load_register(), settings)
    embedder = build_embedder(settings, progress=progress)
    store = FragmentStore(settings.index_uri, dimension=embedder.dimension)
    questions = QuestionStore(settings.index_uri, dimension=embedder.dimension)
    expected = load_expected()
    return Services(
        settings=settings,
        register=register,
        thresholds=load_thresholds(),
        embedder=embedder,
        store=store,
        questions=questions,
        indexer=Indexer(settings, register, store, embedder, questions=questions, expected=expected),
        adapter=load_adapter(embedder.fingerprint),
        reranker=_reranker(settings, embedder),
        known=known_answers(item for items in expected.values() for item in items),
        redactor=shared_redactor(settings),
        model=build_chat_model(settings),
    )


def _reranker(settings: Settings, embedder: Embedder) -> Reranker:
    """The trained one where it was trained on this embedder, a cross-encoder by setting, else plain fusion."""
    if settings.reranker != "trained":
        return CrossEncoderReranker(settings.reranker)
    if load_adapter(embedder.fingerprint) is IDENTITY or not RERANKER_PATH.exists():
        return FusionReranker()
    return load_reranker()
