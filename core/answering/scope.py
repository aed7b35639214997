"""Is the question ours, and can the corpus answer it? Category, kind and what to say when the answer is no."""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from core.config import PROJECT_ROOT
from core.errors import RegisterError
from core.models import Category
from core.retrieval.search import SearchResult
from core.retrieval.terms import fold

SCOPE_PATH = PROJECT_ROOT / "data" / "scope.toml"
MODEL_PATH = PROJECT_ROOT / "data" / "models" / "scope.npz"

# Kinds of question, as the text classifier tells them apart. The first is what AsesorIA answers.
KINDS = ("answerable", "no_answer", "other_year", "territory", "social_security", "out_of_scope")
# Raise when the features below change: a model trained on others is refused.
SCOPE_VERSION = 2
_VECTOR_STRETCH = 3.0
# Half of the training questions are cases of one's own, of real ones about a sixth: the threshold makes up for it
# (chosen on the benchmark's dev half).
_PERSONAL_THRESHOLD = 0.8

_YEAR = re.compile(r"(?<![.,/\d])\b(?:19|20)\d{2}\b(?![.,]?\d)(?!\s*(?:€|eur|km|kilos|kg|horas|unidades))")
_SHORT_YEAR = re.compile(r"\b(?:renta|declaracion|ejercicio|campana|ano|iva)\s+(?:del?\s+)?(?:ano\s+)?'?(\d{2})\b")
_EVENT_BEFORE_YEAR = re.compile(
    r"\b(?:compr\w+|empec\w+|empez\w+|abri\w*|alta|jubil\w+|hered\w+|vend\w+|hice|hicim\w+|factur\w+|emit\w+|"
    r"cobr\w+|desde|nac\w+|"
    r"constru\w+|adquir\w+|matricul\w+|firm\w+|contrat\w+|cerr\w+|pague|pagu\w+)\b[^.?!]{0,45}$"
)
_ASKED_YEAR = re.compile(
    r"\b(?:en|de|del|para|ejercicio|ano|renta|campana|calendario|modulos|era|fue)\s+(?:el\s+)?(?:ano\s+)?$"
)
_OWN_PLACE = re.compile(
    r"\b(?:soy|vivo|vivimos|estoy|estamos|tengo|tenemos|trabajo|resido|abro|abri|monto|monte|aqui|domicili\w*|"
    r"afincad\w*|"
    r"empadronad\w*|autonom[oa]|local|taller|bar|tienda|negocio|despacho|consulta|hacienda)\b[^.?!]{0,50}\b(?:en|de|por)\s+(?:la\s+|el\s+)?$"
)
# Words that only somebody of the place uses of their own taxes.
_OWN_WORDS = ("igic", "ipsi", "ticketbai", "batuz", "foral", "hacienda foral", "diputacion foral")
_COUNTERPART = re.compile(
    r"\b(?:client\w*|vend\w*|compr\w*|proveedor\w*|envi\w*|mand\w*|export\w*|import\w*|traslad\w*|empresa)\b[^.?!]{0,40}$"
)
_MONTHS = "enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|octubre|noviembre|diciembre"
_PERSONAL = re.compile(
    r"\bcuanto\s+(?:me|nos)?\s*(?:\w+\s+){0,3}?(?:sale|saldra|toca|tocara|pago|pagare|tengo que pagar|"
    r"voy a pagar|debo pagar|devuelv\w+|"
    r"devolver\w*|quedar?\w*|costar\w*|ahorr\w+|ingres\w+|van a)\b"
    r"|\b(?:me|nos)\s+(?:compensa|conviene|interesa|sale a cuenta|renta mas|sale mejor|trae cuenta|merece la pena)\b"
    r"|\bque me (?:conviene|compensa|interesa|sale)\b|\b(?:calcula\w*|hazme|dime cuanto)\b|\ben mi caso\b|\bmi caso\b"
)


@dataclass(frozen=True, slots=True)
class Territory:
    """A place with a tax authority of its own."""

    name: str
    words: re.Pattern[str]
    administration: str


@dataclass(frozen=True, slots=True)
class ScopeData:
    """The words and texts of ``data/scope.toml``."""

    covered: tuple[int, ...]
    covered_text: str
    social_security: re.Pattern[str]
    social_security_answer: str
    territories: tuple[Territory, ...]
    answers: Mapping[str, str]


@lru_cache(maxsize=2)
def load_scope(path: Path = SCOPE_PATH) -> ScopeData:
    """Read the scope's words and texts.

    Raises:
        RegisterError: the file is not valid.
    """
    try:
        data = tomllib.loads(path.read_text("utf-8"))
        return ScopeData(
            covered=tuple(data["years"]["covered"]),
            covered_text=data["years"]["says"],
            social_security=_words(data["social_security"]["words"]),
            social_security_answer=data["social_security"]["answer"],
            territories=tuple(Territory(t["name"], _words(t["words"]), t["administration"]) for t in data["territory"]),
            answers=dict(data["answers"]),
        )
    except (OSError, tomllib.TOMLDecodeError, KeyError, TypeError, re.error) as error:
        raise RegisterError(f"data/scope.toml no es válido ({error}). Restaure el archivo del repositorio.") from error


