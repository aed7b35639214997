"""What the adapters share: a time limit that holds whatever the server does, errors in one table, and the state."""

import asyncio
import json
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable, Generator, Iterator, Mapping, Sequence
from contextlib import aclosing, closing
from dataclasses import dataclass
from typing import Any, TypeVar
from urllib.parse import urlsplit

import httpx

from core.answering.llm import Completion, LlmState, Message
from core.errors import (
    LlmAnswerError,
    LlmError,
    LlmLengthError,
    LlmMissingModelError,
    LlmTimeoutError,
    LlmUnavailableError,
)

T = TypeVar("T")

_STATE_SECONDS = 5.0
_STATE_TIMEOUT_S = 1.5
# No token is longer than this on average: a server that sends more than was asked is not to be believed.
_MAX_CHARS_PER_TOKEN = 24
_MESSAGES: Mapping[type[LlmError], str] = {
    LlmUnavailableError: "El modelo de lenguaje no está disponible: su servidor ({address}) no responde o ha fallado. "
    "Compruebe que está en marcha.",
    LlmTimeoutError: "El modelo de lenguaje no ha respondido a tiempo. Vuelva a intentarlo o aumente ASESORIA_LLM_TIMEOUT_S.",
    LlmMissingModelError: "El servidor ({address}) no tiene el modelo «{model}». Instálelo o cambie ASESORIA_LLM.",
    LlmLengthError: "La respuesta del modelo de lenguaje se ha cortado porque ha agotado su presupuesto de tokens. "
    "Haga una pregunta más concreta o aumente ASESORIA_LLM_MAX_TOKENS y ASESORIA_LLM_NUM_CTX.",
    LlmAnswerError: "El modelo de lenguaje ha devuelto algo que no se puede leer. Compruebe el servidor ({address}).",
}
# Statuses, then exceptions; the first row that fits counts. Adapters put the rows of their own library in front.
_STATUSES: Mapping[int, type[LlmError]] = {404: LlmMissingModelError, 408: LlmTimeoutError, 413: LlmLengthError}
Row = tuple[type[Exception], type[LlmError]]
_EXCEPTIONS: tuple[Row, ...] = (
    (httpx.TimeoutException, LlmTimeoutError),
    (TimeoutError, LlmTimeoutError),
    (httpx.DecodingError, LlmAnswerError),
    (httpx.HTTPError, LlmUnavailableError),
    (httpx.InvalidURL, LlmUnavailableError),
    (OSError, LlmUnavailableError),
    (json.JSONDecodeError, LlmAnswerError),
    # What the libraries raise on JSON of another shape than they expect.
    (ValueError, LlmAnswerError),
    (LookupError, LlmAnswerError),
    (TypeError, LlmAnswerError),
    (AttributeError, LlmAnswerError),
)


@dataclass(frozen=True, slots=True)
class Piece:
    """What one line of the server's stream says; None where it says nothing of it."""

    text: str = ""
    finish_reason: str | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None


