"""The thresholds of ``data/thresholds.toml``, validated: one section of the file is one model here."""

import tomllib
from functools import lru_cache
from pathlib import Path
from typing import Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from core.config import PROJECT_ROOT
from core.errors import RegisterError

THRESHOLDS_PATH = PROJECT_ROOT / "data" / "thresholds.toml"


class _Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class ScopeThresholds(_Section):
    """``answerable``: the probability (0..1) from which a question is answered and not refused."""

    answerable: float = Field(ge=0, le=1)


class SealChange(_Section):
    """A line of the seal's change log, as the app shows it. ``version`` is that of the file from then on."""

    date: str
    change: str
    version: str


class SealThresholds(_Section):
    """What the seal's signals are held against (source: the seal's specification; every value is inclusive).

    ``high_rerank`` and ``medium_rerank``: best relevance (0..1) from which an answer may be high, or medium.
    ``coverage_min``: share (0..1) of supported claims. ``supporting_min``: fragments that each support a claim by
    themselves, counted where their own relevance is at least ``supporting_relevance``.
    """

    high_rerank: float = Field(gt=0, le=1)
    medium_rerank: float = Field(gt=0, le=1)
    coverage_min: float = Field(gt=0, le=1)
    supporting_min: int = Field(ge=1)
    supporting_relevance: float = Field(ge=0, le=1)
    changes: tuple[SealChange, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.medium_rerank > self.high_rerank:
            raise ValueError("medium_rerank is over high_rerank")
        return self


class DriftThresholds(_Section):
    """When the share of ``high`` seals has risen too much: the last ``days`` days against as many before.

    ``red_points`` and ``amber_points`` are percentage points. Under ``minimum_answers`` in either span there is no
    colour; ``significance`` is the number of binomial standard errors that a red rise must also reach.
    """

    days: int = Field(ge=1)
    amber_points: float = Field(gt=0, le=100)
    red_points: float = Field(gt=0, le=100)
    minimum_answers: int = Field(ge=1)
    significance: float = Field(ge=0)


class Thresholds(_Section):
    """Every threshold, with the version and date of the file."""

    version: str
    date: str
    scope: ScopeThresholds
    seal: SealThresholds
    drift: DriftThresholds


@lru_cache(maxsize=4)
def load_thresholds(path: Path = THRESHOLDS_PATH) -> Thresholds:
    """Read and check the thresholds.

    Raises:
        RegisterError: the file is missing, is no TOML, or a value is absent, unknown or out of its range.
    """
    try:
        return Thresholds.model_validate(tomllib.loads(path.read_text("utf-8")))
    except (OSError, tomllib.TOMLDecodeError, ValidationError) as error:
        raise RegisterError(
            f"data/thresholds.toml no es válido ({error}). Restaure el archivo del repositorio."
        ) from error
