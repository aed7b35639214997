"""What the privacy notice and the page about AsesorIA say, with the figures of the data files."""

import json
from collections.abc import Mapping
from pathlib import Path

from core.config import PROJECT_ROOT, Settings

NOTICE_PATH = PROJECT_ROOT / "data" / "privacy_notice.md"
ABOUT_PATH = PROJECT_ROOT / "data" / "about.md"
# What ``python -m core eval --split test --json`` printed.
MEASURES_PATH = PROJECT_ROOT / "data" / "eval" / "measures.json"


def load_measures(path: Path = MEASURES_PATH) -> dict[str, str]:
    """The measures of the answers as Spanish sentences and their figures; empty where there are none."""
    try:
        data = json.loads(path.read_text("utf-8"))
        answerable, at = data["answerable"], data["retrieval"]["evidence_hit"]["5"]
        return {
            "preguntas con las que se midió, que no se usaron para construir nada": str(data["n"]),
            "la página o el artículo que responde está entre los cinco primeros fragmentos": percent(at),
            "la respuesta contiene los datos que debía contener": percent(data["facts"]),
            "se abstiene cuando los documentos no responden": percent(answerable["abstention_rate"]),
            "se abstiene aunque los documentos respondían": percent(answerable["false_abstention_rate"]),
        }
    except (OSError, ValueError, KeyError, TypeError):
        return {}


def recall_line(recall: Mapping[str, float]) -> str:
    """The measured recall by kind (`core.privacy.measure.recall_table`) in one sentence of Spanish."""
    if not recall:
        return "Cuánto detecta no está medido en esta instalación: cuente con que algo se le puede pasar."
    said = ", ".join(f"{kind} {percent(share)}" for kind, share in recall.items())
    return (
        f"En textos hechos para medirlo detecta: {said}. Sus documentos pueden ser más difíciles, y los nombres poco "
        "frecuentes se detectan peor que los comunes."
    )


def privacy_notice(settings: Settings, recall: Mapping[str, float]) -> str:
    """What is kept of private documents, where, how long, and what cannot be promised; Markdown in Spanish."""
    return NOTICE_PATH.read_text("utf-8").format(
        hours=_hours(settings.session_hours),
        minutes=f"{settings.session_away_minutes:.0f}",
        days=settings.retention_days,
        recall=recall_line(recall),
    )


def about_parts() -> tuple[str, str, str]:
    """The page about AsesorIA in three parts: before the figures, before the privacy notice, after it; Markdown."""
    first, _, rest = ABOUT_PATH.read_text("utf-8").partition("<!-- figures -->")
    second, _, third = rest.partition("<!-- privacy -->")
    return first, second, third


def _hours(hours: float) -> str:
    return f"{hours:g} horas".replace(".", ",")


def percent(share: float) -> str:
    """A share (0..1) as Spanish writes it, cut and not rounded: 99,97 % must not read as all."""
    return f"{int(1000 * share + 1e-9) / 10:.1f} %".replace(".", ",")