class ServerModel(ABC):
    """A `ChatModel` on a server; a child says how its library is called.

    Every call runs an event loop of its own in the caller's thread: at the time limit, or when the reader stops
    reading, the request is cancelled and its socket closed, even when the server hangs in the middle of a line.
    """

    def __init__(self, kind: str, model: str, *, base_url: str) -> None:
        self.model = model
        self.base_url = base_url
        self._name = f"{kind}:{model}"
        self._lock = threading.Lock()
        self._state: tuple[float, LlmState] | None = None

    @property
    def name(self) -> str:
        """As in the settings."""
        return self._name

    @property
    @abstractmethod
    def rows(self) -> tuple[Row, ...]:
        """The rows of the library's own exceptions."""

    @abstractmethod
    def pieces(
        self, messages: Sequence[Message], *, max_tokens: int, timeout_s: float, schema: Mapping[str, Any] | None
    ) -> AsyncIterator[Piece]:
        """Call the server and give what it says, with the library's exceptions as they are."""

    @abstractmethod
    def load(self) -> None:
        """Import the library (seconds, once): before the time limit begins to run."""

    @abstractmethod
    async def models(self, client: httpx.AsyncClient) -> Sequence[str] | None:
        """Names of the server's models; None where it does not tell. Asked without the library, which is slow to load."""

    def stream(
        self, messages: Sequence[Message], *, max_tokens: int, timeout_s: float, schema: Mapping[str, Any] | None = None
    ) -> Iterator[str | Completion]:
        """See `ChatModel.stream`."""
        self.load()
        clock = time.monotonic()
        text, finish = "", ""
        read: int | None = None
        written: int | None = None
        try:
            calls = _in_step(
                lambda: self.pieces(messages, max_tokens=max_tokens, timeout_s=timeout_s, schema=schema),
                timeout_s=timeout_s,
            )
            with closing(calls):
                for piece in calls:
                    finish = piece.finish_reason or finish
                    read = piece.prompt_tokens or read
                    written = piece.completion_tokens or written
                    text += piece.text
                    if len(text) > _MAX_CHARS_PER_TOKEN * max_tokens:
                        raise self.error(LlmLengthError)
                    if piece.text:
                        yield piece.text
        except Exception as error:
            raise self.translated(error) from error
        if finish == "length" or (written is not None and written >= max_tokens):
            raise self.error(LlmLengthError)
        yield Completion(text, finish, read, written, time.monotonic() - clock)

    def complete(
        self, messages: Sequence[Message], *, max_tokens: int, timeout_s: float, schema: Mapping[str, Any] | None = None
    ) -> Completion:
        """See `ChatModel.complete`."""
        for item in self.stream(messages, max_tokens=max_tokens, timeout_s=timeout_s, schema=schema):
            if isinstance(item, Completion):
                return item
        raise self.error(LlmAnswerError)

    def available(self) -> LlmState:
        """See `ChatModel.available`."""
        with self._lock:
            now = time.monotonic()
            if self._state is None or now - self._state[0] > _STATE_SECONDS:
                self._state = (now, self._ask_state())
            return self._state[1]

    def _ask_state(self) -> LlmState:
        try:
            with closing(_in_step(self._one_listing, timeout_s=_STATE_TIMEOUT_S)) as listings:
                found = next(listings)
        except Exception as error:
            translated = self.translated(error)
            if isinstance(translated, LlmTimeoutError):
                translated = self.error(LlmUnavailableError)
            return LlmState(self.name, False, str(translated))
        if found is not None and not {self.model, f"{self.model}:latest"} & set(found):
            return LlmState(self.name, False, str(self.error(LlmMissingModelError)))
        return LlmState(self.name, True, f"El modelo «{self.model}» responde.")

    async def _one_listing(self) -> AsyncIterator[Sequence[str] | None]:
        async with httpx.AsyncClient(timeout=_STATE_TIMEOUT_S) as client:
            yield await self.models(client)

    def error(self, kind: type[LlmError]) -> LlmError:
        """An error of this kind, with its message."""
        parts = urlsplit(self.base_url)
        address = f"{parts.scheme}://{parts.hostname or ''}{f':{parts.port}' if parts.port else ''}"
        return kind(_MESSAGES[kind].format(model=self.model, address=address))

    def translated(self, error: Exception) -> LlmError:
        """The domain error for whatever a library raised; what no row names is raised again."""
        if isinstance(error, LlmError):
            return error
        response = error.response if isinstance(error, httpx.HTTPStatusError) else error
        status = getattr(response, "status_code", None)
        if isinstance(status, int) and status > 0:
            if status in (401, 403):
                return LlmMissingModelError(
                    "El servidor del modelo de lenguaje no acepta la clave. Compruebe ASESORIA_LLM_API_KEY."
                )
            too_long = status == 400 and "context" in str(error).casefold()
            return self.error(LlmLengthError if too_long else _STATUSES.get(status, LlmUnavailableError))
        for kind, translated in (*self.rows, *_EXCEPTIONS):
            if isinstance(error, kind):
                return self.error(translated)
        raise error


def _in_step(source: Callable[[], AsyncIterator[T]], *, timeout_s: float) -> Generator[T, None, None]:
    """The items of an async iterator as they come, in the caller's thread, within ``timeout_s`` seconds in all.

    Raises:
        TimeoutError: the time is up. And whatever the iterator raises.
    """
    loop = asyncio.new_event_loop()
    arrived: asyncio.Queue[T | BaseException | None] = asyncio.Queue()

    async def pump() -> None:
        try:
            async with asyncio.timeout(timeout_s), aclosing(source()) as items:  # type: ignore[type-var]
                async for item in items:
                    arrived.put_nowait(item)
        except Exception as error:
            arrived.put_nowait(error)
        arrived.put_nowait(None)

    task = loop.create_task(pump())
    try:
        while (item := loop.run_until_complete(arrived.get())) is not None:
            if isinstance(item, BaseException):
                raise item
            yield item
    finally:
        task.cancel()
        loop.run_until_complete(asyncio.gather(task, return_exceptions=True))
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.close()
