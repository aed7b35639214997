"""The port to a language model, and the choice of its adapter by the settings."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from core.config import Settings
from core.errors import SettingsError

OLLAMA_URL = "http://127.0.0.1:11434"


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a chat."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True, slots=True)
class Completion:
    """A finished answer of the model.

    ``finish_reason`` is the server's word (``stop``, ``length``, …), '' where it gives none. The token counts are the
    server's, None where it gives none. ``seconds`` counts from the call.
    """

    text: str
    finish_reason: str
    prompt_tokens: int | None
    completion_tokens: int | None
    seconds: float


@dataclass(frozen=True, slots=True)
class LlmState:
    """Whether the model answers; ``message`` says it in Spanish."""

    name: str
    ok: bool
    message: str


class ChatModel(Protocol):
    """A chat model behind a server. Safe to use from several threads, but not inside a running event loop."""

    @property
    def name(self) -> str:
        """As in the settings: ``ollama:MODEL`` or ``openai:MODEL``."""

    def load(self) -> None:
        """Import the library behind it (seconds, once), so that no question has to wait for it."""

    def stream(
        self, messages: Sequence[Message], *, max_tokens: int, timeout_s: float, schema: Mapping[str, Any] | None = None
    ) -> Iterator[str | Completion]:
        """The answer piece by piece; the last item is the `Completion`.

        ``timeout_s`` limits the whole call. ``schema`` asks for JSON of that JSON schema.

        Raises:
            LlmError: one of its children, whatever went wrong.
        """

    def complete(
        self, messages: Sequence[Message], *, max_tokens: int, timeout_s: float, schema: Mapping[str, Any] | None = None
    ) -> Completion:
        """As `stream`, in one piece."""

    def available(self) -> LlmState:
        """Whether the server answers and has the model; asked anew after some seconds, within two seconds."""


def build_chat_model(settings: Settings) -> ChatModel | None:
    """The model of ``ASESORIA_LLM``, None for ``none``. Nothing is called and no library is imported for ``none``.

    Raises:
        SettingsError: the setting is neither ``none`` nor ``ollama:MODEL`` nor ``openai:MODEL`` with a base URL.
    """
    spec = settings.llm.strip()
    if spec.casefold() in ("", "none"):
        return None
    kind, _, model = spec.partition(":")
    kind, model = kind.strip().casefold(), model.strip()
    url = settings.llm_base_url.strip().rstrip("/")
    if kind == "ollama" and model:
        from core.answering.llm_ollama import OllamaModel

        return OllamaModel(model, base_url=url or OLLAMA_URL, num_ctx=settings.llm_num_ctx)
    if kind == "openai" and model:
        if not url:
            raise SettingsError(
                "Con ASESORIA_LLM=openai:… hace falta ASESORIA_LLM_BASE_URL, la dirección del servidor "
                "(por ejemplo «http://127.0.0.1:8000/v1»)."
            )
        from core.answering.llm_openai import OpenAIModel

        return OpenAIModel(model, base_url=url, api_key=settings.llm_api_key, num_ctx=settings.llm_num_ctx)
    raise SettingsError(
        "ASESORIA_LLM no se entiende. Use «none», «ollama:MODELO» u «openai:MODELO», por ejemplo «ollama:llama3.2»."
    )
