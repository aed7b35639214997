"""The only module that knows pymupdf: from a PDF to lines with their place and look, and to page images.

pymupdf is not thread-safe: this module runs in the worker process of `core.ingestion.worker`, or under its lock.
"""

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from core.errors import UnreadableDocumentError

_LOCK = threading.RLock()

# Span flags of MuPDF's text extraction.
_SUPERSCRIPT = 1
_BOLD = 16
# Character flags: what the text operator painted (0 for both: text rendering mode 3, "invisible").
_CHAR_FILLED = 16
_CHAR_STROKED = 8

_SUPERSCRIPTS = str.maketrans("0123456789()+-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁽⁾⁺⁻")
_SUPERSCRIPT_TEXT = re.compile(r"[\d()+\- ]+")

# Text smaller than this is not meant to be read (the smallest print of the official documents is 3.6 points).
_MIN_VISIBLE_SIZE = 2.0
_WHITE = 0xF8
# A page with less text than this may be a scan: then its pictures are looked at.
_SPARSE_CHARS = 200


@dataclass(frozen=True, slots=True)
class Line:
    """A run of text on one baseline. Coordinates in points, from the top left of the page as displayed."""

    text: str
    x0: float
    y0: float
    x1: float
    y1: float
    size: float
    bold: bool
    angle: int = 0

    @property
    def height(self) -> float:
        """Height of the line's box."""
        return self.y1 - self.y0


@dataclass(frozen=True, slots=True)
class OutlineEntry:
    """A bookmark: level from 1, title, page from 1."""

    level: int
    title: str
    page: int


@dataclass(slots=True)
class PdfPage:
    """What one page shows, before cleaning. ``image_share`` is known for pages with little or invisible text only."""

    number: int
    width: float
    height: float
    lines: list[Line]
    hidden_chars: int = 0
    image_share: float = 0.0
    suggests_table: bool = False
    extras: list[str] = field(default_factory=list)


@dataclass(slots=True)
class PdfContent:
    """A PDF as read: pages, outline and what the reader should know."""

    pages: list[PdfPage]
    outline: list[OutlineEntry]
    warnings: list[str]


@contextmanager
def open_pdf(path: Path) -> Iterator[Any]:
    """Open a PDF, checking that it is one and can be read.

    Raises:
        UnreadableDocumentError: empty, not a PDF whatever its name says, damaged, or protected by a password.
    """
    import pymupdf

    with path.open("rb") as file:
        head = file.read(1024)
    if not head:
        raise UnreadableDocumentError("El archivo está vacío (0 bytes). Vuelva a descargarlo o a exportarlo.")
    if b"%PDF" not in head:
        raise UnreadableDocumentError(
            "El archivo no es un PDF, aunque su nombre lo diga. Ábralo con su programa y expórtelo como PDF."
        )
    with _LOCK:
        pymupdf.TOOLS.mupdf_display_errors(False)
        pymupdf.TOOLS.mupdf_display_warnings(False)
        try:
            document = pymupdf.open(path, filetype="pdf")
        except (pymupdf.FileDataError, pymupdf.EmptyFileError, RuntimeError, ValueError) as error:
            raise UnreadableDocumentError(
                "El PDF está dañado o incompleto y no se puede abrir. Vuelva a descargarlo o a exportarlo."
            ) from error
        try:
            if document.needs_pass:
                raise UnreadableDocumentError(
                    "El PDF está protegido con contraseña. Ábralo con ella, guárdelo sin contraseña y súbalo de nuevo."
                )
            if not document.is_pdf or document.page_count == 0:
                raise UnreadableDocumentError(
                    "El PDF está dañado o no tiene páginas. Vuelva a descargarlo o a exportarlo."
                )
            yield document
        finally:
            document.close()


def read_pdf(path: Path, *, max_pages: int) -> PdfContent:
    """Read every page's visible lines, form fields and visible annotations. Embedded files are not read.

    Raises:
        UnreadableDocumentError: see `open_pdf`; also when there are more than ``max_pages`` pages.
    """
    with open_pdf(path) as document:
        if document.page_count > max_pages:
            raise UnreadableDocumentError(
                f"El PDF tiene {document.page_count} páginas y el máximo es {max_pages}. Divídalo en partes."
            )
        warnings: list[str] = []
        if document.is_repaired:
            warnings.append("El PDF estaba dañado y se ha reparado al leerlo: puede faltar contenido.")
        if document.embfile_count():
            warnings.append(f"El PDF lleva {document.embfile_count()} archivos adjuntos, que no se leen.")
        pages = []
        for index in range(document.page_count):
            try:
                pages.append(_read_page(document[index]))
            except (RuntimeError, ValueError) as error:
                warnings.append(f"La página {index + 1} está dañada y no se ha podido leer ({type(error).__name__}).")
                pages.append(PdfPage(index + 1, 0.0, 0.0, []))
        outline = [
            OutlineEntry(int(level), " ".join(str(title).split()), int(page))
            for level, title, page in document.get_toc()
        ]
        return PdfContent(pages, [entry for entry in outline if entry.title and entry.page > 0], warnings)


