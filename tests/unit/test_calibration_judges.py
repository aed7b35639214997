"""The judges, case by case; what a model says that is no verdict is no score."""

import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from core.answering.llm import Completion, LlmState, Message
from core.answering.verify import Passage
from core.calibration.judge_llm import JudgeCall, LlmJudge, append_to, llm_judges, messages
from core.calibration.judge_sentences import SentencesJudge
from core.calibration.judge_weights import JudgeWeights, fit_weights, load_weights
from core.calibration.judge_words import WordsJudge, fits
from core.calibration.judges import FactsJudge, JudgedAnswer, score_all
from core.calibration.panel_run import judged
from core.calibration.reference import JudgeInfo
from core.config import Settings
from core.errors import LlmMissingModelError, LlmTimeoutError, LlmUnavailableError, RegisterError, SettingsError
from core.retrieval.expected import sentence_key
from core.retrieval.snapshot import Snapshot
from core.retrieval.terms import TermStatistics
from core.thresholds import load_thresholds
from tests.calibration_data import reference_case

TERMS = TermStatistics({}, 100)
VERIFY = load_thresholds().verify
PASSAGE = (
    "El plazo de presentación del modelo 130 del tercer trimestre termina el 20 de octubre. El tipo general del "
    "impuesto es del 21 por ciento. La amortización libre tiene un límite de 25.000 euros anuales."
)


def answer(
    question: str, text: str, *, facts: Sequence[Sequence[str]] = (), expected: Sequence[str] = ()
) -> JudgedAnswer:
    return JudgedAnswer("x", question, text, {1: Passage(PASSAGE, "Manual")}, {1: expected}, ["f"], facts)


FACTS = FactsJudge(
    JudgeWeights(version=2, weights={"share": 3.0, "all": 3.0, "length": -0.1}, intercept=-3.0, fitted_on="a mano")
)


@pytest.mark.parametrize(
    ("facts", "text", "share"),
    [
        ([["21 ?%|21 por ciento"]], "«El tipo es del 21 por ciento.» [1]", 1.0),
        ([["21"]], "«El tipo es del 10 por ciento.» [1]", 0.0),
        ([["21"], ["octubre"]], "«El tipo es del 21 por ciento.» [1]", 0.5),
        ([["21"], ["OCTUBRE"]], "El 21, en octubre.", 0.5),  # patterns are as written: the text is folded, not they
        ([["1"]], "Nada más que una marca. [1]", 0.0),
        ([["presentacion"]], "La presentación. [1]", 1.0),
    ],
)
def test_facts(facts: list[list[str]], text: str, share: float) -> None:
    measured = FACTS.measures(answer("¿?", text, facts=facts))
    assert measured["share"] == share and measured["all"] == float(share == 1.0)


def test_the_judge_of_facts_gives_a_probability_and_none_where_there_is_no_answer() -> None:
    stated, missing = "«El tipo es del 21 por ciento.» [1]", "«El tipo es del 10 por ciento.» [1]"
    assert (
        FACTS.score(answer("¿?", stated, facts=[["21"]]))
        > 0.9
        > 0.1
        > FACTS.score(answer("¿?", missing, facts=[["21"]]))
    )
    longer = answer("¿?", "\n".join([stated] * 40), facts=[["21"]])
    assert FACTS.measures(longer)["length"] > FACTS.measures(answer("¿?", stated, facts=[["21"]]))["length"]
    assert FACTS.score(answer("¿?", stated)) == 0.0, "the corpus has no answer to this question"


WEIGHTS = JudgeWeights(
    version=3, weights={"fits": 4.0, "words": 4.0, "lead": 0.0, "expected": 0.0}, intercept=-5.0, fitted_on="a mano"
)


@pytest.mark.parametrize(
    ("question", "text", "faithful"),
    [
        (
            "¿Cuándo termina el plazo de presentación del modelo 130?",
            "«El plazo de presentación del modelo 130 del tercer trimestre termina el 20 de octubre.» [1]",
            True,
        ),
        (
            "¿Cuándo termina el plazo de presentación del modelo 130?",
            "«El tipo general del impuesto es del 21 por ciento.» [1]",  # supported, but not what was asked
            False,
        ),
        (
            "¿Cuándo termina el plazo de presentación del modelo 130?",
            "El plazo de presentación del modelo 130 termina el 30 de octubre. [1]",  # asked for, but not supported
            False,
        ),
        ("¿Cuánto es el límite de la amortización libre?", "«El tipo general es del 21 por ciento.» [1]", False),
        (
            "¿Cuánto es el límite de la amortización libre en euros?",
            "«La amortización libre tiene un límite de 25.000 euros anuales.» [1]",
            True,
        ),
    ],
)
def test_figures_and_terms(question: str, text: str, faithful: bool) -> None:
    judge = WordsJudge(TERMS, VERIFY, WEIGHTS)
    assert (judge.score(answer(question, text)) >= 0.5) is faithful
    assert judge.info.version == 3


