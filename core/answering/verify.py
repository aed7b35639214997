"""Checks every sentence of a draft against the fragments it cites, before anyone sees it.

Pure: no model, no input or output. Text inside passages and drafts is data; an instruction in it changes nothing.
"""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import combinations, product

from core.answering.attachment import Place, View, view
from core.answering.claims import DraftClaim, marks_in, read_claims, renumbered
from core.answering.figures import Slot, backward, exchanged, misplaced, slot_of, tolerated, wrong_way
from core.answering.polarity import denies, is_negative, modality_conflict, negated
from core.answering.pruning import pruned
from core.answering.quoting import blank, folded, pieces, quoted_in
from core.answering.wording import CONTRARIES, terms_of
from core.models import Fragment
from core.thresholds import VerifyThresholds

# Words by which a sentence says where it takes something from; no passage has to contain them.
_FRAME = terms_of(
    "según conforme acuerdo establece dispone indica señala manual ley reglamento documento fuente norma normativa "
    "precepto artículo apartado letra agencia tributaria general caso casos supuesto siguiente siguientes además "
    "también decir ejemplo tanto obstante embargo concreto particular respectivamente modelo mismo contribuyente "
    "autónomo correspondiente trata aplica euros ciento importe cantidad plazo fecha día año"
)

Weight = Callable[[str], float]


class Problem(StrEnum):
    """Why a claim is not supported."""

    NO_CITATION = "no_citation"
    UNKNOWN_CITATION = "unknown_citation"
    QUOTE = "quote"
    VALUE_ABSENT = "value_absent"
    VALUE_MISPLACED = "value_misplaced"
    DIRECTION = "direction"
    POLARITY = "polarity"
    MODALITY = "modality"
    OTHER_SUBJECT = "other_subject"
    NOT_SUPPORTED = "not_supported"
    IDLE_CITATION = "idle_citation"


@dataclass(frozen=True, slots=True)
class Passage:
    """A cited fragment's text, and what stands around it: document, headings, header of the table, page."""

    text: str
    context: str = ""


@dataclass(frozen=True, slots=True)
class Claim:
    """A claim of the draft as judged. ``alone``: the cited numbers that support all of it by themselves."""

    text: str
    numbers: tuple[int, ...]
    problem: Problem | None
    detail: str
    alone: tuple[int, ...]

    @property
    def supported(self) -> bool:
        """Whether the cited fragments support it."""
        return self.problem is None


@dataclass(frozen=True, slots=True)
class Verification:
    """The judgement on a draft. ``text`` is the draft without what is not supported, with the draft's own numbers.

    ``coverage`` is the share (0..1) of the draft's claims that are supported; 0 for a draft that claims nothing.
    ``kept``: the numbers that ``text`` cites, in order of appearance.
    """

    claims: tuple[Claim, ...]
    coverage: float
    text: str
    kept: tuple[int, ...]


def passage_of(fragment: Fragment) -> Passage:
    """The passage that a fragment is: its text, with title, headings and page as context."""
    page = f"página {fragment.page}" if fragment.page is not None else ""
    return Passage(fragment.text, "\n".join(part for part in (fragment.title, *fragment.section_path, page) if part))


def verify(
    draft: str,
    passages: Mapping[int, Passage],
    *,
    thresholds: VerifyThresholds,
    own: Collection[str] = (),
    weight: Weight | None = None,
) -> Verification:
    """Judge each claim of ``draft`` (Markdown with ``[n]`` marks) against ``passages`` by number.

    ``own``: lines of the product's own in the draft (introductions, notices), recognised by equality only.
    ``weight``: inverse document frequency of a stem (`TermStatistics.weight`); without it all words weigh the same.
    """
    drafted = read_claims(draft, own)
    views = {n: view(passages[n].text, passages[n].context) for n in passages if any(n in c.numbers for c in drafted)}
    judge = _Judge(views, thresholds, weight or (lambda _: 1.0))
    claims = judge.crossed(drafted, [judge.judge(claim) for claim in drafted])
    text = pruned(draft, [c for c, judged in zip(drafted, claims, strict=True) if not judged.supported], own)
    coverage = sum(c.supported for c in claims) / len(claims) if claims else 0.0
    return Verification(claims, coverage, text, marks_in(text))


