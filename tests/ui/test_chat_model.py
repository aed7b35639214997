"""The chat page with a language model, on the real index, with a scripted server behind the real client."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace

import pytest
from streamlit.testing.v1 import AppTest

from core.config import PROJECT_ROOT
from core.services import Services
from core.startup import shared_startup
from tests.fake_llm import Act, FakeServer, fake_server
from tests.integration.test_llm import model_of, writes

pytestmark = pytest.mark.corpus

Started = tuple[AppTest, FakeServer]


@pytest.fixture
def app_with(services: Services, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[Act], Started]]:
    """Starts the app with a model whose server does what the act says."""
    startup = shared_startup()
    startup.start()
    ready = startup.wait(180)
    assert ready is not None, startup.error
    ready.indexing.wait(300)
    with ExitStack() as stack:

        def start(act: Act) -> Started:
            server = stack.enter_context(fake_server(writes(act)))
            settings = ready.settings.model_copy(update={"llm_timeout_s": 3.0, "llm_retries": 0})
            monkeypatch.setattr(
                startup, "_services", replace(ready, model=model_of("ollama", server.url), settings=settings)
            )
            page = str(PROJECT_ROOT / "pages" / "navigation.py")
            return AppTest.from_file(page, default_timeout=120).run(), server

        yield start


def text_of(app: AppTest) -> str:
    return "\n".join(e.value for kind in (app.markdown, app.caption, app.info, app.warning, app.error) for e in kind)


def test_a_model_that_hangs_is_told_of_and_the_answer_is_literal(app_with: Callable[[Act], Started]) -> None:
    app, server = app_with(Act("Una factura", hang=True))
    assert "El modelo «fake» responde" in text_of(app)
    app.chat_input[0].set_value("¿Qué debe contener una factura completa?").run()
    assert not app.exception and not app.error
    assert len(app.warning) >= 1 and "a tiempo" in app.warning[-1].value and "literal" in app.warning[-1].value
    assert "Número y, en su caso, serie" in text_of(app)
    app.chat_input[0].set_value("¿y una simplificada?").run()
    assert any("He entendido" in c.value and "simplificada" in c.value for c in app.caption)
    assert len(server.bodies) == 2


def test_a_model_that_answers_is_shown_verified(app_with: Callable[[Act], Started]) -> None:
    app, _ = app_with(Act("La factura contendrá el número y, en su caso, serie [1]. El tipo es el 99 por ciento [1]."))
    app.chat_input[0].set_value("¿Qué debe contener una factura completa?").run()
    assert not app.exception and not app.error
    shown = text_of(app)
    assert "99" not in shown and "Fuentes" in shown
