"""How a document and its parts are called in a question."""

import re

from core.models import Fragment
from core.qa.models import BookInfo
from core.qa.spanish import FINITE, article, with_article
from core.qa.text import DocumentText, bare, self_contained
from core.retrieval.terms import stems

_OFFICIAL = ("norma", "manual", "calendario", "instrucciones", "folleto")
_NUMBERING = re.compile(
    r"^(?:(?P<article>artículo \d+(?: \w{3,8})?)\.\s*|(?:capítulo|título|sección|parte|tema|"
    r"lección)\s+[\divxlc]+\.?[ªº]?[.:)]?\s*[-–—:]?\s*"
    r"|(?:epílogo|prólogo|apéndice|introducción)[.:]\s+"
    r"|(?:\d+|[A-Z]|[a-z]|[IVX]+)[.)]+\s*(?:\d+[.)]\s*)*)", re.IGNORECASE
)  # fmt: skip
_NO_NOUN = re.compile(
    rf"^(?:qué|cuándo|cómo|quién|quiénes|cuál|dónde|por|para|en|si|no|se|a|al|de|otr[oa]s?|{FINITE}|\w+(?:[aei]r|ando|iendo))\b",
    re.IGNORECASE,
)
# Headings that name no topic.
_GENERAL = re.compile(
    r"^(?:disposiciones? (?:generales|comunes|adicional\w*)|(?:normas?|condiciones) (?:generales|comunes)|"
    r"reglas? (?:general(?:es)?|especiales?|específicas?)|"
    r"supuestos? (?:general\w*|especial\w*|de \w+)|plazos? de \w+|obligaciones (?:específicas|formales)|"
    r"otr[oa]s .*|cuestiones .*|aspectos .*)$",
    re.IGNORECASE,
)
_HEADING_WORDS = 14


def is_official(book: BookInfo) -> bool:
    """Whether this is a document of the register, and not somebody's book."""
    return book.doc_type in _OFFICIAL


def named(book: BookInfo) -> str:
    """The document with its article: "el Real Decreto 1619/2012", "el libro «Título»"."""
    if not is_official(book):
        return f"el libro «{book.title}»" if book.title else "el libro"
    title = book.title.partition(",")[0].partition(":")[0].strip() if book.doc_type == "norma" else book.title
    if re.match(r"modelo", title, re.IGNORECASE):
        return f"la información del {title[0].lower()}{title[1:]}".replace(": ", " sobre ")
    words = title.split(maxsplit=1)
    if words[0].endswith("s"):  # a plural title would need other verbs
        return f"el documento «{title}»"
    return f"{'la' if words[0] == 'Ley' else article(title)} {title}"


def plain_heading(heading: str) -> tuple[str, str]:
    """A heading without its number, and "artículo N" where it is an article's ('' else)."""
    match = _NUMBERING.match(heading.strip())
    name = heading.strip()[match.end() :] if match else heading.strip()
    label = (match["article"] or "").lower() if match else ""
    return name.strip(" .:"), label


def topic_of(fragment: Fragment, *, deepest_only: bool = False) -> tuple[str, str]:
    """What a fragment's section is about, as a noun phrase with its article, and "artículo N"; ('', '') where its
    headings are no names."""
    path = fragment.section_path[-1:] if deepest_only else fragment.section_path[::-1][:2]
    for heading in path:
        name, label = plain_heading(heading)
        words = name.split()
        if (
            not 1 <= len(words) <= _HEADING_WORDS
            or _NO_NOUN.match(name)
            or _GENERAL.match(name)
            or not self_contained(name)
            or name.isupper()
        ):
            continue
        if bare(name) == bare(fragment.title) or (
            len(stems(name)) < 2 and not re.match(r"(?:el|la|los|las)\s", name, re.IGNORECASE)
        ):
            continue
        if re.search(r"[\d:;?¿…]|\b(?:y|de|a|en)$|\b(?:primer|segund|tercer|cuart)[ao]?\b|\. ", name, re.IGNORECASE):
            continue
        return with_article(name), label
    return "", ""


def about(phrase: str) -> str:
    """ "En cuanto a" before a noun phrase, contracted."""
    return f"En cuanto al {phrase[3:]}" if phrase.startswith("el ") else f"En cuanto a {phrase}"


def chapters_line(text: DocumentText, n: int = 6) -> str:
    """The first chapters' names in one line."""
    names = [plain_heading(c)[0] for c in text.chapters]
    return "; ".join(name for name in names[:n] if name)