def renumber(verification: Verification) -> tuple[str, tuple[int, ...]]:
    """The text with its marks counted from 1 in order of appearance, and the old number of each new one.

    ``sources = [old_sources[n] for n in order]`` then lists exactly what is cited.
    """
    order = verification.kept
    return renumbered(verification.text, {old: new for new, old in enumerate(order, start=1)}), order


def supporting(verification: Verification, relevance: Mapping[int, float], minimum: float) -> int:
    """How many distinct fragments support a claim by themselves, with a relevance (0..1) of at least ``minimum``."""
    alone = {n for claim in verification.claims if claim.supported for n in claim.alone}
    return sum(relevance.get(n, 0.0) >= minimum for n in alone)


@dataclass(frozen=True, slots=True)
class _Judge:
    views: Mapping[int, View]
    limits: VerifyThresholds
    weight: Weight
    slots: dict[DraftClaim, list[Slot]] = field(default_factory=dict)

    def judge(self, claim: DraftClaim) -> Claim:
        problem, detail = self._problem(claim)
        alone: tuple[int, ...] = ()
        if problem is None:
            alone = tuple(n for n in claim.numbers if len(claim.numbers) == 1 or self._supports(claim, (n,)))
        return Claim(claim.text, claim.numbers, problem, detail, alone)

    def crossed(self, drafted: Sequence[DraftClaim], judged: list[Claim]) -> tuple[Claim, ...]:
        """Claims that hold by themselves but would agree better with their sources with each other's values."""
        for (i, first), (j, second) in combinations(enumerate(drafted), 2):
            if not (judged[i].supported or judged[j].supported):
                continue
            for one, other in product(self.slots.get(first, ()), self.slots.get(second, ())):
                if exchanged(one, other) > self.limits.cross_margin:
                    detail = "En la fuente, sus cifras y las de otra frase de la respuesta están al revés."
                    for k in (i, j):
                        if judged[k].supported:
                            judged[k] = replace(judged[k], problem=Problem.VALUE_MISPLACED, detail=detail, alone=())
        return tuple(judged)

    def _problem(self, claim: DraftClaim) -> tuple[Problem | None, str]:
        if not claim.numbers:
            return Problem.NO_CITATION, "La frase no cita ninguna fuente."
        unknown = [n for n in claim.numbers if n not in self.views]
        if unknown:
            return Problem.UNKNOWN_CITATION, f"No hay ninguna fuente [{unknown[0]}]."
        found = self._contents(claim, claim.numbers)
        if found[0] is None and len(claim.numbers) > 1:
            for n in claim.numbers:
                if not self._contributes(claim, n):
                    return Problem.IDLE_CITATION, f"La fuente [{n}] no sostiene nada de la frase."
        return found

    def _supports(self, claim: DraftClaim, numbers: tuple[int, ...]) -> bool:
        return self._contents(claim, numbers)[0] is None

    def _contents(self, claim: DraftClaim, numbers: tuple[int, ...]) -> tuple[Problem | None, str]:
        """Quotes, values, polarity and words of a claim against the fragments ``numbers``."""
        views = [self.views[n] for n in numbers]
        quoted, missing = quoted_in(claim.body, views)
        if missing:
            return Problem.QUOTE, f"La cita «{_short(missing)}» no está en la fuente."
        outside = blank(claim.body, quoted)
        if not any(ch.isalpha() for ch in outside) and quoted:
            return None, ""  # nothing but words of the source
        for problem in (
            self._values(claim, quoted, numbers),
            self._subject(claim, outside, views),
            self._words(outside, quoted, views),
            self._polarity(outside, views),
        ):
            if problem:
                return problem
        return None, ""

    def _values(
        self, claim: DraftClaim, quoted: Sequence[tuple[int, int]], numbers: tuple[int, ...]
    ) -> tuple[Problem, str] | None:
        header = f"{claim.header}\n" if claim.header else ""
        read = view(header + claim.body)
        slots: list[Slot] = []
        for place in read.places:
            start = place.value.start - len(header)
            if start < 0 or any(a <= start < b for a, b in quoted):
                continue
            cited = _numbers_at(claim, start) or numbers
            views = [self.views[n] for n in cited if n in numbers]
            if not views and len(numbers) < len(claim.numbers):
                views = [self.views[n] for n in numbers]  # asked whether these alone support the claim
            slot = slot_of(place, views)
            if slot is None and not tolerated(place.value, views, read.text):
                return Problem.VALUE_ABSENT, f"«{_at(read, place)}» no está en la fuente citada."
            if slot:
                slots.append(slot)
        if numbers == claim.numbers:
            self.slots[claim] = slots
        if wrong := misplaced(slots, self.limits):
            one, other = wrong
            if other is None:
                return Problem.VALUE_MISPLACED, f"En la fuente, «{_at(read, one.place)}» se refiere a otra cosa."
            both = f"«{_at(read, one.place)}» y «{_at(read, other.place)}»"
            return Problem.VALUE_MISPLACED, f"En la fuente, {both} están al revés."
        if slot := backward(slots, read.text):
            return Problem.VALUE_MISPLACED, f"El intervalo que empieza en «{_at(read, slot.place)}» está al revés."
        if slot := wrong_way(slots):
            return Problem.DIRECTION, f"La fuente no pone «{_at(read, slot.place)}» como ese límite."
        return None

    def _subject(self, claim: DraftClaim, outside: str, views: Sequence[View]) -> tuple[Problem, str] | None:
        """A word of a set of contraries (directa, objetiva) that no cited passage has, where it has another of them."""
        said = terms_of(outside)
        there = frozenset().union(*(v.stems for v in views))
        for group in CONTRARIES:
            for term in sorted(said & group - there):
                if there & group:
                    return Problem.OTHER_SUBJECT, f"La fuente no habla de «{_word(outside, term)}»."
        return None

    def _words(
        self, outside: str, quoted: Sequence[tuple[int, int]], views: Sequence[View]
    ) -> tuple[Problem, str] | None:
        share = self._share(outside, views)
        least = self.limits.coverage_beside_quote if quoted else self.limits.coverage
        if share < least:
            return (
                Problem.NOT_SUPPORTED,
                f"La fuente solo sostiene el {round(100 * share)} % de las palabras de la frase.",
            )
        return None

    def _share(self, text: str, views: Sequence[View]) -> float:
        """Share of the content words of ``text``, by weight, that the passages contain."""
        said = {t for t in terms_of(text) - _FRAME if not t.isdigit()}
        there = frozenset().union(*(v.stems for v in views))
        total = sum(self.weight(t) for t in said)
        return sum(self.weight(t) for t in said if t in there) / total if total > 0 else 1.0

    def _contributes(self, claim: DraftClaim, number: int) -> bool:
        """Whether a cited fragment supports a part of the claim: its words, a value, or a quotation."""
        one = self.views[number]
        if self._share(claim.body, [one]) >= self.limits.part:
            return True
        return any(folded(q) in folded(one.text) for q in pieces(claim.body))

    def _polarity(self, outside: str, views: Sequence[View]) -> tuple[Problem, str] | None:
        near = self._nearest(outside, views)
        if not near:
            return None
        text = "\n".join(near)
        said = terms_of(outside)
        if denies(outside) and not is_negative(text):
            return Problem.POLARITY, "La frase niega lo que la fuente no niega."
        if not is_negative(outside):
            lost = (negated(near[0]) & said) - _affirmed(near)
            if lost:
                return Problem.POLARITY, "La fuente niega lo que la frase afirma."
        if modality_conflict(outside, text):
            return Problem.MODALITY, "La fuente no dice si se debe o si se puede como lo dice la frase."
        return None

    def _nearest(self, outside: str, views: Sequence[View]) -> list[str]:
        """The sentences of the passages that share most with the claim, best first: at least half of the best."""
        said = terms_of(outside) - _FRAME
        scored = [
            (sum(self.weight(t) for t in said & terms), text)
            for v in views
            for text, terms in v.sentences
            if said & terms
        ]
        scored.sort(key=lambda pair: -pair[0])
        return [text for score, text in scored[:4] if score >= 0.5 * scored[0][0]]


def _affirmed(sentences: Sequence[str]) -> set[str]:
    """The terms that some sentence has and does not deny."""
    return set().union(*(terms_of(text) - negated(text) for text in sentences)) if sentences else set()


def _numbers_at(claim: DraftClaim, start: int) -> tuple[int, ...]:
    return next((s.numbers for s in claim.segments if s.start <= start < s.end), claim.numbers)


def _at(read: View, place: Place) -> str:
    return read.text[place.value.start : place.value.end]


def _word(text: str, term: str) -> str:
    return next((w for w in re.findall(r"[^\W_]+", text) if term in terms_of(w)), term)


def _short(text: str) -> str:
    return text if len(text) <= 80 else f"{text[:79]}…"
