"""From scores to verdicts: one question's, then the battery's. Pure; every boundary is a test.

Precedence of the battery's verdict (DESIGN): reject, then human review, then approve. Scores are compared unrounded.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_DOWN, Decimal

from core.models import Scope
from core.qa.models import (
    PHASES,
    WEIGHTS,
    Cause,
    Diagnosis,
    Dimension,
    DimensionScore,
    Judgement,
    Phase,
    QuestionResult,
    QuestionType,
    QuestionVerdict,
    TypeScore,
    Verdict,
)
from core.thresholds import QaThresholds

# Sums of weighted scores carry the error of binary fractions: 7.5 must not become 7.499999999.
_DIGITS = 6

# What each phase means, for a book of an author and for a document of the corpus or an upload.
PHASE_MEANING: Mapping[Phase, tuple[str, str]] = {
    Phase.PROFILE: ("perfil del autor", "registro y ámbito"),
    Phase.CONTENT: ("contenido por secciones", "secciones"),
    Phase.CONTENT_OR_SOURCE: ("contenido por secciones o Fuente Completa", "secciones o fuente indexada"),
    Phase.SOURCE: ("Fuente Completa", "fuente indexada"),
    Phase.SOURCE_BLOCK_1: ("Fuente Completa, bloque 1 (filtros negativos)", "fuente indexada, filtros negativos"),
}
CAUSE_TEXT: Mapping[Cause, tuple[str, str]] = {
    Cause.INVENTS_FACTS: ("afirma hechos que la fuente no dice", "Completar los huecos de la fuente."),
    Cause.WRONG_VOICE: ("la voz no es la del autor o la del registro institucional", "Refinar lentes y vocabulario."),
    Cause.UNKNOWN_TOPIC: ("no da lo que la fuente dice del tema", "Ampliar el fragmento correspondiente."),
    Cause.CONFIRMS_FALSE: ("no rechaza la afirmación falsa", "Reforzar los filtros negativos."),
    Cause.IGNORES_LIMITS: ("no reconoce los límites del documento", "Refinar el manejo de la incertidumbre."),
    Cause.NOT_ACTIONABLE: ("no le sirve al lector para lo que preguntó", "Reescribir la guía práctica de esa sección."),
}


def cut(score: float) -> str:
    """A score with one decimal, cut and not rounded: 7.95 shows 7.9."""
    return str(Decimal(str(round(score, _DIGITS))).quantize(Decimal("0.1"), rounding=ROUND_DOWN))


def weighted(scores: Sequence[DimensionScore]) -> float:
    """Precision × 0.35 + voice × 0.25 + limits × 0.25 + utility × 0.15, 1..10.

    Raises:
        ValueError: a dimension is absent or given twice, or a score is outside 1..10.
    """
    found = {s.dimension: s.score for s in scores}
    if set(found) != set(Dimension) or len(scores) != len(found):
        raise ValueError("each of the four dimensions must be scored once")
    if not all(1 <= value <= 10 for value in found.values()):
        raise ValueError("scores go from 1 to 10")
    return round(sum(WEIGHTS[dimension] * value for dimension, value in found.items()), _DIGITS)


def question_verdict(score: float | None, thresholds: QaThresholds) -> QuestionVerdict:
    """From 7.5 it passes, from 6.0 it is borderline, else it fails; None is not judged."""
    if score is None:
        return QuestionVerdict.NOT_JUDGED
    if score >= thresholds.question_pass:
        return QuestionVerdict.PASS
    return QuestionVerdict.BORDERLINE if score >= thresholds.question_borderline else QuestionVerdict.FAIL


def phase_name(phase: Phase, scope: Scope | None) -> str:
    """The phase with what it means; ``scope`` None is a book with an author's voice."""
    book, document = PHASE_MEANING[phase]
    return f"Fase {phase.value}: {book if scope is None else document}"


