"""Train the relevance of private fragments on public ones treated as if they were private.

    python scripts/train_private.py

Needs a complete index. A "session" is a stretch of one to 200 fragments of one official document; the question is an
expected question of the second round, in half of the sessions of a fragment that is in the stretch, else of one that is
not (half of these of the same document), or one of ``data/training/unanswerable.jsonl``. Expected questions are withheld
from the features, and the adapter is trained on the first round only, so it has not seen the questions. The benchmark
is not read. Writes ``data/models/private.npz``; the same index and seed give the same file.
"""

import json
import sys
from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from core.config import PROJECT_ROOT, Settings
from core.documents.relevance import MODEL_PATH, NAMES, Asked, RelevanceModel, WordTable, features, save_relevance
from core.retrieval.adapter import IDENTITY
from core.retrieval.expected import load_expected
from core.retrieval.snapshot import take_snapshot
from core.retrieval.terms import TermStatistics
from core.services import build_services
from scripts.train_retrieval import TWIN_COSINE, adapted, train_adapter

SEED = 20261130
QUESTIONS, UNANSWERABLE_TIMES = 6000, 2
SIZES = (1, 2, 3, 5, 8, 15, 30, 60, 200)
DEPTH, STRENGTH, HELD_OUT = 20, 1.0, 0.25


def main() -> None:
    """Train, print how well it is calibrated on sessions held out, and write the model."""
    rng = np.random.default_rng(SEED)
    services = build_services(Settings())
    raw = take_snapshot(services.store, services.questions, IDENTITY)
    terms = TermStatistics.load(services.indexer.terms_dir, services.manifest().documents)
    later = {q for items in load_expected().values() for item in items for q in item.second}
    second = [j for j, q in enumerate(raw.question_texts) if q in later]
    first_round: dict[int, list[int]] = {}
    for j, i in enumerate(raw.owners):
        if raw.question_texts[j] not in later:
            first_round.setdefault(int(i), []).append(j)
    adapter = train_adapter(raw, first_round)
    snapshot = adapted(raw, adapter)
    of_document: dict[str, tuple[int, int]] = {}
    for i, fragment in enumerate(raw.fragments):
        start, _ = of_document.get(fragment.doc_id, (i, i))
        of_document[fragment.doc_id] = (start, i + 1)
    names = sorted(of_document)
    cases: list[tuple[str, np.ndarray, np.ndarray, int | None]] = [
        (raw.question_texts[j], raw.questions[j], snapshot.questions[j], int(raw.owners[j]))
        for j in rng.choice(second, size=min(QUESTIONS, len(second)), replace=False)
    ]
    lines = (PROJECT_ROOT / "data" / "training" / "unanswerable.jsonl").read_text("utf-8").splitlines()
    texts = [json.loads(line)["q"] for line in lines]
    for text, vector in zip(texts, services.embedder.embed_questions(texts), strict=True):
        cases += [(text, vector, adapter.questions(vector[None, :])[0], None)] * UNANSWERABLE_TIMES

    counted = WordTable(raw.fragments)  # each fragment's words are counted once for all sessions
    rows, labels, groups, answered = [], [], [], []
    for number, (text, vector, moved, owner) in enumerate(cases):
        size = int(rng.choice(SIZES))
        here = owner is not None and rng.random() < 0.65
        same_document = owner is not None and rng.random() < 0.5
        doc = raw.fragments[owner].doc_id if owner is not None and (here or same_document) else str(rng.choice(names))
        low, high = of_document[doc]
        if here and owner is not None:
            start = int(rng.integers(max(low, owner - size + 1), owner + 1))
        else:
            start = int(rng.integers(low, max(low + 1, high - size)))
        places = np.arange(start, min(start + size, high))
        right = places == owner if owner is not None else np.zeros(len(places), dtype=bool)
        if not here and right.any():
            continue
        found = features(
            Asked(text, vector, moved),
            stretch(counted, places),
            raw=raw.passages[places],
            adapted=snapshot.passages[places],
            terms=terms,
        )
        keep = np.argsort(-(found[:, 0] + found[:, NAMES.index("coverage")]), kind="stable")[:DEPTH]
        if owner is not None:  # what is nearly the same as the right one may answer as well
            twins = (snapshot.passages[places[keep]] @ snapshot.passages[owner] > TWIN_COSINE) & ~right[keep]
            keep = keep[~twins]
        rows.append(found[keep])
        labels.append(right[keep])
        groups.append(np.full(len(keep), number))
        answered.append(bool(right.any()))
    x, y, group = np.concatenate(rows), np.concatenate(labels), np.concatenate(groups)
    base_rate = float(np.mean(answered))
    means, scales = x.mean(axis=0).astype(float), x.std(axis=0).astype(float) + 1e-6

    def fit(chosen: np.ndarray) -> RelevanceModel:
        model = LogisticRegression(C=STRENGTH, max_iter=5000).fit((x[chosen] - means) / scales, y[chosen])
        return RelevanceModel(np.concatenate([model.coef_[0], model.intercept_]), means, scales, base_rate)

    held = np.isin(group, rng.permutation(np.unique(group))[: int(HELD_OUT * len(answered))])
    report(fit(~held), x[held], y[held], group[held], base_rate)
    final = fit(np.ones(len(y), dtype=bool))
    save_relevance(MODEL_PATH, final)
    print({name: round(float(w), 2) for name, w in zip(NAMES, final.weights, strict=False)})


def stretch(counted: WordTable, places: np.ndarray) -> WordTable:
    """The words of some of the fragments, as a session of their own would count them."""
    words = WordTable([counted.fragments[i] for i in places])
    words.__dict__["bodies"] = [counted.bodies[i] for i in places]
    words.__dict__["headings"] = [counted.headings[i] for i in places]
    return words


def report(model: RelevanceModel, x: np.ndarray, y: np.ndarray, group: np.ndarray, base_rate: float) -> None:
    """Calibration of the best fragment of each session held out, and how well it separates."""
    p = model.probabilities(x, prior=base_rate)
    best, right = [], []
    for number in np.unique(group):
        mine = np.flatnonzero(group == number)
        top = mine[np.argmax(p[mine])]
        best.append(p[top])
        right.append(y[top])
    scores, hits = np.array(best), np.array(right, dtype=float)
    error = 0.0
    for low in np.arange(0, 1, 0.1):
        mine = (scores >= low) & (scores < low + 0.1 + 1e-9 * (low > 0.85))
        if mine.any():
            error += mine.mean() * abs(scores[mine].mean() - hits[mine].mean())
            print(f"  {low:.1f}: said {scores[mine].mean():.2f}, was {hits[mine].mean():.2f} ({mine.sum()})")
    print(
        f"{len(scores)} sessions held out, base rate {base_rate:.2f}: AUROC {roc_auc_score(hits, scores):.3f}, ECE {error:.3f}"
    )


if __name__ == "__main__":
    main()
