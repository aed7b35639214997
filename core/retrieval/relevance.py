"""How well a fragment covers a question, as a number in 0..1. First form, before a trained reranker."""

import math
from collections.abc import Sequence

from core.ingestion.fragments import embedding_text
from core.models import Fragment
from core.retrieval.terms import TermStatistics, stems

# The cosines of multilingual-e5-small lie between 0.75 and 0.92 whatever the texts; this range is spread over 0..1.
_COSINE_LOW, _COSINE_HIGH = 0.78, 0.90


def coverage(question_stems: Sequence[str], text: str, terms: TermStatistics) -> float:
    """Share of the question's stems, weighted by inverse document frequency, that ``text`` contains (0..1)."""
    wanted = {term: terms.weight(term) for term in set(question_stems)}
    total = sum(wanted.values())
    if total <= 0:
        return 0.0
    present = set(stems(text))
    return sum(weight for term, weight in wanted.items() if term in present) / total


def relevance(
    question_stems: Sequence[str], fragment: Fragment, *, cosine: float | None, terms: TermStatistics
) -> float:
    """Geometric mean of lexical coverage and spread cosine: both sides must agree. In 0..1, not a probability."""
    lexical = coverage(question_stems, embedding_text(fragment), terms)
    closeness = min(1.0, max(0.0, ((cosine or _COSINE_LOW) - _COSINE_LOW) / (_COSINE_HIGH - _COSINE_LOW)))
    return math.sqrt(lexical * max(closeness, 0.15))
