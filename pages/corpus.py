"""The official documents and their state; any page can be opened."""

from dataclasses import dataclass

import pandas as pd
import streamlit as st

from core.answering.render import spanish_date
from core.corpus.prepare import is_html
from core.errors import AsesoriaError
from core.models import DocumentInfo
from core.qa.status import QaStatus
from core.retrieval.indexer import FAILED, READY, WAITING, DocumentProgress
from core.retrieval.manifest import IndexedDocument
from core.services import Services
from pages.shared import escape_markdown, official_page, qa_statuses, services_or_wait, status_badge


@dataclass(frozen=True)
class Entry:
    """A registered document with what is known of its index and of the run under way."""

    info: DocumentInfo
    indexed: IndexedDocument | None
    progress: DocumentProgress | None
    quality: QaStatus = QaStatus.NOT_EVALUATED

    @property
    def state(self) -> str:
        """In one word or two."""
        if self.progress is not None and self.progress.stage not in (READY, WAITING):
            return self.progress.stage
        return "listo" if self.indexed else "sin indexar"

    def row(self) -> dict[str, object]:
        """The document as a row of the table."""
        indexed = self.indexed
        return {
            "Documento": self.info.title,
            "Impuesto": self.info.tax,
            "Tipo": self.info.doc_type,
            "Fecha": spanish_date(indexed.document_date) if indexed else "",
            "Obtenido": spanish_date(indexed.retrieved_at) if indexed else "",
            "Páginas": (indexed.pages or None) if indexed else None,
            "Fragmentos": indexed.fragments if indexed else None,
            "Tablas": indexed.tables if indexed else None,
            "Avisos": len(indexed.warnings) if indexed else None,
            "Estado": self.state,
            "Calidad": str(self.quality),
            "Fuente oficial": self.info.source_url,
            "Copia obtenida de": self.info.wheel or "dirección oficial",
        }


def entries(services: Services) -> list[Entry]:
    """All registered documents."""
    documents = services.manifest().documents
    progress = {p.doc_id: p for p in services.indexing.progress()}
    quality = qa_statuses(services)
    return [
        Entry(i, documents.get(i.doc_id), progress.get(i.doc_id), quality.get(i.doc_id, QaStatus.NOT_EVALUATED))
        for i in services.register
    ]


def choose(found: list[Entry]) -> list[Entry]:
    """The documents that pass the filters."""
    left, middle, right = st.columns(3)
    text = left.text_input("Buscar por nombre", placeholder="Por ejemplo: IVA")
    taxes = middle.multiselect("Impuesto", sorted({e.info.tax for e in found}), placeholder="Todos")
    types = right.multiselect("Tipo", sorted({e.info.doc_type for e in found}), placeholder="Todos")
    return [
        e
        for e in found
        if text.casefold() in e.info.title.casefold()
        and (not taxes or e.info.tax in taxes)
        and (not types or e.info.doc_type in types)
    ]


def show_table(found: list[Entry]) -> None:
    """The documents, one a row."""
    st.dataframe(
        pd.DataFrame([e.row() for e in found]),
        hide_index=True,
        width="stretch",
        column_config={"Fuente oficial": st.column_config.LinkColumn(display_text="Abrir")},
    )
    for entry in found:
        if entry.progress is not None and entry.progress.stage == FAILED:
            st.error(f"{entry.info.title}: {entry.progress.detail}", icon=":material/error:")


def show_document(services: Services, found: list[Entry]) -> None:
    """Open any page of a document, or any section of a web document."""
    st.subheader("Abrir un documento")
    ready = [e for e in found if e.indexed]
    if not ready:
        st.info("Ninguno de estos documentos está indexado todavía.", icon=":material/hourglass_empty:")
        return
    entry = st.selectbox("Documento", ready, format_func=lambda e: e.info.title)
    indexed = entry.indexed
    status_badge(entry.quality)
    for warning in indexed.warnings:
        st.warning(warning, icon=":material/warning:")
    if indexed.dropped_tables:
        st.caption(
            f"{indexed.dropped_tables} tablas sin información útil (calendarios de mes, adornos) se han descartado."
        )
    try:
        if is_html(entry.info):
            show_sections(services, entry.info.doc_id)
        else:
            page = st.number_input(f"Página (de {indexed.pages})", 1, indexed.pages, 1)
            with st.spinner("Abriendo la página…"):
                st.image(official_page(entry.info.doc_id, int(page), ()), width="stretch")
    except AsesoriaError as error:
        st.error(str(error), icon=":material/error:")


def show_sections(services: Services, doc_id: str) -> None:
    """A web document, section by section."""
    fragments = services.store.document(doc_id)
    paths = list(dict.fromkeys(f.section_path for f in fragments))
    path = st.selectbox("Sección", paths, format_func=lambda p: p[-1] if p else "Inicio")
    with st.container(border=True, height=560):
        st.caption(" › ".join(path))
        for fragment in fragments:
            if fragment.section_path == path:
                for line in fragment.text.split("\n"):
                    st.markdown(escape_markdown(line) if fragment.kind == "text" else f"`{line}`")


st.title("Documentos oficiales")
st.caption("AsesorIA solo responde con estos documentos de la AEAT y el BOE.")
services = services_or_wait()
shown = entries(services)
done = sum(1 for e in shown if e.indexed)
if services.indexing.running:
    st.info(
        f"{done} de {len(shown)} documentos listos. Los demás se están preparando.", icon=":material/hourglass_top:"
    )
    if st.button("Actualizar", icon=":material/refresh:"):
        st.rerun()
else:
    st.write(f"{done} de {len(shown)} documentos indexados.")
    if done < len(shown) and st.button("Preparar los que faltan", icon=":material/download:"):
        services.indexing.start()
        st.rerun()
chosen = choose(shown)
if chosen:
    show_table(chosen)
    show_document(services, chosen)
else:
    st.info("Ningún documento cumple estos filtros. Borre alguno.", icon=":material/filter_alt_off:")
