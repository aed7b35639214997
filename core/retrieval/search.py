"""Hybrid search: cosine and Spanish full text, over passages and over expected questions, then the reranker."""

import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from core.models import RetrievedFragment
from core.retrieval.adapter import Adapter
from core.retrieval.embedder import Embedder
from core.retrieval.features import CANDIDATES, CandidateSet, Signals, gather
from core.retrieval.reranker import Reranker
from core.retrieval.snapshot import Floats, Snapshot
from core.retrieval.store import FragmentStore, QuestionStore
from core.retrieval.terms import TermStatistics

# For how many of the fragments found their expected questions are handed on.
_WITH_EXPECTED = 8


@dataclass(frozen=True, slots=True)
class SearchResult:
    """Fragments best first, with what the search saw. ``timings`` in milliseconds by stage.

    ``raw`` is the question's vector as the model gives it, ``vector`` the adapted one. ``candidates`` are best first.
    ``expected``: for the first fragments found, by id, the questions that they are known to answer with their cosines
    with this one.
    """

    found: tuple[RetrievedFragment, ...]
    raw: Floats
    vector: Floats
    candidates: CandidateSet
    timings: dict[str, float]
    expected: Mapping[str, Sequence[tuple[str, float]]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class HybridSearch:
    """Searches one index. Thread-safe as far as its parts are."""

    store: FragmentStore
    questions: QuestionStore
    snapshot: Snapshot
    embedder: Embedder
    adapter: Adapter
    reranker: Reranker
    terms: TermStatistics

    def search(self, question: str, k: int) -> list[RetrievedFragment]:
        """The ``k`` best fragments for ``question``, best first.

        Raises:
            IndexNotReadyError: nothing is indexed yet.
        """
        return list(self.run(question, k).found)

    def run(self, question: str, k: int, *, doc_id: str = "", doc_ids: Collection[str] | None = None) -> SearchResult:
        """As `search`, with the question's vector, the candidates and the time of each stage.

        With ``doc_id`` (or ``doc_ids``) only the fragments of that document (of those) are found; each keeps the
        probability that it has among all.
        """
        held = (doc_id,) if doc_id else doc_ids
        clock = [time.perf_counter()]
        raw = self.embedder.embed_query(question)
        vector = self.adapter.questions(raw[None, :])[0]
        clock.append(time.perf_counter())
        signals = self.signals(question, vector, held=held)
        within = None if held is None else [i for i, f in enumerate(self.snapshot.fragments) if f.doc_id in held]
        clock.append(time.perf_counter())
        candidates = gather(self.snapshot, signals, self.terms, within=within)
        clock.append(time.perf_counter())
        probability = self.reranker.probabilities(question, candidates, self.snapshot)
        order = np.argsort(-probability, kind="stable")
        candidates, probability = candidates.ordered(order), probability[order]
        rank_sum = candidates.feature("rank_sum") if candidates.places else np.zeros(0)
        cosine = candidates.feature("passage_cosine") if candidates.places else np.zeros(0)
        found = tuple(
            RetrievedFragment(
                fragment=self.snapshot.fragments[candidates.places[i]],
                relevance=float(probability[i]),
                score=float(rank_sum[i]),
                cosine=float(cosine[i]),
            )
            for i in range(min(k, len(order)))
        )
        clock.append(time.perf_counter())
        stages = ("embed_ms", "text_ms", "features_ms", "rerank_ms")
        timings = {name: 1000 * (b - a) for name, a, b in zip(stages, clock, clock[1:], strict=False)}
        expected = {
            self.snapshot.fragments[place].id: self.snapshot.expected_of(place, vector)
            for place in candidates.places[:_WITH_EXPECTED]
        }
        return SearchResult(found, raw, vector, candidates, timings, expected)

    def signals(self, question: str, vector: Floats, *, held: Collection[str] | None = None) -> Signals:
        """BM25 scores of passages and expected questions, by place; those of the ``held`` documents besides the best."""
        passages = list(self.store.full_text(question, CANDIDATES))
        expected = list(self.questions.full_text(question, 3 * CANDIDATES))
        for doc_id in sorted(held or ()):
            passages += self.store.full_text(question, CANDIDATES, doc_id=doc_id)
            expected += self.questions.full_text(question, 3 * CANDIDATES, doc_id=doc_id)
        place, question_place = self.snapshot.place, self.snapshot.question_place
        return Signals(
            text=question,
            vector=vector,
            passage_bm25={place[f.id]: score for f, score in passages if f.id in place},
            question_bm25={question_place[q]: score for q, score in expected if q in question_place},
        )
