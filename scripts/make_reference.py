"""Draw the answers of the reference set, give them to the labellers blind, and join the labels.

The rule, fixed before any label (`SAMPLING` is its text as the set ships it): the population is every grounded answer of
the product to a question of ``data/eval/benchmark.json``; the dev half is the part ``tuning``, the test half ``report``.
Of each level of each part up to N answers are drawn by a fixed seed; a level with fewer gives all it has. N is the least
that gives `MINIMUM` cases in all and `MINIMUM_REPORT` in ``report``. Abstentions are counted apart, right or wrong.

    python scripts/make_reference.py draw                    # data/eval/reference_draft.json and a blind file
    python scripts/make_reference.py join LABELS.jsonl ...   # data/eval/reference_set.json

A label is a line ``{"id", "faithfulness": 0.0 | 1.0, "reason", "decides"}``, optionally with ``"reviewer"``.
"""

import argparse
import json
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from core.calibration.reference import REFERENCE_PATH, ReferenceSet
from core.config import PROJECT_ROOT, Settings
from core.evaluation.benchmark import BENCHMARK_PATH, Item, load_benchmark
from core.models import Answer, Level
from core.seal.explain import seal_json
from core.services import Services, build_services

DRAFT_PATH = PROJECT_ROOT / "data" / "eval" / "reference_draft.json"
SEED = 20261130
MINIMUM, MINIMUM_REPORT = 140, 70
PARTS = {"dev": "tuning", "test": "report"}
SAMPLING = (
    "Población: todas las respuestas con fuentes que el producto da a las preguntas de benchmark.json (mitad dev: parte "
    "«tuning»; mitad test: parte «report»). De cada nivel de sello de cada parte se sortean hasta {n} con la semilla "
    "{seed}; el nivel que tiene menos las da todas. {n} es el menor número que da al menos {minimum} casos y {report} en "
    "«report». Las abstenciones se cuentan aparte. Regla fijada antes de dar ningún veredicto; los veredictos se dan sin "
    "ver sello, señales ni relevancias."
)


def drawn(rows: Sequence[dict[str, Any]], *, minimum: int, minimum_report: int) -> tuple[list[dict[str, Any]], int]:
    """The cases drawn from the population ``rows`` and N; in an order that says nothing of level or part."""
    strata: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        strata[row["part"], row["level"]].append(row)
    for key in sorted(strata):  # one shuffle a stratum: a larger N keeps what a smaller one drew
        strata[key].sort(key=lambda row: row["id"])
        Random(f"{SEED}:{key}").shuffle(strata[key])
    largest = max((len(stratum) for stratum in strata.values()), default=0)
    chosen: list[dict[str, Any]] = []
    n = 0
    for n in range(1, largest + 1):
        chosen = [row for key in sorted(strata) for row in strata[key][:n]]
        if len(chosen) >= minimum and sum(row["part"] == "report" for row in chosen) >= minimum_report:
            break
    Random(SEED).shuffle(chosen)
    return chosen, n


def case_of(item: Item, answer: Answer, versions: Mapping[str, str]) -> dict[str, Any]:
    """A reference case but for its verdict."""
    assert answer.seal is not None
    seal = seal_json(answer.seal)
    return {
        "id": item.id,
        "question": item.question,
        "answer": answer.text,
        "category": str(answer.category),
        "mode": str(answer.mode),
        "sources": [
            {
                "fragment_id": s.fragment_id, "doc_id": s.doc_id, "title": s.title, "page": s.page,
                "section": s.section, "passage": s.passage, "relevance": s.relevance,
            }
            for s in answer.sources
        ],
        "level": str(answer.seal.level),
        "seal_mode": str(answer.seal.mode),
        "signals": seal["signals"],
        "versions": dict(versions),
        "part": PARTS[item.split],
        "facts": [[alternative.pattern for alternative in fact] for fact in item.facts] if item.answerable else [],
    }  # fmt: skip


def blind(case: Mapping[str, Any]) -> dict[str, Any]:
    """What a labeller sees: no seal, no signals, no relevance, no part, no expected facts."""
    shown = ("doc_id", "title", "page", "section", "passage")
    return {
        "id": case["id"],
        "question": case["question"],
        "answer": case["answer"],
        "sources": [
            {"number": n, **{key: s[key] for key in shown}} for n, s in enumerate(case["sources"], start=1)
        ],
    }  # fmt: skip


