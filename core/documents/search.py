"""Search over the public corpus and the documents of one session, and over nothing else."""

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from core.documents.library import Holdings, SessionDocuments
from core.documents.reference import Reference, is_named, read_reference
from core.documents.relevance import Asked, RelevanceModel, WordTable, features
from core.documents.strangers import Stranger, strangers
from core.models import Fragment, RetrievedFragment
from core.retrieval.adapter import Adapter
from core.retrieval.search import SearchResult
from core.retrieval.snapshot import Floats
from core.retrieval.terms import TermStatistics, fold
from core.thresholds import DocumentsThresholds

# How much of a document's beginning says what kind of document it is.
_OPENING_CHARS = 200


class PublicSearch(Protocol):
    """The search of the public corpus (`core.retrieval.retriever.HybridRetriever`)."""

    def run(self, question: str, k: int) -> SearchResult:
        """The ``k`` best public fragments, best first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionResult(SearchResult):
    """A search over both: ``found`` holds the best of both by relevance; ``candidates`` are the public ones.

    ``public`` is the public search alone, as the scope's model knows it; ``private`` the best private fragments.
    ``absent``: what the question calls its document by, where no own document holds it.
    """

    public: SearchResult
    private: tuple[RetrievedFragment, ...]
    reference: Reference
    absent: Stranger | None = None

    def with_public(self, public: SearchResult) -> "SessionResult":
        """The same search with other relevances of the public fragments; both sides are ordered anew."""
        both = sorted((*public.found, *self.private), key=lambda hit: -hit.relevance)[: len(self.found)]
        return replace(self, found=tuple(both), public=public)

    def private_suffices(self, threshold: float) -> bool:
        """Whether a private fragment answers, with a probability of at least ``threshold``."""
        return bool(self.private) and self.private[0].relevance >= threshold


@dataclass(frozen=True)
class _Prepared:
    """What the search keeps of a session's fragments while they stay the same."""

    holdings: Holdings
    words: WordTable
    adapted: Floats
    openings: dict[str, str]
    texts: dict[str, str]  # each document's title and text, folded


class SessionSearch:
    """Searches the public index and the documents of one session: it holds no way to any other session's."""

    def __init__(
        self,
        public: PublicSearch,
        documents: SessionDocuments,
        *,
        adapter: Adapter,
        terms: Callable[[], TermStatistics],
        model: RelevanceModel,
        thresholds: DocumentsThresholds,
    ) -> None:
        self._public = public
        self._documents = documents
        self._adapter = adapter
        self._terms = terms
        self._model = model
        self._thresholds = thresholds
        self._guard = threading.Lock()
        self._prepared: _Prepared | None = None

    @property
    def documents(self) -> SessionDocuments:
        """The session's documents."""
        return self._documents

    @property
    def thresholds(self) -> DocumentsThresholds:
        """When a private fragment is quoted."""
        return self._thresholds

    def run(self, question: str, k: int) -> SessionResult:
        """The ``k`` best fragments of both, best first, with what the searches saw.

        Raises:
            IndexNotReadyError: nothing public is indexed yet.
        """
        public = self._public.run(question, k)
        begun = time.perf_counter()
        prepared = self._present()
        reference = read_reference(question, [d.title for d in prepared.holdings.documents])
        named = tuple(strangers(question)) if reference.own and prepared.texts else ()
        absent = next((s for s in named if not any(map(s.in_text, prepared.texts.values()))), None)
        asked = Asked(question, public.raw, public.vector)
        private = () if absent else self._private(asked, prepared, reference, named, k)
        both = sorted((*public.found, *private), key=lambda hit: -hit.relevance)[:k]
        timings = {**public.timings, "private_ms": 1000 * (time.perf_counter() - begun)}
        return SessionResult(
            found=tuple(both),
            raw=public.raw,
            vector=public.vector,
            candidates=public.candidates,
            timings=timings,
            expected=public.expected,
            public=public,
            private=private,
            reference=reference,
            absent=absent,
        )

    def neighbours(self, public: Callable[[Fragment], Sequence[Fragment]]) -> Callable[[Fragment], Sequence[Fragment]]:
        """The fragments around one, private or public (through ``public``)."""

        def around(fragment: Fragment) -> Sequence[Fragment]:
            return self._documents.section_around(fragment) if fragment.session_id else public(fragment)

        return around

    def forget(self) -> None:
        """Drop what is kept in memory."""
        with self._guard:
            self._prepared = None
        self._documents.forget()

    def _private(
        self, asked: Asked, prepared: _Prepared, reference: Reference, called: tuple[Stranger, ...], k: int
    ) -> tuple[RetrievedFragment, ...]:
        holdings = prepared.holdings
        if not holdings.fragments:
            return ()
        rows = features(asked, prepared.words, raw=holdings.vectors, adapted=prepared.adapted, terms=self._terms())
        priors = self._priors(asked.text, prepared, reference, called)
        shifted = {prior: self._model.probabilities(rows, prior=prior) for prior in set(priors.values())}
        probability = np.array([shifted[priors[f.doc_id]][i] for i, f in enumerate(holdings.fragments)])
        order = np.argsort(-probability, kind="stable")[:k]
        return tuple(
            RetrievedFragment(holdings.fragments[i], float(probability[i]), cosine=float(rows[i, 0])) for i in order
        )

    def _priors(
        self, question: str, prepared: _Prepared, reference: Reference, called: tuple[Stranger, ...]
    ) -> dict[str, float]:
        """How likely each document is to answer before it is looked at. One that is named leaves the others behind."""
        known, documents = self._thresholds, prepared.holdings.documents
        prior = known.prior_own if reference.own else known.prior_bare if reference.bare else known.prior_plain
        named = {
            d.doc_id
            for d in documents
            if reference.own
            and is_named(question, reference, title=d.title, opening=prepared.openings.get(d.doc_id, ""))
        }
        holding = {d for d, text in prepared.texts.items() if all(s.in_text(text) for s in called)} if called else set()
        named = (named & holding) or holding or named
        if not named:
            return {d.doc_id: prior for d in documents}
        return {d.doc_id: known.prior_named if d.doc_id in named else known.prior_plain for d in documents}

    def _present(self) -> _Prepared:
        holdings = self._documents.holdings()
        with self._guard:
            if self._prepared is None or self._prepared.holdings is not holdings:
                adapted = self._adapter.passages(holdings.vectors)
                openings = {f.doc_id: f.text[:_OPENING_CHARS] for f in reversed(holdings.fragments)}
                said: dict[str, list[str]] = {d.doc_id: [d.title.replace("_", " ")] for d in holdings.documents}
                for fragment in holdings.fragments:
                    said[fragment.doc_id].append(fragment.text)
                texts = {doc_id: fold(" ".join(parts)) for doc_id, parts in said.items()}
                self._prepared = _Prepared(holdings, WordTable(holdings.fragments), adapted, openings, texts)
            return self._prepared
