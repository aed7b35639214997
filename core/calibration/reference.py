"""The reference set: real answers of the product with a verdict on each, and what the panel of judges made of them."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from core.calibration.panel import PanelCase
from core.config import PROJECT_ROOT
from core.errors import RegisterError
from core.models import Category, Level, Mode, SealMode

T = TypeVar("T", bound=BaseModel)

REFERENCE_PATH = PROJECT_ROOT / "data" / "eval" / "reference_set.json"
PANEL_PATH = PROJECT_ROOT / "data" / "eval" / "panel_scores.json"


class _File(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


def _verdict(value: float) -> float:
    if value not in (0.0, 1.0):
        raise ValueError("a verdict is 0.0 or 1.0")
    return value


class ReferenceSource(_File):
    """A source as the answer showed it."""

    fragment_id: str
    doc_id: str
    title: str
    page: int | None
    section: str
    passage: str
    relevance: float = Field(ge=0, le=1)


class ReferenceCase(_File):
    """An answer as produced, and the verdict on it, given before looking at the seal.

    ``faithfulness`` 1.0: every claim is supported by its source, the question asked is the one answered, and no
    decisive condition is left out. ``decides``: where the page that decides is. ``part``: ``tuning`` cases may set
    thresholds, the figures are reported on ``report``. ``facts``: what the answer should contain, as alternatives of
    regular expressions (empty where the question has no answer in the corpus).
    """

    id: str
    question: str
    answer: str
    category: Category
    mode: Mode
    sources: tuple[ReferenceSource, ...]
    level: Level
    seal_mode: SealMode
    signals: Mapping[str, float | str | bool | int]
    versions: Mapping[str, str]
    part: Literal["tuning", "report"]
    facts: tuple[tuple[str, ...], ...] = ()
    faithfulness: Annotated[float, AfterValidator(_verdict)]
    reason: str = Field(min_length=10)
    decides: str = Field(min_length=3)
    reviewer: str
    reviewer_kind: Literal["maintainer", "person"]


class ReferenceSet(_File):
    """The shipped set with the rule by which it was drawn, and what was left out of it.

    ``population``: answers there were to draw from, by ``PART_LEVEL``. ``abstentions``: by ``PART_right`` (the corpus has
    no answer) and ``PART_wrong``.
    """

    version: str
    date: str
    sampling: str
    population: Mapping[str, int] = {}
    abstentions: Mapping[str, int]
    cases: tuple[ReferenceCase, ...]


class JudgeInfo(_File):
    """One judge of the panel. ``kind``: how it judges; ``version`` goes up when it changes."""

    name: str
    kind: str
    version: int


class PanelScores(_File):
    """What each judge gave each case (faithfulness 0..1). ``failures``: by case and judge, why there is no score."""

    judges: tuple[JudgeInfo, ...]
    reference_version: str
    scores: Mapping[str, Mapping[str, float]]
    failures: Mapping[str, Mapping[str, str]] = {}

    def cases(self) -> tuple[PanelCase, ...]:
        """One `PanelCase` per case that every judge has scored, in the file's order."""
        names = {judge.name for judge in self.judges}
        return tuple(PanelCase(case_id, scores) for case_id, scores in self.scores.items() if set(scores) == names)


def load_reference(path: Path = REFERENCE_PATH) -> ReferenceSet:
    """Read and check the reference set.

    Raises:
        RegisterError: it is missing or not valid.
    """
    found = _load(path, ReferenceSet)
    if len({case.id for case in found.cases}) != len(found.cases):
        raise RegisterError(f"{path.name} no es válido: hay casos repetidos. Restaure el archivo del repositorio.")
    return found


def load_panel(path: Path = PANEL_PATH) -> PanelScores:
    """Read and check the panel's scores.

    Raises:
        RegisterError: the file is missing or not valid.
    """
    return _load(path, PanelScores)


def _load(path: Path, model: type[T]) -> T:
    try:
        return model.model_validate(json.loads(path.read_text("utf-8")))
    except (OSError, ValueError, ValidationError) as error:
        raise RegisterError(f"{path.name} no es válido ({error}). Restaure el archivo del repositorio.") from error
