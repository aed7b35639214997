"""From the first question to the stored report: nothing judged twice, nothing lost, the status follows. Real SQLite."""

import json
import re
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from core.answering.llm_ollama import OllamaModel
from core.config import PROJECT_ROOT
from core.models import Answer
from core.qa.battery import generate_battery
from core.qa.checker import Comprobador
from core.qa.generator_llm import generate_with_model
from core.qa.judges import BatteryWriter, LlmJudge
from core.qa.models import (
    Battery,
    BatteryQuestion,
    Dimension,
    DimensionScore,
    Judgement,
    Profile,
    QuestionVerdict,
    Report,
)
from core.qa.report import report_markdown
from core.qa.run import RunCancelledError, RunProgress
from core.qa.session import estimate_session_s, run_session
from core.qa.status import CannotCloseError, QaStatus
from core.qa.store import SqlRunStore
from core.thresholds import load_thresholds
from tests.fake_llm import MODEL, Act, fake_server
from tests.unit.test_qa_battery import BOOK_PATH, TITLE, fragments_of, story
from tests.unit.test_qa_run import CountingAnswerer

THRESHOLDS = load_thresholds()
BOOK = tuple(fragments_of(BOOK_PATH, TITLE))


class CountingJudge:
    """Gives the same points to all, and counts whom it judged; what is in ``silent`` it cannot judge."""

    seconds_each = 0.1

    def __init__(self, points: float = 9.0, *, silent: tuple[str, ...] = (), name: str = "contador") -> None:
        self.name = name
        self.judged: list[str] = []
        self._points, self._silent = points, silent

    def judge(self, question: BatteryQuestion, answer: Answer, *, profile: Profile | None) -> Judgement:
        self.judged.append(question.id)
        if question.id in self._silent:
            return Judgement(self.name, (), reason="El juez no ha respondido.")
        return Judgement(self.name, tuple(DimensionScore(d, self._points, answer.text[:20]) for d in Dimension))


@pytest.fixture(scope="module")
def battery() -> Battery:
    return generate_battery(story(), BOOK)


def run(battery: Battery, store: SqlRunStore, judge: Any, **options: Any) -> Report:
    return run_session(battery, CountingAnswerer(), judge, store, thresholds=THRESHOLDS.qa, **options)


@pytest.mark.parametrize(
    ("points", "verdict", "status"),
    [
        (9.0, "approve", QaStatus.APPROVED),
        (7.5, "human_review", QaStatus.IN_REVIEW),
        (5.0, "reject", QaStatus.REJECTED),
    ],
)
def test_the_verdict_sets_the_status(
    battery: Battery, tmp_path: Path, points: float, verdict: str, status: QaStatus
) -> None:
    store = SqlRunStore(tmp_path)
    assert store.qa_status("libro") is QaStatus.NOT_EVALUATED
    report = run(battery, store, CountingJudge(points))
    assert report.verdict == verdict and store.report(report.id) == report
    assert store.qa_status("libro") is status and store.qa_statuses() == {"libro": status}
    assert store.unfinished() == ()
    assert battery.book.title in report_markdown(report)


def test_what_is_not_judged_is_counted_listed_and_not_averaged(battery: Battery, tmp_path: Path) -> None:
    report = run(battery, SqlRunStore(tmp_path), CountingJudge(silent=("A-2", "C-1")))
    assert report.verdict == "human_review" and report.global_score == 9.0
    assert set(report.human) == {"A-2", "C-1"} and all("no ha respondido" in why for why in report.human.values())
    assert sum(row.not_judged for row in report.types) == 2
    assert [r.question.id for r in report.results if r.verdict is QuestionVerdict.NOT_JUDGED] == ["A-2", "C-1"]


def test_an_answer_that_failed_is_not_judged_for_its_own_reason(battery: Battery, tmp_path: Path) -> None:
    judge = CountingJudge()
    answerer = CountingAnswerer(fails=battery.questions[0].question)
    report = run_session(battery, answerer, judge, SqlRunStore(tmp_path), thresholds=THRESHOLDS.qa)
    assert "A-1" not in judge.judged and "no responde" in report.human["A-1"]


def test_a_cancelled_judging_goes_on_where_it_stopped(battery: Battery, tmp_path: Path) -> None:
    store, judge, stop, seen = SqlRunStore(tmp_path), CountingJudge(), threading.Event(), list[RunProgress]()

    def watch(progress: RunProgress) -> None:
        seen.append(progress)
        if progress.stage == "judging" and progress.done == 5:
            stop.set()

    with pytest.raises(RunCancelledError, match="5 de 15 respuestas juzgadas"):
        run(battery, store, judge, progress=watch, cancel=stop)
    report = run(battery, store, judge, run_id=seen[0].run_id)
    assert judge.judged == [q.id for q in battery.questions]
    again = run(battery, store, judge, run_id=seen[0].run_id)
    assert again == report and len(judge.judged) == len(battery.questions) and len(store.reports("libro")) == 1


