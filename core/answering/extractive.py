"""Extractive answers: the one to four sentences that answer, quoted exactly, each with its source."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from core.answering.units import Quote, Unit, units_of
from core.models import Fragment, RetrievedFragment, Source
from core.retrieval.terms import TermStatistics, coverage, stems

Neighbours = Callable[[Fragment], Sequence[Fragment]]
"""The fragments of the same section around one, itself included, in reading order."""

# How many of the best fragments are read for sentences, and how many units an answer may have.
_FRAGMENTS_READ = 5
_MAX_UNITS = 3
# A word found in the headings above a sentence counts less than one in the sentence.
_HEADING_SHARE = 0.85
# A word found only in the items of a list counts less still.
_ITEM_SHARE = 0.6
# A second unit must score nearly as well as the first, from another place.
_SECOND_SHARE = 0.92
_EXCEPTION = re.compile(
    r"^(?:no obstante|sin embargo|excepto|salvo|en ningún caso|a excepción|por el contrario|ahora bien|tampoco)\b",
    re.IGNORECASE,
)
_WHEN = re.compile(
    r"\b(?:cu[aá]ndo|plazos?|fechas?|hasta qu[eé] d[ií]a|qu[eé] d[ií]a|vence|vencimiento)\b", re.IGNORECASE
)
_HOW_MUCH = re.compile(
    r"\b(?:cu[aá]nt[oa]s?|porcentaje|tipo|l[ií]mite|importe|cuant[ií]a|tanto por ciento)\b", re.IGNORECASE
)
_WHICH = re.compile(
    r"\b(?:qu[eé] (?:libros|requisitos|datos|documentos|debe|tiene que|ha de|modelos)|cu[aá]les|requisitos|conten)",
    re.IGNORECASE,
)
_DATE = re.compile(
    r"\b\d{1,2}\s+(?:de|al|y)\s+(?:\d{1,2}\s+de\s+)?(?:enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|octubre|noviembre|diciembre)"
    r"|\bplazo\b|\b\d+ (?:días|meses|años)\b",
    re.IGNORECASE,
)
_FIGURE = re.compile(r"\d[\d.,]*\s*(?:%|por 100|por ciento|euros|€)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Extract:
    """The chosen units, best first, each with the fragment that it was found through."""

    units: tuple[tuple[Unit, RetrievedFragment], ...]


def extract(
    question: str, found: Sequence[RetrievedFragment], *, neighbours: Neighbours, terms: TermStatistics
) -> Extract:
    """Choose the units that answer ``question`` from the best of ``found`` (best first)."""
    wanted = stems(question)
    scored: list[tuple[float, float, int, Unit, RetrievedFragment]] = []
    seen: set[tuple[str, int]] = set()
    for rank, hit in enumerate(found[:_FRAGMENTS_READ]):
        section = neighbours(hit.fragment)
        for unit in units_of(section):
            key = (unit.fragment.id, unit.quotes[0].start)
            if key in seen or not any(q.fragment.id == hit.fragment.id for q in unit.quotes):
                continue
            seen.add(key)
            covered = _coverage(wanted, unit, terms)
            score = 0.65 * covered + 0.35 * hit.relevance + _cue(question, unit) - 0.02 * rank
            scored.append((score, covered, rank, unit, hit))
    if not scored:
        return Extract(())
    scored.sort(key=lambda s: (-s[0], s[2], s[3].quotes[0].start))
    chosen = [scored[0]]
    for candidate in scored[1:]:
        if len(chosen) >= _MAX_UNITS or len(chosen[0][3].quotes) > 2:
            break  # a whole list is answer enough
        apart = all(candidate[3].fragment.id != other[3].fragment.id for other in chosen)
        if (
            apart
            and candidate[0] >= _SECOND_SHARE * chosen[0][0]
            and not _overlaps(candidate[3], [c[3] for c in chosen])
        ):
            chosen.append(candidate)
    units = [(s[3], s[4]) for s in chosen]
    if exception := _exception_after(units[0][0], neighbours(units[0][1].fragment)):
        units.insert(1, (exception, units[0][1]))
    return Extract(tuple(units))


def _coverage(wanted: Sequence[str], unit: Unit, terms: TermStatistics) -> float:
    """How much of the question the unit covers: its leading sentence fully, headings and list items less."""
    lead = unit.quotes[0].text
    above = f"{lead}\n{unit.fragment.title}\n{chr(10).join(unit.fragment.section_path)}"
    own = coverage(wanted, lead, terms)
    with_headings = coverage(wanted, above, terms)
    whole = coverage(wanted, f"{above}\n{unit.text}", terms)
    return own + _HEADING_SHARE * (with_headings - own) + _ITEM_SHARE * (whole - with_headings)


def _cue(question: str, unit: Unit) -> float:
    """A little for a unit of the kind that the question asks for: a date, a figure, a list."""
    text = f"{unit.text}\n{chr(10).join(unit.fragment.section_path[-3:])}"
    bonus = 0.0
    if _WHEN.search(question) and _DATE.search(text):
        bonus += 0.12
    if _HOW_MUCH.search(question) and _FIGURE.search(unit.text):
        bonus += 0.1
    if _WHICH.search(question) and len(unit.quotes) > 2:
        bonus += 0.15
    if unit.text.rstrip().endswith("?") or (len(unit.quotes) == 1 and len(unit.text) < 30):
        bonus -= 0.15  # a question, or a bare label, answers nothing
    return bonus


def _overlaps(unit: Unit, chosen: Sequence[Unit]) -> bool:
    text = set(stems(unit.text))
    return any(
        len(text & set(stems(other.text))) > 0.7 * max(1, min(len(text), len(set(stems(other.text)))))
        for other in chosen
    )


def _exception_after(unit: Unit, section: Sequence[Fragment]) -> Unit | None:
    """The sentence right after the unit, when it takes back part of what the unit says."""
    quotes = [q for u in units_of(section) for q in u.quotes[:1]]
    last = unit.quotes[-1]
    for index, quote in enumerate(quotes[:-1]):
        if (
            quote.fragment.id == last.fragment.id
            and quote.start == last.start
            and _EXCEPTION.match(quotes[index + 1].text)
        ):
            return Unit((quotes[index + 1],))
    return None


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
    named: tuple[str, int | None] | None = None
    for unit, _ in extracted.units:
        first = unit.quotes[0]
        lines = []
        if (first.fragment.doc_id, first.page) != named:
            lines.append(_introduction(first))
            named = (first.fragment.doc_id, first.page)
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
    section = " › ".join(fragment.section_path[-2:])
    return f"**{fragment.title}**{place}{f' ({section})' if section else ''}:"
