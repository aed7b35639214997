"""Expected questions: what people ask that a fragment answers, written from the fragment alone.

They are keyed by an anchor (a stretch of the fragment's own text) and not by its id, so that they survive a change of
the fragments' size. Most say as well which sentences of the fragment answer (read and marked one by one by people who
maintain this): a sentence is named by a hash of its letters and figures, so that a mark holds for exactly the words
that were read, and falls with them.
"""

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.config import PROJECT_ROOT
from core.errors import RegisterError
from core.models import Fragment

EXPECTED_PATH = PROJECT_ROOT / "data" / "expected_questions.jsonl"
# An anchor is looked for by its first letters and figures, so that white space and signs do not matter.
_ANCHOR_LENGTH = 110


@dataclass(frozen=True, slots=True)
class ExpectedQuestions:
    """The questions that one place of a document answers.

    ``answers``: for each of `all`, the keys of the sentences that answer, the most decisive first; () where none
    does, None where nobody has read it yet.
    """

    doc_id: str
    page: int | None
    section: str
    anchor: str
    questions: tuple[str, ...]
    second: tuple[str, ...] = ()
    answers: tuple[tuple[str, ...] | None, ...] = ()

    @property
    def all(self) -> tuple[str, ...]:
        """The questions of both rounds of writing (the second serves the training as unseen questions)."""
        return (*self.questions, *self.second)


@dataclass(frozen=True, slots=True)
class KnownAnswers:
    """Which sentences answer an expected question, by document and question."""

    sentences: Mapping[tuple[str, str], tuple[str, ...]]

    def of(self, doc_id: str, question: str) -> tuple[str, ...] | None:
        """Keys of the sentences (`sentence_key`), the most decisive first; None where nobody has marked them."""
        return self.sentences.get((doc_id, question))


def known_answers(expected: Iterable[ExpectedQuestions]) -> KnownAnswers:
    """The marks of all ``expected`` questions."""
    return KnownAnswers(
        {
            (item.doc_id, question): keys
            for item in expected
            for question, keys in zip(item.all, item.answers, strict=False)
            if keys is not None
        }
    )


def sentence_key(text: str) -> str:
    """The name of a sentence: a hash of its letters and figures (12 hexadecimal digits)."""
    return hashlib.blake2b(_fold(text).encode(), digest_size=6).hexdigest()


def load_expected(path: Path = EXPECTED_PATH) -> dict[str, list[ExpectedQuestions]]:
    """All expected questions by document.

    Raises:
        RegisterError: a line is not valid.
    """
    found: dict[str, list[ExpectedQuestions]] = {}
    for number, line in enumerate(path.read_text("utf-8").splitlines(), start=1):
        try:
            data = json.loads(line)
            item = ExpectedQuestions(
                doc_id=data["doc_id"],
                page=data["page"],
                section=data["section"],
                anchor=data["anchor"],
                questions=tuple(data["questions"]),
                second=tuple(data.get("second", ())),
                answers=_answers(data),
            )
        except (ValueError, KeyError, TypeError, IndexError) as error:
            raise RegisterError(
                f"La línea {number} de {path.name} no es válida. Restaure el archivo del repositorio."
            ) from error
        found.setdefault(item.doc_id, []).append(item)
    return found


def _answers(data: Mapping[str, Any]) -> tuple[tuple[str, ...] | None, ...]:
    """In the file ``sentences`` holds each key once, and ``answers`` their places in it."""
    keys = data.get("sentences", ())
    return tuple(None if marked is None else tuple(keys[i] for i in marked) for marked in data.get("answers", ()))


def match_to_fragments(
    expected: Sequence[ExpectedQuestions], fragments: Sequence[Fragment]
) -> tuple[list[tuple[Fragment, str]], int]:
    """Each question with the fragment that holds its anchor, and how many places were not found.

    Where several fragments hold the anchor, page and section decide.
    """
    folded = [(fragment, _fold(fragment.text)) for fragment in fragments]
    by_section: dict[str, list[tuple[Fragment, str]]] = {}
    for pair in folded:
        by_section.setdefault(pair[0].section_label, []).append(pair)
    pairs: list[tuple[Fragment, str]] = []
    lost = 0
    for item in expected:
        found = _find(item, by_section.get(item.section, ())) or _find(item, folded, anywhere=True)
        if found is None:
            lost += 1
            continue
        pairs.extend((found, question) for question in item.all)
    return pairs, lost


def _find(
    item: ExpectedQuestions, folded: Sequence[tuple[Fragment, str]], *, anywhere: bool = False
) -> Fragment | None:
    """The fragment that holds the item's anchor: on its page and in its section before others, then the first.

    Only on its page, unless ``anywhere``: where the page and the section agree nothing else need be looked at.
    """
    anchor = _fold(item.anchor)[:_ANCHOR_LENGTH]
    hits = [f for f, text in folded if (anywhere or _on_page(f, item.page)) and anchor in text]
    return min(
        hits, key=lambda f: (not _on_page(f, item.page), f.section_label != item.section, f.ordinal), default=None
    )


def _on_page(fragment: Fragment, page: int | None) -> bool:
    if page is None or fragment.page is None:
        return page == fragment.page
    return fragment.page <= page <= (fragment.page_end or fragment.page)


def _fold(text: str) -> str:
    return re.sub(r"[\W_]+", "", text.casefold())
