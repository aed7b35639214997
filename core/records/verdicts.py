"""People's verdicts on answers. They stand beside the maintainers' and beside each other; none is overwritten."""

from dataclasses import asdict, dataclass, replace
from typing import Literal

from sqlalchemy import literal_column, select

from core.errors import RecordsError
from core.records.database import Database
from core.records.interactions import new_id, utc_now
from core.records.schema import interactions, verdicts

Kind = Literal["reference", "interaction"]
_LEAST_REASON, _LONGEST = 10, 2000


@dataclass(frozen=True, slots=True)
class Verdict:
    """``faithfulness``: 1.0 faithful, 0.0 not. ``decides``: where the page that decides is. ``reference_version``: of the
    set that the case belongs to, '' for an interaction."""

    kind: Kind
    case_id: str
    faithfulness: float
    reason: str
    decides: str
    reviewer: str
    reference_version: str = ""
    at: str = ""
    id: str = ""
    reviewer_kind: str = "person"


def add_verdict(database: Database, verdict: Verdict) -> Verdict:
    """Keep a person's verdict.

    Raises:
        RecordsError: the name, the reason or the place is missing, the value is none, or the interaction is gone.
    """
    reviewer, reason, decides = (s.strip()[:_LONGEST] for s in (verdict.reviewer, verdict.reason, verdict.decides))
    if not reviewer or len(reason) < _LEAST_REASON or len(decides) < 3:
        raise RecordsError(
            "Para dar un veredicto hacen falta su nombre, el motivo en una frase y la página o el artículo que decide."
        )
    if verdict.faithfulness not in (0.0, 1.0):
        raise RecordsError("Diga si la respuesta es fiel o no lo es.")
    kept = replace(
        verdict,
        id=new_id(),
        at=utc_now(),
        reason=reason,
        decides=decides,
        reviewer=reviewer[:200],
        reviewer_kind="person",
    )
    with database.writing() as connection:
        if verdict.kind == "interaction":
            there = select(interactions.c.id).where(interactions.c.id == verdict.case_id)
            if connection.execute(there).first() is None:
                raise RecordsError("Esa respuesta ya no está en los registros: se ha borrado o ha caducado.")
        connection.execute(verdicts.insert().values(asdict(kept)))
    return kept


def list_verdicts(database: Database, *, kind: Kind) -> list[Verdict]:
    """All verdicts of a kind, oldest first; of one moment, in the order in which they were written."""
    query = select(verdicts).where(verdicts.c.kind == kind).order_by(verdicts.c.at, literal_column("rowid"))
    with database.reading() as connection:
        return [Verdict(**row) for row in connection.execute(query).mappings()]
