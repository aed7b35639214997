"""Extraction: the sentences, items and rows that answer, chosen by their probability and put in reading order."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from core.answering.cues import is_exception, is_label, leans, says_nothing
from core.answering.premises import Correction, correction
from core.answering.sentence_model import Expected, Reading, SentenceModel, features, read_for
from core.answering.units import Quote, Unit, units_of
from core.models import Fragment, RetrievedFragment
from core.retrieval.expected import KnownAnswers
from core.retrieval.terms import TermStatistics, stems

Neighbours = Callable[[Fragment], Sequence[Fragment]]
"""The fragments of the same section around one, itself included, in reading order."""

# How many of the best fragments are read for sentences.
_FRAGMENTS_READ = 5
# Of the first of them the whole section is read.
_SECTIONS_READ = 2
# Characters that an answer to one, two or three things quotes for each (the first quote may be longer), and how
# likely, next to the best unit, a further one must be: of its own section, where conditions and exceptions stand, or
# elsewhere. Chosen by cross-validation over the questions with facts: share of the facts against what else is quoted.
_ROOM = (1300, 800, 600)
_SHARE_NEAR, _SHARE_ELSEWHERE = 0.2, 0.4
# A list is quoted whole where several things are asked, or up to this size.
_SHORT_LIST_CHARS = 900
# In a question of several parts a second document is quoted if its best unit has this share of the best probability.
_SHARE_OTHER, _MAX_OTHER = 0.15, 600
# Two units of which one holds this share of the other's words say the same.
_SAME_WORDS = 0.8
# The longest sentence quoted only because the next one leans on it.
_MAX_ANTECEDENT = 400


@dataclass(frozen=True, slots=True)
class Extract:
    """The chosen units in the order in which they are quoted, each with the fragment that it was found through.

    ``headings``: before which unit which heading stands. ``correction``: what contradicts the question's premise.
    ``lead``: a sentence of ours above it, in which «{mark}» stands for the first quote's number and «{title}» for the
    title of its document. ``answered``: of the things asked, how likely the one is answered whose best quote is the
    least likely; None where the quotes were not chosen by their probability.
    """

    units: tuple[tuple[Unit, RetrievedFragment], ...]
    headings: tuple[tuple[int, str], ...] = ()
    correction: Correction | None = None
    lead: str = ""
    answered: float | None = None


@dataclass(frozen=True, slots=True)
class Searched:
    """One thing asked, with what was found for it. ``title`` stands above its part of the answer ('' for none)."""

    question: str
    found: Sequence[RetrievedFragment]
    expected: Expected
    title: str = ""


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
    known: KnownAnswers

    def extract(self, question: str, parts: Sequence[Searched]) -> Extract:
        """Choose the units that answer each part of ``question``, in the order of the parts."""
        units: list[tuple[Unit, RetrievedFragment]] = []
        headings: list[tuple[int, str]] = []
        chosen: list[Candidate] = []
        answered: list[float] = []
        read = [self._candidates(part) for part in parts]
        room = _ROOM[min(len(parts), len(_ROOM)) - 1]
        for number, (part, (reading, sections, candidates)) in enumerate(zip(parts, read, strict=True)):
            kept = [
                others[0] for _, _, others in read[number + 1 :] if others
            ]  # the best of each later part is left to it
            besides = [*chosen, *(c for c in kept if candidates and c.unit != candidates[0].unit)]
            own = choose(candidates, several=reading.asked.several, room=room, besides=besides)
            if len(parts) > 1:
                own += _of_another_document(candidates, own, besides=chosen)
            before = len(units)
            for unit, hit in _in_order(own, sections):
                _append(units, unit, hit)
            if len(parts) > 1 and len(units) > before:
                headings.append((before, part.title))
            chosen += own
            answered.append(max((candidate.probability for candidate in own), default=0.0))
        scored = sorted(((c.unit, c.probability) for c in chosen), key=lambda pair: -pair[1])
        wrong = correction(question, read[0][0].asked, scored) if read else None
        if wrong and not headings:  # the passage that says otherwise comes first
            units.sort(key=lambda pair: wrong.unit.quotes[-1] not in pair[0].quotes)
        return Extract(tuple(units), tuple(headings), wrong, answered=min(answered, default=0.0))

    def _candidates(self, part: Searched) -> tuple[Reading, dict[str, list[Unit]], list[Candidate]]:
        """The question as read, the sections read, and their units, most probable first."""
        reading = read_for(part.question, part.found, part.expected, self.terms, self.known)
        sections = sections_of(part.found, self.neighbours)
        rows = list(candidate_units(part.found, sections))
        probability = self.model.probabilities([features(reading, unit, hit, rank) for unit, hit, rank in rows])
        scored = [Candidate(*row, float(p)) for row, p in zip(rows, probability, strict=True)]
        return reading, sections, sorted(scored, key=lambda c: (-c.probability, c.rank))


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


def choose(
    candidates: Sequence[Candidate], *, several: bool, room: int = _ROOM[0], besides: Sequence[Candidate] = ()
) -> list[Candidate]:
    """The best of ``candidates`` (most probable first) that fit into ``room`` characters and say different things.

    ``besides`` has been chosen already and is not said again.
    """
    chosen: list[Candidate] = []
    quoted = {_place(quote) for candidate in besides for quote in candidate.unit.quotes}
    words = [frozenset(stems(candidate.unit.text)) for candidate in besides]
    size = 0
    for candidate in candidates:
        unit = candidate.unit
        if chosen and candidate.probability < chosen[0].probability * (
            _SHARE_NEAR if _together(unit, chosen[0].unit) else _SHARE_ELSEWHERE
        ):
            continue
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


def _of_another_document(
    candidates: Sequence[Candidate], own: Sequence[Candidate], *, besides: Sequence[Candidate]
) -> list[Candidate]:
    """The best candidate of a document that no part quotes, else that ``own`` does not, where that quotes one only."""
    documents = {candidate.unit.fragment.doc_id for candidate in own}
    everywhere = documents.union(candidate.unit.fragment.doc_id for candidate in besides)
    quoted = {_place(quote) for candidate in besides for quote in candidate.unit.body}
    fit = [
        c
        for c in candidates
        if c.probability >= _SHARE_OTHER * candidates[0].probability
        and len(c.unit.text) <= _MAX_OTHER
        and not says_nothing(c.unit)
        and not quoted.issuperset(map(_place, c.unit.body))
    ]
    if len(documents) > 1 and len(everywhere) > len(documents):
        return []
    for known in (everywhere, documents):
        new = [c for c in fit if c.unit.fragment.doc_id not in known]
        if new:
            return new[:1]
    return []


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
