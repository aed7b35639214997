"""The words of the quality battery. Frozen values; (de)serialised in `core.qa.serial` only."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal

from core.models import Answer, Scope


class BookType(StrEnum):
    """What kind of book a document is; decides how many questions of each type it gets."""

    PRESCRIPTIVE = "prescriptive"
    NARRATIVE = "narrative"
    ANALYTIC = "analytic"
    ACADEMIC = "academic"
    HYBRID = "hybrid"


class QuestionType(StrEnum):
    """A: direct retrieval. B: application and inference. C: the document's borders. D: traps."""

    A = "A"
    B = "B"
    C = "C"
    D = "D"


class Difficulty(StrEnum):
    """How much the question asks of the engine, in the seed's words."""

    BASIC = "básica"
    INTERMEDIATE = "intermedia"
    ADVANCED = "avanzada"


class Form(StrEnum):
    """The forms of questions, grouped by type in `FORMS`."""

    DEFINITION = "definition"
    FIGURE = "figure"
    DEADLINE = "deadline"
    CONDITION = "condition"
    LIST = "list"
    TABLE = "table"
    STATEMENT = "statement"
    CASE = "case"
    CONSEQUENCE = "consequence"
    RELATION = "relation"
    INFERENCE = "inference"
    ABSENT_TOPIC = "absent_topic"
    NEWER_RESEARCH = "newer_research"
    LIMITATION = "limitation"
    NOT_APPLICABLE = "not_applicable"
    FALSE_STATEMENT = "false_statement"
    OPPOSITE_IDEA = "opposite_idea"
    FAKE_QUOTATION = "fake_quotation"
    WRONG_AUTHOR = "wrong_author"


FORMS: Mapping[QuestionType, tuple[Form, ...]] = {
    QuestionType.A: (
        Form.DEFINITION, Form.FIGURE, Form.DEADLINE, Form.CONDITION, Form.LIST, Form.TABLE, Form.STATEMENT,
    ),
    QuestionType.B: (Form.CASE, Form.CONSEQUENCE, Form.RELATION, Form.INFERENCE),
    QuestionType.C: (Form.ABSENT_TOPIC, Form.NEWER_RESEARCH, Form.LIMITATION, Form.NOT_APPLICABLE),
    QuestionType.D: (Form.FALSE_STATEMENT, Form.OPPOSITE_IDEA, Form.FAKE_QUOTATION, Form.WRONG_AUTHOR),
}  # fmt: skip

# Questions of each type (A, B, C, D): the calibration table, with type D raised to the checklist's three.
COUNTS: Mapping[BookType, Mapping[QuestionType, int]] = {
    book: dict(zip(QuestionType, counts, strict=True))
    for book, counts in {
        BookType.PRESCRIPTIVE: (4, 5, 3, 3),
        BookType.NARRATIVE: (5, 3, 4, 3),
        BookType.ANALYTIC: (5, 4, 4, 3),
        BookType.ACADEMIC: (6, 3, 4, 3),
        BookType.HYBRID: (4, 4, 4, 3),
    }.items()
}
MIN_QUESTIONS, MAX_QUESTIONS, MIN_PER_TYPE = 15, 20, 3


@dataclass(frozen=True, slots=True)
class Profile:
    """The author's intellectual profile ("perfil intelectual", phase 1B); all parts may be empty.

    ``vocabulary``: words and phrases that are the author's own. ``lenses``: how the author looks at things.
    ``negative_filters``: what the author would never say. ``tone``: one line on the register.
    """

    vocabulary: tuple[str, ...] = ()
    lenses: tuple[str, ...] = ()
    negative_filters: tuple[str, ...] = ()
    tone: str = ""


@dataclass(frozen=True, slots=True)
class BookInfo:
    """The document under test, as a book. ``doc_type`` is the register's (manual, ley, ...), '' for an upload."""

    doc_id: str
    title: str
    author: str
    type: BookType
    category: str = ""
    doc_type: str = ""
    profile: Profile | None = None
    source_scope: Scope = Scope.PUBLIC
    session_id: str = ""


@dataclass(frozen=True, slots=True)
class Criteria:
    """What an answer is judged by.

    ``precision``: the facts that must be there, each as its alternative wordings ("10 por ciento", "10 %").
    ``voice``: words of the author or the register that should appear. ``limits``: what must not be said, as
    sentences for a person. ``forbidden``: figures or phrases that, affirmed, show the answer to be wrong.
    """

    precision: tuple[tuple[str, ...], ...] = ()
    voice: tuple[str, ...] = ()
    limits: tuple[str, ...] = ()
    forbidden: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class BatteryQuestion:
    """One question. ``id`` is type and number ("A-1").

    ``expected_fragments``: ids of fragments that answer it, best first; empty for most of type C, where the document
    has no answer. ``section``: where it was taken from ('' for questions on the document as a whole). For type C
    ``topic`` is the absent thing asked for. For type D ``false_statement`` is what is to be refused, and
    ``true_passage`` the source's own sentence that contradicts it (for a quotation: the nearest real one).
    """

    id: str
    type: QuestionType
    form: Form
    difficulty: Difficulty
    question: str
    expected_fragments: tuple[str, ...]
    section: str
    expected_answer: str
    criteria: Criteria
    topic: str = ""
    false_statement: str = ""
    true_passage: str = ""


@dataclass(frozen=True, slots=True)
class Shortfall:
    """Questions of one type that could not be made, and why (Spanish)."""

    type: QuestionType
    asked: int
    made: int
    reason: str


@dataclass(frozen=True, slots=True)
class BatterySummary:
    """The seed's summary: distributions, sections covered, gaps (sections without a question), shortfalls."""

    by_type: Mapping[str, int]
    by_difficulty: Mapping[str, int]
    sections: tuple[str, ...]
    gaps: tuple[str, ...]
    shortfalls: tuple[Shortfall, ...] = ()


