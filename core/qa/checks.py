"""Checks on each question of a battery, whoever made it: deterministic generator or model."""

import re
from collections.abc import Sequence

from core.qa.borders import Nearest, absent
from core.qa.models import COUNTS, FORMS, BatteryQuestion, BookInfo, Form, QuestionType
from core.qa.text import DocumentText, bare, overlap
from core.retrieval.terms import stems

# Two questions that share this part of their words ask the same.
SAME_QUESTION = 0.75
# So much of an expected answer's words must be in its fragments (for A and B; connecting words apart).
SUPPORTED = 0.7
_FIGURE = re.compile(r"\d[\d.,]*\d|\d")
_QUESTION_WORDS = (4, 70)


def problems(
    question: BatteryQuestion,
    book: BookInfo,
    text: DocumentText,
    *,
    before: Sequence[BatteryQuestion] = (),
    nearest: Nearest | None = None,
) -> list[str]:
    """What is wrong with a question, in Spanish; empty where it is right.

    ``before``: the battery's questions so far, which it must not repeat.
    """
    found = [*_shape(question), *_fragments(question, text)]
    if any(same_question(question.question, other.question) for other in before):
        found.append("repite otra pregunta de la batería")
    if found:
        return found
    if question.type in (QuestionType.A, QuestionType.B):
        found.extend(_supported(question, text))
    elif question.type is QuestionType.C:
        found.extend(_border(question, text, nearest))
    else:
        found.extend(_trap(question, book, text))
    return found


def same_question(one: str, other: str) -> bool:
    """Whether two questions ask the same: most of the words of both are shared, figures included."""
    a, b = set(stems(one)), set(stems(other))
    return len(a & b) >= SAME_QUESTION * max(len(a), len(b), 1)


def _shape(q: BatteryQuestion) -> list[str]:
    found = []
    if not _QUESTION_WORDS[0] <= len(q.question.split()) <= _QUESTION_WORDS[1] or "?" not in q.question:
        found.append("no es una pregunta de longitud razonable")
    if q.form not in FORMS[q.type]:
        found.append(f"la forma «{q.form}» no es del tipo {q.type}")
    if not q.expected_answer.strip():
        found.append("no tiene respuesta esperada")
    if not (q.criteria.precision or q.criteria.limits):
        found.append("no tiene criterios de evaluación")
    return found


def _fragments(q: BatteryQuestion, text: DocumentText) -> list[str]:
    found = [f"el fragmento {f} no existe" for f in q.expected_fragments if f not in text.by_id]
    if not q.expected_fragments and q.type is not QuestionType.C:
        found.append("no dice en qué fragmento está la respuesta")
    return found


def _supported(q: BatteryQuestion, text: DocumentText) -> list[str]:
    """The expected answer and each expected fact must be in the expected fragments, figures exactly."""
    source = "\n".join(text.by_id[f].text for f in q.expected_fragments)
    found = []
    missing = [n for n in _FIGURE.findall(q.expected_answer) if n not in source]
    if missing:
        found.append(f"la respuesta esperada da cifras que no están en sus fragmentos: {', '.join(missing[:3])}")
    said = set(stems(q.expected_answer))
    if overlap_share(said, set(stems(source))) < SUPPORTED:
        found.append("la respuesta esperada no se apoya en sus fragmentos")
    where = bare(f"{source}\n{q.expected_answer}")
    for fact in q.criteria.precision:
        if not any(bare(form) in where or set(stems(form)) <= set(stems(source)) for form in fact):
            found.append(f"el dato «{fact[0]}» no está en sus fragmentos")
    if not q.criteria.precision:
        found.append("no dice qué datos debe contener la respuesta")
    return found


def overlap_share(said: set[str], source: set[str]) -> float:
    """Share of the words said that the source has."""
    return len(said & source) / max(1, len(said))


def _border(q: BatteryQuestion, text: DocumentText, nearest: Nearest | None) -> list[str]:
    if q.form is Form.ABSENT_TOPIC and not absent((q.topic,), text, q.topic, nearest):
        return [f"el documento sí trata «{q.topic}»"]
    if q.form is Form.ABSENT_TOPIC and not q.topic:
        return ["no dice qué tema falta en el documento"]
    return []


def _trap(q: BatteryQuestion, book: BookInfo, text: DocumentText) -> list[str]:
    """What is to be refused must differ from the source, and the passage that shows it must be there."""
    found = []
    if not q.false_statement:
        found.append("no tiene afirmación falsa")
    if not q.true_passage or bare(q.true_passage) not in bare(
        " ".join(text.by_id[f].text for f in q.expected_fragments)
    ):
        found.append("el pasaje que la desmiente no está en sus fragmentos")
    if found:
        return found
    false = bare(q.false_statement)
    if q.form is Form.WRONG_AUTHOR:
        wrong = [bare(w) for w in q.criteria.forbidden]
        if not wrong or any(w in bare(f"{book.title} {book.author}") or w in bare(q.true_passage) for w in wrong):
            found.append("la atribución no es falsa")
        return found
    if false in text.folded:
        found.append("la afirmación falsa está en el documento")
    elif q.form is Form.FAKE_QUOTATION:
        return found
    elif not contradicts(q.false_statement, q.true_passage):
        found.append("el documento no desmiente la afirmación")
    return found


def contradicts(false: str, true: str) -> bool:
    """Whether two statements about the same thing differ in a figure, a denial or a name."""
    if overlap(stems(_FIGURE.sub("", false)), stems(_FIGURE.sub("", true))) < 0.5:
        return False
    if _denials(false) != _denials(true):
        return True
    figures = set(
        re.findall(
            rf"{_FIGURE.pattern}|\b(?:un|dos|tres|cuatro|cinco|seis|siete|ocho|nueve|diez|doce|quince|veinte)\b",
            false.casefold(),
        )
    )
    return bool(figures - set(re.findall(r"[\w.,]*\w", true.casefold()))) or bool(_names(false) - _names(true))


def _denials(text: str) -> int:
    return len(re.findall(r"\b(?:no|nunca|jamás|ningun[ao]?|ningún|nadie|tampoco|sin)\b", text.casefold()))


def _names(text: str) -> set[str]:
    return set(re.findall(r"(?<=[a-záéíóúñ,] )[A-ZÁÉÍÓÚÑ][a-záéíóúñ]+", text))


def distribution_is_right(book: BookInfo, questions: Sequence[BatteryQuestion]) -> bool:
    """Whether there are exactly the calibrated number of questions of each type."""
    return all(sum(q.type is t for q in questions) == n for t, n in COUNTS[book.type].items())
