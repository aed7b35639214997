"""The HTTP face, with a fake engine."""

import json
from types import SimpleNamespace

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from core.answering.llm import LlmState
from core.answering.sealing import Sealer
from core.api import MAX_BODY_BYTES, routes
from core.config import Settings
from core.errors import IndexNotReadyError, InvalidQuestionError
from core.models import Answer, Category, Mode, Scope, Source
from core.records.recorder import Receipt
from core.thresholds import load_thresholds

SOURCE = Source("f", "iva_2025", "Manual", 328, ("Cap",), "Texto.", 0.7, "https://x.es", Scope.PUBLIC)


class FakeStartup:
    def __init__(self, services: object | None, error: str = "") -> None:
        self.services, self.error, self.message = services, error, "Preparando…"
        self.started = False
        self.settings = Settings()

    def start(self) -> None:
        self.started = True


def answer(question: str) -> Answer:
    if "vacío" in question:
        raise InvalidQuestionError("no")
    if "índice" in question:
        raise IndexNotReadyError("espere")
    if "nada" in question:
        return Answer("No he encontrado…", False, Category.NO_ANSWER, Mode.EXTRACTIVE)
    return Answer("«Texto.» [1]", True, Category.DIRECT, Mode.EXTRACTIVE, (SOURCE,))


def sealed(found: Answer) -> Answer:
    return Sealer(load_thresholds()).with_seal(found, relevances=[0.7, 0.3], coverage=1.0, supporting=1)


def client(startup: FakeStartup | None = None) -> TestClient:
    services = SimpleNamespace(
        answer_and_record=lambda question, channel: (sealed(answer(question)), Receipt(f"{channel}-1", True)),
        recorder=SimpleNamespace(problem=""),
        manifest=lambda: SimpleNamespace(documents={"a": SimpleNamespace(fragments=3)}),
        indexing=SimpleNamespace(running=False),
        embedder=SimpleNamespace(fingerprint="m-1"),
        model=None,
    )
    found = startup or FakeStartup(services)
    return TestClient(Starlette(routes=routes(lambda: found)))  # type: ignore[arg-type, return-value]


def test_ask_and_not_finding_are_both_200() -> None:
    found = client().post("/api/ask", json={"question": "¿Qué libros?"})
    assert found.status_code == 200 and found.json()["grounded"] and found.json()["sources"][0]["page"] == 328
    assert found.headers["X-Confidence-Level"] == found.json()["confidence_level"] == "medium"
    seal = found.json()["seal"]
    assert set(seal) >= {"level", "reasons", "signals", "thresholds_version", "mode"} and seal["level"] == "medium"
    assert seal["mode"] == "deterministic" and seal["reasons"] and found.json()["interaction_id"] == "api-1"
    assert seal["signals"] == {
        "rerank": 0.7, "coverage": 1.0, "self_check": "not_run", "refusal": False, "fallback": "", "supporting": 1,
    }  # fmt: skip
    assert set(seal["signal_versions"]) == {"rerank", "coverage", "self_check", "refusal", "fallback"}
    missing = client().post("/api/ask", json={"question": "nada"})
    assert missing.headers["X-Confidence-Level"] == missing.json()["seal"]["level"] == "low"
    assert missing.status_code == 200 and missing.json()["grounded"] is False and missing.json()["sources"] == []


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"", 400),
        (b"{", 400),
        (b"[]", 400),
        (b'{"question": 3}', 400),
        (b'{"other": "x"}', 400),
        (b"\xff\xfe", 400),
        (b"[" * 100_000, 413),
        (b"[" * 60_000, 400),
        (json.dumps({"question": "\ud800"}).encode(), 400),
        (json.dumps({"question": "x" * MAX_BODY_BYTES}).encode(), 413),
        (json.dumps({"question": "vacío"}).encode(), 422),
        (json.dumps({"question": "índice"}).encode(), 503),
    ],
)
def test_bad_requests_get_a_json_error(body: bytes, status: int) -> None:
    response = client().post("/api/ask", content=body)
    assert response.status_code == status and response.json()["error"]


@pytest.mark.parametrize(
    ("method", "path", "status", "allow"),
    [
        ("GET", "/api/ask", 405, "POST"),
        ("DELETE", "/api/health", 405, "GET"),
        ("HEAD", "/api/health", 200, None),
        ("GET", "/api/", 404, None),
        ("POST", "/api/documents", 404, None),
    ],
)
def test_other_methods_and_paths_are_refused(method: str, path: str, status: int, allow: str | None) -> None:
    response = client().request(method, path)
    assert (response.status_code, response.headers.get("allow")) == (status, allow)
    assert method == "HEAD" or response.json()["error"]


def test_health_tells_the_state_of_the_model() -> None:
    state = LlmState("ollama:x", False, "El servidor no responde.")
    services = SimpleNamespace(
        manifest=lambda: SimpleNamespace(documents={}),
        indexing=SimpleNamespace(running=False),
        embedder=SimpleNamespace(fingerprint="m-1"),
        model=SimpleNamespace(available=lambda: state),
        recorder=SimpleNamespace(problem=""),
    )
    found = client(FakeStartup(services)).get("/api/health").json()
    assert found["llm"] == {"name": "ollama:x", "ok": False, "message": "El servidor no responde."}


def test_health_and_starting_up() -> None:
    assert client().get("/api/health").json() == {
        "documents": 1, "fragments": 3, "indexing": False, "model": "m-1", "llm": "none", "records": "ok",
    }  # fmt: skip
    starting = FakeStartup(None)
    response = client(starting).get("/api/health")
    assert response.status_code == 503 and starting.started
    assert client(FakeStartup(None, "roto")).post("/api/ask", json={"question": "x"}).json() == {"error": "roto"}
