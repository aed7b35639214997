"""Take documents from their official addresses instead of the pinned copies, and remember what was taken and when."""

import hashlib
import json
import logging
import urllib.error
import urllib.request
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from http.client import HTTPException
from pathlib import Path

from core.config import Settings
from core.corpus.html_markdown import html_to_markdown
from core.corpus.prepare import is_html
from core.errors import AsesoriaError, UnreadableDocumentError
from core.models import DocumentInfo

TIMEOUT_S = 60.0
_USER_AGENT = "Mozilla/5.0 (compatible; AsesorIA)"
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class RefreshReport:
    """By doc_id: which documents are new, which were the same, and why the others could not be taken (in Spanish)."""

    changed: tuple[str, ...]
    same: tuple[str, ...]
    errors: dict[str, str]


def refresh(
    documents: Iterable[DocumentInfo], settings: Settings, *, progress: Callable[[str], None] | None = None
) -> RefreshReport:
    """Fetch each document's ``source_url``; a file that is not what the register says is refused and the old one kept."""
    changed: list[str] = []
    same: list[str] = []
    errors: dict[str, str] = {}
    known = _read(settings)
    for info in documents:
        if progress:
            progress(info.doc_id)
        try:
            data = _fetch(info, settings)
        except AsesoriaError as error:
            errors[info.doc_id] = str(error)
            continue
        digest = hashlib.sha256(data).hexdigest()
        (same if digest == info.sha256 else changed).append(info.doc_id)
        path = settings.corpus_dir / info.filename
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = path.with_suffix(path.suffix + ".partial")
        partial.write_bytes(data)
        partial.replace(path)
        known[info.doc_id] = {"sha256": digest, "retrieved_at": datetime.now(UTC).date().isoformat()}
        _write(settings, known)
    return RefreshReport(tuple(changed), tuple(same), errors)


def with_refreshed(register: Sequence[DocumentInfo], settings: Settings) -> tuple[DocumentInfo, ...]:
    """The register with hash and date of what was refreshed; a refreshed file that is gone or altered counts no more."""
    known = _read(settings)
    found = []
    for info in register:
        taken = known.get(info.doc_id)
        path = settings.corpus_dir / info.filename
        if taken and path.exists() and hashlib.sha256(path.read_bytes()).hexdigest() == taken["sha256"]:
            info = replace(info, sha256=taken["sha256"], retrieved_at=taken["retrieved_at"], wheel="")
        found.append(info)
    return tuple(found)


def _fetch(info: DocumentInfo, settings: Settings) -> bytes:
    """The document's bytes.

    Raises:
        UnreadableDocumentError: the address does not answer, or with something else than the document.
    """
    limit = settings.max_file_mb * 2**20
    request = urllib.request.Request(info.source_url, headers={"User-Agent": _USER_AGENT})
    try:
        with urllib.request.urlopen(request, timeout=TIMEOUT_S) as response:
            data: bytes = response.read(limit + 1)
    except (urllib.error.URLError, HTTPException, TimeoutError, OSError, ValueError) as error:
        log.info("refresh of %s failed: %s", info.doc_id, type(error).__name__)
        raise UnreadableDocumentError(
            f"«{info.title}» no se ha podido descargar de su dirección oficial ({type(error).__name__}). "
            "Se conserva la copia que había. Compruebe la conexión y vuelva a intentarlo."
        ) from error
    if len(data) > limit:
        raise UnreadableDocumentError(
            f"«{info.title}» ocupa más de {settings.max_file_mb} MB. Se conserva la copia que había; suba el límite con "
            "ASESORIA_MAX_FILE_MB si es correcto."
        )
    if is_html(info):
        html_to_markdown(data)  # raises where the page's structure is not known
    elif not data.startswith(b"%PDF"):
        raise UnreadableDocumentError(
            f"La dirección oficial de «{info.title}» no ha devuelto un PDF. Se conserva la copia que había; abra el enlace "
            "en el navegador para ver si el documento ha cambiado de sitio."
        )
    return data


def _state(settings: Settings) -> Path:
    return settings.state_dir / "refreshed.json"


def _read(settings: Settings) -> dict[str, dict[str, str]]:
    try:
        data = json.loads(_state(settings).read_text("utf-8"))
        return {str(k): {"sha256": str(v["sha256"]), "retrieved_at": str(v["retrieved_at"])} for k, v in data.items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}


def _write(settings: Settings, known: dict[str, dict[str, str]]) -> None:
    path = _state(settings)
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(".partial")
    partial.write_text(json.dumps(known, indent=1), "utf-8")
    partial.replace(path)
