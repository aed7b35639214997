"""The text of an answer over both sides: what stands above, between and below what was quoted or written."""

from collections.abc import Sequence
from dataclasses import replace

from core.answering.both import NO_RULE, NOT_A_RULE, OWN_HEADING, RULE_HEADING, Both, Sides, accounts
from core.answering.made import Made, personal_notice
from core.answering.premises import premise_of
from core.answering.scope import load_scope
from core.documents.record import PrivateDocument
from core.models import Category, Mode, Scope


def quoted_text(question: str, both: Both, sides: Sides, documents: Sequence[PrivateDocument]) -> Made:
    """The quotes of both sides under their headings, with what every reader of each has to know."""
    texts = load_scope().answers
    warnings = accounts(both.sources, documents)
    own_part = [OWN_HEADING, both.own, NOT_A_RULE, *warnings]
    notices = [NOT_A_RULE, *warnings]
    rule_part: list[str] = []
    if both.rule:
        units = both.rule_extract.units
        rule_part = [RULE_HEADING, both.rule, texts["common_territory"]]
        if sides.category is Category.PERSONAL_CASE:
            notices.append(personal_notice([hit for _, hit in units], [unit.text for unit, _ in units]))
            rule_part.insert(1, notices[-1])
        if premise_of(question) and not both.rule_extract.correction:
            notices.append(texts["premise"])
            rule_part.insert(1, notices[-1])
    elif sides.rule_asked:
        notices.append(NO_RULE)
        rule_part = [NO_RULE]
    ordered = [*rule_part, *own_part] if both.rule and sides.rule_first else [*own_part, *rule_part]
    return Made(
        "\n\n".join(ordered),
        both.sources,
        Mode.EXTRACTIVE,
        both.coverage,
        both.supporting,
        notices=tuple(notices),
        placed=True,
        relevances=relevances(sides if both.rule else replace(sides, rule=())),
        category=sides.category if both.rule else Category.DIRECT,
    )


def written_text(made: Made, sides: Sides, documents: Sequence[PrivateDocument]) -> Made:
    """A model's text over both with what we add: it has marked itself what only the own document says (`cite`)."""
    warnings = accounts(made.sources, documents)
    official = any(source.source_scope is Scope.PUBLIC for source in made.sources)
    above = list(made.notices) if official else []
    below = [*warnings, *([load_scope().answers["common_territory"]] if official else [])]
    return replace(
        made,
        text="\n\n".join([*above, made.text, *below]),
        notices=(*above, *warnings),
        placed=True,
        relevances=relevances(sides),
        category=sides.category if official else Category.DIRECT,
    )


def relevances(sides: Sides) -> tuple[float, ...]:
    """Of all fragments that the answer was made from."""
    return tuple(hit.relevance for hit in sides.hits)
