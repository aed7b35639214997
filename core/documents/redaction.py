"""How personal data leaves a private document before anything is made of it: the product's redactor, for one session."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from core.models import LoadedDocument
from core.privacy.document import redact_document, redact_title
from core.privacy.kinds import SPANISH_NAMES
from core.privacy.placeholders import Placeholders
from core.privacy.redactor import Redactor

Progress = Callable[[str, int, int], None]
"""Called with the stage, how much of it is done and the whole."""


class DocumentRedactor(Protocol):
    """Replaces personal data by stable placeholders such as ``<NIF_1>``."""

    def redact_document(
        self, document: LoadedDocument, *, progress: Progress | None = None
    ) -> tuple[LoadedDocument, Mapping[str, int]]:
        """The document with personal data replaced in blocks, pages and cells, and how many values of each kind."""

    def redact_title(self, title: str) -> str:
        """A file's name with personal data replaced."""

    def redact_question(self, question: str) -> str:
        """A question with the placeholders that its values have in the session's documents."""


@dataclass(frozen=True, slots=True)
class SessionRedactor:
    """The product's redactor with one session's numbering, so that a value is called the same in all its documents.

    Every method but `redact_question` raises AcquisitionError where the model of names cannot be had.
    """

    redactor: Redactor
    placeholders: Placeholders

    def redact_document(
        self, document: LoadedDocument, *, progress: Progress | None = None
    ) -> tuple[LoadedDocument, Mapping[str, int]]:
        """See `core.privacy.document.redact_document`; kinds by their Spanish names."""
        clean, report = redact_document(document, self.redactor, self.placeholders, progress=progress)
        return clean, {SPANISH_NAMES[kind]: count for kind, count in report.counts.items()}

    def redact_title(self, title: str) -> str:
        """See `core.privacy.document.redact_title`."""
        return redact_title(title, self.redactor, self.placeholders).text

    def redact_question(self, question: str) -> str:
        """See `Redactor.redact_question`; never waits for the model of names."""
        return self.redactor.redact_question(question, self.placeholders).text
