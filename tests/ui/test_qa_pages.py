"""The page of the quality review over a fake engine and judge: every state, and two reviewers at once."""

import json
import time
from dataclasses import replace

import pytest
from streamlit.testing.v1 import AppTest

from core.qa.background import Stage
from core.qa.cases import cases_of, decide_case
from core.qa.models import COUNTS, BookType, Profile, QuestionVerdict
from core.qa.packs import load_packs
from core.qa.status import QaStatus
from core.records.interactions import Feedback
from core.records.reviews import FEEDBACK, list_reviews, open_review
from core.records.spool import Entry
from core.records.store import store
from tests.ui.qa_desk import FakeDesk, new_desk


def _page() -> None:
    from pages.qa_review import draw
    from tests.ui.qa_desk import present_desk

    draw(present_desk())


@pytest.fixture
def fake() -> FakeDesk:
    return new_desk()


@pytest.fixture
def app(fake: FakeDesk) -> AppTest:
    return fresh()


def fresh() -> AppTest:
    app = AppTest.from_function(_page, default_timeout=30).run()
    assert not app.exception
    return app


def see(app: AppTest, view: str) -> AppTest:
    app.session_state.qa_view = view
    app.run()
    assert not app.exception
    return app


def press(app: AppTest, label: str) -> AppTest:
    next(b for b in app.button if b.label == label).click()
    app.run()
    assert not app.exception
    return app


def sign(app: AppTest, name: str) -> AppTest:
    next(t for t in app.text_input if t.label == "Su nombre").set_value(name)
    return press(app, "Empezar a revisar")


def shown(app: AppTest) -> str:
    kinds = (app.markdown, app.caption, app.info, app.warning, app.error, app.success, app.subheader)
    return "\n".join(e.value for kind in kinds for e in kind).replace("\\", "")


def radio(app: AppTest, label: str, index: int = 0):
    return [r for r in app.radio if r.label == label][index]


def area(app: AppTest, label: str, index: int = 0):
    return [t for t in app.text_area if t.label.startswith(label)][index]


def test_empty_states_explain_themselves(app: AppTest) -> None:
    assert "No hay nada pendiente" in shown(app)
    assert "Todavía no hay informes" in shown(see(app, "reports"))
    assert "hacen falta dos informes" in shown(see(app, "compare"))
    text = shown(see(app, "runs"))
    assert "Tiempo estimado" in text and f"{sum(COUNTS[BookType.NARRATIVE].values())} preguntas" in text


def test_a_battery_is_started_watched_and_seen_by_others(app: AppTest, fake: FakeDesk) -> None:
    see(app, "runs")
    area(app, "Vocabulario").set_value("tipo móvil\n\n componedor ")
    area(app, "Filtros").set_value("da igual")
    next(n for n in app.number_input if n.label == "Semilla").set_value(3)
    app.run()
    fake.answerer.gate.clear()
    press(app, "Empezar la batería")
    other = see(fresh(), "runs")
    for _ in range(100):
        if any(j.total for j in fake.desk.batteries.jobs()):
            break
        time.sleep(0.02)
    other.run()
    assert "Detener" in [b.label for b in other.button]
    press(other, "Empezar la batería")
    assert "Ya hay una batería en marcha" in shown(other)
    fake.answerer.gate.set()
    fake.desk.batteries.wait(fake.desk.batteries.jobs()[0].id)
    app.run()
    assert "batería terminada" in shown(app)
    press(app, "Ver el informe")
    assert "Dictamen" in shown(app) and app.session_state.qa_view == "reports"
    assert fake.orders[0].seed == 3
    assert fake.orders[0].profile == Profile(("tipo móvil", "componedor"), (), ("da igual",), "")


def test_stopped_and_taken_up_again_without_asking_twice(app: AppTest, fake: FakeDesk) -> None:
    see(app, "runs")
    fake.answerer.slow = 0.05
    press(app, "Empezar la batería")
    (job,) = fake.desk.batteries.jobs()
    for _ in range(200):
        if len(fake.answerer.asked) >= 3:
            break
        time.sleep(0.02)
    app.run()
    press(app, "Detener")
    assert fake.desk.batteries.wait(job.id).stage is Stage.STOPPED
    app.run()
    assert "interrumpida con" in shown(app)
    press(app, "Quitar de la lista")
    fake.answerer.slow = 0.0
    press(app, "Reanudar")
    (again,) = fake.desk.batteries.jobs()
    assert fake.desk.batteries.wait(again.id).stage is Stage.DONE
    app.run()
    assert "interrumpida con" not in shown(app)
    assert len(fake.answerer.asked) == len(set(fake.answerer.asked)) == 15


