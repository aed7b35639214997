"""What seal and record add to an answer, printed and never asserted. Run with ``-s`` to read the figures."""

import time

import numpy as np
import pytest

from core.evaluation.benchmark import load_benchmark
from core.services import Services

pytestmark = [pytest.mark.benchmark, pytest.mark.corpus]


def test_added_cost(services: Services) -> None:
    """Median and p95 of the seal (signals, rules, state) and of the record (redaction, versions, spool, sync)."""
    questions = [item.question for item in load_benchmark()][:40]
    services.answer_and_record(questions[0], "api")
    seal, record, levels = [], [], dict.fromkeys(("high", "medium", "low"), 0)
    for question in questions:
        answer = services.engine.ask(question)
        started = time.perf_counter()
        receipt = services.record(question, answer, channel="api", latency_ms=1.0)
        record.append(1000 * (time.perf_counter() - started))
        seal.append(answer.timings["seal_ms"])
        assert receipt.acknowledged and answer.seal is not None
        levels[str(answer.seal.level)] += 1
    both = np.array(seal) + np.array(record)
    for name, values in (("seal", seal), ("record", record), ("both", both)):
        print(f"\n{name:7} median {np.median(values):6.2f} ms   p95 {np.percentile(values, 95):6.2f} ms", end="")
    print(f"\nseals of {len(questions)} questions: {levels}")
