"""Page set-up, the notice that is always visible, and the navigation (the script that st.App runs)."""

import streamlit as st

from core.answering.render import DISCLAIMER

st.set_page_config(page_title="AsesorIA", page_icon=":material/account_balance:", layout="centered")

page = st.navigation(
    [
        st.Page("chat.py", title="Preguntar", icon=":material/chat:", default=True),
        st.Page("documents.py", title="Mis documentos", icon=":material/folder_shared:"),
        st.Page("corpus.py", title="Documentos oficiales", icon=":material/library_books:"),
        st.Page("qa_review.py", title="Revisión de calidad", icon=":material/fact_check:"),
        st.Page("about.py", title="Acerca de", icon=":material/info:"),
        st.Page("calibration.py", title="Calibración", icon=":material/monitoring:"),
    ]
)
st.warning(DISCLAIMER, icon=":material/info:")
st.sidebar.caption(DISCLAIMER)  # stays in sight when the page is scrolled
page.run()
