"""Answers over both: what the user's document says and what the rule says, never one as the other."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from core.answering.cited import keep_cited
from core.answering.compose import compose
from core.answering.extractive import Extract, Extractor, Searched
from core.answering.parts import Part
from core.answering.ports import Verifier
from core.answering.scope import Assessment
from core.answering.untrusted import is_order, without_orders
from core.documents.record import PrivateDocument
from core.documents.reference import Reference, read_reference, without_mention
from core.documents.relevance import at_prior
from core.documents.search import SessionResult
from core.models import Category, Fragment, RetrievedFragment, Scope, Source
from core.retrieval.search import SearchResult
from core.retrieval.terms import stems
from core.thresholds import DocumentsThresholds

OWN_HEADING = "### Según su documento"
RULE_HEADING = "### Según la norma"
NOT_A_RULE = "_Es lo que dice su documento; no es una norma ni una comprobación de que esté bien._"
# Where the question speaks of an own document, and neither that nor the corpus answers it.
NEITHER = (
    "Su documento no dice nada que responda a esta pregunta, y los documentos oficiales tampoco. No respondo con nada que "
    "no esté en ellos. Si cree que sí lo dice, pruebe con las palabras del propio documento."
)
NO_RULE = "_Sobre la norma, los documentos oficiales no dan respuesta suficiente a esta pregunta._"
NOT_HERE = (
    "Ninguno de los documentos que ha subido menciona «{said}», así que no respondo con otro. Suba ese documento o, si es "
    "uno de los que están, pregunte por él de otra forma (por ejemplo, «mi factura»)."
)
# A line that says one thing, such as one of an invoice.
_SHORT_LINE = 80
_PLACEHOLDER = re.compile(r"<[^\W\d_]+(?:_[^\W\d_]+)*_?\d*>|\(\d{1,3}\)|\n")
# Signs of Markdown, HTML and of our marks. While a draft is verified, a document's own stand as private-use characters.
_SIGNS = "\\`*_[]<>$~#|!"
_SET_ASIDE = {ord(sign): 0xE000 + ord(sign) for sign in _SIGNS}
_WRITTEN = {0xE000 + ord(sign): f"\\{sign}" for sign in _SIGNS}
_ESCAPED = re.compile(rf"\\([{re.escape(_SIGNS)}])")


@dataclass(frozen=True, slots=True)
class Sides:
    """What was found on each side, for each thing asked: own documents and rule.

    ``rule_asked``: the question asks for the rule. ``rule_first``: nothing in it speaks of an own document, and the
    rule fits better. ``category``: the rule's.
    """

    own: tuple[Searched, ...]
    rule: tuple[Searched, ...]
    rule_asked: bool
    rule_first: bool
    category: Category = Category.DIRECT

    @property
    def hits(self) -> tuple[RetrievedFragment, ...]:
        """All fragments of both sides, without repeats, those of the side that comes first first."""
        ordered = (self.rule, self.own) if self.rule_first else (self.own, self.rule)
        return tuple({hit.fragment.id: hit for side in ordered for part in side for hit in part.found}.values())


@dataclass(frozen=True, slots=True)
class Both:
    """A verified text over both sides, before what we add to it. ``rule`` and ``own`` are its two parts ('' for none);
    marks count through both in the order in which they stand."""

    own: str
    rule: str
    sources: tuple[Source, ...]
    coverage: float
    supporting: int
    rule_extract: Extract


def rule_query(part: Part, result: SessionResult, reference: Reference) -> str:
    """By what the rule is searched where a question names an own document too: its words without that document, after
    the line of the document that is meant («Retención IRPF 7 %»), which says what kind of thing it is; '' for no need."""
    if not (reference.rule and result.reference.own):
        return ""
    asked = without_mention(part.query)
    wanted = set(stems(asked))
    lines = [line for hit in result.private[:2] for line in hit.fragment.text.split("\n") if len(line) <= _SHORT_LINE]
    best = max(lines, key=lambda line: len(wanted & set(stems(line))), default="")
    shared = wanted & set(stems(best))
    line = _PLACEHOLDER.sub(" ", best.partition(":")[0]) if shared else ""
    return " ".join(f"{line.strip()} {asked}".split())


def sides_of(
    results: Sequence[tuple[Part, SessionResult]],
    verdict: Assessment,
    *,
    known: DocumentsThresholds,
    documents: Sequence[PrivateDocument],
    search_rule: Callable[[str], tuple[SearchResult, Assessment]],
) -> Sides | None:
    """What answers each part of a question, by side; None where no own document has part in the answer.

    ``verdict`` is the scope's on the public search alone: a question about the own document is answered from it
    even where the corpus cannot answer. ``search_rule`` searches the corpus for another wording (see `rule_query`).
    """
    titles = [document.title for document in documents]
    several = len(results) > 1
    own, asked = [], []
    for part, result in results:
        reference = _of_part(part, result.reference, titles) if several else result.reference
        title = part.title if several else ""
        asked.append((part, result, reference, title))
        if hits := own_hits(result, verdict, known, reference):
            own.append(Searched(part.query, hits, {}, title))
    if not own:
        return None
    rule, category = [], Category.DIRECT
    for part, result, reference, title in asked:
        query, public, answers = part.query, result.public, verdict
        if other := rule_query(part, result, reference):
            query = other
            public, answers = search_rule(other)
        if wants_rule(public, answers, known, reference):
            rule.append(Searched(query, public.found, public.expected, title))
            category = answers.category if category is Category.DIRECT else category
    best_rule = max((searched.found[0].relevance for searched in rule), default=0.0)
    first = not any(r.any for _, _, r, _ in asked) and best_rule >= own[0].found[0].relevance
    return Sides(tuple(own), tuple(rule), any(r.rule for _, _, r, _ in asked), first, category)


def own_hits(
    result: SessionResult, verdict: Assessment, known: DocumentsThresholds, reference: Reference
) -> tuple[RetrievedFragment, ...]:
    """The private fragments to quote from: those that answer, and none where they do not suffice.

    That the corpus cannot answer a question makes it likelier that it is about the own documents.
    """
    if reference.rule and not reference.own and result.reference.own:
        return ()  # this part of the question leaves the document for the rule
    hits = result.private
    if verdict.refusal and not result.reference.any:
        before, after = known.prior_plain, known.prior_refused
        hits = tuple(replace(h, relevance=at_prior(h.relevance, before=before, after=after)) for h in hits)
    return tuple(hit for hit in hits if hit.relevance >= known.answerable)


def wants_rule(public: SearchResult, verdict: Assessment, known: DocumentsThresholds, reference: Reference) -> bool:
    """Whether the public part is shown beside the private one: it can be answered, and the rule is asked for, or
    the question names no document of one's own and a public fragment fits it well enough."""
    if verdict.refusal or not public.found:
        return False
    fits = public.found[0].relevance >= known.rule_beside
    return reference.rule or (fits and not reference.own)


