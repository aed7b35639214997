"""The gate: what each document's quality review says, and (by setting) answers from approved documents only."""

from dataclasses import replace

from core.errors import IndexNotReadyError
from core.qa.status import QaStatus
from core.qa.store import SqlRunStore
from core.retrieval.search import HybridSearch


def gated(search: HybridSearch, store: SqlRunStore) -> HybridSearch:
    """The search over approved documents only.

    Raises:
        IndexNotReadyError: no document is approved: no answer can be given, and the message says what to do.
    """
    approved = frozenset(doc_id for doc_id, status in store.qa_statuses().items() if status is QaStatus.APPROVED)
    if not approved:
        raise IndexNotReadyError(
            "Solo se responde con documentos que han superado la revisión de calidad (ASESORIA_REQUIRE_QA), y todavía no hay "
            "ninguno. Pase la batería a los documentos en «Revisión de calidad», o retire ese ajuste."
        )
    return replace(search, allowed=approved)