def test_the_report_shows_all_of_it(app: AppTest, fake: FakeDesk) -> None:
    report = fake.store.report(fake.run())
    assert report is not None
    see(app, "reports")
    text = shown(app)
    for expected in ("Dictamen: ", "Global ", "Calidad: ", "juzga: juez de prueba", report.reasons[0]):
        assert expected in text, expected
    types, sections = app.table
    assert list(types.value.index)[-1] == "TOTAL" and len(types.value) == 5
    assert len(sections.value) == len(report.section_scores)
    next(n for n in app.number_input if "mínima" in n.label).set_value(8.5)
    app.run()
    assert "no llegan a 8.5" in shown(app)
    assert sum(line.text in text for line in report.checklist) == 11
    select = next(s for s in app.selectbox if s.label == "Abrir una pregunta")
    assert len(select.options) == 15
    assert "pendiente" in next(o for o in select.options if o.startswith("A-2"))
    assert "Respuesta esperada" in text and "Eco" in text and "Diagnóstico" in text


def test_decisions_are_kept_beside_the_judge_s_and_closing_sets_the_status(app: AppTest, fake: FakeDesk) -> None:
    report_id = fake.run()
    before = fake.store.report(report_id)
    app.run()
    assert "2" in next(m for m in app.multiselect).placeholder
    press(app, "Guardar mi decisión")
    assert "diga quién revisa" in shown(app)
    sign(app, "Ana")
    radio(app, "Su veredicto", 1).set_value(QuestionVerdict.PASS)
    [b for b in app.button if b.label == "Guardar mi decisión"][1].click()
    app.run()
    assert "escriba el motivo" in shown(app)
    radio(app, "Su veredicto", 1).set_value(QuestionVerdict.PASS)
    area(app, "Motivo", 1).set_value("La respuesta es la del libro.")
    [b for b in app.button if b.label == "Guardar mi decisión"][1].click()
    app.run()
    assert "cambia el veredicto a «pasa»" in shown(app)
    see(app, "reports")
    assert "Faltan 1 casos" in shown(app)
    press(app, "Guardar mi decisión")  # the borderline one, as the judge says
    assert "confirma el veredicto «limítrofe»" in shown(app)
    press(app, "Cerrar el informe")
    assert "Elija cómo queda" in shown(app)
    radio(app, "El documento queda").set_value(QaStatus.APPROVED)
    area(app, "Motivo").set_value("Revisado entero.")
    press(app, "Cerrar el informe")
    assert "queda aprobado" in shown(app) and fake.store.qa_status("libro") is QaStatus.APPROVED
    after = fake.store.report(report_id)
    assert after == before
    cases = {c.result.question.id: c for c in cases_of(fake.database, after)}
    assert {k: str(c.verdict) for k, c in cases.items()} == {"A-2": "borderline", "D-1": "pass"}
    assert str(cases["D-1"].result.verdict) == "fail" and cases["D-1"].review.closed_by == "Ana"
    assert fake.store.status_changes("libro")[-1].by == "Ana"


def test_two_reviewers_cannot_overwrite_each_other_unseen(app: AppTest, fake: FakeDesk) -> None:
    report = fake.store.report(fake.run())
    app.run()
    sign(app, "Ana")
    case = next(c for c in cases_of(fake.database, report) if c.result.question.id == "D-1")
    decide_case(
        fake.database,
        case.review,
        judged=QuestionVerdict.FAIL,
        verdict=QuestionVerdict.PASS,
        person="Luis",
        reason="Está en la página 3",
    )
    [b for b in app.button if b.label == "Guardar mi decisión"][1].click()
    app.run()
    (message,) = [e.value for e in app.error]
    assert "Luis" in message and "«pasa»" in message and "Está en la página 3" in message
    assert next(c for c in cases_of(fake.database, report) if c.result.question.id == "D-1").review.closed_by == "Luis"


def test_two_reviewers_cannot_close_over_each_other_unseen(app: AppTest, fake: FakeDesk) -> None:
    report = fake.store.report(fake.run())
    for case in cases_of(fake.database, report):
        decide_case(
            fake.database, case.review, judged=case.result.verdict, verdict=QuestionVerdict.PASS, person="Luis", reason="bien"
        )  # fmt: skip
    sign(app, "Ana")
    see(app, "reports")
    radio(app, "El documento queda").set_value(QaStatus.APPROVED)
    area(app, "Motivo").set_value("Todo bien.")
    fake.store.set_status("libro", QaStatus.REJECTED, report_id=report.id, by="Luis", reason="No.")
    press(app, "Cerrar el informe")
    assert "ha cambiado mientras" in shown(app) and fake.store.qa_status("libro") is QaStatus.REJECTED


def test_a_refused_answer_closes_only_as_rejected(app: AppTest, fake: FakeDesk) -> None:
    report = fake.store.report(fake.run())
    for case in cases_of(fake.database, report):
        decide_case(
            fake.database, case.review, judged=case.result.verdict, verdict=case.result.verdict, person="Luis", reason=""
        )  # fmt: skip
    sign(app, "Ana")
    see(app, "reports")
    assert radio(app, "El documento queda").options == ["Rechazado"] and "solo se puede cerrar" in shown(app)


