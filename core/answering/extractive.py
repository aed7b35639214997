"""Extractive answers: the sentences, items and rows that answer, quoted exactly, each with its source."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from core.answering.cues import is_exception, is_label, leans, says_nothing
from core.answering.sentence_model import Expected, SentenceModel, features, read_for
from core.answering.units import Quote, Unit, units_of
from core.models import Fragment, RetrievedFragment, Source
from core.retrieval.terms import TermStatistics, stems

Neighbours = Callable[[Fragment], Sequence[Fragment]]
"""The fragments of the same section around one, itself included, in reading order."""

# How many of the best fragments are read for sentences.
_FRAGMENTS_READ = 5
# Of the first of them the whole section is read.
_SECTIONS_READ = 2
# Characters that an answer quotes (what is quoted first may be longer), and how likely, next to the best unit, a
# further one must be. Chosen on the dev half: share of the facts against length.
_MAX_CHARS = 1300
_SHARE_OF_BEST = 0.2
# A list is quoted whole where several things are asked, or up to this size.
_SHORT_LIST_CHARS = 900
# A whole list where one thing is asked must be better than its items by this factor.
# Two units of which one holds this share of the other's words say the same.
_SAME_WORDS = 0.8
# The longest sentence quoted only because the next one leans on it.
_MAX_ANTECEDENT = 400
# A heading longer than this is shortened in an introduction.
_MAX_HEADING = 110


@dataclass(frozen=True, slots=True)
class Extract:
    """The chosen units in the order in which they are quoted, each with the fragment that it was found through."""

    units: tuple[tuple[Unit, RetrievedFragment], ...]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A unit with the fragment that it was found through and the probability that it answers."""

    unit: Unit
    hit: RetrievedFragment
    rank: int
    probability: float


@dataclass(frozen=True, slots=True)
class Extractor:
    """Chooses what to quote. ``neighbours`` gives the section around a fragment."""

    neighbours: Neighbours
    terms: TermStatistics
    model: SentenceModel

    def extract(self, question: str, found: Sequence[RetrievedFragment], expected: Expected) -> Extract:
        """Choose the units that answer ``question`` from the best of ``found`` (best first)."""
        reading = read_for(question, found, expected, self.terms)
        sections = sections_of(found, self.neighbours)
        rows = list(candidate_units(found, sections))
        probability = self.model.probabilities([features(reading, unit, hit, rank) for unit, hit, rank in rows])
        scored = [Candidate(*row, float(p)) for row, p in zip(rows, probability, strict=True)]
        candidates = sorted(scored, key=lambda c: (-c.probability, c.rank))
        chosen = choose(candidates, several=reading.asked.several)
        return Extract(tuple(_in_order(chosen, sections)))


def sections_of(found: Sequence[RetrievedFragment], neighbours: Neighbours) -> dict[str, list[Unit]]:
    """The units of the section around each of the best of ``found``, by the fragment's id."""
    return {hit.fragment.id: units_of(neighbours(hit.fragment)) for hit in found[:_FRAGMENTS_READ]}


def candidate_units(
    found: Sequence[RetrievedFragment], sections: Mapping[str, Sequence[Unit]]
) -> Iterable[tuple[Unit, RetrievedFragment, int]]:
    """Every unit that may be quoted, once, with the fragment that it was found through and that one's rank."""
    read = found[:_FRAGMENTS_READ]
    ids = {hit.fragment.id for hit in read}
    seen: set[tuple[tuple[str, int], ...]] = set()
    for rank, hit in enumerate(read):
        for unit in sections[hit.fragment.id]:
            key = tuple((quote.fragment.id, quote.start) for quote in unit.quotes)
            if key in seen or (rank >= _SECTIONS_READ and all(q.fragment.id not in ids for q in unit.body)):
                continue
            seen.add(key)
            yield unit, hit, rank


def choose(candidates: Sequence[Candidate], *, several: bool, room: int = _MAX_CHARS) -> list[Candidate]:
    """The best of ``candidates`` (most probable first) that fit into ``room`` characters and say different things."""
    chosen: list[Candidate] = []
    quoted: set[tuple[str, int]] = set()
    words: list[frozenset[str]] = []
    size = 0
    for candidate in candidates:
        unit = candidate.unit
        if chosen and candidate.probability < _SHARE_OF_BEST * chosen[0].probability:
            break
        if unit.is_list and not several and len(unit.text) > _SHORT_LIST_CHARS:
            continue
        fresh = [quote for quote in unit.quotes if _place(quote) not in quoted]
        added = sum(len(quote.text) for quote in fresh)
        if not fresh or (chosen and (says_nothing(unit) or size + added > room)):
            continue
        said = frozenset(stem for quote in fresh for stem in stems(quote.text))
        if any(len(said & other) > _SAME_WORDS * max(1, min(len(said), len(other))) for other in words):
            continue
        chosen.append(candidate)
        quoted.update(_place(quote) for quote in fresh)
        words.append(said)
        size += added
    return chosen


def _place(quote: Quote) -> tuple[str, int]:
    return quote.fragment.id, quote.start


def _together(unit: Unit, other: Unit) -> bool:
    a, b = unit.fragment, other.fragment
    return a.doc_id == b.doc_id and a.section_path == b.section_path


def _in_order(
    chosen: Sequence[Candidate], sections: Mapping[str, Sequence[Unit]]
) -> list[tuple[Unit, RetrievedFragment]]:
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
