"""What must survive a crash of a battery's run: the battery, each given answer at once, the report. SQLite by SQLAlchemy.

One file per folder: the records' folder for official documents, the session's folder for an upload (whose reports die
with it).
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

from sqlalchemy import (
    Column,
    Connection,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
    create_engine,
    event,
    func,
    insert,
    select,
    text,
)
from sqlalchemy.exc import IntegrityError, SQLAlchemyError

from core.errors import AsesoriaError
from core.qa.models import Battery, GivenAnswer, Judgement, Report
from core.qa.serial import from_json, to_json
from core.qa.status import CannotCloseError, QaStatus, StatusChange, check_closing

# Raise when the tables change. A file of version 1 lacks only tables, which are made; any other is refused.
SCHEMA_VERSION = 2
_READABLE = (0, 1, SCHEMA_VERSION)
FILE_NAME = "qa.sqlite"

_metadata = MetaData()
_runs = Table(
    "qa_runs",
    _metadata,
    Column("id", String, primary_key=True),
    Column("doc_id", String, nullable=False, index=True),
    Column("battery", Text, nullable=False),
    Column("engine", String, nullable=False),
    Column("created_at", String, nullable=False),
)
_answers = Table(
    "qa_answers",
    _metadata,
    Column("run_id", String, nullable=False, index=True),
    Column("question_id", String, nullable=False),
    Column("place", Integer, nullable=False),
    Column("answer", Text, nullable=False),
    UniqueConstraint("run_id", "question_id"),
)
_reports = Table(
    "qa_reports",
    _metadata,
    Column("id", String, primary_key=True),
    Column("run_id", String, nullable=False),
    Column("doc_id", String, nullable=False, index=True),
    Column("report", Text, nullable=False),
    Column("created_at", String, nullable=False),
)
_judgements = Table(
    "qa_judgements",
    _metadata,
    Column("run_id", String, nullable=False, index=True),
    Column("judge", String, nullable=False),
    Column("question_id", String, nullable=False),
    Column("judgement", Text, nullable=False),
    UniqueConstraint("run_id", "judge", "question_id"),
)
# Changes are only added: the last one is the document's status, those before are its history.
_status = Table(
    "qa_status",
    _metadata,
    Column("number", Integer, primary_key=True, autoincrement=True),
    Column("doc_id", String, nullable=False, index=True),
    Column("status", String, nullable=False),
    Column("report_id", String, nullable=False),
    Column("by", String, nullable=False),
    Column("at", String, nullable=False),
    Column("reason", Text, nullable=False),
)


@dataclass(frozen=True, slots=True)
class ReportHead:
    """What a list of reports shows of each; the report itself is read on request."""

    id: str
    run_id: str
    doc_id: str
    created_at: str
    title: str
    verdict: str
    global_score: float | None


class QaStoreError(AsesoriaError):
    """The records of batteries cannot be read or written."""


class RunStore(Protocol):
    """Keeps runs, so that what was answered is neither lost nor answered again."""

    def open_run(self, run_id: str, battery: Battery, engine: str) -> None:
        """Note that a run has begun; the same run again is no error."""

    def append(self, run_id: str, given: GivenAnswer) -> None:
        """Store one answer durably before returning. A second answer to the same question is left out."""

    def answers(self, run_id: str) -> tuple[GivenAnswer, ...]:
        """What has been answered so far, in order."""

    def battery(self, run_id: str) -> Battery | None:
        """The run's battery; None for an unknown run."""

    def unfinished(self) -> tuple[str, ...]:
        """Runs that have no report, newest first."""

    def save_report(self, run_id: str, report: Report) -> None:
        """Store a finished report."""

    def report(self, report_id: str) -> Report | None:
        """A report by its id; None where there is none."""

    def reports(self, doc_id: str = "") -> tuple[Report, ...]:
        """All reports (of one document), newest first."""


