"""The register of official documents, ``data/sources.csv``, read and checked: a ``DocumentInfo`` per row."""

import csv
import re
from collections.abc import Iterable, Iterator
from datetime import date
from pathlib import Path
from urllib.parse import urlsplit

from core.config import PROJECT_ROOT
from core.errors import RegisterError
from core.models import DocumentInfo

REGISTER_PATH = PROJECT_ROOT / "data" / "sources.csv"
DOC_TYPES = frozenset({"manual", "calendario", "folleto", "instrucciones", "norma"})

_REQUIRED = ("filename", "doc_id", "title", "tax", "doc_type", "official_source", "source_url", "wheel_path")
_COLUMNS = frozenset({*_REQUIRED, "fiscal_year", "retrieved_at", "sha256", "wheel"})
_DOC_ID = re.compile(r"[a-z0-9][a-z0-9_-]*")
_SHA256 = re.compile(r"[0-9a-f]{64}")
_WHEEL = re.compile(r"[A-Za-z0-9][\w.-]*==[\w.]+")


def load_register(path: Path = REGISTER_PATH) -> tuple[DocumentInfo, ...]:
    """All registered documents, in the order of the file.

    Raises RegisterError, naming row and problem, where the file cannot be read or a row is not valid.
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file, strict=True)
            missing = _COLUMNS - set(reader.fieldnames or ())
            if missing:
                raise RegisterError(
                    f"Al registro de documentos «{path.name}» le faltan columnas: "
                    f"{', '.join(sorted(missing))}. Añádalas o recupere el archivo original."
                )
            documents = tuple(_document(row, f"{path.name}, línea {reader.line_num}") for row in reader)
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise RegisterError(
            f"No se puede leer el registro de documentos «{path}». Compruebe que existe y que es un CSV en UTF-8."
        ) from error
    if not documents:
        raise RegisterError(f"El registro de documentos «{path.name}» está vacío: añada al menos un documento.")
    for field in ("doc_id", "filename"):
        _check_unique((getattr(document, field) for document in documents), f"{path.name}: {field}")
    return documents


def find(register: Iterable[DocumentInfo], doc_id: str) -> DocumentInfo:
    """The document with that id.

    Raises RegisterError where there is none.
    """
    known = {document.doc_id: document for document in register}
    if doc_id not in known:
        raise RegisterError(
            f"No hay ningún documento «{doc_id}» en el registro. Los que hay: {', '.join(sorted(known))}."
        )
    return known[doc_id]


def _document(row: dict[str, str | None], place: str) -> DocumentInfo:
    problems = list(_problems(row))
    if problems:
        raise RegisterError(f"{place} ({row.get('doc_id') or 'sin doc_id'}): {'; '.join(problems)}. Corrija esa fila.")
    text = {column: (value or "").strip() for column, value in row.items()}
    return DocumentInfo(
        doc_id=text["doc_id"],
        title=text["title"],
        tax=text["tax"],
        doc_type=text["doc_type"],
        filename=text["filename"],
        source_url=text["source_url"],
        official_source=text["official_source"],
        fiscal_year=int(text["fiscal_year"]) if text["fiscal_year"] else None,
        retrieved_at=text["retrieved_at"],
        document_date=text.get("document_date", ""),
        sha256=text["sha256"],
        wheel=text["wheel"],
        wheel_path=text["wheel_path"],
        size=int(text["bytes"]) if text.get("bytes", "").isdigit() else 0,
    )


def _problems(row: dict[str, str | None]) -> Iterator[str]:
    """What is wrong with a row, in Spanish."""
    if None in row or None in row.values():
        yield "el número de valores no es el de las columnas"
        return
    text = {column: (value or "").strip() for column, value in row.items()}
    for column in _REQUIRED:
        if not text[column]:
            yield f"falta «{column}»"
    if text["doc_id"] and not _DOC_ID.fullmatch(text["doc_id"]):
        yield "«doc_id» solo puede tener minúsculas sin tilde, cifras, guion y guion bajo"
    if Path(text["filename"]).name != text["filename"] or "\\" in text["filename"]:
        yield "«filename» debe ser un nombre de archivo, sin carpetas"
    if text["doc_type"] and text["doc_type"] not in DOC_TYPES:
        yield f"«doc_type» debe ser uno de: {', '.join(sorted(DOC_TYPES))}"
    if text["fiscal_year"] and not re.fullmatch(r"(19|20)\d\d", text["fiscal_year"]):
        yield "«fiscal_year» debe ser un año o quedar vacío"
    if text["source_url"] and not _is_https(text["source_url"]):
        yield "«source_url» debe ser una dirección https"
    if not _SHA256.fullmatch(text["sha256"]):
        yield "«sha256» debe tener 64 cifras hexadecimales en minúsculas"
    if not _WHEEL.fullmatch(text["wheel"]):
        yield "«wheel» debe tener la forma nombre==versión"
    for column in ("retrieved_at", "document_date"):
        if text.get(column) and not _is_date(text[column]):
            yield f"«{column}» debe ser una fecha AAAA-MM-DD o quedar vacía"


def _is_https(url: str) -> bool:
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return parts.scheme == "https" and bool(parts.hostname) and " " not in url


def _is_date(text: str) -> bool:
    try:
        return date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


def _check_unique(values: Iterable[str], place: str) -> None:
    seen: set[str] = set()
    for value in values:
        if value in seen:
            raise RegisterError(f"{place} «{value}» aparece más de una vez. Cada fila debe tener el suyo.")
        seen.add(value)