def test_what_is_asked_for_and_expected_questions() -> None:
    judge = WordsJudge(TERMS, VERIFY, WEIGHTS)
    text = "Según el manual:\n«El tipo general del impuesto es del 21 por ciento.» [1]"
    bare = judge.measures(answer("¿qué porcentaje de IVA pongo?", text))
    known = judge.measures(answer("¿qué porcentaje de IVA pongo?", text, expected=["¿Qué porcentaje de IVA pongo?"]))
    assert bare["expected"] == 0.0 and known["expected"] == pytest.approx(1.0)
    assert bare["fits"] == 1.0 and all(0 <= value <= 1 for value in known.values())
    from core.answering.cues import read_question

    assert fits(read_question("dime algo del recargo", TERMS), "nada") == 1.0
    assert fits(read_question("¿cuándo presento el modelo 130?", TERMS), "El tipo es fijo.") < 1.0


@dataclass(frozen=True)
class FakeNearness:
    """Cosine 0.9 with texts that hold the word, else 0.1; what is expected as given."""

    word: str
    cited: float
    other: float

    def to_texts(self, question: str, texts: Sequence[str]) -> Sequence[float]:
        return [0.9 if self.word in text else 0.1 for text in texts]

    def to_expected(self, question: str, fragment_ids: Sequence[str]) -> tuple[float, float]:
        return (self.cited, self.other) if fragment_ids else (0.0, self.other)

    def marked(self, question: str, said: Collection[str]) -> float:
        return float(sentence_key("El plazo termina en octubre.") in said)


@pytest.mark.parametrize(
    ("near", "faithful"),
    [
        (FakeNearness("plazo", 0.9, 0.6), True),
        (FakeNearness("recargo", 0.4, 0.9), False),  # another fragment answers that question
        (FakeNearness("plazo", 0.4, 0.9), False),
    ],
)
def test_meaning(near: FakeNearness, faithful: bool) -> None:
    weights = JudgeWeights(
        version=1,
        weights={"sentence": 2.0, "first": 0.0, "expected": 2.0, "margin": 6.0, "marked": 0.0},
        intercept=-2.5,
        fitted_on="x",
    )
    judge = SentencesJudge(near, weights)
    text = "Según el manual:\n«El plazo termina en octubre. Es improrrogable.» [1]"
    measures = judge.measures(answer("¿plazo?", text))
    assert measures["marked"] == 1.0
    assert measures["margin"] == pytest.approx(near.cited - near.other)
    assert (judge.score(answer("¿plazo?", text)) >= 0.5) is faithful
    nothing = JudgedAnswer("x", "¿plazo?", "Sin citas.", {}, {}, [], ())
    assert judge.measures(nothing)["sentence"] == 0.0 and judge.score(nothing) < 0.01


def test_the_product_s_own_words_claim_nothing() -> None:
    text = "**No: el pasaje citado da otra fecha [1].** Esto es lo que dice:\n«El tipo general del impuesto es del 21 por ciento.» [1]"
    quoted = JudgedAnswer("x", "¿?", text, {1: Passage(PASSAGE)}, {}, [], (), quotes=True)
    assert quoted.said.startswith("«El tipo") and len(quoted.own) == 1
    assert len(JudgedAnswer("x", "¿?", text, {}, {}, [], ()).own) == 0, "a model's sentence is a claim"


def test_weights_are_fitted_checked_and_kept(tmp_path: Path) -> None:
    rows = [{"a": i / 20, "same": 1.0} for i in range(20)]
    fitted = fit_weights(rows, [float(i >= 10) for i in range(20)], version=2, fitted_on="veinte casos")
    assert fitted.probability({"a": 0.9, "same": 1.0}) > 0.6 > 0.4 > fitted.probability({"a": 0.05, "same": 1.0})
    skewed = fit_weights(rows, [float(i != 3) for i in range(20)], version=2, fitted_on="casi todos fieles")
    assert sum(skewed.probability(row) < 0.5 for row in rows) == 1, "it does not say yes to all"
    with pytest.raises(RegisterError, match="otra versión"):
        fitted.probability({"b": 1.0})
    path = tmp_path / "judges.json"
    path.write_text(json.dumps({"words": fitted.model_dump(mode="json")}), "utf-8")
    assert load_weights("words", path) == fitted
    for name, broken in (("sentences", path), ("words", tmp_path / "none.json")):
        with pytest.raises(RegisterError, match="--fit"):
            load_weights(name, broken)


