"""How likely a unit of text is to answer a question: numbers read from both, and a logistic regression over them."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from dataclasses import field as dataclass_field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from core.answering import cues
from core.answering.cues import Asked
from core.answering.units import Unit
from core.config import PROJECT_ROOT
from core.errors import RegisterError
from core.models import RetrievedFragment
from core.retrieval.expected import KnownAnswers, sentence_key
from core.retrieval.terms import TermStatistics, stems

MODEL_PATH = PROJECT_ROOT / "data" / "models" / "sentences.npz"
# Raise when names, order or meaning of the features change: a model trained on others is refused.
SENTENCES_VERSION = 2

NAMES = (
    "own above items expected_own expected_above expected_items field_own field_above relevance share_of_best first "
    "reciprocal_rank outside near_best figure_fits figure_missing amount_fits percent_fits time_fits time_missing "
    "occasion list_fits who_fits meaning_fits form_fits form_missing whether_fits denies leans says_nothing example "
    "aside stale long short is_list is_table is_item opens same_numbers asked_numbers exception "
    "marked marked_first marked_own marked_nearest marked_precise marked_gap unmarked unread"
).split()

# Expected questions nearer to the question weigh more: weights are softmax(SHARPNESS · cosine).
_SHARPNESS = 20.0
# Of how many of the nearest expected questions of all fragments found the common words are taken.
_FIELD = 6
_LONG_CHARS, _SHORT_CHARS = 300.0, 60
# How far below the nearest question of all the nearest one that marks a unit is taken to be where none does.
_NO_MARK_GAP = 0.5

Expected = Mapping[str, Sequence[tuple[str, float]]]
"""For fragments by id: the questions that they are known to answer, each with its cosine with the question asked."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """Stems with weights that sum to one: the document's words for what is asked."""

    weights: Mapping[str, float]

    def covered(self, present: frozenset[str] | set[str]) -> float:
        """Share of the weight that ``present`` holds."""
        return sum(weight for stem, weight in self.weights.items() if stem in present)


def wanted_words(questions: Sequence[tuple[str, float]], terms: TermStatistics) -> Wanted:
    """The words of expected questions, by rarity and by the question's nearness."""
    if not questions:
        return Wanted({})
    nearest = max(cosine for _, cosine in questions)
    weights: dict[str, float] = {}
    for text, cosine in questions:
        share = math.exp(_SHARPNESS * (cosine - nearest))
        for stem in set(stems(text)):
            weights[stem] = weights.get(stem, 0.0) + share * terms.weight(stem)
    total = sum(weights.values()) or 1.0
    return Wanted({stem: weight / total for stem, weight in weights.items()})


@dataclass(frozen=True, slots=True)
class Marked:
    """An expected question of a fragment with the sentences that answer it (keys, the most decisive first).

    ``share`` is its weight among the questions of all fragments found, ``own_share`` among those of its fragment.
    """

    cosine: float
    sentences: tuple[str, ...]
    share: float
    own_share: float


def marked_in(expected: Expected, documents: Mapping[str, str], known: KnownAnswers) -> dict[str, tuple[Marked, ...]]:
    """For each fragment found (``documents``: id → document), its questions that have been read, nearest first."""
    read: dict[str, list[tuple[float, tuple[str, ...]]]] = {}
    for fragment_id, doc_id in documents.items():
        for text, cosine in expected.get(fragment_id, ()):
            sentences = known.of(doc_id, text)
            if sentences is not None:
                read.setdefault(fragment_id, []).append((cosine, sentences))
    nearest = max((cosine for pairs in read.values() for cosine, _ in pairs), default=0.0)
    total = sum(_weight(cosine, nearest) for pairs in read.values() for cosine, _ in pairs)
    marked = {}
    for fragment_id, pairs in read.items():
        best = max(cosine for cosine, _ in pairs)
        own = sum(_weight(cosine, best) for cosine, _ in pairs)
        marked[fragment_id] = tuple(
            Marked(cosine, sentences, _weight(cosine, nearest) / total, _weight(cosine, best) / own)
            for cosine, sentences in sorted(pairs, key=lambda pair: -pair[0])
        )
    return marked


def _weight(cosine: float, nearest: float) -> float:
    return math.exp(_SHARPNESS * (cosine - nearest))


