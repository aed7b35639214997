"""Does an answer say, in our own words, that it does not answer? The formulas are data (``data/refusals.toml``)."""

import re
import tomllib
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from core.config import PROJECT_ROOT
from core.errors import RegisterError

REFUSALS_PATH = PROJECT_ROOT / "data" / "refusals.toml"

# Up to four words between two parts of a formula.
_GAP = r"(?:\S+ ){0,4}"
_QUOTE_SIGNS = {"«": "»", "“": "”"}
_STRAIGHT_QUOTES = re.compile(r'"[^"\n]*"')
_SENTENCE_END = re.compile(r"[.!?;:…]+(?=\s|$)|\n+")
_NO_WORD = re.compile(r"(?:[^\w%]|_)+")


@dataclass(frozen=True, slots=True)
class Formula:
    """One way of saying no. ``examples`` are sentences that it finds (a test holds it to them)."""

    name: str
    pattern: re.Pattern[str]
    examples: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Refusals:
    """The reviewed list. ``harmless`` are sentences that no formula may find."""

    version: str
    formulas: tuple[Formula, ...]
    harmless: tuple[str, ...]


@lru_cache(maxsize=2)
def load_refusals(path: Path = REFUSALS_PATH) -> Refusals:
    """Read the list.

    Raises:
        RegisterError: the file is missing or not valid.
    """
    try:
        data = tomllib.loads(path.read_text("utf-8"))
        words: dict[str, str] = data["words"]
        return Refusals(
            version=data["version"],
            formulas=tuple(
                Formula(f["name"], _compiled(f["pattern"], words), tuple(f["examples"])) for f in data["formula"]
            ),
            harmless=tuple(s for group in data["harmless"] for s in group["sentences"]),
        )
    except (OSError, tomllib.TOMLDecodeError, KeyError, TypeError, re.error) as error:
        raise RegisterError(
            f"data/refusals.toml no es válido ({error}). Restaure el archivo del repositorio."
        ) from error


def _compiled(pattern: str, words: dict[str, str]) -> re.Pattern[str]:
    while (expanded := re.sub(r"\{([a-z_]+)\}", lambda m: words[m[1]], pattern)) != pattern:
        pattern = expanded
    return re.compile(rf"\b(?:{pattern.replace('~', _GAP)})\b")


def find_refusal(text: str, *, notices: Iterable[str] = (), titles: Iterable[str] = ()) -> str:
    """Name of the first formula found in our own words of ``text``, '' where there is none.

    ``notices`` are texts of ours that are no part of the answer (that of a personal case, that of the territory);
    ``titles`` are titles of sources: a line that begins with one in bold names where a quote stands.
    """
    sentences = [_folded(s) for s in _SENTENCE_END.split(own_words(text, notices=notices, titles=titles))]
    for formula in load_refusals().formulas:
        if any(formula.pattern.search(sentence) for sentence in sentences):
            return formula.name
    return ""


def own_words(text: str, *, notices: Iterable[str] = (), titles: Iterable[str] = ()) -> str:
    """``text`` without notices, lines that introduce a source, block quotes and quotations.

    A quotation mark that is never closed hides nothing: what follows it counts as our own words.
    """
    for notice in notices:
        text = text.replace(notice, "\n") if notice else text
    heads = tuple(f"**{title}**" for title in titles if title)
    lines = [
        line
        for line in text.split("\n")
        if not line.lstrip().startswith(">") and not (heads and line.startswith(heads))
    ]
    unquoted = "\n".join(lines)
    for opening, closing in _QUOTE_SIGNS.items():
        unquoted = _without_quoted(unquoted, opening, closing)
    return _STRAIGHT_QUOTES.sub(" … ", unquoted)


def _without_quoted(text: str, opening: str, closing: str) -> str:
    """Cut out what stands between balanced quotation marks, nested ones with it."""
    kept: list[str] = []
    starts: list[int] = []  # length of ``kept`` at each mark that is still open
    for ch in text:
        kept.append(ch)
        if ch == opening:
            starts.append(len(kept) - 1)
        elif ch == closing and starts:
            del kept[starts.pop() :]
            kept.append(" … ")
    return "".join(kept)


def _folded(sentence: str) -> str:
    """Lower case, words apart by one space, without accents except in «sé»."""
    words = _NO_WORD.sub(" ", unicodedata.normalize("NFC", sentence).casefold()).split()
    return " ".join(word if word == "sé" else _plain(word) for word in words)


def _plain(word: str) -> str:
    return "".join(ch for ch in unicodedata.normalize("NFD", word) if not unicodedata.combining(ch))
