"""A battery's report: verdict, tables, chart, questions, checklist, closing, export; and two reports side by side."""

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from core.errors import AsesoriaError
from core.qa.cases import Case, Closing, cases_of, close_report, closing_of
from core.qa.desk import Desk
from core.qa.export import export_json, export_markdown, section_rows
from core.qa.models import BookType, QuestionType, QuestionVerdict, Report
from core.qa.report import QUESTION_VERDICT_TEXT, TYPE_TEXT, Change, compare, scope_of
from core.qa.status import QaStatus
from core.qa.store import ReportHead
from core.qa.verdict import CAUSE_TEXT, DIMENSION_TEXT, cut, dimension_means, phase_name
from pages.qa_inbox import case_form, notify
from pages.qa_question import show_question
from pages.reviewer import reviewer
from pages.shared import escape_markdown, status_badge

_VERDICTS = {
    "approve": ("Aprobado", ":material/check_circle:", "green"),
    "human_review": ("Revisión humana", ":material/pending:", "orange"),
    "reject": ("Rechazado", ":material/cancel:", "red"),
}
BOOK_TEXT = {
    BookType.PRESCRIPTIVE: "Prescriptivo (guía o manual)",
    BookType.NARRATIVE: "Narrativo",
    BookType.ANALYTIC: "Analítico (ley)",
    BookType.ACADEMIC: "Académico (reglamento, estudio)",
    BookType.HYBRID: "Híbrido",
}
_COLOURS = {"A": "#1f77b4", "B": "#9467bd", "C": "#17a2a2", "D": "#d08000", "Global": "#444444"}
_MARKS = {True: ":green[:material/check_box:]", False: ":red[:material/disabled_by_default:]", None: ":gray[—]"}


def head_text(head: ReportHead) -> str:
    """A report in one line."""
    return f"{head.title} · {_dated(head)}"


def _dated(head: ReportHead) -> str:
    return f"{_when(head.created_at)} · {_VERDICTS[head.verdict][0]} {_score(head.global_score)}"


def show_reports(desk: Desk) -> None:
    """Choose a report and read it."""
    heads = desk.store.report_heads()
    if not heads:
        st.info(
            "Todavía no hay informes. En «Baterías» puede pasarle a un documento sus preguntas: al terminar, el informe "
            "aparece aquí.",
            icon=":material/lab_profile:",
        )
        return
    by_id = {h.id: h for h in heads}
    if st.session_state.get("qa_report") not in by_id:
        st.session_state.qa_report = heads[0].id
    chosen = st.selectbox("Informe", list(by_id), format_func=lambda i: head_text(by_id[i]), key="qa_report")
    report = desk.store.report(chosen)
    if report is not None:
        show_report(desk, report)


def show_report(desk: Desk, report: Report) -> None:
    """The whole report, the judge's part as it was made; below, what persons decide."""
    cases = cases_of(desk.database(), report)
    closing = closing_of(desk.store, report, cases)
    _show_verdict(desk, report, closing)
    _show_types(report)
    _show_chart(report)
    _show_sections(report)
    if report.patterns:
        st.markdown("**Patrones de fallo**\n" + "\n".join(f"- {escape_markdown(p)}" for p in report.patterns))
    _show_checklist(report)
    _show_questions(desk, report, cases)
    _show_closing(desk, report, closing)
    _show_export(report, cases, closing)


