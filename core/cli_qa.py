"""``python -m core qa run | report | compare``."""

import argparse
import importlib
import json
import sys
from typing import TYPE_CHECKING, Any

from core.config import Settings
from core.errors import AsesoriaError
from core.qa.models import Battery, BookType, GivenAnswer, Report
from core.qa.run import Judge, RunProgress, estimate_s, run_battery
from core.qa.serial import to_data
from core.qa.store import SqlRunStore
from core.records.database import records_folder

if TYPE_CHECKING:
    from core.services import Services

EXIT_CODES = {"approve": 0, "human_review": 3, "reject": 4}


def add_qa(commands: Any) -> None:
    """Add the ``qa`` command to the parser's sub-commands."""
    qa = commands.add_parser("qa", help="batería de calidad de un documento")
    orders = qa.add_subparsers(required=True, metavar="ORDEN")
    run = orders.add_parser("run", help="generar la batería, responderla y dar el dictamen")
    run.add_argument("--document", required=True, metavar="DOC_ID")
    run.add_argument("--type", required=True, choices=[str(t) for t in BookType], metavar="TYPE")
    run.add_argument("--seed", type=int, default=0)
    run.add_argument("--resume", metavar="RUN_ID", default="", help="seguir una batería interrumpida")
    run.add_argument("--battery-only", action="store_true", help="solo las preguntas, sin responderlas")
    run.add_argument("--json", action="store_true", help="en JSON")
    run.set_defaults(run=_run)
    report = orders.add_parser("report", help="mostrar un informe guardado")
    report.add_argument("id", metavar="ID")
    report.add_argument("--json", action="store_true", help="en JSON")
    report.set_defaults(run=_report)
    compare = orders.add_parser("compare", help="comparar dos informes")
    compare.add_argument("before", metavar="A")
    compare.add_argument("after", metavar="B")
    compare.add_argument("--json", action="store_true", help="en JSON")
    compare.set_defaults(run=_compare)


def _run(args: argparse.Namespace, settings: Settings) -> int:
    from core.qa.service import official_bench, official_store
    from core.services import build_services  # late: the model's libraries take seconds to import

    services = build_services(settings)
    bench = official_bench(services, args.document, BookType(args.type), seed=args.seed)
    if args.battery_only:
        if args.json:
            _print_json(to_data(bench.battery))
        else:
            _print_battery(bench.battery)
        return 0
    store = official_store(services)
    battery = bench.battery
    if args.resume:
        battery = _same_battery(store, args.resume, battery)
    print(f"{len(battery.questions)} preguntas, unos {estimate_s(battery):.0f} s.", file=sys.stderr)
    run_id, given = run_battery(battery, bench.answerer, store, run_id=args.resume, progress=_show)
    report = make_report(services, battery, given, run_id=run_id, engine=bench.answerer.name)
    store.save_report(run_id, report)
    _give(report, as_json=args.json)
    return EXIT_CODES[report.verdict]


def _same_battery(store: SqlRunStore, run_id: str, battery: Battery) -> Battery:
    stored = store.battery(run_id)
    if stored is None:
        raise AsesoriaError(f"No hay ninguna batería empezada con el identificador {run_id}.")
    if stored.fragments_version != battery.fragments_version or stored.book.doc_id != battery.book.doc_id:
        raise AsesoriaError("El documento ha cambiado desde que se empezó esa batería. Ejecute una nueva.")
    return stored


def make_report(
    services: "Services", battery: Battery, given: tuple[GivenAnswer, ...], *, run_id: str, engine: str
) -> Report:
    """Judge the answers and make the report, with the judges and the verdict of the product.

    Raises:
        AsesoriaError: they are not part of this installation.
    """
    try:
        judging = importlib.import_module("core.qa.judging")
    except ImportError as error:
        raise AsesoriaError(
            f"La batería {run_id} está respondida y guardada, pero falta el módulo que la juzga."
        ) from error
    judge: Judge = judging.build_judge(services, battery)
    report: Report = judging.make_report(battery, given, judge, run_id=run_id, engine=engine)
    return report


def _report(args: argparse.Namespace, settings: Settings) -> int:
    report = _stored(settings, args.id)
    _give(report, as_json=args.json)
    return EXIT_CODES[report.verdict]


def _compare(args: argparse.Namespace, settings: Settings) -> int:
    before, after = _stored(settings, args.before), _stored(settings, args.after)
    found = compare_reports(before, after)
    if args.json:
        _print_json(found)
        return 0
    print(f"Global: {shown(before.global_score)} → {shown(after.global_score)} ({before.verdict} → {after.verdict})")
    for title, key in (("Mejoran", "improved"), ("Empeoran", "broke")):
        print(f"{title}:" + ("" if found[key] else " ninguna"))
        for item in found[key]:
            print(f"  {item['id']}  {shown(item['before'])} → {shown(item['after'])}  {item['question']}")
    return 0


