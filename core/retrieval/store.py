"""The only module that knows LanceDB: fragments with their vectors and a Spanish text index."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.errors import IndexNotReadyError
from core.ingestion.fragments import embedding_text
from core.models import Fragment, Scope

PUBLIC_TABLE = "public"
QUESTIONS_TABLE = "public_questions"
# Raise when the columns change: an index with another schema is rebuilt.
SCHEMA_VERSION = 2

_PLAIN = "id text doc_id title tax doc_type section_label page page_end source_url retrieved_at session_id kind ordinal".split()
_LISTED = ("source_scope", "section_path", "page_breaks")


class _Table:
    """One LanceDB table whose rows belong to documents, with a Spanish text index on one column."""

    text_column = ""

    def __init__(self, uri: str, *, dimension: int, table: str) -> None:
        import lancedb

        self._db = lancedb.connect(uri, read_consistency_interval=timedelta(seconds=2))
        self._name = table
        self._dimension = dimension
        self._table: Any | None = None

    def _schema(self) -> Any:
        raise NotImplementedError

    def _open(self) -> Any | None:
        if self._table is None and self._name in self._db.list_tables(limit=10_000).tables:
            self._table = self._db.open_table(self._name)
        return self._table

    def _ready(self) -> Any:
        table = self._open()
        if table is None:
            raise IndexNotReadyError(
                "Todavía no hay ningún documento indexado. Espere a que termine el primero, "
                "o ejecute «python -m core index»."
            )
        return table

    def drop(self) -> None:
        """Remove the table and all its files."""
        if self._open() is not None:
            self._table = None
            self._db.drop_table(self._name)

    def _replace(self, doc_id: str, rows: list[dict[str, Any]]) -> None:
        """Put ``rows`` in place of what the document had, in one commit: a reader sees the old or the new."""
        from lancedb.expr import col, lit

        table = self._open()
        if table is None:
            self._table = self._db.create_table(self._name, data=rows or None, schema=self._schema())
            self._make_text_index()
        elif not rows:
            table.delete(col("doc_id") == lit(doc_id))
        else:
            (
                table.merge_insert("id")
                .when_matched_update_all()
                .when_not_matched_insert_all()
                .when_not_matched_by_source_delete(col("doc_id") == lit(doc_id))
                .execute(rows)
            )

    def remove_document(self, doc_id: str) -> None:
        """Remove a document's fragments; unknown ids are no error."""
        from lancedb.expr import col, lit

        if (table := self._open()) is not None:
            table.delete(col("doc_id") == lit(doc_id))

    def optimize(self) -> None:
        """Fold new rows into the text index and drop the files of replaced versions."""
        if (table := self._open()) is not None:
            table.optimize(cleanup_older_than=timedelta(minutes=10))

    def count(self) -> int:
        """Fragments in the table."""
        table = self._open()
        return int(table.count_rows()) if table is not None else 0

    def counts_by_document(self) -> dict[str, int]:
        """Fragments of each document that is in the table."""
        table = self._open()
        if table is None:
            return {}
        column = table.search().select(["doc_id"]).limit(10_000_000).to_arrow().column("doc_id").to_pylist()
        return {doc_id: column.count(doc_id) for doc_id in dict.fromkeys(column)}

    def vectors(self) -> tuple[list[str], NDArray[np.float32]]:
        """Ids and vectors (n × dimension) of all rows."""
        table = self._open()
        if table is None:
            return [], np.zeros((0, self._dimension), dtype=np.float32)
        found = table.search().select(["id", "vector"]).limit(10_000_000).to_arrow()
        flat = found.column("vector").combine_chunks().flatten().to_numpy(zero_copy_only=False)
        return found.column("id").to_pylist(), flat.reshape(-1, self._dimension).astype(np.float32)

    def _text_search(self, words: str, k: int, columns: Sequence[str], doc_id: str = "") -> list[dict[str, Any]]:
        """Rows (of one document, where ``doc_id`` is given) by BM25 on stems without accents, best first, the score
        under ``_score``."""
        from lancedb.expr import col, lit
        from lancedb.query import MatchQuery

        words = " ".join(words.split())
        if not words:
            return []
        query = self._ready().search(MatchQuery(words, self.text_column), query_type="fts")
        if doc_id:
            query = query.where(col("doc_id") == lit(doc_id))
        return list(query.select([*columns, "_score"]).limit(k).to_list())

    def _make_text_index(self) -> None:
        from lancedb.index import FTS

        assert self._table is not None
        config = FTS(language="Spanish", stem=True, remove_stop_words=True, ascii_folding=True, with_position=True)
        self._table.create_index(self.text_column, config=config)


