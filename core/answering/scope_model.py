"""The trained side of the scope: what a question's words, vector and evidence say, as probabilities."""

import re
import zlib
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from core.answering.signs import Signs
from core.config import PROJECT_ROOT
from core.errors import RegisterError
from core.models import RetrievedFragment
from core.retrieval.features import CandidateSet
from core.retrieval.search import SearchResult
from core.retrieval.terms import fold

MODEL_PATH = PROJECT_ROOT / "data" / "models" / "scope.npz"

# Kinds of question, as the text classifier tells them apart. The first is what AsesorIA answers.
KINDS = ("answerable", "no_answer", "other_year", "territory", "social_security", "out_of_scope")
# Raise when the features below change: a model trained on others is refused.
SCOPE_VERSION = 5
BUCKETS = 4096
# Vectors and hashed words are stretched: their single numbers are small beside the other features.
_KIND_STRETCH, _VECTOR_STRETCH, _WORD_STRETCH = 2.0, 3.0, 2.0
_MONTHS = "enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|octubre|noviembre|diciembre"
_PERSONAL = re.compile(
    r"\bcuanto\s+(?:me|nos)?\s*(?:\w+\s+){0,3}?(?:sale|saldra|toca|tocara|pago|pagare|tengo que pagar|"
    r"voy a pagar|debo pagar|devuelv\w+|"
    r"devolver\w*|quedar?\w*|costar\w*|ahorr\w+|ingres\w+|van a)\b"
    r"|\b(?:me|nos)\s+(?:compensa|conviene|interesa|sale a cuenta|renta mas|sale mejor|trae cuenta|merece la pena)\b"
    r"|\bque me (?:conviene|compensa|interesa|sale)\b|\b(?:calcula\w*|hazme|dime cuanto)\b|\ben mi caso\b|\bmi caso\b"
)


@dataclass(frozen=True, slots=True)
class ScopeModel:
    """Three logistic regressions: the kind from the question's vector, words and signs; whether it can be answered;
    whether it asks for a verdict on the asker's own data.

    ``kind_weights``: kinds × (`kind_input` + 1). ``answer_weights``: (`evidence_features` + 1), on features less
    ``means`` over ``scales``. ``personal_weights``: (`personal_input` + 1). ``trust``: (`trust_features` + 1), see
    `trusted`.
    """

    kind_weights: NDArray[np.float32]
    personal_weights: NDArray[np.float32]
    answer_weights: NDArray[np.float32]
    means: NDArray[np.float32]
    scales: NDArray[np.float32]
    trust: NDArray[np.float32]

    def kinds(self, vector: NDArray[np.float32], question: str, signs: Signs) -> NDArray[np.float64]:
        """Probability of each of `KINDS`."""
        logits = self.kind_weights @ np.append(kind_input(vector, question, signs), 1.0)
        odds = np.exp(logits - logits.max())
        return np.asarray(odds / odds.sum())

    def personal(self, vector: NDArray[np.float32], question: str) -> float:
        """Probability that the question asks for a verdict on the asker's own case."""
        return _sigmoid(float(self.personal_weights @ np.append(personal_input(vector, question), 1.0)))

    def answerable(self, evidence: NDArray[np.float64]) -> float:
        """Probability that the corpus answers, from `evidence_features`."""
        x = (evidence - self.means) / self.scales
        return _sigmoid(float(x @ self.answer_weights[:-1] + self.answer_weights[-1]))


def trusted(result: SearchResult, answerable: float, model: ScopeModel) -> SearchResult:
    """The result with each relevance seen in the light of ``answerable``, the probability that the corpus answers.

    The search judges a fragment by its likeness to the question; whether the question is one that these documents
    settle at all is known only here. Logistic in `trust_features`, fitted on the benchmark's dev half; the order of the
    fragments stays.
    """
    found = tuple(
        replace(hit, relevance=_sigmoid(float(model.trust[:-1] @ trust_features(hit, answerable) + model.trust[-1])))
        for hit in result.found
    )
    return replace(result, found=found)


# Sections that work a case out, or answer a question, instead of stating the rule.
_EXAMPLE = re.compile(r"\b(?:ejemplos?|solucion|supuestos? practicos?|casos? practicos?|operaciones del|otros datos)\b")


def trust_features(hit: RetrievedFragment, answerable: float) -> NDArray[np.float64]:
    """Log-odds of a fragment's relevance, the logarithm of the probability that the corpus answers, and what it is.

    What it is: of a law or regulation (an article is spread over several fragments, and the one that looks most like
    the question less often holds the answer than a manual's), and an example.
    """
    relevance = min(max(hit.relevance, 1e-4), 1 - 1e-4)
    return np.array(
        [
            np.log(relevance / (1 - relevance)),
            np.log(max(answerable, 1e-3)),
            float(hit.fragment.doc_type == "norma"),
            float(_EXAMPLE.search(fold(hit.fragment.section_label)) is not None),
        ]
    )


def _sigmoid(x: float) -> float:
    return float(1.0 / (1.0 + np.exp(-x)))


@lru_cache(maxsize=64)
def word_features(question: str) -> NDArray[np.float32]:
    """Words, pairs of words and groups of four letters, hashed into `BUCKETS` counts of unit length.

    Feature hashing (Weinberger et al., 2009). Case, accents and signs do not matter; every figure counts as "0".
    """
    text = re.sub(r"\d+", "0", re.sub(r"\W+", " ", fold(question))).strip()
    words = text.split()
    padded = f" {text} "
    tokens = {f"w:{word}" for word in words}
    tokens |= {f"b:{first} {second}" for first, second in pairwise(words)}
    tokens |= {f"c:{padded[i : i + 4]}" for i in range(len(padded) - 3)}
    counts = np.zeros(BUCKETS, dtype=np.float32)
    for token in tokens:
        counts[zlib.crc32(token.encode("utf-8")) % BUCKETS] += 1
    length = float(np.linalg.norm(counts))
    return counts / length if length else counts


