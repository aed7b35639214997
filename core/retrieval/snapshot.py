"""The index in memory: fragments, expected questions and their adapted vectors, for exact scores at each question."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from core.ingestion.fragments import embedding_text
from core.models import Fragment
from core.retrieval.adapter import Adapter
from core.retrieval.store import FragmentStore, QuestionStore
from core.retrieval.terms import stems

Floats = NDArray[np.float32]


@dataclass(frozen=True)
class Snapshot:
    """``owners[j]`` is the place in ``fragments`` of the fragment that question ``j`` belongs to.

    ``passages`` is fragments × dimension and ``questions`` is questions × dimension, both adapted unit vectors.
    """

    fragments: Sequence[Fragment]
    passages: Floats
    question_ids: Sequence[str]
    question_texts: Sequence[str]
    questions: Floats
    owners: NDArray[np.int64]

    @cached_property
    def place(self) -> dict[str, int]:
        """Place of each fragment by its id."""
        return {fragment.id: i for i, fragment in enumerate(self.fragments)}

    @cached_property
    def question_place(self) -> dict[str, int]:
        """Place of each question by its id."""
        return {question_id: j for j, question_id in enumerate(self.question_ids)}

    @cached_property
    def questions_of(self) -> list[list[int]]:
        """For each fragment, the places of its questions."""
        owned: list[list[int]] = [[] for _ in self.fragments]
        for j, owner in enumerate(self.owners):
            owned[owner].append(j)
        return owned

    @cached_property
    def _passage_stems(self) -> dict[int, frozenset[str]]:
        return {}

    @cached_property
    def _question_stems(self) -> dict[int, frozenset[str]]:
        return {}

    def passage_stems(self, i: int) -> frozenset[str]:
        """Stems of fragment ``i`` with its headings; computed once."""
        found = self._passage_stems.get(i)
        if found is None:
            found = self._passage_stems[i] = frozenset(stems(embedding_text(self.fragments[i])))
        return found

    def question_stems(self, j: int) -> frozenset[str]:
        """Stems of question ``j``; computed once."""
        found = self._question_stems.get(j)
        if found is None:
            found = self._question_stems[j] = frozenset(stems(self.question_texts[j]))
        return found

    def expected_of(self, i: int, vector: Floats) -> list[tuple[str, float]]:
        """The expected questions of fragment ``i``, each with its cosine with the adapted question ``vector``."""
        owned = self.questions_of[i]
        cosines = self.questions[owned] @ vector if owned else ()
        return [(self.question_texts[j], float(cosine)) for j, cosine in zip(owned, cosines, strict=True)]


def take_snapshot(store: FragmentStore, questions: QuestionStore, adapter: Adapter) -> Snapshot:
    """Read both tables. Questions whose fragment is not there (a document being replaced) are left out."""
    fragments = sorted(store.all(), key=lambda f: (f.doc_id, f.ordinal))
    ids, vectors = store.vectors()
    row_of = {fragment_id: row for row, fragment_id in enumerate(ids)}
    fragments = [f for f in fragments if f.id in row_of]
    place = {f.id: i for i, f in enumerate(fragments)}
    texts = questions.all()
    question_ids, question_vectors = questions.vectors()
    kept = [(j, q) for j, q in enumerate(question_ids) if q in texts and texts[q][0] in place]
    kept.sort(key=lambda pair: pair[1])
    return Snapshot(
        fragments=fragments,
        passages=adapter.passages(vectors[[row_of[f.id] for f in fragments]]),
        question_ids=[q for _, q in kept],
        question_texts=[texts[q][1] for _, q in kept],
        questions=adapter.questions(question_vectors[[j for j, _ in kept]]),
        owners=np.array([place[texts[q][0]] for _, q in kept], dtype=np.int64),
    )
