"""The judge of figures and terms: is each claim in its source, and is what was asked for there, in its words?"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from core.answering import cues
from core.answering.cues import Asked
from core.answering.verify import verify
from core.calibration.judge_weights import JudgeWeights
from core.calibration.judges import JudgedAnswer
from core.calibration.reference import JudgeInfo
from core.retrieval.terms import TermStatistics, stems
from core.thresholds import VerifyThresholds

WORDS_VERSION = 2
# What a question may ask for, and what shows that a text gives it.
_KINDS: tuple[tuple[str, Callable[[str], bool]], ...] = (
    ("when", lambda text: cues.gives_time(text) or cues.gives_occasion(text)),
    ("time", cues.gives_time),
    ("amount", cues.gives_amount),
    ("percent", cues.gives_percent),
    ("figure", cues.gives_figure),
    ("form", cues.names_form),
    ("who", cues.says_who),
    ("whether", lambda text: cues.rules(text) or cues.denies(text)),
)


@dataclass(frozen=True, slots=True)
class WordsJudge:
    """Claims supported by what they cite (as `verify` finds), times how well the answer fits the question's words."""

    terms: TermStatistics
    limits: VerifyThresholds
    weights: JudgeWeights

    @property
    def info(self) -> JudgeInfo:
        """See `Judge`."""
        return JudgeInfo(name="cifras y términos", kind="palabras y cifras", version=self.weights.version)

    def score(self, answer: JudgedAnswer) -> float:
        """See `Judge`: one unsupported claim is enough not to be faithful."""
        found = verify(answer.answer, answer.passages, thresholds=self.limits, own=answer.own, weight=self.terms.weight)
        if found.coverage < 1.0:
            return 0.5 * found.coverage * self.weights.probability(self.measures(answer))
        return self.weights.probability(self.measures(answer))

    def measures(self, answer: JudgedAnswer) -> dict[str, float]:
        """Shares (0..1): of what is asked for that is there (``fits``), of the question's words in the answer with its
        headings (``words``), in its first cited line (``lead``), in the nearest expected question (``expected``)."""
        asked = cues.read_question(answer.question, self.terms)
        lines = answer.said.split("\n")
        return {
            "fits": fits(asked, answer.said),
            "words": asked.coverage(set(stems(answer.answer))),
            "lead": asked.coverage(set(stems("\n".join([*lines[:1], *answer.own[:1]])))),
            "expected": self._nearest(asked, answer.expected),
        }

    def _nearest(self, asked: Asked, expected: Mapping[int, Sequence[str]]) -> float:
        questions = [q for group in expected.values() for q in group]
        return max((asked.coverage(set(stems(q))) for q in questions), default=0.0)


def fits(asked: Asked, text: str) -> float:
    """Share of what the question asks for (a date, an amount, …) that ``text`` gives; 1 where it asks for nothing."""
    wanted = [gives for name, gives in _KINDS if getattr(asked, name)]
    return sum(gives(text) for gives in wanted) / len(wanted) if wanted else 1.0
