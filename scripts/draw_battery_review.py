"""Draw the questions to be reviewed by hand: 40 of the four batteries, by a fixed seed.

Writes ``data/eval/battery_review.json`` where it is absent; judgements ("kept", "why") are added by a person and are
never overwritten: where the file is there, only the questions that differ are told.
"""

import json
from random import Random

from core.config import PROJECT_ROOT, Settings
from core.models import Scope
from core.qa.battery import generate_battery
from core.qa.models import Battery, BookInfo, BookType
from core.qa.service import fragments_of_file, official_bench
from core.services import Services, build_services

REVIEW_PATH = PROJECT_ROOT / "data" / "eval" / "battery_review.json"
BOOK_PATH = PROJECT_ROOT / "tests" / "data" / "libro_narrativo.md"
SEED, DRAWN = 2028, 40
OFFICIAL = (
    ("iva_2025", BookType.PRESCRIPTIVE),
    ("ley-58-2003", BookType.ANALYTIC),
    ("rd-1619-2012", BookType.ACADEMIC),
)


def batteries(services: Services) -> list[Battery]:
    """The four batteries of the review."""
    found = [official_bench(services, doc_id, kind, seed=SEED).battery for doc_id, kind in OFFICIAL]
    title = "La imprenta de la calle Olmo"
    fragments = fragments_of_file(services, BOOK_PATH, doc_id="libro-narrativo", title=title, session_id="qa")
    book = BookInfo(
        "libro-narrativo", title, "Equipo de AsesorIA", BookType.NARRATIVE, "novela", source_scope=Scope.PRIVATE
    )
    return [*found, generate_battery(book, fragments, seed=SEED)]


def drawn(found: list[Battery]) -> list[dict[str, str]]:
    """The questions drawn, in the batteries' order."""
    pool = [
        {
            "doc_id": b.book.doc_id, "book_type": str(b.book.type), "id": q.id, "form": str(q.form),
            "difficulty": str(q.difficulty), "section": q.section, "question": q.question,
            "expected_answer": q.expected_answer, "facts": " · ".join(f[0] for f in q.criteria.precision),
        }
        for b in found for q in b.questions
    ]  # fmt: skip
    chosen = sorted(Random(SEED).sample(range(len(pool)), DRAWN))
    return [pool[i] for i in chosen]


def main() -> None:
    """Draw, or compare with what was reviewed."""
    questions = drawn(batteries(build_services(Settings())))
    if REVIEW_PATH.exists():
        reviewed = json.loads(REVIEW_PATH.read_text("utf-8"))["questions"]
        same = [a["question"] == b["question"] for a, b in zip(reviewed, questions, strict=True)]
        print(f"{sum(same)} de {len(same)} preguntas revisadas son las que el generador hace hoy.")
        return
    data = {"seed": SEED, "drawn": DRAWN, "questions": [{**q, "kept": None, "why": ""} for q in questions]}
    REVIEW_PATH.write_text(json.dumps(data, ensure_ascii=False, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
