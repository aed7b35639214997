"""The records: schema and its version, writing twice, reviewers, state, retention to the last byte, exports."""

import csv
import io
import json
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import text

from core.answering.recording import interaction_of
from core.answering.sealing import Sealer
from core.config import Settings
from core.errors import RecordsError, ReviewConflictError
from core.models import Answer, Category, Mode, Scope, SealMode, Source
from core.records import schema
from core.records.database import Database, records_folder, records_url
from core.records.export import COLUMNS, to_csv, to_jsonl
from core.records.interactions import AnswerVersions, Feedback, Interaction, iso, session_ref
from core.records.reviews import DRIFT, FEEDBACK, close_review, list_reviews, open_review
from core.records.spool import Entry
from core.records.store import (
    apply_retention,
    count,
    daily_levels,
    each,
    erase,
    erase_everything,
    erase_session,
    get,
    store,
)
from core.seal.state import INITIAL, StateReader, change_state, read_states
from core.seal.watch import read_drift, watch_drift
from core.thresholds import load_thresholds

THRESHOLDS = load_thresholds()


@pytest.fixture
def database(settings: Settings) -> Database:
    return Database(records_url(settings))


def interaction(question: str = "¿Cuándo?", *, private: bool = False, high: bool = False, **changes) -> Interaction:  # type: ignore[no-untyped-def]
    scope = Scope.PRIVATE if private else Scope.PUBLIC
    source = Source("frag1", "iva_2025", "Manual", 3, ("A",), "PASAJE CITADO", 0.7, "", scope)
    answer = Sealer(THRESHOLDS).with_seal(
        Answer("TEXTO DE LA RESPUESTA «PASAJE CITADO» [1]", True, Category.DIRECT, Mode.EXTRACTIVE, (source,)),
        relevances=[0.7], coverage=1.0, supporting=2 if high else 1,
    )  # fmt: skip
    made = interaction_of(
        question, answer, channel="page", versions=AnswerVersions("none", "m1", "c1"), latency_ms=12.34,
        session_id="abc" if private else "", private_session=private,
    )  # fmt: skip
    from dataclasses import replace

    return replace(made, **changes)


def entry(made: Interaction) -> Entry:
    return Entry("interaction", made.row())


def test_what_is_kept_of_an_interaction(database: Database) -> None:
    made = interaction()
    store(database, [entry(made)])
    row = get(database, made.id)
    assert row is not None
    assert row["question"] == "¿Cuándo?" and row["level"] == "medium" and row["seal_mode"] == "deterministic"
    assert row["answer"].startswith("TEXTO") and row["passages"] == ["PASAJE CITADO"]
    assert row["signals"]["rerank"] == 0.7 and row["signals"]["versions"]["rerank"] == "2" and row["signals"]["reasons"]
    assert row["sources"] == [{"fragment_id": "frag1", "doc_id": "iva_2025", "relevance": 0.7, "scope": "public"}]
    assert (row["model"], row["corpus_version"], row["thresholds_version"], row["latency_ms"]) == (
        "m1", "c1", THRESHOLDS.version, 12.3,
    )  # fmt: skip
    assert row["day"] == row["created_at"][:10] and row["thumb"] == "" and get(database, "no") is None


def test_of_a_private_session_no_text_is_kept(database: Database) -> None:
    made = interaction(private=True)
    store(database, [entry(made)])
    row = get(database, made.id)
    assert row is not None and row["answer"] is None and row["passages"] is None
    assert row["sources"] == [{"scope": "private"}] and row["session_ref"] == session_ref("abc") != "abc"
    assert "PASAJE" not in json.dumps(row) and "TEXTO" not in json.dumps(row)
    assert erase_session(database, "") == 0 and erase_session(database, session_ref("abc")) == 1
    assert count(database) == 0


def test_a_private_source_alone_keeps_the_text_out() -> None:
    assert interaction(private=True, private_session=False).row()["answer"] is None


