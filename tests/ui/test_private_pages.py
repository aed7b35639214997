"""The pages of private documents through AppTest, on the real index."""

import pytest
from streamlit.testing.v1 import AppTest

from core.config import PROJECT_ROOT
from core.services import Services
from core.startup import shared_startup
from tests.private_documents import INVOICE

pytestmark = pytest.mark.corpus


@pytest.fixture
def app(services: Services) -> AppTest:
    startup = shared_startup()
    startup.start()
    ready = startup.wait(180)
    assert ready is not None, startup.error
    ready.indexing.wait(300)
    page = AppTest.from_file(str(PROJECT_ROOT / "pages" / "navigation.py"), default_timeout=120).run()
    return page.switch_page("documents.py").run()


def text_of(app: AppTest) -> str:
    kinds = (app.markdown, app.caption, app.info, app.warning, app.error, app.success, app.subheader)
    return "\n".join(e.value for kind in kinds for e in kind)


def test_empty_page_notice_and_warning_without_a_cookie(app: AppTest) -> None:
    assert not app.exception
    shown = text_of(app)
    assert "Todavía no ha subido ningún documento" in shown and "Qué no se puede prometer" in shown
    assert "cookie" in shown and "perderá los documentos" in shown


def test_upload_several_read_and_remove(app: AppTest) -> None:
    files = [("factura *x*.md", INVOICE.encode(), "text/markdown"), ("mal.docx", b"x", "application/octet-stream")]
    app.file_uploader[0].set_value(files)
    next(b for b in app.button if b.label == "Subir y leer").click()
    app.run()
    assert not app.exception
    shown = text_of(app)
    assert "1 documento en esta sesión" in shown and "no está soportado" in shown and "leído" in shown
    assert "NIF o DNI: 1" in shown and "IBAN: 1" in shown
    next(t for t in app.toggle if t.label == "Ver el texto guardado").set_value(True).run()
    assert any("<NIF_1>" in t.value and "12345678Z" not in t.value for t in app.text)
    app.switch_page("chat.py").run()
    app.chat_input[0].set_value("¿Qué total a pagar sale en mi factura?").run()
    assert "1.425,00" in text_of(app) and "Según su documento" in text_of(app)
    app.switch_page("documents.py").run()
    next(b for b in app.button if b.label == "Sí, quitarlo").click().run()
    assert not app.exception and "Todavía no ha subido ningún documento" in text_of(app)
    app.switch_page("chat.py").run()
    assert "1.425,00" not in text_of(app), "the answer that cites it went with it"


def test_the_page_about_asesoria(app: AppTest) -> None:
    app.switch_page("about.py").run()
    assert not app.exception
    shown = text_of(app)
    for part in ("No es un asesor fiscal", "Qué se le puede pasar", "Qué se guarda", "A quién puede perjudicar"):
        assert part in shown
