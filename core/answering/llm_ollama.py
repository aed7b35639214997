"""An Ollama server through LlamaIndex; LlamaIndex and ollama types stop here."""

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

import httpx

from core.answering.llm import Message
from core.answering.llm_server import Piece, Row, ServerModel
from core.errors import LlmUnavailableError


class OllamaModel(ServerModel):
    """A model of an Ollama server. ``num_ctx``: the context window asked for, in tokens."""

    def __init__(self, model: str, *, base_url: str, num_ctx: int) -> None:
        super().__init__("ollama", model, base_url=base_url)
        self._num_ctx = num_ctx

    @property
    def rows(self) -> tuple[Row, ...]:
        """The library's exceptions."""
        import ollama

        return ((ollama.ResponseError, LlmUnavailableError), (ollama.RequestError, LlmUnavailableError))

    async def pieces(
        self, messages: Sequence[Message], *, max_tokens: int, timeout_s: float, schema: Mapping[str, Any] | None
    ) -> AsyncIterator[Piece]:
        """See `ServerModel.pieces`."""
        from llama_index.core.llms import ChatMessage
        from llama_index.llms.ollama import Ollama
        from ollama import AsyncClient

        async with AsyncClient(host=self.base_url, timeout=timeout_s) as client:
            llm = Ollama(
                model=self.model,
                base_url=self.base_url,
                temperature=0.0,
                context_window=self._num_ctx,
                request_timeout=timeout_s,
                additional_kwargs={"num_predict": max_tokens},
                thinking=False,
                async_client=client,
            )
            chat = [ChatMessage(role=m.role, content=m.content) for m in messages]
            format_ = {"format": dict(schema)} if schema is not None else {}
            async for part in await llm.astream_chat(chat, **format_):
                raw: dict[str, Any] = part.raw
                yield Piece(
                    text=part.delta or "",
                    finish_reason=raw.get("done_reason"),
                    prompt_tokens=raw.get("prompt_eval_count"),
                    completion_tokens=raw.get("eval_count"),
                )

    def load(self) -> None:
        """See `ServerModel.load`."""
        import llama_index.llms.ollama  # noqa: F401

    async def models(self, client: httpx.AsyncClient) -> Sequence[str]:
        """See `ServerModel.models`."""
        response = await client.get(f"{self.base_url}/api/tags")
        return [found["name"] for found in response.raise_for_status().json()["models"]]