def test_an_answer_without_a_seal_is_not_kept() -> None:
    bare = Answer("x", False, Category.NO_ANSWER, Mode.EXTRACTIVE)
    with pytest.raises(ValueError, match="seal"):
        interaction_of("x", bare, channel="api", versions=AnswerVersions("", "", ""), latency_ms=0)


def test_storing_twice_changes_nothing(database: Database) -> None:
    made = interaction()
    store(database, [entry(made), entry(made)])
    store(database, [entry(made)])
    assert count(database) == 1


def test_the_last_opinion_counts_and_a_thumb_down_waits_for_a_person(database: Database) -> None:
    made = interaction()
    first = Feedback(made.id, "up", "bien", at="2026-01-01T00:00:00.000Z")
    second = Feedback(made.id, "down", "x" * 3000, at="2026-01-02T00:00:00.000Z")
    store(database, [entry(made), Entry("feedback", second.row()), Entry("feedback", first.row())])
    row = get(database, made.id)
    assert row is not None and row["thumb"] == "down" and len(row["comment"]) == 2000
    store(database, [Entry("feedback", second.row())])
    (item,) = list_reviews(database)
    assert item.kind == FEEDBACK and item.subject == made.id


def test_entries_that_are_none_are_refused(database: Database) -> None:
    with pytest.raises(ValueError, match="kind"):
        store(database, [Entry("other", {})])
    with pytest.raises(ValueError, match="question"):
        store(database, [Entry("interaction", {k: v for k, v in interaction().row().items() if k != "question"})])
    assert count(database) == 0


# --- schema


def test_a_new_database_has_every_table_wal_and_its_version(database: Database, settings: Settings) -> None:
    raw = sqlite3.connect(records_folder(settings) / "records.db")
    tables = {name for (name,) in raw.execute("SELECT name FROM sqlite_master WHERE type='table'")}
    assert set(schema.metadata.tables) <= tables
    assert raw.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    assert raw.execute("SELECT version FROM schema_info").fetchall() == [(schema.present_version(),)]


@pytest.mark.parametrize("version", ["99", "0"])
def test_another_version_is_a_clear_error(database: Database, settings: Settings, version: str) -> None:
    with database.writing() as connection:
        connection.execute(text(f"UPDATE schema_info SET version = {version}"))
    database.close()
    with pytest.raises(RecordsError, match=f"versión {version} .*usa la {schema.present_version()}"):
        Database(records_url(settings))


def test_a_database_that_is_not_ours_is_left_alone(tmp_path: Path) -> None:
    raw = sqlite3.connect(tmp_path / "x.db")
    raw.execute("CREATE TABLE interactions (a)")
    raw.commit()
    with pytest.raises(RecordsError, match="no dice de qué versión"):
        Database(f"sqlite:///{tmp_path / 'x.db'}")
    (tmp_path / "y.db").write_bytes(b"no database at all" * 100)
    with pytest.raises(RecordsError, match="no es una base de datos"):
        Database(f"sqlite:///{tmp_path / 'y.db'}")


@pytest.mark.parametrize("url", ["nada", "sqlite://", "sqlite:///:memory:", "nosuch://x/y"])
def test_addresses_that_cannot_be_used(url: str) -> None:
    with pytest.raises(RecordsError):
        Database(url)


def test_an_older_database_is_migrated_once(database: Database) -> None:
    ran = []

    def add(connection) -> None:  # type: ignore[no-untyped-def]
        ran.append(1)
        connection.execute(text("ALTER TABLE feedback ADD COLUMN colour TEXT"))

    for _ in range(2):
        with database.writing() as connection:
            schema.bring_up_to_date(connection, (*schema.MIGRATIONS, add))
    assert ran == [1]
    with database.reading() as connection:
        assert connection.execute(text("SELECT version FROM schema_info")).scalar() == schema.present_version() + 1


