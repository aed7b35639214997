"""Stored measurements of the calibration. Written once, never changed. Saved through `core.calibration.baselines`."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import select

from core.records.database import Database
from core.records.interactions import utc_now
from core.records.schema import baselines


@dataclass(frozen=True, slots=True)
class Baseline:
    """A measurement. ``n`` counts the cases behind ``pearson`` (None where unmeasured, as ``kappa``); ``details`` is the
    whole measurement as JSON types, with every version."""

    created_at: str
    saved_by: str
    prompt_version: str
    model: str
    corpus_version: str
    thresholds_version: str
    n: int
    pearson: float | None
    kappa: float | None
    details: Mapping[str, Any]
    id: int = 0


def append_baseline(
    database: Database,
    *,
    saved_by: str,
    versions: Mapping[str, str],
    n: int,
    pearson: float | None,
    kappa: float | None,
    details: Mapping[str, Any],
) -> int:
    """Store a baseline and give its number. ``versions``: prompt, model, corpus and thresholds."""
    row = {
        "created_at": utc_now(), "saved_by": saved_by[:200], "prompt_version": versions.get("prompt", "")[:80],
        "model": versions.get("model", "")[:200], "corpus_version": versions.get("corpus", "")[:80],
        "thresholds_version": versions.get("thresholds", "")[:80], "n": n, "pearson": pearson, "kappa": kappa,
        "details": dict(details),
    }  # fmt: skip
    with database.writing() as connection:
        key = connection.execute(baselines.insert().values(row)).inserted_primary_key
        assert key is not None
        return int(key[0])


def list_baselines(database: Database) -> list[Baseline]:
    """All baselines, oldest first."""
    with database.reading() as connection:
        return [Baseline(**row) for row in connection.execute(select(baselines).order_by(baselines.c.id)).mappings()]
