"""An answer written by the model from the fragments found, or a domain error that says why there is none."""

import logging
import re
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict, ValidationError

from core.answering.llm import ChatModel, Completion, Message
from core.answering.prompt import NOT_ENOUGH, PROMPT_VERSION, Prompt, answer_prompt, check_prompt
from core.answering.scope import is_other_language
from core.errors import LlmAnswerError, LlmError, LlmLengthError, LlmSaysNotEnoughError, LlmTimeoutError
from core.models import Category, RetrievedFragment, SelfCheck

log = logging.getLogger(__name__)

# Shown within the streamed draft when the model has to begin again.
RESTART = "\n\n_(Se ha cortado; el modelo vuelve a empezar.)_\n\n"
_BACK_OFF_S = 0.5
_CHECK_TOKENS = 200
# So many fragments are always read; more only if at least this share as relevant as the best.
_ALWAYS_READ, _RELEVANCE_SHARE = 3, 0.3
# What is left to the chat format and to our estimate being an estimate.
_MARGIN = 128

_THINKING = re.compile(r"<think>.*?(?:</think>|\Z)", re.DOTALL)
_MANY_MARKS = re.compile(r"\[(\d{1,2}(?:\s*(?:,|;|y)\s*\d{1,2})+)\]")
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)|<?https?://\S+")
_WORDY_MARK = re.compile(r"\[\^?(?:fragmentos?|fuente|n\.?º?)?\s*=?\s*\"?(\d{1,2})\"?\]", re.IGNORECASE)
_MARK = re.compile(r"\[(\d{1,2})\]")
_ENDS = (".", "!", "?", "»", "”", ")", "]", "*", "_", "|", ":", ";")


@dataclass(frozen=True, slots=True)
class Limits:
    """``timeout_s``: for all that the model does for one answer. ``num_ctx`` and ``max_tokens`` in tokens."""

    timeout_s: float
    retries: int
    num_ctx: int
    max_tokens: int

    @property
    def prompt_tokens(self) -> int:
        """What a prompt may hold."""
        return self.num_ctx - self.max_tokens - _MARGIN


@dataclass(frozen=True, slots=True)
class Draft:
    """What the model wrote, not verified yet. ``[n]`` in ``text`` means ``shown[n - 1]``."""

    text: str
    shown: tuple[RetrievedFragment, ...]
    completion: Completion
    model: str
    prompt_version: str
    attempts: int


class _Verdict(BaseModel):
    """The JSON of the self-verification."""

    model_config = ConfigDict(extra="ignore", strict=True)

    supported: bool
    sentence: str = ""


