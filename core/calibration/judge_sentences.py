"""The judge of meaning: cosines of the question with what the answer says and with what its fragments answer."""

import math
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from core.calibration.judge_weights import JudgeWeights
from core.calibration.judges import JudgedAnswer
from core.calibration.reference import JudgeInfo
from core.ingestion.sentences import sentences
from core.retrieval.expected import KnownAnswers, sentence_key
from core.retrieval.search import HybridSearch
from core.retrieval.snapshot import Floats

SENTENCES_JUDGE_VERSION = 2
# How many of the nearest expected questions are read, and how fast their weight falls with the cosine.
_NEAREST, _SHARPNESS = 20, 20.0
_MARK = re.compile(r"\s*\[\d{1,2}\]")


class Nearness(Protocol):
    """Cosines in the space of the frozen embedder with its adapter."""

    def to_texts(self, question: str, texts: Sequence[str]) -> Sequence[float]:
        """Of the question with each text."""

    def to_expected(self, question: str, fragment_ids: Sequence[str]) -> tuple[float, float]:
        """Of the question with the nearest expected question of these fragments, and of all the others."""

    def marked(self, question: str, said: Collection[str]) -> float:
        """Of the expected questions nearest to the question in all the corpus, by weight, the share of their marked
        sentences that are among those ``said`` (`sentence_key`)."""


@dataclass(frozen=True, slots=True)
class IndexNearness:
    """`Nearness` on what is indexed. Vectors are kept: fitting and scoring read the same texts, at seconds an answer."""

    search: HybridSearch
    answers: KnownAnswers
    known: dict[str, Floats] = field(default_factory=dict, compare=False, repr=False)

    def to_texts(self, question: str, texts: Sequence[str]) -> Sequence[float]:
        """See `Nearness`."""
        if not texts:
            return ()
        new = [text for text in dict.fromkeys(texts) if text not in self.known]
        if new:
            embedded = self.search.adapter.passages(self.search.embedder.embed_passages(new))
            self.known.update(zip(new, embedded, strict=True))
        asked = self._question(question)
        return [float(self.known[text] @ asked) for text in texts]

    def to_expected(self, question: str, fragment_ids: Sequence[str]) -> tuple[float, float]:
        """See `Nearness`."""
        snapshot = self.search.snapshot
        cosines = snapshot.questions @ self._question(question)
        own = [snapshot.place[i] for i in fragment_ids if i in snapshot.place]
        cited = np.isin(snapshot.owners, own)
        return (
            float(cosines[cited].max()) if cited.any() else 0.0,
            float(cosines[~cited].max()) if not cited.all() else 0.0,
        )

    def marked(self, question: str, said: Collection[str]) -> float:
        """See `Nearness`."""
        snapshot = self.search.snapshot
        cosines = snapshot.questions @ self._question(question)
        nearest = np.argsort(-cosines)[:_NEAREST]
        share = total = 0.0
        for j in nearest:
            sentences_ = self.answers.of(snapshot.fragments[snapshot.owners[j]].doc_id, snapshot.question_texts[j])
            if sentences_:
                weight = math.exp(_SHARPNESS * float(cosines[j] - cosines[nearest[0]]))
                share += weight * sum(key in said for key in sentences_) / len(sentences_)
                total += weight
        return share / total if total else 0.0

    def _question(self, question: str) -> Floats:
        key = f"question\0{question}"
        if key not in self.known:
            raw = self.search.embedder.embed_query(question)
            self.known[key] = self.search.adapter.questions(raw[None, :])[0]
        return self.known[key]


@dataclass(frozen=True, slots=True)
class SentencesJudge:
    """How near the question is to the answer's sentences and to what its fragments answer, against the alternatives."""

    near: Nearness
    weights: JudgeWeights

    @property
    def info(self) -> JudgeInfo:
        """See `Judge`."""
        return JudgeInfo(name="sentido de las frases", kind="semántica", version=self.weights.version)

    def score(self, answer: JudgedAnswer) -> float:
        """See `Judge`."""
        return self.weights.probability(self.measures(answer))

    def measures(self, answer: JudgedAnswer) -> dict[str, float]:
        """Cosines: with the nearest sentence, with the first, with the nearest expected question of a cited fragment;
        by how much the latter exceeds the nearest of the fragments that are not cited; and `Nearness.marked`."""
        said = _MARK.sub("", answer.said).replace("«", "").replace("»", "")
        texts = [text for line in said.split("\n") for text in sentences(line) if any(ch.isalpha() for ch in text)]
        cosines = self.near.to_texts(answer.question, texts)
        cited, other = self.near.to_expected(answer.question, answer.fragment_ids)
        return {
            "sentence": max(cosines, default=0.0),
            "first": cosines[0] if cosines else 0.0,
            "expected": cited,
            "margin": cited - other,
            "marked": self.near.marked(answer.question, {sentence_key(text) for text in (*said.split("\n"), *texts)}),
        }
