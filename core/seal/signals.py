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


def recalibrated(probability: float, limits: SealThresholds) -> float:
    """The probability that a quote answers, in the light of answers that people have judged: Platt scaling, fitted on the
    part of the reference set that sets thresholds (`scripts/fit_seal.py`)."""
    likely = min(max(probability, 1e-6), 1 - 1e-6)
    log_odds = limits.answered_weight * math.log(likely / (1 - likely)) + limits.answered_intercept
    return 1 / (1 + math.exp(-log_odds))


def measure(
    text: str,
    *,
    grounded: bool,
    relevances: Iterable[float],
    answered: float | None = None,
    coverage: float,
    supporting: int,
    self_check: SelfCheck = SelfCheck.NOT_RUN,
    fallback: str = "",
    notices: Iterable[str] = (),
    titles: Iterable[str] = (),
) -> Signals:
    """The signals of one answer.

    ``relevances`` (0..1) are those of all fragments found, the best of which counts, but for no more than ``answered``:
    the probability that what is quoted answers, for the thing asked that it answers least (None: not known).
    ``coverage`` (0..1) and ``supporting`` come from the verification of the draft; ``fallback`` is '' or why the
    extraction took over (time, retries, tokens).
    An answer that is not ``grounded`` is an abstention and counts as a refusal. ``notices`` and ``titles``: see
    `find_refusal`. A relevance that is no number is kept, so that the rules can see and distrust it.
    """
    values = [float(value) for value in relevances]
    odd = [value for value in values if not 0.0 <= value <= 1.0]
    return Signals(
        rerank=odd[0] if odd else min(max(values, default=0.0), 1.0 if answered is None else answered),
        coverage=float(coverage),
        self_check=self_check,
        refusal=not grounded or bool(find_refusal(text, notices=notices, titles=titles)),
        fallback=fallback,
        supporting=supporting,
    )
