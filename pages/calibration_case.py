"""One case of the calibration page: the answer with its sources, the verdicts on it, and the form to add one."""

from collections.abc import Mapping, Sequence

import streamlit as st

from core.calibration.reference import ReferenceSource
from core.calibration.view import JudgedCase
from core.corpus.register import find
from core.errors import AsesoriaError
from core.records.verdicts import Kind, Verdict, add_verdict
from core.services import Services
from pages.calibration_charts import LEVELS
from pages.shared import escape_markdown, official_page

_FAITHFUL = {"Fiel": 1.0, "No fiel": 0.0}
_HELP = "Fiel: cada afirmación está en su fuente, se responde a lo que se pregunta y no se calla ninguna condición decisiva."


def show_reference_case(services: Services, judged: JudgedCase, scores: Mapping[str, float], *, version: str) -> None:
    """A case of the reference set; seal and verdicts only on request, so that a verdict can be given without them."""
    case = judged.case
    _show_answer(services, case.question, case.answer, case.sources, key=f"ref-{case.id}")
    if st.toggle("Mostrar el sello y los veredictos (mejor después de dar el suyo)", key=f"reveal-{case.id}"):
        st.markdown(f"Sello: **{LEVELS[case.level]}**. Señales: {_signals(case.signals)}.")
        kind = "mantenimiento" if case.reviewer_kind == "maintainer" else "persona"
        st.markdown(
            f"- {_word(case.faithfulness)} ({escape_markdown(case.reviewer)}, {kind}): {escape_markdown(case.reason)} "
            f"Decide: {escape_markdown(case.decides)}"
        )
        _show_people(judged.people)
        if scores:
            st.markdown(
                "Jueces: " + "; ".join(f"{name} {value:.2f}".replace(".", ",") for name, value in scores.items())
            )
    _verdict_form(services, "reference", case.id, version=version)


def show_interaction(services: Services, row: Mapping[str, object], people: Sequence[Verdict]) -> None:
    """An answer given to a user, as far as it is kept."""
    answer = row["answer"]
    if not isinstance(answer, str):
        st.info("De esta respuesta no se guardó el texto: la sesión tenía documentos propios.", icon=":material/lock:")
        return
    places = row["sources"] if isinstance(row["sources"], list) else []
    passages = row["passages"] if isinstance(row["passages"], list) else []
    sources = [
        ReferenceSource(
            fragment_id=place["fragment_id"], doc_id=place["doc_id"], title=_title(services, place["doc_id"]), page=None,
            section="", passage=passage, relevance=place["relevance"],
        )
        for place, passage in zip(places, passages, strict=False)
    ]  # fmt: skip
    case_id = str(row["id"])
    _show_answer(services, str(row["question"]), answer, sources, key=f"int-{case_id}")
    _show_people([verdict for verdict in people if verdict.case_id == case_id])
    _verdict_form(services, "interaction", case_id, version="")


def _show_answer(
    services: Services, question: str, answer: str, sources: Sequence[ReferenceSource], *, key: str
) -> None:
    st.markdown(f"**Pregunta:** {escape_markdown(question)}")
    with st.container(border=True):
        st.markdown(answer)
    for number, source in enumerate(sources, start=1):
        page = f", página {source.page}" if source.page is not None else ""
        with st.expander(f"[{number}] {source.title}{page}", icon=":material/description:"):
            if source.section:
                st.caption(source.section)
            st.markdown("\n".join(f"> {escape_markdown(line)}  " for line in source.passage.split("\n")))
            if source.page is not None and st.toggle(
                f"Ver la página {source.page} con el pasaje marcado", key=f"{key}-{number}"
            ):
                try:
                    st.image(official_page(source.doc_id, source.page, tuple(source.passage.split("\n"))))
                except AsesoriaError as error:
                    st.error(str(error), icon=":material/error:")


def _show_people(people: Sequence[Verdict]) -> None:
    for verdict in people:
        st.markdown(
            f"- {_word(verdict.faithfulness)} ({escape_markdown(verdict.reviewer)}, persona): "
            f"{escape_markdown(verdict.reason)} Decide: {escape_markdown(verdict.decides)}"
        )


def _verdict_form(services: Services, kind: Kind, case_id: str, *, version: str) -> None:
    with st.form(f"verdict-{kind}-{case_id}", clear_on_submit=False):
        st.markdown("**Su veredicto** (se guarda con su nombre, junto a los demás)")
        name = st.text_input("Su nombre", max_chars=200, key=f"name-{kind}-{case_id}")
        value = st.radio("La respuesta es", list(_FAITHFUL), index=None, horizontal=True, help=_HELP)
        reason = st.text_input("Por qué, en una frase", max_chars=500)
        decides = st.text_input("Página o artículo que lo decide", max_chars=300)
        if st.form_submit_button("Guardar el veredicto", icon=":material/gavel:"):
            given = Verdict(
                kind=kind, case_id=case_id, faithfulness=_FAITHFUL.get(value or "", -1.0), reason=reason,
                decides=decides, reviewer=name, reference_version=version,
            )  # fmt: skip
            try:
                add_verdict(services.records, given)
            except AsesoriaError as error:
                st.error(str(error), icon=":material/error:")
            else:
                st.toast("Veredicto guardado.", icon=":material/check:")
                st.rerun()


def _signals(signals: Mapping[str, object]) -> str:
    return ", ".join(f"{name} {value}" for name, value in signals.items() if value not in ("", None))


def _title(services: Services, doc_id: str) -> str:
    try:
        return find(services.register, doc_id).title
    except AsesoriaError:
        return doc_id


def _word(faithfulness: float) -> str:
    return "**Fiel**" if faithfulness >= 0.5 else "**No fiel**"
