"""What the pages share: the services, once ready, and how a source is drawn."""

import streamlit as st

from core.answering.both import private_passages
from core.answering.render import place, validity
from core.corpus.prepare import readable_path
from core.corpus.register import find
from core.documents.cookie import session_of
from core.documents.search import SessionSearch
from core.documents.sessions import new_session_id
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


def own_session() -> tuple[str, bool]:
    """The id of this browser's session, and whether it lasts when the page is reloaded (it came in the cookie)."""
    if found := session_of(st.context.cookies):
        return found, True
    return st.session_state.setdefault("session_without_cookie", new_session_id()), False


def _left(search: SessionSearch) -> None:
    """The tab is gone: nothing private stays in memory, and after the last one the session's end comes near."""
    search.forget()
    ready = startup().services
    if ready is not None:
        ready.sessions.leave(search.documents.session_id)


@st.cache_resource(scope="session", show_spinner=False, on_release=_left)
def _own_search(session_id: str) -> SessionSearch:
    services = services_or_wait()
    services.sessions.enter(session_id)
    return services.private_search(session_id)


def own_search() -> SessionSearch:
    """The search over the public corpus and this session's documents; kept for this tab alone."""
    search = _own_search(own_session()[0])
    search.documents.touch()
    return search


@st.cache_data(scope="session", show_spinner=False, max_entries=16)
def own_page(doc_id: str, page: int, passages: tuple[str, ...]) -> bytes:
    """A page of one of the session's documents as PNG, passages marked; cached for this session only."""
    return own_search().documents.page_image(doc_id, page, passages)


def show_source(source: Source, number: int, key: str) -> None:
    """One source: where it stands, the passage, how relevant it is, and the page itself on request."""
    services = services_or_wait()
    named = f"Su documento: {escape_markdown(place(source))}" if source.source_scope is Scope.PRIVATE else place(source)
    with st.expander(f"[{number}] {named}", icon=":material/description:"):
        own = source.source_scope is Scope.PRIVATE
        valid = validity(source)
        written = escape_markdown if own else str
        if own:
            with st.container(horizontal=True):
                st.badge("Su documento", icon=":material/folder_shared:", color="violet")
                status_badge(services.upload_desks.status(own_search().documents, source.doc_id))
        else:
            status_badge(qa_statuses(services).get(source.doc_id, QaStatus.NOT_EVALUATED))
        st.markdown(f"**{written(source.title)}**{f' · {valid}' if valid else ''}")
        if source.section:
            st.caption(written(source.section))
        st.markdown("\n".join(f"> {written(line)}  " for line in source.passage.split("\n")))
        left, right = st.columns([2, 1], vertical_alignment="bottom")
        left.progress(source.relevance, text=f"Relevancia: {source.relevance:.2f}".replace(".", ","))
        if source.source_scope is Scope.PUBLIC and source.source_url:
            right.link_button("Documento oficial", source.source_url, icon=":material/open_in_new:", width="stretch")
        whole = "Ver la sección completa" if own else "Ver el artículo completo"
        label = f"Ver la página {source.page}" if source.page is not None else whole
        if st.toggle(f"{label} con el pasaje marcado", key=f"{key}-page"):
            try:
                if source.page is not None:
                    with st.spinner("Abriendo la página…"):
                        image = (
                            own_page(source.doc_id, source.page, private_passages(source))
                            if own
                            else official_page(source.doc_id, source.page, tuple(source.passage.split("\n")))
                        )
                    st.image(image, caption=f"{written(source.title)}, página {source.page}", width="stretch")
                else:
                    text = own_search().documents.text if own else services.store.document
                    show_section(text(source.doc_id), source)
            except AsesoriaError as error:
                st.error(str(error), icon=":material/error:")


def show_section(fragments: list[Fragment], source: Source) -> None:
    """The whole section (an article of a law) with the passage marked in it."""
    section = [f for f in fragments if f.section_path == source.section_path]
    marked = source.passage.split("\n")
    with st.container(border=True, height=480):
        heading = source.section_path[-1] if source.section_path else source.title
        st.markdown(f"#### {escape_markdown(heading) if source.source_scope is Scope.PRIVATE else heading}")
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
