"""The states of the calibration page, over made-up references and records; no model is loaded."""

from collections.abc import Callable
from datetime import UTC, date, datetime
from pathlib import Path
from types import SimpleNamespace

import pytest
from streamlit.testing.v1 import AppTest

from core.calibration.baselines import CALIBRATION
from core.config import PROJECT_ROOT, Settings
from core.corpus.register import load_register
from core.records.baselines import list_baselines
from core.records.database import Database
from core.records.reviews import list_reviews
from core.records.verdicts import Verdict, add_verdict, list_verdicts
from core.seal.state import StateReader
from core.thresholds import load_thresholds
from tests.calibration_data import add_interactions, made_panel, made_reference, write_reference

PAGE = str(PROJECT_ROOT / "pages" / "calibration.py")


@pytest.fixture
def database(tmp_path: Path) -> Database:
    return Database(f"sqlite:///{tmp_path / 'records.db'}")


@pytest.fixture
def page(tmp_path: Path, database: Database, monkeypatch: pytest.MonkeyPatch) -> Callable[[], AppTest]:
    """Opens the page on the files of ``tmp_path`` and on ``database``."""
    settings = Settings(
        home=tmp_path, reference_file=tmp_path / "reference_set.json", panel_file=tmp_path / "panel_scores.json"
    )
    services = SimpleNamespace(
        settings=settings,
        thresholds=load_thresholds(),
        register=load_register(),
        records=database,
        seal_state=StateReader(lambda: database, has_model=lambda: False),
    )
    monkeypatch.setattr("pages.shared.startup", lambda: SimpleNamespace(services=services, error=""))
    return lambda: AppTest.from_file(PAGE, default_timeout=60).run()


def text_of(app: AppTest) -> str:
    kinds = (app.markdown, app.caption, app.info, app.warning, app.error, app.success, app.subheader)
    return "\n".join(str(e.value) for kind in kinds for e in kind)


def widget(app: AppTest, kind: str, label: str):
    return next(w for w in getattr(app, kind) if w.label.startswith(label))


def charts(app: AppTest) -> int:
    return len(app.get("plotly_chart"))


def test_without_a_reference_it_says_why(page: Callable[[], AppTest]) -> None:
    app = page()
    assert not app.exception and not app.error
    assert any("Todavía no hay conjunto de referencia" in w.value for w in app.warning)
    assert any("No hay ninguna respuesta de producción" in i.value for i in app.info)
    assert "Sello en modo normal" in text_of(app)


@pytest.mark.parametrize("n", [1, 19])
def test_too_few_cases_give_a_reason_and_no_number(page: Callable[[], AppTest], tmp_path: Path, n: int) -> None:
    found = made_reference(n)
    write_reference(tmp_path, found, made_panel(found, apart=0))
    app = page()
    assert not app.exception and not app.error
    assert [m.value for m in app.metric] == ["sin medida", "sin medida"]
    assert "hay muy pocos casos" in text_of(app) and charts(app) == 6


def test_a_file_that_is_not_valid_and_one_of_another_version(page: Callable[[], AppTest], tmp_path: Path) -> None:
    (tmp_path / "reference_set.json").write_text("{", "utf-8")
    app = page()
    assert not app.exception and any("no es válido" in w.value for w in app.warning)
    found = made_reference()
    write_reference(tmp_path, found, made_panel(found).model_copy(update={"reference_version": "otra"}))
    app = page()
    assert not app.exception and any("El panel puntuó el conjunto otra" in w.value for w in app.warning)
    assert app.metric[1].value == "sin medida" and app.metric[0].value != "sin medida"


def test_the_reference_is_shown_whole(page: Callable[[], AppTest], tmp_path: Path) -> None:
    found = made_reference()
    write_reference(tmp_path, found, made_panel(found))
    app = page()
    assert not app.exception and not app.error
    shown = text_of(app)
    assert (
        "**60 casos** de 66" in shown
        and "**4 excluidos**" in shown
        and "**0 casos revisados por una persona**" in shown
    )
    assert "Casos inventados para las pruebas." in shown and "**4 casos no fiables**" in shown
    assert float(app.metric[0].value.replace(",", ".")) > 0.7 and app.metric[1].value == "1,00"
    assert charts(app) == 6
    assert len(app.dataframe[0].value) == 4
    labels = [b.label for b in app.get("download_button")]
    assert labels.count("Descargar los datos (CSV)") == 6


