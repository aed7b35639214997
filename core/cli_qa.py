"""``python -m core qa run | report | compare``."""

import argparse
import json
import signal
import sys
import threading
from typing import Any

from core.config import Settings
from core.errors import AsesoriaError
from core.qa.export import report_data
from core.qa.models import Battery, BookType, Report
from core.qa.report import compare
from core.qa.run import RunProgress
from core.qa.serial import to_data
from core.qa.session import estimate_session_s, run_session
from core.qa.store import SqlRunStore
from core.qa.verdict import cut
from core.records.database import records_folder

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
    from core.qa.service import build_judge, official_answerer, official_battery, official_store, same_battery
    from core.services import build_services  # late: the model's libraries take seconds to import

    services = build_services(settings)
    store = official_store(services)
    if args.resume:
        battery = same_battery(services, store, args.resume, doc_id=args.document)
    else:
        battery = official_battery(services, args.document, BookType(args.type), seed=args.seed)
    if args.battery_only:
        if args.json:
            _print_json(to_data(battery))
        else:
            _print_battery(battery)
        return 0
    answerer, judge = official_answerer(services, args.document), build_judge(services, battery)
    seconds = estimate_session_s(battery, answerer, judge, store)
    print(f"{len(battery.questions)} preguntas, unos {seconds:.0f} s. Juzga: {judge.name}.", file=sys.stderr)
    cancel = threading.Event()
    before = signal.signal(signal.SIGINT, lambda *_: cancel.set())
    try:
        report = run_session(
            battery,
            answerer,
            judge,
            store,
            thresholds=services.thresholds.qa,
            run_id=args.resume,
            progress=_show,
            cancel=cancel,
        )
    finally:
        signal.signal(signal.SIGINT, before)
    _give(report, as_json=args.json)
    return EXIT_CODES[report.verdict]


def _report(args: argparse.Namespace, settings: Settings) -> int:
    report = _stored(settings, args.id)
    _give(report, as_json=args.json)
    return EXIT_CODES[report.verdict]


def _compare(args: argparse.Namespace, settings: Settings) -> int:
    before, after = _stored(settings, args.before), _stored(settings, args.after)
    try:
        found = compare(before, after)
    except ValueError as error:
        raise AsesoriaError("Los dos informes son de documentos distintos y no se pueden comparar.") from error
    if args.json:
        _print_json({**to_data(found), "verdict_before": before.verdict, "verdict_after": after.verdict})
        return 0
    print(f"Global: {shown(before.global_score)} → {shown(after.global_score)} ({before.verdict} → {after.verdict})")
    for title, changes in (("Mejoran", found.improved), ("Empeoran", found.broke)):
        print(f"{title}:" + ("" if changes else " ninguna"))
        for change in changes:
            print(f"  {change.question_id}  {shown(change.before)} → {shown(change.after)}  {change.question}")
    return 0


def _stored(settings: Settings, report_id: str) -> Report:
    report = SqlRunStore(records_folder(settings)).report(report_id)
    if report is None:
        raise AsesoriaError(f"No hay ningún informe {report_id}. Vea los que hay en la página «Calidad».")
    return report


def shown(score: float | None) -> str:
    """A score cut (not rounded) to one decimal: 7.95 shows 7.9; a dash for none."""
    return "—" if score is None else cut(score)


_STAGES = {"answering": "respondidas", "judging": "juzgadas"}


def _show(progress: RunProgress) -> None:
    print(
        f"\r{progress.done}/{progress.total} {_STAGES[progress.stage]}, quedan unos {progress.remaining_s:.0f} s "
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
