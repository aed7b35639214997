"""``python -m core redact FILE``: the text without personal data, or where it stood."""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from core.config import Settings
from core.ingestion.loader import MARKDOWN_SUFFIXES, TEXT_SUFFIXES
from core.ingestion.text_files import decode
from core.ingestion.worker import load_in_worker
from core.privacy.document import redact_document
from core.privacy.kinds import PiiSpan, Redaction
from core.privacy.placeholders import Placeholders
from core.privacy.redactor import Redactor


def add_redact(commands: Any) -> None:
    """Add the command ``redact`` to the parser's commands."""
    redact = commands.add_parser("redact", help="el texto de un archivo sin datos personales")
    redact.add_argument("file", type=Path, metavar="FILE")
    redact.add_argument(
        "--json", action="store_true", help="dónde estaban (inicio, fin, tipo, longitud), nunca el valor"
    )
    redact.set_defaults(run=_redact)


def _redact(args: argparse.Namespace, settings: Settings) -> int:
    document = load_in_worker(args.file, settings)  # the checks of type, size and time
    redactor, placeholders = Redactor(settings), Placeholders()
    redactor.load(progress=lambda what, size: print(f"descargando {what}: {size / 2**20:.1f} MB", file=sys.stderr))
    if args.file.suffix.lower() in (*TEXT_SUFFIXES, *MARKDOWN_SUFFIXES):
        pages = {1: decode(args.file.read_bytes())[0]}  # as written, so that the offsets are the file's own
    else:
        pages = dict(document.pages)
    if args.json:
        found = {number: redactor.redact_pii(text, placeholders) for number, text in sorted(pages.items())}
        json.dump(_report(args.file, found, paged=document.paged), sys.stdout, ensure_ascii=False, indent=1)
        print()
    elif document.paged:
        clean, _ = redact_document(document, redactor, placeholders)
        for number, text in sorted(clean.pages.items()):
            print(f"--- página {number}\n{text}")
    else:
        print(redactor.redact_pii(pages[1], placeholders).text)
    for warning in document.warnings:
        print(f"aviso: {warning}", file=sys.stderr)
    return 0


def _report(file: Path, found: dict[int, Redaction], *, paged: bool) -> dict[str, Any]:
    spans = [_span(span, number if paged else None) for number, result in found.items() for span in result.spans]
    counts: dict[str, int] = {}
    for result in found.values():
        for kind, total in result.counts.items():
            counts[kind.value] = counts.get(kind.value, 0) + total
    return {"file": file.name, "counts": counts, "spans": spans}


def _span(span: PiiSpan, page: int | None) -> dict[str, Any]:
    return {
        "page": page,
        "start": span.start,
        "end": span.end,
        "kind": span.kind.value,
        "length": span.length,
        "placeholder": span.placeholder,
    }
