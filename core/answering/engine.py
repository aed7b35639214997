"""The one straight line from a question to an answer."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from core.answering.both import Both, answer_from_both
from core.answering.extractive import compose, extract
from core.answering.scope import Assessment, ScopeModel, assess, is_other_language, load_scope
from core.documents.search import SessionResult, SessionSearch
from core.errors import InvalidQuestionError
from core.models import Answer, Category, Fragment, Mode, Source
from core.retrieval.search import SearchResult
from core.retrieval.terms import TermStatistics
from core.thresholds import Thresholds

FRAGMENTS_FOR_ANSWER = 8


class Retriever(Protocol):
    """Finds fragments for a question."""

    def run(self, question: str, k: int) -> SearchResult:
        """The ``k`` best fragments, best first, with what the search saw."""


@dataclass(frozen=True, slots=True)
class Examination:
    """An answer with what it was made from."""

    answer: Answer
    result: SearchResult
    assessment: Assessment


class AnswerEngine:
    """Answers questions from what is indexed, and says so when that does not suffice."""

    def __init__(
        self,
        *,
        retriever: Retriever,
        neighbours: Callable[[Fragment], Sequence[Fragment]],
        terms: Callable[[], TermStatistics],
        about: Callable[[str], tuple[int | None, str]],
        scope: ScopeModel,
        thresholds: Thresholds,
        max_question_chars: int,
    ) -> None:
        self._retriever = retriever
        self._neighbours = neighbours
        self._terms = terms
        self._about = about
        self._scope = scope
        self._thresholds = thresholds
        self._max_chars = max_question_chars

    def ask(self, question: str, *, private: SessionSearch | None = None) -> Answer:
        """Answer ``question``, from the documents of ``private`` (one session's) too.

        Not finding is not an error: the answer then has ``grounded=False`` and no sources.

        Raises:
            InvalidQuestionError: the question is empty or too long.
            IndexNotReadyError: nothing is indexed yet.
        """
        return self.examine(question, private=private).answer

    def examine(
        self, question: str, *, k: int = FRAGMENTS_FOR_ANSWER, private: SessionSearch | None = None
    ) -> Examination:
        """As `ask`, with the ``k`` best fragments and the scope's verdict."""
        question = self.check(question)
        clock = time.perf_counter()
        result = (private or self._retriever).run(question, k)
        public = result.public if isinstance(result, SessionResult) else result
        searched = time.perf_counter()
        verdict = assess(question, public, self._scope, threshold=self._thresholds.scope.answerable)
        scoped = time.perf_counter()
        both = self._both(question, result, verdict, private) if isinstance(result, SessionResult) and private else None
        answer = (both.text, both.sources) if both else self._answer(question, public, verdict)
        timings = {
            **result.timings,
            "search_ms": 1000 * (searched - clock),
            "scope_ms": 1000 * (scoped - searched),
            "answer_ms": 1000 * (time.perf_counter() - scoped),
        }
        text, sources = answer
        category = verdict.category if sources or verdict.refusal else Category.NO_ANSWER
        category = both.category if both else category
        return Examination(
            Answer(
                text=text,
                grounded=bool(sources),
                category=category,
                mode=Mode.EXTRACTIVE,
                sources=sources,
                timings=timings,
            ),
            result,
            verdict,
        )

    def _answer(self, question: str, result: SearchResult, verdict: Assessment) -> tuple[str, tuple[Source, ...]]:
        texts = load_scope().answers
        if verdict.refusal:
            return verdict.refusal, ()
        extracted = extract(question, result.found, neighbours=self._neighbours, terms=self._terms())
        if not extracted.units:
            return texts["no_answer"], ()
        text, sources = compose(extracted, about=self._about)
        parts = [text, texts["common_territory"]]
        if verdict.category is Category.PERSONAL_CASE:
            parts.insert(0, texts["personal_case"])
        if is_other_language(question):
            parts.append(texts["other_language"])
        return "\n\n".join(parts), sources

    def _both(self, question: str, result: SessionResult, verdict: Assessment, private: SessionSearch) -> Both | None:
        return answer_from_both(
            question,
            result,
            verdict,
            known=self._thresholds.documents,
            documents=private.documents.documents(),
            neighbours=private.neighbours(self._neighbours),
            terms=self._terms(),
            about=self._about,
        )

    def check(self, question: str) -> str:
        """The question without needless white space.

        Raises:
            InvalidQuestionError: it has no letter or figure, or is too long.
        """
        question = " ".join(question.replace("\x00", "").split())
        if not any(ch.isalnum() for ch in question):
            raise InvalidQuestionError("Escriba una pregunta, por ejemplo: «¿Qué debe contener una factura?».")
        if len(question) > self._max_chars:
            raise InvalidQuestionError(
                f"La pregunta tiene {len(question)} caracteres y el máximo es {self._max_chars}. "
                "Resúmala en una o dos frases."
            )
        return question
