"""Whether a document has passed: set by a report's verdict, and by the reviewer who closes a report."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from core.errors import AsesoriaError
from core.qa.models import Report, Verdict


class QaStatus(StrEnum):
    """As shown beside a document's sources."""

    NOT_EVALUATED = "sin evaluar"
    APPROVED = "aprobado"
    IN_REVIEW = "en revisión"
    REJECTED = "rechazado"


_OF_VERDICT: Mapping[Verdict, QaStatus] = {
    "approve": QaStatus.APPROVED,
    "human_review": QaStatus.IN_REVIEW,
    "reject": QaStatus.REJECTED,
}


@dataclass(frozen=True, slots=True)
class StatusChange:
    """One change of a document's status. ``by``: the judge's name, or the reviewer's. ``number`` grows by time."""

    number: int
    doc_id: str
    status: QaStatus
    report_id: str
    by: str
    at: str
    reason: str = ""


class CannotCloseError(AsesoriaError):
    """The report cannot be closed yet, or somebody else has closed it meanwhile."""


def status_of(verdict: Verdict) -> QaStatus:
    """What a report's verdict makes of the document."""
    return _OF_VERDICT[verdict]


def check_closing(report: Report, decided: Mapping[str, bool], status: QaStatus) -> None:
    """Whether a reviewer may close a report with ``status``. ``decided``: flagged question id → accepted.

    Raises:
        CannotCloseError: flagged cases wait, or the status is not one that a closing gives.
    """
    waiting = [question_id for question_id in report.human if question_id not in decided]
    if waiting:
        raise CannotCloseError(
            f"Faltan casos por decidir: {', '.join(waiting)}. Decídalos y cierre después el informe."
        )
    if status not in (QaStatus.APPROVED, QaStatus.REJECTED):
        raise CannotCloseError("Un informe se cierra como aprobado o como rechazado.")
    refused = [question_id for question_id, accepted in decided.items() if not accepted]
    if status is QaStatus.APPROVED and refused:
        raise CannotCloseError(
            f"No se puede aprobar con casos rechazados ({', '.join(refused)}). Ciérrelo como rechazado o cambie la decisión."
        )
