"""Documents of one's own: upload, see what was read and redacted, remove. Nobody else's search reaches them."""

import streamlit as st

from core.answering.render import spanish_date
from core.documents.intake import DONE, FAILED, Upload, shown_name
from core.documents.library import Outcome, SessionDocuments, UploadProgress
from core.documents.notice import privacy_notice
from core.documents.record import PrivateDocument
from core.errors import AsesoriaError
from core.models import Answer
from core.privacy.measure import recall_table
from core.services import Services
from pages.shared import escape_markdown, own_page, own_search, own_session, services_or_wait, status_badge

_PREVIEW_CHARS = 6000
# Streamlit has no translation of its upload widget: its own words are hidden and ours put in their place.
_SPANISH_UPLOADER = """<style>
[data-testid="stFileUploaderDropzone"] button p { visibility: hidden; font-size: 0; }
[data-testid="stFileUploaderDropzone"] button p::after {
  content: "Elegir archivos"; visibility: visible; font-size: 1rem; }
[data-testid="stFileUploaderDropzoneInstructions"] { visibility: hidden; font-size: 0 !important; }
[data-testid="stFileUploaderDropzoneInstructions"] * { font-size: 0 !important; }
[data-testid="stFileUploaderDropzoneInstructions"]::after {
  content: "o arrástrelos aquí (%d MB como máximo cada uno)"; visibility: visible; font-size: 0.875rem; opacity: 0.7; }
[data-testid="stFileUploaderDropzone"] > input + div:not(:has([data-testid])) * { visibility: hidden; font-size: 0; }
[data-testid="stFileUploaderDropzone"] > input + div:not(:has([data-testid])) span::after {
  content: "Suelte aquí los archivos"; visibility: visible; font-size: 1rem; }
[data-testid="stTooltipErrorContent"], [data-testid="stTooltipErrorContent"] * { font-size: 0 !important; }
[data-testid="stTooltipErrorContent"]::after {
  content: "No se puede subir: el máximo son %d MB"; font-size: 0.875rem; }
</style>"""


def upload_form(services: Services, documents: SessionDocuments) -> None:
    """Choose files and take them in, with the progress of each."""
    settings = services.settings
    st.html(_SPANISH_UPLOADER % (settings.upload_max_mb, settings.upload_max_mb))
    with st.form("upload", clear_on_submit=True, border=True):
        files = st.file_uploader(
            f"PDF, TXT o Markdown; hasta {settings.upload_max_mb} MB y {settings.upload_max_pages} páginas cada uno",
            accept_multiple_files=True,
            max_upload_size=settings.upload_max_mb,
        )
        sent = st.form_submit_button("Subir y leer", icon=":material/upload_file:", type="primary")
    if not sent:
        return
    if not files:
        st.info("Elija primero uno o varios archivos.", icon=":material/info:")
        return
    uploads = [Upload(file.name, file.getvalue()) for file in files]
    with st.status("Leyendo sus documentos. No cambie de página hasta que termine.", expanded=True) as status:
        bars = [st.progress(0.0, text=f"{escape_markdown(shown_name(u.name))}: en espera") for u in uploads]

        def show(progress: UploadProgress) -> None:
            share = 1.0 if progress.stage in (DONE, FAILED) else min(progress.share, 1.0)
            detail = "" if progress.stage == FAILED else progress.detail
            text = f"{escape_markdown(progress.name)}: {progress.stage} {escape_markdown(detail)}"
            bars[progress.index].progress(share, text=text)

        st.session_state.outcomes = documents.add(uploads, progress=show)
        status.update(label="Terminado", state="complete", expanded=False)
    st.rerun()


def show_outcomes(outcomes: tuple[Outcome, ...]) -> None:
    """What became of each file of the last upload."""
    for outcome in outcomes:
        name = escape_markdown(outcome.name)
        if outcome.error:
            st.error(f"**{name}**: {outcome.error}", icon=":material/error:")
        elif outcome.document is not None:
            note = f" {escape_markdown(outcome.note)}" if outcome.note else ""
            st.success(f"**{name}**: leído.{note}", icon=":material/check_circle:")


