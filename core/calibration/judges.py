"""The panel's judges: the port, what a judge reads, and the judge that knows which facts an answer should state."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from core.answering.verify import Passage
from core.calibration.judge_weights import JudgeWeights
from core.calibration.reference import JudgeInfo, PanelScores
from core.errors import LlmError
from core.evaluation.benchmark import Item, facts_stated
from core.models import Category

_MARK = re.compile(r"\[\d{1,2}\]")
FACTS_VERSION = 2
# Characters of an answer for which it is neither short nor long.
_USUAL_CHARS = 600


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


@dataclass(frozen=True, slots=True)
class FactsJudge:
    """Expected facts, written by whoever wrote the question, searched in the answer, next to all else that it says."""

    weights: JudgeWeights

    @property
    def info(self) -> JudgeInfo:
        """See `Judge`."""
        return JudgeInfo(name="hechos", kind="hechos esperados", version=self.weights.version)

    def score(self, answer: JudgedAnswer) -> float:
        """See `Judge`: where the corpus has no answer there is nothing to be faithful with."""
        return self.weights.probability(self.measures(answer)) if answer.facts else 0.0

    def measures(self, answer: JudgedAnswer) -> dict[str, float]:
        """Share of the facts stated, whether all are, and the answer's length (logarithm, 1 for a usual one)."""
        wanted = tuple(tuple(re.compile(alternative) for alternative in fact) for fact in answer.facts)
        item = Item(answer.id, answer.question, Category.DIRECT, "", (), wanted)
        stated = facts_stated(item, answer.answer)
        share = sum(stated) / len(stated) if stated else 0.0
        return {
            "share": share,
            "all": float(share == 1.0),
            "length": math.log2(1 + len(answer.said) / _USUAL_CHARS),
        }


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
