"""What three judges make of one answer: majority, dispersion, and which cases cannot be relied on."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

FAITHFUL = 0.5


@dataclass(frozen=True, slots=True)
class PanelCase:
    """One case and the faithfulness (0..1) that each judge gave it."""

    case_id: str
    scores: Mapping[str, float]

    @property
    def dispersion(self) -> float:
        """Highest minus lowest faithfulness."""
        return max(self.scores.values()) - min(self.scores.values())

    def reliable(self, maximum: float) -> bool:
        """Whether the judges are near enough to each other (rounded, so that 0.9 − 0.6 is not over 0.3)."""
        return round(self.dispersion, 9) <= maximum

    @property
    def majority(self) -> float:
        """1.0 where most judges find the answer faithful, else 0.0 (a tie is not a majority)."""
        faithful = sum(score >= FAITHFUL for score in self.scores.values())
        return float(2 * faithful > len(self.scores))


def unreliable(cases: Sequence[PanelCase], maximum: float) -> tuple[PanelCase, ...]:
    """The cases to list and leave out."""
    return tuple(case for case in cases if not case.reliable(maximum))
