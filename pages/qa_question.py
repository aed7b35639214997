"""One question of a report: what was expected, what was answered, from where, and how it was judged."""

import streamlit as st

from core.qa.cases import Case, told
from core.qa.models import QuestionResult, QuestionVerdict, Report
from core.qa.report import QUESTION_VERDICT_TEXT, TYPE_TEXT, scope_of
from core.qa.verdict import DIMENSION_TEXT, cut, phase_name
from pages.shared import escape_markdown, show_source

MARKS = {
    QuestionVerdict.PASS: (":material/check_circle:", "green"),
    QuestionVerdict.BORDERLINE: (":material/adjust:", "orange"),
    QuestionVerdict.FAIL: (":material/cancel:", "red"),
    QuestionVerdict.NOT_JUDGED: (":material/help:", "gray"),
}


def verdict_badge(verdict: QuestionVerdict, score: float | None = None) -> None:
    """A question's verdict as colour, word and icon."""
    icon, colour = MARKS[verdict]
    points = f" {cut(score)}" if score is not None else ""
    st.badge(f"{QUESTION_VERDICT_TEXT[verdict].capitalize()}{points}", icon=icon, color=colour)


def show_question(report: Report, result: QuestionResult, *, key: str, why: str = "", case: Case | None = None) -> None:
    """The question whole. ``why``: why it is flagged; ``case``: with the person's decision beside the judge's."""
    question = result.question
    with st.container(horizontal=True, vertical_alignment="center"):
        verdict_badge(result.verdict, result.score)
        st.caption(f"{question.id} · {TYPE_TEXT[question.type]} · dificultad {question.difficulty}")
    st.markdown(f"**{escape_markdown(question.question)}**")
    if why:
        st.warning(escape_markdown(why), icon=":material/flag:")
    if case is not None and case.verdict is not None:
        review = case.review
        st.info(
            escape_markdown(f"{review.closed_by}, {review.closed_at[:16].replace('T', ' ')}: {told(review)}."),
            icon=":material/person:",
        )
    expected, given = st.columns(2)
    with expected.container(border=True):
        st.caption("Respuesta esperada")
        st.markdown(escape_markdown(question.expected_answer).replace("\n", "  \n"))
        if question.false_statement:
            st.caption(f"Debe rechazar: «{escape_markdown(question.false_statement)}»")
        if question.topic:
            st.caption(f"El documento no trata: {escape_markdown(question.topic)}")
    with given.container(border=True):
        st.caption(f"Respuesta dada ({result.given.seconds:.1f} s)".replace(".", ",", 1))
        if result.given.answer is None:
            st.error(result.given.error or "No hay respuesta.", icon=":material/error:")
        else:
            st.markdown(result.given.answer.text.replace("$", r"\$"))
    for number, source in enumerate(result.given.answer.sources if result.given.answer else (), start=1):
        show_source(source, number, key=f"{key}-source{number}")
    _show_judgement(report, result)
    with st.expander("Con qué criterios se juzga", icon=":material/rule:"):
        _show_criteria(result)


def _show_judgement(report: Report, result: QuestionResult) -> None:
    judgement = result.judgement
    st.markdown(f"**Juzga: {escape_markdown(judgement.judge)}**")
    if not judgement.judged:
        st.info(f"Sin juzgar. {judgement.reason}", icon=":material/help:")
        return
    for score in judgement.scores:
        evidence = f" «{escape_markdown(score.evidence)}»" if score.evidence else ""
        note = f" ({escape_markdown(score.note)})" if score.note else ""
        st.markdown(f"- {DIMENSION_TEXT[score.dimension].capitalize()}: **{cut(score.score)}**.{evidence}{note}")
    for stretch in judgement.hallucinations:
        st.markdown(f"- :red[Afirma sin fuente:] «{escape_markdown(stretch)}»")
    if result.diagnosis:
        found = result.diagnosis
        st.markdown(
            f"**Diagnóstico:** {escape_markdown(found.failed)} {escape_markdown(found.correction)} "
            f"Volver a: {phase_name(found.phase, scope_of(report.battery.book))}."
        )


def _show_criteria(result: QuestionResult) -> None:
    criteria = result.question.criteria
    rows = (
        ("Precisión: debe decir", [" / ".join(fact) for fact in criteria.precision]),
        ("Voz: debería aparecer", list(criteria.voice)),
        ("Límites: no debe", list(criteria.limits)),
        ("Delata un error", list(criteria.forbidden)),
    )
    for label, lines in rows:
        if lines:
            st.markdown(f"**{label}**\n" + "\n".join(f"- {escape_markdown(line)}" for line in lines))
    fragments = ", ".join(result.question.expected_fragments) or "ninguno: el documento no tiene la respuesta"
    st.caption(f"Sección: {result.question.section or 'todo el documento'}. Fragmentos esperados: {fragments}.")