def kind_input(vector: NDArray[np.float32], question: str, signs: Signs) -> NDArray[np.float32]:
    """The adapted vector, `word_features` and the signs."""
    stretched = (_KIND_STRETCH * vector, _KIND_STRETCH * word_features(question))
    return np.concatenate([*stretched, signs.numbers()]).astype(np.float32)


def personal_features(question: str) -> list[float]:
    """What tells a case of one's own: figures, sums of money, dates, "cuánto", and formulas such as "me compensa"."""
    text = fold(question)
    figures = len(re.findall(r"\d+(?:[.,]\d+)*", text))
    return [
        min(figures, 4) / 4,
        float(figures >= 2),
        float(bool(re.search(r"\d\s*(?:€|eur|mil\b|m2|metros|k\b|por ciento|%)", text))),
        float("cuanto" in text or "cuanta" in text),
        float(bool(re.search(rf"\b(?:{_MONTHS})\b", text))),
        float(bool(_PERSONAL.search(text))),
        min(len(text.split()), 30) / 30,
    ]


def personal_input(vector: NDArray[np.float32], question: str) -> NDArray[np.float32]:
    """The unadapted vector, `personal_features` and `word_features`."""
    stretched = (_VECTOR_STRETCH * vector, _WORD_STRETCH * word_features(question))
    return np.concatenate([*stretched, personal_features(question)]).astype(np.float32)


def evidence_features(result: SearchResult, kinds: NDArray[np.float64], signs: Signs) -> NDArray[np.float64]:
    """What the search found, and what the words say, as numbers for `ScopeModel.answerable`.

    The probabilities of the best fragments and their agreement (same document, neighbouring places), the best expected
    questions' cosines and their lead over the field, how much of the question is covered, the kinds, the signs.
    ``result.candidates`` are best first.
    """
    hits = result.found[:6]
    scores = [hit.relevance for hit in hits[:5]] + [0.0] * (5 - len(hits[:5]))
    logit = [float(np.log(max(s, 1e-4) / max(1 - s, 1e-4))) for s in scores]
    first = hits[0].fragment if hits else None
    others = [hit.fragment for hit in hits[1:]]
    same = [f.doc_id == first.doc_id for f in others] if first else []
    near = [f.doc_id == first.doc_id and abs(f.ordinal - first.ordinal) <= _NEAR for f in others] if first else []
    year_said = signs.other_year is not None and any(str(signs.other_year) in hit.fragment.text for hit in hits[:2])
    kind_logs = np.log(np.clip(kinds, 1e-5, 1.0))
    asked_kind = float(np.log(max(kinds[0], 1e-6) / max(1 - kinds[0], 1e-6)))
    return np.array(
        [
            *(logit[0], logit[1], logit[0] - logit[4]),
            *_candidate_features(result.candidates),
            float(np.mean(same)) if same else 0.0,
            float(np.mean(near)) if near else 0.0,
            float(year_said),
            asked_kind,
            *kind_logs[1:],
            *signs.numbers(),
        ],
        dtype=np.float64,
    )


# Of all candidates the greatest; of the best candidate its own.
_GREATEST = (
    "best_question_cosine best_passage_cosine best_over_field question_coverage question_bm25_absolute passage_coverage "
    "passage_bm25_absolute union_coverage length"
).split()
_OWN = (
    "question_cosine second_question_cosine rank_sum question_covered question_coverage union_coverage "
    "passage_coverage passage_cosine"
).split()
# Fragments at most so many places apart are of one passage of the document.
_NEAR = 6


def _candidate_features(candidates: CandidateSet) -> list[float]:
    if not candidates.places:
        return [0.0] * (len(_GREATEST) + len(_OWN) + 3)
    cosines = np.sort(candidates.feature("question_cosine"))[::-1]
    tenth = float(cosines[min(9, len(cosines) - 1)])
    return [
        *(float(candidates.feature(name).max()) for name in _GREATEST),
        *(float(candidates.feature(name)[0]) for name in _OWN),
        float(cosines[:3].mean()),
        float(cosines[:10].mean()),
        float(cosines[0]) - tenth,
    ]


def load_scope_model(path: Path = MODEL_PATH) -> ScopeModel:
    """The trained model.

    Raises:
        RegisterError: it is missing, or was trained on other features.
    """
    if not path.exists():
        raise RegisterError(
            "Falta data/models/scope.npz. Restáurelo del repositorio o ejecute «python scripts/train_scope.py»."
        )
    with np.load(path, allow_pickle=False) as data:
        if int(data["version"]) != SCOPE_VERSION or tuple(data["kinds"].tolist()) != KINDS:
            raise RegisterError(
                "data/models/scope.npz se entrenó con otras características. Ejecute «python scripts/train_scope.py»."
            )
        return ScopeModel(
            kind_weights=data["kind_weights"].astype(np.float32),
            personal_weights=data["personal_weights"].astype(np.float32),
            answer_weights=data["answer_weights"],
            means=data["means"],
            scales=data["scales"],
            trust=data["trust"],
        )


def save_scope_model(path: Path, model: ScopeModel) -> None:
    """Write the weights as plain arrays."""
    path.parent.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(
        path,
        kind_weights=model.kind_weights.astype(np.float16),
        personal_weights=model.personal_weights.astype(np.float16),
        answer_weights=model.answer_weights,
        means=model.means,
        scales=model.scales,
        trust=model.trust,
        version=np.array(SCOPE_VERSION),
        kinds=np.array(KINDS),
    )