def _stored(settings: Settings, report_id: str) -> Report:
    report = SqlRunStore(records_folder(settings)).report(report_id)
    if report is None:
        raise AsesoriaError(f"No hay ningún informe {report_id}. Vea los que hay en la página «Calidad».")
    return report


def compare_reports(before: Report, after: Report) -> dict[str, Any]:
    """What improved and what broke, question by question (by their text), with both verdicts."""
    old = {r.question.question: r for r in before.results}
    new = {r.question.question: r for r in after.results}
    improved: list[dict[str, Any]] = []
    broke: list[dict[str, Any]] = []
    for text, result in new.items():
        was, now = old[text].score if text in old else None, result.score
        if was is None or now is None or was == now:
            continue
        row = {"id": result.question.id, "question": text, "before": was, "after": now}
        (improved if now > was else broke).append(row)
    return {
        "before": {"id": before.id, "verdict": before.verdict, "global_score": before.global_score},
        "after": {"id": after.id, "verdict": after.verdict, "global_score": after.global_score},
        "improved": improved,
        "broke": broke,
        "only_before": [text for text in old if text not in new],
        "only_after": [text for text in new if text not in old],
    }


def report_data(report: Report) -> dict[str, Any]:
    """The report as the JSON of the command line: flat questions beside the whole report's fields."""
    data: dict[str, Any] = to_data(report)
    results = data.pop("results")
    battery = data.pop("battery")
    data["document"], data["type"], data["seed"] = battery["book"]["doc_id"], battery["book"]["type"], battery["seed"]
    data["summary"] = battery["summary"]
    data["questions"] = [
        {
            **{k: r["question"][k] for k in ("id", "type", "form", "difficulty", "question", "section")},
            "expected_answer": r["question"]["expected_answer"],
            "expected_fragments": r["question"]["expected_fragments"],
            "answer": (r["given"]["answer"] or {}).get("text", ""),
            "error": r["given"]["error"],
            "scores": {s["dimension"]: s["score"] for s in r["judgement"]["scores"]},
            "evidence": {s["dimension"]: s["evidence"] for s in r["judgement"]["scores"]},
            "score": r["score"],
            "verdict": r["verdict"],
            "diagnosis": r["diagnosis"],
        }
        for r in results
    ]
    return data


def shown(score: float | None) -> str:
    """A score cut (not rounded) to one decimal: 7.95 shows 7.9."""
    return "—" if score is None else f"{int(score * 10 + 1e-9) / 10:.1f}"


def _show(progress: RunProgress) -> None:
    print(
        f"\r{progress.done}/{progress.total} respondidas, quedan unos {progress.remaining_s:.0f} s "
        f"(batería {progress.run_id})",
        end="" if progress.done < progress.total else "\n",
        file=sys.stderr,
        flush=True,
    )


def _give(report: Report, *, as_json: bool) -> None:
    if as_json:
        _print_json(report_data(report))
    else:
        _print_report(report)


def _print_battery(battery: Battery) -> None:
    for q in battery.questions:
        print(f"{q.id}  [{q.difficulty}] {q.question}")
    summary = battery.summary
    print("Por tipo:", ", ".join(f"{t}: {n}" for t, n in summary.by_type.items()))
    print("Por dificultad:", ", ".join(f"{d}: {n}" for d, n in summary.by_difficulty.items()))
    print(f"Secciones cubiertas: {len(summary.sections)}; sin preguntas: {len(summary.gaps)}")
    for s in summary.shortfalls:
        print(f"Faltan {s.asked - s.made} del tipo {s.type}: {s.reason}.")


def _print_report(report: Report) -> None:
    print(f"{report.battery.book.title}: {report.verdict}, {shown(report.global_score)} (informe {report.id})")
    for row in report.types:
        print(
            f"  {row.type}: {row.questions} preguntas, media {shown(row.mean)}, {row.passed} pasan, "
            f"{row.borderline} limítrofes, {row.failed} fallan, {row.not_judged} sin juzgar"
        )
    for reason in report.reasons:
        print(f"  {reason}")
    for result in report.results:
        print(f"  {result.question.id} {shown(result.score)} {result.verdict} {result.question.question}")


def _print_json(value: Any) -> None:
    json.dump(value, sys.stdout, ensure_ascii=False, indent=1)
    print()