def _show_verdict(desk: Desk, report: Report, closing: Closing) -> None:
    word, icon, colour = _VERDICTS[report.verdict]
    st.subheader(report.battery.book.title)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.badge(f"Dictamen: {word}", icon=icon, color=colour)
        st.badge(f"Global {_score(report.global_score)} de 10", icon=":material/speed:", color="gray")
        status_badge(desk.store.qa_status(report.battery.book.doc_id))
    book = report.battery.book
    st.caption(
        f"{BOOK_TEXT[book.type]} · semilla {report.battery.seed} · responde: {report.engine} · juzga: {report.judge} · "
        f"{_when(report.created_at)} · informe {report.id}"
    )
    st.markdown("\n".join(f"- {escape_markdown(reason)}" for reason in report.reasons))
    if report.verdict == "reject":
        phase = phase_name(report.phase, scope_of(book)) if report.phase else "sin determinar"
        cause = CAUSE_TEXT[report.cause][0] if report.cause else "sin determinar"
        again = "".join(f"\n- **Volver a ejecutar:** {escape_markdown(step)}" for step in report.rerun)
        st.error(
            f"**Volver a:** {phase}\n- **Causa raíz:** {cause}\n- **Corrección:** {report.correction}{again}",
            icon=":material/undo:",
        )
    for shortfall in report.battery.summary.shortfalls:
        st.warning(
            f"Tipo {shortfall.type}: {shortfall.made} de {shortfall.asked} preguntas. {escape_markdown(shortfall.reason)}",
            icon=":material/playlist_remove:",
        )
    if closing.closed:
        done = closing.closed
        st.success(
            escape_markdown(f"Cerrado como «{done.status}» por {done.by}, {_when(done.at)}: {done.reason}"),
            icon=":material/lock:",
        )


def _show_types(report: Report) -> None:
    rows = [
        {
            "Tipo": TYPE_TEXT[t.type], "Preguntas": t.questions, "Media": _score(t.mean), "Pasan": t.passed,
            "Limítrofes": t.borderline, "Fallan": t.failed, "Sin juzgar": t.not_judged,
        }
        for t in report.types
    ]  # fmt: skip
    total = {"Tipo": "TOTAL", "Preguntas": len(report.results), "Media": _score(report.global_score)}
    for name in ("Pasan", "Limítrofes", "Fallan", "Sin juzgar"):
        total[name] = sum(int(row[name]) for row in rows)
    st.table(pd.DataFrame([*rows, total]).set_index("Tipo"))


def _show_chart(report: Report) -> None:
    groups = {str(kind): [r for r in report.results if r.question.type is kind] for kind in QuestionType}
    groups["Global"] = list(report.results)
    figure = go.Figure()
    told = []
    for name, results in groups.items():
        means = dimension_means(results)
        if not means:
            continue
        labels = [DIMENSION_TEXT[d].capitalize() for d in means]
        figure.add_bar(
            name=name if name == "Global" else f"Tipo {name}",
            x=labels,
            y=list(means.values()),
            text=[cut(v) for v in means.values()],
            textposition="outside",
            textangle=0,
            cliponaxis=False,
            marker_color=_COLOURS[name],
            hovertemplate="%{x}: %{text}<extra>%{fullData.name}</extra>",
        )
        told.append(f"{name}: " + ", ".join(f"{DIMENSION_TEXT[d]} {cut(v)}" for d, v in means.items()))
    if not told:
        st.info("Ninguna pregunta se ha podido juzgar: no hay puntuaciones que dibujar.", icon=":material/bar_chart:")
        return
    figure.update_layout(
        barmode="group", yaxis={"range": [0, 11], "tickvals": [0, 2, 4, 6, 8, 10], "title": "Media (1-10)"}, height=340,
        margin={"l": 10, "r": 10, "t": 10, "b": 10}, legend={"orientation": "h", "y": 1.12},
    )  # fmt: skip
    st.plotly_chart(
        figure,
        key=f"chart-{report.id}",
        config={"displayModeBar": False},
        alt="Media por dimensión. " + "; ".join(told),
    )


