"""What AsesorIA is and is not, what it can miss, what it keeps, and whom an error can harm."""

from collections.abc import Mapping

import streamlit as st

from core.config import Settings
from core.documents.notice import about_parts, load_measures, percent, privacy_notice
from core.privacy.measure import recall_table


def show_figures(measures: Mapping[str, str], recall: Mapping[str, float]) -> None:
    """What was measured, where it was."""
    if measures:
        st.markdown("**Medido** con preguntas de respuesta conocida:")
        st.markdown("\n".join(f"- {name}: **{figure}**" for name, figure in measures.items()))
    if recall:
        st.markdown("**Datos personales detectados** en textos hechos para medirlo:")
        st.dataframe([{"Dato": kind, "Detectados": percent(share)} for kind, share in recall.items()], hide_index=True)


before_figures, before_privacy, after = about_parts()
found = recall_table()
st.title("Acerca de AsesorIA")
st.markdown(before_figures)
show_figures(load_measures(), found)
st.markdown(before_privacy)
st.markdown(privacy_notice(Settings(), found))
st.markdown(after)
st.page_link("corpus.py", label="Los documentos oficiales y su fecha", icon=":material/library_books:")
