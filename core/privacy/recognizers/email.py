"""E-mail addresses, also written with "arroba" or "(at)" and broken over a line.

Presidio's own recogniser is not used: it asks tldextract, which downloads a list on first use.
"""

import re
from collections.abc import Iterator

from core.privacy.gazetteer import gazetteer
from core.privacy.kinds import CERTAIN, Kind, Match

_LOCAL = r"(?<![\w.+%'-])[\w.+%'-]*\w"
_LABEL = r"\w(?:[\w-]*\w)?"
_TLD = r"[^\W\d_]{2,24}(?![\w-])"
_KNOWN_TLD = r"(?:es|com|org|net|eu|cat|eus|gal|info|biz|edu|gob|gov|io|me|pt|fr|de|it|uk|ie|example|test|shop|store|online|app|dev|cloud|xyz|tech|barcelona|uk|cl|mx)(?![\w-])"
_PLAIN = re.compile(rf"{_LOCAL}\s?@\s?(?:{_LABEL}\s?\.\s?(?=\S))*?(?:{_LABEL}\.)+{_TLD}", re.IGNORECASE)
_SPELLED = re.compile(
    rf"{_LOCAL}(?:\s?[(\[{{]\s?(?:at|arroba|@)\s?[)\]}}]\s?|\s+arroba\s+)"
    rf"{_LABEL}(?:(?:\.|\s?[(\[{{]\s?(?:punto|dot)\s?[)\]}}]\s?|\s+punto\s+){_LABEL})*"
    rf"(?:\.|\s?[(\[{{]\s?(?:punto|dot)\s?[)\]}}]\s?|\s+punto\s+){_TLD}",
    re.IGNORECASE,
)
# The end of a line became a blank when the lines were joined: "juan@ejem plo.es", "juan@ejemplo. es".
_SPLIT = re.compile(
    rf"{_LOCAL}\s?@\s?[\w-]+(?:\.[\w-]+)*(?:\.\s|\s\.|\s[\w-]+\.)(?:[\w-]+\.)*{_KNOWN_TLD}", re.IGNORECASE
)
_TAIL_BELOW = re.compile(rf"{_LOCAL}@{_LABEL}(?:\.{_LABEL})*\n\.{_TLD}", re.IGNORECASE)
_NO_TLD = re.compile(rf"{_LOCAL}@(?=[\w.-]{{4}}){_LABEL}(?:\.{_LABEL})*", re.IGNORECASE)
_HEAD = re.compile(r"(?:(?<=[\s:<(])|^)([\w.+%'-]*[\w]+[._+-])\s+$")

_LABELLED_HEAD = re.compile(r"(?:e-?mail|correo(?: electr[oó]nico)?)\s?:\s*([\w.+%'-]+)\n\s*$", re.IGNORECASE)


def find(text: str) -> Iterator[Match]:
    """E-mail addresses in a plain text."""
    if (
        "@" not in text
        and "arroba" not in text.casefold()
        and not re.search(r"[(\[{]\s?at\s?[)\]}]", text, re.IGNORECASE)
    ):
        return
    for pattern in (_PLAIN, _SPELLED, _SPLIT, _TAIL_BELOW, _NO_TLD):
        for match in pattern.finditer(text):
            yield Match(_start(text, match.start()), match.end(), Kind.EMAIL, CERTAIN)


def _start(text: str, start: int) -> int:
    """Where the address begins when its first part ends with a mark at the end of the line above ("juan.\\nperez@")."""
    window = text[max(0, start - 60) : start]
    if labelled := _LABELLED_HEAD.search(window):
        return start - len(window) + labelled.start(1)
    if text[start] in "._+-" and (first := re.search(r"[\w.+%'-]+\s+$", window)):
        return start - len(window) + first.start()  # no address begins with a mark: "juan\n.perez@"
    head = _HEAD.search(window) if "\n" in window[-3:] or window[-2:-1] in "_-+" else None
    if head is None or not window.strip():
        return start
    word = re.findall(r"[^\W\d_]+", head[1])[-1:]
    if head[1].endswith(".") and (not word or word[0] != word[0].lower() or gazetteer().ordinary(word[0])):
        return start  # the end of a sentence
    return start - len(window) + head.start(1)