def extract_both(
    question: str,
    sides: Sides,
    *,
    extractor: Extractor,
    about: Callable[[str], tuple[int | None, str]],
    verify: Verifier,
) -> Both | None:
    """Exact quotes of both sides, each under its heading, verified as one draft; None where no own quote is left."""
    own, rule = extractor.extract(question, sides.own), extractor.extract(question, sides.rule)
    if not own.units:
        return None
    sources: list[Source] = []
    parts = []
    for extracted in (rule, own) if sides.rule_first else (own, rule):
        if extracted.units:
            written = _aside if extracted is own else str
            text, some = compose(extracted, about=about, first=len(sources) + 1, written=written)
            parts.append(f"{OWN_HEADING if extracted is own else RULE_HEADING}\n\n{text}")
            sources += some
    draft = "\n\n".join(parts)
    hits = {q.fragment.id: _hit(hit, q.fragment) for e in (own, rule) for u, hit in e.units for q in u.quotes}
    cited = {number: hits[source.fragment_id] for number, source in enumerate(sources, start=1)}
    verified = verify(draft, cited, own=[line for line in draft.split("\n") if "«" not in line])
    text, kept = keep_cited(verified.text, sources)
    found = _split(text)
    if not any(source.source_scope is Scope.PRIVATE for source in kept) or not found[OWN_HEADING]:
        return None
    return Both(
        found[OWN_HEADING].translate(_WRITTEN), found[RULE_HEADING], kept, verified.coverage, verified.supporting, rule
    )