def diagnose(kind: QuestionType, judgement: Judgement, thresholds: QaThresholds) -> Diagnosis | None:
    """The root cause of an answer that does not pass; the judge's own where it gave one. None where it passes."""
    if not judgement.judged:
        return None
    if question_verdict(weighted(judgement.scores), thresholds) is QuestionVerdict.PASS:
        return None
    if judgement.diagnosis:
        return judgement.diagnosis
    score = {s.dimension: s.score for s in judgement.scores}
    low = thresholds.question_borderline
    if kind is QuestionType.D and score[Dimension.LIMITS] < low:
        cause = Cause.CONFIRMS_FALSE
    elif kind is QuestionType.C and score[Dimension.LIMITS] < low:
        cause = Cause.IGNORES_LIMITS
    elif judgement.hallucinations:
        cause = Cause.INVENTS_FACTS
    else:
        worst = min(Dimension, key=lambda dimension: (score[dimension], -WEIGHTS[dimension]))
        cause = {
            Dimension.PRECISION: Cause.UNKNOWN_TOPIC,
            Dimension.VOICE: Cause.WRONG_VOICE,
            Dimension.LIMITS: Cause.IGNORES_LIMITS,
            Dimension.UTILITY: Cause.NOT_ACTIONABLE,
        }[worst]
    failed, correction = CAUSE_TEXT[cause]
    return Diagnosis(cause, PHASES[cause], failed[0].upper() + failed[1:] + ".", correction)


def type_scores(results: Sequence[QuestionResult]) -> tuple[TypeScore, ...]:
    """One row per type, A to D; what was not judged is counted and not averaged."""
    rows = []
    for kind in QuestionType:
        own = [r for r in results if r.question.type is kind]
        count = Counter(r.verdict for r in own)
        rows.append(
            TypeScore(
                type=kind,
                questions=len(own),
                mean=_mean(own),
                passed=count[QuestionVerdict.PASS],
                borderline=count[QuestionVerdict.BORDERLINE],
                failed=count[QuestionVerdict.FAIL],
                not_judged=count[QuestionVerdict.NOT_JUDGED],
            )
        )
    return tuple(rows)


def global_score(results: Sequence[QuestionResult]) -> float | None:
    """Mean over the questions judged; None where none was."""
    return _mean(results)


def section_scores(results: Sequence[QuestionResult]) -> dict[str, float]:
    """Mean by section of the document; questions on the whole document and unjudged ones are left out."""
    sections = sorted({r.question.section for r in results if r.question.section})
    means = {s: _mean([r for r in results if r.question.section == s]) for s in sections}
    return {section: mean for section, mean in means.items() if mean is not None}


def _mean(results: Sequence[QuestionResult]) -> float | None:
    scores = [r.score for r in results if r.score is not None]
    return round(sum(scores) / len(scores), _DIGITS) if scores else None


@dataclass(frozen=True, slots=True)
class Decision:
    """The battery's verdict with its reasons (Spanish), and on a rejection the cause and the phase to return to."""

    verdict: Verdict
    reasons: tuple[str, ...]
    cause: Cause | None = None
    phase: Phase | None = None


def decide(results: Sequence[QuestionResult], *, checklist_true: bool, thresholds: QaThresholds) -> Decision:
    """The verdict on the whole battery.

    ``checklist_true``: whether every line that can be known before the verdict holds.
    """
    score = global_score(results)
    failed = Counter(r.question.type for r in results if r.verdict is QuestionVerdict.FAIL)
    asked = Counter(r.question.type for r in results)
    rejected = _rejections(score, failed, asked, thresholds)
    if rejected:
        cause, phase = _root_cause(results)
        if failed[QuestionType.C] > thresholds.max_failed_c and len(rejected) == 1:
            phase = Phase.SOURCE  # the seed's own rule: more than one failed C returns to phase 4
        return Decision("reject", tuple(rejected), cause, phase)
    review = []
    if score is None:
        review.append("No se ha podido juzgar ninguna pregunta.")
    elif score < thresholds.approve:
        review.append(f"Score global {cut(score)}: entre {thresholds.review} y {thresholds.approve}.")
    if failed[QuestionType.D]:
        review.append(f"{failed[QuestionType.D]} fallo(s) en preguntas trampa (tipo D).")
    unjudged = sum(r.verdict is QuestionVerdict.NOT_JUDGED for r in results)
    if unjudged:
        review.append(f"{unjudged} pregunta(s) sin juzgar.")
    if not checklist_true:
        review.append("No se cumple toda la lista de comprobación.")
    if review:
        return Decision("human_review", tuple(review))
    return Decision("approve", (f"Score global {cut(score or 0)}, sin fallos en preguntas trampa.",))


