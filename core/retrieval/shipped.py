"""Vectors that come with the project, so that the first index takes seconds: used where text and model match."""

import hashlib
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from core.config import PROJECT_ROOT

SHIPPED_DIR = PROJECT_ROOT / "data" / "vectors"
# Of each document's vectors so many are recomputed and compared (with three, that took a fifth of the whole time of a
# first index); the cosine must reach this (int8 rounding costs 1e-4).
_SAMPLE = 1
_MIN_COSINE = 0.995

Floats = NDArray[np.float32]
Counter = Callable[[int, int], None]
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ShippedVectors:
    """``keys`` are sorted 64-bit hashes of the texts; ``codes`` int8 rows with a ``scales`` factor each."""

    keys: NDArray[np.uint64]
    codes: NDArray[np.int8]
    scales: NDArray[np.float32]

    def find(self, texts: Sequence[str]) -> tuple[Floats, NDArray[np.bool_]]:
        """Unit vectors of ``texts`` (n × dimension; zeros where unknown), and which are known."""
        wanted = text_keys(texts)
        places = np.searchsorted(self.keys, wanted)
        places = np.minimum(places, max(len(self.keys) - 1, 0))
        known = self.keys[places] == wanted if len(self.keys) else np.zeros(len(texts), dtype=bool)
        vectors = self.codes[places].astype(np.float32) * self.scales[places][:, None]
        vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
        vectors[~known] = 0.0
        return vectors, known


def text_keys(texts: Sequence[str]) -> NDArray[np.uint64]:
    """The first 64 bits of each text's SHA-256."""
    digests = b"".join(hashlib.sha256(t.encode("utf-8")).digest()[:8] for t in texts)
    return np.frombuffer(digests, dtype="<u8").astype(np.uint64)


@lru_cache(maxsize=2)
def shipped_once(kind: str, fingerprint: str) -> ShippedVectors | None:
    """`load_shipped`, read once in a process: for an index of many documents."""
    return load_shipped(kind, fingerprint)


def load_shipped(kind: str, fingerprint: str, folder: Path = SHIPPED_DIR) -> ShippedVectors | None:
    """The vectors of ``kind`` ("passages" or "questions") if they were made with the model ``fingerprint``."""
    path = folder / f"{kind}.npz"
    if not path.exists():
        return None
    with np.load(path, allow_pickle=False) as data:
        if str(data["fingerprint"]) != fingerprint:
            return None
        return ShippedVectors(data["keys"], data["codes"], data["scales"])


def save_shipped(
    kind: str, texts: Sequence[str], vectors: Floats, fingerprint: str, folder: Path = SHIPPED_DIR
) -> None:
    """Write int8 vectors of ``texts``, each text once."""
    keys, first = np.unique(text_keys(texts), return_index=True)
    chosen = vectors[first]
    scales = (np.abs(chosen).max(axis=1) / 127.0).astype(np.float32)
    codes = np.rint(chosen / np.maximum(scales, 1e-12)[:, None]).astype(np.int8)
    folder.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(
        folder / f"{kind}.npz", keys=keys, codes=codes, scales=scales, fingerprint=np.array(fingerprint)
    )


def embed_known(
    texts: Sequence[str],
    shipped: ShippedVectors | None,
    embed: Callable[[Sequence[str]], Floats],
    *,
    progress: Counter | None = None,
) -> Floats:
    """Vectors of ``texts``: shipped ones where they are, the rest by ``embed``.

    A sample of the shipped ones is recomputed; if any of it differs, none of the shipped ones is used.
    """
    if shipped is None or not texts:
        return embed(texts)
    vectors, known = shipped.find(texts)
    have = np.flatnonzero(known)
    sample = np.random.default_rng(len(texts)).permutation(have)[:_SAMPLE]
    if len(sample):
        again = embed([texts[int(i)] for i in sample])
        worst = float((again * vectors[sample]).sum(axis=1).min())
        if worst < _MIN_COSINE:
            log.warning("shipped vectors do not match the model (cosine %.3f): computing all", worst)
            known[:] = False
    missing = np.flatnonzero(~known)
    if len(missing):
        vectors[missing] = embed([texts[int(i)] for i in missing])
    if progress:
        progress(len(texts), len(texts))
    return vectors
