"""The lexical side, and the fusion of rankings."""

from pathlib import Path

import pytest

from core.retrieval.fusion import reciprocal_rank_fusion
from core.retrieval.terms import TermStatistics, coverage, fold, save_terms, stem, stems


@pytest.mark.parametrize(("a", "b"), [("factura", "facturas"), ("deducible", "deducibles"), ("RETENCIÓN", "retencion")])
def test_forms_of_a_word_share_a_stem(a: str, b: str) -> None:
    assert fold(stem(a)) == stem(b) or stem(a) == stem(b)


def test_stems_keep_figures_and_drop_function_words() -> None:
    assert stems("¿Cuándo se presenta el modelo 130 del 3.er trimestre?") == [
        stem("presenta"),
        stem("modelo"),
        "130",
        stem("3.er"),
        stem("trimestre"),
    ]


def test_statistics_sum_over_documents_and_weigh_rare_words_more(tmp_path: Path) -> None:
    save_terms(tmp_path, "a", ["el modelo 130", "el modelo 303"])
    save_terms(tmp_path, "b", ["el modelo 347"])
    terms = TermStatistics.load(tmp_path, ["a", "b", "missing"])
    assert terms.total == 3 and terms.known("130") and not terms.known("999")
    assert terms.weight("130") > terms.weight(stem("modelo")) > 0
    assert terms.weight("999") > terms.weight("130")


def test_coverage_is_a_share() -> None:
    terms = TermStatistics({}, 10)
    wanted = stems("plazo del modelo 130")
    assert coverage(wanted, "El plazo del modelo 130 acaba el 20", terms) == pytest.approx(1.0)
    assert coverage(wanted, "nada de eso", terms) == 0.0
    assert 0 < coverage(wanted, "el modelo 303", terms) < 1
    assert coverage([], "texto", terms) == 0.0


def test_reciprocal_rank_fusion_by_hand() -> None:
    scores = reciprocal_rank_fusion([["a", "b"], ["b", "c"]], k=60)
    assert scores == pytest.approx({"a": 1 / 61, "b": 1 / 62 + 1 / 61, "c": 1 / 62})
    assert reciprocal_rank_fusion([[], []]) == {}