class FragmentStore(_Table):
    """Fragments with their vectors. Replacing a document is one commit, so a reader sees the old or the new."""

    text_column = "search_text"

    def __init__(self, uri: str, *, dimension: int, table: str = PUBLIC_TABLE) -> None:
        super().__init__(uri, dimension=dimension, table=table)

    def replace_document(self, doc_id: str, fragments: Sequence[Fragment], vectors: NDArray[np.float32]) -> None:
        """Put ``fragments`` (n) with ``vectors`` (n × dimension, normalised) in place of what the document had."""
        self._replace(doc_id, [_to_row(f, v) for f, v in zip(fragments, vectors, strict=True)])

    def all(self) -> list[Fragment]:
        """Every fragment of the table."""
        table = self._open()
        if table is None:
            return []
        rows = table.search().select([*_PLAIN, *_LISTED]).limit(10_000_000).to_list()
        return [_to_fragment(row) for row in rows]

    def dense(self, vector: NDArray[np.float32], k: int) -> list[tuple[Fragment, float]]:
        """The ``k`` fragments nearest by cosine, with the cosine, best first.

        Raises:
            IndexNotReadyError: nothing is indexed yet.
        """
        query = self._ready().search(vector.tolist(), query_type="vector", vector_column_name="vector")
        rows = query.distance_type("cosine").select([*_PLAIN, *_LISTED, "_distance"]).limit(k).to_list()
        return [(_to_fragment(row), 1.0 - float(row["_distance"])) for row in rows]

    def full_text(self, words: str, k: int, *, doc_id: str = "") -> list[tuple[Fragment, float]]:
        """The ``k`` best fragments (of one document, or all) by BM25 on stems without accents, with the score, best first.

        Raises:
            IndexNotReadyError: nothing is indexed yet.
        """
        rows = self._text_search(words, k, [*_PLAIN, *_LISTED], doc_id)
        return [(_to_fragment(row), float(row["_score"])) for row in rows]

    def section_around(self, fragment: Fragment, *, radius: int = 8) -> list[Fragment]:
        """The fragments of the same section and kind around one, itself included, in reading order."""
        from lancedb.expr import col, lit

        low, high = fragment.ordinal - radius, fragment.ordinal + radius
        near = (col("doc_id") == lit(fragment.doc_id)) & (col("ordinal") >= lit(low)) & (col("ordinal") <= lit(high))
        rows = self._ready().search().where(near).select([*_PLAIN, *_LISTED]).limit(2 * radius + 1).to_list()
        section = [_to_fragment(row) for row in rows]
        same = [f for f in section if f.section_path == fragment.section_path and f.kind == fragment.kind]
        return sorted(same, key=lambda f: f.ordinal)

    def document(self, doc_id: str) -> list[Fragment]:
        """A document's fragments in reading order."""
        from lancedb.expr import col, lit

        table = self._open()
        if table is None:
            return []
        query = table.search().where(col("doc_id") == lit(doc_id)).select([*_PLAIN, *_LISTED])
        rows = query.limit(1_000_000).to_list()
        return sorted((_to_fragment(row) for row in rows), key=lambda f: f.ordinal)

    def _schema(self) -> Any:
        import pyarrow as pa

        texts = "id text doc_id title tax doc_type section_label source_url retrieved_at session_id kind".split()
        return pa.schema(
            [
                *((name, pa.string()) for name in texts),
                ("source_scope", pa.string()),
                ("section_path", pa.list_(pa.string())),
                ("page", pa.int32()),
                ("page_end", pa.int32()),
                ("ordinal", pa.int32()),
                ("page_breaks", pa.list_(pa.int32())),
                ("search_text", pa.string()),
                ("vector", pa.list_(pa.float32(), self._dimension)),
            ]
        )


class QuestionStore(_Table):
    """Expected questions with their vectors, each pointing at the fragment that answers it."""

    text_column = "question"

    def __init__(self, uri: str, *, dimension: int, table: str = QUESTIONS_TABLE) -> None:
        super().__init__(uri, dimension=dimension, table=table)

    def replace_document(
        self, doc_id: str, pairs: Sequence[tuple[Fragment, str]], vectors: NDArray[np.float32]
    ) -> None:
        """Put a document's questions (n) with ``vectors`` (n × dimension) in place of what it had."""
        rows = []
        for number, ((fragment, question), vector) in enumerate(zip(pairs, vectors, strict=True)):
            key = f"{fragment.id}-{number}"
            row = {
                "id": key,
                "fragment_id": fragment.id,
                "doc_id": doc_id,
                "question": question,
                "vector": vector.tolist(),
            }
            rows.append(row)
        self._replace(doc_id, rows)

    def all(self) -> dict[str, tuple[str, str]]:
        """Fragment id and text of every question, by the question's id."""
        table = self._open()
        if table is None:
            return {}
        rows = table.search().select(["id", "fragment_id", "question"]).limit(10_000_000).to_list()
        return {row["id"]: (row["fragment_id"], row["question"]) for row in rows}

    def full_text(self, words: str, k: int, *, doc_id: str = "") -> list[tuple[str, float]]:
        """Ids of the ``k`` best questions by BM25, with the score, best first; none where there is no table."""
        if self._open() is None:
            return []
        return [(row["id"], float(row["_score"])) for row in self._text_search(words, k, ["id"], doc_id)]

    def _schema(self) -> Any:
        import pyarrow as pa

        return pa.schema(
            [
                *((name, pa.string()) for name in ("id", "fragment_id", "doc_id", "question")),
                ("vector", pa.list_(pa.float32(), self._dimension)),
            ]
        )


def _to_row(fragment: Fragment, vector: NDArray[np.float32]) -> dict[str, Any]:
    row: dict[str, Any] = {name: getattr(fragment, name) for name in _PLAIN}
    row["source_scope"] = str(fragment.source_scope)
    row["section_path"] = list(fragment.section_path)
    row["page_breaks"] = list(fragment.page_breaks)
    row["search_text"] = embedding_text(fragment)
    row["vector"] = vector.tolist()
    return row


def _to_fragment(row: Mapping[str, Any]) -> Fragment:
    return Fragment(
        **{name: row[name] for name in _PLAIN},
        source_scope=Scope(row["source_scope"]),
        section_path=tuple(row["section_path"] or ()),
        page_breaks=tuple(row["page_breaks"] or ()),
    )
