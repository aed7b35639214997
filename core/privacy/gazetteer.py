"""First names, surnames and ordinary words: what a capitalised word can be."""

import unicodedata
from dataclasses import dataclass
from functools import lru_cache

from core.config import PROJECT_ROOT
from core.errors import RegisterError

FOLDER = PROJECT_ROOT / "data" / "privacy"
VOCABULARY_PATH = FOLDER / "vocabulario.txt"
# Spanish words from this frequency on (Zipf scale, wordfreq) are ordinary, unless they are in a list of names.
COMMON_ZIPF = 3.4


def fold(word: str) -> str:
    """Lower case without accents; ñ stays a letter of its own."""
    kept = word.casefold().replace("ñ", "\x00")
    plain = "".join(c for c in unicodedata.normalize("NFD", kept) if not unicodedata.combining(c))
    return plain.replace("\x00", "ñ")


@dataclass(frozen=True, slots=True)
class Gazetteer:
    """Folded names. The ``loose`` ones are also ordinary words or places and prove nothing alone."""

    first: frozenset[str]
    loose_first: frozenset[str]
    last: frozenset[str]
    loose_last: frozenset[str]
    vocabulary: frozenset[str]

    def known(self, word: str) -> bool:
        """Whether the folded word is in a list of names."""
        return word in self.first or word in self.loose_first or word in self.last or word in self.loose_last

    def ordinary(self, word: str) -> bool:
        """Whether the word is a word of the language or of the trade and no known name."""
        folded = fold(word)
        if self.known(folded):
            return False
        return folded in self.vocabulary or max(_zipf(word.casefold()), _zipf(folded)) >= COMMON_ZIPF


def _zipf(word: str) -> float:
    from wordfreq import zipf_frequency

    return float(zipf_frequency(word, "es"))


def _words(*filenames: str) -> tuple[frozenset[str], frozenset[str]]:
    """The folded words of the lists, the strong and the loose ones; what a list before has decided stands."""
    strong: set[str] = set()
    loose: set[str] = set()
    for filename in filenames:
        lines = (FOLDER / filename).read_text("utf-8").splitlines()
        words = [word for line in lines if not line.startswith("#") for word in line.split()]
        new_loose = {fold(w[1:]) for w in words if w.startswith("~")} - strong
        new_strong = {fold(w) for w in words if not w.startswith("~")} - new_loose - loose
        strong, loose = strong | new_strong, loose | new_loose
    return frozenset(strong), frozenset(loose)


def _read(first: tuple[str, ...], last: tuple[str, ...]) -> Gazetteer:
    try:
        vocabulary = VOCABULARY_PATH.read_text("utf-8").split() if VOCABULARY_PATH.exists() else []
        return Gazetteer(*_words(*first), *_words(*last), frozenset(vocabulary))
    except OSError as error:
        raise RegisterError(
            "Faltan las listas de nombres de data/privacy, sin las que no se aceptan documentos. "
            "Restaure la carpeta del repositorio."
        ) from error


def hand_made() -> Gazetteer:
    """Only the lists written for this project, without those of the INE."""
    return _read(("nombres.txt",), ("apellidos.txt",))


@lru_cache(maxsize=1)
def gazetteer() -> Gazetteer:
    """The lists of ``data/privacy``, read once (public data).

    Raises:
        RegisterError: a list of names is missing: nothing may be indexed without it.
    """
    return _read(("nombres.txt", "nombres_ine.txt"), ("apellidos.txt", "apellidos_ine.txt"))
