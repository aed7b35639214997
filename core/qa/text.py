"""What a document says, sentence by sentence: statements that stand by themselves, lists, and the text around them."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from core.answering.units import Unit, quotes_of, units_of
from core.ingestion.sentences import split_sentences
from core.models import Fragment
from core.retrieval.terms import fold, stem, stems

# An expected answer has this many words, where the source has them.
MIN_WORDS, MAX_WORDS = 100, 200
_STATEMENT_WORDS = (7, 60)
_MARKER = re.compile(r"^\s*(?:[•◦○▪■□‣·●–—*-]|\d{1,2}\.?[ºª]?[.)]|[a-zñ]{1,2}[.)]|[A-ZÑ][.)])\s+")
ASIDE = re.compile(
    r"ejemplo|supuestos? práctico|casos? práctico|solución|índice|preámbulo|exposición de motivos|glosario|anexo|"
    r"^disposici(?:ón|ones) (?:transitoria|derogatoria|final)|direcciones|teléfono|novedades|sumario|contenido del manual|"
    r"^disposición adicional",
    re.IGNORECASE,
)
_REDACTED = re.compile(r"<[A-ZÑ_]+_\d+>")
_EXAMPLE = re.compile(r"^\W*(?:ejemplos?|supuestos?|solución|casos? prácticos?)\b\W*(?:\d|$|:|\.)", re.IGNORECASE)
_NO_STATEMENT = re.compile(
    r"\?|…|\.\.\.|=|\bejemplo|\bvéase\b|\bvid\.|\bver (?:el )?(?:apartado|capítulo|página)|\bnota\b|"
    r"^\W*(?:precisiones|importante|recuerde)|"
    r"\bredacci[oó]n\b|\bsuprimid|\bderogad|\bS\.\s?[AL]\.|\bD\.ª? |©|https?:|www\.|\|",
    re.IGNORECASE,
)
# What sends the reader elsewhere: no part of a question may hold it.
DANGLING = re.compile(
    r"\b(?:dich[ao]s?|[eé]st[eao]s?|[eé]s[eao]s?|aqu[eé]ll[ao]s?|aqu[eé]l|ell[ao]s?|mism[ao]s?|tal(?:es)?|anterior(?:es|mente)?|siguientes?|"
    r"citad[ao]s?|referid[ao]s?|mencionad[ao]s?|indicad[ao]s?|señalad[ao]s?|expresad[ao]s?|aludid[ao]s?|previst[ao]s?|"
    r"establecid[ao]s?|dispuest[ao]s?|descrit[ao]s?|antedich[ao]s?|contemplad[ao]s?|enumerad[ao]s?|recogid[ao]s?|regulad[ao]s?|"
    r"con (?:anterioridad|posterioridad)(?! al?\b)|correspondientes?|respectiv[ao]s?|amb[ao]s|apartados?|"
    r"párrafos?|letras?|números? \d|artículos?|arts?|capítulos?|títulos?|sección|"
    r"disposición|presente|precedentes?|conforme|citada|así como|asimismo|también|además|tampoco|igualmente|"
    r"a continuación|LIVA|RIVA|LIRPF|RIRPF|otr[ao]s?|le|les|lo|demás|restantes?|aquí|allí|ahí|anexo|señalan?|"
    r"procedimiento general|"
    r"reglamentariamente|en su caso|supra|infra)\b|[()\[\]«»“”\"/]|\d\.[ºª]|\b[a-z]\)",
    re.IGNORECASE,
)
_THIS_LAW = re.compile(
    r"\b(?:en |de |a |por )?est[ae] (?:ley|reglamento|real decreto|manual|impuesto)\b", re.IGNORECASE
)
# Forms of verbs say little of a fact.
_VERBAL = re.compile(
    r"\b(?:\w+(?:r[áé]n?|ó|aron|ieron|aban?|ando|iendo|ieran?|iesen?)|tenían?|había[ns]?|hay[an]+|sean?|siendo|hubiera\w*|está|esté|tiene|"
    r"\w+[aei]r(?:l[aeo]s?|se)|obstante|hasta|partir|primer|segund[oa]|tod[ao]s?|puede|debe|aunque|cuando|mediante|siempre|tanto|también|tampoco|est[aeo]s?|como|sino|según|dentro|dich\w+|anterior\w*|siguientes?)\b",
    re.IGNORECASE,
)
# What makes a statement's denial true in part, or its figure one of several.
HEDGED = re.compile(
    r"\b(?:salvo|excepto|sin perjuicio|no obstante|excepci\w+|exceptuando|a menos que|en general|con carácter general|"
    r"generalmente|normalmente|como regla|únicamente|sólo|solo|sin embargo|en todo caso|o no)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence that stands by itself, without its list marker. ``start`` is its offset in the fragment's text."""

    fragment: Fragment
    text: str
    start: int

    @property
    def section(self) -> str:
        """The heading that it stands under."""
        return self.fragment.section_label


