"""Who decides: Streamlit's own login where it is configured, else a name asked once in the session."""

import streamlit as st

_NAME = "reviewer_name"


def reviewer() -> str:
    """The reviewer's name; '' while nobody has said who they are. A name that is typed is no authentication."""
    if st.secrets.load_if_toml_exists() and "auth" in st.secrets:
        return _logged_in()
    return str(st.session_state.get(_NAME, ""))


def ask_reviewer() -> str:
    """As `reviewer`, drawing what is needed to say who it is."""
    login = st.secrets.load_if_toml_exists() and "auth" in st.secrets
    name = reviewer()
    if name:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.caption(f":material/person: Revisa: {name}")
            if login:
                st.button("Salir", on_click=st.logout, type="tertiary")
            else:
                st.button("Cambiar de persona", on_click=_forget, type="tertiary")
    elif login:
        st.info("Para decidir hay que entrar. Sin entrar puede verlo todo.", icon=":material/login:")
        st.button("Entrar", on_click=st.login, type="primary")
    else:
        with st.form("reviewer", border=True):
            st.text_input(
                "Su nombre",
                key=f"{_NAME}_typed",
                max_chars=80,
                help="Queda escrito junto a cada decisión. Se pide una vez por sesión y no comprueba quién es.",
            )
            st.form_submit_button("Empezar a revisar", on_click=_remember, icon=":material/person:")
    return name


def _logged_in() -> str:
    if not st.user.is_logged_in:
        return ""
    name, email = str(st.user.get("name") or ""), str(st.user.get("email") or "")
    return f"{name} ({email})" if name and email else name or email


def _remember() -> None:
    st.session_state[_NAME] = str(st.session_state.get(f"{_NAME}_typed", "")).strip()


def _forget() -> None:
    st.session_state.pop(_NAME, None)
