"""The words of the domain. Frozen values; no library types."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal


class Scope(StrEnum):
    """Where a fragment comes from."""

    PUBLIC = "public"
    PRIVATE = "private"


class Category(StrEnum):
    """What kind of question was asked, as the acceptance criteria name it."""

    DIRECT = "direct"
    NO_ANSWER = "no_answer"
    PERSONAL_CASE = "personal_case"
    OUT_OF_SCOPE = "out_of_scope"


class Mode(StrEnum):
    """How the answer was made."""

    EXTRACTIVE = "extractive"
    SYNTHESIS = "synthesis"
    FALLBACK = "fallback"


class Level(StrEnum):
    """The seal's three levels, an ordinal class and not a probability."""

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


class SealMode(StrEnum):
    """Whether the seal reads the self-verification (normal) or leaves it out (deterministic)."""

    NORMAL = "normal"
    DETERMINISTIC = "deterministic"


class SelfCheck(StrEnum):
    """What the second call to the model said of the answer; ``not_run`` where no model wrote it."""

    NOT_RUN = "not_run"
    SUPPORTED = "supported"
    UNSUPPORTED = "unsupported"
    ERROR = "error"


BlockKind = Literal["heading", "paragraph", "item", "table"]


@dataclass(frozen=True, slots=True)
class Block:
    """One paragraph, list item, heading or table, as read from a document.

    ``page`` counts from 1 and is None where the format has no pages. ``level`` is the heading's depth
    (1 = outermost; 0 for what is not a heading). ``page_breaks`` holds offsets into ``text`` at which the
    next page begins (a paragraph that runs over the page's end). A block of kind ``table`` has no text of
    its own: ``table`` is its place in `LoadedDocument.tables`.
    """

    kind: BlockKind
    text: str
    page: int | None = None
    level: int = 0
    page_breaks: tuple[int, ...] = ()
    table: int | None = None


@dataclass(frozen=True, slots=True)
class Table:
    """A table with its cells exactly as printed. ``rows`` does not include ``header``.

    ``row_pages`` gives the page of each row where the table runs over several pages.
    """

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    page: int | None = None
    page_end: int | None = None
    title: str = ""
    section_path: tuple[str, ...] = ()
    row_pages: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class LoadedDocument:
    """A file as read: cleaned blocks in reading order, its tables, and what the reader should know.

    ``pages`` maps page number to the cleaned text of that page; formats without pages have one entry, page 1.
    ``document_date`` is the ISO date that the document's own header or footer states, '' where it states none.
    """

    blocks: tuple[Block, ...]
    pages: Mapping[int, str]
    tables: tuple[Table, ...] = ()
    warnings: tuple[str, ...] = ()
    paged: bool = True
    dropped_tables: int = 0
    document_date: str = ""


@dataclass(frozen=True, slots=True)
class DocumentInfo:
    """What is known of a document before it is read: a row of ``data/sources.csv``, or an upload."""

    doc_id: str
    title: str
    tax: str
    doc_type: str
    filename: str
    source_url: str = ""
    official_source: str = ""
    fiscal_year: int | None = None
    retrieved_at: str = ""
    document_date: str = ""
    sha256: str = ""
    wheel: str = ""
    wheel_path: str = ""
    size: int = 0
    source_scope: Scope = Scope.PUBLIC
    session_id: str = ""


@dataclass(frozen=True, slots=True)
class Fragment:
    """A piece of a document small enough for the embedding model, with all that is needed to cite it.

    ``id`` is a hash of document, place and text. ``page_breaks`` holds the offsets into ``text`` at which
    page + 1, page + 2, … begin.
    """

    id: str
    text: str
    doc_id: str
    title: str
    tax: str
    doc_type: str
    section_label: str
    section_path: tuple[str, ...]
    page: int | None
    page_end: int | None
    source_url: str
    retrieved_at: str
    source_scope: Scope = Scope.PUBLIC
    session_id: str = ""
    kind: Literal["text", "table"] = "text"
    page_breaks: tuple[int, ...] = ()
    ordinal: int = 0

    def page_at(self, offset: int) -> int | None:
        """Page on which the character at ``offset`` of ``text`` is printed."""
        if self.page is None:
            return None
        return self.page + sum(1 for start in self.page_breaks if start <= offset)


@dataclass(frozen=True, slots=True)
class RetrievedFragment:
    """A fragment found for a question. ``relevance`` is in 0..1, ``score`` is the fused rank score."""

    fragment: Fragment
    relevance: float
    score: float = 0.0
    cosine: float = 0.0


@dataclass(frozen=True, slots=True)
class Source:
    """What ``[n]`` in an answer points at. Made from a retrieved fragment in one function only."""

    fragment_id: str
    doc_id: str
    title: str
    page: int | None
    section_path: tuple[str, ...]
    passage: str
    relevance: float
    source_url: str
    source_scope: Scope
    fiscal_year: int | None = None
    document_date: str = ""

    @property
    def section(self) -> str:
        """The section path in one line."""
        return " › ".join(self.section_path)


@dataclass(frozen=True, slots=True)
class Signals:
    """The five signals of the seal, as measured on one answer, and the count of independent citations.

    ``rerank``: relevance (0..1) of what is quoted, or of the best fragment found where that is not known.
    ``coverage``: share (0..1) of the draft's claims that its citations support. ``fallback``: why the extraction took
    over from the model, '' where it did not. ``supporting``: fragments cited, each supporting a claim by itself, with
    enough relevance of its own.
    """

    rerank: float
    coverage: float
    self_check: SelfCheck = SelfCheck.NOT_RUN
    refusal: bool = False
    fallback: str = ""
    supporting: int = 0


@dataclass(frozen=True, slots=True)
class Seal:
    """How far an answer can be trusted, with what it was read from and why, in plain Spanish."""

    level: Level
    signals: Signals
    reasons: tuple[str, ...]
    thresholds_version: str
    mode: SealMode


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer with its sources. ``grounded=False`` always goes with ``sources=()``.

    ``fallback``: why the extraction took over from the model, in Spanish; '' where it did not. ``understood``: the
    stand-alone question that a follow-up was taken for, '' for a question of its own. ``model`` and ``prompt_version``
    say what wrote a synthesis, '' for an extraction.
    """

    text: str
    grounded: bool
    category: Category
    mode: Mode
    sources: tuple[Source, ...] = ()
    timings: Mapping[str, float] = field(default_factory=dict)
    seal: Seal | None = None
    fallback: str = ""
    understood: str = ""
    model: str = ""
    prompt_version: str = ""

    def __post_init__(self) -> None:
        if self.grounded != bool(self.sources):
            raise ValueError("an answer is grounded if and only if it has sources")
