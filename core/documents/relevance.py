"""The probability that a fragment of a private document answers: a logistic model over few plain features.

Private fragments have no expected questions, so the reranker of the public ones, which leans on those, cannot judge
them. This model is trained by ``scripts/train_private.py`` on public fragments treated as if they were private.
"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from core.config import PROJECT_ROOT
from core.errors import RegisterError
from core.models import Fragment
from core.retrieval.terms import TermStatistics, stems

MODEL_PATH = PROJECT_ROOT / "data" / "models" / "private.npz"
# Raise when the features change: a model trained on others is refused.
RELEVANCE_VERSION = 1
NAMES = (
    "adapted_cosine raw_cosine adapted_gap raw_gap reciprocal_rank coverage coverage_gap bm25 bm25_share heading_coverage "
    "union_coverage has_figure size length is_table"
).split()
# BM25 (Robertson and Zaragoza, 2009) with its usual constants; the mean length is that of the session's fragments.
_K1, _B = 1.2, 0.75
# Stems of which one begins the other are forms of one word from this length on («venc», «vencimient»).
_ROOT_CHARS = 4
_RRF_K = 3

Floats = NDArray[np.float32]


@dataclass(frozen=True)
class WordTable:
    """The words of the session's fragments, counted once. Kept with the session, in no cache shared with others."""

    fragments: Sequence[Fragment]

    @cached_property
    def bodies(self) -> list[Counter[str]]:
        """Stems of each fragment's text with their counts."""
        return [Counter(stems(fragment.text)) for fragment in self.fragments]

    @cached_property
    def headings(self) -> list[set[str]]:
        """Stems of each fragment's title and headings."""
        return [set(stems(" ".join((f.title, *f.section_path)))) for f in self.fragments]

    @cached_property
    def mean_length(self) -> float:
        """Mean number of words of a fragment."""
        return sum(sum(body.values()) for body in self.bodies) / max(1, len(self.bodies))

    @cached_property
    def forms(self) -> dict[str, list[str]]:
        """All stems by their first letters, to find other forms of a word."""
        found: dict[str, list[str]] = {}
        for term in {term for body in self.bodies for term in body}.union(*self.headings):
            if len(term) >= _ROOT_CHARS:
                found.setdefault(term[:_ROOT_CHARS], []).append(term)
        return found

    def same(self, term: str) -> list[str]:
        """The stem and the other forms of it that occur."""
        if len(term) < _ROOT_CHARS or term.isdigit():
            return [term]
        near = self.forms.get(term[:_ROOT_CHARS], [])
        return [
            term,
            *(other for other in near if other != term and (other.startswith(term) or term.startswith(other))),
        ]


@dataclass(frozen=True, slots=True)
class Asked:
    """A question as the private search sees it: text, vector as the model gives it, adapted vector."""

    text: str
    raw: Floats
    vector: Floats


def features(asked: Asked, words: WordTable, *, raw: Floats, adapted: Floats, terms: TermStatistics) -> Floats:
    """Features (fragments × `NAMES`) of every fragment for a question; ``raw`` and ``adapted`` are their vectors."""
    count = len(words.fragments)
    if not count:
        return np.zeros((0, len(NAMES)), np.float32)
    wanted = {term: terms.weight(term) for term in dict.fromkeys(stems(asked.text))}
    total = sum(wanted.values()) or 1.0
    near = {term: words.same(term) for term in wanted}
    raw_cosine, adapted_cosine = raw @ asked.raw, adapted @ asked.vector
    rank = np.empty(count)
    rank[np.argsort(-adapted_cosine, kind="stable")] = np.arange(1, count + 1)
    covered, bm25, headed = np.zeros(count), np.zeros(count), np.zeros(count)
    union: set[str] = set()
    for i, (body, heading) in enumerate(zip(words.bodies, words.headings, strict=True)):
        norm = _K1 * (1 - _B + _B * sum(body.values()) / max(words.mean_length, 1.0))
        for term, weight in wanted.items():
            times = sum(body[form] for form in near[term])
            if times:
                covered[i] += weight
                bm25[i] += weight * times * (_K1 + 1) / (times + norm)
                union.add(term)
            if any(form in heading for form in near[term]):
                headed[i] += weight
    covered, bm25, headed = covered / total, bm25 / total, headed / total
    figures = np.array([any(ch.isdigit() for ch in f.text) for f in words.fragments], dtype=float)
    columns = (
        adapted_cosine,
        raw_cosine,
        adapted_cosine - adapted_cosine.max(),
        raw_cosine - raw_cosine.max(),
        _RRF_K / (_RRF_K + rank),
        covered,
        covered - covered.max(),
        bm25,
        bm25 / (bm25.max() or 1.0),
        headed,
        np.full(count, sum(wanted[t] for t in union) / total),
        figures,
        np.full(count, math.log(count)),
        np.full(count, min(len(wanted), 12) / 12),
        np.array([float(f.kind == "table") for f in words.fragments]),
    )
    return np.stack(columns, axis=1).astype(np.float32)


@dataclass(frozen=True, slots=True)
class RelevanceModel:
    """Logistic regression on standardised features. ``base_rate``: share of its training questions that the
    documents at hand answer; `log_odds` can be moved to another share."""

    weights: NDArray[np.float64]
    means: NDArray[np.float64]
    scales: NDArray[np.float64]
    base_rate: float

    def log_odds(self, rows: Floats) -> NDArray[np.float64]:
        """Log-odds that each fragment answers, at the training's base rate."""
        scaled = (rows.astype(np.float64) - self.means) / self.scales
        return np.asarray(scaled @ self.weights[:-1] + self.weights[-1])

    def probabilities(self, rows: Floats, *, prior: float) -> NDArray[np.float64]:
        """Probability (0..1) that each fragment answers, where ``prior`` is the probability that the documents
        answer before they are looked at (Saerens, Latinne and Decaestecker, 2002: log-odds move by the difference)."""
        shift = _logit(prior) - _logit(self.base_rate)
        return np.asarray(1.0 / (1.0 + np.exp(-(self.log_odds(rows) + shift))))


def at_prior(probability: float, *, before: float, after: float) -> float:
    """A probability found under the prior ``before``, under the prior ``after``."""
    odds = _logit(min(max(probability, 1e-9), 1 - 1e-9)) + _logit(after) - _logit(before)
    return 1.0 / (1.0 + math.exp(-odds))


def _logit(p: float) -> float:
    return math.log(p / (1 - p))


def load_relevance(path: Path = MODEL_PATH) -> RelevanceModel:
    """The trained model.

    Raises:
        RegisterError: it is missing, or was trained on other features.
    """
    if not path.exists():
        raise RegisterError(
            f"Falta {path.name}. Restáurelo del repositorio o ejecute «python scripts/train_private.py»."
        )
    with np.load(path, allow_pickle=False) as data:
        if int(data["version"]) != RELEVANCE_VERSION or tuple(data["names"].tolist()) != tuple(NAMES):
            raise RegisterError(
                f"{path.name} se entrenó con otras características. Ejecute «python scripts/train_private.py»."
            )
        return RelevanceModel(data["weights"], data["means"], data["scales"], float(data["base_rate"]))


def save_relevance(path: Path, model: RelevanceModel) -> None:
    """Write the weights as plain arrays."""
    path.parent.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(
        path,
        weights=model.weights,
        means=model.means,
        scales=model.scales,
        base_rate=np.array(model.base_rate),
        version=np.array(RELEVANCE_VERSION),
        names=np.array(NAMES),
    )
