"""The reviewer's desk: everything that the page `qa_review` needs, put together from the services."""

from collections.abc import Callable
from dataclasses import dataclass, field

from core.corpus.register import find
from core.qa.background import Batteries, Order, Prepared
from core.qa.cases import open_cases
from core.qa.models import COUNTS, BookType
from core.qa.run import Answerer
from core.qa.service import DEFAULT_TYPES, build_judge, official_answerer, official_battery, same_battery
from core.qa.store import SqlRunStore
from core.records.database import Database
from core.services import Services
from core.thresholds import Thresholds

# Before anything has been measured: seconds for one answer (extractive), and to make the questions.
_ANSWER_S, _PREPARE_S = 1.5, 5.0


@dataclass(frozen=True)
class Desk:
    """Batteries, their reports and the inbox. ``database`` is asked for at each use: it may be out of reach for a while.

    ``documents``: id and title of those that can be tested; ``usual_type``: what kind of book one of them is, unless the
    reviewer says otherwise; ``answerer``: the engine held to one of them; ``engine`` and ``judge_s``: what answers, and how many
    seconds its judge takes for one answer. ``own``: it is over an upload, whose owner says author and category.
    """

    store: SqlRunStore
    database: Callable[[], Database]
    batteries: Batteries
    thresholds: Thresholds
    documents: Callable[[], dict[str, str]]
    usual_type: Callable[[str], BookType]
    answerer: Callable[[str], Answerer]
    engine: str
    judge_s: float
    own: bool = False
    _known: set[str] = field(default_factory=set)

    def estimate_s(self, kind: BookType) -> float:
        """Estimated seconds for a battery of a type of book, told before it begins."""
        each = self.store.seconds_each(self.engine)
        return _PREPARE_S + sum(COUNTS[kind].values()) * ((_ANSWER_S if each is None else each) + self.judge_s)

    def close(self) -> None:
        """Stop what runs and let go of the files. For the desk of an upload that is gone."""
        self.batteries.stop_all()
        self.store.close()
        self.database().close()

    def sync(self) -> None:
        """Bring the flagged cases of each document's latest report into the inbox.

        Also those of a report made by the command line, or that a crash kept from it.
        """
        latest = {head.doc_id: head.id for head in reversed(self.store.report_heads())}
        for report_id in latest.values():
            if report_id not in self._known and (report := self.store.report(report_id)):
                open_cases(self.database(), report)
                self._known.add(report_id)


def build_desk(services: Services) -> Desk:
    """The desk of the official documents."""
    batteries = Batteries(
        lambda order: _prepare(services, order),
        services.qa_store,
        thresholds=services.thresholds.qa,
        finished=lambda report: open_cases(services.records, report),
    )
    engine, judge_s = who_answers(services)
    return Desk(
        store=services.qa_store,
        database=lambda: services.records,
        batteries=batteries,
        thresholds=services.thresholds,
        documents=lambda: {d: find(services.register, d).title for d in services.manifest().documents},
        usual_type=lambda d: DEFAULT_TYPES.get(find(services.register, d).doc_type, BookType.PRESCRIPTIVE),
        answerer=lambda d: official_answerer(services, d),
        engine=engine,
        judge_s=judge_s,
    )


def who_answers(services: Services) -> tuple[str, float]:
    """The engine's name, and about how many seconds the judge takes for one answer."""
    model = services.model
    return (model.name, services.settings.llm_timeout_s / 4) if model else ("extractivo", 0.2)


def _prepare(services: Services, order: Order) -> Prepared:
    if order.run_id:
        battery = same_battery(services, services.qa_store, order.run_id, doc_id=order.doc_id)
    else:
        battery = official_battery(services, order.doc_id, order.kind, seed=order.seed, profile=order.profile)
    return Prepared(battery, official_answerer(services, order.doc_id), build_judge(services, battery))
