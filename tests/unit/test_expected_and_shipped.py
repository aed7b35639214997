"""Expected questions find their fragment; shipped vectors are used where text and model match."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from core.models import Fragment
from core.retrieval.expected import ExpectedQuestions, match_to_fragments
from core.retrieval.shipped import embed_known, load_shipped, save_shipped


def fragment(text: str, *, section: str, page: int | None, ordinal: int) -> Fragment:
    return Fragment(
        f"{ordinal}", text, "d", "T", "IVA", "manual", section, (section,), page, page, "", "", ordinal=ordinal
    )


PLACE = ExpectedQuestions("d", 2, "Plazos", "El plazo es de un mes.", ("¿qué plazo hay?",), ("cuanto tiempo tengo",))
RULE = "… el plazo es de un  mes …"
FRAGMENTS = (
    fragment(RULE, section="Otra", page=1, ordinal=0),
    fragment(RULE, section="Plazos", page=1, ordinal=1),
    fragment(RULE, section="Otra", page=2, ordinal=2),
    fragment(RULE, section="Plazos", page=2, ordinal=3),
    fragment(RULE, section="Plazos", page=2, ordinal=4),
)


@pytest.mark.parametrize(
    ("among", "chosen"), [((0, 1, 2, 3, 4), 3), ((0, 1, 2), 2), ((0, 1), 1), ((0,), 0), ((4, 3), 3)]
)
def test_page_comes_before_section_and_section_before_order(among: tuple[int, ...], chosen: int) -> None:
    pairs, lost = match_to_fragments([PLACE], [FRAGMENTS[i] for i in among])
    assert lost == 0
    assert pairs == [(FRAGMENTS[chosen], question) for question in PLACE.all]


def test_a_place_without_its_fragment_is_counted() -> None:
    assert match_to_fragments([replace(PLACE, anchor="otra cosa")], FRAGMENTS) == ([], 1)


def unit(rows: int) -> np.ndarray:
    vectors = np.random.default_rng(1).normal(size=(rows, 8)).astype(np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def test_shipped_vectors_spare_the_work_and_are_given_up_where_they_do_not_match(tmp_path: Path) -> None:
    texts, vectors = ["uno", "dos", "tres"], unit(3)
    true = dict(zip(texts, vectors, strict=True))
    save_shipped("passages", texts[:2], vectors[:2], "model", tmp_path)
    assert load_shipped("passages", "another", tmp_path) is None
    shipped = load_shipped("passages", "model", tmp_path)
    asked: list[str] = []

    def embed(some):
        asked.extend(some)
        return np.array([true[text] for text in some])

    assert (embed_known(texts, shipped, embed) * vectors).sum(axis=1) == pytest.approx(np.ones(3), abs=1e-3)
    assert asked.count("tres") == 1 and len(asked) == 2  # the unknown one, and one of the others as a sample

    other = embed_known(texts, shipped, lambda some: -np.array([true[text] for text in some]))
    assert np.allclose(other, -vectors)
