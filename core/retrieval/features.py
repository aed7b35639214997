"""Candidates for a question and what is known of each: the numbers that the reranker reads."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.retrieval.fusion import RRF_K
from core.retrieval.snapshot import Floats, Snapshot
from core.retrieval.terms import TermStatistics, stems

# Raise when names, order or meaning of the features change: a reranker trained on others is refused.
FEATURES_VERSION = 1
# How many fragments each of the four rankings brings in.
CANDIDATES = 40
_ABSENT_RANK = 200
# A fragment without expected questions is treated as if its best were this far below the best of all.
_NO_QUESTION_GAP = 0.25

NAMES = (
    "passage_cosine question_cosine second_question_cosine passage_bm25 question_bm25 passage_bm25_absolute "
    "question_bm25_absolute rank_passage_cosine rank_passage_bm25 rank_question_cosine rank_question_bm25 rank_sum "
    "passage_coverage question_coverage question_covered union_coverage question_gap passage_gap best_question_cosine "
    "best_passage_cosine over_field best_over_field length is_law is_manual is_calendar is_instructions is_table"
).split()


@dataclass(frozen=True, slots=True)
class Signals:
    """A question's raw scores. BM25 scores are by place; what is missing has none (0)."""

    text: str
    vector: Floats
    passage_bm25: dict[int, float]
    question_bm25: dict[int, float]


@dataclass(frozen=True, slots=True)
class CandidateSet:
    """``places`` of the candidate fragments and their features (candidates × features)."""

    places: Sequence[int]
    features: NDArray[np.float32]

    def feature(self, name: str) -> NDArray[np.float32]:
        """One feature's column."""
        return self.features[:, NAMES.index(name)]

    def ordered(self, order: NDArray[np.intp]) -> "CandidateSet":
        """The same candidates in another order."""
        return CandidateSet([self.places[i] for i in order], self.features[order])


