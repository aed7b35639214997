"""Train the scope's three logistic regressions. Run it after ``scripts/train_retrieval.py``.

    python scripts/train_scope.py [--trust]

``data/training/unanswerable.jsonl`` and ``personal.jsonl`` were written independently of the fragments, as people ask;
they are searched as the product does. Expected questions of the second round are searched with the adapter that has
not seen them and without those of their own fragment's second round; they weigh less, because they lie nearer to what
is indexed than a stranger's question does. Figures are cross-validated by topic (clusters of vectors), so that no
question is judged by its like. The benchmark's ``dev`` half only sets the five numbers by which a fragment's relevance
is seen in the light of the scope; its ``test`` half is not read. Writes ``data/models/scope.npz``. With ``--trust``
only those numbers are fitted anew and the three regressions stay as they are.
"""

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from sklearn.cluster import KMeans
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GroupKFold

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from core.answering.scope_model import (
    KINDS,
    MODEL_PATH,
    ScopeModel,
    evidence_features,
    kind_input,
    load_scope_model,
    personal_features,
    personal_input,
    save_scope_model,
    trust_features,
)
from core.answering.signs import read_signs
from core.calibration.statistics import Unmeasured, reliability
from core.config import PROJECT_ROOT, Settings
from core.evaluation.benchmark import Item, answers, load_benchmark
from core.evaluation.run import ECE_BINS
from core.models import RetrievedFragment
from core.retrieval.adapter import IDENTITY, Adapter
from core.retrieval.expected import load_expected
from core.retrieval.features import CandidateSet, gather
from core.retrieval.search import SearchResult
from core.retrieval.snapshot import Snapshot, take_snapshot
from core.services import Services, build_services
from scripts.train_retrieval import adapted, signals_for, train_adapter

SEED = 20261130
SECOND_ROUND, SECOND_ROUND_SIGNED = 900, 250
KIND_C, PERSONAL_C, ANSWER_C, TRUST_C = 6.0, 0.3, 0.3, 3.0
SECOND_WEIGHT = 0.3
# Share of answerable questions among those that are asked, as in the benchmark.
ANSWERABLE_SHARE = 0.62
TOPICS, FOLDS = 80, 5
TRAINING = PROJECT_ROOT / "data" / "training"


@dataclass(frozen=True)
class Example:
    """A question, what it is, and what the search found. ``usable``: whether its answerability is known."""

    text: str
    kind: str
    personal: bool
    second: bool
    usable: bool
    result: SearchResult


def collect(services: Services) -> list[Example]:
    """Search every training question."""
    raw = take_snapshot(services.store, services.questions, IDENTITY)
    later = {q for items in load_expected().values() for item in items for q in item.second}
    own = [(d, True) for d in _lines("personal.jsonl")] + [(d, False) for d in _lines("unanswerable.jsonl")]
    vectors = services.embedder.embed_questions([d["q"] for d, _ in own])
    snapshot = adapted(raw, services.adapter)
    examples = []
    for (data, answered), vector in zip(own, vectors, strict=True):
        kind = data["category"] if data.get("kind") == "plain" else data.get("kind", "answerable")
        result = search(services, snapshot, services.adapter, data["q"], vector)
        usable = data.get("answerable", True)
        examples.append(Example(data["q"], kind, data["category"] == "personal_case", False, usable, result))
        assert answered == (kind == "answerable")
    honest_adapter, second = _honest(raw, later)
    honest = adapted(raw, honest_adapter)
    for j in _chosen(raw, second):
        siblings = second[int(raw.owners[j])]
        text = raw.question_texts[j]
        result = search(services, honest, honest_adapter, text, raw.questions[j], without=siblings)
        examples.append(Example(text, "answerable", False, True, True, result))
    return examples


def _lines(name: str) -> list[dict]:
    return [json.loads(line) for line in (TRAINING / name).read_text("utf-8").splitlines()]


