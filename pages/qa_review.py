"""Quality review: the inbox of what waits for a person, batteries, their reports, and two of them compared."""

import streamlit as st

from core.documents.intake import shown_name
from core.errors import AsesoriaError
from core.qa.desk import Desk, build_desk
from pages.qa_inbox import show_inbox, show_notice
from pages.qa_packs import show_packs
from pages.qa_report import show_compare, show_reports
from pages.qa_runs import show_runs
from pages.reviewer import ask_reviewer
from pages.shared import own_search, services_or_wait

VIEWS = {"inbox": "Bandeja", "runs": "Baterías", "packs": "Paquetes", "reports": "Informes", "compare": "Comparar"}
_SHOW = {
    "inbox": show_inbox,
    "runs": show_runs,
    "packs": show_packs,
    "reports": show_reports,
    "compare": show_compare,
}
OFFICIAL = "official"


@st.cache_resource(show_spinner=False)
def shared_desk() -> Desk:
    """One desk for all visitors: a battery goes on whoever looks at it."""
    return build_desk(services_or_wait())


def chosen_desk() -> Desk:
    """The desk of the official documents, or of one of the session's own, as the person chooses."""
    services = services_or_wait()
    documents = own_search().documents
    held = {d.doc_id: d for d in documents.documents()}
    if not held:
        st.session_state.pop("qa_desk", None)
        with st.container(horizontal=True, vertical_alignment="center"):
            st.caption("También puede pasarle la batería a un libro o documento suyo: súbalo primero.")
            st.page_link("documents.py", label="Mis documentos", icon=":material/upload_file:")
        return shared_desk()
    if st.session_state.get("qa_desk") not in held:
        st.session_state.qa_desk = OFFICIAL
    chosen = st.selectbox(
        "Qué se revisa",
        [OFFICIAL, *held],
        format_func=lambda d: (
            "Los documentos oficiales" if d == OFFICIAL else f"Su documento: {shown_name(held[d].name)}"
        ),
        key="qa_desk",
    )
    if chosen == OFFICIAL:
        return shared_desk()
    st.caption(
        ":material/lock: Solo usted ve lo que se hace aquí con su documento. Preguntas, respuestas, decisiones e informes se "
        "guardan en su sesión y se borran con el documento o al cerrarla."
    )
    return services.upload_desks.desk(documents, held[chosen])


def draw(desk: Desk) -> None:
    """The page over a desk."""
    ask_reviewer()
    show_notice()
    view = st.segmented_control(
        "Vista",
        list(VIEWS),
        format_func=lambda v: VIEWS[v],
        default="inbox",
        required=True,
        key="qa_view",
        label_visibility="collapsed",
    )
    try:
        with st.spinner("Leyendo…"):
            desk.sync()
        _SHOW[view or "inbox"](desk)
    except AsesoriaError as error:
        st.error(str(error), icon=":material/error:")


if __name__ == "__main__":
    st.title("Revisión de calidad")
    st.caption(
        "Ningún documento se da por bueno sin pasar sus preguntas. Lo que el juez ve dudoso lo decide una persona."
    )
    services_or_wait()
    try:
        desk = chosen_desk()
    except AsesoriaError as error:
        st.error(str(error), icon=":material/error:")
        st.stop()
    draw(desk)
