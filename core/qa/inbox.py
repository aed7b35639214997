"""The one inbox of what waits for a person, of whatever kind, as it is told to a reviewer."""

from collections.abc import Mapping
from dataclasses import dataclass

from core.qa.cases import CASE
from core.records.database import Database
from core.records.reviews import CLOSED, DRIFT, FEEDBACK, OPEN, Review, list_reviews
from core.records.store import get

KIND_TEXT: Mapping[str, str] = {
    CASE: "Caso de una batería",
    FEEDBACK: "Respuesta marcada como mala",
    DRIFT: "Deriva del sello",
    "calibration": "Calibración",
}
_LABELS: Mapping[str, str] = {
    "reason": "Motivo", "day": "Día", "points": "Puntos que sube", "share_last": "Parte de «alta», últimos días",
    "share_before": "Parte de «alta», días anteriores", "answers_last": "Respuestas, últimos días",
    "answers_before": "Respuestas, días anteriores",
}  # fmt: skip
_LEVELS: Mapping[str, str] = {"high": "alta", "medium": "media", "low": "baja"}


@dataclass(frozen=True, slots=True)
class Inbox:
    """``waiting``: oldest first. ``decided``: latest decision first."""

    waiting: tuple[Review, ...]
    decided: tuple[Review, ...]


def read_inbox(database: Database, *, decided: int = 30) -> Inbox:
    """What waits, and the last ``decided`` decisions."""
    closed = sorted(list_reviews(database, status=CLOSED), key=lambda r: r.closed_at, reverse=True)
    return Inbox(tuple(list_reviews(database, status=OPEN)), tuple(closed[:decided]))


def kind_text(kind: str) -> str:
    """A kind's name for people; an unknown one names itself."""
    return KIND_TEXT.get(kind, kind)


def decisions_for(kind: str) -> tuple[str, ...]:
    """What a person may decide of an item of this kind; words in `DECISION_TEXT` (cases of batteries have verdicts)."""
    return ("answer_right", "answer_wrong") if kind == FEEDBACK else ("no_action", "action")


def headline(database: Database, review: Review) -> str:
    """An item in one line: its title, or what was asked where an answer was marked."""
    row = get(database, review.subject) if review.kind == FEEDBACK else None
    return str(row["question"]) if row else review.title


def facts(database: Database, review: Review) -> list[tuple[str, str]]:
    """What is known of an item, as (label, text); an answer is looked up in the records."""
    if review.kind == FEEDBACK:
        return _interaction(database, review.subject)
    return [(_LABELS.get(key, key), _plain(value)) for key, value in review.details.items() if value not in ("", None)]


def _interaction(database: Database, interaction_id: str) -> list[tuple[str, str]]:
    row = get(database, interaction_id)
    if row is None:
        return [("Respuesta", "Ya no se conserva: ha pasado el plazo de conservación o se ha borrado.")]
    answer = row["answer"] or "No se guardó el texto: la sesión tenía documentos propios."
    found = [
        ("Pregunta", row["question"]),
        ("Respuesta", answer),
        ("Comentario de quien preguntó", row["comment"] or "sin comentario"),
        ("Confianza", _LEVELS.get(row["level"], row["level"])),
        ("Fecha", row["created_at"][:16].replace("T", " ")),
    ]
    sources = [s.get("doc_id", "documento de la sesión") for s in row["sources"]]
    for number, (doc_id, passage) in enumerate(zip(sources, row["passages"] or [], strict=False), start=1):
        found.append((f"Fuente {number} ({doc_id})", passage))
    return found


def _plain(value: object) -> str:
    return f"{value:.2f}".replace(".", ",") if isinstance(value, float) else str(value)
