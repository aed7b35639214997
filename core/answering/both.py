"""Answers over both: what the user's document says and what the rule says, never one as the other."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from core.answering.extractive import Extract, compose, extract
from core.answering.scope import Assessment, load_scope
from core.documents.record import PrivateDocument
from core.documents.relevance import at_prior
from core.documents.search import SessionResult
from core.models import Category, Fragment, RetrievedFragment, Source
from core.retrieval.terms import TermStatistics
from core.thresholds import DocumentsThresholds

OWN_HEADING = "### Según su documento"
RULE_HEADING = "### Según la norma"
_NOT_A_RULE = "_Es lo que dice su documento; no es una norma ni una comprobación de que esté bien._"
_NO_RULE = "_Sobre la norma, los documentos oficiales no dan respuesta suficiente a esta pregunta._"
_PLACEHOLDER = re.compile(r"<[^\W\d_]+(?:_[^\W\d_]+)*_?\d*>|\n")


@dataclass(frozen=True, slots=True)
class Both:
    """The text of an answer over both, with its sources and category."""

    text: str
    sources: tuple[Source, ...]
    category: Category


def own_hits(result: SessionResult, verdict: Assessment, known: DocumentsThresholds) -> tuple[RetrievedFragment, ...]:
    """The private fragments to quote from: those that answer, and none where they do not suffice.

    That the corpus cannot answer a question makes it likelier that it is about the own documents.
    """
    hits = result.private
    if verdict.refusal and not result.reference.any:
        before, after = known.prior_plain, known.prior_refused
        hits = tuple(replace(h, relevance=at_prior(h.relevance, before=before, after=after)) for h in hits)
    return tuple(hit for hit in hits if hit.relevance >= known.answerable)


def wants_rule(result: SessionResult, verdict: Assessment, known: DocumentsThresholds) -> bool:
    """Whether the public part is shown beside the private one: it can be answered, and the rule is asked for, or
    the question names no document of one's own and a public fragment fits it well enough."""
    if verdict.refusal or not result.public.found:
        return False
    fits = result.public.found[0].relevance >= known.rule_beside
    return result.reference.rule or (fits and not result.reference.own)


def rule_first(result: SessionResult) -> bool:
    """Whether the rule stands before the own document: nothing in the question speaks of that, and the rule fits better."""
    best = result.public.found[0].relevance if result.public.found else 0.0
    return not result.reference.any and best >= result.private[0].relevance


def answer_from_both(
    question: str,
    result: SessionResult,
    verdict: Assessment,
    *,
    known: DocumentsThresholds,
    documents: Sequence[PrivateDocument],
    neighbours: Callable[[Fragment], Sequence[Fragment]],
    terms: TermStatistics,
    about: Callable[[str], tuple[int | None, str]],
) -> Both | None:
    """The answer where the private documents have part in it; None where they have not (then the public answer holds).

    ``verdict`` is the scope's on the public search alone: a question about the own document is answered from it
    even where the corpus cannot answer.
    """
    hits = own_hits(result, verdict, known)
    if not hits:
        return None
    own = extract(question, hits, neighbours=neighbours, terms=terms)
    if not own.units:
        return None
    rule = Extract(())
    if wants_rule(result, verdict, known):
        rule = extract(question, result.public.found, neighbours=neighbours, terms=terms)
    parts = (rule, own) if rule_first(result) else (own, rule)
    text, sources = compose(Extract((*parts[0].units, *parts[1].units)), about=about)
    head, _ = compose(parts[0], about=about)
    rule_text = head if parts[0] is rule else text[len(head) :].strip()
    texts = load_scope().answers
    own_part = [OWN_HEADING, _own_text(own, sources), _NOT_A_RULE, *_warnings(sources, documents)]
    rule_part: list[str] = []
    if rule_text:
        personal = [texts["personal_case"]] if verdict.category is Category.PERSONAL_CASE else []
        rule_part = [RULE_HEADING, *personal, rule_text, texts["common_territory"]]
    elif result.reference.rule:
        rule_part = [_NO_RULE]
    ordered = [*rule_part, *own_part] if rule_text and parts[0] is rule else [*own_part, *rule_part]
    joined = "\n\n".join(ordered)
    return Both(joined, sources, verdict.category if rule_text else Category.DIRECT)


def _own_text(own: Extract, sources: Sequence[Source]) -> str:
    """The private quotes with their marks; signs of Markdown mean nothing here, so that a document cannot place
    links, pictures or headings in an answer."""
    numbers = {(source.fragment_id, source.page): n for n, source in enumerate(sources, start=1)}
    lines: list[str] = []
    named: tuple[str, int | None] | None = None
    for unit, _ in own.units:
        first = unit.quotes[0]
        if (first.fragment.doc_id, first.page) != named:
            named = (first.fragment.doc_id, first.page)
            page = f", página {first.page}" if first.page is not None else ""
            lines.append(f"**{plain(first.fragment.title)}**{page}:")
        lines += [f"«{plain(q.text)}» [{numbers[(q.fragment.id, q.page)]}]" for q in unit.quotes]
    return "\n\n".join(lines)


def _warnings(sources: Sequence[Source], documents: Sequence[PrivateDocument]) -> list[str]:
    """The sums that do not add up in the documents quoted."""
    cited = {source.doc_id for source in sources}
    found = []
    for document in documents:
        if document.doc_id in cited and document.findings:
            lines = [
                f"- {plain(f.text)}{f' (página {f.page})' if document.paged and f.page else ''}"
                for f in document.findings
            ]
            intro = f"**Atención: hay cuentas que no cuadran en «{plain(document.title)}».** AsesorIA no las corrige:"
            found.append("\n".join([intro, "", *lines]))
    return found


def plain(text: str) -> str:
    """Text whose signs mean nothing to Markdown or HTML, on one line."""
    return "".join(f"\\{ch}" if ch in "\\`*_[]<>$~#|!" else ch for ch in " ".join(text.split()))


def private_passages(source: Source) -> tuple[str, ...]:
    """What of a private source's passage can be found on the page: the text between the placeholders."""
    return tuple(p.strip() for p in _PLACEHOLDER.split(source.passage) if len(p.strip()) > 2)
