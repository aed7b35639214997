"""The comprobador: judges an answer without a language model. Pure and deterministic.

Four scores from 1 to 10 from what can be computed: expected facts found, claims supported by the fragments they cite,
figures and names that no source has, the right behaviour for the type of question, the register, and how complete and
to the point the answer is. The constants below are judgements of ours, fitted on the tuning half of
``data/eval/judge_set.json``; the other half measures them.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from core.answering.both import as_shown
from core.answering.polarity import denies
from core.models import Answer, Fragment
from core.qa import signals
from core.qa.evidence import is_quoted, kept, shortened
from core.qa.models import BatteryQuestion, Dimension, DimensionScore, Judgement, Profile, QuestionType
from core.qa.reading import Reading, first_of
from core.qa.verdict import diagnose
from core.thresholds import Thresholds

NAME = "comprobador"


@dataclass(frozen=True, slots=True)
class _Score:
    """A dimension's points, why, and the stretch of the answer that shows it."""

    points: float
    evidence: str
    note: str = ""


@dataclass(frozen=True)
class Comprobador:
    """`Judge` without a model, over one document. ``fragments``: the document's by id; ``weight``: as for `verify`."""

    fragments: Mapping[str, Fragment]
    thresholds: Thresholds
    weight: Callable[[str], float] | None = None

    @property
    def name(self) -> str:
        """How it is named everywhere."""
        return NAME

    @property
    def seconds_each(self) -> float:
        """A guess of the time for one answer."""
        return 0.2

    def judge(self, question: BatteryQuestion, answer: Answer | None, *, profile: Profile | None) -> Judgement:
        """Score the answer in the four dimensions; no answer is not judged."""
        if answer is None or not answer.text.strip():
            return Judgement(NAME, (), reason="No hay respuesta que comprobar.")
        answer = replace(answer, text=as_shown(answer.text))
        read = Reading(question, answer, self.fragments, self.thresholds.verify, self.weight)
        if question.type is QuestionType.D:
            precision, limits, utility = self._trap(read)
        elif question.type is QuestionType.C and not question.criteria.precision:
            precision, limits, utility = self._border(read)
        else:
            precision, limits, utility = self._content(read)
        scores = {
            Dimension.PRECISION: precision,
            Dimension.VOICE: _voice(read, profile),
            Dimension.LIMITS: limits,
            Dimension.UTILITY: utility,
        }
        judgement = Judgement(
            NAME,
            tuple(
                DimensionScore(d, round(min(10.0, max(1.0, s.points)), 1), _evidence(s.evidence, read), s.note)
                for d, s in scores.items()
            ),
            hallucinations=kept((shortened(text) for text in read.invented), answer.text),
        )
        return self._with_diagnosis(question, judgement)

    def _with_diagnosis(self, question: BatteryQuestion, judgement: Judgement) -> Judgement:
        found = diagnose(question.type, judgement, self.thresholds.qa)
        if found is None:
            return judgement
        notes = " ".join(dict.fromkeys(s.note for s in judgement.scores if s.note and s.score < 8))
        return replace(judgement, diagnosis=replace(found, failed=f"{found.failed} {notes}".strip()))

    def _penalty(self, read: Reading) -> float:
        return self.thresholds.qa.hallucination_penalty * len(read.invented)

    # -------------------------------------------------------------------------------------------- by type

    def _content(self, read: Reading) -> tuple[_Score, _Score, _Score]:
        """A and B, and what a border question of type C really asks of the document."""
        best = read.nearest(" ".join(read.core))
        shown = first_of(read.invented, read.affirmed, best.text if best else "")
        if read.refused:
            declined = "Se niega a responder, y el documento lo dice."
            return _Score(1, shown, declined), _Score(3, shown, declined), _Score(1, shown, declined)
        if false := first_of(read.contradicts, read.affirmed):
            opposite = "Dice lo contrario que la fuente."
            return _Score(2, false, opposite), _Score(4, false, opposite), _Score(2, false, opposite)
        found = 0.5 * min(1.0, read.facts / 0.9) + 0.5 * read.told
        precision = _Score(
            1 + 9 * found - self._penalty(read) - 2 * read.unsupported,
            shown,
            _told_wrong(read) or (f"Faltan: {', '.join(read.missing)}." if read.missing else ""),
        )
        inside = 1 + 9 * read.grounding - 2 * len(read.invented) - 3 * read.unsupported
        note = "" if read.grounding >= 0.7 else "No se apoya en el fragmento esperado ni en su sección."
        limits = _Score(inside, shown, note)
        answers = 0.75 * read.told + 0.25 * min(1.0, read.complete / 0.5)
        useful = 1 + 9 * answers * (0.4 + 0.6 * min(1.0, read.facts / 0.9))  # without what was asked for, of little use
        vague = signals.generic(read.sentences)
        utility = _Score(
            useful - (2 if vague else 0) - (1.5 if _buried(read) else 0) - len(read.invented),
            first_of(vague, shown),
            "Respuesta genérica." if vague else "",
        )
        return precision, limits, utility

    def _border(self, read: Reading) -> tuple[_Score, _Score, _Score]:
        """C: the honest answer is that the document does not say it."""
        first = read.sentences[0].text if read.sentences else ""
        wrong = first_of(read.invented)
        shown = first_of(read.acknowledged, wrong, first)
        points = self._penalty(read)
        if read.acknowledged or read.refused:
            more = bool(read.expected) and read.says(read.question.expected_answer) > 0.15
            helps = 7 + (2 if more or not read.expected else 0)
            return (
                _Score(10 - points, first_of(wrong, shown), _told_wrong(read)),
                _Score(10 - 4 * len(read.invented), first_of(wrong, shown), _told_wrong(read)),
                _Score(helps - 2 * len(read.invented), shown),
            )
        said = "No dice que el documento no lo trata."
        confirms = signals.stance_of(read.sentences[:1]).confirms
        return (
            _Score((3 if confirms or not read.expected else 6) - points, first_of(wrong, first), _told_wrong(read)),
            _Score(1 if confirms or read.invented or not read.expected else 4, first_of(wrong, first), said),
            _Score(3 - len(read.invented), first, said),
        )

    def _trap(self, read: Reading) -> tuple[_Score, _Score, _Score]:
        """D: the false statement has to be refused or corrected."""
        stance = signals.stance_of(read.sentences)
        rejects = stance.rejects or _frame_rejects(read)
        near = read.nearest(read.question.true_passage)
        shown = first_of(read.affirmed, stance.evidence, near.text if near else "")
        told = read.corrected
        points = self._penalty(read)
        if read.affirmed or (stance.confirms and not rejects):
            note = "Da por buena la afirmación falsa."
            return _Score(2, shown, note), _Score(2.5 if rejects else 1, shown, note), _Score(2, shown, note)
        if rejects:
            mixed = 3 if stance.confirms else 0
            note = "" if told >= 0.5 else "La rechaza, pero no dice lo que la fuente dice."
            return (
                _Score(1 + 9 * (0.4 + 0.6 * told) - points, first_of(read.invented, shown), _told_wrong(read) or note),
                _Score(7 + 3 * min(1.0, 2 * told) - mixed - 2 * len(read.invented), shown, note),
                _Score(5 + 5 * told - len(read.invented), near.text if near else shown, note),
            )
        note = "No la rechaza: cita sin decir que es falsa."
        if read.refused:
            return _Score(3, shown, note), _Score(5, shown, note), _Score(2, shown, note)
        if told >= 0.5:
            return _Score(7 - points, shown, note), _Score(6, shown, note), _Score(6, shown, note)
        return _Score(3 - points, shown, note), _Score(3, shown, note), _Score(2, shown, note)


