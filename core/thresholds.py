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


class DocumentsThresholds(_Section):
    """Private documents. ``answerable``: the probability (0..1) from which a private fragment is quoted.

    ``prior_own``, ``prior_bare``, ``prior_plain``: how likely the own documents answer, before they are looked at, a
    question that names one of them, one that may mean them ("¿qué total sale?"), and any other; ``prior_refused``:
    any other that the corpus cannot answer. ``rule_beside``: relevance from which a public fragment is quoted beside.
    """

    answerable: float = Field(gt=0, lt=1)
    prior_own: float = Field(gt=0, lt=1)
    prior_bare: float = Field(gt=0, lt=1)
    prior_plain: float = Field(gt=0, lt=1)
    prior_refused: float = Field(gt=0, lt=1)
    rule_beside: float = Field(ge=0, le=1)


class Thresholds(_Section):
    """Every threshold, with the version and date of the file."""

    version: str
    date: str
    scope: ScopeThresholds
    documents: DocumentsThresholds


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