def _honest(raw: Snapshot, later: set[str]) -> tuple[Adapter, dict[int, set[int]]]:
    """The adapter trained without the second round, and the second round by fragment."""
    first: dict[int, list[int]] = {}
    second: dict[int, set[int]] = {}
    for j, i in enumerate(raw.owners):
        if raw.question_texts[j] in later:
            second.setdefault(int(i), set()).add(j)
        else:
            first.setdefault(int(i), []).append(j)
    return train_adapter(raw, first), {i: js for i, js in second.items() if i in first}


def _chosen(raw: Snapshot, second: dict[int, set[int]]) -> list[int]:
    """A sample of the second round; questions whose words look like another matter's have their own share."""
    every = sorted(j for js in second.values() for j in js)
    signs = {j: read_signs(raw.question_texts[j]) for j in every}
    signed = [j for j, s in signs.items() if s.territory or s.other_year or s.social_security]
    plain = sorted(set(every) - set(signed))
    rng = np.random.default_rng(SEED)
    return [
        *(int(j) for j in rng.choice(signed, min(SECOND_ROUND_SIGNED, len(signed)), replace=False)),
        *(int(j) for j in rng.choice(plain, min(SECOND_ROUND, len(plain)), replace=False)),
    ]


def search(
    services: Services,
    snapshot: Snapshot,
    adapter: Adapter,
    text: str,
    raw: np.ndarray,
    without: Sequence[int] | set[int] = (),
) -> SearchResult:
    """The product's search, with some expected questions absent."""
    vector = adapter.questions(raw[None, :])[0]
    found = gather(
        snapshot, signals_for(services, snapshot, text, vector), services.search().terms, without=set(without)
    )
    return ranked(services, snapshot, text, raw, vector, found)


def ranked(
    services: Services, snapshot: Snapshot, text: str, raw: np.ndarray, vector: np.ndarray, found: CandidateSet
) -> SearchResult:
    """Candidates as a search result, best first."""
    probability = services.reranker.probabilities(text, found, snapshot)
    order = np.argsort(-probability, kind="stable")
    found = found.ordered(order)
    hits = tuple(
        RetrievedFragment(snapshot.fragments[found.places[i]], float(probability[order[i]]))
        for i in range(min(8, len(order)))
    )
    return SearchResult(hits, raw, vector, found, {})


def fit(examples: Sequence[Example]) -> ScopeModel:
    """The three regressions, with their cross-validated figures printed."""
    topics = KMeans(TOPICS, n_init=2, random_state=SEED).fit_predict(np.array([e.result.raw for e in examples]))
    weights = np.array([SECOND_WEIGHT if e.second else 1.0 for e in examples])
    usable = np.array([e.usable for e in examples])
    written = usable & ~np.array([e.second for e in examples])
    signs = [read_signs(e.text) for e in examples]

    y = np.array([KINDS.index(e.kind) for e in examples])
    x = np.array([kind_input(e.result.vector, e.text, s) for e, s in zip(examples, signs, strict=True)])
    kind = LogisticRegression(C=KIND_C, max_iter=400, class_weight="balanced")
    guessed = _cross_validated(kind, x, y, topics, np.where(usable, weights, 0.0))
    print(f"{len(examples)} questions, {written.sum()} of them written as people ask")
    print("kind accuracy, cross-validated:", round(float((guessed.argmax(1) == y)[written].mean()), 4))
    kind.fit(x, y, sample_weight=np.where(usable, weights, 0.0))

    answered = y == 0
    evidence = np.array([evidence_features(e.result, g, s) for e, g, s in zip(examples, guessed, signs, strict=True)])
    means, scales = evidence.mean(axis=0), evidence.std(axis=0) + 1e-6
    scaled = (evidence - means) / scales
    mass = np.where(usable, weights, 0.0)
    mass *= np.where(answered, ANSWERABLE_SHARE / mass[answered].sum(), (1 - ANSWERABLE_SHARE) / mass[~answered].sum())
    mass *= len(examples)
    answer = LogisticRegression(C=ANSWER_C, max_iter=1000)
    checked = _cross_validated(answer, scaled, answered, topics, mass)[:, 1]
    print("answerable AUROC, cross-validated:", round(float(roc_auc_score(answered[written], checked[written])), 4))
    for threshold in np.arange(0.3, 0.85, 0.05):
        abstains, wrongly = (checked[~answered] < threshold).mean(), (checked[answered & written] < threshold).mean()
        print(f"  threshold {threshold:.2f}: abstention {abstains:.3f}, false abstention {wrongly:.3f}")
    answer.fit(scaled, answered, sample_weight=mass)

    own = [i for i, e in enumerate(examples) if e.kind == "answerable" and (not e.second or _plainly_general(e.text))]
    own_y = np.array([examples[i].personal for i in own])
    own_x = np.array([personal_input(examples[i].result.raw, examples[i].text) for i in own])
    personal = LogisticRegression(C=PERSONAL_C, max_iter=400)
    sure = _cross_validated(personal, own_x, own_y, topics[own], np.ones(len(own)))[:, 1]
    mine = written[own]
    print("personal AUROC, cross-validated:", round(float(roc_auc_score(own_y[mine], sure[mine])), 4))
    personal.fit(own_x, own_y)
    return ScopeModel(
        kind_weights=np.hstack([kind.coef_, kind.intercept_[:, None]]).astype(np.float32),
        personal_weights=np.concatenate([personal.coef_[0], personal.intercept_]).astype(np.float32),
        answer_weights=np.concatenate([answer.coef_[0], answer.intercept_]).astype(np.float32),
        means=means.astype(np.float32),
        scales=scales.astype(np.float32),
        trust=np.array([1.0, 0.0, 0.0, 0.0, 0.0], dtype=np.float32),
    )


