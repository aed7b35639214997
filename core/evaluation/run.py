"""Runs the benchmark on the product and on baselines, and computes the measures."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.metrics import roc_auc_score

from core.evaluation.benchmark import Item, all_parts, answers, has_facts, on_page
from core.models import Category, Fragment
from core.retrieval.fusion import reciprocal_rank_fusion

if TYPE_CHECKING:
    from core.services import Services

CUTOFFS = (1, 3, 5, 8, 20)
DEPTH = max(CUTOFFS)
BOOTSTRAP = 1000
ECE_BINS = 10
_SEED = 20261130


@dataclass(frozen=True, slots=True)
class Row:
    """What happened to one question. ``probability`` is the reranker's for its best fragment; ``candidate``: whether
    any fragment that the search considered holds the evidence."""

    item: Item
    fragments: tuple[Fragment, ...]
    probability: float
    answerable: float
    category: Category
    grounded: bool
    facts: bool
    timings: dict[str, float]
    candidate: bool = True

    @property
    def rank(self) -> int:
        """Rank of the first fragment that answers, 0 for none."""
        return next((r for r, f in enumerate(self.fragments, start=1) if answers(self.item, f)), 0)


def run_product(services: "Services", items: Sequence[Item]) -> list[Row]:
    """Ask the product every question."""
    rows = []
    snapshot = services.search().snapshot
    for item in items:
        seen = services.engine.examine(item.question, k=DEPTH)
        found = seen.result.found
        rows.append(
            Row(
                item=item,
                fragments=tuple(hit.fragment for hit in found),
                probability=found[0].relevance if found else 0.0,
                answerable=seen.assessment.answerable,
                category=seen.answer.category,
                grounded=seen.answer.grounded,
                facts=has_facts(item, seen.answer.text),
                timings=dict(seen.answer.timings),
                candidate=any(answers(item, snapshot.fragments[i]) for i in seen.result.candidates.places),
            )
        )
    return rows


def measures(rows: Sequence[Row]) -> dict[str, Any]:
    """All measures of a run; each with a 95 % bootstrap interval under its name with ``_ci``."""
    with_gold = [row for row in rows if row.item.gold]
    several = [row for row in with_gold if row.item.kind == "multi_doc"]
    direct = [row for row in rows if row.item.category is Category.DIRECT]
    refused = [row for row in rows if not row.item.answerable]
    stated = [row for row in rows if row.item.answerable and row.item.facts]
    retrieval = retrieval_measures([(row.item, row.fragments) for row in with_gold])
    retrieval["all_gold"] = {
        str(k): _mean([all_parts(row.item, row.fragments[:k]) for row in several]) for k in CUTOFFS
    }
    retrieval["all_gold_ci"] = {
        str(k): _interval([all_parts(row.item, row.fragments[:k]) for row in several]) for k in CUTOFFS
    }
    answerable: dict[str, Any] = {}
    labels = [row.item.answerable for row in rows]
    scores = [row.answerable for row in rows]
    _put(answerable, "auroc", list(zip(labels, scores, strict=True)), _auroc)
    _put(answerable, "abstention_rate", [not row.grounded for row in refused])
    _put(answerable, "false_abstention_rate", [not row.grounded for row in direct])
    result: dict[str, Any] = {"n": len(rows), "retrieval": retrieval, "answerable": answerable}
    _put(result, "category_accuracy", [row.category is row.item.category for row in rows])
    _put(result, "facts", [row.facts for row in stated])
    pairs = [(row.probability, bool(row.fragments) and answers(row.item, row.fragments[0])) for row in rows]
    reranker: dict[str, Any] = {}
    _put(reranker, "ece", pairs, _ece)
    _put(reranker, "brier", pairs, _brier)
    reranker["ece_if_calibrated"] = _ece_if_calibrated([p for p, _ in pairs])
    reranker["reliability"] = reliability(pairs)
    result["reranker"] = reranker
    stages = sorted({stage for row in rows for stage in row.timings})
    result["latency_ms"] = {
        stage: {
            "p50": round(float(np.percentile([row.timings[stage] for row in rows], 50)), 1),
            "p95": round(float(np.percentile([row.timings[stage] for row in rows], 95)), 1),
        }
        for stage in stages
    }
    return result


def retrieval_measures(found: Sequence[tuple[Item, Sequence[Fragment]]]) -> dict[str, Any]:
    """Evidence and page hits at each cutoff, and the mean reciprocal rank."""
    evidence = np.array([[answers(item, f) for f in _padded(fragments)] for item, fragments in found], dtype=bool)
    pages = np.array([[on_page(item, f) for f in _padded(fragments)] for item, fragments in found], dtype=bool)
    result: dict[str, Any] = {}
    for name, hits in (("evidence_hit", evidence), ("page_hit", pages)):
        per_cutoff = {str(k): [bool(row[:k].any()) for row in hits] for k in CUTOFFS}
        result[name] = {k: _mean(values) for k, values in per_cutoff.items()}
        result[f"{name}_ci"] = {k: _interval(values) for k, values in per_cutoff.items()}
    reciprocal = [1.0 / (1 + int(row.argmax())) if row.any() else 0.0 for row in evidence]
    result["mrr"], result["mrr_ci"] = _mean(reciprocal), _interval(reciprocal)
    return result


_NOTHING = Fragment("", "", "", "", "", "", "", (), None, None, "", "")


def _padded(fragments: Sequence[Fragment]) -> list[Fragment]:
    return [*fragments[:DEPTH], *[_NOTHING] * (DEPTH - len(fragments[:DEPTH]))]


def baselines(services: "Services", items: Sequence[Item]) -> dict[str, Any]:
    """The same retrieval measures for dense, BM25, their fusion, and LlamaIndex's default pipeline on the same model."""
    search = services.search()
    store, embedder = search.store, services.embedder
    with_gold = [item for item in items if item.gold]

    def dense(question: str) -> list[Fragment]:
        return [f for f, _ in store.dense(embedder.embed_query(question), 60)]

    def bm25(question: str) -> list[Fragment]:
        return [f for f, _ in store.full_text(question, 60)]

    def fused(question: str) -> list[Fragment]:
        a, b = dense(question), bm25(question)
        by_id = {f.id: f for f in (*a, *b)}
        scores = reciprocal_rank_fusion([[f.id for f in a], [f.id for f in b]])
        return [by_id[i] for i in sorted(scores, key=lambda i: (-scores[i], i))]

    methods: dict[str, Callable[[str], list[Fragment]]] = {"dense": dense, "bm25": bm25, "rrf": fused}
    from core.evaluation.llama_default import default_retriever

    methods["llamaindex_default"] = default_retriever(
        search.snapshot.fragments, embedder, folder=services.settings.home / "baseline"
    )
    return {
        name: {"retrieval": retrieval_measures([(item, method(item.question)[:DEPTH]) for item in with_gold])}
        for name, method in methods.items()
    }