def answered(services: Services, items: Iterable[Item]) -> tuple[list[dict[str, Any]], dict[str, int]]:
    """All grounded answers as cases, and the abstentions: right where the corpus has no answer, else wrong."""
    rows: list[dict[str, Any]] = []
    abstentions: Counter[str] = Counter({f"{part}_{kind}": 0 for part in PARTS.values() for kind in ("right", "wrong")})
    present = services.versions()
    versions = {
        "prompt": present.prompt, "model": present.model, "corpus": present.corpus,
        "thresholds": services.thresholds.version,
    }  # fmt: skip
    for item in items:
        answer = services.engine.ask(item.question)
        if answer.grounded:
            rows.append(case_of(item, answer, versions))
        else:
            abstentions[f"{PARTS[item.split]}_{'wrong' if item.answerable else 'right'}"] += 1
    return rows, dict(abstentions)


def draw(args: argparse.Namespace) -> None:
    """Ask every question, draw, and write the draft and the blind file."""
    settings = Settings()
    items = [item for item in load_benchmark(BENCHMARK_PATH) if item.split in PARTS]
    rows, abstentions = answered(build_services(settings), items)
    chosen, n = drawn(rows, minimum=args.minimum, minimum_report=args.minimum_report)
    population = Counter(f"{row['part']}_{row['level']}" for row in rows)
    draft = {
        "version": args.version,
        "date": datetime.now(UTC).date().isoformat(),
        "sampling": SAMPLING.format(n=n, seed=SEED, minimum=args.minimum, report=args.minimum_report),
        "population": dict(sorted(population.items())),
        "abstentions": abstentions,
        "cases": chosen,
    }
    _write(args.draft, draft)
    blind_path = args.blind or settings.home / "reference" / "blind.json"
    _write(blind_path, [blind(case) for case in chosen])
    counts = Counter((case["part"], case["level"]) for case in chosen)
    print(f"Población: {dict(sorted(population.items()))}; abstenciones: {abstentions}; N = {n}")
    for part in PARTS.values():
        print(part, {str(level): counts[part, str(level)] for level in Level})
    print(f"{len(chosen)} casos en {args.draft.name}; para etiquetar: {blind_path}")


def join(args: argparse.Namespace) -> None:
    """Add the labels to the draft's cases and write the checked reference set.

    Exits with the list of what is wrong where a case has no label, a label no case, or two labels differ in any field.
    """
    draft = json.loads(args.draft.read_text("utf-8"))
    labels: dict[str, dict[str, Any]] = {}
    problems: list[str] = []
    for path in args.labels:
        for line in path.read_text("utf-8").splitlines():
            if not line.strip():
                continue
            label = json.loads(line)
            if label["id"] in labels and labels[label["id"]] != label:
                problems.append(f"{label['id']}: dos etiquetas distintas")
            labels[label["id"]] = label
    known = {case["id"] for case in draft["cases"]}
    problems += [f"{i}: sin etiqueta" for i in sorted(known - set(labels))]
    problems += [f"{i}: no está en el sorteo" for i in sorted(set(labels) - known)]
    if problems:
        raise SystemExit("No se escribe nada:\n" + "\n".join(problems))
    cases = [
        {
            **case,
            **{key: labels[case["id"]][key] for key in ("faithfulness", "reason", "decides")},
            "reviewer": labels[case["id"]].get("reviewer", args.reviewer),
            "reviewer_kind": "maintainer",
        }
        for case in draft["cases"]
    ]
    found = ReferenceSet.model_validate({**draft, "cases": cases})
    _write(args.output, found.model_dump(mode="json"))
    faithful = sum(case.faithfulness for case in found.cases)
    print(f"{len(found.cases)} casos, {faithful:.0f} fieles, en {args.output}")


def _write(path: Path, data: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(data, ensure_ascii=False, indent=1) + "\n", "utf-8")


def main() -> None:
    """Run one of the two orders."""
    parser = argparse.ArgumentParser(description="El conjunto de referencia: sorteo y veredictos.")
    orders = parser.add_subparsers(required=True)
    first = orders.add_parser("draw", help="preguntar, sortear y escribir el borrador y el archivo ciego")
    first.add_argument("--minimum", type=int, default=MINIMUM)
    first.add_argument("--minimum-report", type=int, default=MINIMUM_REPORT)
    first.add_argument("--version", default="1")
    first.add_argument("--blind", type=Path, help="dónde escribir el archivo ciego (por defecto, en ASESORIA_HOME)")
    first.set_defaults(run=draw)
    second = orders.add_parser("join", help="unir las etiquetas al borrador")
    second.add_argument("labels", type=Path, nargs="+", metavar="LABELS")
    second.add_argument("--reviewer", default="AsesorIA (mantenimiento)")
    second.add_argument("--output", type=Path, default=REFERENCE_PATH)
    second.set_defaults(run=join)
    for order in (first, second):
        order.add_argument("--draft", type=Path, default=DRAFT_PATH)
    args = parser.parse_args()
    args.run(args)


if __name__ == "__main__":
    main()
