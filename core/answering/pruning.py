"""A draft without what is not supported, tidy as Markdown."""

import re
from collections.abc import Collection, Sequence

from core.answering.claims import DraftClaim, is_bullet, is_lead, is_structure, marks_in


def pruned(draft: str, unsupported: Sequence[DraftClaim], own: Collection[str]) -> str:
    """The draft without its unsupported claims, and without what then leads to nothing."""
    lines: list[str | None] = list(draft.split("\n"))
    for claim in reversed(unsupported):
        line = lines[claim.line]
        if line is None:
            continue
        left, right = line[: claim.start].rstrip(), line[claim.end :].lstrip()
        rest = f"{left} {right}".strip() if right else left
        bare = re.sub(r"^\s*(?:[-*+•]|\d{1,2}[.)]|[a-zñ]\))\s*$|[|*_\s]", "", rest)
        lines[claim.line] = rest if bare else None
    kept = [line for line in lines if line is not None]
    changed = len(kept) < len(lines)
    if changed:
        introductions = {line.strip() for block in own for line in block.split("\n") if line.strip()}
        kept = _tidied(kept, introductions)
    return re.sub(r"\n{3,}", "\n\n", "\n".join(kept)).strip()


def _tidied(lines: list[str], own: Collection[str]) -> list[str]:
    """Drop leads, headings and introductions (our own lines that end in a colon) that nothing follows any more."""
    found: list[str] = []
    followed = ""  # the next line that stays, '' at the end
    for line in reversed(lines):
        if not line.strip():
            found.append(line)
            continue
        introduction = line.strip() in own and is_lead(line)
        heading = line.lstrip().startswith("#")
        separator = is_structure(line) and not heading
        item = is_bullet(followed) or followed.lstrip().startswith("|")
        next_opens = not followed or followed.lstrip().startswith("#") or (followed.strip() in own)
        if (introduction or heading) and next_opens:
            continue
        if is_lead(line) and not introduction and not is_bullet(line) and not item and not marks_in(line):
            continue
        if separator and not followed.lstrip().startswith("|"):
            continue
        found.append(line)
        followed = line
    return found[::-1]


def _cited(line: str) -> bool:
    return bool(marks_in(line))
