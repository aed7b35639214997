"""A battery's run and its store: nothing answered twice, nothing lost. A fake engine, a real SQLite file."""

import json
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from core.config import PROJECT_ROOT
from core.errors import AsesoriaError, LlmUnavailableError
from core.models import Answer, Category, Mode
from core.qa.battery import generate_battery
from core.qa.generator_llm import MAX_TRIES, generate_with_model
from core.qa.models import Battery, QuestionType
from core.qa.run import RunCancelledError, RunProgress, resume, run_battery
from core.qa.store import QaStoreError, SqlRunStore
from tests.unit.test_qa_battery import BOOK_PATH, TITLE, fragments_of, story


class CountingAnswerer:
    """Answers with the question's own words and counts how often each was asked."""

    name = "falso"

    def __init__(self, fails: str = "") -> None:
        self.asked: list[str] = []
        self._fails = fails

    def answer(self, question: str) -> Answer:
        self.asked.append(question)
        if self._fails and self._fails in question:
            raise AsesoriaError("El servidor no responde. Inténtelo de nuevo.")
        return Answer(text=question, grounded=False, category=Category.NO_ANSWER, mode=Mode.EXTRACTIVE)


@pytest.fixture(scope="module")
def battery() -> Battery:
    return generate_battery(story(), fragments_of(BOOK_PATH, TITLE))


def test_all_questions_are_answered_in_order(battery: Battery, tmp_path: Path) -> None:
    told: list[RunProgress] = []
    _, given = run_battery(battery, CountingAnswerer(), SqlRunStore(tmp_path), progress=told.append)
    assert [g.question_id for g in given] == [q.id for q in battery.questions]
    assert [p.done for p in told] == list(range(len(battery.questions) + 1))
    assert told[0].remaining_s > 0 and told[-1].remaining_s == 0


def test_a_cancelled_run_goes_on_where_it_stopped(battery: Battery, tmp_path: Path) -> None:
    answerer, stop, seen = CountingAnswerer(), threading.Event(), []

    def watch(progress: RunProgress) -> None:
        seen.append(progress.run_id)
        if progress.done == 4:
            stop.set()

    with pytest.raises(RunCancelledError, match="4 de 15"):
        run_battery(battery, answerer, SqlRunStore(tmp_path), progress=watch, cancel=stop)
    again = SqlRunStore(tmp_path)
    assert again.unfinished() == (seen[0],)
    _, given = resume(seen[0], answerer, again)
    assert len(given) == len(battery.questions)
    assert sorted(answerer.asked) == sorted(q.question for q in battery.questions)


def test_an_answer_that_fails_is_kept_with_its_error(battery: Battery, tmp_path: Path) -> None:
    _, given = run_battery(battery, CountingAnswerer(battery.questions[2].question), SqlRunStore(tmp_path))
    assert given[2].answer is None and "no responde" in given[2].error
    assert all(g.answer for i, g in enumerate(given) if i != 2)


def test_an_answer_is_stored_once(battery: Battery, tmp_path: Path) -> None:
    store = SqlRunStore(tmp_path)
    run_id, given = run_battery(battery, CountingAnswerer(), store)
    store.append(run_id, given[0])
    assert store.answers(run_id) == given


def test_a_store_of_another_version_is_refused(tmp_path: Path) -> None:
    import sqlite3

    with sqlite3.connect(tmp_path / "qa.sqlite") as connection:
        connection.execute("PRAGMA user_version = 99")
    with pytest.raises(QaStoreError, match="otra versión"):
        SqlRunStore(tmp_path)


def test_an_unknown_run_cannot_be_resumed(tmp_path: Path) -> None:
    with pytest.raises(AsesoriaError, match="No hay ninguna"):
        resume("nada", CountingAnswerer(), SqlRunStore(tmp_path))


KILLED = """
import sys, time
from pathlib import Path
from core.qa.battery import generate_battery
from core.qa.run import run_battery, resume
from core.qa.store import SqlRunStore
from tests.unit.test_qa_battery import BOOK_PATH, TITLE, fragments_of, story
from tests.unit.test_qa_run import CountingAnswerer

folder, log = Path(sys.argv[1]), open(sys.argv[2], "a", buffering=1)

class Slow(CountingAnswerer):
    def answer(self, question):
        time.sleep(0.1)
        answer = super().answer(question)
        log.write(question + "\\n")
        return answer

store = SqlRunStore(folder)
left = store.unfinished()
if left:
    run_id, given = resume(left[0], Slow(), store)
else:
    run_id, given = run_battery(generate_battery(story(), fragments_of(BOOK_PATH, TITLE)), Slow(), store)
print(len(given))
"""


