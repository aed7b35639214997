"""The sentences that are marked as the answer of an expected question, and what the choice of sentences makes of them."""

import json
from pathlib import Path

import pytest

from core.answering.sentence_model import NAMES, features, marked_in, read_for
from core.answering.units import units_of
from core.errors import RegisterError
from core.models import Fragment, RetrievedFragment, Scope
from core.retrieval.expected import KnownAnswers, known_answers, load_expected, sentence_key
from core.retrieval.terms import TermStatistics

TEXT = "La factura se conserva cuatro años. El plazo se cuenta desde el fin del ejercicio. El tipo es otro asunto."
FIRST, SECOND, THIRD = (sentence_key(part) for part in (f"{s}." for s in TEXT.rstrip(".").split(". ")))


def write(folder: Path, **changes: object) -> Path:
    line = {
        "doc_id": "doc", "page": 1, "section": "s", "anchor": TEXT[:30], "questions": ["¿cuánto guardo la factura?", "¿y el tipo?"],
        "second": ["¿desde cuándo se cuenta?"], "sentences": [FIRST, SECOND, THIRD], "answers": [[0, 1], None, []],
    }  # fmt: skip
    path = folder / "expected.jsonl"
    path.write_text(json.dumps({**line, **changes}), "utf-8")
    return path


def hit() -> RetrievedFragment:
    fragment = Fragment(
        id="f", text=TEXT, doc_id="doc", title="Manual", tax="IVA", doc_type="manual", section_label="s", section_path=("s",),
        page=1, page_end=1, source_url="https://x.es", retrieved_at="2026-01-01", ordinal=0, kind="text", source_scope=Scope.PUBLIC,
    )  # fmt: skip
    return RetrievedFragment(fragment, relevance=0.8, score=1.0, cosine=0.8)


def test_marks_are_read_by_document_and_question(tmp_path: Path) -> None:
    known = known_answers(load_expected(write(tmp_path))["doc"])
    assert known.of("doc", "¿cuánto guardo la factura?") == (FIRST, SECOND)
    assert known.of("doc", "¿y el tipo?") is None, "nobody has read it"
    assert known.of("doc", "¿desde cuándo se cuenta?") == (), "read: nothing answers"
    assert known.of("otro", "¿cuánto guardo la factura?") is None


def test_a_mark_beyond_the_sentences_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RegisterError, match="línea 1"):
        load_expected(write(tmp_path, answers=[[7]]))


def test_a_key_names_exactly_the_words_read() -> None:
    assert sentence_key("El 30 %, o más.") == sentence_key("el  30 % o más")
    assert sentence_key("El 30 %") != sentence_key("El 31 %")


def test_the_nearest_question_weighs_most_and_an_answerless_one_points_nowhere() -> None:
    known = KnownAnswers({("doc", "a"): (FIRST,), ("doc", "b"): (THIRD,), ("doc", "c"): ()})
    marked = marked_in({"f": [("b", 0.5), ("a", 0.9), ("c", 0.7), ("unread", 0.95)]}, {"f": "doc"}, known)["f"]
    assert [each.sentences for each in marked] == [(FIRST,), (), (THIRD,)]
    assert marked[0].share > 0.9 and sum(each.share for each in marked) == pytest.approx(1.0)


def test_a_marked_sentence_shows_in_its_features_alone() -> None:
    known = KnownAnswers({("doc", "a"): (SECOND,)})
    found = [hit()]
    reading = read_for("¿desde cuándo?", found, {"f": [("a", 0.9)]}, TermStatistics({}, 10), known)
    rows = [
        dict(zip(NAMES, features(reading, unit, found[0], 0), strict=True)) for unit in units_of([found[0].fragment])
    ]
    assert [row["marked"] for row in rows] == [0.0, 1.0, 0.0]
    assert [row["marked_nearest"] for row in rows] == [0.0, 1.0, 0.0]
    assert [row["unmarked"] for row in rows] == [1.0, 0.0, 1.0] and not any(row["unread"] for row in rows)
    assert rows[1]["marked_gap"] == 0.0 > rows[0]["marked_gap"]
