"""Interactions as files: JSON Lines, and CSV that a spreadsheet can open without running anything."""

import csv
import io
import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

# A cell that begins so is a formula for a spreadsheet; an apostrophe before it makes it text.
_FORMULA_SIGNS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")

# What a spreadsheet shows; lists and objects as JSON.
COLUMNS = (
    "id", "created_at", "channel", "private_session", "question", "category", "mode", "grounded", "level", "seal_mode",
    "signals", "sources", "prompt_version", "model", "corpus_version", "thresholds_version", "latency_ms", "thumb",
    "comment", "answer", "passages",
)  # fmt: skip


def to_jsonl(interactions: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """One JSON object a line."""
    for row in interactions:
        yield json.dumps({name: row[name] for name in COLUMNS}, ensure_ascii=False) + "\n"


def to_csv(interactions: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """CSV with a header, RFC 4180 line ends, in pieces; the first begins with a byte order mark (for Excel)."""
    yield "\ufeff" + _line(COLUMNS)
    for row in interactions:
        yield _line([_cell(row[name]) for name in COLUMNS])


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "sí" if value else "no"
    if isinstance(value, int | float):
        return str(value)
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return f"'{text}" if text.lstrip(" \u00a0\ufeff\u200b").startswith(_FORMULA_SIGNS) else text


def _line(cells: Iterable[str]) -> str:
    buffer = io.StringIO()
    csv.writer(buffer).writerow(cells)
    return buffer.getvalue()
