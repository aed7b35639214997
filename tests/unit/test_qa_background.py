"""Batteries in the background: one at a time, killed and taken up again by the page's own service."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from core.config import PROJECT_ROOT
from core.errors import AsesoriaError, ReviewConflictError
from core.qa.background import Order, Stage
from core.qa.cases import cases_of, decide_case, open_cases
from core.qa.export import section_rows
from core.qa.models import BookType, QuestionVerdict
from tests.ui.qa_desk import FakeDesk, book_battery
from tests.unit.test_qa_battery import TITLE

ORDER = Order("libro", TITLE, BookType.NARRATIVE)

# A process that answers slowly through the page's service, and writes down each question that it is asked.
KILLED = """
import sys, time
from pathlib import Path
from tests.ui.qa_desk import FakeDesk
from tests.unit.test_qa_background import ORDER

fake, log = FakeDesk(Path(sys.argv[1])), open(sys.argv[2], "a", buffering=1)
answer = fake.answerer.answer

def slow(question):
    time.sleep(0.1)
    log.write(question + "\\n")
    return answer(question)

fake.answerer.answer = slow
fake.desk.batteries.wait(fake.desk.batteries.start(ORDER).id)
"""


def test_killed_in_mid_battery_and_taken_up_by_another_process(tmp_path: Path) -> None:
    log = tmp_path / "asked.txt"
    process = subprocess.Popen([sys.executable, "-c", KILLED, str(tmp_path), str(log)], cwd=PROJECT_ROOT)
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and (not log.exists() or log.read_text("utf-8").count("\n") < 4):
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.wait()
    fake = FakeDesk(tmp_path)
    ((run_id, battery, kept),) = fake.desk.batteries.interrupted()
    before = fake.store.answers(run_id)
    assert len(before) == kept and 3 <= kept < len(battery.questions)
    order = Order("libro", TITLE, battery.book.type, seed=battery.seed, run_id=run_id)
    job = fake.desk.batteries.wait(fake.desk.batteries.start(order).id)
    assert job.stage is Stage.DONE and fake.desk.batteries.interrupted() == ()
    report = fake.store.report(job.report_id)
    assert report is not None
    assert [r.question.id for r in report.results] == [q.id for q in battery.questions]
    assert all(r.given.answer is not None for r in report.results)
    assert fake.store.answers(run_id)[:kept] == before
    stored = {q.question for q in battery.questions if q.id in {g.question_id for g in before}}
    assert not stored & set(fake.answerer.asked)
    assert len(fake.answerer.asked) == len(battery.questions) - kept


def test_the_same_document_is_not_tested_twice_at_once(tmp_path: Path) -> None:
    fake = FakeDesk(tmp_path)
    fake.answerer.gate.clear()
    job = fake.desk.batteries.start(ORDER)
    with pytest.raises(AsesoriaError, match="en marcha"):
        fake.desk.batteries.start(ORDER)
    fake.answerer.gate.set()
    assert fake.desk.batteries.wait(job.id).stage is Stage.DONE
    fake.desk.batteries.dismiss(job.id)
    assert fake.desk.batteries.jobs() == ()


def test_a_battery_that_cannot_be_made_says_why(tmp_path: Path) -> None:
    fake = FakeDesk(tmp_path)
    job = fake.desk.batteries.wait(fake.desk.batteries.start(Order("libro", TITLE, BookType.HYBRID, run_id="no")).id)
    assert job.stage is Stage.FAILED and "Mire la consola" in job.message


def test_a_case_is_decided_once_and_its_report_stays(tmp_path: Path) -> None:
    fake = FakeDesk(tmp_path)
    report = fake.store.report(fake.run())
    assert report is not None and open_cases(fake.database, report) == 0
    case = next(c for c in cases_of(fake.database, report) if c.result.question.id == "D-1")
    judged = case.result.verdict

    def decide(verdict: QuestionVerdict, person: str, reason: str) -> None:
        decide_case(fake.database, case.review, judged=judged, verdict=verdict, person=person, reason=reason)

    with pytest.raises(AsesoriaError, match="motivo"):
        decide(QuestionVerdict.PASS, "Ana", " ")
    with pytest.raises(AsesoriaError, match="veredicto"):
        decide(QuestionVerdict.NOT_JUDGED, "Ana", "x")
    decide(QuestionVerdict.PASS, "Ana", "Sí la rechaza")
    with pytest.raises(ReviewConflictError, match=r"Ana lo ha decidido.*«pasa».*Sí la rechaza"):
        decide(QuestionVerdict.FAIL, "Luis", "")
    assert fake.store.report(report.id) == report


@pytest.mark.parametrize(("minimum", "fine"), [(None, None), (1.0, True), (10.0, False)])
def test_sections_against_a_minimum(tmp_path: Path, minimum: float | None, fine: bool | None) -> None:
    fake = FakeDesk(tmp_path)
    report = fake.store.report(fake.run())
    assert report is not None
    rows = section_rows(report, minimum)
    assert rows == sorted(rows, key=lambda r: (r[1], r[0])) and all(r[3] is fine for r in rows if r[1] < 10)
    sections = [q.section for q in book_battery().questions if q.section]
    assert sum(r[2] for r in rows) == len(sections)