def synthesise(
    question: str,
    hits: Sequence[RetrievedFragment],
    *,
    model: ChatModel,
    category: Category,
    limits: Limits,
    history: Sequence[str] = (),
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> Iterator[str | Draft]:
    """The draft as it is being written, then the `Draft`. ``history``: earlier questions of the conversation.

    Raises:
        LlmError: a child that says in Spanish what went wrong, within ``limits.timeout_s``.
    """
    end = clock() + limits.timeout_s
    prompt = answer_prompt(
        question, _worth_reading(hits), category=category, history=history, budget=limits.prompt_tokens
    )
    if not prompt.shown:
        raise LlmLengthError(
            "La pregunta no cabe en la ventana del modelo de lenguaje junto con los fragmentos. "
            "Hágala más corta o aumente ASESORIA_LLM_NUM_CTX."
        )
    messages = prompt.messages
    for attempt in range(1, limits.retries + 2):
        written = False
        try:
            for item in model.stream(
                messages,
                max_tokens=limits.max_tokens,
                timeout_s=max(0.05, end - clock()),
            ):
                if isinstance(item, str):
                    written = True
                    yield item
                    continue
                _check_read(prompt, item)
                text = checked(item.text, shown=len(prompt.shown))
                yield Draft(text, prompt.shown, item, model.name, PROMPT_VERSION, attempt)
                return
            raise LlmAnswerError("El modelo de lenguaje no ha devuelto nada. Vuelva a intentarlo.")
        except LlmError as error:
            log.warning("llm attempt %d of %d: %s", attempt, limits.retries + 1, type(error).__name__)
            pause = _BACK_OFF_S * 2 ** (attempt - 1)
            if not error.retry or attempt > limits.retries or clock() + pause >= end:
                raise
            if isinstance(error, LlmAnswerError):
                messages = _corrected(prompt, str(error))
        sleep(pause)
        if written:
            yield RESTART


def _worth_reading(hits: Sequence[RetrievedFragment]) -> list[RetrievedFragment]:
    """The hits without those at the end that are hardly relevant beside the best: each costs the model seconds to read."""
    least = _RELEVANCE_SHARE * hits[0].relevance if hits else 0.0
    kept = len(hits)
    while kept > _ALWAYS_READ and hits[kept - 1].relevance < least:
        kept -= 1
    return list(hits[:kept])


def _corrected(prompt: Prompt, problem: str) -> tuple[Message, ...]:
    """The prompt with what was wrong, in the same message: some chat formats want the roles to alternate."""
    *before, last = prompt.messages
    again = f"{last.content}\n\nUna respuesta anterior no servía ({problem}). Escríbela según las reglas."
    return (*before, Message(last.role, again))


def _check_read(prompt: Prompt, completion: Completion) -> None:
    """Whether the server read the whole prompt: a context window smaller than asked for cuts it without a word."""
    read = completion.prompt_tokens
    if read and read < prompt.least_tokens:
        raise LlmLengthError(
            f"El servidor del modelo ha leído {read} tokens de una pregunta de al menos {prompt.least_tokens}: la ha cortado. "
            "Aumente la ventana de contexto del servidor o reduzca ASESORIA_LLM_NUM_CTX."
        )


def checked(text: str, *, shown: int) -> str:
    """The model's text with its citations in one form.

    Raises:
        LlmSaysNotEnoughError: it says that the fragments do not suffice. LlmAnswerError: it is empty, cites nothing or
        what was not shown, or is not Spanish. LlmLengthError: it ends in the middle of a sentence.
    """
    text = _one_form(_THINKING.sub("", text)).strip()
    if not any(ch.isalnum() for ch in text):
        raise LlmAnswerError("El modelo de lenguaje ha devuelto una respuesta vacía.")
    marks = {int(mark) for mark in _MARK.findall(text)}
    if not marks and NOT_ENOUGH in text:
        raise LlmSaysNotEnoughError(
            "El modelo de lenguaje dice que los fragmentos encontrados no bastan para responder."
        )
    text = "\n".join(line for line in text.split("\n") if NOT_ENOUGH not in line).strip()
    if not text.endswith(_ENDS):
        raise LlmLengthError("La respuesta del modelo de lenguaje está cortada: termina a mitad de una frase.")
    if not marks & set(range(1, shown + 1)):
        raise LlmAnswerError("El modelo de lenguaje no ha citado ninguna fuente.")
    if is_other_language(_MARK.sub("", text)):
        raise LlmAnswerError("El modelo de lenguaje no ha respondido en español.")
    return text


def _one_form(text: str) -> str:
    """Citations as ``[n]``; no image and no link, which the sources alone may give."""
    text = _LINK.sub(lambda m: m.group(1) or "", text)
    text = _MANY_MARKS.sub(lambda m: " ".join(f"[{number}]" for number in re.findall(r"\d+", m.group(1))), text)
    return _WORDY_MARK.sub(r"[\1]", text)


def self_check(
    question: str,
    answer: str,
    cited: Sequence[tuple[int, RetrievedFragment]],
    *,
    model: ChatModel,
    limits: Limits,
    timeout_s: float,
    clock: Callable[[], float] = time.monotonic,
) -> SelfCheck:
    """Ask the model whether the cited fragments support ``answer`` (with their numbers); one retry on bad JSON.

    Never raises for the model's sake: what is no clear yes or no is ``ERROR``.
    """
    end = clock() + timeout_s
    prompt = check_prompt(question, answer, cited, budget=limits.num_ctx - _CHECK_TOKENS - _MARGIN)
    if len(prompt.shown) < len(cited):
        return SelfCheck.ERROR
    for _ in range(2):
        try:
            completion = model.complete(
                prompt.messages,
                max_tokens=_CHECK_TOKENS,
                timeout_s=max(0.05, end - clock()),
                schema=_Verdict.model_json_schema(),
            )
            _check_read(prompt, completion)
            verdict = _Verdict.model_validate_json(_THINKING.sub("", completion.text).strip())
            return SelfCheck.SUPPORTED if verdict.supported else SelfCheck.UNSUPPORTED
        except LlmTimeoutError:
            return SelfCheck.ERROR
        except (LlmError, ValidationError) as error:
            log.warning("self-check: %s", type(error).__name__)
    return SelfCheck.ERROR
