"""The product's own engine held to one document: an official one of the index, or fragments given (an upload)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, cast

import numpy as np
from numpy.typing import NDArray

from core.answering.engine import AnswerEngine
from core.answering.one_document import coverage
from core.documents.library import Holdings, SessionDocuments
from core.documents.record import PrivateDocument
from core.documents.reference import Reference
from core.documents.relevance import load_relevance
from core.documents.search import SessionResult, SessionSearch
from core.ingestion.fragments import embedding_text
from core.models import Answer, Fragment
from core.qa.borders import Nearest
from core.retrieval.search import HybridSearch, SearchResult

if TYPE_CHECKING:
    from core.services import Services

_NEAREST = 5
_AROUND = 8


@dataclass(frozen=True, slots=True)
class HeldRetriever:
    """A search that finds fragments of one document only."""

    search: Callable[[], HybridSearch]
    doc_id: str

    def run(self, question: str, k: int) -> SearchResult:
        """The ``k`` best fragments of the document, best first, ranked as they are among all."""
        return self.search().run(question, k, doc_id=self.doc_id)


@dataclass(frozen=True)
class HeldEngine:
    """`Answerer` over an `AnswerEngine` whose search is held to one document, official or (``private``) an upload."""

    engine: AnswerEngine
    name: str
    private: SessionSearch | None = None

    def answer(self, question: str) -> Answer:
        """Answer from the document only."""
        return self.engine.ask(question, private=self.private)


def hold(services: "Services", doc_id: str) -> HeldEngine:
    """The engine over one official document."""
    retriever = HeldRetriever(services.search, doc_id)
    engine = services.engine_over(retriever, services.store.section_around, services.terms, one_document=True)
    return HeldEngine(engine, _name(services))


def hold_fragments(
    services: "Services", fragments: Sequence[Fragment], vectors: NDArray[np.float32] | None = None
) -> HeldEngine:
    """The engine over an upload's fragments (already redacted), as it answers from private documents; all in memory.

    ``vectors``: the fragments' (fragments × dimension), made here where they are not given.
    """
    if vectors is None:
        vectors = services.embedder.embed_passages([embedding_text(f) for f in fragments])
    own = _OneDocument(tuple(fragments), vectors)
    known = services.thresholds.documents  # that a battery's question names its document says nothing of its answer
    nothing = _NothingPublic(services.search)
    search = _HeldSession(
        nothing,
        cast(SessionDocuments, own),
        adapter=services.adapter,
        terms=services.terms,
        model=load_relevance(),
        thresholds=known.model_copy(
            update={"prior_own": known.prior_bare, "prior_named": known.prior_bare, "prior_plain": known.prior_bare}
        ),
    )
    search.cover = services.thresholds.scope.one_document
    engine = services.engine_over(
        nothing, services.store.section_around, services.terms
    )  # not even a part asks the corpus
    return HeldEngine(engine, _name(services), search)


def _name(services: "Services") -> str:
    return services.model.name if services.model else "extractivo"


@dataclass(frozen=True, slots=True)
class _NothingPublic:
    """A public search that finds nothing: it only reads the question."""

    search: Callable[[], HybridSearch]

    def run(self, question: str, k: int) -> SearchResult:
        """See `PublicSearch`."""
        return replace(self.search().run(question, 1), found=(), expected={})


class _HeldSession(SessionSearch):
    """A session's search in which every question means its one document.

    A passage that covers the question (`core.answering.one_document`) is quoted, whatever else its probability.
    """

    cover: float = 1.0

    def run(self, question: str, k: int) -> SessionResult:
        """See `SessionSearch`."""
        found = super().run(question, k)
        least, weight = self.thresholds.answerable, self._terms().weight
        private = found.private
        if private and private[0].relevance < least:
            private = tuple(
                replace(hit, relevance=least) if coverage(question, hit.fragment, weight) >= self.cover else hit
                for hit in private
            )
            private = tuple(sorted(private, key=lambda hit: -hit.relevance))
        return replace(found, private=private, found=private, reference=Reference(own=True, bare=False, rule=False))


class _OneDocument:
    """What `SessionSearch` and the engine ask of a session's documents, for the fragments of one."""

    def __init__(self, fragments: tuple[Fragment, ...], vectors: NDArray[np.float32]) -> None:
        first = fragments[0]
        record = PrivateDocument(
            doc_id=first.doc_id, name=first.title, title=first.title, suffix="", sha256="", size=0, pages=0, paged=False,
            tables=0, fragments=len(fragments), added_at="", seconds=0.0, made_with="",
        )  # fmt: skip
        self._holdings = Holdings(fragments, vectors, (record,))

    def holdings(self) -> Holdings:
        """All fragments with their vectors."""
        return self._holdings

    def documents(self) -> tuple[PrivateDocument, ...]:
        """The one document."""
        return self._holdings.documents

    def redacted(self, question: str) -> str:
        """The battery's questions come from the redacted text."""
        return question

    def section_around(self, fragment: Fragment) -> list[Fragment]:
        """The fragments of the same section and kind around one, itself included, in reading order."""
        place = (fragment.section_path, fragment.kind)
        return [
            f
            for f in self._holdings.fragments
            if abs(f.ordinal - fragment.ordinal) <= _AROUND and (f.section_path, f.kind) == place
        ]

    def forget(self) -> None:
        """Nothing is kept elsewhere."""


def nearest_in(search: HybridSearch, doc_id: str) -> Nearest:
    """The document's passages nearest to a phrase, by the adapted vectors of the index."""
    places = np.array([i for i, f in enumerate(search.snapshot.fragments) if f.doc_id == doc_id], dtype=np.int64)

    def find(phrase: str) -> Sequence[Fragment]:
        vector = search.adapter.questions(search.embedder.embed_query(phrase)[None, :])[0]
        cosines = search.snapshot.passages[places] @ vector
        return [search.snapshot.fragments[places[i]] for i in np.argsort(-cosines, kind="stable")[:_NEAREST]]

    return find