def _read_page(page: Any) -> PdfPage:
    import pymupdf

    flags = (pymupdf.TEXTFLAGS_DICT & ~pymupdf.TEXT_PRESERVE_IMAGES) | pymupdf.TEXT_COLLECT_STYLES
    flags &= ~pymupdf.TEXT_MEDIABOX_CLIP  # text off the page must be seen, to be reported
    drawings = page.get_cdrawings()
    fills = [(d["rect"], d["fill"]) for d in drawings if d.get("fill") is not None]
    images = _Images(page)
    result = PdfPage(
        number=page.number + 1,
        width=page.rect.width,
        height=page.rect.height,
        lines=[],
        suggests_table=_suggests_table(drawings, page.rect.width, page.rect.height),
    )
    ocr_lines: list[Line] = []
    for block in page.get_text("dict", flags=flags)["blocks"]:
        for raw in block.get("lines", ()):
            spans, invisible, hidden = [], [], 0
            for span in raw["spans"]:
                text = span["text"]
                if not text.strip() or _is_visible(span, page.rect, fills, images):
                    spans.append(span)
                elif not span.get("char_flags", _CHAR_FILLED) & (_CHAR_FILLED | _CHAR_STROKED):
                    invisible.append(span)
                else:
                    hidden += sum(ch.isalnum() for ch in text)
            result.hidden_chars += hidden + sum(ch.isalnum() for s in invisible for ch in s["text"])
            if line := _line(spans, raw["dir"]):
                result.lines.append(line)
            if line := _line(invisible, raw["dir"]):
                ocr_lines.append(line)
    if ocr_lines or sum(len(line.text) for line in result.lines) < _SPARSE_CHARS:
        result.image_share = images.share()
    # A scan with a text layer: invisible text over a picture of the page is what the picture shows.
    if result.image_share > 0.5 and ocr_lines and not result.lines:
        result.lines = ocr_lines
        result.hidden_chars = 0
    result.extras = _fields_and_notes(page)
    return result


class _Images:
    """Where the page's pictures stand; looked up only when it matters, since it costs as much as reading the text."""

    def __init__(self, page: Any) -> None:
        self._page = page

    @cached_property
    def boxes(self) -> list[Any]:
        """Their boxes."""
        import pymupdf

        return [pymupdf.Rect(info["bbox"]) for info in self._page.get_image_info()]

    def share(self) -> float:
        """Share of the page that they cover, 0..1."""
        rect = self._page.rect
        covered = sum(abs((box & rect).get_area()) for box in self.boxes if not box.is_empty)
        return float(min(1.0, covered / (abs(rect.width * rect.height) or 1.0)))


def _is_visible(
    span: dict[str, Any], page_rect: Any, fills: list[tuple[tuple[float, float, float, float], Any]], images: "_Images"
) -> bool:
    import pymupdf

    if span["size"] < _MIN_VISIBLE_SIZE or span.get("alpha", 255) == 0:
        return False
    if not span.get("char_flags", _CHAR_FILLED) & (_CHAR_FILLED | _CHAR_STROKED):
        return False
    box = pymupdf.Rect(span["bbox"])
    centre = (box.tl + box.br) / 2
    if centre not in page_rect:
        return False
    x, y = centre
    color = span["color"]
    channels = (color >> 16 & 255, color >> 8 & 255, color & 255)
    background = None
    for (x0, y0, x1, y1), fill in fills:  # the last fill painted under the text wins
        if x0 <= x < x1 and y0 <= y < y1:
            background = fill
    if background is None:
        if min(channels) < _WHITE:
            return True
        return any(centre in image for image in images.boxes)
    ground = [round(255 * c) for c in background] if len(background) == 3 else [round(255 * background[0])] * 3
    if len(background) == 4:
        return True
    return bool(max(abs(a - b) for a, b in zip(channels, ground, strict=True)) > 255 - _WHITE)


def _line(spans: list[dict[str, Any]], direction: tuple[float, float]) -> Line | None:
    text = ""
    for span in spans:
        part = span["text"]
        if span["flags"] & _SUPERSCRIPT and _SUPERSCRIPT_TEXT.fullmatch(part):
            part = part.rstrip().translate(_SUPERSCRIPTS) + part[len(part.rstrip()) :]
        text += part
    if not text.strip():
        return None
    solid = [s for s in spans if s["text"].strip()]
    letters = {bold: sum(len(s["text"]) for s in solid if bool(s["flags"] & _BOLD) is bold) for bold in (True, False)}
    largest = max(solid, key=lambda s: len(s["text"]) if not s["flags"] & _SUPERSCRIPT else 0)
    angle = {(1, 0): 0, (0, -1): 90, (-1, 0): 180, (0, 1): 270}.get((round(direction[0]), round(direction[1])), 0)
    return Line(
        text=text,
        x0=min(s["bbox"][0] for s in solid),
        y0=min(s["bbox"][1] for s in solid),
        x1=max(s["bbox"][2] for s in solid),
        y1=max(s["bbox"][3] for s in solid),
        size=round(float(largest["size"]), 1),
        bold=letters[True] > 0 and letters[False] <= 0.1 * letters[True],
        angle=angle,
    )