@dataclass(frozen=True, slots=True)
class Listing:
    """A sentence that leads into a list, with the list's items, all of one fragment."""

    fragment: Fragment
    lead: str
    items: tuple[str, ...]
    start: int
    cut: bool


class DocumentText:
    """A document's fragments with what the generators ask of them. ``fragments`` in reading order."""

    def __init__(self, fragments: Sequence[Fragment]) -> None:
        self.fragments = tuple(sorted(fragments, key=lambda f: f.ordinal))
        self.by_id = {f.id: f for f in self.fragments}

    @cached_property
    def sections(self) -> list[list[Fragment]]:
        """Runs of fragments of one section and kind."""
        runs: list[list[Fragment]] = []
        for fragment in self.fragments:
            last = runs[-1][-1] if runs else None
            if last and (last.section_path, last.kind) == (fragment.section_path, fragment.kind):
                runs[-1].append(fragment)
            else:
                runs.append([fragment])
        return runs

    @cached_property
    def statements(self) -> list[Statement]:
        """Sentences that stand by themselves: no item of a list, no aside, no reference, of a sensible length."""
        found = []
        for section in self.sections:
            if section[0].kind == "table" or any(ASIDE.search(part) for part in section[0].section_path[-3:]):
                continue
            for unit in units_of(section):
                if _EXAMPLE.match(unit.quotes[0].text):
                    break  # what follows in the section belongs to the example
                if unit.heads == 0 and len(unit.quotes) == 1 and (statement := _statement(unit)):
                    found.append(statement)
        return found

    @cached_property
    def listings(self) -> list[Listing]:
        """Lists with what leads into them, each within one fragment."""
        found = []
        for section in self.sections:
            if section[0].kind == "table" or any(ASIDE.search(part) for part in section[0].section_path[-3:]):
                continue
            for unit in units_of(section):
                if unit.is_list and unit.heads == 1 and len({q.fragment.id for q in unit.quotes}) == 1:
                    items = tuple(_MARKER.sub("", q.text).strip() for q in unit.body)
                    lead = _MARKER.sub("", unit.quotes[0].text).strip()
                    found.append(Listing(unit.fragment, lead, items, unit.quotes[0].start, unit.cut))
        return found

    @cached_property
    def tables(self) -> list[Fragment]:
        """Fragments that are (parts of) tables."""
        return [f for f in self.fragments if f.kind == "table"]

    @cached_property
    def fragment_stems(self) -> list[frozenset[str]]:
        """Each fragment's stems, headings included."""
        return [frozenset(stems("\n".join((*f.section_path, f.text)))) for f in self.fragments]

    @cached_property
    def frequencies(self) -> Counter[str]:
        """In how many fragments each stem occurs."""
        counts: Counter[str] = Counter()
        for fragment in self.fragments:
            counts.update(set(stems(fragment.text)))
        return counts

    @cached_property
    def folded(self) -> str:
        """All text without accents, case, punctuation: to look for quotations."""
        return "\n".join(bare(f.text) for f in self.fragments)

    @cached_property
    def sentence_stems(self) -> list[tuple[Fragment, str, frozenset[str]]]:
        """Every sentence with its stems, to look for contradictions."""
        return [(f, q.text, frozenset(stems(q.text))) for f in self.fragments for q in quotes_of(f)]

    def chapter(self, fragment: Fragment) -> str:
        """The part of the document that a fragment belongs to, for coverage: its chapter, or the section."""
        path = fragment.section_path
        return path[min(self._depth, len(path) - 1)] if path else fragment.title

    @cached_property
    def chapters(self) -> list[str]:
        """All chapters in reading order, asides left out."""
        names = dict.fromkeys(self.chapter(f) for f in self.fragments)
        return [name for name in names if not ASIDE.search(name)]

    @cached_property
    def _depth(self) -> int:
        """The outermost level of headings that has at least five different ones."""
        deepest = max((len(f.section_path) for f in self.fragments), default=1)
        for depth in range(deepest):
            if len({f.section_path[: depth + 1] for f in self.fragments if len(f.section_path) > depth}) >= 5:
                return depth
        return max(0, deepest - 1)

    @cached_property
    def repeated_labels(self) -> set[str]:
        """Headings' first two words ("Artículo 1") that stand over more than one section: no name for either."""
        over: dict[str, set[tuple[str, ...]]] = {}
        for fragment in self.fragments:
            over.setdefault(" ".join(fragment.section_label.split()[:2]).casefold(), set()).add(fragment.section_path)
        return {label for label, paths in over.items() if len(paths) > 1}

    def around(self, fragment: Fragment, start: int, length: int) -> tuple[str, tuple[str, ...]]:
        """The passage of ``MIN_WORDS`` to ``MAX_WORDS`` words from a stretch of a fragment on, in whole sentences, and
        the ids of the fragments that it takes from.

        It begins with the stretch's own sentence and goes on in the section; sentences before it are taken only where
        the section ends too early.
        """
        own = quotes_of(fragment)
        inside = [i for i, q in enumerate(own) if q.start < start + max(1, length) and q.start + len(q.text) > start]
        if not inside:
            return fragment.text[start : start + length], (fragment.id,)
        chosen = own[inside[0] : inside[-1] + 1]
        words = sum(len(q.text.split()) for q in chosen)
        after = [*own[inside[-1] + 1 :], *(q for f in self._following(fragment) for q in quotes_of(f))]
        for quotes, at_end in ((after, True), (own[: inside[0]][::-1], False)):
            for quote in quotes:
                size = len(quote.text.split())
                if words >= MIN_WORDS or words + size > MAX_WORDS:
                    break
                chosen = [*chosen, quote] if at_end else [quote, *chosen]
                words += size
        while len(chosen) > len(inside) and chosen[-1].text.endswith(":"):
            chosen.pop()
        return " ".join(q.text.strip() for q in chosen), tuple(
            dict.fromkeys([fragment.id, *(q.fragment.id for q in chosen)])
        )

    def _following(self, fragment: Fragment) -> list[Fragment]:
        section = next((s for s in self.sections if any(f.id == fragment.id for f in s)), [])
        return [f for f in section if f.ordinal > fragment.ordinal][:1] if fragment.kind == "text" else []

    def key_terms(self, text: str, n: int = 3, *, without: Iterable[str] = ()) -> tuple[str, ...]:
        """The ``n`` stretches of content words of ``text`` that are rarest in the document, in order of the text."""
        skip = set(without)
        runs: list[tuple[float, int, str]] = []
        for match in re.finditer(
            r"[^\W\d_]{4,}(?:\s+(?:de|del|de la|de los|de las)\s+[^\W\d_]{4,}|\s+[^\W\d_]{5,})?", text
        ):
            found = stems(match.group())
            fresh = [t for t in found if t not in skip]
            if fresh and len(fresh) == len(found) and not _VERBAL.search(match.group()):
                rarity = sum(1.0 / (1 + self.frequencies.get(t, 0)) for t in fresh) / len(fresh)
                runs.append((-rarity, match.start(), match.group()))
                skip.update(found)
        return tuple(run[2] for run in sorted(sorted(runs)[:n], key=lambda run: run[1]))


