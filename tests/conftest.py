"""Shared fixtures: a deterministic embedder, and the official documents in the project's own run-time folder."""

import hashlib
import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest

from core.config import PROJECT_ROOT, Settings
from core.retrieval.terms import stems
from core.services import Services

# Tests leave nothing in the project's own records (the app that the browser tests start inherits this).
os.environ.setdefault("ASESORIA_RECORDS_URL", f"sqlite:///{tempfile.mkdtemp(prefix='asesoria-test-')}/records.db")

SHARED_CASES = PROJECT_ROOT.parent / "shared" / "cases" / "files"


class FakeEmbedder:
    """Hashes stems into a vector: texts that share words are near. Deterministic, instant, no model."""

    fingerprint = "fake-1"
    dimension = 64
    max_tokens = 508

    def __init__(self) -> None:
        self.embedded = 0

    def _vector(self, text: str) -> np.ndarray:
        vector = np.zeros(self.dimension, dtype=np.float32)
        for term in stems(text) or ["?"]:
            digest = hashlib.sha256(term.encode()).digest()
            vector[digest[0] % self.dimension] += 1 if digest[1] % 2 else -1
        return vector / (float(np.linalg.norm(vector)) or 1.0)

    def embed_passages(self, texts: Sequence[str], *, progress: Callable[[int, int], None] | None = None) -> np.ndarray:
        self.embedded += len(texts)
        if progress:
            progress(len(texts), len(texts))
        return np.array([self._vector(t) for t in texts], dtype=np.float32).reshape(-1, self.dimension)

    embed_questions = embed_passages

    def embed_query(self, text: str) -> np.ndarray:
        return self._vector(text)

    def count_tokens(self, text: str) -> int:
        return len(text) // 4 + 1

    def count_tokens_batch(self, texts: Sequence[str]) -> list[int]:
        return [self.count_tokens(t) for t in texts]


def count_words(texts: Sequence[str]) -> list[int]:
    """A token counter for tests that need no model."""
    return [len(t.split()) for t in texts]


@pytest.fixture
def embedder() -> FakeEmbedder:
    return FakeEmbedder()


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Settings with an empty run-time folder of the test's own."""
    return Settings(home=tmp_path / "home", records_url="")


@pytest.fixture(scope="session")
def project_settings() -> Settings:
    """The project's own run-time folder, where downloads are kept between runs."""
    return Settings()


@pytest.fixture(scope="session")
def corpus_dir(project_settings: Settings) -> Path:
    """The folder of the official documents, all of them there and verified."""
    from core.corpus.acquire import acquire
    from core.corpus.register import load_register

    report = acquire(load_register(), project_settings)
    assert not report.errors, report.errors
    return project_settings.corpus_dir


@pytest.fixture(scope="session")
def services(project_settings: Settings) -> Services:
    """The product over the whole corpus, indexed in the project's own run-time folder (once; kept between runs)."""
    from core.services import build_services

    built = build_services(project_settings)
    report = built.indexer.run(built.doc_ids)
    assert not report.errors, report.errors
    return built


@pytest.fixture(scope="session")
def cases() -> Iterator[Path]:
    """Files that people really upload, where the workplace has them; their twins are made in tests/hard_files.py."""
    if not SHARED_CASES.is_dir():
        pytest.skip("the shared example files are not on this machine; tests/hard_files.py makes their twins")
    yield SHARED_CASES
