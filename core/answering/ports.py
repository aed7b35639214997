"""What the engine asks of its parts, and what it gives back of an examination."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Protocol

from core.answering.llm import ChatModel
from core.answering.scope import Assessment
from core.answering.synthesis import Limits
from core.models import Answer, RetrievedFragment
from core.retrieval.search import SearchResult


class Retriever(Protocol):
    """Finds fragments for a question."""

    def run(self, question: str, k: int) -> SearchResult:
        """The ``k`` best fragments, best first, with what the search saw."""


class Verified(Protocol):
    """What a verification gives back."""

    @property
    def text(self) -> str:
        """The draft without what its citations do not support; '' where nothing is left."""

    @property
    def coverage(self) -> float:
        """Share (0..1) of the draft's claims that their citations support."""

    @property
    def supporting(self) -> int:
        """How many cited fragments support a claim by themselves."""


class Verifier(Protocol):
    """Checks a draft, whose ``[n]`` means ``cited[n]``, claim by claim."""

    def __call__(self, draft: str, cited: Mapping[int, RetrievedFragment], *, own: Collection[str] = ()) -> Verified:
        """What is left of the draft. ``own`` are lines of the product's own, which claim nothing."""


@dataclass(frozen=True, slots=True)
class Synthesis:
    """What is needed to have a model write answers."""

    model: ChatModel
    limits: Limits


@dataclass(frozen=True, slots=True)
class Examination:
    """An answer with what it was made from."""

    answer: Answer
    result: SearchResult
    assessment: Assessment