def own_data_only(result: SessionResult) -> SessionResult:
    """As `data_only`, of a search over both."""
    return replace(
        result,
        found=tuple(without_orders(hit) for hit in result.found),
        private=tuple(without_orders(hit) for hit in result.private),
    )


def accounts(sources: Sequence[Source], documents: Sequence[PrivateDocument]) -> tuple[str, ...]:
    """A paragraph of ours for each document cited whose sums do not add up."""
    cited = {source.doc_id for source in sources if source.source_scope is Scope.PRIVATE}
    found = []
    for document in documents:
        findings = [f for f in document.findings if not is_order(f.text)]
        if document.doc_id in cited and findings:
            intro = f"**Atención: hay cuentas que no cuadran en «{plain(document.title)}».** AsesorIA no las corrige:"
            lines = [f"- {plain(f.text)}{f' (página {f.page})' if document.paged and f.page else ''}" for f in findings]
            found.append("\n".join([intro, "", *lines]))
    return tuple(found)


def not_here(result: SessionResult, redacted: Callable[[str], str]) -> str:
    """What is said where the document asked for is none of the own ones; '' where it is, or the rule is asked for.

    ``redacted`` takes personal data out of what the question calls it by.
    """
    absent = result.absent
    if absent is None or (result.reference.rule and not absent.number):
        return ""
    return NOT_HERE.format(said=plain(redacted(absent.said)))


def plain(text: str) -> str:
    """Text whose signs mean nothing to Markdown or HTML, on one line."""
    return _aside(text).translate(_WRITTEN)


def as_shown(text: str) -> str:
    """What a reader sees of a text that `plain` has written: its signs without what takes their meaning."""
    return _ESCAPED.sub(r"\1", text)


def private_passages(source: Source) -> tuple[str, ...]:
    """What of a private source's passage can be found on the page: the text between the placeholders."""
    return tuple(p.strip() for p in _PLACEHOLDER.split(source.passage) if len(p.strip()) > 2)


def _of_part(part: Part, whole: Reference, titles: Sequence[str]) -> Reference:
    """What a part of a question refers to, by its own words: its query carries the subject of the first part."""
    own_words = read_reference(part.title, titles)
    return replace(own_words, own=own_words.own or (whole.own and not own_words.rule))


def _aside(text: str) -> str:
    """A document's text on one line, its signs set aside: it cannot place links, pictures, headings or marks."""
    return " ".join(text.split()).translate(_SET_ASIDE)


def _hit(hit: RetrievedFragment, fragment: Fragment) -> RetrievedFragment:
    """The hit as the verification reads it: an own fragment with its signs set aside, as in the draft."""
    if fragment.source_scope is Scope.PUBLIC:
        return replace(hit, fragment=fragment)
    return replace(hit, fragment=replace(fragment, text=fragment.text.translate(_SET_ASIDE)))


def _split(text: str) -> dict[str, str]:
    """The text under each of the two headings."""
    found: dict[str, list[str]] = {OWN_HEADING: [], RULE_HEADING: []}
    under: list[str] = []
    for line in text.split("\n"):
        under = found.get(line, under)
        if line not in found:
            under.append(line)
    return {heading: "\n".join(lines).strip() for heading, lines in found.items()}
