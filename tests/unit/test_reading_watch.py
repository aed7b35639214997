"""When the reading of a file is given up."""

import threading
import time

import pytest

from core.ingestion.worker import _Watch


def watch(*, limit: float, stall: float) -> tuple[_Watch, threading.Event]:
    killed = threading.Event()
    return _Watch(killed.set, limit=limit, stall=stall), killed


def test_without_news_it_ends_at_the_stall_limit() -> None:
    found, killed = watch(limit=60, stall=0.2)
    assert killed.wait(10) and found.gave_up and found.seconds < 10


def test_without_a_stall_limit_only_the_limit_counts() -> None:
    found, killed = watch(limit=0.3, stall=0)
    found.note(0.5)
    assert killed.wait(10) and found.gave_up


def test_steady_progress_that_ends_in_time_is_let_go_on() -> None:
    found, killed = watch(limit=60, stall=0.3)
    for step in range(10):
        found.note(step / 10)
        time.sleep(0.1)
    assert not killed.is_set()
    found.end()
    assert not killed.wait(0.5) and not found.gave_up


@pytest.mark.parametrize("steps", [3, 1])
def test_progress_too_slow_to_end_in_time_is_given_up(steps: int) -> None:
    found, killed = watch(limit=60, stall=0.5)
    for step in range(steps):
        found.note(step / 100_000)
        time.sleep(0.1)
    assert killed.wait(10) and found.gave_up
