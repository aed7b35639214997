"""Have the panel score the reference cases: ``data/eval/panel_scores.json``.

    python scripts/score_panel.py --fit     # first fit the three judges on the part «tuning» (judges.json)
    python scripts/score_panel.py           # score every case with the default panel
    ASESORIA_JUDGES=… python scripts/score_panel.py     # with three language models; calls in ASESORIA_HOME/reference

``--fit`` reads the verdicts of the part ``tuning`` only (never ``report``). For a draft without verdicts (``--reference
DRAFT --labels facts``) the facts stated stand in for them, on ``tuning`` as well.
"""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from core.calibration.judge_llm import append_to, llm_judges
from core.calibration.judge_sentences import SENTENCES_JUDGE_VERSION, IndexNearness, SentencesJudge
from core.calibration.judge_weights import WEIGHTS_PATH, JudgeWeights, fit_weights
from core.calibration.judge_words import WORDS_VERSION, WordsJudge
from core.calibration.judges import FACTS_VERSION, FactsJudge, score_all
from core.calibration.panel_run import default_judges, judged
from core.calibration.reference import PANEL_PATH, REFERENCE_PATH, ReferenceSet
from core.config import Settings
from core.retrieval.search import HybridSearch
from core.services import build_services
from core.thresholds import Thresholds

_STAND_IN = {
    "faithfulness": 0.0,
    "reason": "sin veredicto todavía",
    "decides": "ninguna",
    "reviewer": "—",
    "reviewer_kind": "maintainer",
}


def read(path: Path, labels: str) -> ReferenceSet:
    """The reference, or a draft whose missing verdicts are stood in for by 0 (they are not used then)."""
    data = json.loads(path.read_text("utf-8"))
    if labels == "facts":
        data["cases"] = [{**_STAND_IN, **case} for case in data["cases"]]
    return ReferenceSet.model_validate(data)


def fit(
    found: ReferenceSet, search: HybridSearch, near: IndexNearness, thresholds: Thresholds, labels: str
) -> dict[str, Any]:
    """The weights of the three judges, fitted on the part ``tuning``."""
    cases = [case for case in found.cases if case.part == "tuning"]
    answers = [judged(case, search.snapshot) for case in cases]
    none = JudgeWeights(version=0, weights={}, intercept=0.0, fitted_on="")
    facts = FactsJudge(none)
    verdicts = (
        [facts.measures(a)["all"] for a in answers] if labels == "facts" else [case.faithfulness for case in cases]
    )
    said = f"{len(cases)} casos de «tuning» ({labels}), conjunto {found.version} del {found.date}"
    words = WordsJudge(search.terms, thresholds.verify, none)
    sentences = SentencesJudge(near, none)
    return {
        "words": fit_weights(
            [words.measures(a) for a in answers], verdicts, version=WORDS_VERSION, fitted_on=said
        ).model_dump(mode="json"),
        "sentences": fit_weights(
            [sentences.measures(a) for a in answers], verdicts, version=SENTENCES_JUDGE_VERSION, fitted_on=said
        ).model_dump(mode="json"),
        "facts": fit_weights(
            [facts.measures(a) for a in answers], verdicts, version=FACTS_VERSION, fitted_on=said
        ).model_dump(mode="json"),
    }


def main() -> None:
    """Fit if asked to, then score."""
    parser = argparse.ArgumentParser(description="El panel de jueces sobre el conjunto de referencia.")
    parser.add_argument("--reference", type=Path, default=REFERENCE_PATH)
    parser.add_argument("--output", type=Path, default=PANEL_PATH)
    parser.add_argument("--weights", type=Path, default=WEIGHTS_PATH)
    parser.add_argument("--fit", action="store_true")
    parser.add_argument("--labels", choices=("verdicts", "facts"), default="verdicts")
    args = parser.parse_args()
    settings = Settings()
    services = build_services(settings)
    search = services.search()
    found = read(args.reference, args.labels)
    near = IndexNearness(search, services.known)
    if args.fit:
        args.weights.write_text(
            json.dumps(fit(found, search, near, services.thresholds, args.labels), ensure_ascii=False, indent=1) + "\n",
            "utf-8",
        )
    judges = (
        llm_judges(settings, append_to(settings.home / "reference" / "judge_calls.jsonl"))
        if settings.judges
        else default_judges(search, services.thresholds, args.weights, near=near)
    )
    scores = score_all(judges, [judged(case, search.snapshot) for case in found.cases], reference_version=found.version)
    args.output.write_text(json.dumps(scores.model_dump(mode="json"), ensure_ascii=False, indent=1) + "\n", "utf-8")
    panel = scores.cases()
    apart = sum(not case.reliable(services.thresholds.calibration.max_dispersion) for case in panel)
    print(f"{len(panel)} casos puntuados, {apart} no fiables, {len(scores.failures)} sin puntuar: {args.output}")


if __name__ == "__main__":
    main()
