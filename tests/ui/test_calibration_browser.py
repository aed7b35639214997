"""An analyst's visit in a real browser, on a made-up reference: filter, hover, open a case, judge, save, download."""

import contextlib
import re
import sqlite3
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest
from playwright.sync_api import Page
from playwright.sync_api import TimeoutError as PlaywrightTimeout

from core.records.database import Database
from core.services import Services
from tests.calibration_data import add_interactions, made_panel, made_reference, write_reference
from tests.ui.browser import SHOTS, browser_page, chromium, running_app

pytestmark = [
    pytest.mark.browser,
    pytest.mark.corpus,
    pytest.mark.skipif(chromium() is None, reason="Debian's chromium is not installed"),
]


def quiet(page: Page) -> None:
    """Wait until the page has been drawn."""
    page.wait_for_function(
        "() => !document.querySelector('[data-testid=stStatusWidget]') && !document.querySelector('[data-stale=true]')",
        timeout=120_000,
    )
    time.sleep(0.7)


def picture(page: Page, name: str, *, height: int) -> None:
    """A picture of the whole page: what scrolls is inside it."""
    page.set_viewport_size({"width": 1280, "height": height})
    time.sleep(2)
    page.screenshot(path=SHOTS / f"{name}.png")
    page.set_viewport_size({"width": 1280, "height": 1400})
    quiet(page)


def figure_r(page: Page) -> str:
    return page.get_by_test_id("stMetricValue").first.inner_text()


def choose(page: Page, label: str, option: str) -> None:
    """Open a box of options and take one. The list shuts when the page still moves under it: then once more."""
    box, listed = page.get_by_label(label).first, page.get_by_role("option", name=option, exact=True)
    for _ in range(5):
        box.click()
        box.press_sequentially(option, delay=20)
        with contextlib.suppress(PlaywrightTimeout):
            listed.click(timeout=5_000)
            break
    page.keyboard.press("Escape")
    quiet(page)


def hover_and_pick(page: Page) -> str:
    """Hover a point of the chart of seals and verdicts, then click it; the case it names."""
    chart = page.locator(".st-key-sello-veredicto")
    point = chart.locator(".scatterlayer .trace").nth(2).locator(".point").last  # the first are left out
    for _ in range(4):
        point.scroll_into_view_if_needed()
        box = point.bounding_box()
        assert box is not None
        page.mouse.move(box["x"] - 40, box["y"] - 40)
        page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2, steps=5)
        time.sleep(0.5)
        hover = chart.locator(".hoverlayer .hovertext")
        if hover.count():
            break
    told = hover.first.text_content() or ""
    page.mouse.down()
    page.mouse.up()
    quiet(page)
    found = re.search(r"c\d{3}", told)
    assert found and "tipo número" in told, told
    return found.group()


def test_an_analyst_s_visit(services: Services, tmp_path: Path) -> None:
    SHOTS.mkdir(exist_ok=True)
    found = made_reference()
    reference, panel = write_reference(tmp_path, found, made_panel(found))
    url = f"sqlite:///{tmp_path / 'records.db'}"
    add_interactions(Database(url), 500, until=datetime.now(UTC).date())
    environment = {
        "ASESORIA_REFERENCE_FILE": str(reference),
        "ASESORIA_PANEL_FILE": str(panel),
        "ASESORIA_RECORDS_URL": url,
    }
    with running_app(**environment) as address, browser_page(height=1400) as page:
        page.goto(f"{address}/calibration")
        page.get_by_text("60 casos").first.wait_for(timeout=180_000)
        quiet(page)
        page.locator(".st-key-jueces .scatterlayer .point").first.wait_for(timeout=60_000)
        picture(page, "calibracion", height=4600)
        before = figure_r(page)
        page.get_by_text("Filtros", exact=True).click()
        choose(page, "Categoría", "caso personal")
        page.get_by_text("15 casos").first.wait_for(timeout=30_000)
        page.get_by_role("button", name="Clear all").first.click()
        page.get_by_text("60 casos").first.wait_for(timeout=30_000)
        quiet(page)
        case_id = hover_and_pick(page)
        case = next(c for c in found.cases if c.id == case_id)
        page.get_by_text(f"Pregunta: {case.question}").first.wait_for(timeout=30_000)
        page.get_by_text(f"[1] Manual práctico, página {case.sources[0].page}").first.click()
        page.get_by_text(case.sources[0].passage).first.wait_for(timeout=30_000)
        page.get_by_label("Su nombre").first.fill("Ana Prueba")
        page.get_by_text("No fiel" if case.faithfulness else "Fiel", exact=True).first.click()
        page.get_by_label("Por qué, en una frase").first.fill("No se responde a lo que se pregunta.")
        page.get_by_label("Página o artículo que lo decide").first.fill("Manual, página 12")
        page.get_by_role("button", name="Guardar el veredicto").first.click()
        page.get_by_text("1 caso revisado por una persona").first.wait_for(timeout=60_000)
        quiet(page)
        assert figure_r(page) != before, "the numbers move"
        page.get_by_label("Su nombre").nth(1).fill("Ana Prueba")
        page.get_by_text("Confirmo que quiero guardarla").click()
        page.get_by_role("button", name="Guardar la línea de base").click()
        page.get_by_text("Guardada la línea de base 1").wait_for(timeout=60_000)
        quiet(page)
        download_chart(page, case_id)
        page.get_by_role("tab", name="Producción").click()
        page.get_by_text("500 respuestas").first.wait_for(timeout=30_000)
        page.locator(".st-key-sellos-por-dia .bars .point").first.wait_for(timeout=30_000)
        picture(page, "calibracion-produccion", height=2200)
    rows = sqlite3.connect(tmp_path / "records.db")
    assert rows.execute("SELECT case_id, reviewer FROM verdicts").fetchall() == [(case_id, "Ana Prueba")]
    assert rows.execute("SELECT saved_by, n FROM baselines").fetchall() == [("Ana Prueba", 56)]


def download_chart(page: Page, case_id: str) -> None:
    with page.expect_download() as download:
        page.locator(".st-key-sello-veredicto-csv button").click()
    lines = download.value.path().read_text("utf-8-sig").splitlines()
    assert lines[0] == "id,pregunta,sello,fidelidad" and len(lines) == 61
    assert any(line.startswith(case_id) for line in lines)
