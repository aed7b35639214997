"""Answers in the forms that leave the engine: JSON and Markdown."""

from collections.abc import Sequence
from datetime import date
from typing import Any

from core.models import Answer, Source
from core.seal.explain import NAMES, seal_json

DISCLAIMER = (
    "AsesorIA muestra lo que dicen los documentos oficiales y no sustituye a un asesor fiscal. "
    "Compruebe siempre la fuente antes de decidir."
)


def answer_json(answer: Answer) -> dict[str, Any]:
    """An answer as the command line and the HTTP API print it."""
    return {
        "text": answer.text,
        "grounded": answer.grounded,
        "category": str(answer.category),
        "mode": str(answer.mode),
        "fallback": answer.fallback,
        "model": answer.model,
        "prompt_version": answer.prompt_version,
        "understood": answer.understood,
        "sources": [
            {
                "doc_id": s.doc_id,
                "title": s.title,
                "page": s.page,
                "section_path": list(s.section_path),
                "passage": s.passage,
                "relevance": s.relevance,
                "source_url": s.source_url,
                "source_scope": str(s.source_scope),
                "fiscal_year": s.fiscal_year,
                "document_date": s.document_date,
            }
            for s in answer.sources
        ],
        "confidence_level": str(answer.seal.level) if answer.seal else None,
        "seal": seal_json(answer.seal) if answer.seal else None,
        "timings": {name: round(value, 1) for name, value in answer.timings.items()},
    }


def spanish_date(iso: str) -> str:
    """``2026-03-31`` as ``31/03/2026``; anything else as it is."""
    try:
        return date.fromisoformat(iso).strftime("%d/%m/%Y")
    except ValueError:
        return iso


def validity(source: Source) -> str:
    """What the source's text is good for: the tax year of a manual, or the date to which a law is consolidated."""
    parts = []
    if source.fiscal_year:
        parts.append(f"ejercicio {source.fiscal_year}")
    if source.document_date:
        parts.append(f"vigente a {spanish_date(source.document_date)}")
    return ", ".join(parts)


def place(source: Source) -> str:
    """Document, page and section in one line."""
    page = f", página {source.page}" if source.page is not None else ""
    return f"{source.title}{page}"


def conversation_markdown(turns: Sequence[tuple[str, Answer]]) -> str:
    """A conversation as a Markdown file, sources and disclaimer included."""
    lines = ["# Conversación con AsesorIA", "", f"_{DISCLAIMER}_", ""]
    for question, answer in turns:
        lines += [f"## {question}", "", answer.text, ""]
        if answer.seal is not None:
            lines += [f"{NAMES[answer.seal.level]}. {' '.join(answer.seal.reasons)}", ""]
        for number, source in enumerate(answer.sources, start=1):
            valid = validity(source)
            lines.append(f"[{number}] {place(source)}{f' ({valid})' if valid else ''}. {source.section}")
            lines.append(f"    {source.source_url}")
        lines.append("")
    return "\n".join(lines)
