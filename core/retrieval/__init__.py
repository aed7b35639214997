"""Finding fragments: the embedding model, the store, hybrid search and the reranker."""
