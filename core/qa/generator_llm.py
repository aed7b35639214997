"""A battery written by a model (prompt 5.1): structured output, every question checked, made anew where it fails."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Protocol

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from core.errors import LlmError
from core.models import Fragment
from core.qa.battery import GENERATOR_VERSION, battery_id, fragments_version, summarise
from core.qa.borders import Nearest
from core.qa.checks import problems
from core.qa.models import (
    COUNTS,
    FORMS,
    Battery,
    BatteryQuestion,
    BookInfo,
    Criteria,
    Difficulty,
    Form,
    QuestionType,
)
from core.qa.text import DocumentText

# A question that fails its check is asked for again this often; then it is a shortfall.
MAX_TRIES = 3
# So many questions in a row for which the model gives no answer at all, and it is taken to be down.
_SILENT = 2
# Fragments shown for one question, and the longest text of each, so that a small context holds them.
_SHOWN, _SHOWN_CHARS = 6, 1400
_MAX_TOKENS, _TIMEOUT_S = 1200, 120.0

_SYSTEM = (
    "Preparas exámenes para comprobar si un asistente responde bien con un documento y solo con él. Escribes en español "
    "correcto y natural, como preguntaría una persona. No usas nada que no esté en los fragmentos que se te dan. "
    "Respondes únicamente con el objeto JSON que se te pide."
)
_TASKS = {
    QuestionType.A: "una pregunta de recuperación directa: lo que el documento dice de un concepto, dato, plazo o lista",
    QuestionType.B: "una pregunta de aplicación o inferencia: qué resulta de lo que dice el documento en una situación concreta",
    QuestionType.C: "una pregunta de borde, cuya respuesta honesta es que el documento no lo trata o hasta dónde llega",
    QuestionType.D: "una pregunta trampa que da por buena una afirmación falsa según el documento, que hay que rechazar",
}
_FORMS_TOLD = {
    Form.ABSENT_TOPIC: "sobre un tema cercano que el documento no trata («topic» lo nombra)",
    Form.NEWER_RESEARCH: "sobre si hay algo más reciente que lo contradiga",
    Form.LIMITATION: "sobre las limitaciones de lo que dice",
    Form.NOT_APPLICABLE: "sobre cuándo o dónde no se aplica",
    Form.FALSE_STATEMENT: "con un dato alterado",
    Form.OPPOSITE_IDEA: "con la idea contraria a la del documento",
    Form.FAKE_QUOTATION: "que pide citar literalmente una frase que no existe",
    Form.WRONG_AUTHOR: "que atribuye lo que dice el documento a otra ley o a otro autor (nómbralo en «forbidden»)",
}


class ChatModel(Protocol):
    """A model that writes JSON to a schema."""

    @property
    def name(self) -> str:
        """The model's name."""

    def complete(
        self, messages: Sequence[tuple[str, str]], *, schema: dict[str, object], max_tokens: int, timeout_s: float
    ) -> str:
        """The model's answer to (role, text) messages. Raises AsesoriaError where there is none."""


class WrittenQuestion(BaseModel):
    """What the model must write for one question."""

    model_config = ConfigDict(extra="ignore")

    question: str = Field(min_length=10, max_length=600)
    difficulty: Difficulty
    expected_fragments: list[int] = Field(description="números de los fragmentos que la responden, el mejor primero")
    expected_answer: str = Field(min_length=10, description="de 100 a 200 palabras donde el documento da para tanto")
    facts: list[list[str]] = Field(default_factory=list, description="datos que deben estar, cada uno con sus formas")
    voice: list[str] = Field(default_factory=list, description="palabras propias del autor que deberían aparecer")
    limits: list[str] = Field(default_factory=list, description="lo que no se debe decir")
    topic: str = ""
    false_statement: str = ""
    true_passage: str = Field(default="", description="frase literal del fragmento que desmiente la afirmación falsa")
    forbidden: list[str] = Field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Slot:
    kind: QuestionType
    number: int
    form: Form


def generate_with_model(
    book: BookInfo,
    fragments: Sequence[Fragment],
    model: ChatModel,
    *,
    seed: int = 0,
    nearest: Nearest | None = None,
    identity: str = "",
) -> Battery:
    """A battery in the calibrated counts, written by ``model``; what it cannot write rightly is a shortfall.

    ``identity``: as for `generate_battery`. A call that fails is a try that failed.

    Raises:
        LlmError: two questions in a row got no answer at all (the model is down, or too slow).
    """
    text = DocumentText(fragments)
    rng = Random(f"{identity or book.doc_id}|{seed}")
    questions: list[BatteryQuestion] = []
    reasons: dict[QuestionType, str] = {}
    places = [s[0] for s in text.sections if len(s[0].text.split()) >= 30] or list(text.fragments)
    rng.shuffle(places)
    silent = 0
    for turn, slot in enumerate(_slots(book)):
        shown = _around(text, places[turn % len(places)])
        try:
            question, why = _write(slot, book, text, shown, model, questions, nearest)
            silent = 0
        except LlmError as error:
            question, why, silent = None, str(error), silent + 1
            if silent == _SILENT:
                raise
        if question is None:
            reasons[slot.kind] = f"el modelo no escribió una pregunta válida en {MAX_TRIES} intentos ({why})"
        else:
            questions.append(question)
    generator = f"llm:{model.name}"
    numbered = tuple(_numbered(questions))
    return Battery(
        id=battery_id(book, fragments, seed, generator),
        book=book,
        seed=seed,
        generator=generator,
        generator_version=GENERATOR_VERSION,
        fragments_version=fragments_version(fragments),
        questions=numbered,
        summary=summarise(book, text, numbered, reasons),
    )


