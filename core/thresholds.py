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
    """``answerable``: the probability (0..1) from which a question is answered and not refused; ``personal``: from which
    it counts as a case of the asker's own. ``one_document``: where one document is asked, also from this share (0..1) of
    its words in one passage (`one_document.coverage`).
    """

    answerable: float = Field(ge=0, le=1)
    personal: float = Field(ge=0, le=1)
    one_document: float = Field(ge=0, le=1)


class CalibrationThresholds(_Section):
    """The gates of `confidence_seal.md`: Pearson's r and Cohen's kappa, and what may switch the seal's mode.

    ``max_dispersion``: over this spread of the judges a case is left out. ``switch_after``: blocking baselines in a
    row that switch the seal to its deterministic mode; ``switch_cases``: cases that a baseline needs to count for it.
    ``minimum_cases``: under it no figure is given.
    """

    pearson_expected: float = Field(ge=0, le=1)
    pearson_acceptable: float = Field(ge=0, le=1)
    kappa_expected: float = Field(ge=0, le=1)
    kappa_acceptable: float = Field(ge=0, le=1)
    max_dispersion: float = Field(ge=0, le=1)
    switch_after: int = Field(ge=1)
    switch_cases: int = Field(ge=2)
    minimum_cases: int = Field(ge=2)


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


class QaThresholds(_Section):
    """The battery's thresholds (`qa_battery.md`): scores 1-10, counts of failed questions, share of a type.

    ``systematic_share``: share of the questions of type A or B that fail for the failure to be systematic.
    """

    question_pass: float = Field(ge=1, le=10)
    question_borderline: float = Field(ge=1, le=10)
    approve: float = Field(ge=1, le=10)
    review: float = Field(ge=1, le=10)
    max_failed_c: int = Field(ge=0)
    max_failed_d: int = Field(ge=0)
    systematic_share: float = Field(gt=0, le=1)
    hallucination_penalty: float = Field(ge=0)


class SealChange(_Section):
    """A line of the seal's change log, as the app shows it. ``version`` is that of the file from then on."""

    date: str
    change: str
    version: str


class SealThresholds(_Section):
    """What the seal's signals are held against (source: the seal's specification; every value is inclusive).

    ``high_rerank`` and ``medium_rerank``: best relevance (0..1) from which an answer may be high, or medium.
    ``coverage_min``: share (0..1) of supported claims. ``supporting_min``: fragments that each support a claim by
    themselves, counted where their own relevance is at least ``supporting_relevance``. ``answered_weight``,
    ``relevance_weight`` and ``answered_intercept``: see `core.seal.signals.recalibrated`.
    """

    high_rerank: float = Field(gt=0, le=1)
    medium_rerank: float = Field(gt=0, le=1)
    coverage_min: float = Field(gt=0, le=1)
    supporting_min: int = Field(ge=1)
    supporting_relevance: float = Field(ge=0, le=1)
    answered_weight: float = Field(gt=0)
    relevance_weight: float = Field(gt=0)
    answered_intercept: float
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


class DocumentsThresholds(_Section):
    """Private documents. ``answerable``: the probability (0..1) from which a private fragment is quoted.

    ``prior_own``, ``prior_bare``, ``prior_plain``: how likely the own documents answer, before they are looked at, a
    question that speaks of one of them (``prior_named``: of the one that has its kind or name), one that may mean them
    ("¿qué total sale?"), and any other; ``prior_refused``: any other that the corpus cannot answer. ``rule_beside``:
    relevance from which a public fragment is quoted beside.
    """

    answerable: float = Field(gt=0, lt=1)
    prior_own: float = Field(gt=0, lt=1)
    prior_named: float = Field(gt=0, lt=1)
    prior_bare: float = Field(gt=0, lt=1)
    prior_plain: float = Field(gt=0, lt=1)
    prior_refused: float = Field(gt=0, lt=1)
    rule_beside: float = Field(ge=0, le=1)


class Thresholds(_Section):
    """Every threshold, with the version and date of the file."""

    version: str
    date: str
    scope: ScopeThresholds
    calibration: CalibrationThresholds
    verify: VerifyThresholds
    qa: QaThresholds
    seal: SealThresholds
    drift: DriftThresholds
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
