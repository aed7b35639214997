"""Hybrid search: dense and Spanish full text, joined by reciprocal rank fusion."""

from collections.abc import Sequence
from dataclasses import dataclass

from core.models import Fragment, RetrievedFragment
from core.retrieval.embedder import Embedder
from core.retrieval.relevance import relevance
from core.retrieval.store import FragmentStore
from core.retrieval.terms import TermStatistics, stems

# Reciprocal rank fusion (Cormack, Clarke and Büttcher, 2009): score = Σ 1 / (k + rank), with their k = 60.
RRF_K = 60
CANDIDATES = 60


def reciprocal_rank_fusion(rankings: Sequence[Sequence[str]], *, k: int = RRF_K) -> dict[str, float]:
    """Fused score of each id; ``rankings`` are lists of ids, best first."""
    scores: dict[str, float] = {}
    for ranking in rankings:
        for rank, fragment_id in enumerate(ranking, start=1):
            scores[fragment_id] = scores.get(fragment_id, 0.0) + 1.0 / (k + rank)
    return scores


@dataclass(frozen=True, slots=True)
class HybridSearch:
    """Searches one store. Thread-safe as far as its parts are."""

    store: FragmentStore
    embedder: Embedder
    terms: TermStatistics

    def search(self, question: str, k: int) -> list[RetrievedFragment]:
        """The ``k`` best fragments for ``question``, best first.

        Raises:
            IndexNotReadyError: nothing is indexed yet.
        """
        dense = self.store.dense(self.embedder.embed_query(question), CANDIDATES)
        lexical = self.store.full_text(question, CANDIDATES)
        fused = reciprocal_rank_fusion([[f.id for f, _ in dense], [f.id for f, _ in lexical]])
        fragments: dict[str, Fragment] = {f.id: f for f, _ in (*dense, *lexical)}
        cosines = {f.id: cosine for f, cosine in dense}
        question_stems = stems(question)
        found = [
            RetrievedFragment(
                fragment=fragments[fragment_id],
                relevance=relevance(
                    question_stems, fragments[fragment_id], cosine=cosines.get(fragment_id), terms=self.terms
                ),
                score=score,
                cosine=cosines.get(fragment_id, 0.0),
            )
            for fragment_id, score in fused.items()
        ]
        # The fused rank finds the candidates; among the best of them, relevance decides.
        found.sort(key=lambda r: (-r.score, r.fragment.id))
        best = sorted(found[: max(2 * k, 20)], key=lambda r: (-(r.relevance + 10 * r.score), r.fragment.id))
        return best[:k]
