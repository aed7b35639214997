"""Does the seal still mean what it says? For the analyst: reference and production, each by itself."""

from collections import Counter
from datetime import date

import pandas as pd
import streamlit as st

from core.calibration.baselines import changes, save_baseline
from core.calibration.gates import GRADE_TEXT
from core.calibration.measure import Calibration
from core.calibration.panel import unreliable
from core.calibration.view import (
    REPORT,
    TUNING,
    CaseFilter,
    JudgedCase,
    Reference,
    measured,
    production,
    read_reference,
    shipped,
    with_people,
)
from core.errors import AsesoriaError
from core.models import Category, Level, Mode
from core.records.baselines import list_baselines
from core.records.store import get
from core.records.summary import Filters, by_ids, level_counts, newest, thresholds_versions
from core.records.verdicts import Verdict, list_verdicts
from core.seal.state import read_states
from core.seal.watch import read_drift
from core.services import Services
from pages import calibration_charts as charts
from pages.calibration_case import show_interaction, show_reference_case
from pages.calibration_charts import LEVELS, show_chart, shown
from pages.seal import show_drift, show_state
from pages.shared import services_or_wait

_PARTS = {"la que se informa (no fijó ningún umbral)": REPORT, "la de ajuste": TUNING, "las dos": ""}
_CATEGORIES = {
    Category.DIRECT: "directa", Category.PERSONAL_CASE: "caso personal", Category.NO_ANSWER: "sin respuesta",
    Category.OUT_OF_SCOPE: "fuera de ámbito",
}  # fmt: skip
_MODES = {Mode.EXTRACTIVE: "literal", Mode.SYNTHESIS: "redactada", Mode.FALLBACK: "respaldo"}
_NEWEST = 200


def show_filters(services: Services) -> tuple[CaseFilter, Filters]:
    """What to look at; nothing chosen means all."""
    titles = {info.doc_id: info.title for info in services.register}
    with st.expander("Filtros", icon=":material/filter_alt:"):
        part = st.selectbox("Parte de la referencia", list(_PARTS))
        left, right = st.columns(2)
        categories = left.multiselect(
            "Categoría", list(_CATEGORIES), placeholder="Todas", format_func=lambda c: _CATEGORIES[c]
        )
        modes = right.multiselect(
            "Modo de la respuesta", list(_MODES), placeholder="Todos", format_func=lambda m: _MODES[m]
        )
        documents = left.multiselect(
            "Documento citado", list(titles), placeholder="Todos", format_func=lambda d: titles[d]
        )
        known = sorted({services.thresholds.version, *thresholds_versions(services.records)})
        versions = right.multiselect("Versión de los umbrales", known, placeholder="Todas")
        dates = st.date_input("Fechas (producción)", value=(), format="DD/MM/YYYY")
    days = [day.isoformat() for day in dates if isinstance(day, date)] if isinstance(dates, tuple) else []
    common = (tuple(map(str, categories)), tuple(map(str, modes)), tuple(documents), tuple(versions))
    return (
        CaseFilter(_PARTS[part], *common),
        Filters(days[0] if days else "", days[-1] if len(days) > 1 else "", *common),
    )


def show_reference(services: Services, chosen: CaseFilter) -> None:
    """Everything measured on the reference set."""
    limits = services.thresholds.calibration
    try:
        reference = read_reference(services.settings)
        people = list_verdicts(services.records, kind="reference")
    except AsesoriaError as error:
        st.warning(str(error), icon=":material/inventory_2:")
        show_baselines(services, None)
        return
    count_people = st.toggle("Contar los veredictos de personas", value=True)
    judged = with_people(reference.found, people, count_people=count_people)
    cases = [case for case in judged if chosen.keeps(case.case)]
    found = measured(reference, cases, limits)
    show_mix(reference, cases, found)
    if reference.panel_problem:
        st.warning(reference.panel_problem, icon=":material/groups:")
    left, right = st.columns(2)
    left.metric(
        "r de Pearson", _value(found.pearson), GRADE_TEXT[found.grade_pearson], delta_color="off", delta_arrow="off"
    )
    right.metric(
        "kappa de Cohen", _value(found.kappa), GRADE_TEXT[found.grade_kappa], delta_color="off", delta_arrow="off"
    )
    show_chart(
        charts.headline(
            found,
            expected={"r": limits.pearson_expected, "kappa": limits.kappa_expected},
            acceptable={"r": limits.pearson_acceptable, "kappa": limits.kappa_acceptable},
        ),
        key="cifras",
    )
    st.caption(f"Sin excluir casos: r {shown(found.pearson_all)}; kappa {shown(found.kappa_all)}")
    points = [(c.case.id, c.case.question, c.case.level, c.faithfulness) for c in cases]
    picked = show_chart(charts.seal_and_faithfulness(points), key="sello-veredicto", selectable=True)
    show_case(services, reference, cases, picked)
    show_chart(charts.by_level(found), key="fieles-por-sello")
    show_chart(charts.reliability_diagram(found), key="fiabilidad")
    show_chart(charts.risk_and_coverage(found), key="riesgo-cobertura")
    show_chart(charts.judges_agreement(found), key="jueces")
    show_unreliable(services, reference, cases)
    show_baselines(services, shipped(reference, people, limits), reference)