def _suggests_table(drawings: list[dict[str, Any]], width: float, height: float) -> bool:
    """Whether rules or filled boxes stand as the grid of at least two columns would."""
    xs: set[int] = set()
    ys: set[int] = set()
    for drawing in drawings:
        x0, y0, x1, y1 = drawing["rect"]
        w, h = x1 - x0, y1 - y0
        if w <= 1.5 and h >= 8:
            xs.add(round(x0))
        elif h <= 1.5 and w >= 8:
            ys.add(round(y0))
        elif drawing["type"] == "s" and w >= 8 and h >= 8 and (w < 0.95 * width or h < 0.95 * height):
            for item in drawing["items"]:
                if item[0] == "l":
                    (ax, ay), (bx, by) = item[1], item[2]
                    if abs(ax - bx) <= 1.5:
                        xs.add(round(ax))
                    elif abs(ay - by) <= 1.5:
                        ys.add(round(ay))
                else:
                    xs.update((round(x0), round(x1)))
                    ys.update((round(y0), round(y1)))
        elif w >= 8 and h >= 8 and w < 0.9 * width and h < 0.9 * height:
            xs.update((round(x0), round(x1)))
            ys.update((round(y0), round(y1)))
    return len(xs) >= 3 and len(ys) >= 2


def _fields_and_notes(page: Any) -> list[str]:
    """Filled form fields and the text of visible annotations, one line each."""
    found = []
    for widget in page.widgets() or ():
        value = widget.field_value
        if value not in (None, "", "Off") and widget.field_type_string not in ("Button", "Signature"):
            label = widget.field_label or widget.field_name or "Campo"
            shown = "sí" if widget.field_type_string in ("CheckBox", "RadioButton") else str(value)
            found.append(f"{label}: {shown}")
    for annotation in page.annots() or ():
        content = " ".join(str(annotation.info.get("content", "")).split())
        hidden = annotation.flags & 2 or annotation.flags & 32  # Hidden, NoView
        if content and not hidden and annotation.type[1] not in ("Link", "Popup", "Widget", "FileAttachment"):
            found.append(f"Nota: {content}")
    return found


def render_page(path: Path, *, page: int, passages: tuple[str, ...] = (), zoom: float = 1.6) -> bytes:
    """The page as a PNG, each passage that is found on it marked in yellow.

    A passage is matched by its letters and figures alone, so hyphens and line ends do not matter; of a
    passage that began on the page before or goes on to the next, the part on this page is marked.
    """
    import pymupdf

    with open_pdf(path) as document:
        if not 1 <= page <= document.page_count:
            raise UnreadableDocumentError(f"El documento no tiene página {page}.")
        target = document[page - 1]
        words = target.get_text("words", sort=False)
        for box in _passage_boxes(words, passages):
            mark = target.new_shape()
            x0, y0, x1, y1 = box
            mark.draw_rect(pymupdf.Rect(x0 - 1, y0 - 1, x1 + 1, y1 + 1))
            mark.finish(fill=(1, 0.9, 0.2), color=None, fill_opacity=0.45)
            mark.commit(overlay=True)
        return bytes(target.get_pixmap(matrix=pymupdf.Matrix(zoom, zoom), alpha=False).tobytes("png"))


def _squeeze(text: str) -> str:
    return re.sub(r"[\W_⁰¹²³⁴⁵⁶⁷⁸⁹]+", "", text.casefold())


def _passage_boxes(words: list[Any], passages: tuple[str, ...]) -> list[tuple[float, float, float, float]]:
    """Boxes of the words that make up the passages, found in the page's own or in visual word order."""
    boxes: list[tuple[float, float, float, float]] = []
    visual = sorted(words, key=lambda w: (round(w[3] / 4), w[0]))
    for passage in passages:
        for piece in (passage, *re.split(r"(?<=[.;:])\s+|\n", passage)):
            wanted = _squeeze(piece)
            if len(wanted) < 12 and piece is not passage:
                continue
            hit = next((b for order in (words, visual) if (b := _match(order, wanted))), None)
            if hit:
                boxes.extend(hit)
                if piece is passage:
                    break
    return boxes


def _match(words: list[Any], wanted: str) -> list[tuple[float, float, float, float]] | None:
    text, owner = "", []
    for index, word in enumerate(words):
        part = _squeeze(word[4])
        text += part
        owner.extend([index] * len(part))
    start = text.find(wanted) if wanted else -1
    length = len(wanted)
    if start < 0 and len(wanted) > 40:
        # The part of a passage that is on this page: its longest head at the page's end, or tail at its start.
        for size in range(len(wanted) - 1, 39, -1):
            if text.endswith(wanted[:size]) or (
                (pos := text.rfind(wanted[:size])) >= len(text) - size - 200 > 0 and pos >= 0
            ):
                start, length = text.rfind(wanted[:size]), size
                break
            if (pos := text.find(wanted[-size:])) >= 0 and pos < 200:
                start, length = pos, size
                break
    if start < 0:
        return None
    return [tuple(words[i][:4]) for i in sorted({owner[k] for k in range(start, min(start + length, len(owner)))})]
