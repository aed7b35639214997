"""From the bytes of an upload to what is stored of it: read in a process apart, redacted, cut and embedded."""

import hashlib
import logging
import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from core.config import Settings
from core.documents.arithmetic import Finding, check_arithmetic
from core.documents.redaction import DocumentRedactor
from core.errors import AcquisitionError, UnreadableDocumentError, UnsupportedFileTypeError, UploadRefusedError
from core.ingestion.fragments import embedding_text, make_fragments
from core.ingestion.loader import SUPPORTED_SUFFIXES
from core.ingestion.worker import load_in_worker
from core.models import DocumentInfo, Fragment, LoadedDocument, Scope
from core.retrieval.embedder import Embedder

log = logging.getLogger(__name__)

# Stages of an upload, as the user reads them.
READING, REDACTING, EMBEDDING, STORING, DONE, FAILED = (
    "leyendo",
    "quitando datos personales",
    "preparando la búsqueda",
    "guardando",
    "listo",
    "error",
)
PRIVATE_TYPE = "documento propio"
_MAX_TITLE = 120
_SUFFIX = re.compile(r"\.[A-Za-z0-9]{1,10}\Z")

Report = Callable[[str, float, str], None]
"""Called with the stage, how much of it is done (0..1) and a detail for the user."""


@dataclass(frozen=True, slots=True)
class Upload:
    """A file as it comes in: its name, whatever that is, and its bytes."""

    name: str
    data: bytes

    @property
    def suffix(self) -> str:
        """The extension in lower case, '' where there is none of plain letters and figures."""
        match = _SUFFIX.search(self.name.strip())
        return match.group().lower() if match else ""

    @property
    def key(self) -> str:
        """The name as two files are compared by it: composed letters, the rest as it is."""
        return unicodedata.normalize("NFC", self.name)

    @property
    def sha256(self) -> str:
        """Of the bytes."""
        return hashlib.sha256(self.data).hexdigest()


@dataclass(frozen=True, slots=True)
class Prepared:
    """A document ready to be stored; nothing in it is unredacted."""

    title: str
    document: LoadedDocument
    fragments: list[Fragment]
    vectors: NDArray[np.float32]
    redacted: dict[str, int]
    findings: tuple[Finding, ...]


def shown_name(name: str) -> str:
    """A file's name on one line, without signs that show nothing or turn the writing round, and not too long."""
    visible = "".join(ch if unicodedata.category(ch)[0] != "C" else " " for ch in name)
    text = " ".join(visible.split()) or "(sin nombre)"
    return text if len(text) <= _MAX_TITLE else f"{text[: _MAX_TITLE - 12]}…{text[-10:]}"


def upload_settings(settings: Settings) -> Settings:
    """The settings with the limits of private uploads in place of those of official documents."""
    return settings.model_copy(
        update={
            "load_timeout_s": settings.upload_timeout_s,
            "load_stall_s": settings.upload_stall_s,
            "load_memory_mb": settings.upload_memory_mb,
            "max_file_mb": settings.upload_max_mb,
            "max_pages": settings.upload_max_pages,
        }
    )


def check_upload(upload: Upload, settings: Settings) -> None:
    """Refuse by type and size, before anything is written.

    Raises:
        UnsupportedFileTypeError, UnreadableDocumentError: the type is none of ours; empty, or too large.
    """
    if upload.suffix not in SUPPORTED_SUFFIXES:
        shown = f"«{upload.suffix}»" if upload.suffix else "sin extensión"
        raise UnsupportedFileTypeError(
            f"El formato {shown} no está soportado. Exporte el documento a PDF, TXT o Markdown y súbalo de nuevo."
        )
    if not upload.data:
        raise UnreadableDocumentError("El archivo está vacío (0 bytes). Compruébelo y súbalo de nuevo.")
    if len(upload.data) > settings.upload_max_mb * 2**20:
        raise UnreadableDocumentError(
            f"El archivo ocupa {len(upload.data) / 2**20:.0f} MB y el máximo es {settings.upload_max_mb} MB. Divídalo en partes."
        )


def read_upload(path: Path, settings: Settings, report: Report) -> LoadedDocument:
    """Read the staged file within the limits of uploads.

    Raises:
        UnreadableDocumentError, UnsupportedFileTypeError: as `core.ingestion.worker.load_in_worker`.
    """
    report(READING, 0.0, "")
    return load_in_worker(
        path,
        upload_settings(settings),
        progress=lambda stage, done, total: report(READING, done / max(total, 1), f"{stage}: {done} de {total}"),
    )


def redact(
    document: LoadedDocument, name: str, redactor: DocumentRedactor, report: Report
) -> tuple[LoadedDocument, str, dict[str, int]]:
    """The redacted document, its redacted title, and counts by kind.

    Raises:
        UploadRefusedError: redaction is not possible; nothing unredacted goes on from here.
    """
    report(REDACTING, 0.0, "")
    try:
        clean, counts = redactor.redact_document(
            document, progress=lambda _, done, total: report(REDACTING, done / max(total, 1), "")
        )
        return clean, redactor.redact_title(shown_name(name)), dict(counts)
    except AcquisitionError:
        raise UploadRefusedError(
            "Ahora no se pueden quitar los datos personales (falta el modelo que reconoce los nombres), y sin eso no se "
            "guarda ningún documento. Inténtelo más tarde o avise a quien administra la aplicación."
        ) from None
    except Exception as error:  # fail closed, whatever the recogniser met; its message could quote the document
        log.warning("redaction failed: %s", type(error).__name__)
        raise UploadRefusedError(
            "No se han podido quitar los datos personales de este documento, así que no se ha guardado. "
            "Pruebe con otra copia (por ejemplo, vuelva a exportarlo a PDF) o quite los datos usted mismo."
        ) from None


def prepare(
    document: LoadedDocument,
    *,
    name: str,
    doc_id: str,
    session_id: str,
    redactor: DocumentRedactor,
    embedder: Embedder,
    report: Report,
) -> Prepared:
    """Redact, then cut and embed: no fragment or vector is ever made of unredacted text.

    Raises:
        UploadRefusedError: redaction is not possible. UnreadableDocumentError: no text is left to search.
    """
    clean, title, counts = redact(document, name, redactor, report)
    info = DocumentInfo(
        doc_id=doc_id,
        title=title,
        tax="",
        doc_type=PRIVATE_TYPE,
        filename="",
        source_scope=Scope.PRIVATE,
        session_id=session_id,
    )
    fragments = make_fragments(clean, info, embedder.count_tokens_batch)
    if not fragments:
        raise UnreadableDocumentError("El documento no contiene texto que buscar. Compruébelo y súbalo de nuevo.")
    total = len(fragments)

    def note(done: int, of: int) -> None:
        report(EMBEDDING, done / max(of, 1), f"{done} de {of} fragmentos")

    report(EMBEDDING, 0.0, f"0 de {total} fragmentos")
    vectors = embedder.embed_passages([embedding_text(f) for f in fragments], progress=note)
    return Prepared(title, clean, fragments, vectors, counts, check_arithmetic(clean))