def test_two_judges_of_one_run_have_a_report_each(battery: Battery, tmp_path: Path) -> None:
    store, seen = SqlRunStore(tmp_path), list[RunProgress]()
    first = run(battery, store, CountingJudge(), progress=seen.append)
    second = run(battery, store, CountingJudge(5.0, name="otro"), run_id=seen[0].run_id)
    assert first.id != second.id and {r.judge for r in store.reports("libro")} == {"contador", "otro"}


def test_no_llm_same_seed_same_report(tmp_path: Path) -> None:
    def made(folder: str) -> list[tuple[object, ...]]:
        battery = generate_battery(story(), BOOK, seed=3)
        judge = Comprobador({f.id: f for f in BOOK}, THRESHOLDS)
        report = run(battery, SqlRunStore(tmp_path / folder), judge)
        return [(r.question, r.judgement, r.score, r.verdict) for r in report.results]

    assert made("a") == made("b")


def test_the_estimate_uses_what_was_measured(battery: Battery, tmp_path: Path) -> None:
    store, answerer, judge = SqlRunStore(tmp_path), CountingAnswerer(), CountingJudge()
    guessed = estimate_session_s(battery, answerer, judge, store)
    run(battery, store, judge)
    assert estimate_session_s(battery, answerer, judge, store) < guessed


# ---------------------------------------------------------------------------------------------- closing


def test_a_report_is_closed_when_all_is_decided(battery: Battery, tmp_path: Path) -> None:
    store = SqlRunStore(tmp_path)
    report = run(battery, store, CountingJudge(silent=("A-2", "C-1")))
    seen = store.status_changes("libro")[-1].number

    def close(decided: dict[str, bool], status: QaStatus = QaStatus.APPROVED, *, number: int = seen) -> None:
        store.close_report(report, status, decided=decided, by="Ana", seen=number, reason="Revisado.")

    with pytest.raises(CannotCloseError, match="C-1"):
        close({"A-2": True})
    with pytest.raises(CannotCloseError, match="casos rechazados"):
        close({"A-2": True, "C-1": False})
    with pytest.raises(CannotCloseError, match="aprobado o como rechazado"):
        close({"A-2": True, "C-1": True}, QaStatus.IN_REVIEW)
    assert store.qa_status("libro") is QaStatus.IN_REVIEW
    close({"A-2": True, "C-1": True})
    assert store.qa_status("libro") is QaStatus.APPROVED
    with pytest.raises(CannotCloseError, match="ha cambiado"):  # another reviewer who had opened it before
        close({"A-2": True, "C-1": False}, QaStatus.REJECTED)
    assert [(c.status, c.by) for c in store.status_changes("libro")] == [
        (QaStatus.IN_REVIEW, "contador"),
        (QaStatus.APPROVED, "Ana"),
    ]


def test_a_resumed_report_does_not_undo_a_closing(battery: Battery, tmp_path: Path) -> None:
    store, seen = SqlRunStore(tmp_path), list[RunProgress]()
    report = run(battery, store, CountingJudge(5.0), progress=seen.append)
    decided = dict.fromkeys(report.human, True)
    store.close_report(
        report, QaStatus.APPROVED, decided=decided, by="Ana", seen=store.status_changes("libro")[-1].number
    )
    run(battery, store, CountingJudge(5.0), run_id=seen[0].run_id)
    assert store.qa_status("libro") is QaStatus.APPROVED


def test_a_file_of_the_first_version_is_read(battery: Battery, tmp_path: Path) -> None:
    store = SqlRunStore(tmp_path)
    report = run(battery, store, CountingJudge())
    store.close()
    with sqlite3.connect(tmp_path / "qa.sqlite") as connection:
        connection.executescript("DROP TABLE qa_judgements; DROP TABLE qa_status; PRAGMA user_version = 1;")
    again = SqlRunStore(tmp_path)
    assert again.report(report.id) == report and again.qa_status("libro") is QaStatus.NOT_EVALUATED


# ---------------------------------------------------------------------------------------------- killed

KILLED = """
import sys, time
from pathlib import Path
from core.qa.session import run_session
from core.qa.store import SqlRunStore
from core.qa.battery import generate_battery
from tests.unit.test_qa_run import CountingAnswerer
from tests.unit.test_qa_session import BOOK, THRESHOLDS, CountingJudge
from tests.unit.test_qa_battery import story

log = open(sys.argv[2], "a", buffering=1)

class Slow(CountingJudge):
    def judge(self, question, answer, *, profile):
        time.sleep(0.1)
        found = super().judge(question, answer, profile=profile)
        log.write(question.id + "\\n")
        return found

store = SqlRunStore(Path(sys.argv[1]))
left = store.unfinished()
battery = store.battery(left[0]) if left else generate_battery(story(), BOOK)
report = run_session(battery, CountingAnswerer(), Slow(), store, thresholds=THRESHOLDS.qa, run_id=left[0] if left else "")
print(report.verdict, len(report.results))
"""


