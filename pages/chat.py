"""Ask, read the answer, open each source on its page."""

import time
from contextlib import closing

import streamlit as st

from core.answering.conversation import Turn
from core.answering.render import conversation_markdown
from core.errors import AsesoriaError
from core.models import Answer, Scope
from core.retrieval.indexer import READY
from core.services import Services
from pages.answer import install_opener, show_answer
from pages.seal import show_records_problem
from pages.shared import escape_markdown, own_search, own_session, services_or_wait

EXAMPLES = (
    "¿Qué libros registro debe llevar un sujeto pasivo del IVA en régimen general?",
    "¿Cuándo se presenta el modelo 130 del tercer trimestre de 2026?",
    "¿Son deducibles las retribuciones al cónyuge que trabaja en la actividad?",
    "¿Qué debe contener una factura completa?",
)


@st.fragment(run_every=2.0)
def show_indexing(services: Services) -> None:
    """Progress of the first indexing, document by document; answers already come from what is ready."""
    indexing = services.indexing
    ready, failed, total = indexing.counts()
    if not indexing.running:
        st.rerun(scope="app")
    shares = [1.0 if p.stage == READY else 0.5 * min(p.share, 1.0) for p in indexing.progress()]
    with st.container(border=True):
        st.progress(sum(shares) / max(total, 1), text=f"Preparando los documentos oficiales: {ready} de {total} listos")
        st.caption("Ya puede preguntar: se responde con los que están listos. Puede faltar lo que digan los demás.")
        with st.expander("Documento por documento"):
            for progress in indexing.progress():
                text = f"{progress.title}: {progress.stage} {progress.detail}".strip()
                st.progress(1.0 if progress.stage == READY else min(progress.share, 1.0), text=text)
    if failed:
        st.caption(f"{failed} documentos con error: véalos en «Documentos oficiales».")


def show_problems(services: Services) -> None:
    """Errors of the indexing that has ended, with a way to try again."""
    indexing = services.indexing
    _, failed, _ = indexing.counts()
    if indexing.error or failed:
        st.error(
            indexing.error
            or f"{failed} documentos no se han podido preparar. El resto funciona. Véalos en «Documentos oficiales».",
            icon=":material/error:",
        )
        if st.button("Volver a intentarlo", icon=":material/refresh:"):
            indexing.start()
            st.rerun()


def show_turn(number: int, question: str, outcome: Answer | str, interaction_id: str) -> None:
    """A question and its answer, or the message of the error that it met."""
    with st.chat_message("user"):
        st.text(question)
    with st.chat_message("assistant", avatar=":material/account_balance:"):
        if isinstance(outcome, str):
            st.error(outcome, icon=":material/error:")
            return
        show_answer(services, question, outcome, interaction_id, turn=number)


def answer_question(services: Services, question: str) -> None:
    """Ask the engine, show the draft as it is being written, and keep the turn in the session and the records."""
    history = [Turn(asked, isinstance(said, Answer) and said.grounded) for asked, said, _ in st.session_state.turns]
    outcome: Answer | str = ""
    interaction_id = ""
    has_own = False
    clock = time.perf_counter()
    with st.chat_message("user"):
        st.text(question)
    with st.chat_message("assistant", avatar=":material/account_balance:"):
        try:
            with st.spinner("Buscando en los documentos…"):
                own = own_search()
                has_own = bool(own.documents.documents())
                state, place, draft = st.empty(), st.empty(), ""
                steps_of = services.engine.stream(question, history=history, private=own if has_own else None)
                with closing(steps_of) as steps:
                    for step in steps:
                        if isinstance(step, Answer):
                            outcome = step
                            continue
                        draft += step
                        state.caption(":material/edit_note: Borrador: comprobando cada frase con sus fuentes…")
                        place.text(draft)
        except AsesoriaError as error:
            outcome = str(error)
    if isinstance(outcome, Answer):
        latency_ms = 1000 * (time.perf_counter() - clock)
        interaction_id = services.record(
            question,
            outcome,
            channel="page",
            latency_ms=latency_ms,
            session_id=own_session()[0],
            private_session=has_own or any(s.source_scope is Scope.PRIVATE for s in outcome.sources),
        ).id
    st.session_state.turns.append((question, outcome, interaction_id))


def show_model(services: Services) -> None:
    """Who writes the answers, and whether it is there."""
    if services.model is None:
        st.sidebar.caption(":material/format_quote: Sin modelo de lenguaje: respuestas literales.")
        return
    state = services.model.available()
    icon = "check_circle" if state.ok else "error"
    literal = "" if state.ok else " Mientras tanto, las respuestas son literales."
    st.sidebar.caption(f":material/{icon}: {escape_markdown(state.message)}{literal}")


def show_tools() -> None:
    """Download and clear the conversation."""
    answered = [(q, a) for q, a, _ in st.session_state.turns if isinstance(a, Answer)]
    with st.container(horizontal=True):
        st.download_button(
            "Descargar la conversación",
            conversation_markdown(answered),
            file_name="asesoria.md",
            mime="text/markdown",
            icon=":material/download:",
        )
        with st.popover("Borrar la conversación", icon=":material/delete:"):
            st.write("Se borrarán todas las preguntas y respuestas de esta sesión. No se puede deshacer.")
            if st.button("Sí, borrarla", type="primary"):
                st.session_state.turns = []
                st.rerun()


st.title("AsesorIA")
st.caption(
    "Preguntas de fiscalidad de autónomos, respondidas solo con documentos de la AEAT y el BOE, y con sus fuentes."
)
st.session_state.setdefault("turns", [])
services = services_or_wait()

if services.indexing.running:
    show_indexing(services)
else:
    show_problems(services)

asked = st.chat_input("Escriba su pregunta…", max_chars=services.settings.max_question_chars)
if not st.session_state.turns and not asked:
    st.write("Escriba una pregunta abajo, o empiece por un ejemplo:")
    for example in EXAMPLES:
        if st.button(example, width="stretch", icon=":material/help:"):
            asked = example
install_opener()
for number, (question, outcome, interaction_id) in enumerate(st.session_state.turns):
    show_turn(number, question, outcome, interaction_id)
if asked:
    answer_question(services, asked)
    st.rerun()
show_records_problem(services)
if st.session_state.turns:
    show_tools()
show_model(services)
