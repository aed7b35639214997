"""How long redaction takes; prints, asserts nothing about time."""

import statistics
import time

import pymupdf
import pytest

from core.config import Settings
from core.models import Block, LoadedDocument
from core.privacy.document import redact_document
from core.privacy.placeholders import Placeholders
from core.privacy.redactor import Redactor

QUESTIONS = (
    "¿Puedo deducirme el IVA de la gasolina si uso el coche para trabajar?",
    "Mi NIF es 12345678Z y mi correo juan@ejemplo.es, ¿qué modelo presento?",
    "¿Qué retención aplico en la factura a María García López, CIF B99999013?",
)


@pytest.mark.benchmark
@pytest.mark.corpus
def test_speed(project_settings: Settings, corpus_dir: object) -> None:
    redactor = Redactor(project_settings)

    def question_ms() -> float:
        times = []
        for _ in range(20):
            for question in QUESTIONS:
                start = time.perf_counter()
                redactor.redact_question(question)
                times.append(1000 * (time.perf_counter() - start))
        return statistics.median(times)

    print(f"\nquestion, patterns alone: {question_ms():.1f} ms")
    start = time.perf_counter()
    redactor.load()
    print(f"engine loaded in {time.perf_counter() - start:.1f} s")
    print(f"question, with the engine: {question_ms():.1f} ms")
    book = pymupdf.open(project_settings.corpus_dir / "Manual_IVA_2025.pdf")
    texts = [book[number].get_text() for number in range(300)]
    blocks = tuple(Block("paragraph", line, page=1) for text in texts for line in text.split("\n"))
    start = time.perf_counter()
    redact_document(LoadedDocument(blocks, {1: ""}), redactor, Placeholders())
    print(f"300 pages of the IVA manual ({sum(map(len, texts))} characters): {time.perf_counter() - start:.1f} s")
