"""Whom or which number a question gives for the document that it asks about: «la factura de Endesa», «la F-2026-9».

Where no own document holds it, that document is not there, and another one must not answer in its place.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from core.documents.reference import NOUN
from core.privacy.gazetteer import gazetteer
from core.retrieval.terms import fold

_LINK = r"(?:de|del|con|por|a nombre de)(?: (?:la|el|los|las))?(?: (?:empresa|compañía|sociedad|tienda|casa))?"
# Whose document it is; a capital begins it, but for a word that is no word of the language.
_WHOSE = re.compile(
    rf"\b(?i:{NOUN})(?: [a-záéíóúñ]+){{0,3}}? (?i:{_LINK}) "
    r"(?P<v>[A-ZÁÉÍÓÚÑ][\w&'’-]+(?:,? (?:(?:de|del|y|la|e) )?[A-ZÁÉÍÓÚÑ][\w&'’.-]+)*|[a-záéíóúñ][\w-]{3,})"
)
_NUMBER = re.compile(
    rf"\b(?i:{NOUN})(?: (?i:con))?(?: (?i:n[ºo°.]*|n[uú]m(?:ero|\.)?|ref(?:erencia|\.)?))?:? "
    r"(?P<v>[A-Za-z]{0,5}[-/]?\d[\w/-]{2,})"
)
_DATE = re.compile(r"\d{1,2}[/-]\d{1,2}[/-]\d{2,4}|\d{4}|\d{4}-\d\d-\d\d")
# Said of anybody's documents: they tell none of them from the others.
_COMMON = frozenset(
    "aeat agencia tributaria hacienda seguridad social tesoreria estado españa ayuntamiento tgss dgt boe iva irpf iae dgii "
    "administracion tribunal registro juzgado modelo enero febrero marzo abril mayo junio julio agosto septiembre octubre "
    "noviembre diciembre navidad internet sociedad limitada anonima".split()
)


@dataclass(frozen=True, slots=True)
class Stranger:
    """What a question calls a document by: as written, and what of it can be looked for (folded words or a number)."""

    said: str
    words: tuple[str, ...] = ()
    number: str = ""

    def in_text(self, folded: str) -> bool:
        """Whether a document's folded text and title hold it."""
        if self.number:
            return self.number in "".join(c for c in folded if c.isalnum())
        return any(re.search(rf"(?<![^\W_]){re.escape(word)}", folded) for word in self.words)


def strangers(question: str) -> Iterator[Stranger]:
    """The names and numbers by which the question tells its document from others.

    Names of persons are left out: the documents hold placeholders in their place.
    """
    plain = question if len(fold(question)) == len(question) else ""
    for match in _NUMBER.finditer(plain):
        said = match["v"].rstrip("-/")
        if not _DATE.fullmatch(said):
            yield Stranger(said, number="".join(c for c in fold(said) if c.isalnum()))
    names = gazetteer()
    for match in _WHOSE.finditer(plain):
        words = []
        for word in re.findall(r"[^\W\d_][\w&-]+", match["v"]):
            folded = fold(word)
            usual = folded in _COMMON or len(folded) < 3 or (word[0].islower() and names.ordinary(word))
            if not usual and not names.known(folded):
                words.append(folded)
        if words:
            yield Stranger(match["v"].rstrip(",."), tuple(words))