def _value(found: object) -> str:
    value = getattr(found, "value", None)
    return "sin medida" if value is None else _number(value)


def _number(value: float) -> str:
    return f"{value:.2f}".replace(".", ",")


def show_mix(reference: Reference, cases: list[JudgedCase], found: Calibration) -> None:
    """How the cases came about, what was left out, and who has reviewed them."""
    levels = Counter(case.case.level for case in cases)
    by_people = sum(bool(case.people) or case.case.reviewer_kind == "person" for case in cases)
    reviewed = "1 caso revisado" if by_people == 1 else f"{by_people} casos revisados"
    mix = ", ".join(f"{levels[level]} con sello {LEVELS[level]}" for level in Level)
    st.markdown(
        f"**{len(cases)} casos** de {len(reference.found.cases)} ({mix}). **{len(found.excluded)} excluidos** de r y kappa "
        f"porque los jueces discrepan. **{reviewed} por una persona**; los demás, por el mantenimiento."
    )
    with st.expander("Cómo se sortearon y qué queda fuera", icon=":material/casino:"):
        st.write(reference.found.sampling)
        if reference.found.population:
            st.write("Población: " + ", ".join(f"{name} {n}" for name, n in reference.found.population.items()))
        st.write("Abstenciones, aparte: " + ", ".join(f"{name} {n}" for name, n in reference.found.abstentions.items()))
        st.write(
            "El sorteo es por niveles: r, kappa y el riesgo valen para esta mezcla de sellos, no para la de producción."
        )


def show_case(services: Services, reference: Reference, cases: list[JudgedCase], picked: str) -> None:
    """Open a case: the one picked in the chart, or any by the list."""
    known = {case.case.id: case for case in cases}
    if picked in known and st.session_state.get("picked-point") != picked:
        st.session_state["caso"] = picked
    st.session_state["picked-point"] = picked
    if st.session_state.get("caso") not in known:
        st.session_state.pop("caso", None)
    case_id = st.selectbox(
        "Abrir un caso",
        list(known),
        index=None,
        key="caso",
        placeholder="Elija un caso, o púlselo en el gráfico",
        format_func=lambda i: f"{i}: {known[i].case.question}" if i in known else str(i),
    )
    if case_id in known:
        scores = reference.panel.scores.get(case_id, {}) if reference.panel else {}
        with st.container(border=True):
            show_reference_case(services, known[case_id], scores, version=reference.found.version)


def show_unreliable(services: Services, reference: Reference, cases: list[JudgedCase]) -> None:
    """The cases that the judges do not agree on, and those that one could not score."""
    known = {case.case.id: case.case.question for case in cases}
    apart = [
        case
        for case in unreliable(reference.panel_cases(), services.thresholds.calibration.max_dispersion)
        if case.case_id in known
    ]
    st.markdown(
        f"**{len(apart)} casos no fiables**: los jueces difieren en más de "
        f"{services.thresholds.calibration.max_dispersion:.1f}".replace(".", ",")
        + "."
    )
    if apart:
        rows = [
            {"caso": c.case_id, "pregunta": known[c.case_id], "dispersión": round(c.dispersion, 2), **c.scores}
            for c in apart
        ]
        st.dataframe(pd.DataFrame(rows), hide_index=True)
    failures = reference.panel.failures if reference.panel else {}
    if failures:
        st.caption("Sin puntuar: " + "; ".join(f"{case} ({', '.join(why)})" for case, why in failures.items()))