def test_every_kind_of_item_is_in_the_one_inbox(app: AppTest, fake: FakeDesk) -> None:
    store(fake.database, [Entry("feedback", Feedback("f" * 32, "down", "falta el plazo").row())])
    open_review(fake.database, kind="drift", subject="x", title="Deriva de prueba", details={"reason": "Sube 12."})
    open_review(fake.database, kind="calibration", subject="y", title="La calibración baja", details={"kappa": 0.41})
    fake.run()
    sign(app, "Ana")
    labels = [e.label for e in app.expander]
    for kind in ("Respuesta marcada como mala", "Deriva del sello", "Calibración", "Caso de una batería"):
        assert any(label.startswith(kind) for label in labels), kind
    assert "Sube 12." in [t.value for t in app.text] and "0,41" in [t.value for t in app.text]
    assert any("Ya no se conserva" in t.value for t in app.text)
    radio(app, "Su decisión", 0).set_value("answer_wrong")
    area(app, "Qué ha revisado", 0).set_value("Falta el plazo, es cierto.")
    press(app, "Guardar mi decisión")
    (closed,) = list_reviews(fake.database, status="closed", kind=FEEDBACK)
    assert (closed.closed_by, closed.decision) == ("Ana", "answer_wrong")
    assert "la respuesta está mal" in shown(app)


def test_two_reports_side_by_side(app: AppTest, fake: FakeDesk) -> None:
    fake.run()
    fake.judge.points = {"D-1": 9.0, "A-2": 6.5, "C-1": 5.0}
    time.sleep(1.1)  # reports are dated to the second
    fake.run()
    text = shown(see(app, "compare"))
    assert "Mejoran: 1" in text and "D-1: 4.0 → 9.0" in text
    assert "Empeoran: 1" in text and "C-1: 9.0 → 5.0" in text
    (table,) = app.table
    assert list(table.value.columns) == ["Antes", "Después", "Cambio"] and "Global" in table.value.index


def test_exports_hold_both_sides(fake: FakeDesk) -> None:
    from core.qa.cases import closing_of
    from core.qa.export import export_json, export_markdown

    report = fake.store.report(fake.run())
    case = next(c for c in cases_of(fake.database, report) if c.result.question.id == "D-1")
    decide_case(
        fake.database, case.review, judged=QuestionVerdict.FAIL, verdict=QuestionVerdict.PASS, person="Luis", reason="Sí está"
    )  # fmt: skip
    cases = cases_of(fake.database, report)
    closed = closing_of(fake.store, report, cases).closed
    text = export_markdown(report, cases, closed)
    assert "## DICTAMEN FINAL" in text and "falla (4.0)" in text and "Luis" in text and "pendiente" in text
    data = json.loads(export_json(report, cases, closed))
    (mine,) = [d for d in data["human_decisions"] if d["verdict"]]
    assert (mine["question_id"], mine["verdict"], mine["person"]) == ("D-1", "pass", "Luis")
    assert next(q for q in data["questions"] if q["id"] == "D-1")["verdict"] == "fail"


def test_reports_made_elsewhere_reach_the_inbox(fake: FakeDesk) -> None:
    from core.qa.session import run_session
    from tests.ui.qa_desk import THRESHOLDS, book_battery

    run_session(book_battery(), fake.answerer, fake.judge, fake.store, thresholds=THRESHOLDS.qa)
    assert list_reviews(fake.database) == []
    fresh()
    assert len(list_reviews(fake.database)) == 2


def test_cases_of_an_earlier_report_do_not_wait_any_more(fake: FakeDesk) -> None:
    first = fake.run()
    time.sleep(1.1)
    second = fake.run()
    fresh()
    waiting = list_reviews(fake.database)
    assert {r.details["report_id"] for r in waiting} == {second} and len(waiting) == 2
    closed = list_reviews(fake.database, status="closed")
    assert {r.details["report_id"] for r in closed} == {first} and {r.closed_by for r in closed} == {"AsesorIA"}
    fresh()
    assert list_reviews(fake.database) == waiting


def test_an_upload_is_asked_for_title_author_and_category(app: AppTest, fake: FakeDesk) -> None:
    fake.desk = replace(fake.desk, own=True)
    app = see(fresh(), "runs")
    assert "Documento" not in [s.label for s in app.selectbox]
    for label, value in (
        ("Título", "La imprenta"),
        ("Autor (opcional)", "E. Autor"),
        ("Categoría (opcional)", "novela"),
    ):
        next(t for t in app.text_input if t.label == label).set_value(value)
    app.run()
    press(app, "Empezar la batería")
    fake.desk.batteries.wait(fake.desk.batteries.jobs()[0].id)
    (order,) = fake.orders
    assert (order.doc_id, order.title, order.author, order.category) == ("libro", "La imprenta", "E. Autor", "novela")


def test_a_pack_is_answered_and_not_scored(app: AppTest, fake: FakeDesk) -> None:
    shown_before = shown(see(app, "packs"))
    assert "No puntúan" in shown_before and "¿Cuál es el tipo general del IVA?" in shown_before
    press(app, "Hacer estas preguntas")
    text = shown(app)
    assert "(sin puntuación)" in text and "Eco: ¿Cuál es el tipo general del IVA?" in text
    assert fake.answerer.asked == list(load_packs("tax")[0].questions)
    assert fake.store.report_heads() == () and fake.store.unfinished() == ()
    next(s for s in app.selectbox if s.label == "Paquete").set_value("Plazos").run()
    assert "Eco:" not in shown(app) and "modelo 303" in shown(app)
