"""``ASESORIA_REQUIRE_QA=1``: only documents with an approved battery answer."""

from dataclasses import replace
from pathlib import Path

import pytest

from core.errors import NothingApprovedError
from core.qa.service import qa_status
from core.qa.status import QaStatus
from core.services import Services

QUESTION = "¿Qué datos debe contener una factura?"


@pytest.fixture
def gated(services: Services, tmp_path: Path) -> Services:
    return replace(services, settings=services.settings.model_copy(update={"require_qa": True, "home": tmp_path}))


def test_nothing_approved_is_said(gated: Services) -> None:
    assert qa_status(gated, "rd-1619-2012") is QaStatus.NOT_EVALUATED
    with pytest.raises(NothingApprovedError, match="ASESORIA_REQUIRE_QA"):
        gated.engine.ask(QUESTION)


def test_only_approved_documents_answer(gated: Services, services: Services) -> None:
    store = gated.qa_store
    store.set_status("rd-1619-2012", QaStatus.APPROVED, report_id="r1", by="comprobador")
    store.set_status("iva_2025", QaStatus.REJECTED, report_id="r2", by="comprobador")
    answer = gated.engine.ask(QUESTION)
    assert answer.grounded and {s.doc_id for s in answer.sources} == {"rd-1619-2012"}
    found = gated.engine.examine("¿Cuál es el tipo general del IVA?", k=8).result.found
    assert {hit.fragment.doc_id for hit in found} == {"rd-1619-2012"}
    store.set_status("rd-1619-2012", QaStatus.IN_REVIEW, report_id="r3", by="comprobador")
    with pytest.raises(NothingApprovedError):
        gated.engine.ask(QUESTION)
    assert services.engine.ask(QUESTION).grounded
