"""Whether the shipped vectors find what vectors computed from nothing would. Needs a complete index.

    python scripts/check_shipped.py [OTHERS]

Embeds anew every fragment that holds evidence of a benchmark question, OTHERS (500) further ones drawn at random, and
the expected questions of all of them; puts these vectors in the shipped ones' place and compares, question by question,
the ranks at which evidence is found. Prints how many differ, never where they lie: the reported half stays unread.
"""

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from core.config import Settings
from core.evaluation.benchmark import Item, answers, load_benchmark
from core.evaluation.run import CUTOFFS, DEPTH
from core.ingestion.fragments import embedding_text
from core.retrieval.adapter import IDENTITY
from core.retrieval.search import HybridSearch
from core.retrieval.snapshot import take_snapshot
from core.services import build_services

SEED = 20261130


def evidence(search: HybridSearch, item: Item) -> list[bool]:
    """Which of the first fragments hold the item's evidence."""
    return [answers(item, hit.fragment) for hit in search.run(item.question, DEPTH).found]


def main() -> int:
    """Compare; 1 where a hit at any of the benchmark's cutoffs differs."""
    others = int(sys.argv[1]) if len(sys.argv) > 1 else 500
    services = build_services(Settings())
    items = [item for item in load_benchmark() if item.gold]
    raw = take_snapshot(services.store, services.questions, IDENTITY)
    gold = [i for i, f in enumerate(raw.fragments) if any(answers(item, f) for item in items)]
    rest = np.setdiff1d(np.arange(len(raw.fragments)), gold)
    chosen = [*gold, *(int(i) for i in np.random.default_rng(SEED).choice(rest, min(others, len(rest)), replace=False))]
    asked = [j for i in chosen for j in raw.questions_of[i]]
    passages, questions = raw.passages.copy(), raw.questions.copy()
    passages[chosen] = services.embedder.embed_passages([embedding_text(raw.fragments[i]) for i in chosen])
    questions[asked] = services.embedder.embed_questions([raw.question_texts[j] for j in asked])
    cosines = np.concatenate(
        [(passages * raw.passages)[chosen].sum(axis=1), (questions * raw.questions)[asked].sum(axis=1)]
    )
    print(f"{len(gold)} fragments with evidence, {len(chosen) - len(gold)} others, {len(asked)} expected questions")
    print(f"cosine of shipped and computed: least {cosines.min():.4f}, mean {cosines.mean():.5f}")
    shipped = services.search()
    adapter = services.adapter
    anew = replace(
        shipped,
        snapshot=replace(raw, passages=adapter.passages(passages), questions=adapter.questions(questions)),
    )
    pairs = [(evidence(shipped, item), evidence(anew, item)) for item in items]
    differ = {k: sum(any(a[:k]) is not any(b[:k]) for a, b in pairs) for k in CUTOFFS}
    print(f"{len(items)} questions; hits that differ at each cutoff: {differ}")
    return int(any(differ.values()))


if __name__ == "__main__":
    raise SystemExit(main())
