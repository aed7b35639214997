"""Any server that speaks OpenAI's chat API, through LlamaIndex; LlamaIndex and openai types stop here."""

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

import httpx
from pydantic import SecretStr

from core.answering.llm import Message
from core.answering.llm_server import Piece, Row, ServerModel
from core.errors import LlmAnswerError, LlmTimeoutError, LlmUnavailableError

# The client insists on a key; servers that want none ignore it. Never the environment's OPENAI_API_KEY, which is
# another server's secret.
_NO_KEY = "none"


class OpenAIModel(ServerModel):
    """A model of an OpenAI-compatible server."""

    def __init__(self, model: str, *, base_url: str, api_key: SecretStr, num_ctx: int) -> None:
        super().__init__("openai", model, base_url=base_url)
        self._key = api_key
        self._num_ctx = num_ctx

    @property
    def rows(self) -> tuple[Row, ...]:
        """The library's exceptions."""
        import openai

        return (
            (openai.APITimeoutError, LlmTimeoutError),
            (openai.APIResponseValidationError, LlmAnswerError),
            (openai.OpenAIError, LlmUnavailableError),
        )

    async def pieces(
        self, messages: Sequence[Message], *, max_tokens: int, timeout_s: float, schema: Mapping[str, Any] | None
    ) -> AsyncIterator[Piece]:
        """See `ServerModel.pieces`."""
        from llama_index.core.llms import ChatMessage
        from llama_index.llms.openai_like import OpenAILike

        async with self._client(timeout_s) as client:
            llm = OpenAILike(
                model=self.model,
                api_base=self.base_url,
                api_key=_NO_KEY,
                is_chat_model=True,
                temperature=0.0,
                max_tokens=max_tokens,
                context_window=self._num_ctx,
                max_retries=0,
                timeout=timeout_s,
                additional_kwargs={"stream_options": {"include_usage": True}},
                async_openai_client=client,
            )
            chat = [ChatMessage(role=m.role, content=m.content) for m in messages]
            async for part in await llm.astream_chat(chat, **_response_format(schema)):
                raw: Any = part.raw
                usage = getattr(raw, "usage", None)
                choices = getattr(raw, "choices", None) or []
                yield Piece(
                    text=part.delta or "",
                    finish_reason=choices[0].finish_reason if choices else None,
                    prompt_tokens=usage.prompt_tokens if usage else None,
                    completion_tokens=usage.completion_tokens if usage else None,
                )

    def load(self) -> None:
        """See `ServerModel.load`."""
        import llama_index.llms.openai_like  # noqa: F401

    async def models(self, client: httpx.AsyncClient) -> Sequence[str] | None:
        """See `ServerModel.models`."""
        key = self._key.get_secret_value()
        response = await client.get(
            f"{self.base_url}/models", headers={"Authorization": f"Bearer {key}"} if key else {}
        )
        if response.status_code in (404, 405):
            return None  # a server need not list its models
        return [found["id"] for found in response.raise_for_status().json()["data"]]

    def _client(self, timeout_s: float) -> Any:
        from openai import AsyncOpenAI

        key = self._key.get_secret_value() or _NO_KEY
        return AsyncOpenAI(api_key=key, base_url=self.base_url, max_retries=0, timeout=timeout_s)


def _response_format(schema: Mapping[str, Any] | None) -> dict[str, Any]:
    if schema is None:
        return {}
    return {
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "answer", "schema": dict(schema), "strict": True},
        }
    }
