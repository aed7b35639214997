"""From an official file as published to the file that the loaders read: HTML becomes Markdown, PDF stays."""

import json
from dataclasses import replace
from pathlib import Path

from core.config import Settings
from core.corpus.html_markdown import html_to_markdown
from core.models import DocumentInfo

# Raise when the conversion changes what it writes.
CONVERSION_VERSION = 1


def is_html(info: DocumentInfo) -> bool:
    """Whether the document is published as a web page."""
    return info.filename.lower().endswith((".html", ".htm"))


def readable_path(info: DocumentInfo, settings: Settings) -> Path:
    """The file that the loaders read (and that a page image is drawn from)."""
    original = settings.corpus_dir / info.filename
    return original.with_suffix(".md") if is_html(info) else original


def prepare(info: DocumentInfo, settings: Settings) -> tuple[Path, DocumentInfo]:
    """Convert a web page once; give the document the date that it states.

    Raises:
        UnreadableDocumentError: the page has a structure that is not known.
    """
    target = readable_path(info, settings)
    if not is_html(info):
        return target, info
    original = settings.corpus_dir / info.filename
    stamp = target.with_suffix(".json")
    wanted = {"version": CONVERSION_VERSION, "sha256": info.sha256}
    known = json.loads(stamp.read_text("utf-8")) if stamp.exists() and target.exists() else {}
    if {k: known.get(k) for k in wanted} != wanted:
        converted = html_to_markdown(original.read_bytes())
        partial = target.with_suffix(".partial")
        partial.write_text(converted.markdown, "utf-8")
        partial.replace(target)
        known = {**wanted, "document_date": converted.document_date}
        stamp.write_text(json.dumps(known), "utf-8")
    return target, replace(info, document_date=known["document_date"] or info.document_date)
