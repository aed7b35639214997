"""The benchmark's questions, and when a fragment answers one."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from core.config import PROJECT_ROOT
from core.errors import RegisterError
from core.models import Category, Fragment
from core.retrieval.terms import fold as without_accents

BENCHMARK_PATH = PROJECT_ROOT / "data" / "eval" / "benchmark.json"


@dataclass(frozen=True, slots=True)
class Gold:
    """Where the answer stands. ``evidence`` is searched in the cleaned text with white space folded.

    ``part`` tells apart the pieces of a question over several documents (0: any one entry is enough).
    """

    doc_id: str
    evidence: re.Pattern[str]
    page: int | None = None
    article: str = ""
    part: int = 0


@dataclass(frozen=True, slots=True)
class Item:
    """A question with what a right answer needs. ``facts``: each a list of alternatives, one of which must match."""

    id: str
    question: str
    category: Category
    kind: str
    gold: tuple[Gold, ...]
    facts: tuple[tuple[re.Pattern[str], ...], ...]
    split: str = ""
    topic: str = ""

    @property
    def answerable(self) -> bool:
        """Whether the corpus holds an answer."""
        return self.category in (Category.DIRECT, Category.PERSONAL_CASE)


def load_benchmark(path: Path = BENCHMARK_PATH) -> tuple[Item, ...]:
    """Read a benchmark file; ``split``, ``kind``, ``facts`` and ``topic`` may be missing.

    Raises:
        RegisterError: it cannot be read, or an item is not valid; says which.
    """
    try:
        data = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise RegisterError(f"No se puede leer {path.name}: hace falta una lista JSON de preguntas.") from error
    items = []
    for number, raw in enumerate(data, start=1):
        try:
            items.append(
                Item(
                    id=str(raw.get("id", number)),
                    question=raw["question"],
                    category=Category(raw["category"]),
                    kind=raw.get("kind", "plain"),
                    gold=tuple(_gold(g) for g in raw.get("gold") or ()),
                    facts=tuple(tuple(re.compile(a) for a in fact) for fact in raw.get("facts") or ()),
                    split=raw.get("split", ""),
                    topic=raw.get("topic", ""),
                )
            )
        except (KeyError, ValueError, TypeError, re.error) as error:
            raise RegisterError(f"La pregunta {number} de {path.name} no es válida ({error}).") from error
    return tuple(items)


def _gold(raw: dict[str, object]) -> Gold:
    page = raw.get("page")
    return Gold(
        doc_id=str(raw["doc_id"]),
        evidence=re.compile(str(raw["evidence"]), re.IGNORECASE),
        page=int(str(page)) if page is not None else None,
        article=str(raw.get("article") or ""),
        part=int(str(raw.get("part") or 0)),
    )


def fold(text: str) -> str:
    """White space folded to single spaces."""
    return re.sub(r"\s+", " ", text)


def matches(gold: Gold, fragment: Fragment) -> bool:
    """Whether the fragment holds the evidence."""
    return gold.doc_id == fragment.doc_id and gold.evidence.search(fold(fragment.text)) is not None


def answers(item: Item, fragment: Fragment) -> bool:
    """Whether the fragment holds any of the item's evidence."""
    return any(matches(gold, fragment) for gold in item.gold)


def on_page(item: Item, fragment: Fragment) -> bool:
    """Whether the fragment stands on a page, or in an article, where the answer stands."""
    for gold in item.gold:
        if gold.doc_id != fragment.doc_id:
            continue
        if gold.page is not None and fragment.page is not None:
            if fragment.page <= gold.page <= (fragment.page_end or fragment.page):
                return True
        elif gold.article and any(gold.article.casefold() in part.casefold() for part in fragment.section_path):
            return True
    return False


def all_parts(item: Item, fragments: Sequence[Fragment]) -> bool:
    """Whether every part of a question over several documents is among the fragments."""
    parts = {gold.part for gold in item.gold}
    return all(any(matches(g, f) for g in item.gold if g.part == part for f in fragments) for part in parts)


def facts_stated(item: Item, answer: str) -> list[bool]:
    """Which facts the answer (its ``[n]`` aside) states; case and accents do not matter."""
    text = fold(re.sub(r"\[\d+\]", "", answer))
    forms = (text.casefold(), without_accents(text))
    return [any(alt.search(form) for alt in fact for form in forms) for fact in item.facts]


def has_facts(item: Item, answer: str) -> bool:
    """Whether the answer states every fact."""
    return all(facts_stated(item, answer))
