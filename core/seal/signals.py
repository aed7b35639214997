"""The five signals of the seal, measured on the parts of an answer. Plain numbers and texts in, `Signals` out."""

import math
from collections.abc import Iterable, Mapping
from types import MappingProxyType

from core.models import SelfCheck, Signals
from core.seal.refusals import find_refusal
from core.thresholds import SealThresholds

# Raise a signal's version when what it measures changes; thresholds have a version of their own.
SIGNAL_VERSIONS: Mapping[str, str] = MappingProxyType(
    {"rerank": "2", "coverage": "1", "self_check": "1", "refusal": "1", "fallback": "1"}
)

# No probability counts for more than this near to 0 or 1.
_SURE = 1e-4


def recalibrated(answered: float, relevance: float, limits: SealThresholds) -> float:
    """The relevance of what is quoted: the probability that the quote answers and the relevance of the best fragment, in
    the light of answers that people have judged. A logistic regression over the log-odds of both, fitted on the part of
    the reference set that sets thresholds (`scripts/fit_seal.py`)."""
    told = limits.answered_weight * log_odds(answered) + limits.relevance_weight * log_odds(relevance)
    return 1 / (1 + math.exp(-told - limits.answered_intercept))


def log_odds(probability: float) -> float:
    """Log-odds of a probability, which counts for no more than nearly sure."""
    likely = min(max(probability, _SURE), 1 - _SURE)
    return math.log(likely / (1 - likely))


def measure(
    text: str,
    *,
    grounded: bool,
    relevances: Iterable[float],
    coverage: float,
    supporting: int,
    answered: float | None = None,
    self_check: SelfCheck = SelfCheck.NOT_RUN,
    fallback: str = "",
    notices: Iterable[str] = (),
    titles: Iterable[str] = (),
) -> Signals:
    """The signals of one answer.

    ``relevances`` (0..1) are those of all fragments found, of which the best counts; ``answered`` (0..1), where it is
    known, is the relevance of what is quoted (see `recalibrated`) and counts in its place.
    ``coverage`` (0..1) and ``supporting`` come from the verification of the draft; ``fallback`` is '' or why the
    extraction took over (time, retries, tokens).
    An answer that is not ``grounded`` is an abstention and counts as a refusal. ``notices`` and ``titles``: see
    `find_refusal`. A relevance that is no number is kept, so that the rules can see and distrust it.
    """
    values = [float(value) for value in relevances]
    odd = [value for value in values if not 0.0 <= value <= 1.0]
    return Signals(
        rerank=odd[0] if odd else max(values, default=0.0) if answered is None else answered,
        coverage=float(coverage),
        self_check=self_check,
        refusal=not grounded or bool(find_refusal(text, notices=notices, titles=titles)),
        fallback=fallback,
        supporting=supporting,
    )
