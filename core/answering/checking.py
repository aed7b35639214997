"""The verification as the engine asks for it: numbered fragments in, what is left of the draft out."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from core.answering.verify import passage_of, supporting, verify
from core.models import RetrievedFragment
from core.thresholds import Thresholds


@dataclass(frozen=True, slots=True)
class Checked:
    """What is left of a draft. ``coverage``: share (0..1) of its claims that were supported. ``supporting``: how many
    cited fragments support a claim by themselves."""

    text: str
    coverage: float
    supporting: int


@dataclass(frozen=True, slots=True)
class DraftChecker:
    """`verify` with the product's thresholds."""

    thresholds: Thresholds

    def __call__(self, draft: str, cited: Mapping[int, RetrievedFragment], *, own: Collection[str] = ()) -> Checked:
        """Judge ``draft``, whose ``[n]`` means ``cited[n]``; ``own`` are its lines that are the product's own."""
        found = verify(
            draft,
            {number: passage_of(hit.fragment) for number, hit in cited.items()},
            thresholds=self.thresholds.verify,
            own=own,
        )
        relevance = {number: hit.relevance for number, hit in cited.items()}
        return Checked(
            found.text, found.coverage, supporting(found, relevance, self.thresholds.seal.supporting_relevance)
        )
