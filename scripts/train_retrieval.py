"""Train the adapter and the reranker on the expected questions. Needs a complete index (``python -m core index``).

    python scripts/train_retrieval.py

Writes ``data/models/adapter.npz`` and ``data/models/reranker.npz``; the same index and seed give the same files.
The questions of the first round of writing play the part of the index, those of the second round the user's:
they were written later, from the same fragments, in other words. Questions that the corpus does not answer
(``data/training/unanswerable.jsonl``) have no right fragment. The benchmark's ``dev`` half only sets the two numbers
of the calibration; its ``test`` half is not read here.
"""

import json
import random
import sys
from pathlib import Path

import numpy as np
import torch
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from torch.nn import functional

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from core.config import PROJECT_ROOT, Settings
from core.evaluation.benchmark import answers, load_benchmark
from core.retrieval.adapter import ADAPTER_PATH, IDENTITY, Adapter, save_adapter
from core.retrieval.expected import load_expected
from core.retrieval.features import NAMES, Signals, gather
from core.retrieval.reranker import RERANKER_PATH, TrainedReranker, save_reranker
from core.retrieval.snapshot import Snapshot, take_snapshot
from core.retrieval.terms import TermStatistics
from core.services import Services, build_services

SEED = 20261130
EPOCHS, BATCH, LEARNING_RATE, TEMPERATURE, PASSAGE_WEIGHT = 30, 256, 3e-4, 0.02, 0.5
QUERIES = 7000
TREES, DEPTH, MIN_LEAF, RATE = 160, 4, 60, 0.06
HARD, EASY = 20, 10
# Fragments nearer than this to the right one may answer as well: they are no negatives.
TWIN_COSINE = 0.93
TEXT_DEPTH = 600


def train_adapter(snapshot: Snapshot, groups: dict[int, list[int]]) -> Adapter:
    """InfoNCE over pairs of questions of one fragment, and over questions and their fragment."""
    torch.manual_seed(SEED)
    rng = np.random.default_rng(SEED)
    questions, passages = torch.tensor(snapshot.questions), torch.tensor(snapshot.passages)
    size = questions.shape[1]
    maps = [torch.nn.Linear(size, size, bias=False) for _ in range(2)]
    with torch.no_grad():
        for layer in maps:
            layer.weight.copy_(torch.eye(size))
    optimizer = torch.optim.AdamW([p for layer in maps for p in layer.parameters()], lr=LEARNING_RATE, weight_decay=0)
    owners = np.array([i for i, js in groups.items() if len(js) >= 2])
    target = torch.arange(BATCH)
    for _ in range(EPOCHS):
        order = rng.permutation(owners)
        for start in range(0, len(order) - BATCH + 1, BATCH):
            batch = order[start : start + BATCH]
            pairs = np.array([rng.choice(groups[int(i)], 2, replace=False) for i in batch])
            first = functional.normalize(maps[0](questions[pairs[:, 0]]), dim=1)
            second = functional.normalize(maps[0](questions[pairs[:, 1]]), dim=1)
            own = functional.normalize(maps[1](passages[batch]), dim=1)
            loss = functional.cross_entropy(first @ second.T / TEMPERATURE, target)
            loss = loss + PASSAGE_WEIGHT * functional.cross_entropy(first @ own.T / TEMPERATURE, target)
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
    weights = [layer.weight.detach().numpy().astype(np.float16).astype(np.float32) for layer in maps]
    return Adapter(weights[0], weights[1])


def adapted(raw: Snapshot, adapter: Adapter) -> Snapshot:
    """The same snapshot under an adapter."""
    return Snapshot(
        fragments=raw.fragments,
        passages=adapter.passages(raw.passages),
        question_ids=raw.question_ids,
        question_texts=raw.question_texts,
        questions=adapter.questions(raw.questions),
        owners=raw.owners,
    )


def signals_for(services: Services, snapshot: Snapshot, text: str, vector: np.ndarray) -> Signals:
    """As `HybridSearch.signals`, deep enough that questions left out can be replaced by others."""
    place, question_place = snapshot.place, snapshot.question_place
    return Signals(
        text,
        vector,
        {place[f.id]: s for f, s in services.store.full_text(text, 40) if f.id in place},
        {question_place[q]: s for q, s in services.questions.full_text(text, TEXT_DEPTH) if q in question_place},
    )


