"""Batteries of the product's documents: from a document's id, or from a file, to a battery and the engine held to it."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from core.corpus.register import find
from core.errors import IndexNotReadyError
from core.ingestion.fragments import make_fragments
from core.ingestion.worker import load_in_worker
from core.models import DocumentInfo, Fragment, Scope
from core.qa.battery import generate_battery
from core.qa.held import HeldEngine, hold, nearest_in
from core.qa.models import Battery, BookInfo, BookType, Profile
from core.qa.store import SqlRunStore

if TYPE_CHECKING:
    from core.services import Services

# What an official document is, as a book, where nobody says otherwise.
DEFAULT_TYPES = {"norma": BookType.ANALYTIC}


@dataclass(frozen=True, slots=True)
class Bench:
    """A document ready to be tested: its battery, and the engine held to it."""

    battery: Battery
    answerer: HeldEngine


def book_of(info: DocumentInfo, kind: BookType, profile: Profile | None = None) -> BookInfo:
    """An official document as a book."""
    author = "Agencia Tributaria" if info.doc_type != "norma" else "Boletín Oficial del Estado"
    return BookInfo(info.doc_id, info.title, info.official_source or author, kind, info.tax, info.doc_type, profile)


def official_bench(
    services: "Services", doc_id: str, kind: BookType, *, seed: int = 0, profile: Profile | None = None
) -> Bench:
    """The battery of an indexed official document and the engine held to it.

    Raises:
        RegisterError: no such document. IndexNotReadyError: it is not indexed yet.
    """
    book = book_of(find(services.register, doc_id), kind, profile)
    fragments = services.store.document(doc_id)
    if not fragments:
        raise IndexNotReadyError(
            f"«{book.title}» todavía no está indexado. Ejecute «python -m core index --only {doc_id}»."
        )
    battery = generate_battery(book, fragments, seed=seed, nearest=nearest_in(services.search(), doc_id))
    return Bench(battery, hold(services, doc_id))


def fragments_of_file(services: "Services", path: Path, *, doc_id: str, title: str, session_id: str) -> list[Fragment]:
    """A book's fragments from a PDF, TXT or Markdown file, as they are made for any document.

    Raises:
        UnsupportedFileTypeError, UnreadableDocumentError: as the loader says.
    """
    info = DocumentInfo(
        doc_id=doc_id, title=title, tax="", doc_type="", filename=path.name,
        source_scope=Scope.PRIVATE, session_id=session_id,
    )  # fmt: skip
    return make_fragments(load_in_worker(path, services.settings), info, services.embedder.count_tokens_batch)


def official_store(services: "Services") -> SqlRunStore:
    """The runs of official documents, beside the records. An upload's are kept in its session's folder."""
    return services.qa_store