@dataclass(frozen=True, slots=True)
class Reading:
    """A question as read for one set of fragments found: what is asked, and the words that documents use for it."""

    asked: Asked
    latest_year: str
    best: float
    relevance: Mapping[str, float]
    expected: Mapping[str, Wanted]
    field: Wanted
    marked: Mapping[str, Sequence[Marked]]
    seen: dict[str, frozenset[str]] = dataclass_field(default_factory=dict, compare=False, repr=False)
    keys: dict[str, str] = dataclass_field(default_factory=dict, compare=False, repr=False)

    def stems(self, text: str) -> frozenset[str]:
        """The stems of a text; computed once a question."""
        known = self.seen.get(text)
        if known is None:
            known = self.seen[text] = frozenset(stems(text))
        return known

    def key(self, text: str) -> str:
        """The `sentence_key` of a text; computed once a question."""
        known = self.keys.get(text)
        if known is None:
            known = self.keys[text] = sentence_key(text)
        return known


def read_for(
    question: str,
    found: Sequence[RetrievedFragment],
    expected: Expected,
    terms: TermStatistics,
    known: KnownAnswers,
) -> Reading:
    """Read ``question`` against the fragments ``found`` (best first)."""
    nearest = sorted((pair for hit in found for pair in expected.get(hit.fragment.id, ())), key=lambda pair: -pair[1])
    return Reading(
        asked=cues.read_question(question, terms),
        latest_year=max((year for hit in found for year in cues.tax_years(hit.fragment.text)), default="0"),
        best=max((hit.relevance for hit in found), default=0.0),
        relevance={hit.fragment.id: hit.relevance for hit in found},
        expected={hit.fragment.id: wanted_words(expected.get(hit.fragment.id, ()), terms) for hit in found},
        field=wanted_words(nearest[:_FIELD], terms),
        marked=marked_in(expected, {hit.fragment.id: hit.fragment.doc_id for hit in found}, known),
    )


def features(reading: Reading, unit: Unit, hit: RetrievedFragment, rank: int) -> list[float]:
    """The numbers of `NAMES` for a ``unit`` of the section around ``hit``, which is the ``rank``-th found (from 0)."""
    asked, text = reading.asked, unit.text
    lead = unit.quotes[: unit.heads] if unit.is_list else unit.quotes
    own = frozenset[str]().union(*(reading.stems(quote.text) for quote in lead))
    path = unit.fragment.section_path
    above = own.union(*(reading.stems(part) for part in (unit.fragment.title, *path)))
    whole = above.union(*(reading.stems(quote.text) for quote in unit.quotes))
    inside = [quote.fragment.id for quote in unit.body if quote.fragment.id in reading.relevance]
    relevance = max((reading.relevance[i] for i in inside), default=hit.relevance)
    holder = inside[0] if inside else hit.fragment.id
    words = reading.expected.get(holder, Wanted({}))
    said, headed, all_said = asked.coverage(own), asked.coverage(above), asked.coverage(whole)
    hinted = words.covered(own), words.covered(above), words.covered(whole)
    common = reading.field.covered(own), reading.field.covered(whole)
    near = f"{text}\n{chr(10).join(path[-3:])}"
    figure, timed = cues.gives_figure(text), cues.gives_time(near)
    when = asked.time or asked.when
    form = cues.names_form(near)
    first = unit.quotes[max(0, unit.heads - 1)].text
    return [
        said, headed - said, all_said - headed,
        hinted[0], hinted[1] - hinted[0], hinted[2] - hinted[1],
        common[0], common[1] - common[0],
        math.log(max(relevance, 1e-3) / max(1 - relevance, 1e-3)) / 4,
        relevance / reading.best if reading.best else 0.0,
        float(rank == 0), 1.0 / (1 + rank), float(not inside), float(relevance >= 0.8 * reading.best),
        float(asked.figure and figure), float(asked.figure and not figure),
        float(asked.amount and cues.gives_amount(text)), float(asked.percent and cues.gives_percent(text)),
        float(when and timed), float(when and not timed),
        float(asked.when and not timed and cues.gives_occasion(text)),
        float(asked.several and unit.is_list), float(asked.who and cues.says_who(text)),
        float(asked.meaning and cues.defines(asked, unit)),
        float(asked.form and form), float(asked.form and not form),
        float(asked.whether and cues.rules(text)),
        float(not asked.negative and not asked.whether and cues.denies(first)),
        float(cues.leans(unit)), float(cues.says_nothing(unit)), float(cues.is_example(unit)),
        float(any(cues.is_aside(part) for part in path[-2:])), float(cues.stale(asked, unit, reading.latest_year)),
        min(2.0, math.log1p(len(text) / _LONG_CHARS)), float(len(text) < _SHORT_CHARS),
        float(unit.is_list), float(unit.fragment.kind == "table"), float(bool(unit.heads) and not unit.is_list),
        float(unit.quotes[0].start <= sum(len(part) + 1 for part in path)),
        min(1.0, len(asked.numbers & cues.numbers(near)) / 2), float(bool(asked.numbers)),
        float(cues.is_exception(unit.quotes[-1].text)),
        *_marks(reading, unit, holder),
    ]  # fmt: skip


