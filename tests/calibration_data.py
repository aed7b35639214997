"""A made-up reference set with its panel, and many made-up interactions, for the tests of the calibration."""

import json
from datetime import date, timedelta
from pathlib import Path
from random import Random

from core.calibration.reference import JudgeInfo, PanelScores, ReferenceCase, ReferenceSet, ReferenceSource
from core.models import Category, Level, Mode, SealMode
from core.records.database import Database
from core.records.schema import interactions

RERANK = {Level.HIGH: 0.8, Level.MEDIUM: 0.5, Level.LOW: 0.2}
VERSIONS = {"prompt": "none", "model": "m1", "corpus": "c1", "thresholds": "1"}


def reference_case(number: int, *, part: str = "report", turned: bool = False) -> ReferenceCase:
    """The n-th case: high is faithful, low is not, medium is every other time; ``turned`` says the contrary."""
    level = list(Level)[number % 3]
    faithful = {Level.HIGH: 1.0, Level.MEDIUM: float(number % 2), Level.LOW: 0.0}[level]
    source = ReferenceSource(
        fragment_id=f"f{number}", doc_id="iva_2025" if number % 2 else "renta_2025_1", title="Manual práctico",
        page=10 + number, section="Capítulo › Apartado", passage=f"El tipo número {number} es del 21 por ciento.",
        relevance=RERANK[level],
    )  # fmt: skip
    return ReferenceCase(
        id=f"c{number:03}", question=f"¿Cuál es el tipo número {number}?", answer=f"«El tipo {number} es del 21 %.» [1]",
        category=Category.PERSONAL_CASE if number % 4 == 0 else Category.DIRECT, mode=Mode.EXTRACTIVE, sources=(source,),
        level=level, seal_mode=SealMode.DETERMINISTIC, signals={"rerank": RERANK[level], "coverage": 1.0},
        versions=VERSIONS, part=part, facts=(("21",),), faithfulness=1 - faithful if turned else faithful,
        reason="El pasaje lo dice, o no lo dice.", decides=f"Manual, página {10 + number}",
        reviewer="Equipo", reviewer_kind="maintainer",
    )  # fmt: skip


def made_reference(n: int = 60, *, turned: bool = False, version: str = "prueba") -> ReferenceSet:
    """``n`` cases in ``report`` and six in ``tuning``."""
    cases = [reference_case(i, turned=turned) for i in range(n)]
    cases += [reference_case(n + i, part="tuning") for i in range(6 if n else 0)]
    return ReferenceSet(
        version=version, date="2026-11-30", sampling="Casos inventados para las pruebas.", cases=tuple(cases),
        abstentions={"report_right": 5, "report_wrong": 2},
    )  # fmt: skip


def made_panel(of: ReferenceSet, *, apart: int = 4, contrary: bool = False) -> PanelScores:
    """Judges who agree with the verdicts (or, ``contrary``, with the opposite); in ``apart`` cases one differs."""
    scores = {}
    for index, case in enumerate(of.cases):
        value = 1 - case.faithfulness if contrary else case.faithfulness
        scores[case.id] = {"a": value, "b": value, "c": 1 - value if index < apart else value}
    judges = tuple(JudgeInfo(name=name, kind=f"clase {name}", version=1) for name in "abc")
    return PanelScores(judges=judges, reference_version=of.version, scores=scores)


def write_reference(folder: Path, found: ReferenceSet, panel: PanelScores | None) -> tuple[Path, Path]:
    """Both files in ``folder``; no panel file for None."""
    reference, scores = folder / "reference_set.json", folder / "panel_scores.json"
    reference.write_text(json.dumps(found.model_dump(mode="json"), ensure_ascii=False), "utf-8")
    if panel is not None:
        scores.write_text(json.dumps(panel.model_dump(mode="json"), ensure_ascii=False), "utf-8")
    return reference, scores


def add_interactions(database: Database, n: int, *, until: date, days: int = 60, seed: int = 7) -> list[str]:
    """``n`` interactions spread over the ``days`` days up to ``until``; their ids."""
    random = Random(seed)
    rows = []
    for i in range(n):
        day = until - timedelta(days=i % days)
        level = random.choices(("high", "medium", "low"), (3, 4, 3))[0]
        rows.append(
            {
                "id": f"{i:032x}", "created_at": f"{day.isoformat()}T10:{i % 60:02}:00.000Z", "day": day.isoformat(),
                "channel": "page", "private_session": False, "session_ref": "", "question": f"¿Pregunta {i}?",
                "category": "direct" if i % 5 else "no_answer", "mode": "extractive", "grounded": bool(i % 5),
                "level": level, "seal_mode": "deterministic", "signals": {"rerank": 0.5}, "prompt_version": "none",
                "sources": [{"fragment_id": "f1", "doc_id": "iva_2025" if i % 2 else "ley-37-1992", "relevance": 0.5}],
                "model": "m1", "corpus_version": "c1", "thresholds_version": "1", "latency_ms": 200.0,
                "answer": "«El tipo es del 21 %.» [1]", "passages": ["El tipo es del 21 %."],
            }
        )  # fmt: skip
    with database.writing() as connection:
        for start in range(0, n, 1000):
            connection.execute(interactions.insert(), rows[start : start + 1000])
    return [row["id"] for row in rows]