def test_a_migration_that_fails_leaves_the_database_as_it_was(database: Database) -> None:
    def broken(connection) -> None:  # type: ignore[no-untyped-def]
        connection.execute(text("ALTER TABLE feedback ADD COLUMN colour TEXT"))
        connection.execute(text("no sql"))

    with pytest.raises(RecordsError), database.writing() as connection:
        schema.bring_up_to_date(connection, (*schema.MIGRATIONS, broken))
    with database.reading() as connection:
        columns = [row[1] for row in connection.execute(text("PRAGMA table_info(feedback)"))]
    assert "colour" not in columns


def test_many_may_open_a_new_database_at_once(settings: Settings) -> None:
    with ThreadPoolExecutor(8) as pool:
        opened = list(pool.map(lambda _: Database(records_url(settings)), range(8)))
    assert all(count(d) == 0 for d in opened)


# --- reviews


def test_two_reviewers_cannot_overwrite_each_other(database: Database) -> None:
    assert open_review(database, kind=DRIFT, subject="a", title="Deriva", details={"points": 12.0})
    assert not open_review(database, kind=DRIFT, subject="a", title="Deriva")
    (read,) = list_reviews(database)
    with pytest.raises(RecordsError, match="nombre y un motivo"):
        close_review(database, read, person="Ana", reason="  ")
    closed = close_review(database, read, person="Ana", reason="Cambió la época del año", decision="no_drift")
    assert (closed.status, closed.closed_by, closed.version, closed.details) == ("closed", "Ana", 2, {"points": 12.0})
    with pytest.raises(ReviewConflictError, match="por Ana"):
        close_review(database, read, person="Luis", reason="otro")
    assert list_reviews(database) == [] and list_reviews(database, status="", kind=DRIFT) == [closed]
    assert not open_review(database, kind=DRIFT, subject="a", title="Deriva")


# --- state of the seal


def test_the_state_changes_through_one_function_and_keeps_its_history(database: Database, settings: Settings) -> None:
    reader = StateReader(lambda: Database(records_url(settings)), has_model=lambda: True)
    assert read_states(database) == (INITIAL,) and reader.mode() is SealMode.NORMAL
    assert change_state(database, SealMode.DETERMINISTIC, reason="r < 0,5 dos veces", changed_by="calibración")
    assert not change_state(database, SealMode.DETERMINISTIC, reason="otra vez", changed_by="calibración")
    assert reader.mode() is SealMode.DETERMINISTIC, "the next answer sees it"
    state = reader.state()
    assert state.reason == "r < 0,5 dos veces" and state.since.endswith("Z") and state.changed_by == "calibración"
    assert change_state(database, SealMode.NORMAL, reason="recalibrado", changed_by="Ana")
    assert [s.mode for s in read_states(database)] == ["normal", "deterministic", "normal"]
    with pytest.raises(RecordsError, match="motivo"):
        change_state(database, SealMode.DETERMINISTIC, reason=" ", changed_by="Ana")


def test_without_a_model_the_mode_is_deterministic_and_a_broken_database_stops_no_answer() -> None:
    def broken() -> Database:
        raise RecordsError("rota")

    assert StateReader(broken, has_model=lambda: False).mode() is SealMode.DETERMINISTIC
    assert StateReader(broken, has_model=lambda: True).mode() is SealMode.NORMAL


# --- drift on the records


def fill(database: Database, shares: list[float], *, until: date, answers: int = 60) -> None:
    rows = []
    for back, share in enumerate(reversed(shares)):
        day = (until - timedelta(days=back)).isoformat()
        for n in range(answers):
            rows.append(entry(interaction(high=n < share * answers, created_at=f"{day}T10:00:00.{n:03d}Z")))
    store(database, rows)


