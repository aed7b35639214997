"""``python -m core calibrate [--json] [--gate] [--save --who NAME]``: is the seal calibrated? Needs no model."""

import argparse
import json
import sys
from typing import Any

from core.config import Settings
from core.errors import AsesoriaError


def add_calibrate(commands: Any) -> None:
    """Add the ``calibrate`` command to the parser's sub-commands."""
    parser = commands.add_parser("calibrate", help="medir si el sello de confianza acierta")
    parser.add_argument("--json", action="store_true", help="en JSON")
    parser.add_argument("--gate", action="store_true", help="código de salida: 0 esperado, 3 aceptable, 4 bloqueante")
    parser.add_argument("--save", action="store_true", help="guardar la medida como línea de base")
    parser.add_argument("--who", default="python -m core calibrate", help="quién la guarda")
    parser.set_defaults(run=_calibrate)


def _calibrate(args: argparse.Namespace, settings: Settings) -> int:
    from core.calibration.baselines import save_baseline  # late: the statistics' libraries take a second to import
    from core.calibration.gates import EXIT_CODES, Grade
    from core.calibration.measure import calibration_json
    from core.calibration.view import read_reference, shipped
    from core.records.database import Database, records_url
    from core.records.verdicts import list_verdicts
    from core.seal.state import read_states
    from core.thresholds import load_thresholds

    limits = load_thresholds().calibration
    try:
        reference = read_reference(settings)
    except AsesoriaError as error:
        print(error, file=sys.stderr)
        return EXIT_CODES[Grade.UNMEASURED] if args.gate else 2
    database = Database(records_url(settings))
    people = list_verdicts(database, kind="reference")
    found = shipped(reference, people, limits)
    if reference.panel_problem:
        print(reference.panel_problem, file=sys.stderr)
    saved = None
    if args.save:
        saved = save_baseline(database, found, versions=reference.versions(), who=args.who, thresholds=limits)
    state = read_states(database)[-1]
    data: dict[str, Any] = {
        **calibration_json(found),
        "state": {"mode": str(state.mode), "since": state.since, "why": state.reason},
        "reference": {
            "version": reference.found.version,
            "cases": len(reference.found.cases),
            "abstentions": dict(reference.found.abstentions),
            "reviewed_by_people": len({v.case_id for v in people if v.reference_version == reference.found.version}),
        },
        "versions": reference.versions(),
    }
    if saved:
        data["baseline"] = {"id": saved.number, "alert": saved.alert, "switched": saved.decision is not None}
    if args.json:
        json.dump(data, sys.stdout, ensure_ascii=False, indent=1)
        print()
    else:
        _print(data)
    return EXIT_CODES[found.grade] if args.gate else 0


def _print(data: dict[str, Any]) -> None:
    from core.calibration.gates import GRADE_TEXT, Grade

    def shown(figure: dict[str, Any], name: str) -> str:
        if figure[name] is None:
            return f"sin medida ({figure['reason']}, n = {figure['n']})"
        low, high = figure["ci"]
        p = f", p = {figure['p']:.2g}" if "p" in figure else ""
        return f"{figure[name]:.3f} [{low:.2f}, {high:.2f}], n = {figure['n']}{p}"

    reference = data["reference"]
    print(
        f"Conjunto de referencia {reference['version']}: {reference['cases']} casos, {data['cases']} en la parte que se "
        f"mide, {len(data['kappa']['excluded'])} excluidos porque los jueces discrepan. "
        f"{reference['reviewed_by_people']} casos revisados por una persona. Entre corchetes, intervalo del 95 %."
    )
    print(f"r de Pearson   {shown(data['pearson'], 'r')}: {GRADE_TEXT[Grade(data['pearson']['grade'])]}")
    print(f"   sin excluir {shown(data['pearson_all'], 'r')}")
    print(f"kappa de Cohen {shown(data['kappa'], 'value')}: {GRADE_TEXT[Grade(data['kappa']['grade'])]}")
    print(f"   sin excluir {shown(data['kappa_all'], 'value')}")
    for pair, figure in data["pairwise_kappa"].items():
        print(f"   {pair}: {shown(figure, 'value')}")
    for level, figure in data["faithful_by_level"].items():
        print(f"fieles con sello {level:7} {shown(figure, 'share')}")
    print(f"ECE de la relevancia {shown(data['ece'], 'value')}")
    print(f"Abstenciones: {reference['abstentions']}")
    print(f"Sello en modo {data['state']['mode']}. {data['state']['why']}")
    if "baseline" in data:
        print(f"Guardada la línea de base {data['baseline']['id']}.")
