"""One entrance for every file: type by content and extension, then pages, blocks and tables."""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from core.errors import UnreadableDocumentError, UnsupportedFileTypeError
from core.ingestion.borderless import find_borderless_tables
from core.ingestion.cleaning import spanish_word
from core.ingestion.layout import BlockBuilder, body_size, reading_order, settle_levels, strip_furniture
from core.ingestion.page_texts import page_texts
from core.ingestion.pdf import Line, PdfContent, read_pdf
from core.ingestion.pdf_tables import RawTable, find_ruled_tables
from core.ingestion.tables import join_raw_tables, with_sections
from core.ingestion.text_files import load_text
from core.models import LoadedDocument

TEXT_SUFFIXES = (".txt",)
MARKDOWN_SUFFIXES = (".md", ".markdown")
SUPPORTED_SUFFIXES = (".pdf", *TEXT_SUFFIXES, *MARKDOWN_SUFFIXES)

# A page with fewer letters and figures than this, and a picture, is a scan.
_MIN_PAGE_CHARS = 15
# Of the words of real text, in Spanish or a language near it, far more than this share is in the word list.
_MIN_KNOWN_SHARE, _MIN_KNOWN_ZIPF = 0.25, 1.5
_MIN_HIDDEN_CHARS = 5

Progress = Callable[[str, int, int], None]


def load(path: Path, *, max_pages: int = 3000, max_bytes: int = 0, progress: Progress | None = None) -> LoadedDocument:
    """Read a PDF, TXT or Markdown file.

    ``progress`` is called with a stage ("páginas", "tablas"), how much is done and how much there is.

    Raises:
        UnsupportedFileTypeError: the extension is none of `SUPPORTED_SUFFIXES`.
        UnreadableDocumentError: missing, empty, damaged, protected, without text, too large, or not what it says.
    """
    suffix = path.suffix.lower()
    if suffix not in SUPPORTED_SUFFIXES:
        shown = f"«{suffix}»" if suffix else "sin extensión"
        raise UnsupportedFileTypeError(
            f"El formato {shown} no está soportado. AsesorIA lee PDF, TXT y Markdown: exporte el documento a uno de ellos."
        )
    try:
        size = path.stat().st_size
        if max_bytes and size > max_bytes:
            raise UnreadableDocumentError(
                f"El archivo ocupa {size / 2**20:.1f} MB y el máximo es {max_bytes / 2**20:.0f} MB. Divídalo en partes."
            )
        if suffix != ".pdf":
            return load_text(path.read_bytes(), markdown=suffix in MARKDOWN_SUFFIXES)
        return _load_pdf(path, max_pages=max_pages, progress=progress)
    except OSError as error:
        raise UnreadableDocumentError(
            f"No se puede abrir el archivo ({error.strerror or type(error).__name__}). Compruebe que existe y súbalo de nuevo."
        ) from error


def _load_pdf(path: Path, *, max_pages: int, progress: Progress | None) -> LoadedDocument:
    content = read_pdf(path, max_pages=max_pages)
    warnings = list(content.warnings)
    _check_text(content, warnings)
    kept, furniture = strip_furniture(content.pages)
    raw = _tables(path, content, kept, progress)
    page_ends = {
        page.number: _ends_with_table(lines, [t for t in raw if t.page == page.number])
        for page, lines in zip(content.pages, kept, strict=True)
    }
    page_starts = {
        page.number: _starts_with_table(lines, [t for t in raw if t.page == page.number])
        for page, lines in zip(content.pages, kept, strict=True)
    }
    joined = join_raw_tables(raw, page_ends=page_ends, page_starts=page_starts)
    first_part = {id(parts[0]): index for index, (_, parts) in enumerate(joined)}
    builder = BlockBuilder(size=body_size(content.pages), outline=content.outline)
    for page, lines in zip(content.pages, kept, strict=True):
        here = [t for t in raw if t.page == page.number]
        free = [line for line in lines if not any(_inside(line, t.box) for t in here)]
        upright = [line for line in free if line.angle == 0]
        rows = reading_order(upright, page.width)
        places = [(t.box[1], str(first_part[id(t)])) for t in here if id(t) in first_part]
        builder.add_page(page.number, rows, places)
        for angle in (90, 180, 270):
            turned = [_upright(line, page.width, page.height) for line in free if line.angle == angle]
            builder.add_page(page.number, reading_order(turned, page.height if angle != 180 else page.width))
        builder.add_texts(page.number, page.extras)
    blocks = [
        replace(b, text="", table=int(b.text)) if b.kind == "table" else b for b in settle_levels(builder.finish())
    ]
    tables = with_sections(blocks, [table for table, _ in joined])
    return LoadedDocument(
        blocks=tuple(blocks),
        pages=page_texts(blocks, tables, len(content.pages)),
        tables=tuple(tables),
        warnings=tuple(warnings),
        dropped_tables=sum(1 for t in raw if not t.useful),
        document_date=_stated_date(furniture),
    )


