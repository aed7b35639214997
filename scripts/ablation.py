"""What each part of the search brings, on the benchmark's ``dev`` half. Needs a complete index.

python scripts/ablation.py
"""

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from core.config import Settings
from core.evaluation.benchmark import answers, load_benchmark
from core.retrieval.adapter import IDENTITY, Adapter
from core.retrieval.features import CandidateSet, gather
from core.retrieval.search import HybridSearch
from core.retrieval.snapshot import take_snapshot
from core.services import build_services

Score = Callable[[CandidateSet], np.ndarray]


def ranks(*names: str) -> Score:
    """Sum of reciprocal ranks over some rankings."""
    return lambda found: np.sum([found.feature(name) for name in names], axis=0)


PASSAGES = ("rank_passage_cosine", "rank_passage_bm25")
QUESTIONS = ("rank_question_cosine", "rank_question_bm25")


def main() -> None:
    """Print evidence hits for each step."""
    services = build_services(Settings())
    items = [i for i in load_benchmark() if i.split == "dev" and i.gold]
    steps: list[tuple[str, Adapter, Score | None]] = [
        ("cosine of passages", IDENTITY, ranks("rank_passage_cosine")),
        ("BM25 of passages", IDENTITY, ranks("rank_passage_bm25")),
        ("both, fused", IDENTITY, ranks(*PASSAGES)),
        ("expected questions alone, fused", IDENTITY, ranks(*QUESTIONS)),
        ("passages and expected questions, fused", IDENTITY, ranks(*PASSAGES, *QUESTIONS)),
        ("… with the adapter", services.adapter, ranks(*PASSAGES, *QUESTIONS)),
        ("… expected questions alone with the adapter", services.adapter, ranks(*QUESTIONS)),
        ("adapter and reranker (the product)", services.adapter, None),
    ]
    print(f"{len(items)} questions with an answer in the corpus")
    print(f"{'step':46}{'@1':>7}{'@3':>7}{'@5':>7}{'@8':>7}{'@20':>7}")
    terms = services.search().terms
    for name, adapter, score in steps:
        snapshot = take_snapshot(services.store, services.questions, adapter)
        search = HybridSearch(
            services.store, services.questions, snapshot, services.embedder, adapter, services.reranker, terms
        )
        hits = []
        for item in items:
            vector = adapter.questions(services.embedder.embed_query(item.question)[None, :])[0]
            found = gather(snapshot, search.signals(item.question, vector), terms)
            values = score(found) if score else services.reranker.probabilities(item.question, found, snapshot)
            order = np.argsort(-values, kind="stable")[:20]
            hits.append([answers(item, snapshot.fragments[found.places[i]]) for i in order])
        print(f"{name:46}" + "".join(f"{np.mean([any(h[:k]) for h in hits]):7.3f}" for k in (1, 3, 5, 8, 20)))


if __name__ == "__main__":
    main()