def _slots(book: BookInfo) -> list[_Slot]:
    return [
        _Slot(kind, n, FORMS[kind][(n - 1) % len(FORMS[kind])])
        for kind, wanted in COUNTS[book.type].items()
        for n in range(1, wanted + 1)
    ]


def _numbered(questions: Sequence[BatteryQuestion]) -> list[BatteryQuestion]:
    """Ids without holes: the second of type A is A-2 though a first try failed."""
    count = dict.fromkeys(QuestionType, 0)
    found = []
    for question in questions:
        count[question.type] += 1
        found.append(replace(question, id=f"{question.type}-{count[question.type]}"))
    return found


def _around(text: DocumentText, first: Fragment) -> list[Fragment]:
    at = text.fragments.index(first)
    return list(text.fragments[at : at + _SHOWN])


def _write(
    slot: _Slot,
    book: BookInfo,
    text: DocumentText,
    shown: Sequence[Fragment],
    model: ChatModel,
    before: Sequence[BatteryQuestion],
    nearest: Nearest | None,
) -> tuple[BatteryQuestion | None, str]:
    """The question, or None and why not.

    Raises:
        LlmError: not one of the tries got an answer.
    """
    messages = [("system", _SYSTEM), ("user", _prompt(slot, book, shown, before))]
    wrong = ""
    failed: LlmError | None = None
    for _ in range(MAX_TRIES):
        try:
            raw = model.complete(
                messages, schema=WrittenQuestion.model_json_schema(), max_tokens=_MAX_TOKENS, timeout_s=_TIMEOUT_S
            )
        except LlmError as error:
            failed = error
            continue
        try:
            written = WrittenQuestion.model_validate_json(raw)
        except ValidationError as error:
            wrong = f"JSON no válido ({error.error_count()} errores)"
        else:
            question = _question(slot, written, shown)
            found = problems(question, book, text, before=before, nearest=nearest)
            if not found:
                return question, ""
            wrong = "; ".join(found)
        messages = [*messages[:2], ("assistant", raw), ("user", f"No vale: {wrong}. Escríbela de nuevo, corregida.")]
    if failed and not wrong:
        raise failed
    return None, wrong


def _prompt(slot: _Slot, book: BookInfo, shown: Sequence[Fragment], before: Sequence[BatteryQuestion]) -> str:
    profile = book.profile
    lines = [
        f"Documento: {book.title}. Autor: {book.author or 'no consta'}. Tipo de libro: {book.type}. "
        f"Categoría: {book.category or 'no consta'}.",
    ]
    if profile:
        lines.append(
            f"Perfil del autor. Vocabulario: {', '.join(profile.vocabulary)}. Manera de mirar: "
            f"{', '.join(profile.lenses)}. Nunca diría: {', '.join(profile.negative_filters)}. Tono: {profile.tone}."
        )
    lines.append(f"Escribe {_TASKS[slot.kind]} {_FORMS_TOLD.get(slot.form, f'(forma: {slot.form})')}.")
    lines.append(
        "La respuesta esperada es la vara de medir: correcta, completa, de 100 a 200 palabras si los fragmentos dan "
        "para tanto, y hecha solo con ellos. Di qué datos deben estar, qué palabras del autor y qué no se debe decir."
    )
    if slot.kind is QuestionType.D:
        lines.append(
            "Da en «false_statement» la afirmación falsa y en «true_passage» la frase literal que la desmiente."
        )
    if before:
        lines.append("No repitas estas preguntas: " + " | ".join(q.question for q in before[-8:]))
    lines.extend(f"[{n}] {f.text[:_SHOWN_CHARS]}" for n, f in enumerate(shown, start=1))
    return "\n\n".join(lines)


def _question(slot: _Slot, written: WrittenQuestion, shown: Sequence[Fragment]) -> BatteryQuestion:
    """The model's words as a question; a fragment number that was not shown becomes an id that does not exist."""
    ids = [shown[n - 1].id if 1 <= n <= len(shown) else f"desconocido-{n}" for n in written.expected_fragments]
    return BatteryQuestion(
        id=f"{slot.kind}-{slot.number}",
        type=slot.kind,
        form=slot.form,
        difficulty=written.difficulty,
        question=" ".join(written.question.split()),
        expected_fragments=tuple(dict.fromkeys(ids)),
        section=shown[0].section_label,
        expected_answer=written.expected_answer.strip(),
        criteria=Criteria(
            precision=tuple(tuple(f) for f in written.facts if f),
            voice=tuple(written.voice),
            limits=tuple(written.limits) or ("No debe afirmar nada que no esté en el documento.",),
            forbidden=tuple(written.forbidden),
        ),
        topic=written.topic,
        false_statement=written.false_statement,
        true_passage=written.true_passage,
    )


__all__ = ["MAX_TRIES", "ChatModel", "WrittenQuestion", "generate_with_model"]
