"""Train the model that tells which sentence of the fragments found answers a question.

    python scripts/train_sentences.py [--folds 6] [--queries 3000]

Two kinds of examples. (1) The dev half of the benchmark and ``data/training/answers.json`` (same format, written
apart; no near copies), searched with the product: right are the units that state the facts or hold the evidence.
(2) Expected questions of the second round of writing, searched as a user's question in an index that holds those of
the first round only, with an adapter that has not seen them: right are the units marked as their answer. Writes
``data/models/sentences.npz``. With ``--folds`` it also prints, by cross-validation over (1), the share of facts that
the chosen units state. Run it after ``scripts/train_retrieval.py``.
"""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from core.answering.extractive import Candidate, candidate_units, choose, sections_of
from core.answering.sentence_model import (
    MODEL_PATH,
    NAMES,
    Expected,
    Reading,
    SentenceModel,
    features,
    read_for,
    save_sentence_model,
)
from core.answering.units import Unit
from core.config import PROJECT_ROOT, Settings
from core.evaluation.benchmark import Item, facts_stated, fold, load_benchmark
from core.models import RetrievedFragment
from core.retrieval.adapter import IDENTITY
from core.retrieval.expected import load_expected, sentence_key
from core.retrieval.features import gather
from core.retrieval.snapshot import take_snapshot
from core.services import Services, build_services
from scripts.train_retrieval import TWIN_COSINE, adapted, signals_for, train_adapter

ANSWERS_PATH = PROJECT_ROOT / "data" / "training" / "answers.json"
FOUND = 8
# Regularisation, what a question of the second kind weighs next to one of the first, and how many units a question
# counts for. Chosen by cross-validation; boosted trees over the same numbers were no better.
C, READ_WEIGHT, UNITS = 0.03, 0.3, 30.0
# A unit that holds the evidence without the words of a fact is half right.
EVIDENCE = 0.5
SEED = 20261130


@dataclass(frozen=True)
class Example:
    """A question with its units, their features and how right each is (0..1)."""

    item: Item
    several: bool
    units: list[tuple]
    rows: np.ndarray
    right: np.ndarray


def rightness(item: Item, unit: Unit) -> float:
    """Share of the facts that a unit states with the headings above it; less where the document is not a gold one."""
    stated = float(np.mean(facts_stated(item, "\n".join((*unit.fragment.section_path[-2:], unit.text)))))
    if not item.gold:
        return stated
    gold = [g for g in item.gold if g.doc_id == unit.fragment.doc_id]
    held = any(g.evidence.search(fold(unit.text)) for g in gold)
    return max(stated, EVIDENCE * held) * (1.0 if gold else 0.5)


def examples(services: Services, items: list[Item]) -> list[Example]:
    """Search each question and read its units."""
    found = []
    for item in items:
        result = services.search().run(item.question, FOUND)
        reading, units, rows = units_read(services, item.question, result.found, result.expected)
        right = np.array([rightness(item, unit[0]) for unit in units])
        found.append(Example(item, reading.asked.several, units, rows, right))
    return [example for example in found if len(example.units)]


def units_read(
    services: Services, question: str, found: Sequence[RetrievedFragment], expected: Expected
) -> tuple[Reading, list[tuple], np.ndarray]:
    """The units around the fragments found, as the product reads them."""
    reading = read_for(question, found, expected, services.terms(), services.known)
    units = list(candidate_units(found, sections_of(found, services.store.section_around)))
    return reading, units, np.array([features(reading, *unit) for unit in units])