def _show_sections(report: Report) -> None:
    if not report.section_scores:
        return
    with st.expander(f"Por secciones ({len(report.section_scores)})", icon=":material/toc:"):
        minimum = st.number_input("Nota mínima por sección (0: sin mínimo)", 0.0, 10.0, 0.0, 0.5, key="qa_minimum")
        rows = section_rows(report, minimum or None)
        below = [section for section, _, _, fine in rows if fine is False]
        words = {True: "✔ llega", False: "✘ no llega", None: "—"}
        st.table(
            pd.DataFrame(
                [{"Sección": s, "Media": cut(mean), "Preguntas": n, "Mínimo": words[fine]} for s, mean, n, fine in rows]
            ).set_index("Sección")
        )
        if minimum:
            st.write(f"{len(below)} de {len(rows)} secciones no llegan a {minimum:g}.")
        gaps = report.battery.summary.gaps
        if gaps:
            st.caption(f"{len(gaps)} secciones sin preguntas: " + escape_markdown("; ".join(gaps[:12])))


def _show_checklist(report: Report) -> None:
    done = sum(line.ok is True for line in report.checklist)
    due = sum(line.ok is not None for line in report.checklist)
    with st.expander(f"Lista de comprobación ({done} de {due})", icon=":material/checklist:", expanded=done < due):
        for line in report.checklist:
            detail = f" :gray[({escape_markdown(line.detail)})]" if line.detail else ""
            word = {True: "", False: " **(no se cumple)**", None: " (no procede)"}[line.ok]
            st.markdown(f"{_MARKS[line.ok]} {escape_markdown(line.text)}{word}{detail}")


def _show_questions(desk: Desk, report: Report, cases: tuple[Case, ...]) -> None:
    st.subheader("Preguntas")
    by_question = {c.result.question.id: c for c in cases}

    def label(question_id: str) -> str:
        result = next(r for r in report.results if r.question.id == question_id)
        case = by_question.get(question_id)
        flag = "" if case is None else " · pendiente" if case.verdict is None else f" · persona: {_word(case.verdict)}"
        return f"{question_id} · {_word(result.verdict)} {_score(result.score)}{flag} · {result.question.question}"

    ids = [r.question.id for r in report.results]
    first = next((i for i, q in enumerate(ids) if q in by_question and by_question[q].verdict is None), 0)
    chosen = st.selectbox("Abrir una pregunta", ids, index=first, format_func=label, key=f"question-{report.id}")
    result = next(r for r in report.results if r.question.id == chosen)
    case = by_question.get(chosen)
    with st.container(border=True):
        show_question(report, result, key=f"{report.id}-{chosen}", why=case.why if case else "", case=case)
        if case is not None and case.verdict is None:
            case_form(desk, report, case)


def _show_closing(desk: Desk, report: Report, closing: Closing) -> None:
    st.subheader("Cerrar el informe")
    if closing.newer:
        st.info("Hay un informe más reciente de este documento: se cierra ese.", icon=":material/update:")
        return
    if closing.waiting:
        st.info(
            f"Faltan {len(closing.waiting)} casos por decidir: {', '.join(closing.waiting)}. Decididos todos, aquí se cierra el "
            "informe y con ello se fija el estado del documento.",
            icon=":material/pending_actions:",
        )
        return
    if closing.closed:
        st.caption("El informe está cerrado. Puede cerrarlo de nuevo con otro estado: queda constancia de ambos.")
    options = [QaStatus.APPROVED, QaStatus.REJECTED]
    if closing.refused:
        st.caption(f"Con respuestas que no pasan ({', '.join(closing.refused)}) solo se puede cerrar como rechazado.")
        options = [QaStatus.REJECTED]
    key = f"close-{report.id}"
    with st.form(key):
        st.radio(
            "El documento queda", options, index=None, horizontal=True, format_func=str.capitalize, key=f"{key}-status"
        )
        st.text_area("Motivo", key=f"{key}-reason", max_chars=1000, height=80)
        st.form_submit_button(
            "Cerrar el informe", on_click=_close, args=(desk, report, closing.seen, key), icon=":material/lock:"
        )


def _close(desk: Desk, report: Report, seen: int, key: str) -> None:
    status = st.session_state.get(f"{key}-status")
    try:
        if not status:
            raise AsesoriaError("Elija cómo queda el documento: aprobado o rechazado.")
        close_report(
            desk.store,
            desk.database(),
            report,
            status=QaStatus(status),
            person=reviewer(),
            reason=st.session_state.get(f"{key}-reason", ""),
            seen=seen,
        )
        notify("success", f"Informe cerrado: «{report.battery.book.title}» queda {status}.")
    except AsesoriaError as error:
        notify("error", str(error))