def test_a_killed_run_answers_nothing_twice_and_loses_nothing(battery: Battery, tmp_path: Path) -> None:
    log = tmp_path / "asked.txt"
    command = [sys.executable, "-c", KILLED, str(tmp_path), str(log)]
    process = subprocess.Popen(command, cwd=PROJECT_ROOT, stdout=subprocess.DEVNULL)
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and (not log.exists() or log.read_text("utf-8").count("\n") < 4):
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.wait()
    store = SqlRunStore(tmp_path)
    (run_id,) = store.unfinished()
    before = [g.question_id for g in store.answers(run_id)]
    store.close()
    assert 3 <= len(before) < len(battery.questions)
    log.write_text("", "utf-8")
    done = subprocess.run(command, cwd=PROJECT_ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.split() == [str(len(battery.questions))]
    asked_again = log.read_text("utf-8").splitlines()
    kept = {q.question for q in battery.questions if q.id in before}
    assert not kept & set(asked_again)
    assert len(asked_again) == len(battery.questions) - len(before)


class ScriptedModel:
    """Writes what a deterministic battery has; the first try of each question is broken in one of three ways."""

    name = "guion"

    def __init__(self, battery: Battery, *, always_broken: bool = False) -> None:
        self._left = {t: [q for q in battery.questions if q.type is t] for t in QuestionType}
        self._always_broken = always_broken
        self.calls = 0

    def complete(self, messages: object, *, schema: object, max_tokens: int, timeout_s: float) -> str:
        self.calls += 1
        if self._always_broken:
            return '{"question": '
        return json.dumps({"question": "¿Qué dice el libro de los dinosaurios?", "difficulty": "básica",
                           "expected_fragments": [99], "expected_answer": "Los dinosaurios herbívoros desaparecieron."})  # fmt: skip


@pytest.mark.parametrize("always_broken", [True, False])
def test_what_a_model_writes_wrongly_is_a_shortfall(battery: Battery, always_broken: bool) -> None:
    model = ScriptedModel(battery, always_broken=always_broken)
    written = generate_with_model(story(), fragments_of(BOOK_PATH, TITLE), model)
    assert written.questions == ()
    assert model.calls == MAX_TRIES * len(battery.questions)
    assert {s.type for s in written.summary.shortfalls} == set(QuestionType)
    assert all("3 intentos" in s.reason for s in written.summary.shortfalls)


class GoodModel:
    """Quotes the first fragment that it is shown; its first answer to each question is broken."""

    name = "bueno"

    def __init__(self) -> None:
        self._turns = 0

    def complete(self, messages: list[tuple[str, str]], *, schema: object, max_tokens: int, timeout_s: float) -> str:
        prompt = messages[1][1]
        if len(messages) == 2:
            return "no es JSON"
        self._turns += 1
        body = prompt.partition("\n\n[1] ")[2].partition("\n\n[2] ")[0]
        sentences = [s.strip() + "." for s in body.split("\n", 1)[-1].split(". ") if len(s.split()) > 6]
        true = sentences[0].rstrip(".") + "."
        data = {
            "question": f"¿Qué se cuenta de {' '.join(true.split()[:7])} en el turno {self._turns}?", "difficulty": "básica",
            "expected_fragments": [1], "expected_answer": " ".join(sentences[:4]), "facts": [[true.split()[3]]],
            "topic": "ajedrez",
        }  # fmt: skip
        return json.dumps(data, ensure_ascii=False)


def test_a_broken_first_answer_is_asked_for_again() -> None:
    written = generate_with_model(story(), fragments_of(BOOK_PATH, TITLE), GoodModel())
    made = written.summary.by_type
    assert made["A"] >= 3 and made["D"] == 0
    assert written.generator == "llm:bueno"
    assert [q.id for q in written.questions if q.type is QuestionType.A] == [f"A-{n}" for n in range(1, made["A"] + 1)]


class FailingModel(GoodModel):
    """As `GoodModel`, but each call whose number (from 1) is in ``fails`` finds no server."""

    def __init__(self, fails: Callable[[int], bool]) -> None:
        super().__init__()
        self._fails = fails
        self.calls = 0

    def complete(self, messages: list[tuple[str, str]], *, schema: object, max_tokens: int, timeout_s: float) -> str:
        self.calls += 1
        if self._fails(self.calls):
            raise LlmUnavailableError("El servidor no responde.")
        return super().complete(messages, schema=schema, max_tokens=max_tokens, timeout_s=timeout_s)


def test_a_server_that_fails_now_and_then_does_not_end_the_writing() -> None:
    model = FailingModel(lambda n: n % 5 == 0 or n <= MAX_TRIES)
    written = generate_with_model(story(), fragments_of(BOOK_PATH, TITLE), model)
    assert written.summary.by_type["A"] >= 2
    assert any("El servidor no responde" in s.reason or "3 intentos" in s.reason for s in written.summary.shortfalls)


@pytest.mark.parametrize("after", [0, 8])
def test_a_server_that_is_down_ends_it_soon(after: int) -> None:
    model = FailingModel(lambda n: n > after)
    with pytest.raises(LlmUnavailableError):
        generate_with_model(story(), fragments_of(BOOK_PATH, TITLE), model)
    assert model.calls <= after + 3 * MAX_TRIES
