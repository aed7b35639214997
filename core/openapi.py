"""The OpenAPI description of the HTTP API, served at ``/api/openapi.json``.

The bodies are pydantic models, so that a test can hold real answers against what is described.
"""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic.json_schema import models_json_schema

VERSION = "1.0"
# A letter or a figure of any alphabet: the same characters as str.isalnum.
QUESTION_PATTERN = r"[^\W_]"


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid")


class SourceBody(_Body):
    """What ``[n]`` in the text points at."""

    doc_id: str
    title: str
    page: int | None
    section_path: list[str]
    passage: str
    relevance: float = Field(ge=0, le=1)
    source_url: str
    source_scope: Literal["public"]
    fiscal_year: int | None
    document_date: str


class SignalsBody(_Body):
    """The five signals of the seal, and the count of citations that support a claim by themselves."""

    rerank: float | None
    coverage: float | None
    self_check: Literal["not_run", "supported", "unsupported", "error"]
    refusal: bool
    fallback: str
    supporting: int


class SealBody(_Body):
    """How far the answer can be trusted: an ordinal class, not a probability."""

    level: Literal["high", "medium", "low"]
    reasons: list[str]
    signals: SignalsBody
    signal_versions: dict[str, str]
    thresholds_version: str
    mode: Literal["normal", "deterministic"]


class AnswerBody(_Body):
    """An answer; ``grounded`` is false exactly when ``sources`` is empty. ``confidence_level`` repeats the seal's."""

    text: str
    grounded: bool
    category: Literal["direct", "no_answer", "personal_case", "out_of_scope"]
    mode: Literal["extractive", "synthesis", "fallback"]
    fallback: str
    model: str
    prompt_version: str
    understood: str
    sources: list[SourceBody]
    confidence_level: Literal["high", "medium", "low"]
    seal: SealBody
    timings: dict[str, float]
    interaction_id: str


class LlmBody(_Body):
    """The language model, and whether its server answers."""

    name: str
    ok: bool
    message: str


class HealthBody(_Body):
    """What is indexed, and with what."""

    documents: int
    fragments: int
    indexing: bool
    model: str
    llm: LlmBody | Literal["none"]
    records: str


class ErrorBody(_Body):
    """Why the request was not served, in Spanish."""

    error: str


def describe(*, max_question_chars: int) -> dict[str, Any]:
    """The OpenAPI 3.1 document."""
    _, definitions = models_json_schema(
        [(model, "serialization") for model in (AnswerBody, HealthBody, ErrorBody)],
        ref_template="#/components/schemas/{model}",
    )
    question = {
        "type": "object",
        "required": ["question"],
        "properties": {
            "question": {
                "type": "string",
                "minLength": 1,
                "maxLength": max_question_chars,
                "pattern": QUESTION_PATTERN,
                "description": "La pregunta, en español.",
            }
        },
    }
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "AsesorIA",
            "version": VERSION,
            "description": "Responde preguntas de fiscalidad de autónomos solo con documentos oficiales. "
            "No da acceso a los documentos privados de nadie y no sustituye a un asesor fiscal.",
            "license": {"name": "AGPL-3.0-or-later", "identifier": "AGPL-3.0-or-later"},
        },
        "paths": {
            "/api/ask": {
                "post": {
                    "operationId": "ask",
                    "summary": "Responder una pregunta con los documentos oficiales",
                    "requestBody": {"required": True, "content": {"application/json": {"schema": question}}},
                    "responses": {
                        "200": _json("La respuesta; no encontrarla no es un error", "AnswerBody"),
                        "400": _json("El cuerpo no es JSON con una pregunta", "ErrorBody"),
                        "413": _json("El cuerpo es demasiado largo", "ErrorBody"),
                        "422": _json("La pregunta está vacía o es demasiado larga", "ErrorBody"),
                        "500": _json("No se pudo responder", "ErrorBody"),
                        "503": _json("Los documentos se están preparando", "ErrorBody"),
                    },
                }
            },
            "/api/health": {
                "get": {
                    "operationId": "health",
                    "summary": "Qué hay indexado y con qué modelos",
                    "responses": {
                        "200": _json("En marcha", "HealthBody"),
                        "503": _json("Arrancando, o no pudo arrancar", "ErrorBody"),
                    },
                }
            },
        },
        "components": {"schemas": definitions["$defs"]},
    }


def _json(description: str, model: str) -> dict[str, Any]:
    schema = {"$ref": f"#/components/schemas/{model}"}
    found: dict[str, Any] = {"description": description, "content": {"application/json": {"schema": schema}}}
    if model == "AnswerBody":
        level = {"type": "string", "enum": ["high", "medium", "low"]}
        found["headers"] = {"X-Confidence-Level": {"schema": level, "description": "El sello de confianza"}}
    return found
