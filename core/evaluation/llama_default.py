"""LlamaIndex's default pipeline (its own splitter, vectors in memory, cosine) on the same documents and model: a baseline."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from core.models import Fragment
from core.retrieval.embedder import Embedder
from core.retrieval.shipped import Floats, load_shipped, save_shipped

_KIND = "llamaindex"
# Texts embedded between two savings: what an interrupted run has done is not lost.
_BATCH = 256


class RememberedVectors:
    """Vectors of passages, kept in ``folder`` under text and model: the baseline's many are computed once."""

    def __init__(self, embedder: Embedder, folder: Path) -> None:
        self._embedder = embedder
        self._folder = folder
        self._known: dict[str, Floats] = {}

    def of(self, texts: Sequence[str]) -> Floats:
        """Vectors (n × dimension) of ``texts``; those that were not kept yet are computed and kept."""
        kept = load_shipped(_KIND, self._embedder.fingerprint, self._folder)
        vectors = np.zeros((len(texts), self._embedder.dimension), dtype=np.float32)
        known = np.zeros(len(texts), dtype=bool)
        if kept is not None:
            vectors, known = kept.find(texts)
        missing = [i for i in range(len(texts)) if not known[i]]
        if missing:
            vectors[missing] = self._embedder.embed_passages([texts[i] for i in missing])
        self._known.update(zip(texts, vectors, strict=True))
        if missing:
            every = list(self._known)
            save_shipped(
                _KIND, every, np.array([self._known[t] for t in every]), self._embedder.fingerprint, self._folder
            )
        return vectors


def default_retriever(
    fragments: Sequence[Fragment], embedder: Embedder, *, folder: Path
) -> Callable[[str], list[Fragment]]:
    """Build the default index over the documents' text and return its search. ``folder`` keeps its vectors.

    A default node has no page; it counts as the fragment whose text begins it, so that the measures apply to it: the
    returned fragment has the node's own text, and the place of that fragment.
    """
    from dataclasses import replace

    from llama_index.core import Document, VectorStoreIndex
    from llama_index.core.base.embeddings.base import BaseEmbedding

    remembered = RememberedVectors(embedder, folder)

    class Shared(BaseEmbedding):
        """The product's embedder as LlamaIndex wants it."""

        def _get_query_embedding(self, query: str) -> list[float]:
            return [float(x) for x in embedder.embed_query(query)]

        async def _aget_query_embedding(self, query: str) -> list[float]:
            return self._get_query_embedding(query)

        def _get_text_embedding(self, text: str) -> list[float]:
            return [float(x) for x in remembered.of([text])[0]]

        def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
            return [[float(x) for x in row] for row in remembered.of(texts)]

    by_document: dict[str, list[Fragment]] = {}
    for fragment in fragments:
        by_document.setdefault(fragment.doc_id, []).append(fragment)
    documents, starts = [], {}
    for doc_id, parts in by_document.items():
        text, offsets = "", []
        for part in sorted(parts, key=lambda f: f.ordinal):
            offsets.append((len(text), part))
            text += part.text + "\n\n"
        documents.append(Document(text=text, doc_id=doc_id))
        starts[doc_id] = offsets
    index = VectorStoreIndex.from_documents(documents, embed_model=Shared(embed_batch_size=_BATCH), show_progress=False)
    retriever = index.as_retriever(similarity_top_k=20)

    def search(question: str) -> list[Fragment]:
        found = []
        for hit in retriever.retrieve(question):
            node: Any = hit.node
            doc_id = node.ref_doc_id
            at = node.start_char_idx or 0
            place = next((f for start, f in reversed(starts[doc_id]) if start <= at), starts[doc_id][0][1])
            last = next((f for start, f in reversed(starts[doc_id]) if start <= (node.end_char_idx or at)), place)
            found.append(replace(place, text=node.text, page_end=last.page_end))
        return found

    return search
