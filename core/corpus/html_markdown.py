"""Official web pages (BOE consolidated text, AEAT site) as Markdown: the entry point and the shared parts."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from bs4 import BeautifulSoup
from bs4.element import NavigableString, Tag

from core.errors import UnreadableDocumentError

_SUPERSCRIPT = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
_SUBSCRIPT = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
_INVISIBLE = str.maketrans("", "", "\u00ad\u200b\u200c\u200d\ufeff")
_BLOCK_TAGS = frozenset(
    [
        "p",
        "div",
        "section",
        "blockquote",
        "table",
        "tr",
        "td",
        "th",
        "dl",
        "dt",
        "dd",
        "ul",
        "ol",
        "li",
        "time",
    ]
)
_DOUBLE_MARK = re.compile(r"(?<=[.;:,]);")
_MONTHS = ["enero", "febrero", "marzo", "abril", "mayo", "junio"]
_MONTHS += ["julio", "agosto", "septiembre", "octubre", "noviembre", "diciembre"]


@dataclass(frozen=True, slots=True)
class ConvertedHtml:
    """A page's content as Markdown. ``document_date`` is ISO, or '' where the page states none."""

    markdown: str
    document_date: str
    title: str


def html_to_markdown(html: bytes) -> ConvertedHtml:
    """Convert a page of a known structure; the bytes carry their own encoding.

    Raises UnreadableDocumentError for a page that is neither a BOE consolidated text nor an AEAT page.
    """
    # The two converters are made of this module's parts, so they are imported here and not above.
    from core.corpus.aeat_html import convert_aeat, is_aeat
    from core.corpus.boe_html import convert_boe, is_boe

    soup = BeautifulSoup(html, "lxml")
    if is_boe(soup):
        return convert_boe(soup)
    if is_aeat(soup):
        return convert_aeat(soup)
    raise UnreadableDocumentError(
        "La página no tiene la estructura conocida de un texto consolidado del BOE ni de una página de la "
        "Agencia Tributaria. Compruebe que la dirección y el archivo son los del registro de documentos."
    )


def fold(text: str) -> str:
    """The text with every run of white space (no-break spaces too) as one space, and no invisible marks."""
    return " ".join(text.translate(_INVISIBLE).split())


def classes(tag: Tag) -> frozenset[str]:
    """The tag's CSS classes."""
    return frozenset(value for value in tag.get_attribute_list("class") if value)


def inline_text(*nodes: Tag | NavigableString) -> str:
    """The nodes' text in one line; raised or lowered digits become ¹ or ₁ so as not to join a number."""
    parts: list[str] = []
    for node in nodes:
        _collect(node, parts)
    return fold("".join(parts))


def _collect(node: Tag | NavigableString, parts: list[str]) -> None:
    if isinstance(node, NavigableString):
        if type(node) is NavigableString:  # not a comment nor another special string
            parts.append(str(node))
        return
    if node.name == "br":
        parts.append(" ")
        return
    if node.name in ("ul", "ol"):  # inside a line, as in a table's cell
        items = "; ".join(inline_text(item) for item in node.find_all("li", recursive=False))
        parts.append(f" {_DOUBLE_MARK.sub('', items)} ")
        return
    inner: list[str] = []
    for child in node.children:
        if isinstance(child, Tag | NavigableString):
            _collect(child, inner)
    text = "".join(inner)
    if node.name == "sup":
        text = text.translate(_SUPERSCRIPT)
    elif node.name == "sub":
        text = text.translate(_SUBSCRIPT)
    elif node.name in _BLOCK_TAGS:
        text = f" {text} "
    parts.append(text)


def heading(level: int, text: str) -> str:
    """A Markdown heading; levels past the sixth stay on it."""
    return f"{'#' * min(level, 6)} {text}"


def table_to_markdown(table: Tag) -> str:
    """A pipe table, after its caption if it has one; '' for a table without text.

    A cell that spans rows or columns is repeated in each, so that every row reads on its own. Several header
    rows become one ("N.º de hijos: 2 o más"). A table without header cells gets an empty header row.
    """
    rows = [row for row in table.find_all("tr") if row.find_parent("table") is table]
    grid = _grid(rows)
    count = _header_rows(table, rows)
    header = [_merged(column) for column in zip(*grid[:count], strict=True)]
    body = [row for row in grid[count:] if any(row)]
    if not any(header) and not body:
        return ""
    width = len(grid[0])
    lines = [_row(header or [""] * width), _row(["---"] * width), *map(_row, body)]
    caption = table.find("caption")
    title = inline_text(caption) if caption else ""
    return "\n".join([title, "", *lines] if title else lines)


def _grid(rows: Sequence[Tag]) -> list[list[str]]:
    """The cells' texts in their places, spans filled in; a row span ends at the last row at the latest."""
    filled: dict[tuple[int, int], str] = {}
    for index, row in enumerate(rows):
        column = 0
        for cell in row.find_all(["td", "th"], recursive=False):
            while (index, column) in filled:
                column += 1
            text = inline_text(cell)
            across, down = _span(cell, "colspan"), _span(cell, "rowspan")
            for below in range(index, min(index + down, len(rows))):
                filled.update({(below, column + step): text for step in range(across)})
            column += across
    width = max((column for _, column in filled), default=-1) + 1
    return [[filled.get((index, column), "") for column in range(width)] for index in range(len(rows))]


def _span(cell: Tag, name: str) -> int:
    value = str(cell.get(name, ""))
    return max(1, int(value)) if value.isdecimal() else 1


def _header_rows(table: Tag, rows: Sequence[Tag]) -> int:
    head = table.find("thead")
    if head:
        return len([row for row in rows if row.find_parent("thead") is head])
    count = 0
    while count < len(rows) and rows[count].find("th") and not rows[count].find("td"):
        count += 1
    return count


def _merged(texts: Sequence[str]) -> str:
    return ": ".join(dict.fromkeys(text for text in texts if text))


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def iso_date(text: str) -> str:
    """The first date of the text (31/03/2026, 16/marzo/2026, 1 de enero de 2026) as ISO, or ''."""
    return next(iter(iso_dates(text)), "")


def iso_dates(text: str) -> list[str]:
    """All dates of the text as ISO, in order."""
    found = re.findall(r"(\d{1,2})\.?º?(?:/| de )(\d{1,2}|[a-z]+)(?:/| de )(\d{4})", text.lower())
    dates = []
    for day, month, year in found:
        number = int(month) if month.isdecimal() else _MONTHS.index(month) + 1 if month in _MONTHS else 0
        if number:
            dates.append(f"{year}-{number:02}-{int(day):02}")
    return dates
