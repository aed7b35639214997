"""What a person decides of a report: each flagged case, then the report as a whole.

A case is an item of the inbox. The judge's result stays in the report as it was; the person's verdict, reason, name and
time are kept beside it, in the item.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from core.errors import AsesoriaError, ReviewConflictError
from core.qa.models import QuestionResult, QuestionVerdict, Report
from core.qa.report import QUESTION_VERDICT_TEXT
from core.qa.status import CannotCloseError, QaStatus, StatusChange
from core.qa.store import SqlRunStore
from core.qa.verdict import cut
from core.records.database import Database
from core.records.reviews import CLOSED, Review, close_review, list_reviews, open_review

# Kind of the inbox's items that are flagged cases of a battery.
CASE = "qa_case"
_PROGRAM, _SUPERSEDED = "AsesorIA", "superseded"
# What may be decided of the other items: the word that is kept, and what it means.
DECISION_TEXT: Mapping[str, str] = {
    "answer_right": "la respuesta es correcta",
    "answer_wrong": "la respuesta está mal",
    "no_action": "revisado, no hay que hacer nada",
    "action": "hay que corregirlo",
    _SUPERSEDED: "ya no procede",
}
_CONFIRM, _OVERRIDE = "confirm", "override"
_CONFIRMED = "Conforme con el veredicto del juez."


@dataclass(frozen=True, slots=True)
class Case:
    """A flagged question: the judge's result, why it is flagged (Spanish), and what a person has decided."""

    result: QuestionResult
    why: str
    review: Review

    @property
    def verdict(self) -> QuestionVerdict | None:
        """The person's verdict; None while it waits."""
        return decided_verdict(self.review)

    @property
    def accepted(self) -> bool:
        """Whether the person lets the answer pass: pass or borderline."""
        return self.verdict in (QuestionVerdict.PASS, QuestionVerdict.BORDERLINE)


def open_cases(database: Database, report: Report) -> int:
    """Put the flagged questions of a document's latest report into the inbox. How many are new.

    Those that are (or were) there are left; what waits of the document's earlier reports, which cannot be closed any more,
    is taken out with that reason.
    """
    _supersede(database, report)
    results = {r.question.id: r for r in report.results}
    opened = 0
    for question_id, why in report.human.items():
        result = results[question_id]
        title = report.battery.book.title
        opened += open_review(
            database,
            kind=CASE,
            subject=_subject(report.id, question_id),
            title=f"{title}: pregunta {question_id}, {judge_says(result)}",
            details={
                "report_id": report.id, "doc_id": report.battery.book.doc_id, "document": title,
                "question_id": question_id, "question": result.question.question, "judge": report.judge,
                "score": result.score, "verdict": str(result.verdict), "why": why,
            },
        )  # fmt: skip
    return opened


def _supersede(database: Database, report: Report) -> None:
    for review in list_reviews(database, kind=CASE):
        about = (review.details.get("doc_id"), review.details.get("report_id"))
        if about[0] == report.battery.book.doc_id and about[1] != report.id:
            reason = f"Hay un informe más reciente de este documento: {report.id}."
            with suppress(ReviewConflictError):  # a person was quicker: that decision stays
                close_review(database, review, person=_PROGRAM, reason=reason, decision=_SUPERSEDED)


def judge_says(result: QuestionResult) -> str:
    """The judge's verdict on a question with its score, cut: «falla (4.2)»."""
    score = f" ({cut(result.score)})" if result.score is not None else ""
    return f"{QUESTION_VERDICT_TEXT[result.verdict]}{score}"


def cases_of(database: Database, report: Report) -> tuple[Case, ...]:
    """A report's flagged questions in the battery's order; `open_cases` has put them into the inbox."""
    reviews = {r.subject: r for r in list_reviews(database, status="", kind=CASE)}
    found = []
    for result in report.results:
        review = reviews.get(_subject(report.id, result.question.id))
        if review is not None and result.question.id in report.human:
            found.append(Case(result, report.human[result.question.id], review))
    return tuple(found)


