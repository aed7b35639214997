"""Take the README's screenshots from the running app. Needs Debian's chromium and ``tests/requirements.txt``.

python scripts/screenshots.py
"""

import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from playwright.sync_api import Page

from core.config import PROJECT_ROOT
from tests.ui.browser import ask, browser_page, open_app, open_source, running_app, wait_for_index

DOCS = PROJECT_ROOT / "docs"
INVOICE = """# Factura 2026-031

Cliente: Lucía Ferrer Molina
NIF: 12345678Z

| Concepto | Importe |
|---|---|
| Base imponible | 1.250,00 |
| IVA 21 % | 262,50 |
| Retención IRPF 7 % | 87,50 |
| Total | 1.425,00 |
"""


def main() -> None:
    """Start the app, use it as a person would, and keep what it shows."""
    DOCS.mkdir(exist_ok=True)
    with (
        TemporaryDirectory() as records,
        running_app(ASESORIA_RECORDS_URL=f"sqlite:///{records}/records.db") as address,
        browser_page(width=1200, height=900) as page,
    ):
        wait_for_index(address)
        open_app(page, address)
        time.sleep(2)
        page.screenshot(path=DOCS / "preguntar.png")
        page.set_viewport_size({"width": 1200, "height": 2000})
        ask(page, "¿Qué libros registro debe llevar un sujeto pasivo del IVA en régimen general?")
        open_source(page)
        time.sleep(2)
        page.screenshot(path=DOCS / "respuesta.png")
        page.reload()
        open_app(page, address)
        ask(page, "¿Qué debe contener una factura completa?")
        open_source(page)
        time.sleep(2)
        page.screenshot(path=DOCS / "articulo.png")
        page.set_viewport_size({"width": 1200, "height": 1500})
        open_page(page, "Documentos oficiales", "Abrir un documento")
        page.screenshot(path=DOCS / "documentos.png")
        open_page(page, "Mis documentos", "Mis documentos")
        page.locator("input[type=file]").set_input_files(
            {"name": "factura.md", "mimeType": "text/markdown", "buffer": INVOICE.encode()}
        )
        page.get_by_text("Subir y leer").click()
        page.get_by_text("<NIF_1>").last.wait_for(timeout=180_000, state="attached")
        time.sleep(4)
        page.screenshot(path=DOCS / "mis_documentos.png")
        for name, heading, file in (
            ("Revisión de calidad", "Revisión de calidad", "revision.png"),
            ("Calibración", "Calibración", "calibracion.png"),
            ("Acerca de", "Acerca de", "acerca.png"),
        ):
            open_page(page, name, heading)
            page.screenshot(path=DOCS / file)


def open_page(page: Page, name: str, expected: str) -> None:
    """Go to a page by its name in the sidebar, and wait until it is drawn."""
    page.get_by_test_id("stSidebarNavLink").filter(has_text=name).click()
    page.get_by_text(expected).last.wait_for(timeout=60_000)
    time.sleep(6)


if __name__ == "__main__":
    main()
