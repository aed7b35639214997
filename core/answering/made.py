"""A verified text before it becomes an `Answer`, and the notice that stands above a case of one's own."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from core.answering.scope import load_scope
from core.models import Category, Mode, RetrievedFragment, SelfCheck, Source

_CONDITION = re.compile(
    r"\b(?:siempre que|salvo|excepto|no obstante|cuando|si|requisitos?|condicion\w*)\b", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Made:
    """A verified text with its sources, and how it came about.

    ``placed``: the notices stand in the text already. ``relevances``: of the fragments that it was made from, where
    that is not the whole of what was found. ``category``: where it is not the scope's. ``answered``: see `Extract`.
    """

    text: str
    sources: tuple[Source, ...]
    mode: Mode
    coverage: float = 1.0
    supporting: int = 0
    check: SelfCheck = SelfCheck.NOT_RUN
    fallback: str = ""
    refusal: bool = False
    model: str = ""
    prompt_version: str = ""
    notices: tuple[str, ...] = ()
    placed: bool = False
    relevances: tuple[float, ...] = ()
    category: Category | None = None
    answered: float | None = None


def personal_notice(hits: Sequence[RetrievedFragment], passages: Iterable[str]) -> str:
    """What stands above the general rule in a case of one's own: what would have to be known, and who can say."""
    texts = load_scope().answers
    known = [texts.get(f"personal_{hits[0].fragment.tax}", texts["personal_general"])]
    if any(_CONDITION.search(passage) for passage in passages):
        known.append(texts["personal_conditions"])
    return texts["personal_case"].format(known=" ".join(known))
