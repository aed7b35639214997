"""The API does what its description says: generated requests, good and bad, against the routes."""

from types import SimpleNamespace

import schemathesis
from hypothesis import HealthCheck, settings
from starlette.applications import Starlette

from core.answering.engine import AnswerEngine
from core.answering.render import answer_json
from core.answering.sealing import Sealer
from core.api import routes
from core.config import Settings
from core.models import Answer, Category, Mode, Scope, Source
from core.openapi import AnswerBody, describe
from core.records.recorder import Receipt
from core.thresholds import load_thresholds

SOURCE = Source("f", "iva_2025", "Manual", None, ("Cap",), "Texto.", 0.7, "https://x.es", Scope.PUBLIC)


def ask(question: str) -> Answer:
    """The engine's own check of the question; then a sealed answer, or none."""
    limits = SimpleNamespace(_max_chars=Settings().max_question_chars)
    question = AnswerEngine.check(limits, question)  # type: ignore[arg-type]
    found = Answer("«Texto.» [1]", True, Category.DIRECT, Mode.EXTRACTIVE, (SOURCE,), {"search_ms": 1.25})
    if len(question) % 2:
        found = Answer("No he encontrado…", False, Category.NO_ANSWER, Mode.EXTRACTIVE)
    return Sealer(load_thresholds()).with_seal(found, relevances=[0.7], coverage=1.0, supporting=1)


SERVICES = SimpleNamespace(
    answer_and_record=lambda question, channel: (ask(question), Receipt("0" * 32, True)),
    recorder=SimpleNamespace(problem=""),
    model=None,
    manifest=lambda: SimpleNamespace(documents={"a": SimpleNamespace(fragments=3)}),
    indexing=SimpleNamespace(running=False),
    embedder=SimpleNamespace(fingerprint="m-1"),
)
STARTUP = SimpleNamespace(services=SERVICES, error="", message="", settings=Settings(), start=lambda: None)
APP = Starlette(routes=routes(lambda: STARTUP))  # type: ignore[arg-type, return-value]
SCHEMA = schemathesis.openapi.from_asgi("/api/openapi.json", APP)


@SCHEMA.parametrize()
@settings(max_examples=60, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
def test_generated_requests(case: schemathesis.Case) -> None:
    case.call_and_validate()


def test_real_answers_are_as_described() -> None:
    for text in ("¿Qué?", "¿Cómo?"):
        AnswerBody.model_validate({**answer_json(ask(text)), "interaction_id": "x"})
    assert describe(max_question_chars=77)["paths"]["/api/ask"]["post"]["requestBody"]["content"]["application/json"][
        "schema"
    ]["properties"]["question"]["maxLength"] == 77  # fmt: skip
