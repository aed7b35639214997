"""Batteries of the product's documents: from a document's id, or from a file, to a battery and the engine held to it."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from core.corpus.register import find
from core.errors import AsesoriaError, IndexNotReadyError
from core.ingestion.fragments import make_fragments
from core.ingestion.worker import load_in_worker
from core.models import DocumentInfo, Fragment, Scope
from core.qa.battery import fragments_version, generate_battery
from core.qa.borders import Nearest
from core.qa.checker import Comprobador
from core.qa.generator_llm import generate_with_model
from core.qa.held import HeldEngine, hold, nearest_in
from core.qa.judges import BatteryWriter, LlmJudge
from core.qa.models import Battery, BookInfo, BookType, Profile
from core.qa.run import Judge
from core.qa.status import QaStatus
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
    return Bench(
        official_battery(services, doc_id, kind, seed=seed, profile=profile), official_answerer(services, doc_id)
    )


def official_battery(
    services: "Services", doc_id: str, kind: BookType, *, seed: int = 0, profile: Profile | None = None
) -> Battery:
    """The battery of an indexed official document: written by the model where there is one, else by rules.

    Raises:
        RegisterError: no such document. IndexNotReadyError: it is not indexed yet. LlmError: the model is not there.
    """
    book = book_of(find(services.register, doc_id), kind, profile)
    fragments = _indexed(services, doc_id)
    return make_battery(services, book, fragments, seed=seed, nearest=nearest_in(services.search(), doc_id))


def make_battery(
    services: "Services",
    book: BookInfo,
    fragments: Sequence[Fragment],
    *,
    seed: int = 0,
    nearest: Nearest | None = None,
    identity: str = "",
) -> Battery:
    """A battery of any document, written by the model where there is one, else by rules.

    ``identity``: as for `generate_battery`.
    """
    if services.model is None:
        return generate_battery(book, fragments, seed=seed, nearest=nearest, identity=identity)
    services.model.load()
    writer = BatteryWriter(services.model)
    return generate_with_model(book, fragments, writer, seed=seed, nearest=nearest, identity=identity)


def official_answerer(services: "Services", doc_id: str) -> HeldEngine:
    """The engine held to one official document."""
    return hold(services, doc_id)


def same_battery(services: "Services", store: SqlRunStore, run_id: str, *, doc_id: str) -> Battery:
    """The battery of a run to go on with.

    Raises:
        AsesoriaError: there is no such run of that document, or the document has changed since.
    """
    return stored_battery(store, run_id, doc_id=doc_id, fragments=_indexed(services, doc_id))


def stored_battery(store: SqlRunStore, run_id: str, *, doc_id: str, fragments: Sequence[Fragment]) -> Battery:
    """As `same_battery`, of the document that has ``fragments`` now."""
    stored = store.battery(run_id)
    if stored is None or stored.book.doc_id != doc_id:
        raise AsesoriaError(f"No hay ninguna batería de {doc_id} empezada con el identificador {run_id}.")
    if stored.fragments_version != fragments_version(fragments):
        raise AsesoriaError("El documento ha cambiado desde que se empezó esa batería. Ejecute una nueva.")
    return stored


def build_judge(services: "Services", battery: Battery, fragments: Sequence[Fragment] = ()) -> Judge:
    """The judge of a battery: the language model where there is one, else the comprobador.

    ``fragments``: an upload's own; an official document's are read from the index.
    """
    own = {f.id: f for f in fragments or services.store.document(battery.book.doc_id)}
    if services.model is None:
        return Comprobador(own, services.thresholds)
    services.model.load()
    settings = services.settings
    return LlmJudge(
        services.model,
        battery.book,
        services.thresholds.qa,
        passages=lambda fragment_id: own[fragment_id].text if fragment_id in own else "",
        num_ctx=settings.llm_num_ctx,
        timeout_s=settings.llm_timeout_s,
    )


def _indexed(services: "Services", doc_id: str) -> Sequence[Fragment]:
    fragments = services.store.document(doc_id)
    if not fragments:
        title = find(services.register, doc_id).title
        raise IndexNotReadyError(f"«{title}» todavía no está indexado. Ejecute «python -m core index --only {doc_id}».")
    return fragments


def qa_status(services: "Services", doc_id: str) -> QaStatus:
    """Whether an official document has passed its battery; read anew each time."""
    return official_store(services).qa_status(doc_id)


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
    """The runs of official documents. An upload's are kept in its session's folder: ``SqlRunStore(folder)``."""
    return services.qa_store
