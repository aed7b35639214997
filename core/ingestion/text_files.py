"""TXT and Markdown: bytes in whatever encoding to blocks."""

import codecs
import re
from collections.abc import Iterator

from core.errors import UnreadableDocumentError
from core.ingestion.cleaning import clean_text
from core.ingestion.page_texts import flow_text
from core.ingestion.tables import with_sections
from core.models import Block, LoadedDocument, Table

_SIGNATURES = (
    b"%PDF",
    b"PK\x03\x04",
    b"\x89PNG",
    b"\xff\xd8\xff",
    b"GIF8",
    b"\xd0\xcf\x11\xe0",
    b"\x7fELF",
    b"\x1f\x8b",
)
_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_HEADING = re.compile(r"^(#{1,6})\s+(.*?)\s*#*\s*$")
_ITEM = re.compile(r"^\s*(?:[-*+•◦○▪]\s+|\(?\d{1,3}[.)]\s+|\d{1,2}\.[ºª]\s+|\(?[a-zñA-ZÑ]\)\s+)")
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)


def decode(data: bytes) -> tuple[str, list[str]]:
    """Text of ``data`` and warnings. UTF-8, UTF-16 and UTF-32 (with or without mark), ISO-8859-15, Windows-1252.

    Raises:
        UnreadableDocumentError: empty, or not text at all.
    """
    if not data.strip(b"\x00 \t\r\n"):
        raise UnreadableDocumentError("El archivo está vacío: no contiene texto.")
    if data.startswith(_SIGNATURES):
        raise UnreadableDocumentError(
            "El archivo no es de texto, aunque su nombre lo diga. Súbalo con su formato real."
        )
    for bom, encoding in _BOMS:
        if data.startswith(bom):
            return data.decode(encoding, errors="replace"), []
    if wide := _wide_encoding(data):
        return data.decode(wide, errors="replace"), []
    data = data.replace(b"\x00", b"")
    controls = sum(data.count(bytes([c])) for c in (*range(1, 9), *range(14, 27), *range(28, 32)))
    if controls > 0.02 * len(data):
        raise UnreadableDocumentError("El archivo contiene datos binarios, no texto. Súbalo con su formato real.")
    try:
        return data.decode("utf-8"), []
    except UnicodeDecodeError:
        pass
    lenient = data.decode("utf-8", errors="replace")
    damaged = lenient.count("\ufffd")
    if sum(1 for ch in lenient if ord(ch) > 127) - damaged > 4 * damaged:
        return lenient, [f"El texto tiene {damaged} caracteres dañados, que se muestran como «\ufffd»."]
    # Bytes 80–9F are letters and signs in Windows-1252 and nothing in ISO-8859-15; A4 is € there, ¤ in Windows-1252.
    latin = "iso8859-15" if 0xA4 in data and not any(0x80 <= b <= 0x9F for b in data) else "cp1252"
    return data.decode(latin, errors="replace"), []


def _wide_encoding(data: bytes) -> str | None:
    """UTF-16 without a mark: nearly every other byte is NUL, always on the same side."""
    sample = data[: 4000 - 4000 % 2]
    half = len(sample) // 2
    if half < 4:
        return None
    even, odd = sample[0::2].count(0), sample[1::2].count(0)
    if odd > 0.6 * half and even < 0.05 * half:
        return "utf-16-le"
    if even > 0.6 * half and odd < 0.05 * half:
        return "utf-16-be"
    return None


def load_text(data: bytes, *, markdown: bool) -> LoadedDocument:
    """Read a TXT or Markdown file. The whole file counts as page 1 and its fragments have no page.

    Raises:
        UnreadableDocumentError: see `decode`; also when nothing readable is left.
    """
    text, warnings = decode(data)
    if markdown:
        text, comments = _COMMENT.subn("", text)
        if comments:
            warnings.append(f"Se han ignorado {comments} comentarios ocultos del Markdown.")
    if not re.search(r"\w", text):
        raise UnreadableDocumentError("El archivo no contiene texto que se pueda leer.")
    blocks: list[Block] = []
    tables: list[Table] = []
    for chunk in _chunks(clean_text(text), markdown=markdown):
        if isinstance(chunk, Table):
            blocks.append(Block("table", "", page=1, table=len(tables)))
            tables.append(chunk)
        else:
            blocks.append(chunk)
    return LoadedDocument(
        blocks=tuple(blocks),
        pages={1: flow_text(blocks, tables)},
        tables=tuple(with_sections(blocks, tables)),
        warnings=tuple(warnings),
        paged=False,
    )


def _chunks(text: str, *, markdown: bool) -> Iterator[Block | Table]:
    for paragraph in text.split("\n\n"):
        lines = paragraph.split("\n")
        index = 0
        while index < len(lines):
            line = lines[index]
            if markdown and line.startswith("|") and index + 1 < len(lines) and _is_rule(lines[index + 1]):
                end = index + 2
                while end < len(lines) and lines[end].startswith("|"):
                    end += 1
                yield _pipe_table(lines[index], lines[index + 2 : end])
                index = end
                continue
            heading = _HEADING.match(line) if markdown else None
            if heading:
                yield Block("heading", _plain(heading.group(2)), page=1, level=len(heading.group(1)))
            elif markdown and _is_rule(line):
                pass
            elif line.strip():
                yield Block("item" if _ITEM.match(line) else "paragraph", _plain(line) if markdown else line, page=1)
            index += 1


def _is_rule(line: str) -> bool:
    return bool(re.fullmatch(r"\|?[\s:|-]*-{3,}[\s:|-]*\|?", line.strip()))


def _plain(text: str) -> str:
    """Without Markdown's marks for bold, code and links' addresses."""
    text = re.sub(r"\[([^\]]+)\]\([^)\s]+\)", r"\1", text)
    return re.sub(r"(\*\*|__)(?=\S)(.+?)(?<=\S)\1", r"\2", text).replace("\\|", "|")


def _pipe_table(head: str, rows: list[str]) -> Table:
    def cells(line: str) -> tuple[str, ...]:
        inner = re.sub(r"^\||\|$", "", line.strip())
        return tuple(_plain(cell.strip()) for cell in re.split(r"(?<!\\)\|", inner))

    header = cells(head)
    width = max([len(header), *(len(cells(row)) for row in rows)])
    body = tuple((*cells(row), *[""] * (width - len(cells(row)))) for row in rows)
    return Table(header=(*header, *[""] * (width - len(header))), rows=body, page=None)
