"""The LanceDB database of one session: a table per document, so that removing one drops its table and its files."""

import re
import shutil
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.models import Fragment
from core.retrieval.store import FragmentStore

_TABLE = re.compile(r"\A[0-9a-z_]{1,64}\Z")


class _DocumentTable(FragmentStore):
    """One document's rows. Without a text index: so few rows are scored in memory, and less text lies on the disk."""

    def _make_text_index(self) -> None:
        return


class SessionStore:
    """The tables of one session, in a folder of its own. Deleting rows would leave their text on the disk
    (LanceDB keeps old versions), so tables are only ever written whole and dropped whole."""

    def __init__(self, folder: Path, *, dimension: int) -> None:
        self._folder = folder
        self._dimension = dimension

    def write(self, table: str, fragments: list[Fragment], vectors: NDArray[np.float32]) -> None:
        """Make ``table`` with ``fragments`` (n) and their ``vectors`` (n × dimension)."""
        self._table(table).replace_document(table, fragments, vectors)

    def read(self, table: str) -> tuple[list[Fragment], NDArray[np.float32]]:
        """Fragments in reading order with their vectors, row by row. Empty where there is no such table."""
        if not self._path(table).is_dir():
            return [], np.zeros((0, self._dimension), np.float32)
        opened = self._table(table)
        fragments = sorted(opened.all(), key=lambda f: f.ordinal)
        ids, vectors = opened.vectors()
        row = {fragment_id: i for i, fragment_id in enumerate(ids)}
        return fragments, vectors[[row[f.id] for f in fragments]]

    def drop(self, table: str) -> None:
        """Remove the table and all its files, also where a crash left them half written."""
        path = self._path(table)
        if path.is_dir():
            shutil.rmtree(path)

    def _path(self, table: str) -> Path:
        if not _TABLE.match(table):
            raise ValueError("not a table name of ours")
        return self._folder / f"{table}.lance"

    def _table(self, table: str) -> Any:
        self._path(table)
        return _DocumentTable(str(self._folder), dimension=self._dimension, table=table)