def show_baselines(services: Services, found: Calibration | None, reference: Reference | None = None) -> None:
    """The stored measurements, and a form to store the present one."""
    stored = list_baselines(services.records)
    switches = [(state.since, str(state.mode)) for state in read_states(services.records) if state.since]
    limits = services.thresholds.calibration
    if stored:
        chart = charts.baselines_over_time(stored, changes(stored), switches, acceptable=limits.pearson_acceptable)
        show_chart(chart, key="lineas-de-base")
    else:
        st.subheader("Líneas de base", anchor=False)
        st.info("Todavía no se ha guardado ninguna.", icon=":material/hourglass_empty:")
    if found is None or reference is None:
        return
    with st.form("baseline"):
        st.markdown(
            f"**Guardar una línea de base**: la medida de la parte que se informa, sin filtros (r {shown(found.pearson)}). "
            f"{limits.switch_after} seguidas con r menor que {_number(limits.pearson_acceptable)} ponen el sello en modo "
            "determinista."
        )
        name = st.text_input("Su nombre", key="baseline-name")
        sure = st.checkbox("Confirmo que quiero guardarla: no se puede borrar")
        if st.form_submit_button("Guardar la línea de base", icon=":material/save:"):
            if not sure:
                st.error("Marque la casilla para confirmar.", icon=":material/error:")
                return
            try:
                saved = save_baseline(
                    services.records, found, versions=reference.versions(), who=name, thresholds=limits
                )
            except AsesoriaError as error:
                st.error(str(error), icon=":material/error:")
                return
            told = f"Guardada la línea de base {saved.number}."
            if saved.decision:
                told += f" El sello pasa a modo {saved.decision.mode}: {saved.decision.reason}"
            if saved.alert:
                told += " Se ha abierto una alerta en la bandeja de los revisores."
            st.session_state["baseline-told"] = told
            st.rerun()
    if told := st.session_state.pop("baseline-told", ""):
        st.success(told, icon=":material/check:")


def show_production(services: Services, chosen: Filters) -> None:
    """What users were answered: how seals are spread, and the verdicts that people gave."""
    counts = level_counts(services.records, chosen)
    total = sum(count.answers for count in counts)
    if not total:
        st.info(
            "No hay ninguna respuesta de producción con estos filtros. Lo que se sabe del sello está en «Referencia».",
            icon=":material/hourglass_empty:",
        )
        show_drift(services, person="")
        return
    levels: Counter[str] = Counter()
    for count in counts:
        levels[count.level] += count.answers
    st.markdown(
        f"**{total} respuestas**: "
        + ", ".join(f"{levels[str(level)]} con sello {name}" for level, name in reversed(LEVELS.items()))
        + f". {sum(c.answers for c in counts if not c.grounded)} son abstenciones."
    )
    show_chart(
        charts.daily_seals(counts, read_drift(services.records, services.thresholds.drift)), key="sellos-por-dia"
    )
    show_drift(services, person="")
    people = list_verdicts(services.records, kind="interaction")
    show_production_measure(services, people, chosen)
    show_interactions(services, people, chosen)


def show_production_measure(services: Services, people: list[Verdict], chosen: Filters) -> None:
    """r on the answers that people gave a verdict on."""
    rows = by_ids(services.records, sorted({verdict.case_id for verdict in people}), chosen)
    found, cases = production(rows, people, services.thresholds.calibration)
    st.markdown(
        f"**{len(cases)} respuestas de producción con veredicto de una persona.** r de Pearson: {shown(found.pearson)} "
        "No hay kappa: el panel solo puntúa la referencia."
    )
    if cases:
        questions = {str(row["id"]): str(row["question"]) for row in rows}
        points = [(c.id, questions[c.id], c.level, c.faithfulness) for c in cases]
        show_chart(charts.seal_and_faithfulness(points), key="sello-veredicto-produccion")
        show_chart(charts.by_level(found), key="fieles-por-sello-produccion")


def show_interactions(services: Services, people: list[Verdict], chosen: Filters) -> None:
    """Open one of the newest answers."""
    rows = {row["id"]: row for row in newest(services.records, chosen, limit=_NEWEST)}
    picked = st.selectbox(
        f"Abrir una respuesta (las {_NEWEST} últimas)",
        list(rows),
        index=None,
        placeholder="Elija una respuesta",
        format_func=lambda i: f"{rows[i]['created_at'][:16].replace('T', ' ')} {rows[i]['question']}",
    )
    row = get(services.records, picked) if picked else None
    if row is not None:
        with st.container(border=True):
            show_interaction(services, row, people)


def main() -> None:
    """The page."""
    services = services_or_wait()
    st.title("Calibración")
    st.caption("¿Acierta el sello de confianza? Referencia: respuestas con veredicto. Producción: las de los usuarios.")
    try:
        show_state(services)
        cases, interactions = show_filters(services)
        reference, live = st.tabs(["Referencia", "Producción"])
        with reference:
            show_reference(services, cases)
        with live:
            show_production(services, interactions)
    except AsesoriaError as error:
        st.error(str(error), icon=":material/error:")


main()
