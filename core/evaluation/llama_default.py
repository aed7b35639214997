"""LlamaIndex's default pipeline (its own splitter, vectors in memory, cosine) on the same documents and model: a baseline."""

from collections.abc import Callable, Sequence
from typing import Any

from core.models import Fragment
from core.retrieval.embedder import Embedder


def default_retriever(fragments: Sequence[Fragment], embedder: Embedder) -> Callable[[str], list[Fragment]]:
    """Build the default index over the documents' text and return its search.

    A default node has no page; it counts as the fragment whose text begins it, so that the measures apply to it: the
    returned fragment has the node's own text, and the place of that fragment.
    """
    from dataclasses import replace

    from llama_index.core import Document, VectorStoreIndex
    from llama_index.core.base.embeddings.base import BaseEmbedding

    class Shared(BaseEmbedding):
        """The product's embedder as LlamaIndex wants it."""

        def _get_query_embedding(self, query: str) -> list[float]:
            return [float(x) for x in embedder.embed_query(query)]

        async def _aget_query_embedding(self, query: str) -> list[float]:
            return self._get_query_embedding(query)

        def _get_text_embedding(self, text: str) -> list[float]:
            return [float(x) for x in embedder.embed_passages([text])[0]]

        def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
            return [[float(x) for x in row] for row in embedder.embed_passages(texts)]

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
    index = VectorStoreIndex.from_documents(documents, embed_model=Shared(embed_batch_size=64), show_progress=False)
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
