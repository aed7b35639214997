"""Where an answer gets its seal."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from core.answering.scope import load_scope
from core.models import Answer, SealMode, SelfCheck
from core.seal.rules import seal
from core.seal.signals import measure, recalibrated
from core.thresholds import Thresholds

# Texts that AsesorIA adds to an answer and that are no part of what is answered.
_NOTICES = ("common_territory", "other_language")


def always_deterministic() -> SealMode:
    """The mode where no model writes answers."""
    return SealMode.DETERMINISTIC


@dataclass(frozen=True, slots=True)
class Sealer:
    """Puts the seal on answers. ``mode`` is asked for each answer, so that a switch shows in the next one."""

    thresholds: Thresholds
    mode: Callable[[], SealMode] = always_deterministic

    def with_seal(
        self,
        answer: Answer,
        *,
        relevances: Iterable[float],
        coverage: float,
        supporting: int,
        answered: float | None = None,
        self_check: SelfCheck = SelfCheck.NOT_RUN,
        fallback: str = "",
        notices: Iterable[str] = (),
    ) -> Answer:
        """``answer`` with its seal. ``notices`` are further texts of ours that are no part of the answer.

        ``answered``: as the extraction gives it (see `Extract`), None for another text. The other parameters are those
        of `measure`.
        """
        ours = load_scope().answers
        limits = self.thresholds.seal
        found = tuple(relevances)
        signals = measure(
            answer.text,
            grounded=answer.grounded,
            relevances=found,
            answered=None if answered is None else recalibrated(answered, max(found, default=0.0), limits),
            coverage=coverage,
            supporting=supporting,
            self_check=self_check,
            fallback=fallback,
            notices=(*(ours[name] for name in _NOTICES), *notices),
            titles={source.title for source in answer.sources},
        )
        return replace(answer, seal=seal(signals, self.thresholds, self.mode()))
