"""The rules of the house, checked on the code itself."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from core.config import PROJECT_ROOT

CORE = sorted((PROJECT_ROOT / "core").rglob("*.py"))


def imports_of(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
    return found


def test_the_walk_sees_the_code() -> None:
    assert len(CORE) > 20
    assert "streamlit" in imports_of(PROJECT_ROOT / "streamlit_app.py")


def test_core_imports_no_streamlit() -> None:
    assert [p.name for p in CORE if any(m.split(".")[0] == "streamlit" for m in imports_of(p))] == []


@pytest.mark.parametrize(
    ("library", "homes"),
    [
        ("lancedb", {"store.py"}),
        ("pymupdf", {"pdf.py"}),
        ("pdfplumber", {"pdf_tables.py"}),
        ("llama_index", {"retriever.py", "llama_default.py", "llm_ollama.py", "llm_openai.py"}),
        ("ollama", {"llm_ollama.py"}),
        ("openai", {"llm_openai.py"}),
        ("httpx", {"llm_server.py", "llm_ollama.py", "llm_openai.py"}),
        ("presidio_analyzer", {"presidio_engine.py"}),
        ("presidio_anonymizer", {"presidio_engine.py"}),
        ("spacy", {"spanish_model.py"}),
        ("phonenumbers", {"phone.py"}),
        ("stdnum", {"nie.py", "cif.py", "iban.py", "ccc.py", "card.py", "cadastral.py"}),
        (
            "sqlalchemy",
            {
                "schema.py",
                "database.py",
                "store.py",
                "reviews.py",
                "states.py",
                "baselines.py",
                "verdicts.py",
                "summary.py",
            },
        ),
    ],
)
def test_a_library_stays_behind_its_module(library: str, homes: set[str]) -> None:
    assert {p.name for p in CORE if any(m.split(".")[0] == library for m in imports_of(p))} <= homes


def test_arrows_point_one_way() -> None:
    """Ingestion, corpus, retrieval and private documents know nothing of answering, pages or API."""
    upper = ("core.answering", "core.api", "core.services", "core.startup", "pages")
    for folder in ("ingestion", "corpus", "retrieval", "privacy", "documents"):
        for path in (PROJECT_ROOT / "core" / folder).glob("*.py"):
            assert not {m for m in imports_of(path) if m.startswith(upper)}, path


def test_records_and_seal_know_nothing_above_them() -> None:
    above = ("core.answering", "core.api", "core.services", "core.startup", "pages")
    for folder, more in (("records", ("core.seal", "core.retrieval")), ("seal", ("core.retrieval",))):
        for path in (PROJECT_ROOT / "core" / folder).glob("*.py"):
            assert not {m for m in imports_of(path) if m.startswith(above + more)}, path


def test_the_seal_s_state_is_changed_by_one_function_only() -> None:
    users = {p.relative_to(PROJECT_ROOT).as_posix() for p in CORE if "append_state" in p.read_text("utf-8")}
    assert users == {"core/records/states.py", "core/seal/state.py"}
    writers = {p.name for p in CORE if "seal_state.insert" in p.read_text("utf-8")}
    assert writers == {"states.py"}


def test_the_api_knows_nothing_of_private_documents() -> None:
    assert not {m for m in imports_of(PROJECT_ROOT / "core" / "api.py") if m.startswith("core.documents")}


def test_only_the_calibration_saves_a_baseline() -> None:
    users = {p.relative_to(PROJECT_ROOT).as_posix() for p in CORE if "append_baseline" in p.read_text("utf-8")}
    assert users == {"core/records/baselines.py", "core/calibration/baselines.py"}


def test_importing_the_engine_loads_no_heavy_library() -> None:
    code = (
        "import sys, core.services, core.api, core.__main__;"
        "print([m for m in ('torch','sentence_transformers','llama_index.core','ollama','openai','lancedb','pymupdf','spacy','presidio_analyzer') if m in sys.modules])"
    )
    result = subprocess.run([sys.executable, "-c", code], cwd=PROJECT_ROOT, capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"


def test_no_filter_is_built_from_a_string() -> None:
    """A quote in a value would inject: filters are expressions."""
    for path in CORE:
        text = path.read_text("utf-8")
        assert ".where(f" not in text and ".delete(f" not in text, path


@pytest.mark.parametrize("command", [["ruff", "check", "."], ["ruff", "format", "--check", "."], ["mypy"]])
def test_linters_are_content(command: list[str]) -> None:
    result = subprocess.run([sys.executable, "-m", *command], cwd=PROJECT_ROOT, capture_output=True, text=True)
    assert result.returncode == 0, result.stdout[-3000:] + result.stderr[-2000:]