def _told_wrong(read: Reading) -> str:
    return f"Afirma lo que la fuente no dice ({len(read.invented)})." if read.invented else ""


def _frame_rejects(read: Reading) -> bool:
    """The product's own line above its quotations («No: el pasaje citado da otro plazo …»)."""
    frame = "\n".join(line.strip("*_ ") for line in signals.frame_of(read.answer.text) if "«" not in line)
    return any(signals.rejects(s) for s in signals.sentences_of(frame))


def _buried(read: Reading) -> bool:
    """Whether what answers comes only in the second half of the answer."""
    best = read.nearest(" ".join(read.core))
    before = 0
    for sentence in read.sentences:
        if sentence is best:
            break
        before += len(sentence.text)
    return before > 0.5 * sum(len(s.text) for s in read.sentences)


def _voice(read: Reading, profile: Profile | None) -> _Score:
    """The author's voice where a profile is given, else the institutional register."""
    if profile is not None:
        return _author(read, profile)
    faults = signals.register_faults(read.sentences)
    due = [w for w in read.question.criteria.voice if len(w.split()) <= 4]
    heard = (
        sum(signals.fact_share([w], read.answer.text, read.sentences) >= 0.5 for w in due) / len(due) if due else 1.0
    )
    vague = signals.generic(read.sentences)
    points = 10 - sum(weight for _, weight, _ in faults) - (1.5 * (1 - heard) if not read.refused else 0)
    points -= 2 * bool(read.uncited) + 1.5 * bool(vague)
    first = read.sentences[0].text if read.sentences else ""
    return _Score(
        points,
        first_of([text for _, _, text in faults], vague, first),
        f"Registro: {', '.join(name for name, _, _ in faults)}." if faults else "",
    )


def _author(read: Reading, profile: Profile) -> _Score:
    """Vocabulary and lenses heard, negative filters kept; a neutral answer is worth six."""
    words = [*profile.vocabulary, *profile.lenses]
    heard = [w for w in words if signals.fact_share([w], read.answer.text, read.sentences) >= 0.8]
    broken = [s.text for s in read.sentences for rule in profile.negative_filters if _breaks(rule, s)]
    vague = signals.generic(read.sentences)
    enough = max(1, min(3, len(words)))
    points = 6 + 4 * min(1.0, len(heard) / enough) if words else 8.0
    note = f"Dice lo que el autor nunca diría ({len(broken)})." if broken else ""
    if not broken and words and not heard:
        note = "No usa el vocabulario del autor."
    shown = read.nearest(heard[0]) if heard else None
    first = read.sentences[0].text if read.sentences else ""
    return _Score(
        points - 5 * len(broken) - 2 * bool(vague), first_of(broken, shown.text if shown else "", vague, first), note
    )


def _breaks(rule: str, sentence: signals.Sentence) -> bool:
    """Whether a sentence says what a negative filter («nunca diría …») forbids, and does not deny it."""
    wanted = signals.content_of(rule)
    return bool(wanted) and signals.share(wanted, sentence.stems) >= 0.8 and denies(sentence.text) == denies(rule)


def _evidence(text: str, read: Reading) -> str:
    """A stretch that is really in the answer; '' where there is none."""
    for candidate in (text, read.sentences[0].text if read.sentences else ""):
        short = shortened(candidate)
        if short and is_quoted(short, read.answer.text):
            return short
    return ""