def _show_export(report: Report, cases: tuple[Case, ...], closing: Closing) -> None:
    with st.container(horizontal=True):
        for name, text, kind in (
            ("Markdown", export_markdown(report, cases, closing.closed), "text/markdown"),
            ("JSON", export_json(report, cases, closing.closed), "application/json"),
        ):
            st.download_button(
                f"Descargar en {name}",
                text,
                file_name=f"qa-{report.battery.book.doc_id}-{report.id}.{'md' if name == 'Markdown' else 'json'}",
                mime=kind,
                icon=":material/download:",
                on_click="ignore",
            )


def show_compare(desk: Desk) -> None:
    """Two reports of one document side by side."""
    heads = desk.store.report_heads()
    titles = {h.doc_id: h.title for h in heads}
    several = [d for d in titles if sum(h.doc_id == d for h in heads) > 1]
    if not several:
        st.info(
            "Para comparar hacen falta dos informes del mismo documento. Repita la batería de un documento y vuelva aquí.",
            icon=":material/compare_arrows:",
        )
        return
    doc_id = st.selectbox("Documento", several, format_func=lambda d: titles[d])
    own = {h.id: h for h in heads if h.doc_id == doc_id}
    left, right = st.columns(2)
    before_id = left.selectbox("Antes", list(own), index=1, format_func=lambda i: _dated(own[i]))
    after_id = right.selectbox("Después", list(own), index=0, format_func=lambda i: _dated(own[i]))
    before, after = desk.store.report(before_id), desk.store.report(after_id)
    if before is None or after is None or before_id == after_id:
        st.info("Elija dos informes distintos.", icon=":material/compare_arrows:")
        return
    found = compare(before, after)
    rows = {"Global": (before.global_score, after.global_score)}
    for a, b in zip(before.types, after.types, strict=True):
        rows[TYPE_TEXT[a.type]] = (a.mean, b.mean)
    means = dimension_means(before.results), dimension_means(after.results)
    for dimension, name in DIMENSION_TEXT.items():
        rows[name.capitalize()] = (means[0].get(dimension), means[1].get(dimension))
    st.table(
        pd.DataFrame(
            [
                {"": name, "Antes": _score(a), "Después": _score(b), "Cambio": _change(a, b)}
                for name, (a, b) in rows.items()
            ]
        ).set_index("")
    )
    _show_changes("Mejoran", ":material/trending_up:", found.improved)
    _show_changes("Empeoran", ":material/trending_down:", found.broke)
    if found.only_before or found.only_after:
        st.caption(
            f"{len(found.only_before)} preguntas solo están en el de antes y {len(found.only_after)} solo en el de después "
            "(otra semilla, otro tipo u otro texto)."
        )


def _show_changes(title: str, icon: str, changes: tuple[Change, ...]) -> None:
    st.markdown(f"{icon} **{title}: {len(changes) or 'ninguna'}**")
    for change in changes:
        st.markdown(
            f"- {change.question_id}: {_score(change.before)} → {_score(change.after)}. {escape_markdown(change.question)}"
        )


def _change(before: float | None, after: float | None) -> str:
    """The difference of what is shown, so that the row adds up."""
    if before is None or after is None:
        return "—"
    difference = round(float(cut(after)) - float(cut(before)), 1)
    return f"{'▲ +' if difference > 0 else '▼ ' if difference < 0 else '= '}{difference:.1f}"


def _word(verdict: QuestionVerdict) -> str:
    return QUESTION_VERDICT_TEXT[verdict]


def _score(score: float | None) -> str:
    return "—" if score is None else cut(score)


def _when(iso: str) -> str:
    return f"{iso[8:10]}/{iso[5:7]}/{iso[:4]} {iso[11:16]}"