def _plainly_general(text: str) -> bool:
    """Whether a question without a label has neither several figures nor a formula of the own case."""
    features = personal_features(text)
    return features[1] == 0 and features[5] == 0


def _cross_validated(
    model: LogisticRegression, x: np.ndarray, y: np.ndarray, topics: np.ndarray, weights: np.ndarray
) -> np.ndarray:
    guessed = np.zeros((len(y), len(np.unique(y))))
    for train, held in GroupKFold(FOLDS).split(x, y, topics):
        guessed[held] = model.fit(x[train], y[train], sample_weight=weights[train]).predict_proba(x[held])
    return guessed


def calibrated(model: ScopeModel, found: Sequence[tuple[Item, SearchResult]]) -> ScopeModel:
    """The model with `trust` fitted on the best fragment of each question, answerable or not.

    The calibration error that is printed is of tenths of the questions left out in turn, over several divisions.
    """
    rows = []
    for item, result in found:
        signs = read_signs(item.question)
        kinds = model.kinds(result.vector, item.question, signs)
        rows.append(trust_features(result.found[0], model.answerable(evidence_features(result, kinds, signs))))
    x, right = np.array(rows), np.array([answers(item, result.found[0].fragment) for item, result in found])
    errors = []
    for seed in range(20):
        held = np.random.default_rng(seed).permutation(len(x)) % 10
        sure = np.zeros(len(x))
        for part in range(10):
            regression = LogisticRegression(C=TRUST_C).fit(x[held != part], right[held != part])
            sure[held == part] = regression.predict_proba(x[held == part])[:, 1]
        bins = reliability(list(sure), [float(r) for r in right], bins=ECE_BINS)
        assert not isinstance(bins, Unmeasured)
        errors.append(sum(b.n * abs(b.predicted - b.observed) for b in bins) / len(x))
    print(f"calibration error, cross-validated: {np.mean(errors):.3f} ± {np.std(errors):.3f}")
    regression = LogisticRegression(C=TRUST_C).fit(x, right)
    print(f"trust on {len(found)} dev questions: {regression.coef_[0].round(3)}, {regression.intercept_.round(3)}")
    return replace(model, trust=np.array([*regression.coef_[0], *regression.intercept_], dtype=np.float32))


def main() -> None:
    """Train and write."""
    services = build_services(Settings())
    model = load_scope_model() if "--trust" in sys.argv[1:] else fit(collect(services))
    dev = [item for item in load_benchmark() if item.split == "dev"]
    save_scope_model(MODEL_PATH, calibrated(model, [(i, services.search().run(i.question, 8)) for i in dev]))


if __name__ == "__main__":
    main()