def decide_case(
    database: Database, review: Review, *, judged: QuestionVerdict, verdict: QuestionVerdict, person: str, reason: str
) -> Review:
    """The person's verdict on a case, as it was read. The judge's own (``judged``) may be confirmed without a reason.

    Raises:
        AsesoriaError: the verdict is none, or differs from the judge's without a reason.
        ReviewConflictError: another has decided it meanwhile; the message says who, what and why.
    """
    if verdict is QuestionVerdict.NOT_JUDGED:
        raise AsesoriaError("Elija un veredicto: pasa, limítrofe o falla.")
    same = verdict is judged
    if not same and not reason.strip():
        raise AsesoriaError("Para cambiar el veredicto del juez, escriba el motivo.")
    decision = f"{_CONFIRM if same else _OVERRIDE}:{verdict}"
    return decide(database, review, person=person, reason=reason.strip() or _CONFIRMED, decision=decision)


def decide(database: Database, review: Review, *, person: str, reason: str, decision: str = "") -> Review:
    """Close any item of the inbox as it was read.

    Raises:
        RecordsError: no person or no reason. ReviewConflictError: another has decided it; the message says what.
    """
    try:
        return close_review(database, review, person=person, reason=reason, decision=decision)
    except ReviewConflictError as error:
        present = next((r for r in list_reviews(database, status="") if r.id == review.id), None)
        if present is None or present.status != CLOSED:
            raise
        raise ReviewConflictError(
            f"{present.closed_by} lo ha decidido mientras usted lo leía: {told(present)}. "
            "Lo que usted acaba de enviar no se ha guardado: queda esa decisión."
        ) from error


def decided_verdict(review: Review) -> QuestionVerdict | None:
    """The verdict in a decided case; None where there is none."""
    _, _, verdict = review.decision.partition(":")
    return QuestionVerdict(verdict) if verdict in set(QuestionVerdict) else None


def told(review: Review) -> str:
    """What was decided of an item, for a person: «cambia el veredicto a pasa. Motivo: ...»."""
    verdict = decided_verdict(review)
    if verdict is None:
        what = DECISION_TEXT.get(review.decision, review.decision or "revisado")
    elif review.decision.startswith(_OVERRIDE):
        what = f"cambia el veredicto a «{QUESTION_VERDICT_TEXT[verdict]}»"
    else:
        what = f"confirma el veredicto «{QUESTION_VERDICT_TEXT[verdict]}»"
    return f"{what}. Motivo: {review.reason.rstrip('.')}"


@dataclass(frozen=True, slots=True)
class Closing:
    """Where the closing of a report stands. ``seen``: number of the document's last status change (0 for none).

    ``closed``: the closing, if there was one. ``newer``: id of a later report of the same document, '' for none.
    """

    waiting: tuple[str, ...]
    refused: tuple[str, ...]
    seen: int
    closed: StatusChange | None
    newer: str


def closing_of(store: SqlRunStore, report: Report, cases: Sequence[Case]) -> Closing:
    """What is still to be decided before the report can be closed, and whether it has been."""
    doc_id = report.battery.book.doc_id
    changes = store.status_changes(doc_id)
    by_person = [c for c in changes if c.report_id == report.id and c.by != report.judge]
    decided = {c.result.question.id: c for c in cases if c.verdict is not None}
    latest = store.report_heads(doc_id)
    return Closing(
        waiting=tuple(q for q in report.human if q not in decided),
        refused=tuple(q for q, case in decided.items() if not case.accepted),
        seen=changes[-1].number if changes else 0,
        closed=by_person[-1] if by_person else None,
        newer=latest[0].id if latest and latest[0].id != report.id else "",
    )


def close_report(
    store: SqlRunStore,
    database: Database,
    report: Report,
    *,
    status: QaStatus,
    person: str,
    reason: str,
    seen: int,
) -> None:
    """The reviewer's closing, which sets the document's status. ``seen``: from the `Closing` that was read.

    Raises:
        CannotCloseError: cases wait, the status does not fit them, there is a newer report, no name or reason is given,
            or the status has changed meanwhile.
    """
    if not person.strip() or not reason.strip():
        raise CannotCloseError("Para cerrar el informe hacen falta su nombre y un motivo.")
    cases = cases_of(database, report)
    newer = closing_of(store, report, cases).newer
    if newer:
        raise CannotCloseError(f"Hay un informe más reciente de este documento ({newer}): cierre ese.")
    decided: Mapping[str, bool] = {c.result.question.id: c.accepted for c in cases if c.verdict is not None}
    store.close_report(report, status, decided=decided, by=person.strip(), seen=seen, reason=reason.strip())


def _subject(report_id: str, question_id: str) -> str:
    return f"{report_id}:{question_id}"
