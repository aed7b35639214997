"""The recorder with real processes, real locks and disks that refuse."""

import os
import random
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from core.config import PROJECT_ROOT
from core.errors import RecordsError
from core.records import spool as spool_module
from core.records.database import Database
from core.records.interactions import Feedback
from core.records.recorder import Recorder
from core.records.spool import REJECTED, Spool
from core.records.store import count, each, get
from tests.record_writer import made


class Place:
    """A folder with a database of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.path = folder / "records.db"
        self.url = f"sqlite:///{self.path}"
        self.opened: list[Recorder] = []

    def database(self, busy_s: float = 0.2) -> Database:
        return Database(self.url, busy_s=busy_s)

    def recorder(self, **options) -> Recorder:  # type: ignore[no-untyped-def]
        options = {"retention_days": 180, "retry_s": 0.05, "wait_s": 5.0, **options}
        self.opened.append(Recorder(self.database, self.folder, **options))
        return self.opened[-1]

    def writer(self, name: str, number: int, *more: str) -> "subprocess.Popen[bytes]":
        command = [sys.executable, "-m", "tests.record_writer", self.url, str(self.folder), name, str(number), *more]
        return subprocess.Popen(command, cwd=PROJECT_ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


@pytest.fixture
def place(tmp_path: Path):  # type: ignore[no-untyped-def]
    found = Place(tmp_path / "records")
    yield found
    for recorder in found.opened:
        recorder.close()


def until(true, seconds: float = 10.0) -> None:  # type: ignore[no-untyped-def]
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "not in time"
        time.sleep(0.01)


def test_ten_processes_one_killed_nothing_missing_nothing_doubled(place: Place) -> None:
    writers = [place.writer(f"p{n}", 60) for n in range(10)]
    heard: list[list[str]] = [[] for _ in writers]

    def listen(n: int) -> None:
        assert writers[n].stdout is not None
        heard[n].extend(line.decode().strip() for line in writers[n].stdout)

    listeners = [threading.Thread(target=listen, args=(n,)) for n in range(10)]
    for listener in listeners:
        listener.start()
    chance = random.Random()
    victim, after = chance.randrange(10), chance.randrange(1, 40)
    until(lambda: len(heard[victim]) >= after, 90)
    writers[victim].send_signal(signal.SIGKILL)
    for writer, listener in zip(writers, listeners, strict=True):
        writer.wait(120)
        listener.join()
    assert writers[victim].returncode == -signal.SIGKILL
    failed = [w.stderr.read().decode() for w in writers if w.stderr and w.returncode not in (0, -signal.SIGKILL)]
    assert not failed, failed
    acknowledged = [i for ids in heard for i in ids if len(i) == 32]
    assert place.recorder().flush(30)
    kept = [row["id"] for row in each(place.database())]
    print(f"\n{len(acknowledged)} acknowledged, {len(kept)} kept; {len(heard[victim])} by the process that was killed")
    assert len(acknowledged) >= 9 * 60 + after
    assert set(acknowledged) <= set(kept)
    assert len(kept) == len(set(kept)) and len(kept) <= len(acknowledged) + 1  # one may be kept but unheard of
    assert list((place.folder / "spool").glob("*.jsonl")) == [place.opened[0]._own_spool()._path]


def test_a_process_that_leaves_is_followed_up(place: Place) -> None:
    blocker = sqlite3.connect(_prepared(place), isolation_level=None)
    blocker.execute("BEGIN IMMEDIATE")
    writer = place.writer("left", 20, "--leave")
    ids = writer.communicate(timeout=60)[0].decode().split()
    assert len(ids) == 20 and count(place.database()) == 0
    blocker.execute("ROLLBACK")
    assert place.recorder().flush() and {row["id"] for row in each(place.database())} == set(ids)


def _prepared(place: Place) -> Path:
    place.database().close()
    return place.path


def test_a_locked_database_delays_no_answer_is_reported_and_caught_up(place: Place) -> None:
    recorder = place.recorder()
    assert recorder.flush() and recorder.problem == ""
    blocker = sqlite3.connect(place.path, isolation_level=None)
    blocker.execute("BEGIN IMMEDIATE")
    receipts, slowest = [], 0.0
    for n in range(20):
        started = time.perf_counter()
        receipts.append(recorder.record(made(f"bloqueada {n}")))
        slowest = max(slowest, time.perf_counter() - started)
    assert all(r.acknowledged for r in receipts)
    until(lambda: "ocupada" in recorder.problem)
    assert not recorder.flush(0.2) and count(place.database()) == 0
    blocker.execute("ROLLBACK")
    assert recorder.flush() and recorder.problem == ""
    assert {row["id"] for row in each(place.database())} == {r.id for r in receipts}
    print(f"\nlocked database: slowest acknowledgement {1000 * slowest:.0f} ms")


def test_a_database_of_another_version_is_reported_and_loses_nothing(place: Place) -> None:
    raw = sqlite3.connect(_prepared(place), isolation_level=None)
    raw.execute("UPDATE schema_info SET version = 99")
    recorder = place.recorder()
    receipt = recorder.record(made("versión"))
    assert receipt.acknowledged
    until(lambda: "versión 99" in recorder.problem)
    recorder.close()
    raw.execute("UPDATE schema_info SET version = 1")
    assert place.recorder().flush() and get(place.database(), receipt.id)


def test_a_full_disk_is_reported_and_retried(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    recorder = place.recorder(wait_s=0.05)
    recorder.record(made("antes"))
    assert recorder.flush()
    real, full = os.write, threading.Event()
    full.set()

    def write(file: int, data: bytes) -> int:
        if full.is_set():
            real(file, data[: len(data) // 2])  # a disk fills up in the middle of a line
            raise OSError(28, "No space left on device")
        return real(file, data)

    monkeypatch.setattr(spool_module.os, "write", write)
    started = time.perf_counter()
    receipts = [recorder.record(made(f"lleno {n}")) for n in range(5)]
    assert time.perf_counter() - started < 2 and not any(r.acknowledged for r in receipts)
    assert "No space left" in recorder.problem and recorder.waiting == 5
    full.clear()
    assert recorder.flush() and recorder.problem == "" and recorder.waiting == 0
    assert {r.id for r in receipts} < {row["id"] for row in each(place.database())}
    assert count(place.database()) == 6


LIMITED = """
import resource, sys, time
from pathlib import Path
from core.records.database import Database
from core.records.recorder import Recorder
from tests.record_writer import made
url, folder = sys.argv[1:3]
Database(url).close()
resource.setrlimit(resource.RLIMIT_FSIZE, (3000, resource.RLIM_INFINITY))
recorder = Recorder(lambda: Database(url, busy_s=0.1), Path(folder), retention_days=180, retry_s=0.05, wait_s=0.1)
receipts = [recorder.record(made(f"grande {n} " + "x" * 500)) for n in range(8)]
assert not all(r.acknowledged for r in receipts), "the limit did not bite"
assert recorder.problem, "not reported"
print(recorder.problem)
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
assert recorder.flush(20), recorder.problem
recorder.close()
"""


def test_a_real_limit_on_the_size_of_files(place: Place) -> None:
    """Nothing can be written over 3,000 bytes, neither spool nor database: as full as a disk gets."""
    command = [sys.executable, "-c", LIMITED, place.url, str(place.folder)]
    done = subprocess.run(command, cwd=PROJECT_ROOT, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert "se reintenta solo" in done.stdout
    assert count(place.database()) == 8


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    place = Place(tmp_path / "file" / "records")
    recorder = Recorder(place.database, place.folder, retention_days=180, wait_s=0.05, retry_s=0.05)
    assert not recorder.record(made("sin carpeta")).acknowledged
    until(lambda: "no se están pudiendo guardar" in recorder.problem)
    (tmp_path / "file").unlink()
    assert recorder.flush() and count(place.database()) == 1
    recorder.close()


def test_feedback_travels_with_its_interaction(place: Place) -> None:
    recorder = place.recorder()
    receipt = recorder.record(made("opinión"))
    assert recorder.give_feedback(Feedback(receipt.id, "down", "falta el plazo")).acknowledged
    assert recorder.flush()
    row = get(place.database(), receipt.id)
    assert row is not None and (row["thumb"], row["comment"]) == ("down", "falta el plazo")


def test_lines_that_are_no_entry_hold_up_nothing(place: Place) -> None:
    (place.folder / "spool").mkdir(parents=True)
    good = made("buena")
    from core.records.spool import Entry

    torn = Entry("interaction", made("a medias").row()).line()[:-20]
    odd = Entry("interaction", {**made("rara").row(), "id": ["no", "text"]}).line()
    lines = [b"no json\n", b'{"kind":"other","row":{}}\n', odd, Entry("interaction", good.row()).line(), torn]
    (place.folder / "spool" / "1-dead.jsonl").write_bytes(b"".join(lines))
    recorder = place.recorder()
    assert recorder.flush() and [row["id"] for row in each(place.database())] == [good.id]
    assert (place.folder / "spool" / REJECTED).read_bytes() == b"".join(lines[:3])
    assert not (place.folder / "spool" / "1-dead.jsonl").exists()


def test_a_living_process_s_spool_is_left_alone(place: Place) -> None:
    (place.folder / "spool").mkdir(parents=True)
    other = Spool(place.folder / "spool")
    other.append([b"no json\n"])
    assert place.recorder().flush()
    assert other.pending()[0] == [b"no json\n"]
    other.close()


def test_spool_appends_while_it_is_read_and_dropped(tmp_path: Path) -> None:
    spool = Spool(tmp_path)
    spool.append([b"1\n", b"2\n"])
    lines, placed = spool.pending()
    spool.append([b"3\n"])
    spool.drop(placed)
    assert lines == [b"1\n", b"2\n"] and spool.pending()[0] == [b"3\n"] and not spool.empty
    spool.drop(spool.pending()[1])
    assert spool.empty and spool.pending() == ([], 0)
    spool.append([b"4\n"])
    assert spool.pending()[0] == [b"4\n"]
    spool.drop(spool.pending()[1])
    spool.close()
    assert list(tmp_path.iterdir()) == []


def test_retention_is_applied_at_the_start(place: Place) -> None:
    from dataclasses import replace

    recorder = place.recorder()
    recorder.record(replace(made("vieja-y-borrada"), created_at="2020-01-01T00:00:00.000Z"))
    assert recorder.flush()
    recorder.close()
    second = place.recorder()
    assert second.flush()
    until(lambda: count(place.database()) == 0)
    second.close()
    assert b"vieja-y-borrada" not in b"".join(p.read_bytes() for p in place.folder.rglob("*") if p.is_file())


def test_after_closing_nothing_is_taken(place: Place) -> None:
    recorder = place.recorder()
    recorder.close()
    recorder.close()
    assert not recorder.record(made("tarde")).acknowledged and "perdido" in recorder.problem


def test_an_answer_waits_no_longer_than_it_must(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    slow = threading.Event()
    real = os.fsync
    monkeypatch.setattr(spool_module.os, "fsync", lambda file: (slow.wait(2), real(file)))
    recorder = place.recorder(wait_s=0.1)
    started = time.perf_counter()
    receipt = recorder.record(made("disco lento"))
    assert time.perf_counter() - started < 1.0 and not receipt.acknowledged
    slow.set()
    assert recorder.flush() and count(place.database()) == 1


def test_house_work_that_fails_is_reported_and_stops_nothing(place: Place) -> None:
    def broken(_: Database) -> None:
        raise RuntimeError("a fault of ours")

    recorder = place.recorder(house_work=broken)
    receipts = [recorder.record(made(f"sigue {n}")) for n in range(3)]
    until(lambda: "inesperado" in recorder.problem)
    until(lambda: count(place.database()) == len(receipts))


def test_errors_of_the_library_do_not_leave() -> None:
    with pytest.raises(RecordsError, match=r"carpeta|abrir"):
        Database("sqlite:////proc/nowhere/records.db")