def show_document(
    services: Services, documents: SessionDocuments, document: PrivateDocument, *, expanded: bool
) -> None:
    """One document: what was read, what was redacted, its redacted text, its pages, and its removal."""
    with st.expander(escape_markdown(shown_name(document.name)), icon=":material/draft:", expanded=expanded):
        pages = f"{document.pages} página{'s' if document.pages != 1 else ''} · " if document.paged else ""
        st.caption(
            f"{pages}{document.tables} tabla{'s' if document.tables != 1 else ''} · {document.fragments} fragmentos · "
            f"{document.size / 1024:.0f} KB · subido el {spanish_date(document.added_at[:10])}"
        )
        status_badge(services.upload_desks.status(documents, document.doc_id))
        if document.made_with != services.embedder.fingerprint:
            st.warning(
                "Se leyó con otro modelo y no se puede buscar en él: súbalo de nuevo.", icon=":material/warning:"
            )
        for warning in document.warnings:
            st.warning(warning, icon=":material/warning:")
        if document.findings:
            lines = [f"- {escape_markdown(f.text)}" for f in document.findings]
            st.warning("\n".join(["**Hay cuentas que no cuadran.** AsesorIA no las corrige:", "", *lines]))
        show_redacted(document)
        if st.toggle("Ver el texto guardado", key=f"text-{document.doc_id}"):
            text = "\n".join(f.text for f in documents.text(document.doc_id))
            st.text(text[:_PREVIEW_CHARS] + ("\n…" if len(text) > _PREVIEW_CHARS else ""))
        if document.paged and st.toggle("Ver las páginas originales", key=f"pages-{document.doc_id}"):
            page = st.number_input("Página", 1, document.pages, 1, key=f"page-{document.doc_id}")
            with st.spinner("Abriendo la página…"):
                st.image(own_page(document.doc_id, int(page), ()), width="stretch")
        with st.popover("Quitar este documento", icon=":material/delete:"):
            st.write(
                "Se borrarán el archivo, su texto, las respuestas que lo citan y sus informes de calidad. No se puede deshacer."
            )
            if st.button("Sí, quitarlo", key=f"remove-{document.doc_id}", type="primary"):
                documents.remove(document.doc_id)
                services.upload_desks.forget(documents.session_id, document.doc_id)
                forget_answers({document.doc_id})
                st.rerun()


def show_redacted(document: PrivateDocument) -> None:
    """How much personal data of each kind was taken out."""
    if not document.redacted:
        st.caption("No se ha detectado ningún dato personal. Compruébelo en el texto guardado.")
        return
    counts = " · ".join(f"{escape_markdown(kind)}: {count}" for kind, count in sorted(document.redacted.items()))
    st.markdown(f"**Datos personales quitados del texto:** {counts}")


def forget_answers(removed: set[str]) -> None:
    """Take the answers that cite removed documents out of the conversation, and their pages out of memory."""
    turns = st.session_state.get("turns", [])
    st.session_state.turns = [
        (question, outcome, interaction_id)
        for question, outcome, interaction_id in turns
        if not (isinstance(outcome, Answer) and any(s.doc_id in removed for s in outcome.sources))
    ]
    st.session_state.outcomes = ()
    st.session_state.pop("qa_pack_given", None)
    own_page.clear()


def remove_all_button(documents: SessionDocuments, held: tuple[PrivateDocument, ...]) -> None:
    """Remove everything, after a confirmation."""
    with st.popover("Quitar todos y cerrar la sesión", icon=":material/delete_forever:"):
        st.write(f"Se borrarán {len(held)} documentos y todo lo guardado de esta sesión. No se puede deshacer.")
        if st.button("Sí, quitarlos todos", type="primary"):
            documents.remove_all()
            forget_answers({d.doc_id for d in held})
            st.rerun()


st.title("Mis documentos")
st.caption("Suba una factura, una carta de la AEAT o un contrato y pregunte por él junto con los documentos oficiales.")
services = services_or_wait()
if not own_session()[1]:
    st.warning(
        "Su navegador no ha aceptado la cookie de sesión: **si recarga o cierra esta página, perderá los documentos que suba** "
        "(se borrarán solos del servidor). Recargue ahora o permita las cookies de esta página antes de subir nada.",
        icon=":material/cookie_off:",
    )
try:
    documents = own_search().documents
    held = documents.documents()
    with st.expander("Privacidad: qué se guarda, dónde y cuánto tiempo", icon=":material/lock:", expanded=not held):
        st.markdown(privacy_notice(services.settings, recall_table()))
    upload_form(services, documents)
    show_outcomes(st.session_state.get("outcomes", ()))
    if held:
        st.subheader(f"{len(held)} documento{'s' if len(held) != 1 else ''} en esta sesión")
        for document in held:
            show_document(services, documents, document, expanded=len(held) == 1)
        remove_all_button(documents, held)
        st.page_link("chat.py", label="Preguntar por ellos", icon=":material/chat:")
    else:
        st.info("Todavía no ha subido ningún documento.", icon=":material/folder_open:")
except AsesoriaError as error:
    st.error(str(error), icon=":material/error:")
