"""A process that keeps interactions and says which were acknowledged: ``python -m tests.record_writer URL FOLDER NAME N``.

Prints one id a line, each after its acknowledgement. With ``--leave`` it ends without closing the recorder.
"""

import os
import sys
import time
from pathlib import Path

from core.answering.recording import interaction_of
from core.models import Answer, Category, Mode, SealMode
from core.records.database import Database
from core.records.interactions import AnswerVersions, Interaction
from core.records.recorder import Recorder
from core.seal.rules import seal
from core.seal.signals import measure
from core.thresholds import load_thresholds


def made(question: str) -> Interaction:
    text = "No he encontrado información."
    signals = measure(text, grounded=False, relevances=[0.1], coverage=0.0, supporting=0)
    answer = Answer(
        text, False, Category.NO_ANSWER, Mode.EXTRACTIVE, seal=seal(signals, load_thresholds(), SealMode.DETERMINISTIC)
    )
    versions = AnswerVersions("none", "m", "c")
    return interaction_of(question, answer, channel="api", versions=versions, latency_ms=1.0)


def main() -> None:
    url, folder, name, number = sys.argv[1:5]
    recorder = Recorder(lambda: Database(url), Path(folder), retention_days=180, wait_s=30)
    for n in range(int(number)):
        receipt = recorder.record(made(f"{name} {n}"))
        if receipt.acknowledged:
            os.write(1, f"{receipt.id}\n".encode())
        time.sleep(0.001)
    if "--leave" in sys.argv:
        os._exit(0)
    recorder.close(30)


if __name__ == "__main__":
    main()
