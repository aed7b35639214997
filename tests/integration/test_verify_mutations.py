"""True answers and their mutations, over the real fragments: what is caught, what is flagged without cause.

Three kinds of true answers: the product's own (quotations), the same without quotation marks (as a model that copies),
and answers in other words, written by hand from fragments (tests/data/true_answers.json: ids of fragments, not their text).
"""

import json
import random
import re
import statistics
import time
from pathlib import Path

import pytest

from core.answering.claims import read_claims
from core.answering.verify import passage_of, verify
from core.config import PROJECT_ROOT
from core.services import Services
from core.thresholds import load_thresholds
from tests.mutations import TrueAnswer, mutations

pytestmark = pytest.mark.corpus

TRUE_ANSWERS = Path(__file__).parents[1] / "data" / "true_answers.json"
EACH = 100


@pytest.fixture(scope="module")
def kinds(services: Services) -> dict[str, list[TrueAnswer]]:
    fragments = {fragment.id: fragment for fragment in services.search().snapshot.fragments}
    paraphrased = [
        TrueAnswer(row["text"], {n: passage_of(fragments[i]) for n, i in enumerate(row["fragments"], start=1)})
        for row in json.loads(TRUE_ANSWERS.read_text("utf-8"))
    ]
    lines = (PROJECT_ROOT / "data" / "expected_questions.jsonl").read_text("utf-8").splitlines()
    quoted: list[TrueAnswer] = []
    copied: list[TrueAnswer] = []
    for line in random.Random(7).sample(lines, EACH + 40):
        answer = services.engine.ask(json.loads(line)["questions"][0])
        if not answer.grounded or len(quoted) == EACH:
            continue
        passages = {n: passage_of(fragments[s.fragment_id]) for n, s in enumerate(answer.sources, start=1)}
        own = tuple(part for part in answer.text.split("\n") if part and not re.search(r"\[\d+\]$", part))
        quoted.append(TrueAnswer(answer.text, passages, own))
        bare = [re.sub(r"«(.*)»( \[\d+\])$", r"\1\2", part) for part in answer.text.split("\n")]
        # A quotation of several sentences has one mark: without its quotation marks only its last sentence would cite.
        single = [part for part in bare if part not in own and "| " not in part and len(read_claims(part)) <= 1]
        copied.append(TrueAnswer("\n".join(single), passages))
    return {"extractive": quoted, "copied": copied, "paraphrased": paraphrased}


def flagged(answer: TrueAnswer, text: str) -> bool:
    found = verify(text, answer.passages, thresholds=load_thresholds().verify, own=answer.own)
    return any(not claim.supported for claim in found.claims)


def test_there_are_answers_of_each_kind(kinds: dict[str, list[TrueAnswer]]) -> None:
    assert len(kinds["paraphrased"]) >= 150 and len(kinds["extractive"]) >= 90 and len(kinds["copied"]) >= 90


def test_true_answers_are_not_flagged(kinds: dict[str, list[TrueAnswer]], capsys: pytest.CaptureFixture[str]) -> None:
    wrong = {kind: sum(flagged(a, a.text) for a in answers) for kind, answers in kinds.items()}
    total = sum(len(answers) for answers in kinds.values())
    with capsys.disabled():
        for kind, answers in kinds.items():
            print(f"\nunchanged, {kind}: {wrong[kind]} of {len(answers)} flagged", end="")
    assert sum(wrong.values()) <= 0.02 * total


@pytest.mark.parametrize(("how", "least"), [("absent", 0.99), ("other", 0.90), ("swapped", 0.90)])
def test_mutations_are_caught(
    kinds: dict[str, list[TrueAnswer]], how: str, least: float, capsys: pytest.CaptureFixture[str]
) -> None:
    caught: list[bool] = []
    for kind, answers in kinds.items():
        made = list(mutations(answers, how, random.Random(3)))
        sample = random.Random(5).sample(made, min(EACH, len(made)))
        found = [flagged(answer, text) for answer, text in sample]
        caught += found
        with capsys.disabled():
            print(f"\n{how}, {kind}: {sum(found)} of {len(found)} caught ({sum(found) / len(found):.3f})", end="")
    with capsys.disabled():
        print(f"\n{how}, all: {sum(caught)} of {len(caught)} ({sum(caught) / len(caught):.3f})", end="")
    assert sum(caught) >= least * len(caught)


def test_time(kinds: dict[str, list[TrueAnswer]], capsys: pytest.CaptureFixture[str]) -> None:
    """Printed, never asserted."""
    for kind, answers in kinds.items():
        times = []
        for answer in answers:
            start = time.perf_counter()
            flagged(answer, answer.text)
            times.append(1000 * (time.perf_counter() - start))
        times.sort()
        with capsys.disabled():
            print(
                f"\n{kind}: median {statistics.median(times):.1f} ms, p95 {times[int(0.95 * len(times))]:.1f} ms",
                end="",
            )
