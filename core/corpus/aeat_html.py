"""Pages of the AEAT site (instructions, deadlines, procedures of a form) as Markdown."""

import re
from collections.abc import Iterable

from bs4 import BeautifulSoup
from bs4.element import NavigableString, Tag

from core.corpus.html_markdown import (
    ConvertedHtml,
    classes,
    fold,
    heading,
    inline_text,
    iso_date,
    table_to_markdown,
)
from core.errors import UnreadableDocumentError

_MAIN = "main#acc-main"
# What the page itself hides from print, dialogs, side and step navigation, icons, help links, file sizes.
_SITE_PARTS = (
    "script, style, noscript, template, nav, aside, form, dialog, svg, img, i, input, .modal, .sr-only, "
    ".d-print-none, .js-no-imprimir, .js-paginado-pasos, .componente-enlace-ayuda, a > span.small"
)
_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
_LISTS = ("ul", "ol")
_CONTAINERS = frozenset(
    ["div", "section", "article", "header", "blockquote", "details", "summary", "p", "dl", "dt", "dd"]
)
_CENTRED = "texto_cen"
_UPDATED = re.compile(r"(?:Página actualizada|Fecha de actualización)\s*:?\s*([^\s<]+(?: de \w+ de \d{4})?)")


def is_aeat(soup: BeautifulSoup) -> bool:
    """Whether the page is one of the AEAT site."""
    return soup.select_one(_MAIN) is not None


def convert_aeat(soup: BeautifulSoup) -> ConvertedHtml:
    """Convert the page's main content; raises UnreadableDocumentError where it has no text."""
    updated = _UPDATED.search(fold(soup.get_text(" ")))
    document_date = iso_date(updated[1]) if updated else ""
    main = soup.select_one(_MAIN)
    if main is None:
        raise UnreadableDocumentError("La página de la Agencia Tributaria no tiene contenido principal.")
    _remove_site_parts(main)
    title_tag = main.find("h1") or soup.find("title")
    title = inline_text(title_tag) if title_tag else ""
    page = _Page()
    page.walk(main)
    if not page.blocks:
        raise UnreadableDocumentError("La página de la Agencia Tributaria no contiene texto.")
    return ConvertedHtml("\n\n".join(page.blocks) + "\n", document_date, title)


def _remove_site_parts(main: Tag) -> None:
    for button in main.find_all("button"):
        if button.find(_HEADINGS):  # a heading that unfolds its section
            button.unwrap()
        else:
            button.decompose()
    for tag in main.select(_SITE_PARTS):
        if not tag.decomposed:
            tag.decompose()


class _Page:
    """Markdown blocks in reading order, with heading levels that never skip one."""

    def __init__(self) -> None:
        self.blocks: list[str] = []
        self._open: list[int] = []  # the page's own levels of the headings that are open
        self._title_line = False  # the last block is a centred heading, which may go on

    def walk(self, node: Tag) -> None:
        """Write the node's content: text between blocks is a paragraph."""
        inline: list[Tag | NavigableString] = []
        for child in node.children:
            if isinstance(child, Tag) and _is_block(child):
                self._paragraph(inline)
                inline = []
                self._block(child)
            elif isinstance(child, Tag | NavigableString):
                inline.append(child)
        self._paragraph(inline)

    def _block(self, tag: Tag) -> None:
        if tag.name in _HEADINGS:
            self._heading(tag)
        elif tag.name in _LISTS:
            self._add("\n".join(_items(tag)))
        elif tag.name == "table":
            self._add(table_to_markdown(tag))
        else:
            self.walk(tag)

    def _paragraph(self, nodes: Iterable[Tag | NavigableString]) -> None:
        self._add(inline_text(*nodes))

    def _add(self, text: str) -> None:
        if text:
            self.blocks.append(text)
            self._title_line = False

    def _heading(self, tag: Tag) -> None:
        """Write a heading; a title set as several centred lines (tax, regime, form) is one heading."""
        text = inline_text(tag)
        if not text:
            return
        own = _own_level(tag)
        is_centred = _CENTRED in classes(tag)
        if is_centred and self._title_line and self._open[-1] == own:
            self.blocks[-1] += f". {text}"
            return
        while self._open and self._open[-1] >= own:
            self._open.pop()
        self._open.append(own)
        self.blocks.append(heading(len(self._open), text))
        self._title_line = is_centred


def _is_block(tag: Tag) -> bool:
    return (
        tag.name in _HEADINGS
        or tag.name in _LISTS
        or tag.name == "table"
        or tag.name in _CONTAINERS
        or tag.find([*_HEADINGS, *_LISTS, "table", "p"]) is not None
    )


def _own_level(tag: Tag) -> int:
    """The level that the reader sees: a class like ``h3`` on an ``h2`` wins."""
    shown = classes(tag) & frozenset(_HEADINGS)
    return int((min(shown) if shown else tag.name)[1])


def _items(tag: Tag, indent: str = "") -> Iterable[str]:
    """The list's lines; lists inside an item follow it, indented."""
    start = str(tag.get("start", "1"))
    number = int(start) if start.isdecimal() else 1
    for item in tag.find_all("li", recursive=False):
        mark = _mark(tag, number)
        nested = [inner for inner in item.find_all(_LISTS) if inner.find_parent("li") is item]
        for inner in nested:
            inner.extract()
        text = inline_text(item)
        if text:
            yield f"{indent}{mark} {text}"
            number += 1
        for inner in nested:
            yield from _items(inner, indent + " " * (len(mark) + 1) if text else indent)


def _mark(tag: Tag, number: int) -> str:
    if tag.name == "ul":
        return "-"
    letters = {"a": chr(ord("a") + number - 1), "A": chr(ord("A") + number - 1)}
    return f"{letters[str(tag.get('type'))]})" if str(tag.get("type")) in letters else f"{number}."
