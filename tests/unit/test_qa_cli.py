"""``qa report`` and ``qa compare`` on stored reports: exit codes, JSON, what cannot be compared."""

import argparse
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from core.cli_qa import EXIT_CODES, add_qa, shown
from core.config import Settings
from core.errors import AsesoriaError
from core.qa.battery import generate_battery
from core.qa.models import Battery, Report
from core.qa.store import SqlRunStore
from tests.unit.test_qa_battery import story
from tests.unit.test_qa_session import BOOK, CountingJudge, run


def qa(home: Path, *words: str) -> int:
    parser = argparse.ArgumentParser()
    add_qa(parser.add_subparsers(required=True))
    args = parser.parse_args(["qa", *words])
    code: int = args.run(args, Settings(home=home, records_url=""))
    return code


@pytest.fixture(scope="module")
def battery() -> Battery:
    return generate_battery(story(), BOOK)


@pytest.fixture
def reports(battery: Battery, tmp_path: Path) -> list[Report]:
    store = SqlRunStore(tmp_path / "records")
    found = [run(battery, store, CountingJudge(points)) for points in (9.0, 7.5, 5.0)]
    store.close()
    return found


def test_exit_codes(reports: list[Report], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert [qa(tmp_path, "report", r.id) for r in reports] == [0, 3, 4] == list(EXIT_CODES.values())
    assert "approve, 9.0" in capsys.readouterr().out


def test_the_json_of_a_report(reports: list[Report], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert qa(tmp_path, "report", reports[2].id, "--json") == 4
    data: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert (data["verdict"], data["global_score"]) == ("reject", 5.0)
    assert len(data["questions"]) == 15 and all(line["text"] for line in data["checklist"])
    first = data["questions"][0]
    assert first["id"] == "A-1" and first["type"] == "A"
    wanted = {"id", "type", "question", "expected_answer", "answer", "scores", "score", "verdict", "diagnosis"}
    assert wanted <= first.keys()
    assert first["scores"] == dict.fromkeys(("precision", "voice", "limits", "utility"), 5.0)
    assert first["verdict"] == "fail" and first["diagnosis"]["phase"]


def test_compare(reports: list[Report], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert qa(tmp_path, "compare", reports[0].id, reports[2].id, "--json") == 0
    data = json.loads(capsys.readouterr().out)
    assert len(data["broke"]) == 15 and data["improved"] == []
    assert (data["global_before"], data["global_after"]) == (9.0, 5.0)
    qa(tmp_path, "compare", reports[2].id, reports[0].id)
    assert "Global: 5.0 → 9.0 (reject → approve)" in capsys.readouterr().out


def test_reports_of_two_documents_are_not_compared(battery: Battery, reports: list[Report], tmp_path: Path) -> None:
    store = SqlRunStore(tmp_path / "records")
    other = run(replace(battery, id="otra", book=replace(battery.book, doc_id="otro")), store, CountingJudge())
    with pytest.raises(AsesoriaError, match="documentos distintos"):
        qa(tmp_path, "compare", reports[0].id, other.id)
    with pytest.raises(AsesoriaError, match="No hay ningún informe"):
        qa(tmp_path, "report", "nada")


@pytest.mark.parametrize(
    ("score", "text"), [(7.95, "7.9"), (7.999999, "7.9"), (8.0, "8.0"), (None, "—"), (10.0, "10.0")]
)
def test_scores_are_cut(score: float | None, text: str) -> None:
    assert shown(score) == text
