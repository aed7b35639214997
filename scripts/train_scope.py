"""Train the scope's three logistic regressions. Run it after ``scripts/train_retrieval.py``.

    python scripts/train_scope.py

Answerable examples are expected questions of the second round, searched with those of the first round only;
the others are ``data/training/unanswerable.jsonl``. Cases of one's own against general questions are
``data/training/personal.jsonl``. The benchmark is not read. Writes ``data/models/scope.npz``.
"""

import json
import sys
from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict, cross_val_score

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from core.answering.scope import (
    KINDS,
    MODEL_PATH,
    ScopeModel,
    evidence_features,
    personal_input,
    read_signs,
    save_scope_model,
)
from core.config import PROJECT_ROOT, Settings
from core.models import RetrievedFragment
from core.retrieval.expected import load_expected
from core.retrieval.features import Signals, gather
from core.retrieval.search import HybridSearch, SearchResult
from core.services import build_services

SEED = 20261130
ANSWERABLE = 2500
# Questions whose words look like another matter's, and which the corpus answers all the same, are all taken.
TEXT_DEPTH = 600
KIND_C, PERSONAL_C, ANSWER_C = 2.0, 0.1, 1.0


def search_without(search: HybridSearch, text: str, vector: np.ndarray, without: set[int]) -> SearchResult:
    """The product's search with some expected questions absent."""
    place, question_place = search.snapshot.place, search.snapshot.question_place
    signals = Signals(
        text,
        vector,
        {place[f.id]: s for f, s in search.store.full_text(text, 40) if f.id in place},
        {question_place[q]: s for q, s in search.questions.full_text(text, TEXT_DEPTH) if q in question_place},
    )
    found = gather(search.snapshot, signals, search.terms, without=without)
    probability = search.reranker.probabilities(text, found, search.snapshot)
    order = np.argsort(-probability, kind="stable")[:8]
    hits = tuple(RetrievedFragment(search.snapshot.fragments[found.places[i]], float(probability[i])) for i in order)
    return SearchResult(hits, vector, vector, found, {})


def main() -> None:
    """Train both and write them."""
    rng = np.random.default_rng(SEED)
    services = build_services(Settings())
    search = services.search()
    snapshot = search.snapshot
    later = {q for items in load_expected().values() for item in items for q in item.second}
    second = {j for j, q in enumerate(snapshot.question_texts) if q in later}
    signed = [j for j in second if _looks_foreign(snapshot.question_texts[j])]
    others = sorted(second - set(signed))
    chosen = [*sorted(signed)[:1200], *rng.choice(others, size=min(ANSWERABLE, len(others)), replace=False)]
    texts = [snapshot.question_texts[j] for j in chosen]
    vectors = [snapshot.questions[j] for j in chosen]
    kinds = ["answerable"] * len(texts)
    for line in (PROJECT_ROOT / "data" / "training" / "unanswerable.jsonl").read_text("utf-8").splitlines():
        data = json.loads(line)
        texts.append(data["q"])
        vectors.append(services.adapter.questions(services.embedder.embed_query(data["q"])[None, :])[0])
        kinds.append(data["category"] if data["kind"] == "plain" else data["kind"])
    print(f"{len(chosen)} answerable ({len(signed)} that look like another matter), {len(texts) - len(chosen)} not")

    signs = [read_signs(text) for text in texts]
    x = np.array([np.concatenate([v, s.numbers()]) for v, s in zip(vectors, signs, strict=True)])
    y = np.array([KINDS.index(k) for k in kinds])
    model = LogisticRegression(C=KIND_C, max_iter=3000, class_weight="balanced")
    folds = StratifiedKFold(5, shuffle=True, random_state=SEED)
    guessed = cross_val_predict(model, x, y, cv=folds, method="predict_proba")
    print("kind accuracy, cross-validated:", round(float((guessed.argmax(1) == y).mean()), 4))
    model.fit(x, y)
    kind_weights = np.hstack([model.coef_, model.intercept_[:, None]]).astype(np.float32)

    lines = (PROJECT_ROOT / "data" / "training" / "personal.jsonl").read_text("utf-8").splitlines()
    own = [json.loads(line) for line in lines]
    own_x = np.array([personal_input(services.embedder.embed_query(d["q"]), d["q"]) for d in own])
    own_y = np.array([d["category"] == "personal_case" for d in own])
    personal = LogisticRegression(C=PERSONAL_C, max_iter=3000)
    print(
        "personal accuracy, cross-validated:", round(float(cross_val_score(personal, own_x, own_y, cv=folds).mean()), 4)
    )
    personal.fit(own_x, own_y)
    personal_weights = np.concatenate([personal.coef_[0], personal.intercept_]).astype(np.float32)

    evidence = np.array(
        [
            evidence_features(search_without(search, t, v, second), g, s)
            for t, v, g, s in zip(texts, vectors, guessed, signs, strict=True)
        ]
    )
    means, scales = evidence.mean(axis=0), evidence.std(axis=0) + 1e-6
    answer = LogisticRegression(C=ANSWER_C, max_iter=3000, class_weight="balanced")
    scaled = (evidence - means) / scales
    checked = cross_val_predict(answer, scaled, y == 0, cv=folds, method="predict_proba")[:, 1]
    from sklearn.metrics import roc_auc_score

    print("answerable AUROC, cross-validated:", round(float(roc_auc_score(y == 0, checked)), 4))
    answer.fit(scaled, y == 0)
    weights = np.concatenate([answer.coef_[0], answer.intercept_]).astype(np.float32)
    save_scope_model(
        MODEL_PATH,
        ScopeModel(kind_weights, personal_weights, weights, means.astype(np.float32), scales.astype(np.float32)),
    )


def _looks_foreign(text: str) -> bool:
    signs = read_signs(text)
    return signs.territory is not None or signs.other_year is not None or signs.social_security


if __name__ == "__main__":
    main()