@dataclass(frozen=True, slots=True)
class Battery:
    """The questions for one document. ``generator`` is "deterministic" or "llm:MODEL".

    ``fragments_version`` is a hash of the document's fragment ids: another value means another text.
    """

    id: str
    book: BookInfo
    seed: int
    generator: str
    generator_version: int
    fragments_version: str
    questions: tuple[BatteryQuestion, ...]
    summary: BatterySummary


@dataclass(frozen=True, slots=True)
class GivenAnswer:
    """What the engine answered to one question of a battery. ``error``: why there is no answer (Spanish), else ''."""

    question_id: str
    answer: Answer | None
    seconds: float
    answered_at: str
    error: str = ""


class Dimension(StrEnum):
    """What is scored, 1–10 each."""

    PRECISION = "precision"
    VOICE = "voice"
    LIMITS = "limits"
    UTILITY = "utility"


# Weights of the seed: 35/25/25/15.
WEIGHTS: Mapping[Dimension, float] = {
    Dimension.PRECISION: 0.35,
    Dimension.VOICE: 0.25,
    Dimension.LIMITS: 0.25,
    Dimension.UTILITY: 0.15,
}


@dataclass(frozen=True, slots=True)
class DimensionScore:
    """One dimension's score (1–10) with a quotation of the answer that shows it ('' where nothing can be quoted)."""

    dimension: Dimension
    score: float
    evidence: str
    note: str = ""


class Cause(StrEnum):
    """Root causes of the seed's table; each has its phase in `PHASES`."""

    INVENTS_FACTS = "invents_facts"
    WRONG_VOICE = "wrong_voice"
    UNKNOWN_TOPIC = "unknown_topic"
    CONFIRMS_FALSE = "confirms_false"
    IGNORES_LIMITS = "ignores_limits"
    NOT_ACTIONABLE = "not_actionable"


class Phase(StrEnum):
    """Where to return to; what each means for a corpus document is told by the verdict's module."""

    PROFILE = "1B"
    CONTENT = "3"
    CONTENT_OR_SOURCE = "3 o 4"
    SOURCE = "4"
    SOURCE_BLOCK_1 = "4 (Bloque 1)"


PHASES: Mapping[Cause, Phase] = {
    Cause.INVENTS_FACTS: Phase.SOURCE,
    Cause.WRONG_VOICE: Phase.PROFILE,
    Cause.UNKNOWN_TOPIC: Phase.CONTENT_OR_SOURCE,
    Cause.CONFIRMS_FALSE: Phase.SOURCE_BLOCK_1,
    Cause.IGNORES_LIMITS: Phase.PROFILE,
    Cause.NOT_ACTIONABLE: Phase.CONTENT,
}


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """Why a question did not pass: root cause, phase to return to, what failed and what to correct (Spanish)."""

    cause: Cause
    phase: Phase
    failed: str
    correction: str


@dataclass(frozen=True, slots=True)
class Judgement:
    """A judge's scores for one answer. ``scores`` is empty where it could not be judged; ``reason`` then says why.

    ``judge``: "comprobador" or "llm:MODEL"; ``prompt_version`` is '' for the comprobador. ``hallucinations``: stretches
    of the answer that state what no source says.
    """

    judge: str
    scores: tuple[DimensionScore, ...]
    hallucinations: tuple[str, ...] = ()
    diagnosis: Diagnosis | None = None
    reason: str = ""
    prompt_version: str = ""

    @property
    def judged(self) -> bool:
        """Whether all dimensions have a score."""
        return {s.dimension for s in self.scores} == set(Dimension)


class QuestionVerdict(StrEnum):
    """≥ 7.5 pass, 6.0–7.4 borderline, < 6.0 fail."""

    PASS = "pass"
    BORDERLINE = "borderline"
    FAIL = "fail"
    NOT_JUDGED = "not_judged"


Verdict = Literal["approve", "human_review", "reject"]


@dataclass(frozen=True, slots=True)
class QuestionResult:
    """A question, what was answered, how it was judged. ``score`` (1–10, unrounded) is None where not judged."""

    question: BatteryQuestion
    given: GivenAnswer
    judgement: Judgement
    score: float | None
    verdict: QuestionVerdict
    diagnosis: Diagnosis | None = None


@dataclass(frozen=True, slots=True)
class TypeScore:
    """One row of the report's table. ``mean`` is None where no question of the type was judged."""

    type: QuestionType
    questions: int
    mean: float | None
    passed: int
    borderline: int
    failed: int
    not_judged: int = 0


@dataclass(frozen=True, slots=True)
class CheckLine:
    """One line of the seed's checklist, computed; ``detail`` says from what. ``ok`` None: the line does not apply."""

    text: str
    ok: bool | None
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Report:
    """A battery's run with its verdict, as stored, exported and compared. Scores are unrounded.

    ``section_scores``: mean by section. ``human``: question ids for a person, each with why. ``phase``: where to return
    to on a rejection. ``rerun``: what to run again (Spanish). ``engine``: mode and model that answered.
    """

    id: str
    battery: Battery
    results: tuple[QuestionResult, ...]
    types: tuple[TypeScore, ...]
    section_scores: Mapping[str, float]
    global_score: float | None
    verdict: Verdict
    reasons: tuple[str, ...]
    patterns: tuple[str, ...]
    checklist: tuple[CheckLine, ...]
    created_at: str
    engine: str
    judge: str
    human: Mapping[str, str] = field(default_factory=dict)
    phase: Phase | None = None
    cause: Cause | None = None
    correction: str = ""
    rerun: tuple[str, ...] = ()
