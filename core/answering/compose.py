"""The words of an extractive answer: exact quotes with their marks, and the sources in the order of the marks."""

from collections.abc import Callable, Sequence

from core.answering.extractive import Extract
from core.answering.premises import Correction
from core.answering.units import Quote
from core.models import Fragment, RetrievedFragment, Source

# A heading longer than this is shortened in an introduction.
_MAX_HEADING = 110


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


def compose(
    extracted: Extract,
    *,
    about: Callable[[str], tuple[int | None, str]],
    first: int = 1,
    written: Callable[[str], str] = str,
) -> tuple[str, tuple[Source, ...]]:
    """The answer's text with ``[n]`` marks from ``first`` on, and its sources in order of ``n``.

    ``about(doc_id)`` gives the tax year and the date that the document states. ``written`` is applied to titles,
    headings and quotes.
    """
    pieces = [[piece for quote in joined(unit.quotes) for piece in by_page(quote)] for unit, _ in extracted.units]
    by_place: dict[tuple[str, int | None], list[Quote]] = {}
    hits: dict[tuple[str, int | None], RetrievedFragment] = {}
    for (_, hit), quotes in zip(extracted.units, pieces, strict=True):
        for quote in quotes:
            by_place.setdefault(_place(quote), []).append(quote)
            hits.setdefault(_place(quote), hit)
    numbers = {place: n for n, place in enumerate(by_place, start=first)}
    sources = []
    for place, quotes in by_place.items():
        year, date = about(quotes[0].fragment.doc_id)
        sources.append(source_from(hits[place], quotes, fiscal_year=year, document_date=date))
    paragraphs = [_corrected(extracted.correction, numbers)] if extracted.correction else []
    if extracted.lead and extracted.units:
        title = written(extracted.units[0][0].fragment.title)
        paragraphs.append(extracted.lead.format(mark=first, title=title))
    headings = dict(extracted.headings)
    named: tuple[str, int | None, tuple[str, ...]] | None = None
    for index, ((unit, _), quotes) in enumerate(zip(extracted.units, pieces, strict=True)):
        opening = quotes[0]
        lines = []
        if index in headings:
            lines.append(f"**{written(headings[index])}**")
            named = None
        standing = (opening.fragment.doc_id, opening.page, opening.fragment.section_path)
        if standing != named:
            lines.append(_introduction(opening, written))
            named = standing
        for quote in quotes:
            bullet = "- " if quote is not opening and quote.item else ""
            lines.append(f"{bullet}«{written(quote.text)}» [{numbers[_place(quote)]}]")
        if unit.cut:
            lines.append("(La lista continúa en la fuente.)")
        paragraphs.append("\n".join(_spaced(lines)))
    return "\n\n".join(paragraphs), tuple(sources)


def _place(quote: Quote) -> tuple[str, int | None]:
    return quote.fragment.id, quote.page


def joined(quotes: Sequence[Quote]) -> list[Quote]:
    """Sentences that follow one another on one line of a fragment become one quote."""
    together: list[Quote] = []
    for quote in quotes:
        last = together[-1] if together else None
        if (
            last
            and last.fragment.id == quote.fragment.id
            and not quote.item
            and quote.start >= last.start + len(last.text)
        ):
            between = last.fragment.text[last.start + len(last.text) : quote.start]
            if between and not between.strip(" "):
                together[-1] = Quote(last.fragment, f"{last.text}{between}{quote.text}", last.start, last.item)
                continue
        together.append(quote)
    return together


def by_page(quote: Quote) -> list[Quote]:
    """A quote that runs over the page's end becomes one a page, so that each stands on the page that it cites."""
    breaks = [b - quote.start for b in quote.fragment.page_breaks if 0 < b - quote.start < len(quote.text)]
    pieces = []
    for start, end in zip([0, *breaks], [*breaks, len(quote.text)], strict=True):
        text = quote.text[start:end]
        if text.strip():
            lead = len(text) - len(text.lstrip())
            pieces.append(Quote(quote.fragment, text.strip(), quote.start + start + lead, quote.item and not start))
    return pieces


def _corrected(wrong: Correction, numbers: dict[tuple[str, int | None], int]) -> str:
    """What is said first where a passage says otherwise than the question.

    Without the figure that the question asserts: no figure stands in an answer that its sources do not state.
    """
    mark = next((numbers[_place(q)] for q in reversed(wrong.unit.quotes) if _place(q) in numbers), 1)
    if wrong.other:
        return f"**No: el pasaje citado da {wrong.other} que la pregunta [{mark}].** Esto es lo que dice:"
    # That one sentence denies what the other affirms is read from words alone, and right about as often as not: a warning.
    return f"**Cuidado: puede que no sea como da por hecho la pregunta. Compruébelo en el pasaje citado [{mark}]:**"


def _spaced(lines: Sequence[str]) -> list[str]:
    """Markdown needs an empty line between paragraphs, and before a list."""
    spaced: list[str] = []
    for line in lines:
        if spaced and not (line.startswith("- ") and spaced[-1].startswith("- ")):
            spaced.append("")
        spaced.append(line)
    return spaced


def _introduction(quote: Quote, written: Callable[[str], str]) -> str:
    fragment = quote.fragment
    place = f", página {quote.page}" if quote.page is not None else ""
    section = " › ".join(written(_shortened(part)) for part in _own_headings(fragment)[-2:])
    return f"**{written(fragment.title)}**{place}{f' ({section})' if section else ''}:"


def _own_headings(fragment: Fragment) -> tuple[str, ...]:
    """The headings above a fragment, without a first one that only repeats the document's title."""
    path = fragment.section_path
    name = fragment.title.partition(",")[0].casefold()
    return path[1:] if len(path) > 1 and path[0].casefold().startswith(name) else path


def _shortened(heading: str) -> str:
    if len(heading) <= _MAX_HEADING:
        return heading.rstrip(".")
    return f"{heading[:_MAX_HEADING].rpartition(' ')[0].rstrip(',;.')}…"
