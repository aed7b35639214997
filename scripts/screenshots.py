"""Take the README's screenshots from the running app. Needs Debian's chromium and ``tests/requirements.txt``.

python scripts/screenshots.py
"""

import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from core.config import PROJECT_ROOT
from tests.ui.browser import ask, browser_page, open_app, open_source, running_app, wait_for_index

DOCS = PROJECT_ROOT / "docs"


def main() -> None:
    """Start the app, use it as a person would, and keep what it shows."""
    DOCS.mkdir(exist_ok=True)
    with running_app() as address, browser_page(width=1200, height=900) as page:
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
        page.get_by_text("Documentos oficiales").first.click()
        page.get_by_text("Abrir un documento").wait_for(timeout=60_000)
        time.sleep(4)
        page.screenshot(path=DOCS / "documentos.png")


if __name__ == "__main__":
    main()
