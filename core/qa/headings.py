"""Questions that take their topic from the headings, and what headings add to a question that is too general."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from core.qa.candidates import Candidate
from core.qa.generator_rules import BARE
from core.qa.models import BookInfo, Form
from core.qa.naming import about, is_official, named, plain_heading, topic_of
from core.qa.spanish import with_article
from core.qa.text import DocumentText, self_contained
from core.retrieval.terms import stems

# A question with fewer words of its own than this is asked within its section's topic.
_SPECIFIC, _SPECIFIC_CASE = 4, 7
_NEED_CONTEXT = (Form.CONSEQUENCE, Form.CASE, Form.CONDITION, Form.LIST, Form.INFERENCE)
_VAGUE, _VAGUE_WORDS = 0.6, 3
_SECTION_WORDS = 45
_HEADING_QUALITY, _CASE_QUALITY, _RELATED_QUALITY = 0.55, 0.4, 0.85


def with_context(candidate: Candidate, text: DocumentText) -> Candidate:
    """The question within its section's topic, where it is too general alone."""
    own = set(stems(candidate.question))
    wanted = _SPECIFIC_CASE if candidate.form in (Form.CONSEQUENCE, Form.CASE) else _SPECIFIC
    if (
        candidate.form in (Form.DEFINITION, Form.RELATION) and not candidate.question.startswith("¿En qué consiste")
    ) or len(own - BARE) >= wanted:
        return candidate
    topic, _ = topic_of(candidate.fragment)
    named_there = set(stems(topic))
    if (
        not topic
        or re.search(r"\b\w+r(?:á|án)\b", topic)
        or len(named_there - own) < max(2, 0.6 * len(named_there))
        or len(candidate.question.split()) + len(topic.split()) > 36
    ):
        vague = candidate.form in _NEED_CONTEXT and len(own - BARE) < _VAGUE_WORDS
        return replace(candidate, quality=candidate.quality - _VAGUE) if vague else candidate
    question = candidate.question
    if not question.startswith("¿"):
        return candidate
    return replace(candidate, question=f"{about(topic)}, ¿{question[1].lower()}{question[2:]}")


def heading_candidates(book: BookInfo, text: DocumentText, *, story: bool) -> Iterator[Candidate]:
    """What the document says on the topic of each section that has a name."""
    seen: set[str] = set()
    for section in text.sections:
        first = section[0]
        if first.kind == "table" or sum(len(f.text.split()) for f in section) < _SECTION_WORDS:
            continue
        here = [s for s in text.statements if s.fragment.id == first.id]
        standing = next((s for s in here if story or self_contained(s.text[:-1])), here[0] if here else None)
        if standing is None:
            continue
        if story:
            name, _ = plain_heading(first.section_label)
            if name and name not in seen and re.match(r"cap[ií]tulo|parte|\d", first.section_label, re.IGNORECASE):
                seen.add(name)
                question = f"¿Qué se cuenta en el capítulo «{name}»?"
                yield _made(text, Form.STATEMENT, question, standing, 0.35, name)
            continue
        topic, label = topic_of(first, deepest_only=True)
        if not topic or topic in seen:
            continue
        seen.add(topic)
        name = named(book)
        unique = label and f"{label}.".casefold() not in text.repeated_labels
        where = f"el {label} {_of(name)}" if unique else name
        verb = "establece" if book.doc_type == "norma" else "dice"
        yield _made(text, Form.STATEMENT, f"¿Qué {verb} {where} sobre {topic}?", standing, _HEADING_QUALITY, topic)
        if is_official(book):
            question = f"Un autónomo tiene dudas sobre {topic}. ¿Qué debería saber, según {name}?"
        else:
            question = f"¿Qué consejo daría {name} a alguien que tiene dudas sobre {topic}?"
        yield _made(text, Form.CASE, question, standing, _CASE_QUALITY, topic)


def _made(text: DocumentText, form: Form, question: str, standing: object, quality: float, subject: str) -> Candidate:
    from core.qa.text import Statement

    assert isinstance(standing, Statement)
    facts = tuple((t,) for t in text.key_terms(standing.text, 3, without=stems(question)))
    opening = len(standing.fragment.text.partition("\n")[0]) + 2  # up to the first sentence after the heading
    return Candidate(form, question, standing.fragment, 0, opening, facts, quality, subject)


def _of(name: str) -> str:
    return f"del {name[3:]}" if name.startswith("el ") else f"de {name}"


def related(text: DocumentText, found: Sequence[Candidate]) -> Iterator[Candidate]:
    """Two things of one name that are defined near each other: "¿Qué diferencia hay entre X e Y?"."""
    defined = [
        c for c in found
        if c.form in (Form.DEFINITION, Form.FIGURE)
        and 2 <= len(c.subject.split()) <= 8
        and not re.search(r"distint[ao]s?$|,", c.subject)
    ]  # fmt: skip
    for i, one in enumerate(defined):
        for other in defined[i + 1 :]:
            a, b = stems(one.subject), stems(other.subject)
            near = text.chapter(one.fragment) == text.chapter(other.fragment)
            if with_article(one.subject).split()[:2] != with_article(other.subject).split()[:2]:
                continue
            if (
                not near
                or not a
                or not b
                or a[0] != b[0]
                or set(a) == set(b)
                or one.form != other.form
                or set(a) <= set(b)
                or set(b) <= set(a)
            ):
                continue
            first, second = with_article(one.subject), with_article(other.subject)
            link = "e" if re.match(r"h?i(?!e)", second) else "y"
            yield Candidate(
                Form.RELATION, f"¿En qué se diferencian {first} {link} {second}?", one.fragment, one.start, one.length,
                (*one.facts[:2], *other.facts[:2]), _RELATED_QUALITY, one.subject,
                ((other.fragment, other.start, other.length),),
            )  # fmt: skip
            break
