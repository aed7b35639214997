"""A reviewer's day in a real browser: take up a battery, decide its cases, close the report, see it in the chat."""

import json
import threading
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Page

from core.answering.cited import cite
from core.models import Answer, Category, Fragment, Mode, RetrievedFragment
from core.qa.models import Battery, BookType, QuestionType, QuestionVerdict, Report
from core.qa.run import RunCancelledError, RunProgress, run_battery
from core.qa.service import build_judge, official_battery
from core.qa.session import run_session
from core.qa.store import SqlRunStore
from core.services import Services
from tests.ui.browser import SHOTS, ask, browser_page, chromium, open_app, running_app, wait_for_index

pytestmark = [
    pytest.mark.browser,
    pytest.mark.corpus,
    pytest.mark.skipif(chromium() is None, reason="Debian's chromium is not installed"),
]

DOC_ID = "rd-1619-2012"
QUESTION = "¿Qué debe contener una factura completa?"
# Questions that the app itself answers when the battery is taken up again; the others are answered beforehand.
LEFT = ("A-1", "D-3")
# Of those, what is answered badly: vaguely and with an opinion (borderline), and a trap that is walked into (fails).
VAGUE, BAD = "A-3", ("A-3", "D-1")


class Prepared:
    """Gives the expected answer with its source; a bad one to the questions in ``bad``."""

    name = "extractivo"

    def __init__(self, services: Services, battery: Battery, bad: tuple[str, ...]) -> None:
        self._about = services.about
        self._fragments: dict[str, Fragment] = {f.id: f for f in services.store.document(DOC_ID)}
        self._questions = {q.question: q for q in battery.questions}
        self._bad = bad

    def answer(self, question: str) -> Answer:
        asked = self._questions[question]
        own = [self._fragments[i] for i in asked.expected_fragments if i in self._fragments]
        unanswered = asked.id in self._bad and asked.id != VAGUE and asked.type is not QuestionType.D
        if asked.type is QuestionType.C or not own or unanswered:
            text = f"No he encontrado en el documento la respuesta: no trata {asked.topic or 'eso'}."
            return Answer(text=text, grounded=False, category=Category.NO_ANSWER, mode=Mode.EXTRACTIVE)
        said = asked.expected_answer
        if asked.id in self._bad:
            said = f"Sí, es correcto: {asked.false_statement}"
            if asked.id == VAGUE:
                said = f"En general depende de cada caso, pero creo que {asked.expected_answer[:1].lower()}{asked.expected_answer[1:]}"
        hit = RetrievedFragment(own[0], relevance=0.9, score=1.0, cosine=0.9)
        text, sources = cite(f"{said.rstrip()} [1]", [hit], about=self._about)
        return Answer(text=text, sources=sources, grounded=True, category=Category.DIRECT, mode=Mode.EXTRACTIVE)


def prepare(services: Services, folder: Path) -> Battery:
    """An earlier report (most answers bad) and a run that was stopped short of its last answers."""
    battery = official_battery(services, DOC_ID, BookType.ACADEMIC)
    store = SqlRunStore(folder)
    judge = build_judge(services, battery)
    every = tuple(q.id for q in battery.questions)
    run_session(battery, Prepared(services, battery, every), judge, store, thresholds=services.thresholds.qa)
    last_first = sorted(battery.questions, key=lambda q: q.id in LEFT)
    stop = threading.Event()

    def watch(progress: RunProgress) -> None:
        if progress.done == len(battery.questions) - len(LEFT):
            stop.set()

    with pytest.raises(RunCancelledError):
        run_battery(
            replace(battery, questions=tuple(last_first)),
            Prepared(services, battery, BAD),
            store,
            progress=watch,
            cancel=stop,
        )
    store.close()
    return battery


def view(page: Page, name: str) -> None:
    """Go to one of the page's views."""
    page.get_by_test_id("stButtonGroup").get_by_text(name, exact=True).click()
    settled(page)


def settled(page: Page) -> None:
    """Wait until the script has run."""
    page.wait_for_timeout(300)
    page.wait_for_function("() => !document.querySelector('[data-testid=stStatusWidget]')", timeout=60_000)
    page.wait_for_timeout(200)


def quality_of_source(page: Page) -> str:
    """The badge beside the first source of the last answer that is of the document."""
    last = page.get_by_test_id("stChatMessage").last
    last.get_by_test_id("stExpander").first.wait_for(timeout=60_000)
    settled(page)
    source = last.get_by_test_id("stExpander").filter(has_text="1619/2012").first
    badge = source.get_by_text("Calidad:").first
    for _ in range(4):
        if badge.is_visible():
            break
        source.locator("summary").click()
        page.wait_for_timeout(800)
    return badge.inner_text().partition("Calidad:")[2].strip()


def thumbs_down(page: Page) -> None:
    """Mark the last answer as bad."""
    thumbs = page.get_by_test_id("stChatMessage").last.locator("[data-testid=stFeedback], [data-testid=stButtonGroup]")
    thumbs.last.locator("button, [role=radio]").nth(1).click()


def test_a_reviewer_s_day(services: Services, tmp_path: Path) -> None:
    battery = prepare(services, tmp_path)
    SHOTS.mkdir(exist_ok=True)
    with (
        running_app(ASESORIA_RECORDS_URL=f"sqlite:///{tmp_path}/records.db") as address,
        browser_page(height=1600) as page,
    ):
        wait_for_index(address)
        a_day(page, address, SqlRunStore(tmp_path), [q.id for q in battery.questions])


