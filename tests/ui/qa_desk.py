"""A reviewer's desk without model or index: a real battery of a shipped book, a fake engine and judge, real SQLite."""

import atexit
import tempfile
import threading
import time
from functools import lru_cache
from pathlib import Path

from core.models import Answer, Category, Mode
from core.qa.background import Batteries, Order, Prepared
from core.qa.battery import generate_battery
from core.qa.cases import open_cases
from core.qa.desk import Desk
from core.qa.models import Battery, BatteryQuestion, BookType, Dimension, DimensionScore, Judgement, Profile
from core.qa.store import SqlRunStore
from core.records.database import Database
from core.thresholds import load_thresholds
from tests.unit.test_qa_battery import BOOK_PATH, TITLE, fragments_of, story

THRESHOLDS = load_thresholds()
# What the fake judge gives unless a test says otherwise: a borderline one and a trap that it falls into.
LOW = {"A-2": 6.5, "D-1": 4.0}


class EchoAnswerer:
    """Answers with the question's own words; ``gate`` holds each answer back, ``slow`` makes each take so long."""

    name = "falso"

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.gate = threading.Event()
        self.gate.set()
        self.slow = 0.0

    def answer(self, question: str) -> Answer:
        self.gate.wait(20)
        time.sleep(self.slow)
        self.asked.append(question)
        return Answer(text=f"Eco: {question}", grounded=False, category=Category.NO_ANSWER, mode=Mode.EXTRACTIVE)


class TableJudge:
    """Gives the points of a table, 9 where it has none."""

    name = "juez de prueba"
    seconds_each = 0.1

    def __init__(self) -> None:
        self.points = dict(LOW)

    def judge(self, question: BatteryQuestion, answer: Answer, *, profile: Profile | None) -> Judgement:
        points = self.points.get(question.id, 9.0)
        return Judgement(self.name, tuple(DimensionScore(d, points, answer.text[:30]) for d in Dimension))


@lru_cache(maxsize=4)
def book_battery(seed: int = 0) -> Battery:
    return generate_battery(story(), fragments_of(BOOK_PATH, TITLE), seed=seed)


class FakeDesk:
    """The desk with its parts at hand."""

    def __init__(self, folder: Path) -> None:
        self.answerer, self.judge = EchoAnswerer(), TableJudge()
        self.database = Database(f"sqlite:///{folder}/records.db")
        self.store = SqlRunStore(folder)
        self.orders: list[Order] = []
        batteries = Batteries(
            self._prepare,
            self.store,
            thresholds=THRESHOLDS.qa,
            finished=lambda report: open_cases(self.database, report),
        )
        self.desk = Desk(
            store=self.store,
            database=lambda: self.database,
            batteries=batteries,
            thresholds=THRESHOLDS,
            documents=lambda: {"libro": TITLE},
            usual_type=lambda _: BookType.NARRATIVE,
            answerer=lambda _: self.answerer,
            engine="falso",
            judge_s=0.1,
        )

    def _prepare(self, order: Order) -> Prepared:
        self.orders.append(order)
        battery = self.store.battery(order.run_id) if order.run_id else book_battery(order.seed)
        assert battery is not None
        return Prepared(battery, self.answerer, self.judge)

    def run(self, seed: int = 0) -> str:
        """A whole battery; the report's id."""
        batteries = self.desk.batteries
        job = batteries.wait(batteries.start(Order("libro", TITLE, BookType.NARRATIVE, seed=seed)).id)
        assert job.report_id, job.message
        return job.report_id


_desks: dict[str, FakeDesk] = {}


def new_desk() -> FakeDesk:
    """A desk in a folder of its own, found again by its script in AppTest."""
    folder = tempfile.TemporaryDirectory(prefix="asesoria-desk-", ignore_cleanup_errors=True)
    atexit.register(folder.cleanup)
    _desks["present"] = FakeDesk(Path(folder.name))
    return _desks["present"]


def present_desk() -> Desk:
    """The desk that was made last."""
    return _desks["present"].desk
