"""Section-aware fragments: whole sentences, within the embedding model's limit, with page and section."""

import hashlib
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from core.ingestion.sentences import split_sentences
from core.ingestion.tables import table_lines
from core.models import Block, DocumentInfo, Fragment, LoadedDocument, Table

# Raise this whenever the same file would give other fragments: an index made with another version is rebuilt.
FRAGMENT_VERSION = 2

# In tokens of the embedding model, heading lines included. A section is filled up to the target; a list stays
# with the sentence that leads into it up to the maximum.
TARGET_TOKENS = 260
MAX_TOKENS = 400
# A section's last piece smaller than this joins the fragment before it.
_TAIL_TOKENS = 60
_MAX_PATH_CHARS = 300

TokenCounter = Callable[[Sequence[str]], list[int]]
# "Hasta el 20 de octubre", "Desde el 8 de abril hasta el 30 de junio": a heading that is a term.
_MONTH = "enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|octubre|noviembre|diciembre"
_DATE_HEADING = re.compile(
    rf"^(?:hasta|desde|del?|entre|antes|a partir|plazo)\b.*\b\d{{1,2}}\b.*\b(?:{_MONTH})\b", re.IGNORECASE
)


@dataclass(slots=True)
class _Piece:
    """A sentence or list item waiting for its fragment. ``breaks``: offsets in ``text`` at which a page begins."""

    text: str
    page: int
    breaks: tuple[int, ...]
    tokens: int = 0
    glue: str = "\n"
    leads: bool = False
    item: bool = False


@dataclass(slots=True)
class _Section:
    path: tuple[str, ...]
    pieces: list[_Piece] = field(default_factory=list)


def embedding_text(fragment: Fragment) -> str:
    """What the embedder and the text index see: document, where the fragment stands in it, then its text.

    The heading lines that the text begins with are not said twice; an official title that only repeats the
    document's name at length is left out.
    """
    said = fragment.text[:600].split("\n")
    path = [part for part in fragment.section_path if part not in said]
    if path and _fold(path[0]).startswith(_fold(fragment.title)[:20]):
        path = path[1:]
    context = " › ".join(path)
    if len(context) > _MAX_PATH_CHARS:
        context = context[-_MAX_PATH_CHARS:].partition(" ")[2]
    return f"{fragment.title}{' › ' if context else ''}{context}\n{fragment.text}"


def make_fragments(document: LoadedDocument, info: DocumentInfo, count_tokens: TokenCounter) -> list[Fragment]:
    """Cut a document into fragments, in reading order, with deterministic ids.

    ``count_tokens`` counts the embedding model's tokens for each of several texts.
    """
    contents = _contents_pages(document)
    fragments: list[Fragment] = []
    seen: dict[str, int] = {}

    def add(path: tuple[str, ...], text: str, page: int, breaks: tuple[int, ...], kind: str) -> None:
        fragments.append(_fragment(document, info, path, text, page, breaks, kind, len(fragments), seen))

    for part in _sections(document, contents):
        if isinstance(part, tuple):
            table, lead = part
            for text, page, breaks in _table_texts(table, lead, count_tokens):
                add(table.section_path, text, page, breaks, "table")
            continue
        head = heading_lines(part.path)
        _count(part.pieces, count_tokens)
        head_tokens = sum(count_tokens(list(head))) if head else 0
        for group in _pack(part.pieces, head_tokens):
            text, breaks = _compose(head, group)
            add(part.path, text, group[0].page, breaks, "text")
    return fragments


def heading_lines(path: Sequence[str]) -> tuple[str, ...]:
    """Headings that a fragment's text begins with: its own, and the nearest date that it stands under."""
    if not path:
        return ()
    label = path[-1]
    if _DATE_HEADING.search(label):
        return (label,)
    dated = next((h for h in reversed(path[:-1]) if _DATE_HEADING.search(h) and len(h) < 120), None)
    return (dated, label) if dated else (label,)


def _contents_pages(document: LoadedDocument) -> set[int]:
    """Pages that are a table of contents: most of what stands on them is headings of other pages."""
    if not document.paged:
        return set()
    headings = {_fold(b.text) for b in document.blocks if b.kind == "heading"}
    hits: dict[int, list[bool]] = {}
    for block in document.blocks:
        if block.kind in ("item", "paragraph") and block.page:
            hits.setdefault(block.page, []).append(_fold(block.text) in headings)
    return {page for page, found in hits.items() if len(found) >= 8 and sum(found) >= 0.5 * len(found)}


