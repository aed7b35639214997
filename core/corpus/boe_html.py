"""Consolidated text of the BOE (``act.php?id=BOE-A-…``) as Markdown.

The page holds the norm as a flat run of ``div.bloque``; only the headings' classes tell the hierarchy, so it
is written as heading levels: 1 the norm, and the Reglamento that a Real Decreto approves; 2 titles,
disposiciones, annexes; 3 chapters; 4 sections; 5 subsections; 6 articles. A disposición is not an article of
the last title, hence its own level. The preamble has level 6, so that the articles after it are not inside
it, and the numbers and names of its parts are plain paragraphs.
"""

import re
from collections.abc import Iterator

from bs4 import BeautifulSoup
from bs4.element import Tag

from core.corpus.html_markdown import (
    ConvertedHtml,
    classes,
    fold,
    heading,
    inline_text,
    iso_date,
    iso_dates,
    table_to_markdown,
)
from core.errors import UnreadableDocumentError

_LEVELS = {"libro": 1, "titulo": 2, "anexo": 2, "capitulo": 3, "seccion": 4, "subseccion": 5, "articulo": 6}
_ARTICLE = 6
_HEADINGS = ("h4", "h5")
_SITE_PARAGRAPHS = frozenset({"bloque", "linkSubir", "pie_unico"})
_DROPPED_QUOTES = frozenset({"docrel", "notaInicial"})
_REFERENCE = re.compile(r"\s*Ref\. BOE-[A-Z]-\d{4}-\d+(?:\s*\.)?")
_VERSION = re.compile(r"publicad[oa] el (\S+), en vigor a partir del (\d\d/\d\d/\d{4})")

# Notes of the BOE's editors under an article. Most are its history and go; these state an effect and stay.
_EFFECT = re.compile(
    r"^T[eé]ngase en cuenta|^El interés de demora|^Se reducen? |^Se convierten? a euros"
    r"|^Se dejan? sin efecto, en cuanto|^Las? primeras? declaraci|entran? en vigor cuando"
)
_ANNULMENT = re.compile(r"^Se (?:anulan?|declaran?|suspenden?) ")
# The wording was already so before this change, or the words it speaks of are no longer marked in the text.
_WITHOUT_OBJECT = re.compile(r"\bya (?:fue|estaba)\b|\binciso destacado\b")


def is_boe(soup: BeautifulSoup) -> bool:
    """Whether the page is a consolidated text of the BOE."""
    return soup.select_one("div#textoxslt div.bloque") is not None


def convert_boe(soup: BeautifulSoup) -> ConvertedHtml:
    """Convert the norm as in force on the page; raises UnreadableDocumentError where it has no title."""
    title_tag = soup.select_one(".documento-tit")
    title = inline_text(title_tag) if title_tag else ""
    if not title:
        raise UnreadableDocumentError("El texto consolidado del BOE no indica el título de la norma.")
    document_date = _document_date(soup)
    labels = _block_labels(soup)
    written = [heading(1, title)]
    for block in soup.select("div#textoxslt div.bloque"):
        written.extend(_block(block, labels.get(str(block.get("id", "")), ""), document_date))
    return ConvertedHtml("\n\n".join(written) + "\n", document_date, title)


def _document_date(soup: BeautifulSoup) -> str:
    """The last update's date; for a norm never changed, the date on which it was published."""
    shown = soup.select_one("label.version-actual")
    metadata = soup.select_one("dl.conso dd")
    return iso_date(inline_text(shown) if shown else "") or iso_date(inline_text(metadata) if metadata else "")


def _block_labels(soup: BeautifulSoup) -> dict[str, str]:
    """Names that the page's index gives to blocks without a heading: [Preámbulo], [Firma]."""
    links = {
        str(link.get("href", "")).lstrip("#"): fold(link.get_text()) for link in soup.select("#lista-marcadores a")
    }
    return {name: text.strip("[]") for name, text in links.items() if text.startswith("[")}


