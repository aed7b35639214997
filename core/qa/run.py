"""A battery's run: the engine answers every question from one document only; what is answered is kept at once."""

import hashlib
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from core.errors import AsesoriaError
from core.models import Answer
from core.qa.models import Battery, BatteryQuestion, GivenAnswer, Judgement, Profile
from core.qa.store import RunStore, now

# Before the first answer, this many seconds a question are announced (extractive, two cores).
_FIRST_GUESS_S = 1.5


class Answerer(Protocol):
    """The engine held to one document."""

    @property
    def name(self) -> str:
        """Mode and model, as the report names them."""

    def answer(self, question: str) -> Answer:
        """Answer from that document only."""


class Judge(Protocol):
    """Scores one answer. A judge that cannot judge says so in the judgement (``scores`` empty, ``reason`` given)."""

    @property
    def name(self) -> str:
        """ "comprobador" or "llm:MODEL"."""

    @property
    def seconds_each(self) -> float:
        """A guess of the time for one answer, for the estimate before the run."""

    def judge(self, question: BatteryQuestion, answer: Answer, *, profile: Profile | None) -> Judgement:
        """Score the answer in the four dimensions."""


class RunCancelledError(AsesoriaError):
    """The run was stopped by the person who started it; what is answered is kept."""


@dataclass(frozen=True, slots=True)
class RunProgress:
    """Where a run is. ``remaining_s``: estimate from what is done so far, of the present stage."""

    run_id: str
    done: int
    total: int
    remaining_s: float
    stage: Literal["answering", "judging"] = "answering"


def estimate_s(battery: Battery, *, per_question_s: float = _FIRST_GUESS_S) -> float:
    """Estimated seconds for a whole battery, to be told before it begins."""
    return len(battery.questions) * per_question_s


def measured_s(answerer: Answerer, battery: Battery) -> float:
    """As `estimate_s`, from the time that one question really takes."""
    if not battery.questions:
        return 0.0
    clock = time.perf_counter()
    answerer.answer(battery.questions[0].question)
    return estimate_s(battery, per_question_s=time.perf_counter() - clock)


def new_run_id(battery: Battery, started_at: str) -> str:
    """An id for a new run of a battery."""
    return hashlib.sha256(f"{battery.id}|{started_at}|{time.time_ns()}".encode()).hexdigest()[:12]


def run_battery(
    battery: Battery,
    answerer: Answerer,
    store: RunStore,
    *,
    run_id: str = "",
    progress: Callable[[RunProgress], None] = lambda _: None,
    cancel: threading.Event | None = None,
) -> tuple[str, tuple[GivenAnswer, ...]]:
    """Answer what is not answered yet; returns the run's id and all answers, in the battery's order.

    ``run_id``: a run to go on with ('' begins a new one). An answer that fails is kept with its error: it counts as
    not judged, and does not stop the others.

    Raises:
        RunCancelledError: ``cancel`` was set; go on later with the same ``run_id``.
    """
    run_id = run_id or new_run_id(battery, now())
    store.open_run(run_id, battery, answerer.name)
    given = {g.question_id: g for g in store.answers(run_id)}
    left = [q for q in battery.questions if q.id not in given]
    spent: list[float] = []
    _tell(progress, run_id, battery, given, spent)
    for question in left:
        if cancel is not None and cancel.is_set():
            raise RunCancelledError(
                f"Batería detenida con {len(given)} de {len(battery.questions)} respuestas guardadas. Puede reanudarla."
            )
        answer = given_answer(question.id, question.question, answerer)
        store.append(run_id, answer)
        given[question.id] = answer
        spent.append(answer.seconds)
        _tell(progress, run_id, battery, given, spent)
    return run_id, tuple(given[q.id] for q in battery.questions)


def resume(
    run_id: str,
    answerer: Answerer,
    store: RunStore,
    *,
    progress: Callable[[RunProgress], None] = lambda _: None,
    cancel: threading.Event | None = None,
) -> tuple[str, tuple[GivenAnswer, ...]]:
    """Go on with a run that was cancelled or cut short by a crash.

    Raises:
        AsesoriaError: there is no such run. RunCancelledError: as `run_battery`.
    """
    battery = store.battery(run_id)
    if battery is None:
        raise AsesoriaError(f"No hay ninguna batería empezada con el identificador {run_id}.")
    return run_battery(battery, answerer, store, run_id=run_id, progress=progress, cancel=cancel)


def given_answer(question_id: str, question: str, answerer: Answerer) -> GivenAnswer:
    """The answer to a question with its time; an answer that fails is its error."""
    clock = time.perf_counter()
    try:
        answer, error = answerer.answer(question), ""
    except AsesoriaError as failure:
        answer, error = None, str(failure)
    return GivenAnswer(question_id, answer, time.perf_counter() - clock, now(), error)


def _tell(
    progress: Callable[[RunProgress], None],
    run_id: str,
    battery: Battery,
    given: dict[str, GivenAnswer],
    spent: Sequence[float],
) -> None:
    left = len(battery.questions) - len(given)
    each = sum(spent) / len(spent) if spent else _FIRST_GUESS_S
    progress(RunProgress(run_id, len(given), len(battery.questions), left * each))
