"""What the privacy notice and the page about AsesorIA say, with the figures of the data files."""

import json
from dataclasses import dataclass
from pathlib import Path

from core.config import PROJECT_ROOT, Settings

NOTICE_PATH = PROJECT_ROOT / "data" / "privacy_notice.md"
ABOUT_PATH = PROJECT_ROOT / "data" / "about.md"
RECALL_PATH = PROJECT_ROOT / "data" / "eval" / "pii_recall.json"
# What ``python -m core eval --split test --json`` printed.
MEASURES_PATH = PROJECT_ROOT / "data" / "eval" / "measures.json"


@dataclass(frozen=True, slots=True)
class Recall:
    """How many of ``count`` examples of personal data of one kind were found (``recall``, 0..1)."""

    kind: str
    count: int
    recall: float

    def row(self) -> dict[str, str | int]:
        """As a row of a table."""
        return {"Dato": self.kind, "Ejemplos": self.count, "Detectados": _percent(self.recall)}


def load_recall(path: Path = RECALL_PATH) -> tuple[Recall, ...]:
    """The measured recall by kind; empty where it was not measured, or the file is not valid."""
    try:
        data = json.loads(path.read_text("utf-8"))
        kinds = data.get("kinds", data)
        return tuple(Recall(str(kind), int(value["n"]), float(value["recall"])) for kind, value in kinds.items())
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return ()


def load_measures(path: Path = MEASURES_PATH) -> dict[str, str]:
    """The measures of the answers as Spanish sentences and their figures; empty where there are none."""
    try:
        data = json.loads(path.read_text("utf-8"))
        answerable, at = data["answerable"], data["retrieval"]["evidence_hit"]["5"]
        return {
            "preguntas con las que se midió, que no se usaron para construir nada": str(data["n"]),
            "la página o el artículo que responde está entre los cinco primeros fragmentos": _percent(at),
            "la respuesta contiene los datos que debía contener": _percent(data["facts"]),
            "se abstiene cuando los documentos no responden": _percent(answerable["abstention_rate"]),
            "se abstiene aunque los documentos respondían": _percent(answerable["false_abstention_rate"]),
        }
    except (OSError, ValueError, KeyError, TypeError):
        return {}


def recall_line(found: tuple[Recall, ...]) -> str:
    """The measured recall in one sentence of Spanish."""
    if not found:
        return "Cuánto detecta no está medido en esta instalación: cuente con que algo se le puede pasar."
    said = ", ".join(f"{r.kind} {_percent(r.recall)} (de {r.count})" for r in found)
    return f"En ejemplos hechos para medirlo, detecta: {said}. Sus documentos pueden ser más difíciles."


def privacy_notice(settings: Settings, recall: tuple[Recall, ...]) -> str:
    """What is kept of private documents, where, how long, and what cannot be promised; Markdown in Spanish."""
    return NOTICE_PATH.read_text("utf-8").format(
        hours=_hours(settings.session_hours), minutes=f"{settings.session_away_minutes:.0f}", recall=recall_line(recall)
    )


def about_parts() -> tuple[str, str, str]:
    """The page about AsesorIA in three parts: before the figures, before the privacy notice, after it; Markdown."""
    first, _, rest = ABOUT_PATH.read_text("utf-8").partition("<!-- figures -->")
    second, _, third = rest.partition("<!-- privacy -->")
    return first, second, third


def _hours(hours: float) -> str:
    return f"{hours:g} horas".replace(".", ",")


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %".replace(".", ",")
