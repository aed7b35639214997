"""The measures' causes of misses and the baseline's remembered vectors."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from core.evaluation.benchmark import Gold, Item
from core.evaluation.llama_default import RememberedVectors
from core.evaluation.misses import misses
from core.evaluation.run import Row, measures
from core.models import Category, Fragment
from tests.conftest import FakeEmbedder


def fragment(text: str, doc_id: str = "d") -> Fragment:
    return Fragment(text, text, doc_id, "Título", "IVA", "manual", "s", ("s",), 1, 1, "", "2026-01-01")


def row(
    found: list[Fragment],
    *,
    category: Category = Category.DIRECT,
    decided: Category = Category.DIRECT,
    grounded: bool = True,
    candidate: bool = True,
) -> Row:
    answerable = category in (Category.DIRECT, Category.PERSONAL_CASE)
    gold = (Gold("d", re.compile("la regla")),) if answerable else ()
    item = Item("1", "¿?", category, "plain", gold, ())
    return Row(item, tuple(found), 0.5, 0.5, decided, grounded, (), {}, candidate=candidate)


WRONG, OTHER, RIGHT = fragment("nada"), fragment("nada", "e"), fragment("la regla")


@pytest.mark.parametrize(
    ("found", "candidate", "cause"),
    [
        ([RIGHT], True, ""),
        ([WRONG] * 4 + [RIGHT], True, ""),
        ([WRONG] * 5 + [RIGHT], True, "candidata, del 6 al 8; el primero es de su documento · plain"),
        ([OTHER] * 9 + [RIGHT], True, "candidata, después del 8; el primero es de otro documento · plain"),
        ([OTHER], False, "ningún candidato la contiene · plain"),
    ],
)
def test_causes_of_misses(found: list[Fragment], candidate: bool, cause: str) -> None:
    assert misses([row(found, candidate=candidate)])["retrieval"] == ({cause: 1} if cause else {})


def test_wrong_decisions_are_counted_by_their_way() -> None:
    rows = [
        row([RIGHT], decided=Category.NO_ANSWER, grounded=False),
        row([WRONG], category=Category.OUT_OF_SCOPE),
        row([WRONG], category=Category.OUT_OF_SCOPE),
        row([], category=Category.NO_ANSWER, decided=Category.NO_ANSWER, grounded=False),
    ]
    counts = misses(rows)
    assert counts["abstention"] == {
        "respondida sin deber (out_of_scope) · plain": 2,
        "callada con la evidencia encontrada · plain": 1,
    }
    assert counts["category"] == {"out_of_scope → direct · plain": 2, "direct → no_answer · plain": 1}


def test_calibration_error_beside_what_chance_alone_gives() -> None:
    rng = np.random.default_rng(1)
    drawn = [float(p) for p in rng.uniform(0.3, 0.7, 100)]
    rows = [replace(row([RIGHT if rng.random() < p else WRONG]), probability=p) for p in drawn]
    calibrated = measures(rows)["reranker"]
    assert 0.05 < calibrated["ece_if_calibrated"] < 0.2
    assert abs(calibrated["ece"] - calibrated["ece_if_calibrated"]) < 0.07
    sure = measures([replace(r, probability=0.999) for r in rows])["reranker"]
    assert sure["ece_if_calibrated"] < 0.01 and sure["ece"] > 0.3 and sure["brier"] > calibrated["brier"]


def test_the_baseline_computes_a_text_once(tmp_path: Path) -> None:
    first = RememberedVectors(FakeEmbedder(), tmp_path)
    vectors = first.of(["uno", "dos"])

    class Refuses(FakeEmbedder):
        def embed_passages(self, texts, *, progress=None):
            raise AssertionError(f"computed again: {texts}")

    again = RememberedVectors(Refuses(), tmp_path).of(["dos", "uno"])
    assert (again * vectors[::-1]).sum(axis=1) == pytest.approx(np.ones(2), abs=1e-3)
    with pytest.raises(AssertionError, match="tres"):
        RememberedVectors(Refuses(), tmp_path).of(["tres"])
