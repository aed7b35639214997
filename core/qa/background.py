"""Batteries that run in the background of the app: seen by every visitor, stopped and taken up again by any.

What is answered and judged is in the store at once; this object only knows what is going on in this process.
"""

import logging
import threading
import uuid
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from enum import StrEnum

from core.errors import AsesoriaError
from core.qa.models import Battery, BookType, Profile, Report
from core.qa.run import Answerer, Judge, RunCancelledError, RunProgress
from core.qa.session import run_session
from core.qa.store import SqlRunStore
from core.thresholds import QaThresholds

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Order:
    """A battery to be run. ``run_id``: a run to be taken up again; type, seed and profile are then the run's own.

    ``author`` and ``category``: of an upload, as its owner says; an official document has those of the register.
    """

    doc_id: str
    title: str
    kind: BookType
    seed: int = 0
    profile: Profile | None = None
    run_id: str = ""
    author: str = ""
    category: str = ""


@dataclass(frozen=True, slots=True)
class Prepared:
    """All that a run needs."""

    battery: Battery
    answerer: Answerer
    judge: Judge


class Stage(StrEnum):
    """Where a job is; the value is what the page says."""

    WAITING = "en espera"
    PREPARING = "preparando las preguntas"
    ANSWERING = "respondiendo"
    JUDGING = "juzgando"
    DONE = "terminada"
    STOPPED = "detenida"
    FAILED = "con error"


ENDED = frozenset({Stage.DONE, Stage.STOPPED, Stage.FAILED})


@dataclass(frozen=True, slots=True)
class Job:
    """A battery's run as seen now. ``remaining_s``: estimate for the present stage. ``message``: error or notice."""

    id: str
    order: Order
    stage: Stage = Stage.WAITING
    done: int = 0
    total: int = 0
    remaining_s: float = 0.0
    run_id: str = ""
    report_id: str = ""
    message: str = ""

    @property
    def ended(self) -> bool:
        """Whether nothing more will happen."""
        return self.stage in ENDED


class Batteries:
    """Runs batteries one at a time, in the order in which they were asked for. Safe to use from several threads."""

    def __init__(
        self,
        prepare: Callable[[Order], Prepared],
        store: SqlRunStore,
        *,
        thresholds: QaThresholds,
        finished: Callable[[Report], object] = lambda _: None,
        there: Callable[[str], bool] = lambda _: True,
        turn: AbstractContextManager[object] | None = None,
    ) -> None:
        """``prepare`` makes (or, for a run to be taken up, finds) the battery; ``finished`` is given each report.

        ``there``: whether a document (by its id) is still there; the battery of one that is not stops. ``turn``: held
        while a battery runs, where several of these share it.
        """
        self._prepare = prepare
        self._store = store
        self._thresholds = thresholds
        self._finished = finished
        self._there = there
        self._jobs: dict[str, Job] = {}
        self._stops: dict[str, threading.Event] = {}
        self._lock = threading.Lock()
        self._turn: AbstractContextManager[object] = turn or threading.Lock()

    def start(self, order: Order) -> Job:
        """Begin, or take up again, in the background.

        Raises:
            AsesoriaError: that document's battery (or that run) is running already.
        """
        job = Job(uuid.uuid4().hex[:12], order, run_id=order.run_id)
        with self._lock:
            if any(j.order.doc_id == order.doc_id and not j.ended for j in self._jobs.values()):
                raise AsesoriaError(f"Ya hay una batería en marcha sobre «{order.title}». Espere a que termine.")
            self._jobs[job.id] = job
            self._stops[job.id] = threading.Event()
        threading.Thread(target=self._run, args=(job.id,), name=f"qa-{job.id}", daemon=True).start()
        return job

    def jobs(self) -> tuple[Job, ...]:
        """All jobs of this process, newest first."""
        with self._lock:
            return tuple(reversed(self._jobs.values()))

    def stop(self, job_id: str) -> None:
        """Stop a job after the question under way; what is answered is kept. An unknown or ended one is no error."""
        if stop := self._stops.get(job_id):
            stop.set()

    def stop_all(self) -> None:
        """Stop whatever runs or waits."""
        for stop in list(self._stops.values()):
            stop.set()

    def dismiss(self, job_id: str) -> None:
        """Take an ended job off the list; its run and its report stay in the store."""
        with self._lock:
            if job_id in self._jobs and self._jobs[job_id].ended:
                del self._jobs[job_id], self._stops[job_id]

    def interrupted(self) -> tuple[tuple[str, Battery, int], ...]:
        """Runs without a report that nobody is running here: (run, battery, answers kept), newest first."""
        running = {j.run_id for j in self.jobs() if not j.ended}
        found = []
        for run_id in self._store.unfinished():
            battery = self._store.battery(run_id) if run_id not in running else None
            if battery is not None:
                found.append((run_id, battery, len(self._store.answers(run_id))))
        return tuple(found)

    def wait(self, job_id: str, timeout: float = 60.0) -> Job:
        """The job once it has ended (for tests and scripts)."""
        pause = threading.Event()
        for _ in range(int(timeout / 0.02)):
            job = self._jobs[job_id]
            if job.ended:
                break
            pause.wait(0.02)
        return self._jobs[job_id]

    def _note(self, job_id: str, **changes: object) -> None:
        with self._lock:
            self._jobs[job_id] = replace(self._jobs[job_id], **changes)  # type: ignore[arg-type]

    def _run(self, job_id: str) -> None:
        order, stop = self._jobs[job_id].order, self._stops[job_id]
        try:
            with self._turn:
                if stop.is_set():
                    raise RunCancelledError("Batería detenida antes de empezar.")
                self._note(job_id, stage=Stage.PREPARING)
                ready = self._prepare(order)
                report = run_session(
                    ready.battery,
                    ready.answerer,
                    ready.judge,
                    self._store,
                    thresholds=self._thresholds,
                    run_id=order.run_id,
                    progress=lambda p: self._watch(job_id, p),
                    cancel=stop,
                )
            self._finished(report)
            self._note(job_id, stage=Stage.DONE, report_id=report.id, remaining_s=0.0)
        except RunCancelledError as error:
            self._note(job_id, stage=Stage.STOPPED, message=str(error))
        except AsesoriaError as error:
            self._note(job_id, stage=Stage.FAILED, message=str(error))
        except Exception:  # a thread's error would be lost, and the job would seem to run for ever
            log.exception("a battery failed")
            self._note(
                job_id,
                stage=Stage.FAILED,
                message="La batería ha fallado por un error inesperado. Mire la consola; puede reanudarla.",
            )

    def _watch(self, job_id: str, progress: RunProgress) -> None:
        order = self._jobs[job_id].order
        if not self._there(order.doc_id):
            self._stops[job_id].set()
        stage = Stage.ANSWERING if progress.stage == "answering" else Stage.JUDGING
        self._note(
            job_id,
            stage=stage,
            done=progress.done,
            total=progress.total,
            remaining_s=progress.remaining_s,
            run_id=progress.run_id,
        )