def expected_examples(services: Services, count: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Features and rightness of the units found for ``count`` questions of the second round."""
    rng = np.random.default_rng(SEED)
    raw = take_snapshot(services.store, services.questions, IDENTITY)
    later = {q for items in load_expected().values() for item in items for q in item.second}
    second = frozenset(j for j, text in enumerate(raw.question_texts) if text in later)
    first: dict[int, list[int]] = {}
    for j, owner in enumerate(raw.owners):
        if j not in second:
            first.setdefault(int(owner), []).append(j)
    snapshot = adapted(raw, train_adapter(raw, first))
    place = snapshot.place
    marked = [
        j
        for j in sorted(second)
        if first.get(int(raw.owners[j]))
        and services.known.of(raw.fragments[raw.owners[j]].doc_id, raw.question_texts[j])
    ]
    made = []
    for j in rng.permutation(marked)[:count]:
        text, owner = raw.question_texts[j], int(raw.owners[j])
        signals = signals_for(services, snapshot, text, snapshot.questions[j])
        candidates = gather(snapshot, signals, services.terms(), without=second)
        probability = services.reranker.probabilities(text, candidates, snapshot)
        best = np.argsort(-probability, kind="stable")[:FOUND]
        found = [
            RetrievedFragment(snapshot.fragments[candidates.places[i]], float(probability[i]), 0.0, 0.0) for i in best
        ]
        expected = {
            hit.fragment.id: [
                (raw.question_texts[q], float(snapshot.questions[q] @ snapshot.questions[j]))
                for q in snapshot.questions_of[place[hit.fragment.id]]
                if q not in second
            ]
            for hit in found
        }
        _, units, rows = units_read(services, text, found, expected)
        answers = frozenset(services.known.of(raw.fragments[owner].doc_id, text) or ())
        right = np.array([marked_share(unit, answers) for unit, _, _ in units])
        near = np.array([snapshot.passages[place[hit.fragment.id]] @ snapshot.passages[owner] for _, hit, _ in units])
        kept = (
            (near < TWIN_COSINE)
            | (right > 0)
            | np.array([h.fragment.id == raw.fragments[owner].id for _, h, _ in units])
        )
        if right.any():
            made.append((rows[kept], right[kept]))
    return made


def marked_share(unit: Unit, answers: frozenset[str]) -> float:
    """Share of what a unit says that is marked as the answer."""
    return float(np.mean([sentence_key(quote.text) in answers for quote in unit.body or unit.quotes]))


def fit(facts: list[Example], read: list[tuple[np.ndarray, np.ndarray]]) -> SentenceModel:
    """A logistic regression; a question's weight is shared by its units; soft targets are two weighted examples."""
    sets = [(e.rows, e.right, 1.0) for e in facts] + [(rows, right, READ_WEIGHT) for rows, right in read]
    x = np.vstack([rows for rows, _, _ in sets])
    y = np.concatenate([right for _, right, _ in sets])
    weight = np.concatenate([np.full(len(right), w * UNITS / len(right)) for _, right, w in sets])
    means, scales = x.mean(axis=0), x.std(axis=0) + 1e-6
    z = (x - means) / scales
    words = z.copy()
    words[:, NAMES.index("marked") :] = 0.0  # as if nobody had read the fragments
    weights = np.array([regression(rows, y, weight) for rows in (z, words)])
    return SentenceModel(*(a.astype(np.float32) for a in (weights, means, scales)))


def regression(rows: np.ndarray, y: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Weights and intercept for targets of 0..1."""
    both, label = np.vstack([rows, rows]), np.r_[np.ones(len(y)), np.zeros(len(y))]
    share = np.r_[weight * y, weight * (1 - y)]
    used = share > 0
    model = LogisticRegression(C=C, max_iter=3000).fit(both[used], label[used], sample_weight=share[used])
    return np.r_[model.coef_[0], model.intercept_]


def stated(model: SentenceModel, example: Example) -> float:
    """Share of the facts in the units that ``model`` chooses."""
    probability = model.probabilities(example.rows)
    scored = [Candidate(*unit, float(p)) for unit, p in zip(example.units, probability, strict=True)]
    chosen = choose(sorted(scored, key=lambda c: (-c.probability, c.rank)), several=example.several)
    text = "\n".join("\n".join((*c.unit.fragment.section_path[-2:], c.unit.text)) for c in chosen)
    return float(np.mean(facts_stated(example.item, text)))


def main() -> None:
    """Train, and write the model."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folds", type=int, default=0)
    parser.add_argument("--queries", type=int, default=3000)
    folds = parser.parse_args().folds
    items = [i for i in load_benchmark() if i.split == "dev"] + list(load_benchmark(ANSWERS_PATH))
    services = build_services(Settings())
    data = examples(services, [i for i in items if i.answerable and i.facts])
    read = expected_examples(services, parser.parse_args().queries)
    print(f"{len(data)} questions with facts, {len(read)} expected questions, {sum(len(r) for _, r in read)} units")
    if folds:
        shares = []
        for train, held_out in KFold(folds, shuffle=True, random_state=SEED).split(data):
            model = fit([data[i] for i in train], read)
            shares += [stated(model, data[i]) for i in held_out]
        print(f"{len(data)} preguntas; proporción de hechos en lo elegido (validación cruzada): {np.mean(shares):.3f}")
    save_sentence_model(MODEL_PATH, fit(data, read))
    print(f"Escrito {MODEL_PATH.relative_to(PROJECT_ROOT)}.")


if __name__ == "__main__":
    main()
