"""The one straight line from a question to an answer."""

import time
from collections.abc import Callable, Sequence
from typing import Protocol

from core.answering.extractive import compose, extract
from core.errors import InvalidQuestionError
from core.models import Answer, Category, Fragment, Mode, RetrievedFragment
from core.retrieval.terms import TermStatistics
from core.thresholds import Thresholds

FRAGMENTS_FOR_ANSWER = 8


class Retriever(Protocol):
    """Finds fragments for a question, best first."""

    def find(self, question: str, k: int) -> list[RetrievedFragment]:
        """The ``k`` best fragments."""


class AnswerEngine:
    """Answers questions from what is indexed, and says so when that does not suffice."""

    def __init__(
        self,
        *,
        retriever: Retriever,
        neighbours: Callable[[Fragment], Sequence[Fragment]],
        terms: Callable[[], TermStatistics],
        about: Callable[[str], tuple[int | None, str]],
        thresholds: Thresholds,
        max_question_chars: int,
    ) -> None:
        self._retriever = retriever
        self._neighbours = neighbours
        self._terms = terms
        self._about = about
        self._thresholds = thresholds
        self._max_chars = max_question_chars

    def ask(self, question: str) -> Answer:
        """Answer ``question``. Not finding is not an error: the answer then has ``grounded=False`` and no sources.

        Raises:
            InvalidQuestionError: the question is empty or too long.
            IndexNotReadyError: nothing is indexed yet.
        """
        question = self.check(question)
        started = time.perf_counter()
        found = self._retriever.find(question, FRAGMENTS_FOR_ANSWER)
        searched = time.perf_counter()
        extracted = extract(question, found, neighbours=self._neighbours, terms=self._terms())
        enough = (
            bool(extracted.units)
            and max(hit.relevance for hit in found) >= self._thresholds.min_relevance
            and extracted.coverage >= self._thresholds.min_coverage
        )
        if enough:
            text, sources = compose(extracted, about=self._about)
        else:
            text, sources = NOT_ENOUGH, ()
        timings = {
            "search_ms": 1000 * (searched - started),
            "answer_ms": 1000 * (time.perf_counter() - searched),
        }
        return Answer(
            text=text,
            grounded=enough,
            category=Category.DIRECT if enough else Category.NO_ANSWER,
            mode=Mode.EXTRACTIVE,
            sources=sources,
            timings=timings,
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
                f"La pregunta tiene {len(question)} caracteres y el máximo es {self._max_chars}. Resúmala en una o dos frases."
            )
        return question


NOT_ENOUGH = (
    "No he encontrado información suficiente en los documentos indexados para responder a esta pregunta, y no respondo "
    "con nada que no esté en ellos. Pruebe a formularla con otras palabras (por ejemplo, con el nombre del impuesto o "
    "del modelo), o consulte a la Agencia Tributaria o a un asesor fiscal."
)