def test_filters_a_case_and_a_verdict(page: Callable[[], AppTest], tmp_path: Path, database: Database) -> None:
    found = made_reference()
    write_reference(tmp_path, found, made_panel(found))
    app = page()
    before = app.metric[0].value
    widget(app, "multiselect", "Documento citado").set_value(["iva_2025"]).run()
    assert "**30 casos** de 66" in text_of(app) and not app.exception
    widget(app, "multiselect", "Documento citado").set_value([]).run()
    widget(app, "selectbox", "Abrir un caso").set_value("c020").run()
    assert "El tipo número 20" in text_of(app) and "Sello: **" not in text_of(app)
    widget(app, "button", "Guardar el veredicto").click().run()
    assert any("hacen falta su nombre" in e.value for e in app.error)
    widget(app, "text_input", "Su nombre").set_value("Ana")
    widget(app, "radio", "La respuesta es").set_value("Fiel")
    widget(app, "text_input", "Por qué").set_value("El pasaje dice justo lo que se pregunta.")
    widget(app, "text_input", "Página o artículo").set_value("Manual, página 30")
    widget(app, "button", "Guardar el veredicto").click().run()
    assert not app.exception and not app.error
    (given,) = list_verdicts(database, kind="reference")
    assert (given.case_id, given.reviewer, given.faithfulness) == ("c020", "Ana", 1.0)
    assert "**1 caso revisado por una persona**" in text_of(app)
    assert app.metric[0].value != before, "the numbers move"
    widget(app, "toggle", "Mostrar el sello").set_value(True).run()
    shown = text_of(app)
    assert "Equipo, mantenimiento" in shown and "Ana, persona" in shown, "beside the maintainers', which stays"
    widget(app, "toggle", "Contar los veredictos").set_value(False).run()
    assert app.metric[0].value == before


def test_two_blocking_baselines_switch_the_seal_and_the_page_says_so(
    page: Callable[[], AppTest], tmp_path: Path, database: Database
) -> None:
    found = made_reference(turned=True)
    write_reference(tmp_path, found, made_panel(found, contrary=True))
    app = page()
    widget(app, "button", "Guardar la línea de base").click().run()
    assert any("Marque la casilla" in e.value for e in app.error) and list_baselines(database) == []
    for number in (1, 2):
        widget(app, "checkbox", "Confirmo").set_value(True)
        next(t for t in app.text_input if t.key == "baseline-name").set_value("Ana")
        widget(app, "button", "Guardar la línea de base").click().run()
        assert not app.exception and not app.error
        assert f"Guardada la línea de base {number}" in text_of(app)
    assert "El sello pasa a modo deterministic" in text_of(app)
    assert "Sello en modo determinista" in text_of(page())
    assert [r.subject for r in list_reviews(database, kind=CALIBRATION)] == ["kappa:1"]


@pytest.mark.parametrize("n", [1, 20_000])
def test_production(page: Callable[[], AppTest], tmp_path: Path, database: Database, n: int) -> None:
    found = made_reference()
    write_reference(tmp_path, found, made_panel(found))
    ids = add_interactions(database, n, until=datetime.now(UTC).date())
    app = page()
    assert not app.exception and not app.error and charts(app) == 7
    assert f"**{n} respuestas**" in text_of(app)
    add_verdict(database, Verdict("interaction", ids[0], 1.0, "Lo dice el pasaje citado.", "Manual, página 3", "Ana"))
    widget(app, "selectbox", "Abrir una respuesta").set_value(ids[0]).run()
    shown = text_of(app)
    assert not app.exception and "¿Pregunta 0?".replace("?", "?") in shown.replace("\\", "") and "Ana, persona" in shown
    assert "**1 respuestas de producción con veredicto" in shown and charts(app) == 9
    if n > 1:
        widget(app, "multiselect", "Documento citado").set_value(["iva_2025"]).run()
        assert f"**{n // 2} respuestas**" in text_of(app)
        widget(app, "date_input", "Fechas").set_value((date(2020, 1, 1), date(2020, 1, 2))).run()
        assert not app.exception and any("No hay ninguna respuesta de producción" in i.value for i in app.info)
