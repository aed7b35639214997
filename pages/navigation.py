"""Page set-up, the notice that is always visible, and the navigation (the script that st.App runs)."""

import streamlit as st

from core.answering.render import DISCLAIMER

st.set_page_config(page_title="AsesorIA", page_icon=":material/account_balance:", layout="centered")

page = st.navigation(
    [
        st.Page("chat.py", title="Preguntar", icon=":material/chat:", default=True),
        st.Page("corpus.py", title="Documentos oficiales", icon=":material/library_books:"),
        st.Page("qa_review.py", title="Revisión de calidad", icon=":material/fact_check:"),
    ]
)
st.warning(DISCLAIMER, icon=":material/info:")
st.sidebar.caption(DISCLAIMER)  # stays in sight when the page is scrolled
page.run()
