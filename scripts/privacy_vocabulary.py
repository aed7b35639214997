"""Write ``data/privacy/vocabulario.txt``: rare words that the official documents use in lower case.

A capitalised word of that list is a term of the trade, not a name. Words that wordfreq knows as common are left out
(the product asks wordfreq for those). Run it again when the corpus changes: ``python scripts/privacy_vocabulary.py``.
"""

import re
import sys
from pathlib import Path

import pymupdf
from wordfreq import zipf_frequency

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from core.config import Settings  # noqa: E402
from core.privacy.gazetteer import COMMON_ZIPF, VOCABULARY_PATH, fold, gazetteer  # noqa: E402


def main() -> int:
    words: dict[str, int] = {}
    for path in sorted(Settings().corpus_dir.iterdir()):
        if path.suffix == ".md":
            texts = [path.read_text("utf-8")]
        elif path.suffix == ".pdf":
            texts = [page.get_text() for page in pymupdf.open(path)]
        else:
            continue
        for text in texts:
            for word in re.findall(r"(?<![\w-])[a-záéíóúüñç]{4,}(?![\w-])", text):
                words[word] = words.get(word, 0) + 1
    names = gazetteer()
    kept = sorted(
        {
            fold(word)
            for word, count in words.items()
            if count > 1 and zipf_frequency(word, "es") < COMMON_ZIPF and not names.known(fold(word))
        }
    )
    VOCABULARY_PATH.write_text("\n".join(kept) + "\n", "utf-8")
    print(f"{len(kept)} palabras")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
