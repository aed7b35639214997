"""Is the question ours, and can the corpus answer it? Category, kind and what to say when the answer is no."""

from dataclasses import dataclass

import numpy as np

from core.answering.scope_model import (
    KINDS,
    ScopeModel,
    evidence_features,
    load_scope_model,
    trusted,
)
from core.answering.signs import (
    ScopeData,
    Signs,
    has_known_words,
    is_greeting,
    is_instruction,
    is_other_language,
    load_scope,
    read_signs,
)
from core.models import Category
from core.retrieval.search import SearchResult
from core.thresholds import ScopeThresholds

__all__ = [  # what engine and services use
    "Assessment",
    "ScopeModel",
    "assess",
    "is_other_language",
    "load_scope",
    "load_scope_model",
    "refusal",
    "trusted",
]

# From this probability of being about another year, a question that names one which the best fragments do not speak of
# is told so. Of the training questions about other years 98 % reach 0.89, of the others that name one hardly any 0.6.
_OTHER_YEAR_SURE = 0.7


@dataclass(frozen=True, slots=True)
class Assessment:
    """The verdict on a question. ``refusal`` is what to say where it is not to be answered ('' where it is).

    ``is_no_question``: it is a greeting, an order or no words at all, whatever documents there are.
    """

    category: Category
    kind: str
    answerable: float
    refusal: str = ""
    is_no_question: bool = False


def assess(question: str, result: SearchResult, model: ScopeModel, *, thresholds: ScopeThresholds) -> Assessment:
    """Decide category and kind, and whether the evidence suffices."""
    scope = load_scope()
    for matches, text in (
        (not has_known_words(question), "unclear"),
        (is_greeting(question, scope), "greeting"),
        (is_instruction(question, scope), "out_of_scope"),
    ):
        if matches:
            return Assessment(Category.OUT_OF_SCOPE, "out_of_scope", 0.0, scope.answers[text], is_no_question=True)
    signs = read_signs(question, scope)
    kinds = model.kinds(result.vector, question, signs)
    answerable = model.answerable(evidence_features(result, kinds, signs))
    if kinds[KINDS.index("other_year")] >= _OTHER_YEAR_SURE and _asks_for_another_year(signs, result):
        return Assessment(_category("other_year"), "other_year", answerable, refusal("other_year", signs, scope))
    if answerable >= thresholds.answerable:
        personal = model.personal(result.raw, question) >= thresholds.personal
        return Assessment(Category.PERSONAL_CASE if personal else Category.DIRECT, "answerable", answerable)
    kind = KINDS[1 + int(np.argmax(kinds[1:]))]
    if signs.territory is not None and (signs.own_place or kind == "territory") and not signs.counterpart:
        kind = "territory"
    elif signs.other_year is not None and signs.year_is_asked:
        kind = "other_year"
    elif (kind == "territory" and signs.territory is None) or (kind == "other_year" and signs.other_year is None):
        kind = "no_answer"
    return Assessment(_category(kind), kind, answerable, refusal(kind, signs, scope))


def _asks_for_another_year(signs: Signs, result: SearchResult) -> bool:
    """Whether the year asked for is one that the best fragments do not speak of."""
    if signs.other_year is None or not signs.year_is_asked:
        return False
    year = str(signs.other_year)
    return not any(year in hit.fragment.text for hit in result.found[:2])


def _category(kind: str) -> Category:
    return Category.NO_ANSWER if kind in ("no_answer", "other_year") else Category.OUT_OF_SCOPE


def refusal(kind: str, signs: Signs, scope: ScopeData) -> str:
    """What to say to a question that is not answered: why, and who can."""
    if kind == "territory" and signs.territory is not None:
        return (
            f"Su pregunta es de {signs.territory.name}, que tiene normas o impuestos propios. AsesorIA solo conoce los del "
            f"territorio común y no responde con ellos. La administración competente es {signs.territory.administration}."
        )
    if kind == "other_year" and signs.other_year is not None:
        return (
            f"Su pregunta es del año {signs.other_year}, y los documentos de AsesorIA cubren {scope.covered_text}. "
            f"Las cuantías y los plazos cambian de un año a otro, así que no respondo con los de otro. "
            "Consulte el manual de ese año en la sede de la Agencia Tributaria."
        )
    if kind == "social_security":
        return scope.social_security_answer
    return scope.answers["out_of_scope" if kind == "out_of_scope" else "no_answer"]