def _marks(reading: Reading, unit: Unit, holder: str) -> tuple[float, ...]:
    """What the marks of expected questions say of a unit: the last features of `NAMES`, from ``marked`` on."""
    body = [reading.key(quote.text) for quote in unit.body or unit.quotes]
    said = frozenset(body)
    own = reading.marked.get(holder, ())
    nearest_of_all = max((each.cosine for pairs in reading.marked.values() for each in pairs[:1]), default=0.0)
    pointing = [each for pairs in reading.marked.values() for each in pairs if not said.isdisjoint(each.sentences)]
    nearest = own[0].sentences if own else ()
    return (
        sum(each.share for each in pointing),
        sum(each.share for each in pointing if each.sentences[0] in said),
        sum(each.own_share * _covered(each.sentences, said) for each in own),
        _covered(nearest, said),
        sum(key in nearest for key in body) / len(body),
        max((each.cosine for each in pointing), default=nearest_of_all - _NO_MARK_GAP) - nearest_of_all,
        float(bool(own) and not pointing),
        float(not own),
    )


def _covered(sentences: Sequence[str], said: frozenset[str]) -> float:
    """Share of the marked sentences that are said."""
    return sum(key in said for key in sentences) / len(sentences) if sentences else 0.0


@dataclass(frozen=True, slots=True)
class SentenceModel:
    """Two logistic regressions: for units of fragments whose expected questions are marked, and of those without marks
    (users' own documents, say), where the words have to tell. ``weights``: 2 × (features + 1), the intercept last.
    """

    weights: NDArray[np.float32]
    means: NDArray[np.float32]
    scales: NDArray[np.float32]

    def probabilities(self, rows: Sequence[Sequence[float]] | NDArray[np.float64]) -> NDArray[np.float64]:
        """Probability of each row of `features` to be of a unit that answers."""
        if len(rows) == 0:
            return np.zeros(0)
        rows = np.asarray(rows, dtype=np.float64)
        x = (rows - self.means) / self.scales
        log_odds = x @ self.weights[:, :-1].T + self.weights[:, -1]
        unread = rows[:, NAMES.index("unread")] > 0
        return np.asarray(1.0 / (1.0 + np.exp(-np.where(unread, log_odds[:, 1], log_odds[:, 0]))))


def load_sentence_model(path: Path = MODEL_PATH) -> SentenceModel:
    """The trained model.

    Raises:
        RegisterError: it is missing, or was trained on other features.
    """
    try:
        with np.load(path, allow_pickle=False) as data:
            if int(data["version"]) == SENTENCES_VERSION and tuple(data["names"].tolist()) == tuple(NAMES):
                return SentenceModel(data["weights"], data["means"], data["scales"])
    except (OSError, KeyError, ValueError):
        pass
    raise RegisterError(
        f"Falta data/models/{path.name} o es de otra versión. Restáurelo del repositorio o ejecute "
        "«python scripts/train_sentences.py»."
    )


def save_sentence_model(path: Path, model: SentenceModel) -> None:
    """Write the weights as plain arrays."""
    path.parent.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(
        path,
        weights=model.weights,
        means=model.means,
        scales=model.scales,
        version=np.array(SENTENCES_VERSION),
        names=np.array(NAMES),
    )
