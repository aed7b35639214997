"""The engine's straight line: streaming, follow-ups, the seal's place. With fakes and no model."""

import pytest

from core.answering.checking import Checked
from core.answering.conversation import WHAT_IS_MEANT, Turn
from core.answering.engine import AnswerEngine
from core.answering.sealing import Sealer
from core.models import Answer, Category, Mode, RetrievedFragment, SealMode
from core.retrieval.expected import KnownAnswers
from core.retrieval.search import SearchResult
from core.seal.rules import seal
from core.seal.signals import recalibrated
from core.thresholds import load_thresholds
from tests.unit.test_answering import BOOKS, SENTENCES, TERMS, FakeRetriever, hits, scope_model

QUESTION = "¿Qué libros registro debe llevar un sujeto pasivo?"


class Noting(FakeRetriever):
    """Keeps the questions that it was asked."""

    def __init__(self, found: list[RetrievedFragment]) -> None:
        super().__init__(found)
        self.asked: list[str] = []

    def run(self, question: str, k: int) -> SearchResult:
        self.asked.append(question)
        return super().run(question, k)


def engine(retriever: FakeRetriever, *, keeps: bool = True) -> AnswerEngine:
    return AnswerEngine(
        retriever=retriever,
        neighbours=lambda f: [f],
        terms=lambda: TERMS,
        about=lambda _: (2025, ""),
        scope=scope_model(True),
        sentences=SENTENCES,
        known=KnownAnswers({}),
        thresholds=load_thresholds(),
        max_question_chars=120,
        verify=lambda draft, cited, own=(): Checked(draft if keeps else "", 1.0 if keeps else 0.0, len(cited)),
        sealer=Sealer(load_thresholds()),
    )


def test_without_a_model_the_stream_is_the_answer_alone() -> None:
    made = engine(FakeRetriever(hits(BOOKS)))
    (answer,) = made.stream(QUESTION)
    assert isinstance(answer, Answer) and answer.mode is Mode.EXTRACTIVE and answer.fallback == answer.understood == ""
    assert made.ask(QUESTION).text == answer.text


def test_the_seal_is_made_from_the_signals() -> None:
    examined = engine(FakeRetriever(hits(BOOKS))).examine(QUESTION)
    found = examined.answer.seal
    assert found is not None and found == seal(found.signals, load_thresholds(), SealMode.DETERMINISTIC)
    answered = engine(FakeRetriever(hits(BOOKS))).extract(QUESTION, examined.result).answered
    assert answered is not None and 0 < answered < 1
    assert found.signals.rerank == recalibrated(answered, 0.8, load_thresholds().seal)
    assert (found.signals.coverage, found.signals.refusal) == (1.0, False)


def test_what_the_verification_does_not_leave_is_not_shown() -> None:
    answer = engine(FakeRetriever(hits(BOOKS)), keeps=False).ask(QUESTION)
    assert (answer.grounded, answer.sources, answer.category) == (False, (), Category.NO_ANSWER)
    assert "No he encontrado información suficiente" in answer.text


def test_a_follow_up_is_searched_as_a_whole_question_and_says_how_it_was_understood() -> None:
    retriever = Noting(hits(BOOKS))
    answer = engine(retriever).ask("¿y en módulos?", history=[Turn(QUESTION, True)])
    assert retriever.asked == [answer.understood] and "libros registro" in answer.understood
    assert "módulos" in answer.understood


def test_a_question_of_its_own_is_not_touched_by_the_history() -> None:
    retriever = Noting(hits(BOOKS))
    answer = engine(retriever).ask("¿Y qué debe contener una factura?", history=[Turn(QUESTION, True)])
    assert retriever.asked == ["¿Y qué debe contener una factura?"] and answer.understood == ""


@pytest.mark.parametrize("history", [(), (Turn(QUESTION, False),)])
def test_a_follow_up_of_nothing_asks_what_is_meant_and_searches_nothing(history: tuple[Turn, ...]) -> None:
    retriever = Noting(hits(BOOKS))
    answer = engine(retriever).ask("¿y el plazo?", history=history)
    assert (answer.text, answer.grounded, answer.category) == (WHAT_IS_MEANT, False, Category.NO_ANSWER)
    assert retriever.asked == []


def test_a_whole_question_is_never_longer_than_a_question_may_be() -> None:
    retriever = Noting(hits(BOOKS))
    long = "¿Qué libros registro debe llevar " + "un sujeto pasivo muy particular " * 2 + "del IVA?"
    engine(retriever).ask("¿y qué plazo hay para llevarlos según la norma?", history=[Turn(long, True)])
    assert len(retriever.asked[0]) <= 120
