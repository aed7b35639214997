"""Train the model that tells which sentence of the fragments found answers a question.

    python scripts/train_sentences.py [--folds 6]

Reads the dev half of the benchmark and ``data/training/answers.json`` (same format, written apart; no near copies),
searches them with the product, and takes as right the units that state the facts or hold the evidence. Writes
``data/models/sentences.npz``. With ``--folds`` it also prints, by cross-validation, the share of facts that the
chosen units state. Run it after ``scripts/train_retrieval.py``.
"""

import argparse
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from core.answering.extractive import Candidate, candidate_units, choose, sections_of
from core.answering.sentence_model import MODEL_PATH, SentenceModel, features, read_for, save_sentence_model
from core.answering.units import Unit
from core.config import PROJECT_ROOT, Settings
from core.evaluation.benchmark import Item, facts_stated, fold, load_benchmark
from core.services import Services, build_services

ANSWERS_PATH = PROJECT_ROOT / "data" / "training" / "answers.json"
# Strong regularisation: few questions. Chosen by cross-validation.
C = 0.01
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
        result = services.search().run(item.question, 8)
        reading = read_for(item.question, result.found, result.expected, services.terms())
        units = list(candidate_units(result.found, sections_of(result.found, services.store.section_around)))
        rows = np.array([features(reading, *unit) for unit in units])
        right = np.array([rightness(item, unit[0]) for unit in units])
        found.append(Example(item, reading.asked.several, units, rows, right))
    return [example for example in found if len(example.units)]


def fit(train: list[Example]) -> SentenceModel:
    """A logistic regression in which every question weighs the same; soft targets are two weighted examples."""
    x = np.vstack([e.rows for e in train])
    y = np.concatenate([e.right for e in train])
    weight = np.concatenate([np.full(len(e.right), 50.0 / len(e.right)) for e in train])
    means, scales = x.mean(axis=0), x.std(axis=0) + 1e-6
    z = (x - means) / scales
    both, label = np.vstack([z, z]), np.r_[np.ones(len(y)), np.zeros(len(y))]
    share = np.r_[weight * y, weight * (1 - y)]
    used = share > 0
    model = LogisticRegression(C=C, max_iter=3000).fit(both[used], label[used], sample_weight=share[used])
    weights = np.r_[model.coef_[0], model.intercept_]
    return SentenceModel(*(a.astype(np.float32) for a in (weights, means, scales)))


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
    folds = parser.parse_args().folds
    items = [i for i in load_benchmark() if i.split == "dev"] + list(load_benchmark(ANSWERS_PATH))
    data = examples(build_services(Settings()), [i for i in items if i.answerable and i.facts])
    if folds:
        shares = []
        for train, held_out in KFold(folds, shuffle=True, random_state=SEED).split(data):
            model = fit([data[i] for i in train])
            shares += [stated(model, data[i]) for i in held_out]
        print(f"{len(data)} preguntas; proporción de hechos en lo elegido (validación cruzada): {np.mean(shares):.3f}")
    save_sentence_model(MODEL_PATH, fit(data))
    print(f"Escrito {MODEL_PATH.relative_to(PROJECT_ROOT)}.")


if __name__ == "__main__":
    main()
