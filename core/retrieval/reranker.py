"""From a candidate's features to the probability that the fragment answers the question."""

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from core.config import PROJECT_ROOT
from core.errors import RegisterError
from core.ingestion.fragments import embedding_text
from core.retrieval.features import FEATURES_VERSION, NAMES, CandidateSet
from core.retrieval.snapshot import Snapshot

RERANKER_PATH = PROJECT_ROOT / "data" / "models" / "reranker.npz"


class Reranker(Protocol):
    """Scores candidates."""

    def probabilities(self, question: str, candidates: CandidateSet, snapshot: Snapshot) -> NDArray[np.float64]:
        """Probability of relevance of each candidate, 0..1."""


@dataclass(frozen=True, slots=True)
class TrainedReranker:
    """Gradient-boosted trees over the features, then Platt scaling (Platt, 1999) of their log-odds.

    Trees are arrays (trees × nodes): feature, threshold, left, right and value; a leaf has left = 0.
    """

    feature: NDArray[np.int16]
    threshold: NDArray[np.float32]
    left: NDArray[np.int16]
    right: NDArray[np.int16]
    value: NDArray[np.float32]
    baseline: float
    slope: float
    offset: float
    depth: int

    def log_odds(self, features: NDArray[np.float32]) -> NDArray[np.float64]:
        """Sum of the trees, before calibration."""
        rows = np.arange(len(features))[:, None]
        trees = np.arange(len(self.feature))[None, :]
        node = np.zeros((len(features), len(self.feature)), dtype=np.int64)
        for _ in range(self.depth):
            goes_left = features[rows, self.feature[trees, node]] <= self.threshold[trees, node]
            child = np.where(goes_left, self.left[trees, node], self.right[trees, node])
            node = np.where(self.left[trees, node] > 0, child, node)
        return np.asarray(self.baseline + self.value[trees, node].sum(axis=1, dtype=np.float64), dtype=np.float64)

    def probabilities(self, question: str, candidates: CandidateSet, snapshot: Snapshot) -> NDArray[np.float64]:
        """Calibrated probability of each candidate, 0..1."""
        if not candidates.places:
            return np.zeros(0)
        raw = self.log_odds(candidates.features)
        return np.asarray(1.0 / (1.0 + np.exp(-(self.slope * raw + self.offset))))


@dataclass(frozen=True, slots=True)
class FusionReranker:
    """Without a trained model: the summed reciprocal ranks, squeezed into 0..1. No probability."""

    def probabilities(self, question: str, candidates: CandidateSet, snapshot: Snapshot) -> NDArray[np.float64]:
        """Half the strongest cosine's share, half the ranks'."""
        if not candidates.places:
            return np.zeros(0)
        return np.asarray(
            0.6 * candidates.feature("rank_sum") / 4 + 0.4 * candidates.feature("passage_coverage"), float
        )


class CrossEncoderReranker:
    """Any sentence-transformers cross-encoder, by name or path. Its output goes through a sigmoid as it comes."""

    def __init__(self, name_or_path: str, *, depth: int = 30) -> None:
        from sentence_transformers import CrossEncoder

        self._model = CrossEncoder(name_or_path, device="cpu", local_files_only=Path(name_or_path).is_dir())
        self._depth = depth

    def probabilities(self, question: str, candidates: CandidateSet, snapshot: Snapshot) -> NDArray[np.float64]:
        """Probability of the best ``depth`` candidates by fused rank; 0 for the rest."""
        found = np.zeros(len(candidates.places))
        if not candidates.places:
            return found
        best = np.argsort(-candidates.feature("rank_sum"))[: self._depth]
        pairs = [(question, embedding_text(snapshot.fragments[candidates.places[i]])) for i in best]
        scores = np.asarray(self._model.predict(pairs), dtype=float).reshape(len(pairs), -1)[:, -1]
        found[best] = scores if (scores >= 0).all() and (scores <= 1).all() else 1 / (1 + np.exp(-scores))
        return found


def load_reranker(path: Path = RERANKER_PATH) -> TrainedReranker:
    """The trained reranker.

    Raises:
        RegisterError: it was trained on other features.
    """
    with np.load(path, allow_pickle=False) as data:
        if int(data["features_version"]) != FEATURES_VERSION or tuple(data["names"].tolist()) != tuple(NAMES):
            raise RegisterError(
                f"{path.name} se entrenó con otras características. Ejecute «python scripts/train_retrieval.py»."
            )
        return TrainedReranker(
            feature=data["feature"],
            threshold=data["threshold"],
            left=data["left"],
            right=data["right"],
            value=data["value"],
            baseline=float(data["baseline"]),
            slope=float(data["slope"]),
            offset=float(data["offset"]),
            depth=int(data["depth"]),
        )


def save_reranker(path: Path, reranker: TrainedReranker) -> None:
    """Write the trees as plain arrays: nothing is unpickled when they are read."""
    path.parent.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(
        path,
        **{name: getattr(reranker, name) for name in TrainedReranker.__dataclass_fields__},
        features_version=np.array(FEATURES_VERSION),
        names=np.array(NAMES),
    )
