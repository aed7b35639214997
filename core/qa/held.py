"""The product's own engine held to one document: an official one of the index, or fragments given (an upload)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from core.answering.engine import AnswerEngine
from core.ingestion.fragments import embedding_text
from core.models import Answer, Fragment
from core.qa.borders import Nearest
from core.retrieval.search import HybridSearch, SearchResult
from core.retrieval.snapshot import take_snapshot
from core.retrieval.store import FragmentStore, QuestionStore
from core.retrieval.terms import TermStatistics, stems

if TYPE_CHECKING:
    from core.services import Services

_NEAREST = 5


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
    """`Answerer` over an `AnswerEngine` whose search is held to one document."""

    engine: AnswerEngine
    name: str

    def answer(self, question: str) -> Answer:
        """Answer from the document only."""
        return self.engine.ask(question)


def hold(services: "Services", doc_id: str) -> HeldEngine:
    """The engine over one official document."""
    return _held(services, services.search, services.store, doc_id)


def hold_fragments(services: "Services", fragments: Sequence[Fragment], folder: Path) -> HeldEngine:
    """The engine over an upload's fragments, indexed under ``folder`` (the session's, with which it dies)."""
    doc_id = fragments[0].doc_id
    store = FragmentStore(str(folder), dimension=services.embedder.dimension, table="qa_document")
    questions = QuestionStore(str(folder), dimension=services.embedder.dimension, table="qa_no_questions")
    store.replace_document(doc_id, fragments, services.embedder.embed_passages([embedding_text(f) for f in fragments]))
    counts: dict[str, int] = {}
    for fragment in fragments:
        for stem in set(stems(fragment.text)):
            counts[stem] = counts.get(stem, 0) + 1
    search = HybridSearch(
        store=store,
        questions=questions,
        snapshot=take_snapshot(store, questions, services.adapter),
        embedder=services.embedder,
        adapter=services.adapter,
        reranker=services.reranker,
        terms=TermStatistics(counts, len(fragments)),
    )
    return _held(services, lambda: search, store, doc_id)


def _held(services: "Services", search: Callable[[], HybridSearch], store: FragmentStore, doc_id: str) -> HeldEngine:
    engine = services.engine_over(HeldRetriever(search, doc_id), store.section_around, lambda: search().terms)
    return HeldEngine(engine, services.model.name if services.model else "extractivo")


def nearest_in(search: HybridSearch, doc_id: str) -> Nearest:
    """The document's passages nearest to a phrase, by the adapted vectors of the index."""
    places = np.array([i for i, f in enumerate(search.snapshot.fragments) if f.doc_id == doc_id], dtype=np.int64)

    def find(phrase: str) -> Sequence[Fragment]:
        vector = search.adapter.questions(search.embedder.embed_query(phrase)[None, :])[0]
        cosines = search.snapshot.passages[places] @ vector
        return [search.snapshot.fragments[places[i]] for i in np.argsort(-cosines, kind="stable")[:_NEAREST]]

    return find