def table(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """One line a question: what was found and decided."""
    return [
        {
            "id": row.item.id,
            "category": str(row.item.category),
            "kind": row.item.kind,
            "decided": str(row.category),
            "grounded": row.grounded,
            "answerable": round(row.answerable, 3),
            "probability": round(row.probability, 3),
            "rank": row.rank,
            "facts": row.facts,
            "first": row.fragments[0].doc_id if row.fragments else "",
            "page": row.fragments[0].page if row.fragments else None,
            "question": row.item.question,
        }
        for row in rows
    ]


def reliability(pairs: Sequence[tuple[float, bool]]) -> list[dict[str, float]]:
    """Reliability curve: per bin of equal mass, mean probability, share that answers, and how many."""
    return [
        {
            "mean_probability": round(float(np.mean([p for p, _ in group])), 4),
            "share_right": round(float(np.mean([y for _, y in group])), 4),
            "n": len(group),
        }
        for group in _bins(pairs)
    ]


def _bins(pairs: Sequence[tuple[float, bool]]) -> list[list[tuple[float, bool]]]:
    ordered = sorted(pairs, key=lambda pair: pair[0])
    return [[ordered[i] for i in part] for part in np.array_split(range(len(ordered)), ECE_BINS) if len(part)]


def _ece(pairs: Sequence[tuple[float, bool]]) -> float | None:
    """Expected calibration error over bins of equal mass (Nguyen and O'Connor, 2015)."""
    if not pairs:
        return None
    return float(
        sum(len(g) * abs(np.mean([p for p, _ in g]) - np.mean([y for _, y in g])) for g in _bins(pairs)) / len(pairs)
    )


def _brier(pairs: Sequence[tuple[float, bool]]) -> float | None:
    """Mean squared error of the probabilities (Brier, 1950)."""
    return float(np.mean([(p - y) ** 2 for p, y in pairs])) if pairs else None


def _ece_if_calibrated(probabilities: Sequence[float]) -> float | None:
    """The calibration error that chance alone gives: its mean over outcomes drawn from the probabilities themselves."""
    if not probabilities:
        return None
    rng = np.random.default_rng(_SEED)
    drawn = [_ece([(p, bool(rng.random() < p)) for p in probabilities]) or 0.0 for _ in range(200)]
    return round(float(np.mean(drawn)), 4)


def _auroc(pairs: Sequence[tuple[bool, float]]) -> float | None:
    labels = [y for y, _ in pairs]
    return float(roc_auc_score(labels, [s for _, s in pairs])) if len(set(labels)) == 2 else None


def _mean(values: Sequence[float]) -> float | None:
    return round(float(np.mean(values)), 4) if len(values) else None


def _put(
    into: dict[str, Any],
    name: str,
    values: Sequence[Any],
    measure: Callable[[Sequence[Any]], float | None] = _mean,
) -> None:
    value = measure(values)
    into[name] = None if value is None else round(value, 4)
    into[f"{name}_ci"] = _interval(values, measure)


def _interval(values: Sequence[Any], measure: Callable[[Sequence[Any]], float | None] = _mean) -> list[float] | None:
    """95 % percentile bootstrap interval (Efron and Tibshirani, 1993), seeded."""
    if len(values) < 2:
        return None
    rng = np.random.default_rng(_SEED)
    drawn = []
    for _ in range(BOOTSTRAP if measure is _mean else 300):
        sample = [values[i] for i in rng.integers(0, len(values), len(values))]
        value = measure(sample)
        if value is not None:
            drawn.append(value)
    return [round(float(np.percentile(drawn, q)), 4) for q in (2.5, 97.5)] if drawn else None