def a_day(page: Page, address: str, store: SqlRunStore, questions: list[str]) -> None:
    open_app(page, address)
    ask(page, QUESTION)
    before = quality_of_source(page)
    assert before == "rechazado"  # the earlier report's
    thumbs_down(page)
    page.get_by_text("su opinión ha quedado guardada").wait_for(timeout=60_000)
    sign(page)
    take_up(page)
    newest, oldest = store.report_heads(DOC_ID)
    report = store.report(newest.id)
    assert report is not None and oldest.id != newest.id
    assert sorted(r.question.id for r in report.results if r.given.answer is not None) == sorted(questions)
    assert set(BAD) <= set(report.human), (report.verdict, report.human)
    decide_all(page, report)
    status = "aprobado"
    close(page, status)
    assert str(store.qa_status(DOC_ID)) == status and store.report(report.id) == report
    export(page, status)
    view(page, "Comparar")
    page.get_by_text("Mejoran:").wait_for(timeout=60_000)
    assert "ninguna" not in page.get_by_text("Mejoran:").inner_text()
    page.screenshot(path=SHOTS / "qa-comparar.png")
    page.get_by_role("link", name="Preguntar").click()
    page.get_by_test_id("stChatMessage").last.wait_for(timeout=60_000)
    settled(page)
    assert quality_of_source(page) == status != before
    page.screenshot(path=SHOTS / "qa-chat.png")


def sign(page: Page) -> None:
    """Open the page of the review and say who reviews, with the keyboard."""
    page.get_by_role("link", name="Revisión de calidad").click()
    name = page.get_by_label("Su nombre", exact=True)
    name.wait_for(timeout=60_000)
    name.fill("Ana Revisora")
    name.press("Enter")
    page.get_by_text("Revisa: Ana Revisora").wait_for(timeout=60_000)


def take_up(page: Page) -> None:
    """Go on with the interrupted battery until its report is there."""
    view(page, "Baterías")
    page.get_by_text("interrumpida con 14 de 16").wait_for(timeout=60_000)
    page.screenshot(path=SHOTS / "qa-baterias.png")
    page.get_by_role("button", name="Reanudar").click()
    page.get_by_text("batería terminada").wait_for(timeout=240_000)


def decide_all(page: Page, report: Report) -> None:
    """In the inbox: override what the judge lets fail, confirm the others."""
    view(page, "Bandeja")
    page.get_by_text("Respuesta marcada como mala").first.wait_for(timeout=60_000)
    page.screenshot(path=SHOTS / "qa-bandeja.png")
    decide(page, "D-1", verdict="Pasa", reason="La rechaza en la frase siguiente.")
    page.get_by_text("cambia el veredicto a «pasa»").first.wait_for(timeout=60_000)
    for result in report.results:
        if result.question.id in report.human and result.question.id != "D-1":
            fails = result.verdict is QuestionVerdict.FAIL
            decide(
                page, result.question.id, verdict="Pasa" if fails else "", reason="Dice lo esencial." if fails else ""
            )
            page.get_by_text(
                f"Pregunta {result.question.id}: Ana Revisora {'cambia' if fails else 'confirma'}"
            ).first.wait_for(timeout=60_000)
    assert VAGUE in {r.question.id for r in report.results if r.verdict is QuestionVerdict.BORDERLINE}


def close(page: Page, status: str) -> None:
    """Close the newest report."""
    view(page, "Informes")
    form = page.get_by_test_id("stForm").filter(has_text="El documento queda")
    form.wait_for(timeout=60_000)
    settled(page)
    page.wait_for_timeout(1000)  # the chart is drawn after the script has run
    page.screenshot(path=SHOTS / "qa-informe.png")
    form.get_by_text(status.capitalize(), exact=True).click()
    form.get_by_label("Motivo").fill("Revisado con el texto del BOE.")
    form.get_by_role("button", name="Cerrar el informe").click()
    page.get_by_text(f"queda {status}").first.wait_for(timeout=60_000)


def export(page: Page, status: str) -> None:
    """Both files hold the judge's verdict and the person's."""
    settled(page)
    page.wait_for_timeout(3000)  # the files are made anew in the run that follows the closing
    with page.expect_download() as download:
        page.get_by_role("button", name="Descargar en JSON").click()
    data = json.loads(download.value.path().read_text("utf-8"))
    decided = {d["question_id"]: d for d in data["human_decisions"]}
    assert decided["D-1"]["verdict"] == "pass" and decided["D-1"]["person"] == "Ana Revisora"
    assert next(q for q in data["questions"] if q["id"] == "D-1")["verdict"] != "pass"
    assert data["closing"]["status"] == status
    with page.expect_download() as download:
        page.get_by_role("button", name="Descargar en Markdown").click()
    assert "DICTAMEN FINAL" in download.value.path().read_text("utf-8")


def decide(page: Page, question_id: str, *, verdict: str = "", reason: str = "") -> None:
    """Open a case of the inbox and send a decision (without a verdict, the judge's own)."""
    settled(page)
    item = (
        page.get_by_test_id("stExpander").filter(has=page.locator("summary", has_text=f"pregunta {question_id},")).first
    )
    button = item.get_by_role("button", name="Guardar mi decisión")
    for _ in range(4):
        if button.is_visible():
            break
        item.locator("summary").first.click()
        page.wait_for_timeout(1500)
    if verdict:
        item.get_by_text(verdict, exact=True).click()
    if reason:
        item.get_by_label("Motivo").fill(reason)
    button.click()
    settled(page)
