"""Hybrid search: cosine and Spanish full text, over passages and over expected questions, then the reranker."""

import time
from dataclasses import dataclass

import numpy as np

from core.models import RetrievedFragment
from core.retrieval.adapter import Adapter
from core.retrieval.embedder import Embedder
from core.retrieval.features import CANDIDATES, CandidateSet, Signals, gather
from core.retrieval.reranker import Reranker
from core.retrieval.snapshot import Floats, Snapshot
from core.retrieval.store import FragmentStore, QuestionStore
from core.retrieval.terms import TermStatistics


@dataclass(frozen=True, slots=True)
class SearchResult:
    """Fragments best first, with what the search saw. ``timings`` in milliseconds by stage.

    ``raw`` is the question's vector as the model gives it, ``vector`` the adapted one. ``candidates`` are best first.
    """

    found: tuple[RetrievedFragment, ...]
    raw: Floats
    vector: Floats
    candidates: CandidateSet
    timings: dict[str, float]


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

    def run(self, question: str, k: int) -> SearchResult:
        """As `search`, with the question's vector, the candidates and the time of each stage."""
        clock = [time.perf_counter()]
        raw = self.embedder.embed_query(question)
        vector = self.adapter.questions(raw[None, :])[0]
        clock.append(time.perf_counter())
        signals = self.signals(question, vector)
        clock.append(time.perf_counter())
        candidates = gather(self.snapshot, signals, self.terms)
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
        return SearchResult(found, raw, vector, candidates, timings)

    def signals(self, question: str, vector: Floats) -> Signals:
        """BM25 scores of passages and expected questions, by place."""
        passages = self.store.full_text(question, CANDIDATES)
        expected = self.questions.full_text(question, 3 * CANDIDATES)
        place, question_place = self.snapshot.place, self.snapshot.question_place
        return Signals(
            text=question,
            vector=vector,
            passage_bm25={place[f.id]: score for f, score in passages if f.id in place},
            question_bm25={question_place[q]: score for q, score in expected if q in question_place},
        )
