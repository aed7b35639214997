"""The comprobador on the reviewed set: right answers above wrong ones, type by type, in both halves."""

import json
from collections import Counter, defaultdict
from functools import lru_cache
from typing import Any

import pytest

from core.config import PROJECT_ROOT
from core.models import Answer, Category, Fragment, Mode, Source
from core.qa.checker import Comprobador
from core.qa.evidence import is_quoted
from core.qa.models import BatteryQuestion, Judgement
from core.qa.serial import from_json
from core.qa.verdict import weighted
from core.thresholds import load_thresholds

PATH = PROJECT_ROOT / "data" / "eval" / "judge_set.json"
MINIMUM = 0.9


@lru_cache(maxsize=1)
def judged() -> tuple[tuple[dict[str, Any], Answer, Judgement], ...]:
    data = json.loads(PATH.read_text("utf-8"))
    fragments = {key: from_json(Fragment, json.dumps(f)) for key, f in data["fragments"].items()}
    judge = Comprobador(fragments, load_thresholds())
    found = []
    for item in data["items"]:
        question = from_json(BatteryQuestion, json.dumps(data["questions"][item["question"]]))
        answer = Answer(
            item["text"],
            bool(item["sources"]),
            Category(item["category"]),
            Mode(item["mode"]),
            tuple(source(fragments[s["fragment_id"]], s["passage"]) for s in item["sources"]),
        )
        found.append((item, answer, judge.judge(question, answer, profile=None)))
    return tuple(found)


def source(fragment: Fragment, passage: str) -> Source:
    return Source(
        fragment_id=fragment.id,
        doc_id=fragment.doc_id,
        title=fragment.title,
        page=fragment.page,
        section_path=fragment.section_path,
        passage=passage,
        relevance=0.9,
        source_url=fragment.source_url,
        source_scope=fragment.source_scope,
    )


def auroc(right: list[float], wrong: list[float]) -> float:
    """Share of pairs in which the right answer scores more; ties count half."""
    return sum((a > b) + 0.5 * (a == b) for a in right for b in wrong) / (len(right) * len(wrong))


def pools(half: str = "") -> dict[tuple[str, str], list[float]]:
    found: dict[tuple[str, str], list[float]] = defaultdict(list)
    for item, _, judgement in judged():
        if half in ("", item["half"]):
            found[item["id"][0], item["label"]].append(weighted(judgement.scores))
    return found


def test_the_set_is_large_and_varied() -> None:
    items = [item for item, _, _ in judged()]
    count = Counter((i["id"][0], i["label"]) for i in items)
    assert len(items) >= 80 and all(count[t, label] >= 10 for t in "ABCD" for label in ("right", "wrong"))
    kinds = {i["kind"] for i in items if i["label"] == "wrong"}
    assert kinds >= {"hallucinated_figure", "confirmed_false", "invented_topic", "generic", "wrong_voice"}
    assert len({i["document"] for i in items}) == 4 and all(i["reason"] for i in items)
    assert {i["half"] for i in items} == {"tuning", "held_out"}


@pytest.mark.parametrize("kind", "ABCD")
@pytest.mark.parametrize("half", ["tuning", "held_out", ""])
def test_right_answers_score_more_than_wrong_ones(kind: str, half: str) -> None:
    scores = pools(half)
    value = auroc(scores[kind, "right"], scores[kind, "wrong"])
    print(f"type {kind}, {half or 'all'}: AUROC {value:.3f} on {len(scores[kind, 'right'])} right")
    assert value >= MINIMUM


def test_all_evidence_is_in_the_answers() -> None:
    for item, answer, judgement in judged():
        quotes = [s.evidence for s in judgement.scores if s.evidence] + list(judgement.hallucinations)
        assert [q for q in quotes if not is_quoted(q, answer.text)] == [], item["id"]
        assert any(s.evidence for s in judgement.scores), item["id"]
