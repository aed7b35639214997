"""From a verified synthesis to an answer: its citations numbered from 1, each with the passage that says it."""

import re
from collections.abc import Callable, Sequence

from core.answering.claims import marks_in, renumbered
from core.answering.compose import source_from
from core.answering.units import Quote, Unit, units_of
from core.models import RetrievedFragment, Scope, Source
from core.retrieval.terms import stems

_MARK = re.compile(r"\[(\d{1,2})\]")
# What lies between two groups of marks is what the second group stands for.
_CITED = re.compile(r"(?P<said>[^\[]*(?:\[(?!\d{1,2}\])[^\[]*)*)(?P<marks>(?:\s*\[\d{1,2}\])+)")
# Said of every sentence that only the user's own documents support: they are no rule.
_NOT_OFFICIAL = " _(según su documento, que no es oficial)_"
# A figure in common says more than a word in common.
_FIGURE_WEIGHT = 3.0
_LONG_COST = 0.002


def cite(
    text: str, shown: Sequence[RetrievedFragment], *, about: Callable[[str], tuple[int | None, str]]
) -> tuple[str, tuple[Source, ...]]:
    """``text``, whose ``[n]`` means ``shown[n - 1]``, with marks numbered in order of appearance, and their sources.

    A source's passage is quoted exactly: for each sentence, the unit of the cited fragment that shares most with it.
    Marks of nothing are dropped. ``about(doc_id)`` gives the tax year and the date that the document states.
    """
    quotes: dict[tuple[int, int | None], list[Quote]] = {}
    units = {n: [u for u in units_of([hit.fragment]) if not u.is_list] for n, hit in enumerate(shown, start=1)}

    def marked(match: re.Match[str]) -> str:
        numbers: list[int] = []
        cited = []
        for mark in _MARK.findall(match["marks"]):
            best = _best(match["said"], units.get(int(mark), []))
            if best is None:
                continue
            cited.append(mark)
            place = (int(mark), best.quotes[0].page)
            kept = quotes.setdefault(place, [])
            kept.extend(quote for quote in best.quotes if quote not in kept)
            number = list(quotes).index(place) + 1
            if number not in numbers:
                numbers.append(number)
        own = all(shown[int(mark) - 1].fragment.source_scope is Scope.PRIVATE for mark in cited) and bool(cited)
        return match["said"].rstrip() + "".join(f" [{number}]" for number in numbers) + (_NOT_OFFICIAL if own else "")

    text = _CITED.sub(marked, text)
    sources = []
    for (mark, _), found in quotes.items():
        hit = shown[mark - 1]
        year, date = about(hit.fragment.doc_id)
        in_order = sorted(found, key=lambda quote: quote.place)
        sources.append(source_from(hit, in_order, fiscal_year=year, document_date=date))
    return text.strip(), tuple(sources)


def keep_cited(text: str, sources: Sequence[Source]) -> tuple[str, tuple[Source, ...]]:
    """``text`` and the sources that it still cites, both numbered anew; ``[n]`` in it means ``sources[n - 1]``."""
    order = marks_in(text)
    numbers = {old: new for new, old in enumerate(order, start=1)}
    return renumbered(text, numbers), tuple(sources[old - 1] for old in order)


def _best(said: str, units: Sequence[Unit]) -> Unit | None:
    wanted = set(stems(said))

    def shared(unit: Unit) -> float:
        common = wanted & set(stems(unit.text))
        figures = sum(1 for stem in common if any(ch.isdigit() for ch in stem))
        return len(common) + _FIGURE_WEIGHT * figures - _LONG_COST * len(unit.text)

    return max(units, key=shared, default=None)
