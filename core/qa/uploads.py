"""Batteries over uploads: a desk for each document of a session, all of it in the document's own folder.

Battery, answers, reports, decisions and status of an upload are kept in the session's folder, beside nothing of anybody
else, and are erased with the document or with the session.
"""

import logging
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from core.documents.library import SessionDocuments
from core.documents.record import PrivateDocument
from core.errors import AsesoriaError, UnreadableDocumentError
from core.models import Fragment, Scope
from core.qa.background import Batteries, Order, Prepared
from core.qa.battery import content_key
from core.qa.cases import open_cases
from core.qa.desk import Desk, who_answers
from core.qa.held import hold_fragments
from core.qa.models import BookInfo, BookType
from core.qa.run import Answerer
from core.qa.service import build_judge, make_battery, stored_battery
from core.qa.status import QaStatus
from core.qa.store import FILE_NAME, SqlRunStore
from core.records.database import Database
from core.thresholds import Thresholds

if TYPE_CHECKING:
    from core.services import Services

log = logging.getLogger(__name__)

Prepare = Callable[[SessionDocuments, SqlRunStore, Order], Prepared]
Held = Callable[[SessionDocuments, str], Answerer]


class UploadDesks:
    """The desks of the uploads of all sessions. Who has a session's `SessionDocuments` reaches its desks, nobody else.

    A battery goes on while its owner reloads the page or looks at another; safe to use from several threads.
    """

    def __init__(self, prepare: Prepare, held: Held, *, thresholds: Thresholds, engine: str, judge_s: float) -> None:
        """``prepare`` makes what a run over an upload needs, ``held`` an engine over it alone.

        ``engine`` and ``judge_s``: as for `Desk`.
        """
        self._prepare, self._held = prepare, held
        self._thresholds = thresholds
        self._engine, self._judge_s = engine, judge_s
        self._desks: dict[tuple[str, str], Desk] = {}
        self._guard = threading.Lock()
        self._turn = threading.Lock()

    def desk(self, documents: SessionDocuments, document: PrivateDocument) -> Desk:
        """The desk of one upload.

        Raises:
            SessionEndedError, UnreadableDocumentError: session or document are gone. AsesoriaError: the disk says no.
        """
        key = (documents.session_id, document.doc_id)
        with self._guard:
            if key not in self._desks or not documents.holds(document.doc_id):
                self._drop(key)
                self._desks[key] = self._open(documents, document)
            return self._desks[key]

    def status(self, documents: SessionDocuments, doc_id: str) -> QaStatus:
        """An upload's status; "sin evaluar" where no battery was run over it, or it is gone."""
        document = next((d for d in documents.documents() if d.doc_id == doc_id), None)
        with suppress(AsesoriaError):
            if document is not None and (documents.derived(doc_id, make=False) / FILE_NAME).exists():
                return self.desk(documents, document).store.qa_status(doc_id)
        return QaStatus.NOT_EVALUATED

    def forget(self, session_id: str, doc_id: str = "") -> None:
        """Stop and let go of the desks of a session (of one document of it); their files are the session's to erase."""
        with self._guard:
            for key in [k for k in self._desks if k[0] == session_id and doc_id in ("", k[1])]:
                self._drop(key)

    def _drop(self, key: tuple[str, str]) -> None:
        if desk := self._desks.pop(key, None):
            try:
                desk.close()
            except AsesoriaError as error:
                log.warning("an upload's desk could not be closed: %s", type(error).__name__)

    def _open(self, documents: SessionDocuments, document: PrivateDocument) -> Desk:
        folder, title = (
            documents.derived(document.doc_id),
            document.title.removesuffix(document.suffix).replace("_", " "),
        )
        store, database = SqlRunStore(folder), Database(f"sqlite:///{folder / 'records.db'}")
        batteries = Batteries(
            lambda order: self._prepare(documents, store, order),
            store,
            thresholds=self._thresholds.qa,
            finished=lambda report: open_cases(database, report),
            there=documents.holds,
            turn=self._turn,
        )
        return Desk(
            store=store,
            database=lambda: database,
            batteries=batteries,
            thresholds=self._thresholds,
            documents=lambda: {document.doc_id: title} if documents.holds(document.doc_id) else {},
            usual_type=lambda _: BookType.HYBRID,
            answerer=lambda doc_id: self._held(documents, doc_id),
            engine=self._engine,
            judge_s=self._judge_s,
            own=True,
        )


def build_upload_desks(services: "Services") -> UploadDesks:
    """The desks with the product's own engine and judge."""
    engine, judge_s = who_answers(services)
    return UploadDesks(
        lambda documents, store, order: prepare_upload(services, documents, store, order),
        lambda documents, doc_id: upload_answerer(services, documents, doc_id),
        thresholds=services.thresholds,
        engine=engine,
        judge_s=judge_s,
    )


def prepare_upload(services: "Services", documents: SessionDocuments, store: SqlRunStore, order: Order) -> Prepared:
    """Battery, held engine and judge over one upload's redacted text; nothing but that text is searched.

    Raises:
        UnreadableDocumentError: the document is gone, or was read with another model.
    """
    fragments, vectors = _upload(documents, order.doc_id)
    if order.run_id:
        battery = stored_battery(store, order.run_id, doc_id=order.doc_id, fragments=fragments)
    else:
        book = BookInfo(
            order.doc_id, order.title, order.author, order.kind, order.category, profile=order.profile,
            source_scope=Scope.PRIVATE,
        )  # fmt: skip
        battery = make_battery(services, book, fragments, seed=order.seed, identity=content_key(fragments))
    return Prepared(battery, hold_fragments(services, fragments, vectors), build_judge(services, battery, fragments))


def upload_answerer(services: "Services", documents: SessionDocuments, doc_id: str) -> Answerer:
    """The engine held to one upload. Raises as `prepare_upload`."""
    return hold_fragments(services, *_upload(documents, doc_id))


def _upload(documents: SessionDocuments, doc_id: str) -> tuple[list[Fragment], NDArray[np.float32]]:
    held = documents.holdings()
    places = [i for i, f in enumerate(held.fragments) if f.doc_id == doc_id]
    if not places:
        raise UnreadableDocumentError("Este documento ya no está en su sesión, o hay que subirlo de nuevo.")
    return [held.fragments[i] for i in places], held.vectors[np.array(places)]
