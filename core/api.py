"""HTTP face of the same engine: ``POST /api/ask``, ``GET /api/health``, ``GET /api/openapi.json``. Public corpus only."""

import json
from collections.abc import Awaitable, Callable

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from core.answering.render import answer_json
from core.errors import AsesoriaError, IndexNotReadyError, InvalidQuestionError
from core.openapi import describe
from core.startup import Startup

MAX_BODY_BYTES = 64 * 1024
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE")


class BodyTooLongError(AsesoriaError):
    """The request's body is longer than `MAX_BODY_BYTES`."""


def routes(startup: Callable[[], Startup]) -> list[Route]:
    """The API's routes. ``startup`` gives the process's start-up, which is begun at the first request."""

    async def ask(request: Request) -> Response:
        try:
            question = _question(await _body(request))
        except BodyTooLongError as error:
            return _problem(413, str(error))
        except InvalidQuestionError as error:
            return _problem(400, str(error))
        services = _begin(startup()).services
        if services is None:
            return _problem(503, startup().error or startup().message)
        try:
            answer, receipt = await run_in_threadpool(services.answer_and_record, question, "api")
        except InvalidQuestionError as error:
            return _problem(422, str(error))
        except IndexNotReadyError as error:
            return _problem(503, str(error))
        except AsesoriaError as error:
            return _problem(500, str(error))
        level = str(answer.seal.level) if answer.seal else ""
        return JSONResponse(
            {**answer_json(answer), "interaction_id": receipt.id}, headers={"X-Confidence-Level": level}
        )

    async def health(_: Request) -> Response:
        services = _begin(startup()).services
        if services is None:
            return _problem(503, startup().error or startup().message)
        documents = services.manifest().documents
        llm = await run_in_threadpool(services.model.available) if services.model else None
        return JSONResponse(
            {
                "documents": len(documents),
                "fragments": sum(d.fragments for d in documents.values()),
                "indexing": services.indexing.running,
                "model": services.embedder.fingerprint,
                "llm": {"name": llm.name, "ok": llm.ok, "message": llm.message} if llm else "none",
                "records": services.recorder.problem or "ok",
            }
        )

    async def openapi(_: Request) -> Response:
        return JSONResponse(describe(max_question_chars=startup().settings.max_question_chars))

    return [
        *_only("/api/ask", "POST", ask),
        *_only("/api/health", "GET", health),
        *_only("/api/openapi.json", "GET", openapi),
        Route("/api/{rest:path}", _unknown, methods=list(METHODS)),
    ]


def _only(path: str, method: str, serve: Callable[[Request], Awaitable[Response]]) -> list[Route]:
    """A route for one method, and a JSON 405 for the others (the pages answer 200 to what no route takes)."""

    async def refuse(request: Request) -> Response:
        problem = _problem(405, f"{path} no admite {request.method}; use {method}.")
        problem.headers["Allow"] = method
        return problem

    others = [m for m in METHODS if m != method and (m, method) != ("HEAD", "GET")]
    return [Route(path, serve, methods=[method]), Route(path, refuse, methods=others)]


async def _unknown(_: Request) -> Response:
    return _problem(404, "No existe. La API se describe en /api/openapi.json.")


def _begin(startup: Startup) -> Startup:
    startup.start()
    return startup


async def _body(request: Request) -> bytes:
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > MAX_BODY_BYTES:
            raise BodyTooLongError("El cuerpo de la petición es demasiado largo (64 KB como máximo).")
    return body


def _question(body: bytes) -> str:
    try:
        data = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise InvalidQuestionError('El cuerpo debe ser JSON: {"question": "…"}.') from error
    if not isinstance(data, dict) or not isinstance(data.get("question"), str):
        raise InvalidQuestionError('Falta «question», que debe ser un texto: {"question": "…"}.')
    question: str = data["question"]
    try:
        question.encode("utf-8")
    except UnicodeEncodeError as error:
        raise InvalidQuestionError("La pregunta contiene caracteres que no son texto.") from error
    return question


def _problem(status: int, message: str) -> JSONResponse:
    return JSONResponse({"error": message}, status_code=status)
