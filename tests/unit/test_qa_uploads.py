"""Batteries over uploads: each document's desk is its session's alone, and dies with the document or the session."""

import sqlite3
import time
from pathlib import Path

import pytest

from core.config import Settings
from core.documents.intake import Upload
from core.documents.library import SessionDocuments
from core.documents.record import PrivateDocument
from core.errors import AsesoriaError
from core.qa.background import Order, Prepared, Stage
from core.qa.battery import generate_battery
from core.qa.cases import cases_of
from core.qa.models import BookInfo, BookType
from core.qa.status import QaStatus
from core.qa.store import SqlRunStore
from core.qa.uploads import UploadDesks
from core.records.reviews import list_reviews
from tests.private_documents import library
from tests.ui.qa_desk import THRESHOLDS, EchoAnswerer, TableJudge
from tests.unit.test_qa_battery import BOOK_PATH, TITLE


class Shelf:
    """Sessions with a book each, and desks whose engine and judge are fakes."""

    def __init__(self) -> None:
        self.answerer, self.judge = EchoAnswerer(), TableJudge()
        self.desks = UploadDesks(
            self._prepare, lambda *_: self.answerer, thresholds=THRESHOLDS, engine="falso", judge_s=0.1
        )

    def _prepare(self, documents: SessionDocuments, store: SqlRunStore, order: Order) -> Prepared:
        battery = store.battery(order.run_id) if order.run_id else None
        if battery is None:
            book = BookInfo(order.doc_id, order.title, order.author, order.kind, order.category, profile=order.profile)
            battery = generate_battery(book, documents.text(order.doc_id), seed=order.seed)
        return Prepared(battery, self.answerer, self.judge)


def with_book(settings: Settings) -> tuple[SessionDocuments, PrivateDocument]:
    own = library(settings)
    (outcome,) = own.add([Upload("la_imprenta.md", BOOK_PATH.read_bytes())])
    assert outcome.document is not None, outcome.error
    return own, outcome.document


def order_of(document: PrivateDocument, run_id: str = "") -> Order:
    return Order(
        document.doc_id, TITLE, BookType.NARRATIVE, author="Equipo de AsesorIA", category="novela", run_id=run_id
    )


@pytest.fixture
def shelf() -> Shelf:
    return Shelf()


def test_all_of_it_is_in_the_document_s_folder_and_goes_with_the_document(settings: Settings, shelf: Shelf) -> None:
    own, document = with_book(settings)
    before = {p for p in settings.home.rglob("*") if p.is_file()}
    desk = shelf.desks.desk(own, document)
    assert desk.documents() == {document.doc_id: "la imprenta"} and desk.own
    assert shelf.desks.status(own, document.doc_id) is QaStatus.NOT_EVALUATED
    job = desk.batteries.wait(desk.batteries.start(order_of(document)).id)
    report = desk.store.report(job.report_id)
    assert report is not None and report.battery.book.author == "Equipo de AsesorIA"
    assert f"«{TITLE}»" in " ".join(r.question.question for r in report.results)
    assert len(cases_of(desk.database(), report)) == len(report.human) > 0
    assert shelf.desks.status(own, document.doc_id) is not QaStatus.NOT_EVALUATED
    folder = own.derived(document.doc_id)
    new = {p for p in settings.home.rglob("*") if p.is_file()} - before
    assert new and all(folder in p.parents for p in new)
    own.remove(document.doc_id)
    shelf.desks.forget(own.session_id, document.doc_id)
    assert not folder.exists() and not list(folder.parent.iterdir())
    assert shelf.desks.status(own, document.doc_id) is QaStatus.NOT_EVALUATED
    with pytest.raises(AsesoriaError, match="ya no está"):
        shelf.desks.desk(own, document)


def test_a_session_s_end_leaves_nothing_and_stops_what_runs(settings: Settings, shelf: Shelf) -> None:
    own, document = with_book(settings)
    desk = shelf.desks.desk(own, document)
    shelf.answerer.gate.clear()
    job = desk.batteries.start(order_of(document))
    own.remove_all()
    shelf.answerer.gate.set()
    ended = desk.batteries.wait(job.id)
    assert ended.stage in (Stage.STOPPED, Stage.FAILED) and not ended.report_id
    assert len(shelf.answerer.asked) <= 1
    shelf.desks.forget(own.session_id)
    assert not [p for p in settings.private_dir.rglob("*") if p.is_file()]


def test_two_sessions_see_nothing_of_each_other(settings: Settings, shelf: Shelf) -> None:
    (one, first), (other, second) = with_book(settings), with_book(settings)
    desk = shelf.desks.desk(one, first)
    desk.batteries.wait(desk.batteries.start(order_of(first)).id)
    theirs = shelf.desks.desk(other, second)
    assert theirs.batteries.jobs() == () and theirs.store.report_heads() == ()
    assert list_reviews(theirs.database(), status="") == []
    with pytest.raises(AsesoriaError):
        shelf.desks.desk(other, first)


def test_stopped_restarted_and_taken_up_again(settings: Settings, shelf: Shelf) -> None:
    own, document = with_book(settings)
    desk = shelf.desks.desk(own, document)
    shelf.answerer.slow = 0.03
    job = desk.batteries.start(order_of(document))
    while len(shelf.answerer.asked) < 3:
        time.sleep(0.02)
    desk.batteries.stop(job.id)
    assert desk.batteries.wait(job.id).stage is Stage.STOPPED
    shelf.desks.forget(own.session_id)  # as after a restart of the app
    again = shelf.desks.desk(own, document)
    ((run_id, battery, kept),) = again.batteries.interrupted()
    assert kept >= 3 and battery.book.title == TITLE
    shelf.answerer.slow = 0.0
    assert again.batteries.wait(again.batteries.start(order_of(document, run_id)).id).stage is Stage.DONE
    assert sorted(shelf.answerer.asked) == sorted(q.question for q in battery.questions)


def test_the_sweep_removes_what_a_crash_has_left(settings: Settings, shelf: Shelf) -> None:
    own, document = with_book(settings)
    left: Path = own.derived(document.doc_id).with_name("p_0123.gone")
    left.mkdir()
    sqlite3.connect(left / "qa.sqlite").close()
    kept = own.derived(document.doc_id)
    own._sessions.sweep()
    assert not left.exists() and kept.exists()