def test_a_killed_judging_judges_nothing_twice_and_loses_nothing(battery: Battery, tmp_path: Path) -> None:
    log = tmp_path / "judged.txt"
    command = [sys.executable, "-c", KILLED, str(tmp_path), str(log)]
    process = subprocess.Popen(command, cwd=PROJECT_ROOT, stdout=subprocess.DEVNULL)
    deadline = time.monotonic() + 90
    while time.monotonic() < deadline and (not log.exists() or log.read_text("utf-8").count("\n") < 4):
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.wait()
    store = SqlRunStore(tmp_path)
    (run_id,) = store.unfinished()
    before = set(store.judgements(run_id, "contador"))
    store.close()
    assert 3 <= len(before) < len(battery.questions)
    log.write_text("", "utf-8")
    done = subprocess.run(command, cwd=PROJECT_ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["approve", str(len(battery.questions))]
    again = log.read_text("utf-8").split()
    assert not before & set(again) and before | set(again) == {q.id for q in battery.questions}
    assert len(again) == len(set(again))


# ---------------------------------------------------------------------------------------------- all through a model


class Script:
    """Writes a battery from the fragments that it is shown, and judges by quoting the answer's beginning.

    The first judgement is broken JSON once, the second twice, the third hangs twice.
    """

    def __init__(self) -> None:
        self.written = 0
        self.tried: dict[str, int] = {}

    def __call__(self, _: int, body: dict[str, Any]) -> Act:
        prompt = body["messages"][1]["content"]
        if "expected_fragments" in json.dumps(body["format"]):
            self.written += 1
            return Act(self._question(prompt))
        asked = prompt.partition('<pregunta tipo="')[2].partition("</pregunta>")[0]
        self.tried[asked] = self.tried.get(asked, 0) + 1
        place = list(self.tried).index(asked)
        if place == 2:
            return Act(hang=True)
        if (place == 0 and self.tried[asked] == 1) or place == 1:
            return Act('{"precision": {"score"')
        start = prompt.partition("<respuesta>\n")[2].split("\n")[0][:25]
        scores = {d.value: {"score": 9, "evidence": start} for d in Dimension}
        return Act(json.dumps({**scores, "hallucinations": [], "cause": "none"}, ensure_ascii=False))

    def _question(self, prompt: str) -> str:
        body = prompt.partition("\n\n[1] ")[2].partition("\n\n[2] ")[0].split("\n", 1)[-1]
        sentences = [s.strip() + "." for s in re.split(r"\.\s", body) if len(s.split()) > 6]
        true = sentences[self.written % len(sentences)].rstrip(".") + "."
        words = true.rstrip(".").split()
        false = " ".join([words[0], "nunca", *words[1:]])
        kind = "trampa" if "pregunta trampa" in prompt else "borde" if "pregunta de borde" in prompt else "otra"
        asked = {
            "trampa": f"¿Es verdad que {false}?",
            "borde": f"¿Dice el libro algo del ajedrez, la química o el tenis número {self.written}?",
            "otra": f"¿Qué se cuenta de «{' '.join(words[:8])}» en el turno {self.written}?",
        }[kind]
        found = {
            "question": asked, "difficulty": "básica", "expected_fragments": [1], "expected_answer": true,
            "facts": [[words[3]]], "topic": "ajedrez", "false_statement": false, "true_passage": true,
            "forbidden": ["Cervantes"],
        }  # fmt: skip
        return json.dumps(found, ensure_ascii=False)


def test_battery_run_and_judgement_through_a_model(tmp_path: Path) -> None:
    script = Script()
    with fake_server(script) as server:
        model = OllamaModel(MODEL, base_url=server.url, num_ctx=8192)
        model.load()
        battery = generate_with_model(story(), BOOK, BatteryWriter(model), seed=1)
        judge = LlmJudge(model, story(), THRESHOLDS.qa, num_ctx=8192, timeout_s=5.0)
        report = run(battery, SqlRunStore(tmp_path), judge)
    assert battery.generator == f"llm:ollama:{MODEL}" and len(battery.questions) >= 10
    assert {q.type for q in battery.questions} == {"A", "B", "C", "D"}
    unjudged = [r for r in report.results if r.verdict is QuestionVerdict.NOT_JUDGED]
    assert [r.question.id for r in unjudged] == [q.id for q in battery.questions[1:3]]
    assert "JSON" in unjudged[0].judgement.reason and "a tiempo" in unjudged[1].judgement.reason
    assert report.global_score == 9.0 and report.verdict == "human_review"
    assert list(script.tried.values())[:4] == [2, 2, 2, 1]
    assert report.judge == f"llm:ollama:{MODEL}"
