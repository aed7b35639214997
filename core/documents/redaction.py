"""The port through which personal data leaves a private document before anything is made of it."""

import importlib
from collections.abc import Mapping
from typing import Protocol

from core.config import Settings
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


def load_redactor(settings: Settings) -> Redactor | None:
    """The one named by the setting ``redactor`` («module:function», called with the settings); None for none."""
    if not settings.redactor:
        return None
    module, _, name = settings.redactor.partition(":")
    redactor: Redactor = getattr(importlib.import_module(module), name)(settings)
    return redactor