class SqlRunStore:
    """`RunStore` in ``folder/qa.sqlite``; every write is committed with a full sync before the call returns."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._engine = create_engine(f"sqlite:///{folder / FILE_NAME}")
        event.listen(self._engine, "connect", _durable)
        with self._writing() as connection:
            version = connection.execute(text("PRAGMA user_version")).scalar_one()
            if version not in _READABLE:
                raise QaStoreError(
                    f"{FILE_NAME} es de otra versión ({version}). Guárdelo aparte y vuelva a ejecutar la batería."
                )
            _metadata.create_all(connection)
            connection.execute(text(f"PRAGMA user_version = {SCHEMA_VERSION}"))

    def open_run(self, run_id: str, battery: Battery, engine: str) -> None:
        """See `RunStore`."""
        if self.battery(run_id) is None:
            row = {
                "id": run_id, "doc_id": battery.book.doc_id, "battery": to_json(battery), "engine": engine,
                "created_at": now(),
            }  # fmt: skip
            with self._writing() as connection:
                connection.execute(insert(_runs).prefix_with("OR IGNORE"), row)

    def append(self, run_id: str, given: GivenAnswer) -> None:
        """See `RunStore`."""
        place = len(self.answers(run_id))
        row = {"run_id": run_id, "question_id": given.question_id, "place": place, "answer": to_json(given)}
        with self._writing() as connection:
            connection.execute(insert(_answers).prefix_with("OR IGNORE"), row)

    def answers(self, run_id: str) -> tuple[GivenAnswer, ...]:
        """See `RunStore`."""
        query = select(_answers.c.answer).where(_answers.c.run_id == run_id).order_by(_answers.c.place)
        with self._reading() as connection:
            return tuple(from_json(GivenAnswer, row.answer) for row in connection.execute(query))

    def battery(self, run_id: str) -> Battery | None:
        """See `RunStore`."""
        with self._reading() as connection:
            found = connection.execute(select(_runs.c.battery).where(_runs.c.id == run_id)).scalar_one_or_none()
        return from_json(Battery, found) if found is not None else None

    def unfinished(self) -> tuple[str, ...]:
        """See `RunStore`."""
        query = (
            select(_runs.c.id).where(_runs.c.id.not_in(select(_reports.c.run_id))).order_by(_runs.c.created_at.desc())
        )
        with self._reading() as connection:
            return tuple(connection.execute(query).scalars())

    def save_report(self, run_id: str, report: Report) -> None:
        """See `RunStore`. A report is never overwritten: the same id again is refused.

        Raises:
            QaStoreError: there is a report of that id.
        """
        row = {
            "id": report.id, "run_id": run_id, "doc_id": report.battery.book.doc_id, "report": to_json(report),
            "created_at": report.created_at,
        }  # fmt: skip
        with self._writing() as connection:
            connection.execute(insert(_reports), row)

    def report(self, report_id: str) -> Report | None:
        """See `RunStore`."""
        with self._reading() as connection:
            found = connection.execute(select(_reports.c.report).where(_reports.c.id == report_id)).scalar_one_or_none()
        return from_json(Report, found) if found is not None else None

    def reports(self, doc_id: str = "") -> tuple[Report, ...]:
        """See `RunStore`."""
        query = select(_reports.c.report).order_by(_reports.c.created_at.desc(), _reports.c.id)
        if doc_id:
            query = query.where(_reports.c.doc_id == doc_id)
        with self._reading() as connection:
            return tuple(from_json(Report, found) for found in connection.execute(query).scalars())

    def report_heads(self, doc_id: str = "") -> tuple[ReportHead, ...]:
        """The heads of all reports (of one document), newest first."""
        c = _reports.c
        from_report = [
            func.json_extract(c.report, path) for path in ("$.battery.book.title", "$.verdict", "$.global_score")
        ]
        query = select(c.id, c.run_id, c.doc_id, c.created_at, *from_report)
        # Times are kept to the second: of two in the same one, the later written is the newer.
        query = query.order_by(c.created_at.desc(), text("qa_reports.rowid DESC"))
        if doc_id:
            query = query.where(c.doc_id == doc_id)
        with self._reading() as connection:
            return tuple(ReportHead(*row) for row in connection.execute(query))

    def append_judgement(self, run_id: str, question_id: str, judgement: Judgement) -> None:
        """Store one judgement durably before returning; a second one of the same judge is left out."""
        row = {
            "run_id": run_id, "judge": judgement.judge, "question_id": question_id, "judgement": to_json(judgement),
        }  # fmt: skip
        with self._writing() as connection:
            connection.execute(insert(_judgements).prefix_with("OR IGNORE"), row)

    def judgements(self, run_id: str, judge: str) -> dict[str, Judgement]:
        """That judge's judgements of the run by question id."""
        query = select(_judgements.c.question_id, _judgements.c.judgement).where(
            _judgements.c.run_id == run_id, _judgements.c.judge == judge
        )
        with self._reading() as connection:
            return {row.question_id: from_json(Judgement, row.judgement) for row in connection.execute(query)}

    def seconds_each(self, engine: str) -> float | None:
        """Mean time of an answer in the last run of that engine; None where it has answered nothing."""
        query = select(_runs.c.id).where(_runs.c.engine == engine).order_by(_runs.c.created_at.desc())
        with self._reading() as connection:
            runs = list(connection.execute(query).scalars())
        for run_id in runs:
            if given := self.answers(run_id):
                return sum(g.seconds for g in given) / len(given)
        return None

    def set_status(self, doc_id: str, status: str, *, report_id: str, by: str, reason: str = "") -> None:
        """Note a document's new status; the ones before stay as its history."""
        with self._writing() as connection:
            connection.execute(insert(_status), _status_row(doc_id, status, report_id, by, reason))

    def qa_status(self, doc_id: str) -> QaStatus:
        """A document's present status."""
        changes = self.status_changes(doc_id)
        return changes[-1].status if changes else QaStatus.NOT_EVALUATED

    def qa_statuses(self) -> dict[str, QaStatus]:
        """The present status of every document that has one."""
        query = select(_status.c.doc_id, _status.c.status).order_by(_status.c.number)
        with self._reading() as connection:
            return {row.doc_id: QaStatus(row.status) for row in connection.execute(query)}

    def status_changes(self, doc_id: str) -> tuple[StatusChange, ...]:
        """A document's statuses, oldest first."""
        query = select(_status).where(_status.c.doc_id == doc_id).order_by(_status.c.number)
        with self._reading() as connection:
            return tuple(
                StatusChange(**{**row._mapping, "status": QaStatus(row.status)}) for row in connection.execute(query)
            )

    def status_follows(self, doc_id: str, report_id: str) -> bool:
        """Whether the document's status has been set by that report already, or by a later one."""
        changes = self.status_changes(doc_id)
        if any(change.report_id == report_id for change in changes):
            return True
        report = self.report(report_id)
        return bool(report and changes and changes[-1].at > report.created_at)

    def close_report(
        self,
        report: Report,
        status: QaStatus,
        *,
        decided: Mapping[str, bool],
        by: str,
        seen: int,
        reason: str = "",
    ) -> None:
        """The reviewer's closing, which sets the document's status.

        ``decided``: flagged question id → accepted. ``seen``: number of the last status change that the reviewer saw
        (0 for none); a change made meanwhile by another is not overwritten.

        Raises:
            CannotCloseError: flagged cases wait, the status does not fit the decisions, or it has changed meanwhile.
        """
        check_closing(report, decided, status)
        doc_id = report.battery.book.doc_id
        with self._writing() as connection:
            connection.execute(text("BEGIN IMMEDIATE"))
            last = connection.execute(select(func.max(_status.c.number)).where(_status.c.doc_id == doc_id)).scalar()
            if (last or 0) != seen:
                raise CannotCloseError(
                    "El estado del documento ha cambiado mientras lo revisaba. Vuelva a abrir el informe y compruébelo."
                )
            connection.execute(insert(_status), _status_row(doc_id, status, report.id, by, reason))

    def close(self) -> None:
        """Let go of the file."""
        self._engine.dispose()

    @contextmanager
    def _writing(self) -> Iterator[Connection]:
        try:
            with self._engine.begin() as connection:
                yield connection
        except IntegrityError as error:
            raise QaStoreError("Ya hay un informe guardado con ese identificador; no se sobrescribe.") from error
        except SQLAlchemyError as error:
            raise QaStoreError(_CANNOT) from error

    @contextmanager
    def _reading(self) -> Iterator[Connection]:
        try:
            with self._engine.connect() as connection:
                yield connection
        except SQLAlchemyError as error:
            raise QaStoreError(_CANNOT) from error


def _status_row(doc_id: str, status: str, report_id: str, by: str, reason: str) -> dict[str, str]:
    return {
        "doc_id": doc_id, "status": str(QaStatus(status)), "report_id": report_id, "by": by, "at": now(),
        "reason": reason,
    }  # fmt: skip


_CANNOT = f"No se puede leer ni escribir {FILE_NAME}. Compruebe el espacio y los permisos de la carpeta de datos."


def _durable(connection: object, _: object) -> None:
    """A committed answer is on the disk, whatever happens next."""
    cursor = connection.cursor()  # type: ignore[attr-defined]
    cursor.execute("PRAGMA journal_mode=WAL")
    cursor.execute("PRAGMA synchronous=FULL")
    cursor.execute("PRAGMA busy_timeout=10000")
    cursor.close()


def now() -> str:
    """This moment, ISO 8601 in UTC."""
    return datetime.now(UTC).isoformat(timespec="seconds")
