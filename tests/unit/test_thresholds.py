"""Every threshold is pinned here: whoever changes one changes the version, the date and this test."""

from pathlib import Path

import pytest

from core.errors import RegisterError
from core.thresholds import load_thresholds


def test_thresholds_are_pinned() -> None:
    found = load_thresholds().model_dump()
    assert (found.pop("version"), found.pop("date")) == ("1", "2026-11-30")
    assert found == {
        "scope": {"answerable": 0.55},
        "verify": {
            "coverage": 0.5,
            "coverage_beside_quote": 0.3,
            "part": 0.2,
            "rival_margin": 0.4,
            "swap_margin": 0.15,
            "cross_margin": 0.15,
            "twice_margin": -1.0,
        },
    }


@pytest.mark.parametrize(
    "text",
    [
        "",
        "version = 1",
        'version = "1"\ndate = "2026-11-30"\n[scope]\nanswerable = 1.5',
        'version = "1"\ndate = "2026-11-30"\n[scope]\nanswerable = 0.5\nother = 1',
        "[",
    ],
)
def test_a_file_that_is_not_valid_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "thresholds.toml"
    path.write_text(text, "utf-8")
    with pytest.raises(RegisterError, match="Restaure"):
        load_thresholds(path)
