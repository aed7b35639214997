"""What the pages share: the services, once ready, and how a source is drawn."""

import streamlit as st

from core.answering.render import place, validity
from core.corpus.prepare import readable_path
from core.corpus.register import find
from core.errors import AsesoriaError
from core.ingestion.worker import render_in_worker
from core.models import Fragment, Scope, Source
from core.qa.status import QaStatus
from core.services import Services
from core.startup import Startup, shared_startup


@st.cache_resource(show_spinner=False)
def startup() -> Startup:
    """The process's start-up, begun at the first visit."""
    found = shared_startup()
    found.start()
    return found


def services_or_wait() -> Services:
    """The services; while they are being built the page says what is going on, and stops here."""
    ready = startup().services
    if ready is not None:
        return ready
    if startup().error:
        st.error(startup().error, icon=":material/error:")
        if st.button("Volver a intentarlo", icon=":material/refresh:"):
            startup().start()
            st.rerun()
        st.stop()
    _wait()
    st.stop()


@st.fragment(run_every=1.0)
def _wait() -> None:
    if startup().services is not None or startup().error:
        st.rerun(scope="app")
    with st.status(startup().message, state="running"):
        st.write(
            "La primera vez se descarga el modelo de búsqueda (unos 90 MB) y los documentos oficiales (unos 230 MB). "
            "Después arranca en segundos."
        )


@st.cache_data(show_spinner=False, max_entries=64)
def official_page(doc_id: str, page: int, passages: tuple[str, ...]) -> bytes:
    """A page of an official document as PNG, passages marked. Public documents only: the cache is shared."""
    services = services_or_wait()
    path = readable_path(find(services.register, doc_id), services.settings)
    return render_in_worker(path, services.settings, page=page, passages=passages)


_STATUS = {
    QaStatus.NOT_EVALUATED: (":material/help:", "gray"),
    QaStatus.APPROVED: (":material/check_circle:", "green"),
    QaStatus.IN_REVIEW: (":material/pending:", "orange"),
    QaStatus.REJECTED: (":material/cancel:", "red"),
}


def status_badge(status: QaStatus) -> None:
    """What the quality review says of a document: colour, word and icon."""
    icon, colour = _STATUS[status]
    st.badge(f"Calidad: {status}", icon=icon, color=colour)


def qa_statuses(services: Services) -> dict[str, QaStatus]:
    """The state of every evaluated document; none while the records cannot be read (the page goes on)."""
    try:
        return services.qa_store.qa_statuses()
    except AsesoriaError:
        return {}


def show_source(source: Source, number: int, key: str) -> None:
    """One source: where it stands, the passage, how relevant it is, and the page itself on request."""
    services = services_or_wait()
    with st.expander(f"[{number}] {place(source)}", icon=":material/description:"):
        valid = validity(source)
        st.markdown(f"**{source.title}**{f' · {valid}' if valid else ''}")
        if source.source_scope is Scope.PUBLIC:
            status_badge(qa_statuses(services).get(source.doc_id, QaStatus.NOT_EVALUATED))
        if source.section:
            st.caption(source.section)
        st.markdown("\n".join(f"> {line}  " for line in source.passage.split("\n")))
        left, right = st.columns([2, 1], vertical_alignment="bottom")
        left.progress(source.relevance, text=f"Relevancia: {source.relevance:.2f}".replace(".", ","))
        if source.source_scope is Scope.PUBLIC and source.source_url:
            right.link_button("Documento oficial", source.source_url, icon=":material/open_in_new:", width="stretch")
        label = f"Ver la página {source.page}" if source.page is not None else "Ver el artículo completo"
        if st.toggle(f"{label} con el pasaje marcado", key=f"{key}-page"):
            try:
                if source.page is not None:
                    with st.spinner("Abriendo la página…"):
                        image = official_page(source.doc_id, source.page, tuple(source.passage.split("\n")))
                    st.image(image, caption=f"{source.title}, página {source.page}", width="stretch")
                else:
                    show_section(services.store.document(source.doc_id), source)
            except AsesoriaError as error:
                st.error(str(error), icon=":material/error:")


def show_section(fragments: list[Fragment], source: Source) -> None:
    """The whole section (an article of a law) with the passage marked in it."""
    section = [f for f in fragments if f.section_path == source.section_path]
    marked = source.passage.split("\n")
    with st.container(border=True, height=480):
        st.markdown(f"#### {source.section_path[-1] if source.section_path else source.title}")
        heading = source.section_path[-1] if source.section_path else ""
        for fragment in section:
            for line in fragment.text.split("\n"):
                if line == heading:
                    continue
                st.markdown(mark_passages(line, marked))


def mark_passages(line: str, passages: list[str]) -> str:
    """A line of text as Markdown with the passages highlighted; its own signs are escaped."""
    found = next((p for p in passages if p and p in line), None)
    if found is None:
        return escape_markdown(line)
    before, _, after = line.partition(found)
    return f"{escape_markdown(before)}:orange-background[{escape_markdown(found)}]{escape_markdown(after)}"


def escape_markdown(text: str) -> str:
    """Text whose signs mean nothing to Markdown."""
    return "".join(f"\\{ch}" if ch in "\\`*_{}[]()#+-.!|$~<>:" else ch for ch in text)
