"""Speed, printed and never asserted: these machines are small and noisy. Run with ``-s`` to read the figures."""

import resource
import time

import numpy as np
import pytest

from core.config import Settings
from core.evaluation.benchmark import load_benchmark
from core.services import Services

pytestmark = [pytest.mark.benchmark, pytest.mark.corpus]


def test_asking(services: Services) -> None:
    """p50 and p95 of asking, and each stage's share, over 50 questions."""
    questions = [item.question for item in load_benchmark()][:50]
    services.engine.ask(questions[0])
    stages: dict[str, list[float]] = {}
    whole = []
    for question in questions:
        started = time.perf_counter()
        answer = services.engine.ask(question)
        whole.append(1000 * (time.perf_counter() - started))
        for stage, value in answer.timings.items():
            stages.setdefault(stage, []).append(value)
    print(
        f"\nasking, {len(questions)} questions: p50 {np.percentile(whole, 50):.0f} ms, p95 {np.percentile(whole, 95):.0f} ms"
    )
    total = sum(whole)
    for stage, values in sorted(stages.items(), key=lambda pair: -sum(pair[1])):
        print(
            f"  {stage:12} p50 {np.percentile(values, 50):7.1f} p95 {np.percentile(values, 95):7.1f}  share {sum(values) / total:5.1%}"
        )
    search = stages["search_ms"]
    print(f"  search with rerank: p95 {np.percentile(search, 95):.0f} ms")
    assert answer.timings


def test_embedding_formats(project_settings: Settings, services: Services) -> None:
    """Tokens per second in float32 and bfloat16, as a ratio in one run."""
    from core.retrieval.embedder import build_embedder, has_bfloat16

    texts = [f.text for f in services.search().snapshot.fragments[1000:1060]]
    rates = {}
    for dtype in ("float32", "bfloat16") if has_bfloat16() else ("float32",):
        embedder = build_embedder(project_settings.model_copy(update={"embed_dtype": dtype}))
        embedder.embed_passages(texts[:4])
        tokens = sum(embedder.count_tokens_batch(texts))
        started = time.perf_counter()
        embedder.embed_passages(texts)
        rates[dtype] = tokens / (time.perf_counter() - started)
    print("\nembedding: " + ", ".join(f"{name} {rate:.0f} tokens/s" for name, rate in rates.items()))
    if len(rates) == 2:
        print(f"  bfloat16 is {rates['bfloat16'] / rates['float32']:.2f} times as fast")
    print(f"  peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20:.2f} GiB")
    assert rates
