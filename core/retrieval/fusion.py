"""Reciprocal rank fusion."""

from collections.abc import Sequence

# Score = Σ 1 / (k + rank), with the k = 60 of Cormack, Clarke and Büttcher (2009).
RRF_K = 60


def reciprocal_rank_fusion(rankings: Sequence[Sequence[str]], *, k: int = RRF_K) -> dict[str, float]:
    """Fused score of each id; ``rankings`` are lists of ids, best first."""
    scores: dict[str, float] = {}
    for ranking in rankings:
        for rank, fragment_id in enumerate(ranking, start=1):
            scores[fragment_id] = scores.get(fragment_id, 0.0) + 1.0 / (k + rank)
    return scores
