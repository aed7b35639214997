"""Question packs by category: run beside a battery, shown, never scored."""

import tomllib
from dataclasses import dataclass
from pathlib import Path

from core.config import PROJECT_ROOT
from core.errors import RegisterError

PACKS_PATH = PROJECT_ROOT / "data" / "qa" / "packs.toml"


@dataclass(frozen=True, slots=True)
class Pack:
    """A named set of questions for a category of documents."""

    category: str
    name: str
    questions: tuple[str, ...]


def load_packs(category: str = "tax", path: Path = PACKS_PATH) -> tuple[Pack, ...]:
    """The packs of a category; none for a category without packs.

    Raises:
        RegisterError: the file is not valid.
    """
    try:
        rows = tomllib.loads(path.read_text("utf-8"))["pack"]
        packs = [Pack(row["category"], row["name"], tuple(row["questions"])) for row in rows]
    except (OSError, tomllib.TOMLDecodeError, KeyError, TypeError) as error:
        raise RegisterError(
            f"data/qa/packs.toml no es válido ({error}). Restaure el archivo del repositorio."
        ) from error
    return tuple(pack for pack in packs if pack.category == category)
