"""The inbox of what waits for a person, and how a decision is taken."""

import streamlit as st

from core.errors import AsesoriaError
from core.qa.cases import CASE, DECISION_TEXT, Case, cases_of, decide, decide_case, judge_says, told
from core.qa.desk import Desk
from core.qa.inbox import decisions_for, facts, headline, kind_text, read_inbox
from core.qa.models import QuestionVerdict, Report
from core.qa.report import QUESTION_VERDICT_TEXT
from core.records.reviews import Review
from pages.qa_question import show_question
from pages.reviewer import reviewer
from pages.shared import escape_markdown

_PAGE = 10
_VERDICTS = (QuestionVerdict.PASS, QuestionVerdict.BORDERLINE, QuestionVerdict.FAIL)
_NOTICE = "qa_notice"


def notify(kind: str, message: str) -> None:
    """Keep a message ("success" or "error") for the top of the page at the next run."""
    st.session_state[_NOTICE] = (kind, message)


def show_notice() -> None:
    """The message kept, once."""
    kind, message = st.session_state.pop(_NOTICE, ("", ""))
    if kind == "success":
        st.success(message, icon=":material/check_circle:")
    elif kind:
        st.error(message, icon=":material/error:")


def show_inbox(desk: Desk) -> None:
    """All that waits, by kind; below, what has been decided."""
    found = read_inbox(desk.database())
    if not found.waiting:
        st.info(
            "No hay nada pendiente. Aquí llegan los casos dudosos de cada batería, las respuestas que alguien marca como malas "
            "en el chat y los avisos de deriva del sello.",
            icon=":material/inbox:",
        )
    else:
        kinds = list(dict.fromkeys(r.kind for r in found.waiting))
        counts = {k: sum(r.kind == k for r in found.waiting) for k in kinds}
        chosen = st.multiselect(
            "Mostrar solo",
            kinds,
            format_func=lambda k: f"{kind_text(k)} ({counts.get(k, 0)})",
            placeholder=f"Todo lo pendiente ({len(found.waiting)})",
        )
        _show_items(desk, [r for r in found.waiting if not chosen or r.kind in chosen])
    if found.decided:
        with st.expander(f"Últimas decisiones ({len(found.decided)})", icon=":material/history:"):
            for review in found.decided:
                st.markdown(
                    f"- {_when(review.closed_at)}, **{escape_markdown(review.closed_by)}**: "
                    f"{escape_markdown(review.title)}: {escape_markdown(told(review))}."
                )


def _show_items(desk: Desk, items: list[Review]) -> None:
    if len(items) > _PAGE:
        pages = (len(items) - 1) // _PAGE + 1
        page = int(st.number_input(f"Página (de {pages})", 1, pages, 1))
        items = items[(page - 1) * _PAGE : page * _PAGE]
    reports: dict[str, Report | None] = {}
    for review in items:
        label = f"{kind_text(review.kind)} · {escape_markdown(headline(desk.database(), review))}"
        # The key keeps what is open open when an item before it is decided and goes.
        with st.expander(label, icon=":material/pending_actions:", key=f"inbox-item-{review.id}"):
            st.caption(f"Espera desde {_when(review.opened_at)}")
            if review.kind == CASE:
                report_id = str(review.details.get("report_id", ""))
                if report_id not in reports:
                    reports[report_id] = desk.store.report(report_id)
                _show_case_item(desk, review, reports[report_id])
            else:
                for label, text in facts(desk.database(), review):
                    st.markdown(f"**{escape_markdown(label)}**")
                    st.text(text)
                _other_form(desk, review)


def _show_case_item(desk: Desk, review: Review, report: Report | None) -> None:
    if report is None:
        st.warning("El informe de este caso ya no existe.", icon=":material/warning:")
        _other_form(desk, review)
        return
    case = next((c for c in cases_of(desk.database(), report) if c.review.id == review.id), None)
    if case is not None:
        show_question(report, case.result, key=f"inbox-{review.id}", why=case.why)
        case_form(desk, report, case)


def case_form(desk: Desk, report: Report, case: Case) -> None:
    """The person's verdict on a case. What is sent carries the item as it was read: nobody is overwritten unseen."""
    key = f"case-{case.review.id}"
    judged = case.result.verdict
    with st.form(key):
        st.markdown(f"El juez ({report.judge}) dice: **{judge_says(case.result)}**. ¿Y usted?")
        st.radio(
            "Su veredicto",
            _VERDICTS,
            index=_VERDICTS.index(judged) if judged in _VERDICTS else None,
            format_func=lambda v: QUESTION_VERDICT_TEXT[v].capitalize() + (" (como el juez)" if v is judged else ""),
            horizontal=True,
            key=f"{key}-verdict",
        )
        st.text_area("Motivo (obligatorio si cambia el veredicto)", key=f"{key}-reason", max_chars=1000, height=80)
        st.form_submit_button(
            "Guardar mi decisión", on_click=_decide_case, args=(desk, case, key), icon=":material/gavel:"
        )


def _decide_case(desk: Desk, case: Case, key: str) -> None:
    verdict = st.session_state.get(f"{key}-verdict") or QuestionVerdict.NOT_JUDGED
    try:
        _check_name()
        review = decide_case(
            desk.database(),
            case.review,
            judged=case.result.verdict,
            verdict=QuestionVerdict(verdict),
            person=reviewer(),
            reason=st.session_state.get(f"{key}-reason", ""),
        )
        notify("success", f"Pregunta {case.result.question.id}: {review.closed_by} {told(review)}.")
    except AsesoriaError as error:
        notify("error", str(error))


def _other_form(desk: Desk, review: Review) -> None:
    key = f"item-{review.id}"
    with st.form(key):
        st.radio(
            "Su decisión",
            decisions_for(review.kind),
            index=None,
            format_func=lambda d: DECISION_TEXT[d].capitalize(),
            horizontal=True,
            key=f"{key}-decision",
        )
        st.text_area("Qué ha revisado y por qué", key=f"{key}-reason", max_chars=1000, height=80)
        st.form_submit_button(
            "Guardar mi decisión", on_click=_decide_other, args=(desk, review, key), icon=":material/gavel:"
        )


def _decide_other(desk: Desk, review: Review, key: str) -> None:
    decision = st.session_state.get(f"{key}-decision")
    try:
        _check_name()
        if not decision:
            raise AsesoriaError("Elija una decisión.")
        reason = st.session_state.get(f"{key}-reason", "")
        closed = decide(desk.database(), review, person=reviewer(), reason=reason, decision=decision)
        notify("success", f"{closed.title}: {told(closed)}.")
    except AsesoriaError as error:
        notify("error", str(error))


def _check_name() -> None:
    if not reviewer():
        raise AsesoriaError("Antes de decidir, diga quién revisa (arriba): su nombre queda junto a la decisión.")


def _when(iso: str) -> str:
    return f"{iso[8:10]}/{iso[5:7]}/{iso[:4]} {iso[11:16]}"
