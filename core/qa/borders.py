"""Type C without a model: what the document does not treat, what is newer than it, what it leaves open, where it ends."""

import re
import tomllib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from random import Random

from core.config import PROJECT_ROOT
from core.errors import RegisterError
from core.models import Fragment
from core.qa.candidates import Candidate
from core.qa.models import BookInfo, Form
from core.qa.naming import chapters_line, is_official, named, plain_heading, topic_of
from core.qa.text import DocumentText
from core.retrieval.terms import stems

TOPICS_PATH = PROJECT_ROOT / "data" / "qa" / "topics.toml"
# A passage this near to a topic, in places of the ranking by cosine, must not speak of it: see `absent`.
_LOOKED_AT = 3
_EXCLUDES = re.compile(
    r"\bno\b.*\b(?:aplic\w+|exig\w+|admit\w+|proced\w+|sujet\w+|obligad\w+)|\bexclu(?:id|ye)\w*|\bexceptu\w+",
    re.IGNORECASE,
)
_SPEAKS_OF_ENDS = re.compile(
    r"\b(?:no (?:será|es|son|se aplic)|exclui|exclusi|exceptua|excepto|salvo|no aplicación|ámbito|territori)",
    re.IGNORECASE,
)

Nearest = Callable[[str], Sequence[Fragment]]
"""The fragments of the document nearest to a phrase by vector, best first."""


@dataclass(frozen=True, slots=True)
class Topics:
    """The file's topics (kind, text, terms), laws (text, terms) and authors."""

    topics: tuple[tuple[str, str, tuple[str, ...]], ...]
    laws: tuple[tuple[str, tuple[str, ...]], ...]
    authors: tuple[str, ...]


@lru_cache(maxsize=2)
def load_topics(path: Path = TOPICS_PATH) -> Topics:
    """Read the topics.

    Raises:
        RegisterError: the file is not valid.
    """
    try:
        data = tomllib.loads(path.read_text("utf-8"))
        return Topics(
            tuple((t["kind"], t["text"], tuple(t["terms"])) for t in data["topic"]),
            tuple((law["text"], tuple(law["terms"])) for law in data["law"]),
            tuple(a["text"] for a in data["author"]),
        )
    except (OSError, tomllib.TOMLDecodeError, KeyError, TypeError) as error:
        raise RegisterError(
            f"data/qa/topics.toml no es válido ({error}). Restaure el archivo del repositorio."
        ) from error


def absent(terms: Sequence[str], text: DocumentText, topic: str = "", nearest: Nearest | None = None) -> bool:
    """Whether a document does not treat a topic: no fragment has all words of any of its terms.

    With ``nearest``, the passages nearest to the topic by vector must not share most of its words either.
    """
    if any(set(stems(term)) <= present for term in terms for present in text.fragment_stems):
        return False
    if nearest is None:
        return True
    asked = set(stems(topic))
    return all(len(asked & set(stems(f.text))) <= 0.6 * len(asked) for f in nearest(topic)[:_LOOKED_AT])


@dataclass(frozen=True, slots=True)
class Border:
    """A question of type C. ``said``: what the document does say of the matter, for the expected answer (may be None)."""

    form: Form
    question: str
    topic: str
    expected: str
    said: Candidate | None
    limit: str
    fragment: Fragment | None = None


def absent_topics(book: BookInfo, text: DocumentText, rng: Random, nearest: Nearest | None) -> Iterator[Border]:
    """Topics that the document does not treat, in an order that the seed decides."""
    kind = (
        "tax"
        if is_official(book) or "tribut" in book.category.casefold() or "fiscal" in book.category.casefold()
        else "general"
    )
    topics = [t for t in load_topics().topics if t[0] == kind]
    rng.shuffle(topics)
    for _, topic, terms in topics:
        if not absent(terms, text, topic, nearest):
            continue
        question = (
            f"¿Qué dice {named(book)} sobre {topic}?"
            if not topic.startswith("cómo")
            else f"¿Explica {named(book)} {topic}?"
        )
        expected = (
            f"{_capital(named(book))} no trata {topic}: ninguna de sus secciones habla de ello, así que no se "
            f"puede responder con este "
            f"documento. Lo que trata es, entre otras cosas: {chapters_line(text)}. Para esa cuestión hay que "
            f"acudir a otra fuente."
        )
        yield Border(
            Form.ABSENT_TOPIC,
            question,
            topic,
            expected,
            None,
            f"No debe explicar {topic} como si el documento lo tratara.",
        )