def _words(alternatives: str) -> re.Pattern[str]:
    joined = "".join(line.strip() for line in alternatives.splitlines())
    return re.compile(rf"\b(?:{joined})\b")


@dataclass(frozen=True, slots=True)
class Signs:
    """What the words of a question say of its scope."""

    territory: Territory | None
    own_place: bool
    counterpart: bool
    other_year: int | None
    year_is_asked: bool
    social_security: bool

    def numbers(self) -> list[float]:
        """As features."""
        return [
            float(self.territory is not None),
            float(self.own_place),
            float(self.counterpart),
            float(self.other_year is not None),
            float(self.year_is_asked),
            float(self.social_security),
        ]


def read_signs(question: str, scope: ScopeData | None = None) -> Signs:
    """Look for places, years and words of other matters in a question."""
    scope = scope or load_scope()
    text = fold(question)
    territory, own, counterpart = None, False, False
    for candidate in scope.territories:
        for match in candidate.words.finditer(text):
            territory = territory or candidate
            before = text[: match.start()]
            own = own or bool(_OWN_PLACE.search(before)) or match.group() in _OWN_WORDS
            counterpart = counterpart or bool(_COUNTERPART.search(before))
    year, asked = None, False
    for match in _YEAR.finditer(text):
        if int(match.group()) in scope.covered:
            continue
        before = text[: match.start()]
        year = year or int(match.group())
        asked = asked or bool(_ASKED_YEAR.search(before) and not _EVENT_BEFORE_YEAR.search(before))
    for match in _SHORT_YEAR.finditer(text):
        found = 2000 + int(match.group(1))
        if found not in scope.covered and found <= 2040:
            year, asked = year or found, True
    return Signs(
        territory=territory,
        own_place=own,
        counterpart=counterpart,
        other_year=year,
        year_is_asked=asked,
        social_security=bool(scope.social_security.search(text)),
    )


@dataclass(frozen=True, slots=True)
class ScopeModel:
    """Three logistic regressions: the kind from the question's vector and signs; whether it can be answered; whether
    it asks for a verdict on the asker's own data.

    ``kind_weights``: kinds × (vector + signs + 1). ``answer_weights``: (evidence features + 1).
    ``personal_weights``: (vector + `personal_features` + 1).
    """

    kind_weights: NDArray[np.float32]
    personal_weights: NDArray[np.float32]
    answer_weights: NDArray[np.float32]
    means: NDArray[np.float32]
    scales: NDArray[np.float32]

    def kinds(self, vector: NDArray[np.float32], signs: Signs) -> NDArray[np.float64]:
        """Probability of each of `KINDS`."""
        x = np.concatenate([vector, signs.numbers(), [1.0]])
        logits = self.kind_weights.astype(np.float64) @ x
        odds = np.exp(logits - logits.max())
        return np.asarray(odds / odds.sum())

    def personal(self, vector: NDArray[np.float32], question: str) -> float:
        """Probability that the question asks for a verdict on the asker's own case."""
        x = np.concatenate([personal_input(vector, question), [1.0]])
        return float(1.0 / (1.0 + np.exp(-(self.personal_weights.astype(np.float64) @ x))))

    def answerable(self, evidence: NDArray[np.float64]) -> float:
        """Probability that the corpus answers, from `evidence_features`."""
        x = (evidence - self.means) / self.scales
        return float(1.0 / (1.0 + np.exp(-(x @ self.answer_weights[:-1] + self.answer_weights[-1]))))


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


def personal_input(vector: NDArray[np.float32], question: str) -> NDArray[np.float64]:
    """The unadapted vector (stretched: its numbers are small beside the features) and `personal_features`."""
    return np.concatenate([_VECTOR_STRETCH * vector, personal_features(question)]).astype(np.float64)


def evidence_features(result: SearchResult, kinds: NDArray[np.float64], signs: Signs) -> NDArray[np.float64]:
    """What the search found, and what the words say, as numbers for `ScopeModel.answerable`."""
    scores = [f.relevance for f in result.found[:5]] + [0.0] * (5 - len(result.found[:5]))
    logit = [float(np.log(max(s, 1e-4) / max(1 - s, 1e-4))) for s in scores]
    columns = result.candidates
    best = [0.0] * 6
    if columns.places:
        best = [
            float(columns.feature(name).max())
            for name in (
                "best_question_cosine", "best_passage_cosine", "best_over_field",
                "question_coverage", "question_bm25_absolute", "passage_coverage",
            )
        ]  # fmt: skip
    asked_kind = float(np.log(max(kinds[0], 1e-6) / max(1 - kinds[0], 1e-6)))
    return np.array([logit[0], logit[1], logit[0] - logit[4], *best, asked_kind, *signs.numbers()], dtype=np.float64)


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
            data["kind_weights"], data["personal_weights"], data["answer_weights"], data["means"], data["scales"]
        )


