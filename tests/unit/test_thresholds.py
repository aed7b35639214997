"""Every threshold is pinned here: whoever changes one changes the version, the date and this test."""

from pathlib import Path

import pytest

from core.errors import RegisterError
from core.thresholds import load_thresholds


def test_thresholds_are_pinned() -> None:
    found = load_thresholds().model_dump()
    assert [(c["version"], c["date"]) for c in found["seal"].pop("changes")] == [
        ("2", "2026-12-01"),
        ("1", "2026-11-30"),
    ]
    assert (found.pop("version"), found.pop("date")) == ("2", "2026-12-01")
    assert found == {
        "scope": {"answerable": 0.55, "personal": 0.7, "one_document": 0.6},
        "calibration": {
            "pearson_expected": 0.7,
            "pearson_acceptable": 0.5,
            "kappa_expected": 0.6,
            "kappa_acceptable": 0.4,
            "max_dispersion": 0.3,
            "switch_after": 2,
            "switch_cases": 30,
            "minimum_cases": 20,
        },
        "verify": {
            "coverage": 0.5,
            "coverage_beside_quote": 0.3,
            "part": 0.2,
            "rival_margin": 0.4,
            "swap_margin": 0.15,
            "cross_margin": 0.15,
            "twice_margin": -1.0,
        },
        "qa": {
            "question_pass": 7.5,
            "question_borderline": 6.0,
            "approve": 8.0,
            "review": 7.0,
            "max_failed_c": 1,
            "max_failed_d": 2,
            "systematic_share": 0.5,
            "hallucination_penalty": 3.0,
        },
        "seal": {
            "high_rerank": 0.6,
            "medium_rerank": 0.4,
            "coverage_min": 0.9,
            "supporting_min": 2,
            "supporting_relevance": 0.4,
            "answered_weight": 1.24,
            "relevance_weight": 0.74,
            "answered_intercept": -0.66,
        },
        "drift": {"days": 7, "amber_points": 5.0, "red_points": 10.0, "minimum_answers": 200, "significance": 3.0},
        "documents": {
            "answerable": 0.5,
            "prior_own": 0.9,
            "prior_named": 0.98,
            "prior_bare": 0.6,
            "prior_plain": 0.2,
            "prior_refused": 0.4,
            "rule_beside": 0.3,
        },
    }


@pytest.mark.parametrize(
    "text",
    [
        "",
        "version = 1",
        'version = "1"\ndate = "2026-11-30"\n[scope]\npersonal = 0.5\nanswerable = 1.5',
        'version = "1"\ndate = "2026-11-30"\n[scope]\nanswerable = 0.5\npersonal = 0.5\nother = 1',
        "[",
    ],
)
def test_a_file_that_is_not_valid_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "thresholds.toml"
    path.write_text(text, "utf-8")
    with pytest.raises(RegisterError, match="Restaure"):
        load_thresholds(path)
