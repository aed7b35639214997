"""Words as the lexical side sees them: stems without accents, and how rare each is in the corpus."""

import json
import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path

_WORD = re.compile(r"[^\W_]+(?:[./-][^\W_]+)*")
# Function words, and words by which people ask; they say nothing of the topic.
_STOP = frozenset(
    """a al algo algun alguna alguno algunos ante antes aqui asi aun aunque cada como con contra cual cuales cuando
    cuanta cuantas cuanto cuantos de del desde donde dos e el ella ellas ellos en entre era eres es esa esas ese eso
    esos esta estan estar estas este esto estos estoy fue ha haber hace hacen hacer hacia han has hasta hay he hola la
    las le les lo los mas me mi mis mucho muy nada ni no nos nosotros o os otra otro para pero poco por porque pues que
    quien quienes se sea sean segun ser si sido sin sobre solo son soy su sus tambien tan te tener tengo ti tiene tienen
    toda todas todo todos tu tus un una unas uno unos usted va vamos van vez voy y ya yo puedo puede pueden podria debo
    debe deben quiero necesito saber decir gracias favor cosa cosas pasa dime explica explicame""".split()
)


def fold(text: str) -> str:
    """Lower case without accents (ñ becomes n)."""
    return "".join(ch for ch in unicodedata.normalize("NFD", text.casefold()) if not unicodedata.combining(ch))


@lru_cache(maxsize=1)
def _stemmer() -> object:
    import snowballstemmer

    return snowballstemmer.stemmer("spanish")


@lru_cache(maxsize=200_000)
def stem(word: str) -> str:
    """The Snowball stem of a word, without accents."""
    if any(ch.isdigit() for ch in word):
        return word
    return fold(_stemmer().stemWord(word.casefold()))  # type: ignore[attr-defined]


@lru_cache(maxsize=200_000)
def _meaning(word: str) -> str:
    """The stem of a word that carries meaning, '' of another."""
    return stem(word) if (len(word) > 1 or word.isdigit()) and fold(word) not in _STOP else ""


def stems(text: str) -> list[str]:
    """Stems of the words that carry meaning, in order, repeats included."""
    return [found for match in _WORD.finditer(text) if (found := _meaning(match.group()))]


class TermStatistics:
    """In how many fragments each stem occurs, summed over documents."""

    def __init__(self, frequencies: Mapping[str, int], total: int) -> None:
        self._frequencies = frequencies
        self.total = total

    def weight(self, term: str) -> float:
        """Inverse document frequency as in BM25 (Robertson and Zaragoza, 2009): ln(1 + (N − n + ½)/(n + ½))."""
        n = self._frequencies.get(term, 0)
        return math.log(1 + (self.total - n + 0.5) / (n + 0.5))

    def known(self, term: str) -> bool:
        """Whether the stem occurs anywhere in the corpus."""
        return term in self._frequencies

    @classmethod
    def load(cls, folder: Path, documents: Iterable[str]) -> "TermStatistics":
        """Sum the counts of the given documents (files that `save_terms` wrote)."""
        counts: Counter[str] = Counter()
        total = 0
        for doc_id in documents:
            path = folder / f"{doc_id}.json"
            if path.exists():
                data = json.loads(path.read_text("utf-8"))
                counts.update(data["terms"])
                total += data["fragments"]
        return cls(counts, total)


def save_terms(folder: Path, doc_id: str, texts: Sequence[str]) -> None:
    """Count the stems of a document's fragments and keep the counts."""
    counts: Counter[str] = Counter()
    for text in texts:
        counts.update(set(stems(text)))
    folder.mkdir(parents=True, exist_ok=True)
    partial = folder / f"{doc_id}.partial"
    partial.write_text(json.dumps({"fragments": len(texts), "terms": counts}, ensure_ascii=False), "utf-8")
    partial.replace(folder / f"{doc_id}.json")


def coverage(question_stems: Sequence[str], text: str, terms: TermStatistics) -> float:
    """Share of the question's stems, weighted by inverse document frequency, that ``text`` contains (0..1)."""
    wanted = {term: terms.weight(term) for term in set(question_stems)}
    total = sum(wanted.values())
    if total <= 0:
        return 0.0
    present = set(stems(text))
    return sum(weight for term, weight in wanted.items() if term in present) / total
