"""A small trained map over the frozen embedder, so that everyday questions come near the passages that answer them.

Two matrices (dimension × dimension): one for questions, one for passages. Trained by ``scripts/train_retrieval.py`` on
the expected questions: two questions of one fragment, and a question and its fragment, are drawn together against the
others of the batch (InfoNCE; van den Oord, Li and Vinyals, 2018).
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from core.config import PROJECT_ROOT

ADAPTER_PATH = PROJECT_ROOT / "data" / "models" / "adapter.npz"
Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Adapter:
    """Maps unit vectors to unit vectors. ``fingerprint`` is '' for the identity."""

    question: Floats | None
    passage: Floats | None

    def questions(self, vectors: Floats) -> Floats:
        """Adapted question vectors, (n, dimension)."""
        return _apply(vectors, self.question)

    def passages(self, vectors: Floats) -> Floats:
        """Adapted passage vectors, (n, dimension)."""
        return _apply(vectors, self.passage)


IDENTITY = Adapter(None, None)


def _apply(vectors: Floats, matrix: Floats | None) -> Floats:
    if matrix is None or len(vectors) == 0:
        return vectors
    moved = vectors @ matrix.T
    norms = np.linalg.norm(moved, axis=1, keepdims=True)
    return np.asarray(moved / np.maximum(norms, 1e-9), dtype=np.float32)


def load_adapter(fingerprint: str, path: Path = ADAPTER_PATH) -> Adapter:
    """The trained adapter if it was trained on the embedder ``fingerprint``, else the identity."""
    if not path.exists():
        return IDENTITY
    with np.load(path, allow_pickle=False) as data:
        if str(data["fingerprint"]) != fingerprint:
            return IDENTITY
        return Adapter(data["question"].astype(np.float32), data["passage"].astype(np.float32))


def save_adapter(path: Path, *, question: Floats, passage: Floats, fingerprint: str) -> None:
    """Write the matrices as float16 (half the size, no measurable difference)."""
    path.parent.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(
        path,
        question=question.astype(np.float16),
        passage=passage.astype(np.float16),
        fingerprint=np.array(fingerprint),
    )
