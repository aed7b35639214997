"""Measure the detection of personal data and write ``data/eval/pii_recall.json``, the figures the product shows.

``python scripts/measure_pii.py [--pages 200]``: the frozen set, the harder one, and random pages of the manuals of
Renta and IVA read as if they were private.
"""

import argparse
import datetime
import json
import random
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from core.config import Settings  # noqa: E402
from core.privacy.measure import RECALL_PATH, measure, share_redacted  # noqa: E402
from core.privacy.redactor import Redactor  # noqa: E402
from tests.pii_generator import SETS, load  # noqa: E402

MANUALS = ("ManualRenta2025Parte1_es_es.pdf", "Manual_IVA_2025.pdf")


def manual_pages(folder: Path, total: int, *, seed: int = 20261130) -> list[str]:
    """The text of random pages of the manuals, always the same ones."""
    import pymupdf

    books = [pymupdf.open(folder / name) for name in MANUALS]
    places = [(book, page) for book in books for page in range(len(book))]
    return [book[page].get_text() for book, page in random.Random(seed).sample(places, total)]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, default=200)
    args = parser.parse_args()
    settings = Settings()
    engine = Redactor(settings).load()
    report: dict[str, object] = {"date": datetime.datetime.now(datetime.UTC).date().isoformat()}
    for name in SETS:
        cases = load(name)
        rows = measure(cases, engine.find)
        report[name] = {
            "texts": len(cases),
            "kinds": {r.kind.value: {"n": r.total, "recall": round(r.recall, 4)} for r in rows},
        }
        print(f"{name}: {len(cases)} textos")
        for row in rows:
            print(f"  {row.kind:15}{row.total:6}{row.recall:9.4f}")
    touched, words = share_redacted(manual_pages(settings.corpus_dir, args.pages), engine.find)
    report["manuals"] = {"pages": args.pages, "words": words, "share_redacted": round(touched / words, 5)}
    print(f"manuales: {touched} de {words} palabras ({touched / words:.3%}) en {args.pages} páginas")
    RECALL_PATH.write_text(json.dumps(report, ensure_ascii=False, indent=1) + "\n", "utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