def test_drift_on_the_records_opens_one_alert_for_an_episode(database: Database) -> None:
    today = date(2026, 5, 20)
    limits = THRESHOLDS.drift
    assert read_drift(database, limits, until=today) == () and not watch_drift(database, limits, until=today)
    fill(database, [0.3] * 7 + [0.8] * 7, until=today)
    assert len(daily_levels(database, since=today - timedelta(days=13))) == 28
    assert watch_drift(database, limits, until=today) and not watch_drift(database, limits, until=today)
    (alert,) = list_reviews(database, kind=DRIFT)
    assert alert.details["points"] == 50.0 and "sin que cambiaran" in alert.details["reason"]
    close_review(database, alert, person="Ana", reason="Es la campaña de la Renta")
    assert not watch_drift(database, limits, until=today), "the same episode alerts once"
    assert not watch_drift(database, limits, until=today - timedelta(days=8))


# --- erasing

SECRETS = [f"cadena-plantada-{n:02d}" for n in range(50)]


def bytes_under(folder: Path) -> bytes:
    return b"".join(p.read_bytes() for p in folder.rglob("*") if p.is_file())


@pytest.mark.parametrize("how", ["retention", "ids", "session", "everything"])
def test_what_is_erased_leaves_no_byte(database: Database, settings: Settings, how: str) -> None:
    old = iso(datetime.now(UTC) - timedelta(days=200))
    made = [interaction(secret + " largo" * 400, created_at=old, session_ref=session_ref("s")) for secret in SECRETS]
    kept = interaction("pregunta que se queda")
    opinions = [
        Entry("feedback", Feedback(m.id, "down", f"comentario {s}").row()) for m, s in zip(made, SECRETS, strict=True)
    ]
    store(database, [entry(m) for m in made] + opinions + [entry(kept)])
    assert all(secret.encode() in bytes_under(settings.home) for secret in SECRETS)
    erased = {
        "retention": lambda: apply_retention(database, 180),
        "ids": lambda: erase(database, [m.id for m in made]),
        "session": lambda: erase_session(database, session_ref("s")),
        "everything": lambda: erase_everything(database) - 1,
    }[how]()
    assert erased == 50
    left = bytes_under(settings.home)
    assert [s for s in SECRETS if s.encode() in left] == []
    assert (b"pregunta que se queda" in left) == (how != "everything")
    assert list_reviews(database, kind=FEEDBACK) == [] and count(database) == (how != "everything")


def test_retention_keeps_what_is_young_enough(database: Database) -> None:
    now = datetime(2026, 5, 1, tzinfo=UTC)
    store(database, [entry(interaction(created_at=iso(now - timedelta(days=d)))) for d in (0, 179, 181)])
    assert apply_retention(database, 180, now=now) == 1 and count(database) == 2


# --- exports


@pytest.mark.parametrize("start", ["=1+1", "+34 600", "-2", "@SUM(A1)", "\t=1", " =1", "\n=1", "＝1", "\ufeff=1"])
def test_csv_runs_nothing_in_a_spreadsheet(database: Database, start: str) -> None:
    store(database, [entry(interaction(f'{start}"; cmd, "x"\nlínea'))])
    written = "".join(to_csv(each(database)))
    header, row = list(csv.reader(io.StringIO(written.removeprefix("\ufeff"))))
    assert tuple(header) == COLUMNS
    assert row[COLUMNS.index("question")].startswith("'") and row[COLUMNS.index("question")].endswith("línea")
    assert row[COLUMNS.index("latency_ms")] == "12.3" and row[COLUMNS.index("private_session")] == "no"


def test_jsonl_gives_everything_back(database: Database) -> None:
    made = [interaction(f"¿pregunta {n}? ñ €", created_at=f"2026-01-{n:02d}T00:00:00.000Z") for n in range(1, 6)]
    store(database, [entry(m) for m in made])
    rows = [json.loads(line) for line in to_jsonl(each(database, since="2026-01-02", until="2026-01-04"))]
    assert [r["question"] for r in rows] == [f"¿pregunta {n}? ñ €" for n in (2, 3, 4)]
    assert rows[0]["signals"]["supporting"] == 1 and rows[0]["passages"] == ["PASAJE CITADO"]
