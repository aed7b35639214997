"""Quality review: the inbox of what waits for a person, batteries, their reports, and two of them compared."""

import streamlit as st

from core.errors import AsesoriaError
from core.qa.desk import Desk, build_desk
from pages.qa_inbox import show_inbox, show_notice
from pages.qa_report import show_compare, show_reports
from pages.qa_runs import show_runs
from pages.reviewer import ask_reviewer
from pages.shared import services_or_wait

VIEWS = {"inbox": "Bandeja", "runs": "Baterías", "reports": "Informes", "compare": "Comparar"}


@st.cache_resource(show_spinner=False)
def shared_desk() -> Desk:
    """One desk for all visitors: a battery goes on whoever looks at it."""
    return build_desk(services_or_wait())


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
        {"inbox": show_inbox, "runs": show_runs, "reports": show_reports, "compare": show_compare}[view or "inbox"](
            desk
        )
    except AsesoriaError as error:
        st.error(str(error), icon=":material/error:")


if __name__ == "__main__":
    st.title("Revisión de calidad")
    st.caption(
        "Ningún documento se da por bueno sin pasar sus preguntas. Lo que el juez ve dudoso lo decide una persona."
    )
    services_or_wait()
    draw(shared_desk())
