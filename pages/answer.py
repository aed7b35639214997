"""One answer in the conversation: text whose ``[n]`` opens its source, how it was made, seal, copy and download."""

import re

import streamlit as st

from core.answering.render import conversation_markdown
from core.models import Answer, Category, Mode
from core.services import Services
from pages.seal import show_feedback, show_seal
from pages.shared import escape_markdown, show_source

_CATEGORY = {
    Category.DIRECT: "Pregunta general: se responde con lo que dicen los documentos.",
    Category.PERSONAL_CASE: "Caso personal: solo la regla general, sin valorar su caso ni calcular.",
    Category.NO_ANSWER: "Sin información suficiente en los documentos: no se inventa una respuesta.",
    Category.OUT_OF_SCOPE: "Fuera de lo que cubre AsesorIA.",
}
_MODE = {
    Mode.EXTRACTIVE: "Respuesta literal: frases citadas de los documentos, sin redactar.",
    Mode.SYNTHESIS: "Redactada por un modelo de lenguaje y comprobada frase a frase con sus fuentes.",
    Mode.FALLBACK: "El modelo de lenguaje no ha podido: respuesta literal de respaldo.",
}
_MARK = re.compile(r"\[(\d{1,2})\](?!\()")
# A mark is a link to its source's container; this opens the source and brings it into sight. It only helps: without
# it the sources are where they are.
_OPENER = """<script>
if (!window.asesoriaOpener) {
  window.asesoriaOpener = true;
  document.addEventListener("click", (event) => {
    const link = event.target.closest && event.target.closest('a[href*="#fuente-"]');
    if (!link) return;
    event.preventDefault();
    const name = link.getAttribute("href").split("#")[1];
    const box = document.querySelector(".st-key-" + name);
    const details = box && box.querySelector("details");
    if (!details) return;
    if (!details.open) details.querySelector("summary").click();
    box.scrollIntoView({behavior: "smooth", block: "center"});
    details.querySelector("summary").focus({preventScroll: true});
  });
}
</script>"""


def install_opener() -> None:
    """Once a page: what makes the marks open their sources."""
    st.html(_OPENER, unsafe_allow_javascript=True)


def linked(answer: Answer, turn: int) -> str:
    """The answer's Markdown with each ``[n]`` of a source as a link to it."""

    def link(match: re.Match[str]) -> str:
        number = int(match[1])
        known = 1 <= number <= len(answer.sources)
        return rf"[\[{number}\]](#fuente-{turn}-{number})" if known else match.group()

    return _MARK.sub(link, answer.text.replace("$", r"\$"))


def show_answer(services: Services, question: str, answer: Answer, interaction_id: str, *, turn: int) -> None:
    """Everything of one answer. ``turn``: its place in the conversation, from 0."""
    if answer.understood:
        st.caption(f"He entendido: {escape_markdown(answer.understood)}")
    if answer.mode is Mode.FALLBACK:
        st.warning(f"{answer.fallback} Esta respuesta es literal.", icon=":material/warning:")
    if not answer.grounded:
        st.info(answer.text, icon=":material/search_off:")
    else:
        st.markdown(linked(answer, turn))
        st.caption("Fuentes (cada [n] del texto abre la suya)")
        for number, source in enumerate(answer.sources, start=1):
            with st.container(key=f"fuente-{turn}-{number}"):
                show_source(source, number, key=f"turn{turn}-source{number}")
    how = _CATEGORY[answer.category] if not answer.grounded else f"{_CATEGORY[answer.category]} {_MODE[answer.mode]}"
    st.caption(f":material/info: {how}")
    show_seal(answer, services.thresholds.seal, key=f"turn{turn}")
    with st.container(horizontal=True, vertical_alignment="center", key=f"turn{turn}-tools"):
        show_feedback(services, interaction_id, key=f"turn{turn}")
        with st.popover("Copiar", icon=":material/content_copy:", type="tertiary"):
            st.caption("Pulse el icono de copiar, arriba a la derecha del texto.")
            st.code(conversation_markdown([(question, answer)]), language=None, wrap_lines=True)
        st.download_button(
            "Descargar",
            conversation_markdown([(question, answer)]),
            file_name=f"asesoria-respuesta-{turn + 1}.md",
            mime="text/markdown",
            icon=":material/download:",
            type="tertiary",
            key=f"turn{turn}-download",
        )