def bare(text: str) -> str:
    """Letters and figures only, for comparing wordings."""
    return re.sub(r"[\W_]+", " ", fold(text)).strip()


def overlap(a: Iterable[str], b: Iterable[str]) -> float:
    """Share of the smaller set that both have (0..1)."""
    one, two = set(a), set(b)
    return len(one & two) / max(1, min(len(one), len(two)))


def _statement(unit: Unit) -> Statement | None:
    quote = unit.quotes[0]
    text = quote.text.strip()
    marker = _MARKER.match(text)
    start = quote.start + quote.text.index(text) + (marker.end() if marker else 0)
    text = text[marker.end() :] if marker else text
    spans = split_sentences(text)
    begins = text[:1].isupper() or _REDACTED.match(text)  # a name that was taken out begins a sentence as well
    if len(spans) != 1 or not begins or not text.endswith("."):
        return None
    if not _STATEMENT_WORDS[0] <= len(text.split()) <= _STATEMENT_WORDS[1] or _NO_STATEMENT.search(text):
        return None
    return Statement(quote.fragment, text, start)


def self_contained(text: str) -> bool:
    """Whether a stretch can be put into a question: it points at nothing outside itself."""
    plain = _THIS_LAW.sub("", text)
    return not DANGLING.search(plain)


def stem_of(word: str) -> str:
    """The stem of one word."""
    return stem(word)
