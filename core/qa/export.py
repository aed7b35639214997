"""A report as files, with the decisions of persons beside the judge's."""

import json
from collections.abc import Sequence
from typing import Any

from core.qa.cases import Case, judge_says, told
from core.qa.models import QuestionResult, Report
from core.qa.report import report_markdown
from core.qa.serial import to_data
from core.qa.status import StatusChange


def export_markdown(report: Report, cases: Sequence[Case], closed: StatusChange | None) -> str:
    """The report in the form of the final verdict, then each decision with name and time."""
    lines = [report_markdown(report).rstrip(), "", "## Decisiones de la revisión humana", ""]
    for case in cases:
        review, name = case.review, case.result.question.id
        said = f"{review.closed_by} ({_time(review.closed_at)}) {told(review)}." if case.verdict else "pendiente."
        lines.append(f"- {name}: el juez ({report.judge}) dice {judge_says(case.result)}; {said}")
    if not cases:
        lines.append("Ningún caso esperaba a una persona.")
    if closed:
        lines += ["", f"Informe cerrado como «{closed.status}» por {closed.by} ({_time(closed.at)}): {closed.reason}"]
    return "\n".join(lines) + "\n"


def export_json(report: Report, cases: Sequence[Case], closed: StatusChange | None) -> str:
    """As the command line's JSON, with ``human_decisions`` and ``closing``."""
    data: dict[str, Any] = report_data(report)
    data["human_decisions"] = [
        {
            "question_id": c.result.question.id, "verdict": str(c.verdict) if c.verdict else None,
            "person": c.review.closed_by, "at": c.review.closed_at, "reason": c.review.reason,
        }
        for c in cases
    ]  # fmt: skip
    data["closing"] = (
        {"status": str(closed.status), "person": closed.by, "at": closed.at, "reason": closed.reason}
        if closed
        else None
    )
    return json.dumps(data, ensure_ascii=False, indent=1)


def report_data(report: Report) -> dict[str, Any]:
    """The report as JSON, as the command line prints it: flat questions beside the whole report's fields."""
    data: dict[str, Any] = to_data(report)
    results = data.pop("results")
    battery = data.pop("battery")
    data["document"], data["type"], data["seed"] = battery["book"]["doc_id"], battery["book"]["type"], battery["seed"]
    data["summary"] = battery["summary"]
    data["questions"] = [
        {
            **{k: r["question"][k] for k in ("id", "type", "form", "difficulty", "question", "section")},
            "expected_answer": r["question"]["expected_answer"],
            "expected_fragments": r["question"]["expected_fragments"],
            "answer": (r["given"]["answer"] or {}).get("text", ""),
            "error": r["given"]["error"],
            "scores": {s["dimension"]: s["score"] for s in r["judgement"]["scores"]},
            "evidence": {s["dimension"]: s["evidence"] for s in r["judgement"]["scores"]},
            "score": r["score"],
            "verdict": r["verdict"],
            "hallucinations": r["judgement"]["hallucinations"],
            "judge": r["judgement"]["judge"],
            "not_judged": r["judgement"]["reason"],
            "diagnosis": r["diagnosis"],
        }
        for r in results
    ]
    return data


def section_rows(report: Report, minimum: float | None) -> list[tuple[str, float, int, bool | None]]:
    """Section, mean, questions judged, whether it reaches ``minimum`` (None: there is no minimum), lowest first."""

    def judged(result: QuestionResult, section: str) -> bool:
        return result.question.section == section and result.score is not None

    rows = [
        (section, mean, sum(judged(r, section) for r in report.results), None if minimum is None else mean >= minimum)
        for section, mean in report.section_scores.items()
    ]
    return sorted(rows, key=lambda row: (row[1], row[0]))


def _time(iso: str) -> str:
    return iso[:16].replace("T", " ")
