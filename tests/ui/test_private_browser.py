"""Two people at once, each with documents of their own, in a real browser on the real app."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from core.documents.cookie import COOKIE
from core.services import Services
from tests.private_documents import INVOICE
from tests.ui.browser import CHROMIUM_ARGS, SHOTS, ask, chromium, open_app, open_source, running_app, wait_for_index

pytestmark = [
    pytest.mark.browser,
    pytest.mark.corpus,
    pytest.mark.skipif(chromium() is None, reason="Debian's chromium is not installed"),
]

LETTER = """# Requerimiento

La Agencia Tributaria requiere a Ana Otra la aportación del libro de gastos de 2025.
El plazo para contestar el requerimiento vence el 17/12/2026. Importe reclamado: 7.654,32 euros.
"""
QUESTION = "¿Qué total a pagar sale en mi factura?"


def window(browser: Browser, address: str) -> tuple[BrowserContext, Page]:
    context = browser.new_context(viewport={"width": 1280, "height": 1400}, locale="es-ES")
    page = context.new_page()
    open_app(page, address)
    return context, page


def go_to(page: Page, name: str) -> None:
    page.get_by_test_id("stSidebarNavLink").filter(has_text=name).click()
    page.get_by_role("heading", name=name if name != "Preguntar" else "AsesorIA", exact=True).wait_for(timeout=60_000)


def upload(page: Page, path: Path, shown: str) -> None:
    go_to(page, "Mis documentos")
    page.get_by_test_id("stFileUploaderDropzoneInput").set_input_files(path)
    page.get_by_test_id("stFileUploaderFile").or_(page.get_by_test_id("stFileChip")).first.wait_for(timeout=30_000)
    page.get_by_role("button", name="Subir y leer").click()
    page.get_by_text(shown).first.wait_for(timeout=180_000)


def answer_to(page: Page, question: str) -> str:
    ask(page, question)
    return page.get_by_test_id("stChatMessage").last.inner_text()


def test_two_windows_never_see_each_others_documents(services: Services, tmp_path: Path) -> None:
    SHOTS.mkdir(exist_ok=True)
    invoice, letter = tmp_path / "factura <b>ñandú 'x'.md", tmp_path / "carta.md"
    invoice.write_text(INVOICE, "utf-8")
    letter.write_text(LETTER, "utf-8")
    with running_app() as address, sync_playwright() as playwright:
        wait_for_index(address)
        browser = playwright.chromium.launch(executable_path=chromium(), args=CHROMIUM_ARGS)
        (one, first), (two, second) = window(browser, address), window(browser, address)
        cookies = [next(c for c in context.cookies() if c["name"] == COOKIE) for context in (one, two)]
        assert all(c["httpOnly"] and c["sameSite"] == "Strict" for c in cookies)
        assert cookies[0]["value"] != cookies[1]["value"]
        assert COOKIE not in first.evaluate("document.cookie")

        upload(first, invoice, "leído")
        assert first.get_by_text("1 documento en esta sesión").is_visible()
        first.screenshot(path=SHOTS / "mis_documentos.png")
        upload(second, letter, "leído")
        assert second.get_by_text("ñandú").count() == 0

        go_to(first, "Preguntar")
        go_to(second, "Preguntar")
        mine, theirs = answer_to(first, QUESTION), answer_to(second, QUESTION)
        assert "Según su documento" in mine and "1.425,00" in mine, mine
        assert "1.425,00" not in theirs
        letter_answer = answer_to(second, "¿Cuándo vence el plazo para contestar la carta que me ha llegado?")
        assert "17/12/2026" in letter_answer, letter_answer
        assert "17/12/2026" not in answer_to(first, "¿Cuándo vence el plazo para contestar la carta que me ha llegado?")
        first.screenshot(path=SHOTS / "respuesta_privada.png")

        first.reload()
        first.get_by_test_id("stChatInput").wait_for(timeout=120_000)
        go_to(first, "Mis documentos")
        first.get_by_text("1 documento en esta sesión").wait_for(timeout=60_000)  # a reload keeps them

        first.get_by_text("Quitar todos y cerrar la sesión").click()
        first.get_by_role("button", name="Sí, quitarlos todos").click()
        first.get_by_text("Todavía no ha subido ningún documento").wait_for(timeout=60_000)
        folder = services.settings.private_dir
        assert not (folder / cookies[0]["value"]).exists() and (folder / cookies[1]["value"]).exists()
        for path in (folder / cookies[1]["value"]).rglob("*"):
            assert not path.is_file() or b"1.425,00" not in path.read_bytes()
        go_to(second, "Mis documentos")
        second.get_by_text("1 documento en esta sesión").wait_for(timeout=60_000)
        second.get_by_text("Quitar todos y cerrar la sesión").click()
        second.get_by_role("button", name="Sí, quitarlos todos").click()
        second.get_by_text("Todavía no ha subido ningún documento").wait_for(timeout=60_000)
        assert not any((folder / cookie["value"]).exists() for cookie in cookies)
        browser.close()


def test_a_private_source_opens_on_its_page(services: Services, tmp_path: Path) -> None:
    import pymupdf

    document = pymupdf.open()
    for text in (
        "Este contrato de arrendamiento es de un local de negocio.",
        "La fianza del local es de 1.750,00 euros.",
    ):
        document.new_page().insert_text((60, 80), text, fontsize=14)
    path = tmp_path / "contrato.pdf"
    document.save(path)
    with running_app() as address, sync_playwright() as playwright:
        wait_for_index(address)
        browser = playwright.chromium.launch(executable_path=chromium(), args=CHROMIUM_ARGS)
        context, page = window(browser, address)
        upload(page, path, "leído")
        go_to(page, "Preguntar")
        answer = answer_to(page, "¿De cuánto es la fianza del contrato?")
        assert "1.750,00" in answer and "Su documento: contrato" in answer, answer
        assert "página 2" in answer
        open_source(page)
        page.screenshot(path=SHOTS / "pagina_privada.png")
        services.sessions.end(next(c["value"] for c in context.cookies() if c["name"] == COOKIE))
        browser.close()
