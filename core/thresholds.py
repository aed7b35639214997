"""The thresholds of ``data/thresholds.toml``, validated: one section of the file is one model here."""

import tomllib
from functools import lru_cache
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from core.config import PROJECT_ROOT
from core.errors import RegisterError

THRESHOLDS_PATH = PROJECT_ROOT / "data" / "thresholds.toml"


class _Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class ScopeThresholds(_Section):
    """``answerable``: the probability (0..1) from which a question is answered and not refused."""

    answerable: float = Field(ge=0, le=1)


class VerifyThresholds(_Section):
    """When a claim of a draft counts as supported by what it cites.

    ``coverage``: least share (0..1) of its content words, by weight, in the cited fragments; ``coverage_beside_quote``
    where it also quotes verbatim; ``part``: least share that one of several citations must support. A value is taken
    for another's when a rival's agreement exceeds its own by more than ``rival_margin``; ``swap_margin``: for two
    values of the claim exchanged; ``cross_margin``: for values of two claims; ``twice_margin``: for a figure that a
    claim takes twice from one place.
    """

    coverage: float = Field(ge=0, le=1)
    coverage_beside_quote: float = Field(ge=0, le=1)
    part: float = Field(ge=0, le=1)
    rival_margin: float = Field(ge=0)
    swap_margin: float = Field(ge=0)
    cross_margin: float = Field(ge=0)
    twice_margin: float


class Thresholds(_Section):
    """Every threshold, with the version and date of the file."""

    version: str
    date: str
    scope: ScopeThresholds
    verify: VerifyThresholds


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
