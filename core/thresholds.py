"""The thresholds of ``data/thresholds.toml``, validated."""

import tomllib
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from core.config import PROJECT_ROOT
from core.errors import RegisterError

THRESHOLDS_PATH = PROJECT_ROOT / "data" / "thresholds.toml"


@dataclass(frozen=True, slots=True)
class Thresholds:
    """``answerable``: the probability (0..1) from which a question is answered and not refused."""

    version: str
    answerable: float


@lru_cache(maxsize=4)
def load_thresholds(path: Path = THRESHOLDS_PATH) -> Thresholds:
    """Read and check the thresholds.

    Raises:
        RegisterError: the file is missing, is no TOML, or a value is absent or outside 0..1.
    """
    try:
        data = tomllib.loads(path.read_text("utf-8"))
        found = Thresholds(
            version=str(data["version"]),
            answerable=float(data["scope"]["answerable"]),
        )
    except (OSError, tomllib.TOMLDecodeError, KeyError, TypeError, ValueError) as error:
        raise RegisterError(
            f"data/thresholds.toml no es válido ({error}). Restaure el archivo del repositorio."
        ) from error
    if not 0 <= found.answerable <= 1:
        raise RegisterError(
            "data/thresholds.toml no es válido: los umbrales van de 0 a 1. Restaure el archivo del repositorio."
        )
    return found
