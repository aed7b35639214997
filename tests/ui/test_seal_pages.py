"""Page, HTTP header and record of the same answer agree; the opinion is kept; the seal explains itself."""

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient
from streamlit.testing.v1 import AppTest

from core.api import routes
from core.config import PROJECT_ROOT
from core.records.reviews import DRIFT, FEEDBACK, list_reviews, open_review
from core.records.store import get
from core.seal.explain import HONEST_LIMITS, NAMES
from core.services import Services
from core.startup import shared_startup

pytestmark = pytest.mark.corpus

QUESTIONS = [
    "¿Qué debe contener una factura completa?",
    "¿Cuándo se presenta el modelo 130 del tercer trimestre de 2026?",
    "¿qué tiempo hará mañana en Madrid?",
]


@pytest.fixture
def running(services: Services) -> Services:
    """The services of the app itself (``services`` has made sure that the index is there)."""
    startup = shared_startup()
    startup.start()
    ready = startup.wait(180)
    assert ready is not None, startup.error
    ready.indexing.wait(300)
    return ready


@pytest.fixture
def app(running: Services) -> AppTest:
    return AppTest.from_file(str(PROJECT_ROOT / "pages" / "navigation.py"), default_timeout=120).run()


def shown(app: AppTest) -> str:
    return "\n".join(e.value for kind in (app.markdown, app.caption) for e in kind)


def test_page_header_and_record_agree(app: AppTest, running: Services) -> None:
    client = TestClient(Starlette(routes=routes(shared_startup)))
    levels = set()
    for question in QUESTIONS:
        app.chat_input[0].set_value(question).run()
        assert not app.exception
        _, answer, page_id = app.session_state.turns[-1]
        response = client.post("/api/ask", json={"question": question})
        body = response.json()
        assert running.recorder.flush(60)
        page_row, api_row = get(running.records, page_id), get(running.records, body["interaction_id"])
        assert page_row is not None and api_row is not None
        level = body["confidence_level"]
        levels.add(level)
        assert level == response.headers["X-Confidence-Level"] == body["seal"]["level"] == api_row["level"]
        assert level == str(answer.seal.level) == page_row["level"]
        assert NAMES[answer.seal.level] in shown(app)
        for reason in body["seal"]["reasons"]:
            assert reason in shown(app) and reason in page_row["signals"]["reasons"]
        assert (page_row["channel"], api_row["channel"]) == ("page", "api")
        assert page_row["question"] == api_row["question"] == question
        assert page_row["answer"] == answer.text and page_row["model"] == api_row["model"] != ""
        assert all(page_row["signals"][name] == value for name, value in body["seal"]["signals"].items())
    assert len(levels) >= 2, "the questions are to show more than one level"


def test_the_seal_explains_itself(app: AppTest) -> None:
    app.chat_input[0].set_value(QUESTIONS[0]).run()
    text = shown(app)
    assert all(limit in text for limit in HONEST_LIMITS)
    assert "Cambios del sello" in text and "Primera versión del sello" in text and "Modo determinista" in text
    (table,) = app.table
    assert len(table.value) == 5 and "Relevancia de lo citado" in table.value.index


def test_a_thumb_and_its_comment_are_kept(app: AppTest, running: Services) -> None:
    app.chat_input[0].set_value(QUESTIONS[0]).run()
    interaction_id = app.session_state.turns[-1][2]
    app.feedback[0].set_value(0).run()
    assert not app.exception and running.recorder.flush(60)
    row = get(running.records, interaction_id)
    assert row is not None and row["thumb"] == "down"
    box = next(t for t in app.text_input if "por qué" in t.label)
    box.set_value("falta el plazo, escriba a ana@correo.es")
    next(b for b in app.button if b.label == "Enviar el comentario").click().run()
    assert not app.exception and running.recorder.flush(60)
    row = get(running.records, interaction_id)
    assert row is not None and row["thumb"] == "down" and row["comment"].startswith("falta el plazo")
    assert "ana@correo.es" not in row["comment"]
    assert interaction_id in [r.subject for r in list_reviews(running.records, kind=FEEDBACK)]


def _state_and_drift() -> None:
    from pages.seal import show_drift, show_state
    from pages.shared import services_or_wait

    services = services_or_wait()
    show_state(services)
    show_drift(services, person="")


def test_state_drift_and_an_alert_closed_by_a_person(running: Services) -> None:
    open_review(
        running.records, kind=DRIFT, subject="prueba", title="Deriva de prueba", details={"reason": "Sube 12 puntos."}
    )
    app = AppTest.from_function(_state_and_drift, default_timeout=60).run()
    assert not app.exception and "Sello en modo normal" in shown(app)
    assert any("Deriva de prueba" in e.value for e in app.error)
    next(b for b in app.button if b.label == "Cerrar la revisión").click().run()
    assert any("nombre y un motivo" in e.value for e in app.error)
    app.text_input[0].set_value("Ana")
    app.text_area[0].set_value("Campaña de la Renta")
    next(b for b in app.button if b.label == "Cerrar la revisión").click().run()
    assert not app.exception and list_reviews(running.records, kind=DRIFT) == []
    closed = [r for r in list_reviews(running.records, status="closed", kind=DRIFT) if r.subject == "prueba"]
    assert (closed[0].closed_by, closed[0].reason) == ("Ana", "Campaña de la Renta")