def save_scope_model(path: Path, model: ScopeModel) -> None:
    """Write the weights as plain arrays."""
    path.parent.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(
        path,
        kind_weights=model.kind_weights,
        personal_weights=model.personal_weights,
        answer_weights=model.answer_weights,
        means=model.means,
        scales=model.scales,
        version=np.array(SCOPE_VERSION),
        kinds=np.array(KINDS),
    )


@dataclass(frozen=True, slots=True)
class Assessment:
    """The verdict on a question. ``refusal`` is what to say where it is not to be answered ('' where it is)."""

    category: Category
    kind: str
    answerable: float
    refusal: str = ""


def assess(question: str, result: SearchResult, model: ScopeModel, *, threshold: float) -> Assessment:
    """Decide category and kind, and whether the evidence suffices (``threshold`` on the probability)."""
    scope = load_scope()
    if not has_known_words(question):
        return Assessment(Category.OUT_OF_SCOPE, "out_of_scope", 0.0, scope.answers["unclear"])
    signs = read_signs(question, scope)
    kinds = model.kinds(result.vector, signs)
    answerable = model.answerable(evidence_features(result, kinds, signs))
    if _asks_for_another_year(signs, result):
        return Assessment(_category("other_year"), "other_year", answerable, refusal("other_year", signs, scope))
    if answerable >= threshold:
        personal = model.personal(result.raw, question) >= _PERSONAL_THRESHOLD
        return Assessment(Category.PERSONAL_CASE if personal else Category.DIRECT, "answerable", answerable)
    kind = KINDS[1 + int(np.argmax(kinds[1:]))]
    if signs.territory is not None and (signs.own_place or kind == "territory") and not signs.counterpart:
        kind = "territory"
    elif signs.other_year is not None and signs.year_is_asked:
        kind = "other_year"
    elif (kind == "territory" and signs.territory is None) or (kind == "other_year" and signs.other_year is None):
        kind = "no_answer"
    return Assessment(_category(kind), kind, answerable, refusal(kind, signs, scope))


def _asks_for_another_year(signs: Signs, result: SearchResult) -> bool:
    """Whether the year asked for is one that the best fragments do not speak of."""
    if signs.other_year is None or not signs.year_is_asked:
        return False
    year = str(signs.other_year)
    return not any(year in hit.fragment.text for hit in result.found[:2])


def _category(kind: str) -> Category:
    return Category.NO_ANSWER if kind in ("no_answer", "other_year") else Category.OUT_OF_SCOPE


def refusal(kind: str, signs: Signs, scope: ScopeData) -> str:
    """What to say to a question that is not answered: why, and who can."""
    if kind == "territory" and signs.territory is not None:
        return (
            f"Su pregunta es de {signs.territory.name}, que tiene normas o impuestos propios. AsesorIA solo conoce los del "
            f"territorio común y no responde con ellos. La administración competente es {signs.territory.administration}."
        )
    if kind == "other_year" and signs.other_year is not None:
        return (
            f"Su pregunta es del año {signs.other_year}, y los documentos de AsesorIA cubren {scope.covered_text}. "
            f"Las cuantías y los plazos cambian de un año a otro, así que no respondo con los de otro. "
            "Consulte el manual de ese año en la sede de la Agencia Tributaria."
        )
    if kind == "social_security":
        return scope.social_security_answer
    return scope.answers["out_of_scope" if kind == "out_of_scope" else "no_answer"]


def has_known_words(question: str) -> bool:
    """Whether at least one word of the question is a word (of Spanish, or nearly)."""
    from core.ingestion.cleaning import spanish_word

    words = re.findall(r"[^\W\d_]{2,}", question)
    if not words:
        return bool(re.search(r"\d{3}", question))  # "¿303?" is a form
    return any(spanish_word(word) >= 2.0 for word in words)


def is_other_language(question: str) -> bool:
    """Whether a question of at least four words is plainly in another language."""
    from wordfreq import zipf_frequency

    words = re.findall(r"[^\W\d_]+", question.casefold())
    if len(words) < 4:
        return False

    def mean(language: str) -> float:
        return float(sum(zipf_frequency(w, language) for w in words)) / len(words)

    spanish = mean("es")
    return max(mean(language) for language in ("en", "fr", "de", "it", "pt", "ca")) > spanish + 0.7
