"""A real browser on the real app."""

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Page, TimeoutError, sync_playwright

from core.config import PROJECT_ROOT

CHROMIUM_ARGS = [
    "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--no-first-run",
]  # fmt: skip


def chromium() -> str | None:
    """Debian's Chromium, if it is here."""
    return shutil.which("chromium") or shutil.which("chromium-browser")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def running_app(**environment: str) -> Iterator[str]:
    """The app as the README's command starts it; yields its address once it answers."""
    port = free_port()
    process = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "streamlit",
            "run",
            "streamlit_app.py",
            "--server.headless",
            "true",
            "--server.port",
            str(port),
        ],
        cwd=PROJECT_ROOT,
        env={**os.environ, **environment},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    address = f"http://127.0.0.1:{port}"
    try:
        for _ in range(240):
            try:
                with urllib.request.urlopen(f"{address}/_stcore/health", timeout=2):
                    break
            except OSError:
                time.sleep(0.5)
        else:
            raise AssertionError("the app did not start in two minutes")
        yield address
    finally:
        process.terminate()
        process.wait(timeout=30)


@contextmanager
def browser_page(*, width: int = 1280, height: int = 1000) -> Iterator[Page]:
    """A page of a headless Chromium."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=CHROMIUM_ARGS)
        try:
            yield browser.new_page(viewport={"width": width, "height": height}, locale="es-ES")
        finally:
            browser.close()


def open_app(page: Page, address: str) -> None:
    """Open the app and wait until it can be asked."""
    page.goto(address)
    page.get_by_test_id("stChatInput").wait_for(timeout=180_000)


def ask(page: Page, question: str) -> None:
    """Type a question with the keyboard and wait for the answer."""
    turns = page.get_by_test_id("stChatMessage").count()
    box = page.get_by_test_id("stChatInputTextArea")
    box.click()
    box.fill(question)
    box.press("Enter")
    page.wait_for_function(
        "n => document.querySelectorAll('[data-testid=stChatMessage]').length >= n", arg=turns + 2, timeout=60_000
    )
    page.wait_for_function(_ANSWERED, timeout=120_000)
    time.sleep(1)


# The last message has sources, a refusal or an error in it, and nothing is being searched: the spinner alone comes late.
_ANSWERED = """() => {
  const last = [...document.querySelectorAll('[data-testid=stChatMessage]')].at(-1);
  return last.querySelector('[data-testid=stExpander], [data-testid=stAlert]')
    && !document.querySelector('[data-testid=stSpinner]');
}"""


def open_source(page: Page, number: int = 0) -> None:
    """Open a source of the last answer and its page or article, the passage marked."""
    last = page.get_by_test_id("stChatMessage").last
    expander = last.get_by_test_id("stExpander").nth(number)
    shown = last.locator("[data-testid=stImage] img, [data-testid=stMarkdownContainer] h4").first
    for _ in range(4):  # a click that falls into a rerun of the page is lost: look, and click again
        if not expander.get_by_text("con el pasaje marcado").is_visible():
            expander.locator("summary").click()
            time.sleep(1)
        if not shown.is_visible():
            expander.get_by_text("con el pasaje marcado").click()
        try:
            shown.wait_for(timeout=20_000)
            break
        except TimeoutError:
            continue
    shown.wait_for(timeout=20_000)
    time.sleep(1)


def wait_for_index(address: str, seconds: float = 600) -> None:
    """Wait until the app says that nothing is being indexed."""
    import json

    for _ in range(int(seconds)):
        try:
            with urllib.request.urlopen(f"{address}/api/health", timeout=5) as response:
                if not json.load(response)["indexing"]:
                    return
        except OSError:
            pass
        time.sleep(1)
    raise AssertionError("the index was not ready in time")


SHOTS = Path(__file__).parent / "artifacts"
