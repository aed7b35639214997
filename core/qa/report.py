"""The report of a battery: verdict, checklist with every tick computed, Markdown, and two reports side by side."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from core.models import Scope
from core.qa.models import (
    COUNTS,
    MAX_QUESTIONS,
    MIN_PER_TYPE,
    MIN_QUESTIONS,
    Battery,
    BookInfo,
    Cause,
    CheckLine,
    GivenAnswer,
    Judgement,
    QuestionResult,
    QuestionType,
    QuestionVerdict,
    Report,
)
from core.qa.verdict import (
    CAUSE_TEXT,
    Decision,
    cut,
    decide,
    diagnose,
    global_score,
    patterns,
    phase_name,
    question_verdict,
    section_scores,
    type_scores,
    weighted,
)
from core.thresholds import QaThresholds

TYPE_TEXT: Mapping[QuestionType, str] = {
    QuestionType.A: "Tipo A — Recuperación directa",
    QuestionType.B: "Tipo B — Aplicación e inferencia",
    QuestionType.C: "Tipo C — Preguntas de borde",
    QuestionType.D: "Tipo D — Preguntas trampa",
}
VERDICT_TEXT: Mapping[str, str] = {
    "approve": "✅ APROBADO",
    "human_review": "⚠️ REVISIÓN HUMANA",
    "reject": "🔴 RECHAZADO",
}
QUESTION_VERDICT_TEXT: Mapping[QuestionVerdict, str] = {
    QuestionVerdict.PASS: "pasa",
    QuestionVerdict.BORDERLINE: "limítrofe",
    QuestionVerdict.FAIL: "falla",
    QuestionVerdict.NOT_JUDGED: "sin juzgar",
}
_RERUN: Mapping[Cause, str] = {
    Cause.INVENTS_FACTS: "Revisar el documento indexado («python -m core index --only {doc}») y repetir la batería.",
    Cause.WRONG_VOICE: "Revisar el perfil o el registro y repetir la batería.",
    Cause.UNKNOWN_TOPIC: "Revisar las secciones que fallan, volver a indexar y repetir la batería.",
    Cause.CONFIRMS_FALSE: "Revisar los filtros negativos y repetir las preguntas de tipo D.",
    Cause.IGNORES_LIMITS: "Revisar el ámbito del documento y repetir las preguntas de tipo C.",
    Cause.NOT_ACTIONABLE: "Revisar las secciones que fallan y repetir la batería.",
}


def judged(
    battery: Battery,
    given: Mapping[str, GivenAnswer],
    judgements: Mapping[str, Judgement],
    thresholds: QaThresholds,
) -> tuple[QuestionResult, ...]:
    """Each question with its answer, scores and verdict, in the battery's order.

    Raises:
        KeyError: a question has no answer or no judgement (one that failed is a judgement with a reason).
    """
    results = []
    for question in battery.questions:
        judgement = judgements[question.id]
        score = weighted(judgement.scores) if judgement.judged else None
        results.append(
            QuestionResult(
                question=question,
                given=given[question.id],
                judgement=judgement,
                score=score,
                verdict=question_verdict(score, thresholds),
                diagnosis=diagnose(question.type, judgement, thresholds),
            )
        )
    return tuple(results)


def build_report(
    battery: Battery,
    results: Sequence[QuestionResult],
    *,
    report_id: str,
    created_at: str,
    engine: str,
    judge: str,
    thresholds: QaThresholds,
) -> Report:
    """The whole report. ``created_at``: ISO time in UTC; ``engine`` and ``judge``: what answered and what judged."""
    lines = _checklist(battery, results)
    decision = decide(results, checklist_true=all(line.ok for line in lines), thresholds=thresholds)
    human = _for_a_person(results) if decision.verdict != "approve" else {}
    lines = (*lines, *_after_verdict(results, decision, human, all(line.ok for line in lines), thresholds))
    cause = decision.cause
    return Report(
        id=report_id,
        battery=battery,
        results=tuple(results),
        types=type_scores(results),
        section_scores=section_scores(results),
        global_score=global_score(results),
        verdict=decision.verdict,
        reasons=decision.reasons,
        patterns=patterns(results, thresholds),
        checklist=lines,
        created_at=created_at,
        engine=engine,
        judge=judge,
        human=human,
        phase=decision.phase,
        cause=cause,
        correction=CAUSE_TEXT[cause][1] if cause else "",
        rerun=(_rerun(cause, battery.book),) if cause else (),
    )


def _checklist(battery: Battery, results: Sequence[QuestionResult]) -> tuple[CheckLine, ...]:
    """The seed's lines that can be known before the verdict."""
    questions = battery.questions
    counts = Counter(q.type for q in questions)
    due = COUNTS[battery.book.type]
    asked = [r for r in results if r.given.answer is not None]
    strangers = {s.doc_id for r in asked if r.given.answer for s in r.given.answer.sources} - {battery.book.doc_id}
    incomplete = [q.id for q in questions if not q.expected_answer.strip() or not _has_criteria(q)]
    traps = [q for q in questions if q.type is QuestionType.D]
    weights = [r.question.id for r in results if r.score is not None and r.score != weighted(r.judgement.scores)]
    unjudged = [r.question.id for r in results if not r.judgement.judged]
    distribution = ", ".join(f"{kind}: {counts[kind]} de {due[kind]}" for kind in QuestionType)
    return (
        CheckLine(
            "Batería generada con la distribución correcta por tipo de libro",
            all(counts[kind] == due[kind] for kind in QuestionType),
            distribution,
        ),
        CheckLine(
            f"Mínimo {MIN_QUESTIONS} preguntas en la batería (máximo {MAX_QUESTIONS})",
            MIN_QUESTIONS <= len(questions) <= MAX_QUESTIONS,
            f"{len(questions)} preguntas",
        ),
        CheckLine(
            f"Al menos {MIN_PER_TYPE} preguntas de cada tipo (A, B, C, D)",
            all(counts[kind] >= MIN_PER_TYPE for kind in QuestionType),
            ", ".join(f"{kind}: {counts[kind]}" for kind in QuestionType),
        ),
        CheckLine(
            "Cada pregunta tiene respuesta esperada y criterios de evaluación",
            not incomplete,
            f"faltan en {', '.join(incomplete)}" if incomplete else f"{len(questions)} de {len(questions)}",
        ),
        CheckLine(
            "Las preguntas de tipo D tienen afirmaciones intencionalmente falsas",
            bool(traps) and all(q.false_statement and q.false_statement != q.true_passage for q in traps),
            f"{sum(bool(q.false_statement) for q in traps)} de {len(traps)}",
        ),
        CheckLine(
            "Las respuestas salen solo del documento bajo prueba",
            len(asked) == len(questions) and not strangers,
            f"también de {', '.join(sorted(strangers))}"
            if strangers
            else f"{len(asked)} de {len(questions)} respondidas",
        ),
        CheckLine(
            "Cada respuesta se ha evaluado en las 4 dimensiones",
            not unjudged and bool(results),
            f"sin juzgar: {', '.join(unjudged)}" if unjudged else f"{len(results)} respuestas",
        ),
        CheckLine(
            "Puntuación calculada con los pesos correctos (35/25/25/15)",
            not weights and bool(results),
            f"no cuadra en {', '.join(weights)}" if weights else "recalculada",
        ),
    )