def newer(book: BookInfo, text: DocumentText, places: Sequence[Fragment], *, story: bool = False) -> Iterator[Border]:
    """Later research or reforms against what the document says."""
    for fragment in places:
        topic, name = _topic(fragment, story), named(book)
        if is_official(book):
            question = f"¿Hay alguna sentencia o estudio posterior que contradiga lo que dice {name} sobre {topic}?"
        else:
            what = "cuenta" if story else "dice"
            question = (
                f"¿Hay alguna investigación más reciente que contradiga lo que {what} {name} {_on(topic, story)}?"
            )
        lead = f"{_capital(name)} no puede decirlo: no recoge nada posterior a su propio texto. {_says(topic, story)}"
        yield Border(
            Form.NEWER_RESEARCH,
            question,
            topic,
            lead,
            None,
            "No debe inventar estudios, sentencias ni reformas posteriores.",
            fragment,
        )


def limitations(
    book: BookInfo, text: DocumentText, places: Sequence[Fragment], *, story: bool = False
) -> Iterator[Border]:
    """What the document leaves open."""
    for fragment in places:
        topic, name = _topic(fragment, story), named(book)
        question = f"¿Qué limitaciones tiene lo que dice {name} sobre {topic}?"
        if not is_official(book):
            what = "deja sin contar" if story else "deja sin explicar"
            question = f"¿Qué {what} {name} {_on(topic, story)}?"
        lead = (
            f"{_capital(name)} no señala sus propias limitaciones en este punto y fuera de lo que dice no permite "
            f"afirmar nada. {_says(topic, story)}"
        )
        yield Border(
            Form.LIMITATION,
            question,
            topic,
            lead,
            None,
            "No debe atribuir al documento límites o críticas que no hace.",
            fragment,
        )


def not_applicable(
    book: BookInfo, text: DocumentText, found: Sequence[Candidate], places: Sequence[Fragment], *, story: bool = False
) -> Iterator[Border]:
    """Where the document's rules end: the document's own words where it has them, else that it does not say."""
    for candidate in found:
        if (
            candidate.form in (Form.CONDITION, Form.LIST)
            and _EXCLUDES.search(candidate.question)
            and "quién" not in candidate.question.casefold()
        ):
            yield Border(
                Form.NOT_APPLICABLE,
                candidate.question,
                "",
                "",
                candidate,
                "No debe añadir exclusiones que el documento no recoge.",
            )
    for fragment in places:
        topic = _topic(fragment, story)
        whole = "\n".join(f.text for f in text.fragments if f.section_path == fragment.section_path)
        if not story and _SPEAKS_OF_ENDS.search(f"{fragment.section_label}\n{whole}"):
            continue
        name = named(book)
        if is_official(book):
            question = f"¿Sirve también en otros países lo que establece {name} sobre {topic}?"
            lead = f"{_capital(name)} no dice que sea aplicable en otros países. Lo que dice sobre {topic} es: "
        else:
            question = f"¿En qué situaciones no serviría lo que enseña {name} {_on(topic, story)}?"
            lead = f"{_capital(name)} no dice en qué situaciones no serviría. Lo que dice {_on(topic, story)} es: "
        yield Border(
            Form.NOT_APPLICABLE,
            question,
            topic,
            lead,
            None,
            "No debe inventar dónde se aplica o deja de aplicarse.",
            fragment,
        )


def _topic(fragment: Fragment, story: bool) -> str:
    """What a section is about; of a story, its chapter's name in quotation marks."""
    if story:
        return f"«{plain_heading(fragment.section_label)[0] or fragment.section_label}»"
    return topic_of(fragment)[0]


def _says(topic: str, story: bool) -> str:
    return f"Lo que dice {_on(topic, story)} es: "


def _on(topic: str, story: bool) -> str:
    return f"en el capítulo {topic}" if story else f"sobre {topic}"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
