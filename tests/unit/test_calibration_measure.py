"""One measurement: what is left out, what is graded, what is printed."""

import json
from pathlib import Path

import pytest

from core.calibration.gates import Grade
from core.calibration.measure import Case, calibration_json, measure
from core.calibration.panel import PanelCase
from core.calibration.reference import load_panel, load_reference
from core.calibration.statistics import Estimate, Unmeasured
from core.errors import RegisterError
from core.models import Level
from core.thresholds import load_thresholds

GATES = load_thresholds().calibration


def cases(n: int = 60) -> list[Case]:
    """A third of each level; low answers are never faithful, medium every other, high always."""
    found = []
    for i in range(n):
        level = list(Level)[i % 3]
        faithful = {Level.HIGH: 1.0, Level.MEDIUM: float(i % 2), Level.LOW: 0.0}[level]
        found.append(Case(f"c{i:02}", level, faithful, {Level.HIGH: 0.8, Level.MEDIUM: 0.5, Level.LOW: 0.2}[level]))
    return found


def panel(of: list[Case], apart: int = 0) -> list[PanelCase]:
    """Judges who agree with the verdicts, except that on the first ``apart`` cases one of them differs."""
    return [
        PanelCase(
            c.id, {"a": c.faithfulness, "b": c.faithfulness, "c": 1 - c.faithfulness if i < apart else c.faithfulness}
        )
        for i, c in enumerate(of)
    ]


def test_a_good_seal_is_as_expected() -> None:
    found = measure(cases(), panel(cases()), GATES)
    assert isinstance(found.pearson, Estimate) and found.pearson.value > 0.7 and found.grade is Grade.EXPECTED
    assert isinstance(found.kappa, Estimate) and found.kappa.value == 1.0 and found.excluded == ()
    data = calibration_json(found)
    assert json.loads(json.dumps(data))["pearson"]["n"] == 60
    assert set(data) >= {"pearson", "kappa", "faithful_by_level", "ece", "reliability", "risk_coverage", "grade"}


def test_cases_on_which_the_judges_are_apart_are_counted_and_left_out() -> None:
    found = measure(cases(), panel(cases(), apart=9), GATES)
    assert len(found.excluded) == 9 and isinstance(found.pearson, Estimate) and isinstance(found.pearson_all, Estimate)
    assert (found.pearson.n, found.pearson_all.n) == (51, 60)
    assert isinstance(found.kappa, Estimate) and isinstance(found.kappa_all, Estimate)
    assert (found.kappa.n, found.kappa_all.n) == (51, 60)
    assert len(found.pairwise) == 3


def test_a_seal_that_says_nothing_blocks_and_no_cases_give_no_figure() -> None:
    turned = [Case(c.id, c.level, 1 - c.faithfulness, c.rerank) for c in cases()]
    assert measure(turned, panel(turned), GATES).grade is Grade.BLOCKING
    none = measure([], [], GATES)
    assert (
        isinstance(none.pearson, Unmeasured) and none.grade is Grade.UNMEASURED and none.curve == () and none.risk == ()
    )
    assert calibration_json(none)["pearson"] == {
        "r": None, "ci": None, "n": 0, "reason": "too_few", "grade": "unmeasured",
    }  # fmt: skip


@pytest.mark.parametrize("text", ["", "{}", '{"cases": []}'])
def test_files_that_are_not_valid(tmp_path: Path, text: str) -> None:
    path = tmp_path / "x.json"
    path.write_text(text, "utf-8")
    for load in (load_reference, load_panel):
        with pytest.raises(RegisterError, match="Restaure"):
            load(path)
