"""Extractive answers: the one to four sentences, or the list, that answer; quoted exactly, each with its source."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from core.answering.cues import (
    Asked,
    fit,
    is_exception,
    is_label,
    leans,
    read_question,
    says_nothing,
    stale,
    tax_years,
)
from core.answering.units import Quote, Unit, units_of
from core.models import Fragment, RetrievedFragment, Source
from core.retrieval.terms import TermStatistics, stems

Neighbours = Callable[[Fragment], Sequence[Fragment]]
"""The fragments of the same section around one, itself included, in reading order."""

# How many of the best fragments are read for sentences.
_FRAGMENTS_READ = 5
# Of the first of them the whole section is read; a fragment next to one found has this share of its relevance.
_SECTIONS_READ = 2
_SECTION_SHARE = 0.6
# What an answer may hold: quoted sentences (a list counts as it is), and characters after which nothing is added.
_MAX_SENTENCES = 4
_MAX_CHARS = 1100
# The share of the question that a unit covers, and the fragment's probability to answer it.
_COVERAGE_WEIGHT, _RELEVANCE_WEIGHT = 0.55, 0.45
# A word found in the headings above a sentence counts less than one in the sentence.
_HEADING_SHARE = 0.85
# A word found only in the items of a list counts less still.
_ITEM_SHARE = 0.6
# A long sentence covers more words by chance: what each character beyond the first ones costs, and the most.
_LONG_CHARS, _LONG_COST, _LONG_MOST = 300, 0.0003, 0.15
_STALE_COST = 0.25
# How nearly as good as the best another unit must be: in the same section, elsewhere, or when it alone gives the
# date or figure that the question asks for.
_SHARE_NEAR, _SHARE_FAR, _SHARE_NEEDED = 0.82, 0.92, 0.6
# A unit that says no more of what was asked, and does not follow one that was chosen, must be this good.
_SHARE_EQUAL = 0.94
# A fragment less relevant than this share of the first one adds nothing.
_RELEVANCE_SHARE = 0.6
# Two units of which one holds this share of the other's words say the same.
_SAME_WORDS = 0.7
# A list up to this size is quoted whole even where one item of it answers.
_SHORT_LIST_CHARS = 700
# The longest sentence quoted only because the next one leans on it.
_MAX_ANTECEDENT = 600
# A heading longer than this is shortened in an introduction.
_MAX_HEADING = 110


@dataclass(frozen=True, slots=True)
class Extract:
    """The chosen units in the order in which they are quoted, each with the fragment that it was found through."""

    units: tuple[tuple[Unit, RetrievedFragment], ...]


@dataclass(frozen=True, slots=True)
class _Candidate:
    unit: Unit
    hit: RetrievedFragment
    rank: int
    score: float
    words: frozenset[str]


def extract(
    question: str, found: Sequence[RetrievedFragment], *, neighbours: Neighbours, terms: TermStatistics
) -> Extract:
    """Choose the units that answer ``question`` from the best of ``found`` (best first)."""
    asked = read_question(question, terms)
    sections = {hit.fragment.id: units_of(neighbours(hit.fragment)) for hit in found[:_FRAGMENTS_READ]}
    candidates = sorted(_candidates(asked, found[:_FRAGMENTS_READ], sections), key=lambda c: (-c.score, c.rank))
    if not candidates:
        return Extract(())
    chosen = [candidates[0]]  # the best first
    for candidate in candidates[1:]:
        if _adds(asked, candidate, chosen):
            chosen.append(candidate)
    whole = [_whole_list(asked, candidate, sections[candidate.hit.fragment.id]) for candidate in chosen]
    return Extract(tuple(_in_order(whole, sections)))


def _candidates(
    asked: Asked, found: Sequence[RetrievedFragment], sections: dict[str, list[Unit]]
) -> Iterable[_Candidate]:
    latest = max((year for hit in found for year in tax_years(hit.fragment.text)), default="0")
    relevance = {hit.fragment.id: hit.relevance for hit in found}
    seen: set[tuple[tuple[str, int], ...]] = set()
    for rank, hit in enumerate(found):
        for unit in sections[hit.fragment.id]:
            key = tuple((quote.fragment.id, quote.start) for quote in unit.quotes)
            near = _SECTION_SHARE * hit.relevance
            probability = max(max(relevance.get(quote.fragment.id, 0.0), near) for quote in unit.body)
            if key in seen or (rank >= _SECTIONS_READ and all(q.fragment.id not in relevance for q in unit.body)):
                continue
            seen.add(key)
            score = _COVERAGE_WEIGHT * _coverage(asked, unit) + _RELEVANCE_WEIGHT * probability + fit(asked, unit)
            if not unit.is_list:
                score -= min(_LONG_MOST, _LONG_COST * max(0, len(unit.text) - _LONG_CHARS))
            if stale(asked, unit, latest):
                score -= _STALE_COST
            yield _Candidate(unit, hit, rank, score, frozenset(stems(unit.text)))


def _coverage(asked: Asked, unit: Unit) -> float:
    """How much of the question the unit covers: its own sentence fully, headings and the items of a list less."""
    lead = unit.quotes[: unit.heads] if unit.is_list else unit.quotes
    own = {stem for quote in lead for stem in stems(quote.text)}
    above = own.union(stems(unit.fragment.title), *(stems(part) for part in unit.fragment.section_path))
    said, with_headings = asked.coverage(own), asked.coverage(above)
    whole = asked.coverage(above.union(stems(unit.text)))
    return said + _HEADING_SHARE * (with_headings - said) + _ITEM_SHARE * (whole - with_headings)


def _adds(asked: Asked, candidate: _Candidate, chosen: Sequence[_Candidate]) -> bool:
    """Whether an answer that says ``chosen`` is better with ``candidate`` too."""
    best = chosen[0]
    if candidate.score < _SHARE_NEEDED * best.score:
        return False
    said = "\n".join(c.unit.text for c in chosen)
    needed = not asked.satisfied_by(said) and asked.satisfied_by(candidate.unit.text)
    if any(c.unit.is_list for c in chosen) and not needed:
        return False  # a whole list is answer enough
    sentences = sum(len(c.unit.quotes) for c in chosen) + len(candidate.unit.quotes)
    if sentences > _MAX_SENTENCES or len(said) + len(candidate.unit.text) > _MAX_CHARS:
        return False
    if says_nothing(candidate.unit) or any(_same(candidate, other) for other in chosen):
        return False
    near = any(_together(candidate.unit, other.unit) for other in chosen)
    if not near and candidate.hit.relevance < _RELEVANCE_SHARE * best.hit.relevance:
        return False
    above = "\n".join(part for c in chosen for part in (c.unit.fragment.title, *c.unit.fragment.section_path))
    fresh = asked.covered(set(candidate.words)) - asked.covered(set(stems(f"{said}\n{above}")))
    follows = near and any(_adjoins(candidate.unit, other.unit) for other in chosen)
    if not (needed or fresh or follows or candidate.score >= _SHARE_EQUAL * best.score):
        return False
    share = _SHARE_NEEDED if needed else _SHARE_NEAR if near else _SHARE_FAR
    return candidate.score >= share * best.score


def _adjoins(unit: Unit, other: Unit) -> bool:
    """Whether one unit follows the other within one fragment, with nothing but white space between."""
    first, second = sorted((unit.quotes[-1], other.quotes[-1]), key=lambda quote: quote.place)
    between = first.fragment.text[first.start + len(first.text) : second.start]
    return first.fragment.id == second.fragment.id and not between.strip()


def _together(unit: Unit, other: Unit) -> bool:
    a, b = unit.fragment, other.fragment
    return a.doc_id == b.doc_id and a.section_path == b.section_path


def _same(candidate: _Candidate, other: _Candidate) -> bool:
    fewer = min(len(candidate.words), len(other.words))
    return len(candidate.words & other.words) > _SAME_WORDS * max(1, fewer)


def _whole_list(asked: Asked, candidate: _Candidate, section: Sequence[Unit]) -> _Candidate:
    """A candidate that is one item of a short list becomes the list; the outermost where several things are asked."""
    unit = candidate.unit
    if not unit.heads or unit.is_list:
        return candidate
    for heads in range(1, unit.heads + 1) if asked.several else (unit.heads,):
        for other in section:
            within = unit.quotes[-1] in other.body or unit.quotes[heads] in other.body
            same_lead = other.quotes[: other.heads] == unit.quotes[:heads]
            if other.is_list and not other.cut and same_lead and within and len(other.text) <= _SHORT_LIST_CHARS:
                return replace(candidate, unit=other)
    return candidate


def _in_order(chosen: Sequence[_Candidate], sections: dict[str, list[Unit]]) -> list[tuple[Unit, RetrievedFragment]]:
    """The chosen units, section by section, in reading order, each with the sentences that it cannot do without."""
    ordered: list[tuple[Unit, RetrievedFragment]] = []
    left = list(chosen)
    while left:
        together = [c for c in left if _together(c.unit, left[0].unit)]
        left = [c for c in left if c not in together]
        for candidate in sorted(together, key=lambda c: c.unit.quotes[c.unit.heads or 0].place):
            units = sections[candidate.hit.fragment.id]
            for unit in _with_context(candidate.unit, units):
                _append(ordered, unit, candidate.hit)
    return ordered


def _with_context(unit: Unit, section: Sequence[Unit]) -> list[Unit]:
    """A unit with the sentence before it, if it leans on that, and the one after it, if that is an exception."""
    units = [unit]
    singles = [u for u in section if not u.is_list]
    places = [u.quotes[-1].place for u in singles]
    first = unit.quotes[0].place
    before = max((place for place in places if place < first), default=None)
    if leans(unit) and before is not None:
        antecedent = singles[places.index(before)]
        if len(antecedent.text) <= _MAX_ANTECEDENT and not is_label(antecedent.quotes[-1].text):
            units.insert(0, antecedent)
    after = min((place for place in places if place > unit.quotes[-1].place), default=None)
    if after is not None:
        exception = singles[places.index(after)]
        if is_exception(exception.quotes[-1].text):
            units.append(exception)
    return units


def _append(ordered: list[tuple[Unit, RetrievedFragment]], unit: Unit, hit: RetrievedFragment) -> None:
    """Add a unit: what is quoted already is not quoted again, items of one list come together."""
    quoted = {(quote.fragment.doc_id, quote.text) for other, _ in ordered for quote in other.quotes}
    fresh = tuple(quote for quote in unit.quotes if (quote.fragment.doc_id, quote.text) not in quoted)
    if not fresh:
        return
    if ordered and unit.heads and fresh != unit.quotes:
        last, found_through = ordered[-1]
        if last.heads and last.quotes[: last.heads] == unit.quotes[: unit.heads]:
            ordered[-1] = (replace(last, quotes=(*last.quotes, *fresh), cut=last.cut or unit.cut), found_through)
            return
    ordered.append((replace(unit, quotes=fresh, heads=max(0, unit.heads - (len(unit.quotes) - len(fresh)))), hit))


def source_from(
    hit: RetrievedFragment,
    quotes: Sequence[Quote],
    *,
    fiscal_year: int | None = None,
    document_date: str = "",
) -> Source:
    """The one place where a retrieved fragment becomes a source: what ``[n]`` points at.

    ``quotes`` are all of one fragment; the source's page is that of the first.
    """
    fragment = quotes[0].fragment
    return Source(
        fragment_id=fragment.id,
        doc_id=fragment.doc_id,
        title=fragment.title,
        page=quotes[0].page,
        section_path=fragment.section_path,
        passage="\n".join(quote.text for quote in quotes),
        relevance=round(hit.relevance, 4),
        source_url=fragment.source_url,
        source_scope=fragment.source_scope,
        fiscal_year=fiscal_year,
        document_date=document_date,
    )


def compose(extracted: Extract, *, about: Callable[[str], tuple[int | None, str]]) -> tuple[str, tuple[Source, ...]]:
    """The answer's text with ``[n]`` marks, and its sources in order of ``n``.

    ``about(doc_id)`` gives the tax year and the date that the document states.
    """
    by_place: dict[tuple[str, int | None], list[Quote]] = {}
    hits: dict[tuple[str, int | None], RetrievedFragment] = {}
    for unit, hit in extracted.units:
        for quote in unit.quotes:
            place = (quote.fragment.id, quote.page)
            by_place.setdefault(place, []).append(quote)
            hits.setdefault(place, hit)
    numbers = {place: n for n, place in enumerate(by_place, start=1)}
    sources = []
    for place, quotes in by_place.items():
        year, date = about(quotes[0].fragment.doc_id)
        sources.append(source_from(hits[place], quotes, fiscal_year=year, document_date=date))
    paragraphs = []
    named: tuple[str, int | None, tuple[str, ...]] | None = None
    for unit, _ in extracted.units:
        first = unit.quotes[0]
        lines = []
        standing = (first.fragment.doc_id, first.page, first.fragment.section_path)
        if standing != named:
            lines.append(_introduction(first))
            named = standing
        for quote in unit.quotes:
            mark = f"[{numbers[(quote.fragment.id, quote.page)]}]"
            bullet = "- " if quote is not first and quote.item else ""
            lines.append(f"{bullet}«{quote.text}» {mark}")
        if unit.cut:
            lines.append("(La lista continúa en la fuente.)")
        paragraphs.append("\n".join(_spaced(lines)))
    return "\n\n".join(paragraphs), tuple(sources)


def _spaced(lines: Sequence[str]) -> list[str]:
    """Markdown needs an empty line between paragraphs, and before a list."""
    spaced: list[str] = []
    for line in lines:
        if spaced and not (line.startswith("- ") and spaced[-1].startswith("- ")):
            spaced.append("")
        spaced.append(line)
    return spaced


def _introduction(quote: Quote) -> str:
    fragment = quote.fragment
    place = f", página {quote.page}" if quote.page is not None else ""
    section = " › ".join(_shortened(part) for part in _own_headings(fragment)[-2:])
    return f"**{fragment.title}**{place}{f' ({section})' if section else ''}:"


def _own_headings(fragment: Fragment) -> tuple[str, ...]:
    """The headings above a fragment, without a first one that only repeats the document's title."""
    path = fragment.section_path
    name = fragment.title.partition(",")[0].casefold()
    return path[1:] if len(path) > 1 and path[0].casefold().startswith(name) else path


def _shortened(heading: str) -> str:
    if len(heading) <= _MAX_HEADING:
        return heading.rstrip(".")
    return f"{heading[:_MAX_HEADING].rpartition(' ')[0].rstrip(',;.')}…"
