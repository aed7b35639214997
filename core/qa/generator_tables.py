"""Questions of type A from tables: what a column says for a row."""

import re
from collections import Counter
from collections.abc import Iterator

from core.models import Fragment
from core.qa.candidates import Candidate
from core.qa.models import Form
from core.qa.naming import plain_heading
from core.qa.spanish import lower_first
from core.qa.text import ASIDE, DocumentText

_QUALITY = 0.5
_COLUMNS = (2, 4)
_LABEL_WORDS, _VALUE_WORDS = (2, 9), (1, 6)
_NO_LABEL = re.compile(r"[=:?…]|\bejemplo|\b(?:total|nota|euros?)\b|^\W*\d|\d{4}", re.IGNORECASE)


def table_candidates(text: DocumentText) -> Iterator[Candidate]:
    """For each plain table: rows with a name of their own and a figure under a named column."""
    for fragment in text.tables:
        if not any(ASIDE.search(part) for part in fragment.section_path):
            yield from _of_table(fragment)


def _of_table(fragment: Fragment) -> Iterator[Candidate]:
    lines = [line for line in fragment.text.split("\n") if line.startswith("|")]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    section, _ = plain_heading(fragment.section_label)
    if (
        len(rows) < 3
        or len({len(row) for row in rows}) != 1
        or not _COLUMNS[0] <= len(rows[0]) <= _COLUMNS[1]
        or not section
    ):
        return
    header, body = rows[0], rows[1:]
    if not all(header) or any(len(h.split()) > 6 or re.search(r"\d", h) for h in header):
        return
    labels = Counter(row[0] for row in body)
    for row, line in zip(body, lines[1:], strict=True):
        label = row[0]
        if (
            labels[label] > 1
            or not _LABEL_WORDS[0] <= len(label.split()) <= _LABEL_WORDS[1]
            or _NO_LABEL.search(label)
            or label.isupper()
        ):
            continue
        for name, value in zip(header[1:], row[1:], strict=True):
            if _VALUE_WORDS[0] <= len(value.split()) <= _VALUE_WORDS[1] and re.search(r"\d", value):
                question = (
                    f"En la tabla sobre «{section}», ¿qué valor de «{lower_first(name)}» corresponde a «{label}»?"
                )
                start = fragment.text.index(line)
                yield Candidate(Form.TABLE, question, fragment, start, len(line), ((value,),), _QUALITY, label)
                break