def _fold(text: str) -> str:
    return re.sub(r"[\W_]+", "", text.casefold())


def _sections(document: LoadedDocument, contents: set[int]) -> Iterator[_Section | tuple[Table, str]]:
    """Stretches of text under one heading, and tables with the line that leads into them, in order."""
    path: list[tuple[int, str]] = []
    section = _Section(())
    last = ""
    for block in document.blocks:
        if block.page in contents and block.table is None:
            continue
        if block.kind == "heading":
            if section.pieces:
                yield section
            path = [
                *((level, text) for level, text in path if level < block.level),
                (block.level, block.text),
            ]
            section, last = _Section(tuple(text for _, text in path)), ""
        elif block.table is not None:
            if section.pieces:
                yield section
            yield document.tables[block.table], last if last.endswith(":") and len(last) < 250 else ""
            section, last = _Section(section.path), ""
        else:
            section.pieces.extend(_pieces(block))
            last = block.text
    if section.pieces:
        yield section


def _pieces(block: Block) -> Iterator[_Piece]:
    spans = split_sentences(block.text)
    for index, (start, end) in enumerate(spans):
        stop = spans[index + 1][0] if index + 1 < len(spans) else end
        before = sum(1 for b in block.page_breaks if b <= start)
        inside = tuple(b - start for b in block.page_breaks if start < b < stop)
        yield _Piece(
            text=block.text[start:end],
            page=(block.page or 1) + before,
            breaks=inside,
            glue="\n" if index == 0 else " ",
            leads=block.text[start:end].endswith(":"),
            item=block.kind == "item",
        )


def _count(pieces: list[_Piece], count_tokens: TokenCounter) -> None:
    """Count tokens; cut a sentence that alone passes the limit, at a comma or space."""
    counts = count_tokens([piece.text for piece in pieces])
    whole: list[_Piece] = []
    for piece, tokens in zip(pieces, counts, strict=True):
        piece.tokens = tokens + 1
        limit = MAX_TOKENS - 100
        if tokens <= limit:
            whole.append(piece)
            continue
        step = max(40, int(len(piece.text) * limit / tokens * 0.9))
        start = 0
        while start < len(piece.text):
            end = _cut(piece.text, start, start + step)
            part = piece.text[start:end]
            whole.append(
                _Piece(
                    text=part.strip(),
                    page=piece.page + sum(1 for b in piece.breaks if b <= start),
                    breaks=tuple(b - start for b in piece.breaks if start < b < end),
                    tokens=count_tokens([part])[0] + 1,
                    glue=piece.glue if start == 0 else " ",
                )
            )
            start = end
    pieces[:] = [piece for piece in whole if piece.text]


