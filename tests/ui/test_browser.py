"""What a user sees, in a real browser: the README's command, four real questions, the cited page marked."""

import json
import os
import sqlite3
import time
import urllib.error
import urllib.request

import pytest
from playwright.sync_api import Page
from sqlalchemy.engine import make_url

from core.models import Level
from core.seal.explain import NAMES
from core.services import Services
from tests.ui.browser import SHOTS, ask, browser_page, chromium, open_app, open_source, running_app, wait_for_index

pytestmark = [
    pytest.mark.browser,
    pytest.mark.corpus,
    pytest.mark.skipif(chromium() is None, reason="Debian's chromium is not installed"),
]

QUESTIONS = [
    (
        "libros",
        "¿Qué libros registro debe llevar un sujeto pasivo del IVA en régimen general?",
        ["Libro Registro de facturas expedidas", "página 328"],
    ),
    ("modelo130", "¿Cuándo se presenta el modelo 130 del tercer trimestre de 2026?", ["20 de octubre"]),
    (
        "conyuge",
        "¿Son deducibles las retribuciones al cónyuge que trabaja en la actividad?",
        ["cónyuge", "Manual práctico de Renta 2025"],
    ),
    ("factura", "¿Qué debe contener una factura completa?", ["Artículo 6", "Real Decreto 1619/2012"]),
]


def test_ask_the_manuals_and_see_the_cited_page(services: Services) -> None:
    SHOTS.mkdir(exist_ok=True)
    with running_app() as address, browser_page(height=1600) as page:
        wait_for_index(address)
        open_app(page, address)
        assert page.get_by_text("no sustituye a un asesor fiscal").first.is_visible()
        for name, question, expected in QUESTIONS:
            ask(page, question)
            answer = page.get_by_test_id("stChatMessage").last.inner_text()
            for text in expected:
                assert text in answer, (question, answer[:1500])
            check_seal(page, address, question)
            open_source(page)
            page.screenshot(path=SHOTS / f"{name}.png")
        with page.expect_download() as download:
            page.get_by_text("Descargar la conversación").click()
        saved = download.value.path().read_text("utf-8")
        assert all(question in saved for _, question, _ in QUESTIONS)
        check_api(address)


def check_seal(page: Page, address: str, question: str) -> None:
    """The badge of the last answer, the header of the same question's answer, and both records say the same."""
    request = urllib.request.Request(
        f"{address}/api/ask",
        data=json.dumps({"question": question}).encode(),
        headers={"Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=60) as response:
        level, answer = response.headers["X-Confidence-Level"], json.load(response)
    last = page.get_by_test_id("stChatMessage").last
    assert last.get_by_text(NAMES[Level(level)]).count() == 1
    assert last.get_by_test_id("stFeedback").count() + last.get_by_test_id("stButtonGroup").count() >= 1
    last.get_by_text("¿Por qué?").click()
    page.get_by_text("No es una probabilidad").wait_for(timeout=20_000)
    assert page.get_by_text(answer["seal"]["reasons"][0]).count() >= 1
    page.keyboard.press("Escape")
    database = sqlite3.connect(make_url(os.environ["ASESORIA_RECORDS_URL"]).database or "")
    for _ in range(100):
        rows = database.execute("SELECT level, channel FROM interactions WHERE question = ?", (question,)).fetchall()
        if {channel for _, channel in rows} == {"page", "api"}:
            break
        time.sleep(0.1)
    assert {channel for _, channel in rows} == {"page", "api"} and {found for found, _ in rows} == {level}


def check_api(address: str) -> None:
    """The HTTP face answers beside the pages, in the same process."""

    def post(body: bytes) -> tuple[int, dict]:
        request = urllib.request.Request(f"{address}/api/ask", data=body, headers={"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=30) as response:
                return response.status, json.load(response)
        except urllib.error.HTTPError as error:
            return error.code, json.load(error)

    status, answer = post(json.dumps({"question": QUESTIONS[0][1]}).encode())
    assert status == 200 and answer["grounded"] and answer["sources"]
    status, answer = post(json.dumps({"question": "receta de la tortilla de patatas"}).encode())
    assert status == 200 and answer["grounded"] is False and answer["sources"] == []
    assert post(b"{")[0] == 400
