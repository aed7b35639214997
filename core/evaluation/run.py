"""Runs the benchmark on the product and on baselines, and computes the measures."""

import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.metrics import roc_auc_score

from core.calibration.statistics import ReliabilityBin, Unmeasured, reliability
from core.evaluation.benchmark import Item, all_parts, answers, facts_stated, on_page
from core.models import Answer, Category, Fragment, Source
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
    facts: tuple[bool, ...]
    timings: dict[str, float]
    answer: Answer | None = None
    verbatim: tuple[bool, ...] = ()
    candidate: bool = True

    @property
    def rank(self) -> int:
        """Rank of the first fragment that answers, 0 for none."""
        return next((r for r, f in enumerate(self.fragments, start=1) if answers(self.item, f)), 0)


def run_product(services: "Services", items: Sequence[Item]) -> list[Row]:
    """Ask the product every question."""
    rows = []
    snapshot = services.search().snapshot
    by_id = {fragment.id: fragment for fragment in snapshot.fragments}
    for item in items:
        clock = time.perf_counter()
        seen = services.engine.examine(item.question, k=DEPTH)
        total = 1000 * (time.perf_counter() - clock)
        found = seen.result.found
        rows.append(
            Row(
                item=item,
                fragments=tuple(hit.fragment for hit in found),
                probability=found[0].relevance if found else 0.0,
                answerable=seen.assessment.answerable,
                category=seen.answer.category,
                grounded=seen.answer.grounded,
                facts=tuple(facts_stated(item, seen.answer.text)),
                timings={**seen.answer.timings, "total_ms": total},
                answer=seen.answer,
                verbatim=tuple(stands_on_page(source, by_id) for source in seen.answer.sources),
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
    _put(result, "facts", [float(np.mean(row.facts)) for row in stated])
    _put(result, "facts_all", [all(row.facts) for row in stated])
    result["answers"] = answer_measures(rows)
    pairs = [(row.probability, bool(row.fragments) and answers(row.item, row.fragments[0])) for row in rows]
    reranker: dict[str, Any] = {}
    _put(reranker, "ece", pairs, _ece)
    _put(reranker, "brier", pairs, _brier)
    reranker["ece_if_calibrated"] = _ece_if_calibrated([p for p, _ in pairs])
    reranker["reliability"] = reliability_rows(pairs)
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


def answer_measures(rows: Sequence[Row]) -> dict[str, Any]:
    """What is promised of the answers themselves.

    ``cited``: answers that say to be grounded and whose quotes all carry a mark of a source. ``quotes_verbatim``:
    cited passages that stand as they are on the page that they cite. ``multi_doc_cites_two``: questions over several
    documents whose answer cites at least two gold documents. ``false_premise_corrected``: those told plainly, with a
    mark, that the source says otherwise. ``personal_cites``: cases of one's own with the rule cited, and
    ``personal_conclusions``: those with a figure or a verdict in our own words, outside the quotes.
    """
    result: dict[str, Any] = {}
    answered = [row for row in rows if row.grounded and row.answer]
    several = [row for row in rows if row.item.kind == "multi_doc" and row.item.gold]
    false = [row for row in rows if row.item.kind == "false_premise"]
    personal = [row for row in rows if row.item.category is Category.PERSONAL_CASE]
    _put(result, "cited", [fully_cited(row.answer) for row in answered if row.answer])
    _put(result, "quotes_verbatim", [ok for row in answered for ok in row.verbatim])
    _put(result, "multi_doc_cites_two", [_gold_documents(row) >= 2 for row in several])
    _put(result, "false_premise_corrected", [corrects(row.answer) for row in false if row.answer])
    _put(result, "personal_cites", [row.grounded for row in personal])
    _put(result, "personal_conclusions", [concludes(row.answer) for row in personal if row.answer])
    return result


_QUOTE = re.compile(r"«[^»]*(?:«[^»]*»[^»]*)*»")
_CORRECTS = re.compile(r"^\W*(?:no:|cuidado:)[^\n]*\[\d+\]", re.IGNORECASE | re.MULTILINE)
_VERDICT = re.compile(
    r"\d[\d.,]*\s*(?:€|euros?|%|por ciento)|\b(?:le (?:conviene|compensa|sale|corresponde|toca)"
    r"|debe (?:pagar|ingresar|presentar)|(?:puede|podrá) (?:deducir|desgravar|restar)\w*"
    r"|tendrá que|usted (?:debe|puede|tiene))\b",
    re.IGNORECASE,
)


def fully_cited(answer: Answer) -> bool:
    """Whether every quote carries a mark, and the marks are exactly those of the sources."""
    marks = {int(n) for n in re.findall(r"» \[(\d+)\]", answer.text)}  # a passage may hold a «[3]» of its own
    lines = [line for line in answer.text.split("\n") if line.lstrip("- ").startswith("«")]
    return marks == set(range(1, len(answer.sources) + 1)) and all(re.search(r"» \[\d+\]$", line) for line in lines)


def corrects(answer: Answer) -> bool:
    """Whether an answer says plainly, in its own words and with a mark, that the source says otherwise."""
    return answer.grounded and bool(_CORRECTS.search(answer.text))


def concludes(answer: Answer) -> bool:
    """Whether our own words, quotes and introductions aside, hold an amount, a percentage or a verdict on the case."""
    own = [
        line for line in _QUOTE.sub("", answer.text).split("\n") if not line.startswith("**") or not line.endswith(":")
    ]
    return bool(_VERDICT.search("\n".join(own)))


def stands_on_page(source: Source, fragments: Mapping[str, Fragment]) -> bool:
    """Whether each line of a source's passage stands, letter by letter, on the page of its fragment that it cites."""
    fragment = fragments[source.fragment_id]
    bounds = [0, *fragment.page_breaks, len(fragment.text)]
    pages = [fragment.text[a:b] for a, b in pairwise(bounds)]
    first = fragment.page or 0
    page = pages[(source.page or first) - first]
    return all(line in page for line in source.passage.split("\n"))


def _gold_documents(row: Row) -> int:
    cited = {source.doc_id for source in row.answer.sources} if row.answer else set()
    return len(cited & {gold.doc_id for gold in row.item.gold})


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
            "facts": all(row.facts),
            "first": row.fragments[0].doc_id if row.fragments else "",
            "page": row.fragments[0].page if row.fragments else None,
            "question": row.item.question,
        }
        for row in rows
    ]


def reliability_rows(pairs: Sequence[tuple[float, bool]]) -> list[dict[str, float]]:
    """Reliability curve: per bin of equal mass, mean probability, share that answers, and how many."""
    return [
        {"mean_probability": round(b.predicted, 4), "share_right": round(b.observed, 4), "n": b.n} for b in _bins(pairs)
    ]


def _bins(pairs: Sequence[tuple[float, bool]]) -> tuple[ReliabilityBin, ...]:
    found = reliability([p for p, _ in pairs], [float(y) for _, y in pairs], bins=ECE_BINS)
    return () if isinstance(found, Unmeasured) else found


def _ece(pairs: Sequence[tuple[float, bool]]) -> float | None:
    """Expected calibration error over the bins of `reliability`."""
    if not pairs:
        return None
    return sum(b.n * abs(b.predicted - b.observed) for b in _bins(pairs)) / len(pairs)


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
