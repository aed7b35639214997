"""Question packs by category: run beside a battery, shown, never scored."""

import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from core.config import PROJECT_ROOT
from core.errors import RegisterError
from core.qa.models import GivenAnswer
from core.qa.run import Answerer, given_answer

PACKS_PATH = PROJECT_ROOT / "data" / "qa" / "packs.toml"


@dataclass(frozen=True, slots=True)
class Pack:
    """A named set of questions for a category of documents."""

    category: str
    name: str
    questions: tuple[str, ...]


def load_packs(category: str = "", path: Path = PACKS_PATH) -> tuple[Pack, ...]:
    """The packs of a category (all of them for ''); none for a category without packs.

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
    return tuple(pack for pack in packs if category in ("", pack.category))


def run_pack(
    pack: Pack, answerer: Answerer, progress: Callable[[int], object] = lambda _: None
) -> tuple[GivenAnswer, ...]:
    """What the engine answers to each question, in order; no judge sees it. ``progress`` is told how many are done."""
    given = []
    for number, question in enumerate(pack.questions, start=1):
        given.append(given_answer(question, question, answerer))
        progress(number)
    return tuple(given)
