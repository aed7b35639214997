"""Answerability where one document is asked, and not the corpus: whether it has a passage on what is asked.

The models of scope and relevance are trained on questions to the whole corpus or to a whole session: of questions that
a single document answers, the scope's refuses more than a third, since their wording leaves out what the document is
about («¿qué se entiende por acceso completo?»).
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import replace

from core.answering.scope import Assessment
from core.answering.stated import stated_in
from core.models import Category, Fragment
from core.retrieval.search import SearchResult
from core.retrieval.terms import stems

# Refusals that say that the corpus is no help; those that say why (another territory, another year) stay.
_UNHELPFUL = ("no_answer", "out_of_scope", "social_security")
_NAMED_BOOK = re.compile(r"\b(?:libro|novela|obra|documento|manual|texto)\s+«[^»]+»", re.IGNORECASE)
# «Tengo dudas sobre …»: what follows is what is asked.
_DOUBT = re.compile(r"\bdudas? (?:sobre|acerca de|con)\s+(?P<topic>[^.?]+)", re.IGNORECASE)


def coverage(question: str, passage: Fragment, weight: Callable[[str], float]) -> float:
    """The share (0..1, by weight) of what is asked that a passage with its headings holds.

    Asked is what the question states of the document where it states something. The document's name does not count: it
    says which document is asked, and not what.
    """
    stated, doubt = stated_in(question), _DOUBT.search(question)
    text = stated.text if stated else doubt["topic"] if doubt else _NAMED_BOOK.sub(" ", question)
    named = set(stems(passage.title))
    wanted = {term: weight(term) for term in stems(text) if term not in named}
    total = sum(wanted.values())
    there = set(stems("\n".join((passage.text, *passage.section_path))))
    return sum(wanted[term] for term in wanted.keys() & there) / total if total else 0.0


def covered(question: str, passages: Iterable[Fragment], weight: Callable[[str], float], *, threshold: float) -> bool:
    """Whether one of the passages holds at least ``threshold`` of what is asked."""
    return any(coverage(question, passage, weight) >= threshold for passage in passages)


def of_one_document(
    verdict: Assessment, question: str, result: SearchResult, *, weight: Callable[[str], float], threshold: float
) -> Assessment:
    """The verdict where one document is asked: a question that a passage of it covers is answered.

    A year in a statement that is to be checked is not the year that is asked for.
    """
    unhelpful = verdict.kind in _UNHELPFUL or (verdict.kind == "other_year" and stated_in(question) is not None)
    if not verdict.refusal or verdict.is_no_question or not unhelpful:
        return verdict
    if not covered(question, (hit.fragment for hit in result.found), weight, threshold=threshold):
        return verdict
    return replace(verdict, category=Category.DIRECT, kind="answerable", refusal="")
