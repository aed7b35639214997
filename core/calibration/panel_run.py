"""The default panel over the reference cases: what the judges read, taken from the index."""

from collections.abc import Sequence
from pathlib import Path

from core.answering.verify import Passage, passage_of
from core.calibration.judge_sentences import Nearness, SentencesJudge
from core.calibration.judge_weights import WEIGHTS_PATH, load_weights
from core.calibration.judge_words import WordsJudge
from core.calibration.judges import FactsJudge, Judge, JudgedAnswer
from core.calibration.reference import ReferenceCase, ReferenceSource
from core.models import Mode
from core.retrieval.search import HybridSearch
from core.retrieval.snapshot import Snapshot
from core.thresholds import Thresholds


def default_judges(
    search: HybridSearch, thresholds: Thresholds, weights: Path = WEIGHTS_PATH, *, near: Nearness
) -> tuple[Judge, ...]:
    """The three deterministic judges, of different kinds. Each gives the probability that the answer is faithful.

    Raises:
        RegisterError: their weights are missing.
    """
    return (
        WordsJudge(search.terms, thresholds.verify, load_weights("words", weights)),
        SentencesJudge(near, load_weights("sentences", weights)),
        FactsJudge(load_weights("facts", weights)),
    )


def judged(case: ReferenceCase, snapshot: Snapshot) -> JudgedAnswer:
    """What the judges read of a case: the whole cited fragments, or their passages where they are not indexed."""
    numbered = list(enumerate(case.sources, start=1))
    return JudgedAnswer(
        id=case.id,
        question=case.question,
        answer=case.answer,
        passages={n: _passage(source, snapshot) for n, source in numbered},
        expected={n: _expected(source.fragment_id, snapshot) for n, source in numbered},
        fragment_ids=[source.fragment_id for source in case.sources],
        facts=case.facts,
        quotes=case.mode is not Mode.SYNTHESIS,
    )


def _passage(source: ReferenceSource, snapshot: Snapshot) -> Passage:
    place = snapshot.place.get(source.fragment_id)
    if place is not None:
        return passage_of(snapshot.fragments[place])
    page = f"página {source.page}" if source.page is not None else ""
    return Passage(source.passage, "\n".join(part for part in (source.title, source.section, page) if part))


def _expected(fragment_id: str, snapshot: Snapshot) -> Sequence[str]:
    place = snapshot.place.get(fragment_id)
    return [snapshot.question_texts[j] for j in snapshot.questions_of[place]] if place is not None else ()