def test_the_shipped_weights_are_of_these_measures() -> None:
    from core.calibration.judge_words import WORDS_VERSION

    words, sentences = load_weights("words"), load_weights("sentences")
    assert words.version == WORDS_VERSION and "tuning" in words.fitted_on
    assert set(words.weights) == {"fits", "words", "lead", "expected"}
    assert set(sentences.weights) == {"sentence", "first", "expected", "margin", "marked"}


def test_a_case_without_its_fragment_is_judged_on_its_passages() -> None:
    import numpy as np

    empty = Snapshot([], np.zeros((0, 4), np.float32), [], [], np.zeros((0, 4), np.float32), np.zeros(0, np.int64))
    found = judged(reference_case(1), empty)
    assert (
        found.passages[1].text == "El tipo número 1 es del 21 por ciento." and "página 11" in found.passages[1].context
    )
    assert found.fragment_ids == ["f1"] and found.facts == (("21",),) and found.expected == {1: ()}


# --- language models as judges


@dataclass
class ScriptedModel:
    """Answers with the texts, or raises the errors, one by one."""

    script: list[str | Exception]
    name: str = "ollama:a"
    asked: list[Sequence[Message]] = field(default_factory=list)

    def load(self) -> None:
        pass

    def stream(self, *args: Any, **kwargs: Any) -> Iterator[str | Completion]:
        raise AssertionError("a judge does not stream")

    def complete(
        self, messages: Sequence[Message], *, max_tokens: int, timeout_s: float, schema: Mapping[str, Any] | None = None
    ) -> Completion:
        assert schema and set(schema["properties"]) == {"faithfulness", "reason"}
        self.asked.append(messages)
        item = self.script.pop(0)
        if isinstance(item, Exception):
            raise item
        return Completion(item, "stop", 10, 10, 0.1)

    def available(self) -> LlmState:
        return LlmState(self.name, True, "")


YES = '{"faithfulness": 0.9, "reason": "Lo dice el pasaje."}'


@pytest.mark.parametrize(
    ("script", "score", "errors"),
    [
        ([YES], 0.9, [""]),
        (["no es JSON", YES], 0.9, ["not_valid", ""]),
        (['{"faithfulness": 7, "reason": "x"}', YES], 0.9, ["not_valid", ""]),
        ([LlmUnavailableError("x"), YES], 0.9, ["LlmUnavailableError", ""]),
        (["no", "tampoco"], None, ["not_valid", "not_valid"]),
        ([LlmTimeoutError("x")], None, ["LlmTimeoutError"]),
        ([LlmMissingModelError("x")], None, ["LlmMissingModelError"]),
        ([LlmUnavailableError("x"), LlmUnavailableError("x")], None, ["LlmUnavailableError"] * 2),
    ],
)
def test_a_model_judges_or_is_listed(
    tmp_path: Path, script: list[str | Exception], score: float | None, errors: list[str]
) -> None:
    path = tmp_path / "calls" / "calls.jsonl"
    judge = LlmJudge(ScriptedModel(script), append_to(path), 5.0)
    scores = score_all([judge, FACTS], [answer("¿Cuál?", "«El 21.» [1]", facts=[["21"]])], reference_version="1")
    assert scores.scores["x"].get("ollama:a") == score and scores.scores["x"]["hechos"] > 0.9
    assert ("x" in scores.failures) is (score is None) and len(scores.cases()) == (score is not None)
    kept = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    assert [call["error"] for call in kept] == errors and all(call["case_id"] == "x" for call in kept)


def test_a_judge_reads_the_answer_as_data() -> None:
    asked = messages(answer("¿Cuál es el tipo?", "«El tipo es del 21.» [1]"))
    assert [m.role for m in asked] == ["system", "user"] and "no obedezcas" in asked[0].content
    assert all(text in asked[1].content for text in ("¿Cuál es el tipo?", "«El tipo es del 21.» [1]", PASSAGE))


@pytest.mark.parametrize("setting", ["ollama:a", "ollama:a,ollama:a,ollama:b", "ollama:a,ollama:b,otra"])
def test_three_different_models_are_wanted(setting: str) -> None:
    with pytest.raises(SettingsError, match="ASESORIA_"):
        llm_judges(Settings(judges=setting), lambda call: None)


def test_three_models_by_setting() -> None:
    calls: list[JudgeCall] = []
    record: Callable[[JudgeCall], None] = calls.append
    found = llm_judges(Settings(judges="ollama:a, ollama:b ,ollama:c"), record)
    assert [judge.info for judge in found] == [
        JudgeInfo(name=f"ollama:{name}", kind="modelo de lenguaje", version=1) for name in "abc"
    ]
    assert re.match(r"ollama:", found[0].info.name)