def _cut(text: str, start: int, end: int) -> int:
    if end >= len(text):
        return len(text)
    for mark in ("; ", ", ", " "):
        at = text.rfind(mark, start + (end - start) // 2, end)
        if at > start:
            return at + len(mark)
    return end


def _pack(pieces: list[_Piece], head_tokens: int) -> Iterator[list[_Piece]]:
    """Groups of pieces that fit: up to the target, lists with their lead-in up to the maximum."""
    groups: list[list[_Piece]] = []
    sizes: list[int] = []
    budget, ceiling = TARGET_TOKENS - head_tokens, MAX_TOKENS - head_tokens
    budget, ceiling = max(budget, 120), max(ceiling, 200)
    for index, piece in enumerate(pieces):
        new = not groups or sizes[-1] + piece.tokens > (ceiling if piece.item else budget)
        if not new and piece.leads and sizes[-1] > 0.5 * budget:
            rest = sum(p.tokens for p in _list_after(pieces, index))
            new = sizes[-1] + piece.tokens + rest > ceiling  # a list that does not fit starts a fragment
        if new and groups and groups[-1][-1].leads and len(groups[-1]) > 1 and piece.item:
            lead = groups[-1].pop()  # the lead-in goes with its list
            sizes[-1] -= lead.tokens
            groups.append([lead, piece])
            sizes.append(lead.tokens + piece.tokens)
        elif new:
            groups.append([piece])
            sizes.append(piece.tokens)
        else:
            groups[-1].append(piece)
            sizes[-1] += piece.tokens
    if len(groups) > 1 and sizes[-1] < _TAIL_TOKENS and sizes[-2] + sizes[-1] <= ceiling:
        groups[-2].extend(groups.pop())
    yield from groups


def _list_after(pieces: Sequence[_Piece], index: int) -> list[_Piece]:
    end = index + 1
    while end < len(pieces) and pieces[end].item:
        end += 1
    return list(pieces[index + 1 : end])


def _compose(head: Sequence[str], group: Sequence[_Piece]) -> tuple[str, tuple[int, ...]]:
    """Text of a fragment and the offsets at which its later pages begin."""
    text = "\n".join(head)
    page = group[0].page
    breaks: list[int] = []
    for index, piece in enumerate(group):
        glue = "" if not text else "\n" if index == 0 else piece.glue
        text += glue
        breaks.extend([len(text)] * (piece.page - page))
        breaks.extend(len(text) + b for b in piece.breaks)
        page = piece.page + len(piece.breaks)
        text += piece.text
    return text, tuple(breaks)


def _table_texts(table: Table, lead: str, count_tokens: TokenCounter) -> Iterator[tuple[str, int, tuple[int, ...]]]:
    """A table in parts that fit, the heading and the header row on each. Yields text, first page, page offsets."""
    lines = table_lines(table)
    header = lines[: len(lines) - len(table.rows)]
    head = [*heading_lines(table.section_path), *([lead] if lead else []), *header]
    room = max(MAX_TOKENS - sum(count_tokens(head)), 150) if head else MAX_TOKENS
    pages = table.row_pages or (table.page or 1,) * len(table.rows)
    pieces: list[_Piece] = []
    for line, page in zip(lines[len(header) :], pages, strict=True):
        pieces.append(_Piece(line, page, (), glue="\n"))
    counts = count_tokens([piece.text for piece in pieces])
    groups: list[list[_Piece]] = []
    size = 0
    for piece, tokens in zip(pieces, counts, strict=True):
        for part in _split_row(piece, tokens, room, count_tokens):
            if not groups or size + part.tokens > room:
                groups.append([])
                size = 0
            groups[-1].append(part)
            size += part.tokens
    for group in groups:
        text, breaks = _compose(head, group)
        yield text, group[0].page, breaks


def _split_row(piece: _Piece, tokens: int, room: int, count_tokens: TokenCounter) -> list[_Piece]:
    piece.tokens = tokens + 1
    if piece.tokens <= room:
        return [piece]
    parts, start = [], 0
    step = max(40, int(len(piece.text) * room / piece.tokens * 0.85))
    while start < len(piece.text):
        end = _cut(piece.text, start, start + step)
        text = piece.text[start:end].strip()
        if text:
            parts.append(_Piece(text, piece.page, (), tokens=count_tokens([text])[0] + 1))
        start = end
    return parts


def _fragment(
    document: LoadedDocument,
    info: DocumentInfo,
    path: tuple[str, ...],
    text: str,
    page: int,
    breaks: tuple[int, ...],
    kind: str,
    ordinal: int,
    seen: dict[str, int],
) -> Fragment:
    first = page if document.paged else None
    place = str(page) if document.paged else "\x1e".join(path)
    key = f"{info.doc_id}\x1f{place}\x1f{text}"
    seen[key] = seen.get(key, 0) + 1
    if seen[key] > 1:  # the same words twice in one place, e.g. two equal rows
        key += f"\x1f{seen[key]}"
    return Fragment(
        id=hashlib.sha256(key.encode("utf-8")).hexdigest()[:24],
        text=text,
        doc_id=info.doc_id,
        title=info.title,
        tax=info.tax,
        doc_type=info.doc_type,
        section_label=path[-1] if path else "",
        section_path=path,
        page=first,
        page_end=first + len(breaks) if first is not None else None,
        source_url=info.source_url,
        retrieved_at=info.retrieved_at,
        source_scope=info.source_scope,
        session_id=info.session_id,
        kind="table" if kind == "table" else "text",
        page_breaks=breaks if document.paged else (),
        ordinal=ordinal,
    )
