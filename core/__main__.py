"""Command line: ``python -m core index | search | ask | load | eval | qa | redact | calibrate``."""

import argparse
import json
import logging
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.answering.render import answer_json
from core.cli_calibrate import add_calibrate
from core.cli_privacy import add_redact
from core.cli_qa import add_qa
from core.config import Settings
from core.errors import AsesoriaError
from core.ingestion.worker import load_in_worker
from core.models import RetrievedFragment

if TYPE_CHECKING:
    from core.services import Services

EXIT_OK, EXIT_ERROR = 0, 2


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command. A domain error gives exit code 2 and its message on stderr."""
    args = _parser().parse_args(argv)
    logging.basicConfig(level=logging.ERROR, stream=sys.stderr)
    try:
        return int(args.run(args, Settings()))
    except AsesoriaError as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        return EXIT_ERROR
    except KeyboardInterrupt:
        print("Interrumpido. Lo hecho hasta aquí se conserva.", file=sys.stderr)
        return 130


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m core", description="AsesorIA en la línea de órdenes.")
    commands = parser.add_subparsers(required=True, metavar="ORDEN")
    index = commands.add_parser("index", help="descargar e indexar los documentos oficiales")
    index.add_argument("--only", action="append", metavar="DOC_ID", help="solo este documento (se puede repetir)")
    index.add_argument(
        "--refresh", action="store_true", help="tomarlos de sus direcciones oficiales, no de las copias fijadas"
    )
    index.add_argument("--json", action="store_true", help="el informe en JSON")
    index.set_defaults(run=_index)
    search = commands.add_parser("search", help="fragmentos para una pregunta")
    _add_question(search)
    search.add_argument("-k", type=int, default=8, help="cuántos fragmentos (8)")
    search.set_defaults(run=_search)
    ask = commands.add_parser("ask", help="respuesta con sus fuentes")
    _add_question(ask)
    ask.set_defaults(run=_ask)
    evaluate = commands.add_parser(
        "eval", help="medir la búsqueda y las respuestas con preguntas de respuesta conocida"
    )
    evaluate.add_argument("--questions", type=Path, metavar="FILE", help="otro archivo con el formato del benchmark")
    evaluate.add_argument("--split", choices=("dev", "test"), help="solo esta mitad")
    evaluate.add_argument("--baselines", action="store_true", help="medir también los métodos de referencia (minutos)")
    evaluate.add_argument("--table", action="store_true", help="además, una línea por pregunta")
    evaluate.add_argument("--misses", action="store_true", help="además, los fallos contados por causa y clase")
    evaluate.add_argument("--json", action="store_true", help="en JSON")
    evaluate.set_defaults(run=_eval)
    add_qa(commands)
    add_redact(commands)
    add_calibrate(commands)
    load = commands.add_parser("load", help="leer un archivo y mostrar lo leído")
    load.add_argument("file", type=Path, metavar="FILE")
    load.add_argument("--json", action="store_true", help="en JSON")
    load.set_defaults(run=_load)
    return parser


def _add_question(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("question", nargs="?", help="la pregunta")
    parser.add_argument("--questions", type=Path, metavar="FILE", help="lista JSON con «id» y «question»")
    parser.add_argument("--json", action="store_true", help="en JSON")


def _services(settings: Settings) -> "Services":
    from core.services import build_services  # late: the model's libraries take seconds to import

    return build_services(settings)


def _index(args: argparse.Namespace, settings: Settings) -> int:
    from tqdm import tqdm

    from core.corpus.refresh import refresh
    from core.corpus.register import find
    from core.retrieval.indexer import DocumentProgress

    services = _services(settings)
    refused: dict[str, str] = {}
    if args.refresh:
        chosen = [find(services.register, d) for d in (args.only or services.doc_ids)]
        fetched = refresh(chosen, settings, progress=lambda d: print(f"descargando {d}…", file=sys.stderr))
        refused = fetched.errors
        print(f"{len(fetched.changed)} documentos nuevos, {len(fetched.same)} iguales, {len(refused)} no descargados.")
        services = _services(settings)
    doc_ids = [find(services.register, d).doc_id for d in args.only] if args.only else services.doc_ids
    with tqdm(total=len(doc_ids), unit="doc", file=sys.stderr, disable=None) as bar:
        stages: dict[str, str] = {}

        def show(progress: DocumentProgress) -> None:
            before = stages.get(progress.doc_id)
            stages[progress.doc_id] = progress.stage
            finished = progress.stage in ("listo", "error")
            if finished and before != progress.stage:
                bar.update(1)
            if not finished:
                bar.set_postfix_str(f"{progress.doc_id}: {progress.stage} {progress.detail} {progress.share:.0%}")

        report = services.indexer.run(doc_ids, prune=not args.only, progress=show)
    if args.json:
        _print_json(asdict(report))
    else:
        _print_index_report(report)
    for doc_id, message in {**refused, **report.errors}.items():
        print(f"{doc_id}: {message}", file=sys.stderr)
    return EXIT_ERROR if report.errors or refused else EXIT_OK


def _print_index_report(report: Any) -> None:
    print(
        f"{'documento':26}{'páginas':>8}{'fragm.':>8}{'tablas':>7}{'desc.':>6}{'tokens':>9}{'s':>7}"
        f"{'pág/s':>8}{'tok/s':>8}  avisos"
    )
    for d in report.done:
        rate = d.pages / d.seconds if d.pages else 0
        print(
            f"{d.doc_id:26}{d.pages:>8}{d.fragments:>8}{d.tables:>7}{d.dropped_tables:>6}{d.tokens:>9}{d.seconds:>7.1f}"
            f"{rate:>8.1f}{d.tokens / max(d.seconds, 0.01):>8.0f}  {'; '.join(d.warnings)}"
        )
    tokens, seconds = sum(d.tokens for d in report.done), sum(d.seconds for d in report.done)
    if report.done:
        pages = sum(d.pages for d in report.done)
        print(
            f"{len(report.done)} indexados: {pages} páginas, {tokens} tokens en {seconds:.0f} s ({tokens / seconds:.0f} tok/s)."
        )
    print(f"{len(report.unchanged)} sin cambios, {len(report.removed)} retirados, {len(report.errors)} con error.")


def _search(args: argparse.Namespace, settings: Settings) -> int:
    services = _services(settings)

    def results(question: str) -> list[dict[str, Any]]:
        checked = services.engine.check(question)
        return [_result(hit) for hit in services.search().search(checked, max(1, args.k))]

    if args.questions:
        _print_json([{"id": q["id"], "results": results(q["question"])} for q in _questions(args.questions)])
        return EXIT_OK
    found = results(args.question or "")
    if args.json:
        _print_json(found)
    else:
        for item in found:
            page = f", página {item['page']}" if item["page"] else ""
            print(
                f"{item['relevance']:.2f}  {item['doc_id']}{page}  {' › '.join(item['section_path'])}\n{item['text']}\n"
            )
    return EXIT_OK


def _ask(args: argparse.Namespace, settings: Settings) -> int:
    services = _services(settings)
    if args.questions:
        answers = [
            {"id": q["id"], "answer": answer_json(services.engine.ask(q["question"]))}
            for q in _questions(args.questions)
        ]
        _print_json(answers)
        return EXIT_OK
    answer = services.engine.ask(args.question or "")
    if args.json:
        _print_json(answer_json(answer))
    else:
        if answer.fallback:
            print(f"({answer.fallback} Esta respuesta es literal.)\n")
        print(answer.text)
        for number, source in enumerate(answer.sources, start=1):
            page = f", página {source.page}" if source.page else ""
            print(f"\n[{number}] {source.title}{page} — {source.section}\n    {source.source_url}")
    return EXIT_OK


def _eval(args: argparse.Namespace, settings: Settings) -> int:
    from core.evaluation.benchmark import BENCHMARK_PATH, load_benchmark
    from core.evaluation.misses import misses
    from core.evaluation.run import baselines, measures, run_product, table

    items = [i for i in load_benchmark(args.questions or BENCHMARK_PATH) if not args.split or i.split == args.split]
    if not items:
        raise AsesoriaError("No hay ninguna pregunta que medir con esas opciones.")
    services = _services(settings)
    rows = run_product(services, items)
    report = measures(rows)
    if args.baselines:
        report["baselines"] = baselines(services, items)
    if args.misses:
        report["misses"] = misses(rows)
    if args.table:
        report["questions"] = table(rows)
    if args.json:
        _print_json(report)
    else:
        _print_evaluation(report)
    return EXIT_OK


def _print_evaluation(report: dict[str, Any]) -> None:
    methods = {"AsesorIA": report, **report.get("baselines", {})}
    print(f"{report['n']} preguntas. Entre corchetes, intervalo del 95 % (bootstrap).")
    for measure in ("evidence_hit", "page_hit"):
        print(f"\n{measure:22}" + "".join(f"{'@' + k:>24}" for k in ("1", "3", "5", "8", "20")))
        for name, values in methods.items():
            hits, intervals = values["retrieval"][measure], values["retrieval"][f"{measure}_ci"]
            print(f"{name:22}" + "".join(f"{_shown(hits[k], intervals[k]):>24}" for k in hits))
    for name, values in (("mrr", report["retrieval"]), *((n, report["answerable"]) for n in _ANSWERABLE)):
        print(f"{name:22}{_shown(values[name], values[name + '_ci']):>24}")
    for name in ("category_accuracy", "facts", "facts_all"):
        print(f"{name:22}{_shown(report[name], report[name + '_ci']):>24}")
    for name, value in report["answers"].items():
        if not name.endswith("_ci"):
            print(f"{name:24}{_shown(value, report['answers'][name + '_ci']):>22}")
    print(f"{'reranker.ece':22}{_shown(report['reranker']['ece'], report['reranker']['ece_ci']):>24}")
    print(f"{'reranker.brier':22}{_shown(report['reranker']['brier'], report['reranker']['brier_ci']):>24}")
    print(f"{'ECE por puro azar':22}{_shown(report['reranker']['ece_if_calibrated'], None):>10}")
    print("\ncurva de fiabilidad del primer fragmento (tramos de igual masa)\nprobabilidad media   acierto     n")
    for b in report["reranker"]["reliability"]:
        bar = "█" * round(20 * b["share_right"])
        print(f"{b['mean_probability']:>18.3f}{b['share_right']:>10.3f}{b['n']:>6}  {bar}")
    print()
    for stage, values in report["latency_ms"].items():
        print(f"{stage:22}p50 {values['p50']:>8.1f} ms   p95 {values['p95']:>8.1f} ms")
    for name, causes in report.get("misses", {}).items():
        print(f"\nfallos, {name}: {sum(causes.values())}")
        for cause, count in causes.items():
            print(f"{count:>5}  {cause}")
    for row in report.get("questions", ()):
        answerable = row["category"] in ("direct", "personal_case")
        right = 1 <= row["rank"] <= 5 if answerable else not row["grounded"]
        print(
            f"{row['id']:6} {'bien' if right else 'MAL':4} rango {row['rank']:>2} "
            f"{row['category']:>13}→{row['decided']:13} p={row['answerable']:.2f} {row['question']}"
        )


_ANSWERABLE = ("auroc", "abstention_rate", "false_abstention_rate")


def _shown(value: float | None, interval: list[float] | None) -> str:
    if value is None:
        return "—"
    return f"{value:.3f}" + (f" [{interval[0]:.2f}, {interval[1]:.2f}]" if interval else "")


def _load(args: argparse.Namespace, settings: Settings) -> int:
    document = load_in_worker(args.file, settings)
    tables = [
        {"page": t.page, "page_end": t.page_end, "title": t.title, "header": t.header, "rows": t.rows}
        for t in document.tables
    ]
    if args.json:
        _print_json(
            {
                "pages": [{"page": number, "text": text} for number, text in sorted(document.pages.items())],
                "tables": tables,
                "warnings": document.warnings,
                "dropped_tables": document.dropped_tables,
            }
        )
        return EXIT_OK
    for number, text in sorted(document.pages.items()):
        print(f"--- página {number}\n{text}")
    for warning in document.warnings:
        print(f"aviso: {warning}", file=sys.stderr)
    return EXIT_OK


def _questions(path: Path) -> list[dict[str, str]]:
    """The list in ``path``.

    Raises:
        AsesoriaError: it cannot be read, or is no list of objects with ``id`` and ``question``.
    """
    try:
        data = json.loads(path.read_text("utf-8"))
        return [{"id": str(item["id"]), "question": str(item["question"])} for item in data]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise AsesoriaError(
            f"No se puede leer {path}: hace falta una lista JSON de objetos con «id» y «question» ({type(error).__name__})."
        ) from error


def _result(hit: RetrievedFragment) -> dict[str, Any]:
    f = hit.fragment
    return {
        "doc_id": f.doc_id,
        "page": f.page,
        "page_end": f.page_end,
        "section_path": list(f.section_path),
        "section_label": f.section_label,
        "kind": f.kind,
        "text": f.text,
        "relevance": round(hit.relevance, 4),
    }


def _print_json(value: Any) -> None:
    json.dump(value, sys.stdout, ensure_ascii=False, indent=1)
    print()


if __name__ == "__main__":
    raise SystemExit(main())
