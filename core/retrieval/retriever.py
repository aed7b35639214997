"""The search as a LlamaIndex retriever; LlamaIndex types stop in this module."""

from collections.abc import Callable, Collection

from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

from core.models import RetrievedFragment
from core.retrieval.search import HybridSearch, SearchResult


class HybridRetriever(BaseRetriever):
    """Hybrid search behind LlamaIndex's interface, so that its post-processors and query engines can be put on it."""

    def __init__(
        self,
        search: Callable[[], HybridSearch],
        *,
        k: int = 8,
        allowed: Callable[[], Collection[str] | None] = lambda: None,
    ) -> None:
        """``search`` and ``allowed`` are called at each question, since index and permissions may change meanwhile.

        ``allowed``: the documents that may be found, None for all.
        """
        super().__init__()
        self._search = search
        self._allowed = allowed
        self._k = k

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return [to_node(hit) for hit in self.run(query_bundle.query_str, self._k).found]

    def run(self, question: str, k: int) -> SearchResult:
        """The ``k`` best fragments as domain objects, with what the search saw."""
        return self._search().run(question, k, doc_ids=self._allowed())


def to_node(hit: RetrievedFragment) -> NodeWithScore:
    """A retrieved fragment as a LlamaIndex node; the fragment itself travels in the metadata."""
    fragment = hit.fragment
    node = TextNode(
        id_=fragment.id,
        text=fragment.text,
        metadata={"hit": hit, "doc_id": fragment.doc_id, "page": fragment.page, "section": fragment.section_label},
        excluded_embed_metadata_keys=["hit"],
        excluded_llm_metadata_keys=["hit"],
    )
    return NodeWithScore(node=node, score=hit.relevance)


def from_node(node: NodeWithScore) -> RetrievedFragment:
    """The one place where a LlamaIndex node becomes a domain object."""
    hit = node.node.metadata["hit"]
    if not isinstance(hit, RetrievedFragment):
        raise TypeError("the node was not made by to_node")
    return hit