def _stated_date(furniture: Sequence[str]) -> str:
    """The date (dd/mm/yyyy) that most page headers or footers carry, as ISO; '' where they carry none."""
    dates = Counter(match.groups() for text in furniture if (match := re.search(r"\b(\d{2})/(\d{2})/(\d{4})\b", text)))
    if not dates:
        return ""
    (day, month, year), _ = dates.most_common(1)[0]
    return f"{year}-{month}-{day}"


def _tables(
    path: Path, content: PdfContent, kept: Sequence[Sequence[Line]], progress: Progress | None
) -> list[RawTable]:
    ruled = {p.number: p.lines for p in content.pages if p.suggests_table and p.lines}
    done = 0

    def report(_: int) -> None:
        nonlocal done
        done += 1
        if progress:
            progress("tablas", done, len(ruled))

    raw = find_ruled_tables(path, visible=ruled, progress=report) if ruled else []
    for page, lines in zip(content.pages, kept, strict=True):
        here = [t for t in raw if t.page == page.number]
        free = [line for line in lines if line.angle == 0 and not any(_inside(line, t.box) for t in here)]
        raw.extend(find_borderless_tables(page.number, free))
    return sorted(raw, key=lambda t: (t.page, t.box[1], t.box[0]))


def _check_text(content: PdfContent, warnings: list[str]) -> None:
    """Refuse a PDF without readable text; warn of the pages that have none, of gibberish and of hidden text."""
    empty, gibberish = [], []
    for page in content.pages:
        text = "".join(line.text for line in page.lines)
        chars = sum(ch.isalnum() for ch in text)
        if chars < _MIN_PAGE_CHARS and not page.extras:
            if page.image_share > 0.05 or chars == 0:
                empty.append(page.number)
        elif is_gibberish(text):
            gibberish.append(page.number)
            page.lines = []
    total = len(content.pages)
    if len(empty) + len(gibberish) >= total:
        if gibberish:
            raise UnreadableDocumentError(
                "El PDF usa letras sin correspondencia con texto (se ve, pero no se puede leer). "
                "Imprímalo a PDF con otro programa o pase un reconocimiento de texto (OCR) y súbalo de nuevo."
            )
        raise UnreadableDocumentError(
            "El PDF no contiene texto: parece escaneado o en blanco. Pase un reconocimiento de texto (OCR) y súbalo de nuevo."
        )
    warnings.extend(f"La página {n} no tiene texto (¿escaneada?): no se ha leído." for n in empty)
    warnings.extend(f"El texto de la página {n} no se puede descifrar: no se ha leído." for n in gibberish)
    warnings.extend(
        f"La página {p.number} tiene texto oculto ({p.hidden_chars} caracteres), que se ha ignorado."
        for p in content.pages
        if p.hidden_chars >= _MIN_HIDDEN_CHARS  # a footnote mark in its background's colour is not worth a warning
    )


def is_gibberish(text: str) -> bool:
    """Whether extracted characters are no text: fonts without Unicode give signs, or words that no language has."""
    solid = [ch for ch in text if not ch.isspace()]
    if len(solid) < 20:
        return False
    strange = sum(1 for ch in solid if ch == "\ufffd" or "\ue000" <= ch <= "\uf8ff" or not ch.isprintable())
    if strange > 0.2 * len(solid):
        return True
    words = re.findall(r"[^\W\d_]{4,}", text)[:400]
    if len(words) < 8:
        return False
    known = sum(1 for word in words if spanish_word(word) >= _MIN_KNOWN_ZIPF)
    return known < _MIN_KNOWN_SHARE * len(words)


def _inside(line: Line, box: tuple[float, float, float, float]) -> bool:
    x, y = (line.x0 + line.x1) / 2, (line.y0 + line.y1) / 2
    return box[0] - 1 <= x <= box[2] + 1 and box[1] - 1 <= y <= box[3] + 1


def _ends_with_table(lines: Sequence[Line], tables: Sequence[RawTable]) -> bool:
    if not tables:
        return False
    bottom = max(t.box[3] for t in tables)
    return not any(line.y0 > bottom - 1 and line.text.strip() for line in lines)


def _starts_with_table(lines: Sequence[Line], tables: Sequence[RawTable]) -> bool:
    if not tables:
        return False
    top = min(t.box[1] for t in tables)
    return not any(line.y1 < top + 1 and line.text.strip() for line in lines)


def _upright(line: Line, width: float, height: float) -> Line:
    """The line as it stands when the page is turned so that it reads left to right."""
    x0, y0, x1, y1 = {
        90: (height - line.y1, line.x0, height - line.y0, line.x1),
        180: (width - line.x1, height - line.y1, width - line.x0, height - line.y0),
        270: (line.y0, width - line.x1, line.y1, width - line.x0),
    }[line.angle]
    return replace(line, x0=x0, y0=y0, x1=x1, y1=y1, angle=0)
