"""What the tests of private documents share: a plain redactor, and files made on the spot."""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

from core.documents.library import SessionDocuments
from core.documents.sessions import Sessions, new_session_id
from core.models import LoadedDocument
from tests.conftest import FakeEmbedder

_KINDS = {
    "NIF": re.compile(r"\b\d{8}[A-Z]\b"),
    "IBAN": re.compile(r"\bES\d{2}(?: ?\d{4}){5}\b"),
    "EMAIL": re.compile(r"[\w.]+@[\w.]+\w"),
}


class RegexRedactor:
    """Replaces NIF, IBAN and e-mail by stable placeholders, in blocks, pages and cells."""

    def redact_document(self, document: LoadedDocument, *, progress=None) -> tuple[LoadedDocument, Mapping[str, int]]:
        counts: Counter[str] = Counter()
        seen: dict[str, str] = {}

        def clean(text: str) -> str:
            for kind, pattern in _KINDS.items():
                for value in pattern.findall(text):
                    if value not in seen:
                        counts[kind] += 1
                        seen[value] = f"<{kind}_{counts[kind]}>"
                text = pattern.sub(lambda match: seen[match.group()], text)
            return text

        blocks = tuple(replace(b, text=clean(b.text)) for b in document.blocks)
        tables = tuple(
            replace(
                t,
                header=tuple(map(clean, t.header)),
                rows=tuple(tuple(map(clean, r)) for r in t.rows),
                section_path=tuple(map(clean, t.section_path)),
            )
            for t in document.tables
        )
        pages = {number: clean(text) for number, text in document.pages.items()}
        return replace(document, blocks=blocks, tables=tables, pages=pages), dict(counts)

    def redact_question(self, question: str) -> str:
        return self.redact_title(question)

    def redact_title(self, title: str) -> str:
        for kind, pattern in _KINDS.items():
            title = pattern.sub(f"<{kind}>", title)
        return title


def library(settings, session_id: str = "", *, redactor=None, embedder=None) -> SessionDocuments:
    """A session's documents with the fake embedder and the plain redactor."""
    return SessionDocuments(
        Sessions(settings),
        session_id or new_session_id(),
        settings=settings,
        embedder=embedder or FakeEmbedder(),
        redactor=redactor or RegexRedactor(),
    )


INVOICE = """# Factura 2026-014

Fecha de expedición: 15/04/2026
Fecha de vencimiento: 30/04/2026
Emisor: Lucía Prueba Ejemplo, NIF: 12345678Z, lucia.prueba@example.com
IBAN: ES78 9999 0001 4101 2345 6789

Base imponible: 1.250,00 €
IVA 21 %: 262,50 €
Retención IRPF 7 %: -87,50 €
Total a pagar: 1.425,00 €
"""
