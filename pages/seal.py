"""How the seal, the opinion of a user, the seal's state and its drift are drawn."""

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from core.errors import AsesoriaError
from core.models import Answer, Level, SealMode
from core.records.reviews import DRIFT, close_review, list_reviews
from core.seal.drift import Colour, Drift
from core.seal.explain import HONEST_LIMITS, NAMES, signal_rows
from core.seal.state import read_states
from core.seal.watch import read_drift
from core.services import Services
from core.thresholds import SealThresholds

_BADGES = {
    Level.HIGH: (":material/verified:", "green"),
    Level.MEDIUM: (":material/adjust:", "orange"),
    Level.LOW: (":material/warning:", "red"),
}
_COLOURS = {
    Colour.NONE: ("Sin color: pocas respuestas", ":material/hourglass_empty:", "gray"),
    Colour.GREEN: ("Verde: sin deriva", ":material/check_circle:", "green"),
    Colour.AMBER: ("Ámbar: a vigilar", ":material/visibility:", "orange"),
    Colour.RED: ("Rojo: hay que revisarlo", ":material/error:", "red"),
}
_FINE = {True: "✔ cumple", False: "✘ no cumple", None: "— no cuenta"}


def show_seal(answer: Answer, limits: SealThresholds, *, key: str) -> None:
    """The answer's seal: colour, word and icon; on request the signals against their thresholds and the reasons."""
    if answer.seal is None:
        return
    icon, colour = _BADGES[answer.seal.level]
    with st.container(horizontal=True, vertical_alignment="center", key=f"{key}-seal"):
        st.badge(NAMES[answer.seal.level], icon=icon, color=colour)
        with st.popover("¿Por qué?", icon=":material/help:", type="tertiary"):
            for reason in answer.seal.reasons:
                st.markdown(f"- {reason}")
            rows = signal_rows(answer.seal, limits)
            st.table(
                pd.DataFrame(
                    [{"Señal": r.name, "Valor": r.value, "Para «alta»": r.wanted, "": _FINE[r.fine]} for r in rows]
                ).set_index("Señal")
            )
            st.markdown("**Lo que este sello no dice**\n" + "\n".join(f"- {limit}" for limit in HONEST_LIMITS))
            mode = "determinista" if answer.seal.mode is SealMode.DETERMINISTIC else "normal"
            st.caption(f"Umbrales, versión {answer.seal.thresholds_version}. Modo {mode}.")
            show_changes(limits)


def show_changes(limits: SealThresholds) -> None:
    """The seal's change log."""
    lines = [f"- {c.date} (versión {c.version}): {c.change}" for c in limits.changes]
    st.caption("**Cambios del sello**\n" + "\n".join(lines))


def show_feedback(services: Services, interaction_id: str, *, key: str) -> None:
    """Thumb up or down and a comment on an answer; kept in the records."""
    if not interaction_id:
        return
    thumb = st.feedback("thumbs", key=f"{key}-thumb")
    if thumb is None:
        return
    word = "up" if thumb else "down"
    sent_key = f"{key}-sent"
    with st.form(f"{key}-comment", border=False):
        comment = st.text_input("¿Quiere decir por qué? (opcional, sin datos personales)", max_chars=500)
        submitted = st.form_submit_button("Enviar el comentario")
    if submitted or st.session_state.get(sent_key, ("",))[0] != word:
        receipt = services.give_feedback(interaction_id, word, comment)
        st.session_state[sent_key] = (word, comment)
        if not receipt.acknowledged:
            st.caption("Su opinión todavía no se ha podido guardar; se reintenta solo.")
            return
    st.caption("Gracias, su opinión ha quedado guardada.")


def show_records_problem(services: Services) -> None:
    """A note where the records cannot be written; answers go on."""
    if services.recorder.problem:
        st.warning(services.recorder.problem, icon=":material/save:")


def show_state(services: Services) -> None:
    """The seal's state: normal or deterministic, since when and why, with its history."""
    try:
        states = read_states(services.records)
    except AsesoriaError as error:
        st.error(str(error), icon=":material/error:")
        return
    present = states[-1]
    since = f" desde el {present.since[:10]}" if present.since else ""
    normal = present.mode is SealMode.NORMAL
    st.badge(
        f"Sello en modo {'normal' if normal else 'determinista'}{since}",
        icon=":material/verified_user:" if normal else ":material/gpp_maybe:",
        color="green" if normal else "orange",
    )
    st.write(present.reason)
    if not services.seal_state.has_model:
        st.caption("Sin modelo de lenguaje no hay autoverificación: el sello de cada respuesta es determinista.")
    if len(states) > 1:
        with st.expander("Historia"):
            for state in reversed(states[1:]):
                st.markdown(
                    f"- {state.since[:16].replace('T', ' ')}: **{state.mode}**. {state.reason} ({state.changed_by})"
                )


def show_drift(services: Services, *, person: str) -> None:
    """The drift now, with its alerts; ``person`` is who closes one ('' = ask for the name)."""
    try:
        found = read_drift(services.records, services.thresholds.drift)
        alerts = list_reviews(services.records, kind=DRIFT)
    except AsesoriaError as error:
        st.error(str(error), icon=":material/error:")
        return
    _show_colour(found)
    for alert in alerts:
        with st.form(f"alert-{alert.id}"):
            st.error(f"{alert.title}. {alert.details.get('reason', '')}", icon=":material/error:")
            name = person or st.text_input("Su nombre")
            reason = st.text_area("Qué ha revisado y por qué se cierra")
            if st.form_submit_button("Cerrar la revisión"):
                try:
                    close_review(services.records, alert, person=name, reason=reason)
                    st.rerun()
                except AsesoriaError as error:
                    st.error(str(error), icon=":material/error:")


def _show_colour(found: Sequence[Drift]) -> None:
    if not found:
        st.info("Todavía no hay respuestas guardadas.", icon=":material/hourglass_empty:")
        return
    word, icon, colour = _COLOURS[found[-1].colour]
    st.badge(word, icon=icon, color=colour)
    st.write(found[-1].reason)
    st.caption(f"Últimos días: {found[-1].answers_last} respuestas; anteriores: {found[-1].answers_before}.")
