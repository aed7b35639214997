"""The port through which personal data leaves a private document before anything is made of it."""

from collections.abc import Mapping
from typing import Protocol

from core.models import LoadedDocument


class RedactionReport(Protocol):
    """What was redacted."""

    @property
    def counts(self) -> Mapping[str, int]:
        """How many values of each kind (``NIF``, ``IBAN``, …) were replaced."""


class Redactor(Protocol):
    """Replaces personal data by stable placeholders such as ``<NIF_1>``."""

    def redact_document(self, document: LoadedDocument) -> tuple[LoadedDocument, RedactionReport]:
        """The document with personal data replaced in blocks, pages and table cells, and what was replaced."""

    def redact_title(self, title: str) -> str:
        """A file's name with personal data replaced."""
