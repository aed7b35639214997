"""The panel's judges: the port, what a judge reads, and the judge that knows which facts an answer should state."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from core.answering.verify import Passage
from core.calibration.reference import JudgeInfo, PanelScores
from core.errors import LlmError
from core.evaluation.benchmark import Item, facts_stated
from core.models import Category

_MARK = re.compile(r"\[\d{1,2}\]")
# Under this probability a judge is sure that an answer is not faithful, from one minus it on that it is.
_SURE = 0.45


@dataclass(frozen=True, slots=True)
class JudgedAnswer:
    """What a judge reads. ``passages`` and ``expected`` by the answer's ``[n]``: the cited fragments, and the questions
    that they are known to answer. ``fragment_ids``: the fragments cited. ``facts``: alternatives of regular expressions,
    one of each has to be in the answer; none where the corpus has no answer to the question. ``quotes``: the answer is an
    extraction, in which only what is quoted claims something.
    """

    id: str
    question: str
    answer: str
    passages: Mapping[int, Passage]
    expected: Mapping[int, Sequence[str]]
    fragment_ids: Sequence[str]
    facts: Sequence[Sequence[str]]
    quotes: bool = False

    @property
    def said(self) -> str:
        """The lines that claim something: the others are the product's own."""
        return "\n".join(line for line in self.answer.split("\n") if self._claims(line))

    @property
    def own(self) -> list[str]:
        """The product's own lines: introductions and notices."""
        return [line for line in self.answer.split("\n") if line.strip() and not self._claims(line)]

    def _claims(self, line: str) -> bool:
        return _MARK.search(line) is not None and (not self.quotes or "«" in line)


class Judge(Protocol):
    """Gives an answer a faithfulness. Deterministic, or behind a model."""

    @property
    def info(self) -> JudgeInfo:
        """Name, kind and version."""

    def score(self, answer: JudgedAnswer) -> float:
        """Faithfulness (0..1): claims supported, the question asked answered, no decisive condition left out.

        Raises:
            LlmError: the model behind it gave no verdict.
        """


def verdict(probability: float) -> float:
    """A faithfulness from a probability: 0 or 1 where the judge is sure, a straight line between."""
    return min(1.0, max(0.0, (probability - _SURE) / (1 - 2 * _SURE)))


@dataclass(frozen=True, slots=True)
class FactsJudge:
    """Expected facts, written by whoever wrote the question, searched in the answer.

    All of them: 1. Some missing: half the share that is there, so that no incomplete answer counts as faithful.
    """

    @property
    def info(self) -> JudgeInfo:
        """See `Judge`."""
        return JudgeInfo(name="hechos", kind="hechos esperados", version=1)

    def score(self, answer: JudgedAnswer) -> float:
        """See `Judge`."""
        if not answer.facts:
            return 0.0
        wanted = tuple(tuple(re.compile(alternative) for alternative in fact) for fact in answer.facts)
        item = Item(answer.id, answer.question, Category.DIRECT, "", (), wanted)
        stated = facts_stated(item, answer.answer)
        return 1.0 if all(stated) else 0.5 * sum(stated) / len(stated)


def score_all(judges: Sequence[Judge], answers: Sequence[JudgedAnswer], *, reference_version: str) -> PanelScores:
    """Have each judge score each answer. What a judge cannot score is listed and left out, never guessed."""
    scores: dict[str, dict[str, float]] = {}
    failures: dict[str, dict[str, str]] = {}
    for answer in answers:
        scores[answer.id] = {}
        for judge in judges:
            try:
                scores[answer.id][judge.info.name] = round(judge.score(answer), 4)
            except LlmError as error:
                failures.setdefault(answer.id, {})[judge.info.name] = type(error).__name__
    return PanelScores(
        judges=tuple(judge.info for judge in judges),
        reference_version=reference_version,
        scores=scores,
        failures=failures,
    )
