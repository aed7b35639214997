"""The pages through AppTest, on the real index (``pages/navigation.py``: on the ASGI file it renders nothing)."""

import pytest
from streamlit.testing.v1 import AppTest

from core.config import PROJECT_ROOT
from core.services import Services
from core.startup import shared_startup

pytestmark = pytest.mark.corpus


@pytest.fixture
def app(services: Services) -> AppTest:
    """The app, started, with the whole index there."""
    startup = shared_startup()
    startup.start()
    ready = startup.wait(180)
    assert ready is not None, startup.error
    ready.indexing.wait(300)
    return AppTest.from_file(str(PROJECT_ROOT / "pages" / "navigation.py"), default_timeout=120).run()


def text_of(app: AppTest) -> str:
    return "\n".join(e.value for kind in (app.markdown, app.caption, app.info, app.warning, app.error) for e in kind)


def test_first_visit(app: AppTest) -> None:
    assert not app.exception
    assert "no sustituye a un asesor fiscal" in text_of(app)
    assert app.title[0].value == "AsesorIA"
    assert len([b for b in app.button if b.label.startswith("¿")]) == 4
    assert not app.error


def test_ask_read_sources_and_clear(app: AppTest) -> None:
    app.chat_input[0].set_value("¿Qué debe contener una factura completa?").run()
    assert not app.exception
    shown = text_of(app)
    assert "Número y, en su caso, serie" in shown and "Fuentes" in shown and "vigente a" in shown
    assert any("con el pasaje marcado" in t.label for t in app.toggle)
    app.toggle[0].set_value(True).run()
    assert not app.exception and not app.error
    confirm = next(b for b in app.button if b.label == "Sí, borrarla")
    confirm.click().run()
    assert not app.exception and "Número y, en su caso, serie" not in text_of(app)


def test_not_found_and_bad_questions_are_gentle(app: AppTest) -> None:
    app.chat_input[0].set_value("¿qué tiempo hará mañana en Madrid?").run()
    assert not app.exception and not app.error and len(app.info) == 1
    app.chat_input[0].set_value("¿?¿?").run()
    assert not app.exception and "Escriba una pregunta" in app.error[0].value


def test_the_notice_is_on_every_page_and_the_corpus_page_lists_all(app: AppTest) -> None:
    app.switch_page("corpus.py").run()
    assert not app.exception
    assert "no sustituye a un asesor fiscal" in text_of(app)
    (table,) = app.dataframe
    assert len(table.value) == 21 and set(table.value["Estado"]) == {"listo"}
    app.text_input[0].set_value("IVA").run()
    assert 0 < len(app.dataframe[0].value) < 21
    app.text_input[0].set_value("no hay ninguno así").run()
    assert not app.exception and any("filtros" in i.value for i in app.info)


def test_any_page_of_any_document_opens(app: AppTest) -> None:
    app.switch_page("corpus.py").run()
    names = app.selectbox[0].options
    for name in ("Manual práctico IVA 2025", "Ley 37/1992, del Impuesto sobre el Valor Añadido"):
        app.selectbox[0].select(name)
        app.run()
        assert not app.exception and not app.error
    assert len(names) == 21
