"""What the privacy notice and the page about AsesorIA say, with the figures of the data files."""

import json
from dataclasses import dataclass
from pathlib import Path

from core.config import PROJECT_ROOT, Settings

RECALL_PATH = PROJECT_ROOT / "data" / "eval" / "pii_recall.json"
# What ``python -m core eval --split test --json`` printed.
MEASURES_PATH = PROJECT_ROOT / "data" / "eval" / "measures.json"


@dataclass(frozen=True, slots=True)
class Recall:
    """How many of ``count`` examples of personal data of one kind were found (``recall``, 0..1)."""

    kind: str
    count: int
    recall: float


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
        data = data.get("product", data)
        answerable, at = data["answerable"], data["retrieval"]["hit"]["5"]
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
    return f"""
- **Qué se guarda.** El texto de sus documentos **sin los datos personales detectados** (NIF, CIF, NIE, IBAN, correo, teléfono, \
nombres, direcciones…, sustituidos por marcas como `<NIF_1>`) y sus vectores, para poder buscar. También el archivo original y su \
nombre, tal cual, **solo** para enseñarle a usted la página citada: en esa imagen sus datos sí se ven.
- **Dónde.** En el servidor de esta aplicación, en una carpeta y una base de datos propias de su sesión. Ninguna otra sesión, ni la \
API, puede buscar en ellas. No se usan para entrenar nada ni aparecen en los registros.
- **Cuánto tiempo.** Hasta que usted los quite; o hasta {_hours(settings.session_hours)} sin usarlos; o, cerrada la última pestaña, \
unos {settings.session_away_minutes:.0f} minutos. Al quitarlos se borran el archivo, el texto y los vectores. Las copias que haga \
quien administra el servidor no dependen de AsesorIA.
- **Qué no se puede prometer.** La detección de datos personales no es perfecta. {recall_line(recall)} Mire la vista previa y no \
suba lo que no quiera que esté en el servidor.
- **Su navegador** guarda una cookie con un número al azar que identifica la sesión; sin datos suyos, y desaparece al cerrarlo.
"""


def _hours(hours: float) -> str:
    return f"{hours:g} horas".replace(".", ",")


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %".replace(".", ",")
