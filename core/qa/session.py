"""A battery from its first question to its stored report: answer, judge, decide. Each step is kept as it is done."""

import hashlib
import threading
import time
from collections.abc import Callable, Mapping
from typing import Protocol

from core.qa.models import Battery, BatteryQuestion, GivenAnswer, Judgement, Profile, Report
from core.qa.report import build_report, judged
from core.qa.run import Answerer, Judge, RunCancelledError, RunProgress, run_battery
from core.qa.status import status_of
from core.qa.store import RunStore, now
from core.thresholds import QaThresholds

# Before anything has been measured, a question takes this many seconds (extractive, two cores).
_FIRST_GUESS_S = 1.5


class SessionStore(RunStore, Protocol):
    """What a session keeps besides the answers: judgements as they come, and the document's status."""

    def append_judgement(self, run_id: str, question_id: str, judgement: Judgement) -> None:
        """Store one judgement durably; a second one of the same judge is left out."""

    def judgements(self, run_id: str, judge: str) -> dict[str, Judgement]:
        """That judge's judgements of the run by question id."""

    def set_status(self, doc_id: str, status: str, *, report_id: str, by: str, reason: str = "") -> None:
        """Note a document's new status."""

    def status_follows(self, doc_id: str, report_id: str) -> bool:
        """Whether the document's status has been set by that report already, or by a later one."""

    def seconds_each(self, engine: str) -> float | None:
        """Mean time of an answer by that engine in earlier runs; None where there is none."""


def estimate_session_s(battery: Battery, answerer: Answerer, judge: Judge, store: SessionStore) -> float:
    """Estimated seconds for the whole battery, told before it begins; measured times of earlier runs where there are."""
    each = store.seconds_each(answerer.name)
    return len(battery.questions) * ((_FIRST_GUESS_S if each is None else each) + judge.seconds_each)


def run_session(
    battery: Battery,
    answerer: Answerer,
    judge: Judge,
    store: SessionStore,
    *,
    thresholds: QaThresholds,
    run_id: str = "",
    progress: Callable[[RunProgress], None] = lambda _: None,
    cancel: threading.Event | None = None,
) -> Report:
    """Answer and judge what is not answered and judged yet, and store the report with the document's status.

    ``run_id``: a run to go on with ('' begins a new one). A run that has this judge's report already is not run again.

    Raises:
        RunCancelledError: ``cancel`` was set; go on later with the same ``run_id``.
    """
    run_id, given = run_battery(battery, answerer, store, run_id=run_id, progress=progress, cancel=cancel)
    report_id = report_id_of(run_id, judge.name)
    done = store.report(report_id)
    if done is None:
        by_id = {g.question_id: g for g in given}
        judgements = _judge_all(battery, by_id, judge, store, run_id=run_id, progress=progress, cancel=cancel)
        done = build_report(
            battery,
            judged(battery, by_id, judgements, thresholds),
            report_id=report_id,
            created_at=now(),
            engine=answerer.name,
            judge=judge.name,
            thresholds=thresholds,
        )
        store.save_report(run_id, done)
    if not store.status_follows(battery.book.doc_id, report_id):
        store.set_status(battery.book.doc_id, status_of(done.verdict), report_id=report_id, by=judge.name)
    return done


def report_id_of(run_id: str, judge: str) -> str:
    """A run has one report of each judge."""
    return hashlib.sha256(f"{run_id}|{judge}".encode()).hexdigest()[:12]


def _judge_all(
    battery: Battery,
    given: Mapping[str, GivenAnswer],
    judge: Judge,
    store: SessionStore,
    *,
    run_id: str,
    progress: Callable[[RunProgress], None],
    cancel: threading.Event | None,
) -> dict[str, Judgement]:
    found = store.judgements(run_id, judge.name)
    spent: list[float] = []
    total = len(battery.questions)
    for question in battery.questions:
        if question.id in found:
            continue
        if cancel is not None and cancel.is_set():
            raise RunCancelledError(
                f"Batería detenida con {len(found)} de {total} respuestas juzgadas. Puede reanudarla."
            )
        clock = time.perf_counter()
        judgement = judge_one(question, given[question.id], judge, profile=battery.book.profile)
        store.append_judgement(run_id, question.id, judgement)
        found[question.id] = judgement
        spent.append(time.perf_counter() - clock)
        left = (total - len(found)) * sum(spent) / len(spent)
        progress(RunProgress(run_id, len(found), total, left, "judging"))
    return found


def judge_one(question: BatteryQuestion, given: GivenAnswer, judge: Judge, *, profile: Profile | None) -> Judgement:
    """The judge's judgement; an answer that could not be had is not judged, for its own reason."""
    if given.answer is None:
        return Judgement(judge.name, (), reason=given.error or "No hay respuesta.")
    return judge.judge(question, given.answer, profile=profile)
