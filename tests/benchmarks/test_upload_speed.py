"""How long an upload of 300 pages takes with everything on. Prints; asserts nothing about time."""

import time
from pathlib import Path

import pytest

from core.documents.intake import Upload
from core.documents.library import UploadProgress
from core.documents.sessions import new_session_id
from core.services import Services
from tests import hard_files as hard

pytestmark = pytest.mark.benchmark


def test_three_hundred_pages(services: Services, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shared = Path(__file__).parents[3] / "shared" / "cases" / "files" / "grande_300_paginas.pdf"
    clause = "Cláusula {}: la renta del mes {} es de {},00 euros, que paga Lucía Prueba Ejemplo con NIF 12345678Z."
    pages = [[clause.format(p * 10 + n, n, p + n) for n in range(10)] for p in range(1, 301)]
    path = shared if shared.exists() else hard.text_pdf(tmp_path / "grande.pdf", pages)
    services.redactor.load()
    services.embedder.embed_query("para calentar")
    search = services.private_search(new_session_id())
    stages: dict[str, float] = {}
    clock = time.perf_counter()

    def note(progress: UploadProgress) -> None:
        stages.setdefault(progress.stage, time.perf_counter() - clock)

    (outcome,) = search.documents.add([Upload("grande.pdf", path.read_bytes())], progress=note)
    took = time.perf_counter() - clock
    search.documents.remove_all()
    assert outcome.document is not None and outcome.document.pages == 300
    with capsys.disabled():
        begun = ", ".join(f"{stage} desde {at:.1f} s" for stage, at in stages.items())
        print(f"\n300 páginas, {outcome.document.fragments} fragmentos: {took:.1f} s ({begun})")