def _block(block: Tag, label: str, document_date: str) -> Iterator[str]:
    """The block's Markdown paragraphs, after its heading and a note if it is not in force yet."""
    is_preamble = label == "Preámbulo"
    pending = _not_yet_in_force(block, document_date)
    if label:
        yield heading(_ARTICLE if is_preamble else _LEVELS["titulo"], label)
    for part in _joined_headings(block):
        if isinstance(part, Tag):
            yield from _content(part, document_date)
            continue
        level, text = part
        yield text if is_preamble else heading(level, text)
        yield from pending
        pending = []


def _joined_headings(block: Tag) -> Iterator[Tag | tuple[int, str]]:
    """The block's children; heading lines that belong together ("CAPÍTULO II", "Requisitos") as one."""
    level, text = 0, ""
    for child in block.find_all(True, recursive=False):
        if child.name not in _HEADINGS:
            if text:
                yield level, text
            level, text = 0, ""
            yield child
            continue
        line = inline_text(child)
        if not line:
            continue
        if text and any(name.endswith("_tit") for name in classes(child)):
            text = f"{text.rstrip('.')}. {line}"
        else:
            if text:
                yield level, text
            level, text = _level(child, line), line
        if "REGLAMENTO" in line and level == _LEVELS["anexo"]:
            level = _LEVELS["libro"]
    if text:
        yield level, text


def _level(tag: Tag, text: str) -> int:
    name = next((name for name in classes(tag) if name.split("_")[0] in _LEVELS), "articulo")
    level = _LEVELS[name.split("_")[0]]
    return _LEVELS["titulo"] if level == _ARTICLE and text.startswith("Disposici") else level


def _content(tag: Tag, document_date: str) -> Iterator[str]:
    """What is normative in one child of a block, or a note with an effect; nothing of the site's own."""
    names = classes(tag)
    if tag.name in ("form", "hr", "script", "img") or names & (_SITE_PARAGRAPHS | _DROPPED_QUOTES):
        return
    if tag.name == "table":
        texts = [table_to_markdown(tag)]
    elif tag.name == "blockquote" and "siempreSeVe" in names:
        texts = [_note(_without_reference(line)) for line in tag.find_all("p")]
    elif tag.name == "blockquote" and not names:
        texts = [_note(text) for text in _notes_with_effect(tag, document_date)]
    elif tag.find(["p", "table"]):
        texts = [text for child in tag.find_all(True, recursive=False) for text in _content(child, document_date)]
    else:
        texts = [inline_text(tag)]
    yield from filter(None, texts)


def _note(text: str) -> str:
    return f"Nota del BOE: {text}"


def _notes_with_effect(quote: Tag, document_date: str) -> Iterator[str]:
    """The notes (newest first on the page) that change what the reader should understand.

    A second-level note speaks of the change named above it ("la citada Ley"), so it is given with it. The
    annulment of a wording stays only while no later change has replaced that wording.
    """
    change, is_newest = "", True
    for line in quote.find_all("p"):
        text = _without_reference(line)
        is_detail = "nota_pie_2" in classes(line)
        has_effect = _EFFECT.search(text) is not None
        if is_detail:
            has_effect = has_effect or any(date > document_date for date in iso_dates(text))
        else:
            has_effect = has_effect or (is_newest and _ANNULMENT.search(text) is not None)
        if has_effect and not _WITHOUT_OBJECT.search(text):
            yield f"{change} {text}" if is_detail and change else text
        if not is_detail:
            change, is_newest = text, False


def _without_reference(line: Tag) -> str:
    return _REFERENCE.sub("", inline_text(line)).rstrip(" .") + "."


def _not_yet_in_force(block: Tag, document_date: str) -> list[str]:
    """A note where the wording shown takes effect after the page's last update."""
    shown = block.select_one("form input[checked] + label") or block.select_one("p.pie_unico")
    version = _VERSION.search(inline_text(shown)) if shown else None
    if version is None or iso_date(version[2]) <= document_date:
        return []
    return [_note(f"Redacción publicada el {version[1]}, en vigor a partir del {version[2]}.")]