def _rejections(
    score: float | None, failed: Counter[QuestionType], asked: Counter[QuestionType], thresholds: QaThresholds
) -> list[str]:
    reasons = []
    if score is not None and score < thresholds.review:
        reasons.append(f"Score global {cut(score)}, menor que {thresholds.review}.")
    if failed[QuestionType.D] > thresholds.max_failed_d:
        reasons.append(f"{failed[QuestionType.D]} fallos en preguntas trampa (más de {thresholds.max_failed_d}).")
    if failed[QuestionType.C] > thresholds.max_failed_c:
        reasons.append(f"{failed[QuestionType.C]} fallos en preguntas de borde (más de {thresholds.max_failed_c}).")
    for kind in (QuestionType.A, QuestionType.B):
        if asked[kind] and failed[kind] >= thresholds.systematic_share * asked[kind]:
            reasons.append(f"Fallo sistemático en el tipo {kind}: {failed[kind]} de {asked[kind]}.")
    return reasons


def _root_cause(results: Sequence[QuestionResult]) -> tuple[Cause | None, Phase | None]:
    """The commonest cause among what failed (among the borderline where nothing did); ties in the table's order."""
    for verdict in (QuestionVerdict.FAIL, QuestionVerdict.BORDERLINE):
        causes = Counter(r.diagnosis.cause for r in results if r.verdict is verdict and r.diagnosis)
        if causes:
            cause = max(Cause, key=lambda c: causes[c])
            return cause, PHASES[cause]
    return None, None


def patterns(results: Sequence[QuestionResult], thresholds: QaThresholds) -> tuple[str, ...]:
    """What fails together: a type of which half fails, a section or a dimension that is low (Spanish)."""
    found = []
    for row in type_scores(results):
        weak = row.failed + row.borderline
        if row.questions and weak >= thresholds.systematic_share * row.questions and weak > 1:
            found.append(f"El tipo {row.type} no pasa en {weak} de {row.questions} preguntas.")
    counted = Counter(r.question.section for r in results if r.question.section)
    for section, mean in section_scores(results).items():
        if counted[section] > 1 and mean < thresholds.question_borderline:
            found.append(f"La sección «{section}» se responde mal: {cut(mean)} en {counted[section]} preguntas.")
    for dimension, mean in dimension_means(results).items():
        if mean < thresholds.question_borderline:
            found.append(f"La dimensión {DIMENSION_TEXT[dimension]} es baja en toda la batería: {cut(mean)}.")
    return tuple(found)


DIMENSION_TEXT: Mapping[Dimension, str] = {
    Dimension.PRECISION: "precisión factual",
    Dimension.VOICE: "voz",
    Dimension.LIMITS: "manejo de límites",
    Dimension.UTILITY: "utilidad",
}


def dimension_means(results: Sequence[QuestionResult]) -> dict[Dimension, float]:
    """Mean score of each dimension over the questions judged."""
    judged = [r.judgement for r in results if r.judgement.judged]
    return {
        dimension: sum(s.score for j in judged for s in j.scores if s.dimension is dimension) / len(judged)
        for dimension in Dimension
        if judged
    }
