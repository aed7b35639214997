"""What a session holds, in one small file that is written last: what is not in it does not exist."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

from core.documents.arithmetic import Finding

RECORD_NAME = "session.json"


@dataclass(frozen=True, slots=True)
class PrivateDocument:
    """A document of one session. ``name`` is the file's name as the user gave it, ``title`` the same redacted.

    ``doc_id`` is random and also names its table and file. ``redacted`` counts the personal data by kind.
    ``made_with`` names the model of its vectors. ``findings``: sums in it that do not add up.
    """

    doc_id: str
    name: str
    title: str
    suffix: str
    sha256: str
    size: int
    pages: int
    paged: bool
    tables: int
    fragments: int
    added_at: str
    seconds: float
    made_with: str
    warnings: tuple[str, ...] = ()
    redacted: Mapping[str, int] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()

    @property
    def filename(self) -> str:
        """Name of the kept original inside the session's folder."""
        return f"{self.doc_id}{self.suffix}"


def read_record(folder: Path) -> tuple[PrivateDocument, ...] | None:
    """The documents of the session in ``folder``; None where there is no session, or its record is damaged."""
    try:
        data = json.loads((folder / RECORD_NAME).read_text("utf-8"))
        return tuple(_document(item) for item in data["documents"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def write_record(folder: Path, documents: tuple[PrivateDocument, ...]) -> None:
    """Write atomically: a reader finds the old record or the new one. The folder must be there."""
    partial = folder / f"{RECORD_NAME}.partial"
    partial.write_text(json.dumps({"documents": [asdict(d) for d in documents]}, indent=1), "utf-8")
    partial.replace(folder / RECORD_NAME)


def _document(item: dict[str, object]) -> PrivateDocument:
    values = dict(item)
    values["warnings"] = tuple(values["warnings"])  # type: ignore[arg-type]
    values["findings"] = tuple(Finding(**finding) for finding in values["findings"])  # type: ignore[attr-defined]
    return PrivateDocument(**values)  # type: ignore[arg-type]