def gather(
    snapshot: Snapshot,
    signals: Signals,
    terms: TermStatistics,
    *,
    without: Collection[int] = (),
    within: Collection[int] | None = None,
) -> CandidateSet:
    """Candidates from four rankings (cosine and BM25, on passages and on expected questions) with their features.

    ``signals.vector`` is the question's vector for questions; passages are compared through ``passage_vector``.
    ``without``: places of expected questions to be treated as absent (training leaves some out).
    ``within``: the only fragments that may be candidates (places). Their ranks are those among all, so that the
    reranker's probabilities are not raised by leaving the others out.
    """
    passage_cosine = snapshot.passages @ signals.vector
    question_cosine = snapshot.questions @ signals.vector if len(snapshot.questions) else np.zeros(0, np.float32)
    question_bm25 = signals.question_bm25
    if without:
        gone = np.fromiter(without, dtype=np.int64)
        question_cosine = question_cosine.copy()
        question_cosine[gone] = -1.0
        question_bm25 = {j: s for j, s in question_bm25.items() if j not in without}
    rankings = [
        _top(passage_cosine, CANDIDATES),
        _by_score(signals.passage_bm25)[:CANDIDATES],
        _owners(snapshot, _top(question_cosine, 3 * CANDIDATES)),
        _owners(snapshot, _by_score(question_bm25)),
    ]
    ranks = [{i: r for r, i in enumerate(ranking, start=1)} for ranking in rankings]
    if within is not None:
        rankings = _only(within, snapshot, passage_cosine, signals.passage_bm25, question_cosine, question_bm25)
    places = list(dict.fromkeys(i for ranking in rankings for i in ranking))
    if not places:
        return CandidateSet([], np.zeros((0, len(NAMES)), np.float32))
    wanted = {term: terms.weight(term) for term in set(stems(signals.text))}
    total = sum(wanted.values()) or 1.0
    top_passage_bm25 = max(signals.passage_bm25.values(), default=0.0) or 1.0
    top_question_bm25 = max(question_bm25.values(), default=0.0) or 1.0
    best_question = float(question_cosine.max()) if len(question_cosine) else 0.0
    best_passage = float(passage_cosine.max())
    field = float(np.sort(question_cosine)[-20]) if len(question_cosine) >= 20 else best_question
    rows = []
    for i in places:
        owned = [j for j in snapshot.questions_of[i] if j not in without]
        cosines = sorted((float(question_cosine[j]) for j in owned), reverse=True)
        first = cosines[0] if cosines else best_question - _NO_QUESTION_GAP
        second = cosines[1] if len(cosines) > 1 else first - 0.1
        text_score = max((question_bm25.get(j, 0.0) for j in owned), default=0.0)
        covered = covers = union = 0.0
        if owned:
            nearest = max(
                owned, key=lambda j: float(question_cosine[j]) + 0.05 * question_bm25.get(j, 0.0) / top_question_bm25
            )
            near = snapshot.question_stems(nearest)
            shared = sum(w for t, w in wanted.items() if t in near)
            covered = shared / total
            covers = shared / (sum(terms.weight(t) for t in near) or 1.0)
            union = sum(w for t, w in wanted.items() if any(t in snapshot.question_stems(j) for j in owned)) / total
        reciprocal = [RRF_K / (RRF_K + rank.get(i, _ABSENT_RANK)) for rank in ranks]
        fragment = snapshot.fragments[i]
        own = snapshot.passage_stems(i)
        passage_score = signals.passage_bm25.get(i, 0.0)
        rows.append(
            (
                float(passage_cosine[i]),
                first,
                second,
                passage_score / top_passage_bm25,
                text_score / top_question_bm25,
                passage_score / total,
                text_score / total,
                *reciprocal,
                sum(reciprocal),
                sum(w for t, w in wanted.items() if t in own) / total,
                covered,
                covers,
                union,
                first - best_question,
                float(passage_cosine[i]) - best_passage,
                best_question,
                best_passage,
                first - field,
                best_question - field,
                min(len(wanted), 12) / 12,
                float(fragment.doc_type == "norma"),
                float(fragment.doc_type == "manual"),
                float(fragment.doc_type == "calendario"),
                float(fragment.doc_type in ("instrucciones", "folleto")),
                float(fragment.kind == "table"),
            )
        )
    return CandidateSet(places, np.array(rows, dtype=np.float32))


def _only(
    within: Collection[int],
    snapshot: Snapshot,
    passage_cosine: NDArray[np.float32],
    passage_bm25: dict[int, float],
    question_cosine: NDArray[np.float32],
    question_bm25: dict[int, float],
) -> list[list[int]]:
    """The four rankings of the fragments ``within`` and their questions."""
    allowed = frozenset(within)
    fragments = np.fromiter(sorted(allowed), dtype=np.int64)
    owned = np.array([j for i in fragments for j in snapshot.questions_of[i]], dtype=np.int64)
    return [
        [int(fragments[i]) for i in _top(passage_cosine[fragments], CANDIDATES)],
        _by_score({i: s for i, s in passage_bm25.items() if i in allowed})[:CANDIDATES],
        _owners(snapshot, [int(owned[j]) for j in _top(question_cosine[owned], 3 * CANDIDATES)] if len(owned) else []),
        _owners(snapshot, _by_score({j: s for j, s in question_bm25.items() if int(snapshot.owners[j]) in allowed})),
    ]


def _top(scores: NDArray[np.float32], k: int) -> list[int]:
    if len(scores) == 0:
        return []
    k = min(k, len(scores))
    best = np.argpartition(-scores, k - 1)[:k]
    return [int(i) for i in best[np.argsort(-scores[best], kind="stable")]]


def _by_score(scores: dict[int, float]) -> list[int]:
    return sorted(scores, key=lambda i: (-scores[i], i))


def _owners(snapshot: Snapshot, questions: Sequence[int]) -> list[int]:
    """Fragments of the questions, each once, in the questions' order."""
    return list(dict.fromkeys(int(snapshot.owners[j]) for j in questions))[:CANDIDATES]
