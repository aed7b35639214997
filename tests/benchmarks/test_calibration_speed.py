"""How long the calibration page takes to draw with 0, 1 and 20,000 interactions; printed, never asserted."""

import time
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from core.calibration.view import _measured
from core.config import PROJECT_ROOT, Settings
from core.corpus.register import load_register
from core.records.database import Database
from core.seal.state import StateReader
from core.thresholds import load_thresholds
from tests.calibration_data import add_interactions, made_panel, made_reference, write_reference

pytestmark = [pytest.mark.benchmark]


@pytest.mark.parametrize("n", [0, 1, 20_000])
def test_first_draw(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, n: int) -> None:
    found = made_reference(120)
    reference, panel = write_reference(tmp_path, found, made_panel(found))
    database = Database(f"sqlite:///{tmp_path / 'records.db'}")
    add_interactions(database, n, until=datetime.now(UTC).date())
    services = SimpleNamespace(
        settings=Settings(home=tmp_path, reference_file=reference, panel_file=panel),
        thresholds=load_thresholds(),
        register=load_register(),
        records=database,
        seal_state=StateReader(lambda: database, has_model=lambda: False),
    )
    monkeypatch.setattr("pages.shared.startup", lambda: SimpleNamespace(services=services, error=""))
    page = str(PROJECT_ROOT / "pages" / "calibration.py")
    AppTest.from_file(page, default_timeout=60).run()  # the libraries are imported
    wall, cpu = [], []
    for _ in range(10):
        _measured.cache_clear()
        started, used = time.perf_counter(), time.process_time()
        app = AppTest.from_file(page, default_timeout=60).run()
        wall.append(time.perf_counter() - started)
        cpu.append(time.process_time() - used)
        assert not app.exception and len(app.get("plotly_chart")) == (7 if n else 6)
    print(
        f"\n{n:>6} interactions: first draw p50 {np.median(wall):.2f} s, p95 {np.percentile(wall, 95):.2f} s "
        f"(processor {np.median(cpu):.2f} s)",
        end="",
    )