def _has_criteria(question: object) -> bool:
    criteria = getattr(question, "criteria", None)
    return bool(criteria and (criteria.precision or criteria.limits or criteria.forbidden))


def _after_verdict(
    results: Sequence[QuestionResult],
    decision: Decision,
    human: Mapping[str, str],
    checklist_true: bool,
    thresholds: QaThresholds,
) -> tuple[CheckLine, ...]:
    again = decide(results, checklist_true=checklist_true, thresholds=thresholds)
    rejected, review = decision.verdict == "reject", decision.verdict == "human_review"
    return (
        CheckLine("Dictamen emitido según los umbrales definidos", again == decision, " ".join(decision.reasons)),
        CheckLine(
            "Si hay rechazo: causa raíz identificada y fase de regreso especificada",
            bool(decision.cause and decision.phase) if rejected else None,
            "" if rejected else "no hay rechazo",
        ),
        CheckLine(
            "Si hay revisión humana: lista específica de preguntas problemáticas",
            bool(human) if review else None,
            ", ".join(human) if review else "no hay revisión humana",
        ),
    )


def _for_a_person(results: Sequence[QuestionResult]) -> dict[str, str]:
    """What a person has to look at, each with why; where only the mean is low, the lowest questions."""
    found = {}
    for r in results:
        if r.verdict is QuestionVerdict.NOT_JUDGED:
            found[r.question.id] = f"Sin juzgar: {r.judgement.reason or 'faltan puntuaciones'}"
        elif r.verdict is not QuestionVerdict.PASS and r.score is not None:
            why = r.diagnosis.failed if r.diagnosis else ""
            found[r.question.id] = f"{QUESTION_VERDICT_TEXT[r.verdict].capitalize()} ({cut(r.score)}). {why}".strip()
    if not found:
        lowest = sorted((r for r in results if r.score is not None), key=lambda r: r.score or 0)[:3]
        found = {r.question.id: f"De las más bajas ({cut(r.score or 0)})." for r in lowest}
    return found


def _rerun(cause: Cause, book: BookInfo) -> str:
    if book.source_scope is Scope.PRIVATE:
        return "Revisar el documento (su texto, sus títulos y secciones), subirlo de nuevo y repetir la batería."
    return _RERUN[cause].format(doc=book.doc_id)


def scope_of(book: BookInfo) -> Scope | None:
    """Where a phase's name is read: a corpus document or an upload, or (None) a book with an author's profile."""
    return None if book.profile else book.source_scope