def main() -> None:
    """Train both and write them."""
    random.seed(SEED)
    rng = np.random.default_rng(SEED)
    services = build_services(Settings())
    raw = take_snapshot(services.store, services.questions, IDENTITY)
    terms = TermStatistics.load(services.indexer.terms_dir, services.manifest().documents)
    later = {q for items in load_expected().values() for item in items for q in item.second}
    second = {j for j, q in enumerate(raw.question_texts) if q in later}
    print(f"{len(raw.fragments)} fragments, {len(raw.question_texts)} questions, {len(second)} of the second round")

    first_round: dict[int, list[int]] = {}
    both: dict[int, list[int]] = {}
    for j, i in enumerate(raw.owners):
        both.setdefault(int(i), []).append(j)
        if j not in second:
            first_round.setdefault(int(i), []).append(j)
    honest_adapter = train_adapter(raw, first_round)  # has not seen the questions that it is tried on
    honest = adapted(raw, honest_adapter)

    features, labels = [], []
    queries = rng.permutation([j for j in sorted(second) if first_round.get(int(raw.owners[j]))])[:QUERIES]
    for j in queries:
        owner = int(raw.owners[j])
        found = gather(
            honest, signals_for(services, honest, raw.question_texts[j], honest.questions[j]), terms, without=second
        )
        right = np.array([i == owner for i in found.places])
        order = np.argsort(-found.feature("rank_sum"))
        rest = order[HARD:]
        chosen = np.concatenate([order[:HARD], rng.choice(rest, size=min(EASY, len(rest)), replace=False)])
        twins = honest.passages[[found.places[c] for c in chosen]] @ honest.passages[owner] > TWIN_COSINE
        chosen = chosen[~twins | right[chosen]]
        features.append(found.features[chosen])
        labels.append(right[chosen])
    hits = sum(int(y.any()) for y in labels)
    print(f"{len(queries)} queries, {hits} with the right fragment among the candidates")
    lines = (PROJECT_ROOT / "data" / "training" / "unanswerable.jsonl").read_text("utf-8").splitlines()
    for line in lines:
        text = json.loads(line)["q"]
        vector = honest_adapter.questions(services.embedder.embed_query(text)[None, :])[0]
        found = gather(honest, signals_for(services, honest, text, vector), terms, without=second)
        order = np.argsort(-found.feature("rank_sum"))[:HARD]
        features.append(found.features[order])
        labels.append(np.zeros(len(order), dtype=bool))

    model = HistGradientBoostingClassifier(
        max_iter=TREES,
        max_depth=DEPTH,
        min_samples_leaf=MIN_LEAF,
        learning_rate=RATE,
        l2_regularization=1.0,
        random_state=SEED,
    ).fit(np.concatenate(features), np.concatenate(labels))
    reranker = as_arrays(model)
    check = np.concatenate(features)[:500]
    assert np.allclose(reranker.log_odds(check), model.decision_function(check), atol=1e-4)

    final = train_adapter(raw, both)
    assert final.question is not None and final.passage is not None
    save_adapter(
        ADAPTER_PATH, question=final.question, passage=final.passage, fingerprint=services.embedder.fingerprint
    )
    reranker = calibrate(services, adapted(raw, final), final, terms, reranker)
    save_reranker(RERANKER_PATH, reranker)


def as_arrays(model: HistGradientBoostingClassifier) -> TrainedReranker:
    """The fitted trees as plain arrays."""
    trees = [stage[0].nodes for stage in model._predictors]
    width = max(len(t) for t in trees)

    def column(name: str, dtype: type) -> np.ndarray:
        return np.array([np.pad(t[name].astype(dtype), (0, width - len(t))) for t in trees])

    leaf = column("is_leaf", bool)
    left, right = column("left", np.int16), column("right", np.int16)
    left[leaf] = right[leaf] = 0
    value = column("value", np.float32)
    return TrainedReranker(
        feature=column("feature_idx", np.int16),
        threshold=column("num_threshold", np.float32),
        left=left,
        right=right,
        value=value,
        baseline=float(model._baseline_prediction.ravel()[0]),
        slope=1.0,
        offset=0.0,
        depth=DEPTH + 1,
    )


def calibrate(
    services: Services, snapshot: Snapshot, adapter: Adapter, terms: TermStatistics, reranker: TrainedReranker
) -> TrainedReranker:
    """Platt scaling on the best fragment of each ``dev`` question, answerable or not."""
    from dataclasses import replace

    scores, right = [], []
    for item in load_benchmark():
        if item.split != "dev":
            continue
        vector = adapter.questions(services.embedder.embed_query(item.question)[None, :])[0]
        found = gather(snapshot, signals_for(services, snapshot, item.question, vector), terms)
        raw = reranker.log_odds(found.features)
        best = int(np.argmax(raw))
        scores.append(float(raw[best]))
        right.append(answers(item, snapshot.fragments[found.places[best]]))
    platt = LogisticRegression(C=10.0).fit(np.array(scores)[:, None], right)
    slope, offset = float(platt.coef_[0, 0]), float(platt.intercept_[0])
    print(f"calibration on {len(scores)} dev questions: slope {slope:.3f}, offset {offset:.3f}; {len(NAMES)} features")
    return replace(reranker, slope=slope, offset=offset)


if __name__ == "__main__":
    main()
