"""What the index holds and what it was made with. Written after the store's commit, so a crash loses no truth."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path


@dataclass(frozen=True, slots=True)
class IndexedDocument:
    """What is known of a document once it is indexed. ``seconds`` and ``tokens`` say what indexing it took."""

    doc_id: str
    sha256: str
    title: str
    tax: str
    doc_type: str
    pages: int
    fragments: int
    tables: int
    dropped_tables: int
    tokens: int
    seconds: float
    retrieved_at: str
    document_date: str
    indexed_at: str
    fiscal_year: int | None = None
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Manifest:
    """``made_with`` identifies model, fragments and schema: an index made with other parts must not be searched."""

    made_with: str = ""
    documents: Mapping[str, IndexedDocument] = field(default_factory=dict)

    def with_document(self, document: IndexedDocument) -> "Manifest":
        """A copy with one document added or replaced."""
        return Manifest(self.made_with, {**self.documents, document.doc_id: document})

    def without(self, doc_id: str) -> "Manifest":
        """A copy without one document."""
        return Manifest(self.made_with, {k: v for k, v in self.documents.items() if k != doc_id})


def read_manifest(path: Path) -> Manifest:
    """Read the manifest; an absent or damaged one counts as an empty index, which is then rebuilt."""
    try:
        data = json.loads(path.read_text("utf-8"))
        documents = {
            key: IndexedDocument(**{**value, "warnings": tuple(value["warnings"])})
            for key, value in data["documents"].items()
        }
        return Manifest(data["made_with"], documents)
    except (OSError, ValueError, KeyError, TypeError):
        return Manifest()


def write_manifest(path: Path, manifest: Manifest) -> None:
    """Write atomically: a reader finds the old manifest or the new one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(".partial")
    data = {
        "made_with": manifest.made_with,
        "documents": {k: asdict(v) for k, v in manifest.documents.items()},
    }
    partial.write_text(json.dumps(data, ensure_ascii=False, indent=1), "utf-8")
    partial.replace(path)