def report_markdown(report: Report) -> str:
    """The report in the form of the seed's final verdict."""
    book = report.battery.book
    lines = [
        f"## REPORTE QA — {book.title}",
        "",
        f"Autor: {book.author or 'sin autor'} · Tipo: {book.type} · Informe {report.id} · {report.created_at}",
        f"Responde: {report.engine} · Juzga: {report.judge} · Semilla {report.battery.seed}",
        "",
        "### Scores por categoría",
        "",
        "| Categoría | Preguntas | Score promedio | Pasan | Limítrofes | Fallan | Sin juzgar |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in report.types:
        mean = cut(row.mean) if row.mean is not None else "—"
        lines.append(
            f"| {TYPE_TEXT[row.type]} | {row.questions} | {mean} | {row.passed} | {row.borderline} | {row.failed} | "
            f"{row.not_judged} |"
        )
    total = cut(report.global_score) if report.global_score is not None else "—"
    sums = [
        sum(getattr(row, name) for row in report.types) for name in ("passed", "borderline", "failed", "not_judged")
    ]
    lines += [
        f"| **TOTAL** | **{len(report.results)}** | **{total}** | " + " | ".join(f"**{n}**" for n in sums) + " |",
        "",
        "### Score global",
        "",
        f"Score total: {total}/10",
        "",
        "### Análisis de fallos",
        "",
        *(_failures(report) or ["Ninguna pregunta por debajo del umbral."]),
        "",
        "### Patrón de fallos identificados",
        "",
        *([f"- {p}" for p in report.patterns] or ["Ninguno."]),
        "",
        "## DICTAMEN FINAL",
        "",
        f"### {VERDICT_TEXT[report.verdict]}",
        "",
        *(f"- {reason}" for reason in report.reasons),
    ]
    lines += _what_next(report)
    lines += ["", "## Lista de comprobación", ""]
    for line in report.checklist:
        tick = "–" if line.ok is None else "x" if line.ok else " "
        lines.append(f"- [{tick}] {line.text}{f' ({line.detail})' if line.detail else ''}")
    return "\n".join(lines) + "\n"


def _failures(report: Report) -> list[str]:
    scope = scope_of(report.battery.book)
    found = []
    for r in report.results:
        if r.diagnosis and r.score is not None:
            found.append(
                f"- Pregunta {r.question.id} ({cut(r.score)}, {QUESTION_VERDICT_TEXT[r.verdict]}): {r.diagnosis.failed} "
                f"Corrección: {r.diagnosis.correction} {phase_name(r.diagnosis.phase, scope)}."
            )
        elif r.verdict is QuestionVerdict.NOT_JUDGED:
            found.append(f"- Pregunta {r.question.id}: sin juzgar. {r.judgement.reason}")
    return found


def _what_next(report: Report) -> list[str]:
    if report.verdict == "approve":
        return ["", "Acción: el documento pasa a producción."]
    if report.verdict == "human_review":
        return ["", "Qué revisar:", "", *(f"- {name}: {why}" for name, why in report.human.items())]
    scope = scope_of(report.battery.book)
    phase = phase_name(report.phase, scope) if report.phase else "sin determinar"
    cause = CAUSE_TEXT[report.cause][0] if report.cause else "sin determinar"
    return [
        "",
        f"Regresar a: {phase}",
        f"Causa raíz del rechazo: {cause}.",
        f"Corrección requerida: {report.correction}",
        *(f"Qué volver a ejecutar: {step}" for step in report.rerun),
    ]


@dataclass(frozen=True, slots=True)
class Change:
    """One question in two reports. A score is None where it was not judged or not asked."""

    question_id: str
    question: str
    before: float | None
    after: float | None


@dataclass(frozen=True, slots=True)
class Comparison:
    """What improved, what broke (a verdict got better or worse), what only one of them asked."""

    before: str
    after: str
    improved: tuple[Change, ...]
    broke: tuple[Change, ...]
    only_before: tuple[str, ...]
    only_after: tuple[str, ...]
    global_before: float | None
    global_after: float | None


_RANK = {
    QuestionVerdict.NOT_JUDGED: -1,
    QuestionVerdict.FAIL: 0,
    QuestionVerdict.BORDERLINE: 1,
    QuestionVerdict.PASS: 2,
}


def compare(before: Report, after: Report) -> Comparison:
    """Two reports of one document, question by question (matched by their text).

    Raises:
        ValueError: the reports are of different documents.
    """
    if before.battery.book.doc_id != after.battery.book.doc_id:
        raise ValueError("two reports are compared on one document")
    old = {r.question.question: r for r in before.results}
    new = {r.question.question: r for r in after.results}
    improved, broke = [], []
    for text in old.keys() & new.keys():
        a, b = old[text], new[text]
        change = Change(b.question.id, text, a.score, b.score)
        if _RANK[b.verdict] > _RANK[a.verdict]:
            improved.append(change)
        elif _RANK[b.verdict] < _RANK[a.verdict]:
            broke.append(change)
    return Comparison(
        before=before.id,
        after=after.id,
        improved=tuple(sorted(improved, key=lambda c: c.question_id)),
        broke=tuple(sorted(broke, key=lambda c: c.question_id)),
        only_before=tuple(t for t in old if t not in new),
        only_after=tuple(t for t in new if t not in old),
        global_before=before.global_score,
        global_after=after.global_score,
    )
