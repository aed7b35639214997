"""The version of the model in the records: it changes with whatever was trained that decides an answer."""

from pathlib import Path

import pytest

from core import services
from core.answering.scope_model import load_scope_model
from core.answering.sentence_model import load_sentence_model
from core.retrieval.adapter import load_adapter
from core.retrieval.reranker import load_reranker


def test_every_trained_model_of_an_answer_is_in_the_version() -> None:
    loaders = (load_adapter, load_reranker, load_scope_model, load_sentence_model)
    assert {next(v for v in f.__defaults__ or () if isinstance(v, Path)) for f in loaders} == set(services._TRAINED)


def test_the_version_changes_with_any_of_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = tuple(tmp_path / name for name in ("adapter", "reranker", "scope", "sentences"))
    for path in files:
        path.write_bytes(b"first")
    monkeypatch.setattr(services, "_TRAINED", files)
    versions = {services.trained_version()}
    for path in files:
        path.write_bytes(b"second")
        versions.add(services.trained_version())
    assert len(versions) == 5
    for path in files:
        path.unlink()
    assert services.trained_version() == "none"
