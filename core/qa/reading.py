"""An answer read against its question, its cited fragments and the expected ones: the facts the comprobador scores."""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from core.answering.polarity import denies, negated
from core.answering.values import Kind
from core.answering.verify import Passage, Problem, Verification, passage_of, verify
from core.answering.wording import terms_of
from core.ingestion.sentences import split_sentences
from core.models import Answer, Fragment, Mode
from core.qa import signals
from core.qa.evidence import bare
from core.qa.models import BatteryQuestion, QuestionType
from core.qa.signals import Sentence, content_of
from core.thresholds import VerifyThresholds

# A sentence that shares fewer of its words than this with all that may support it says something else.
_SUPPORTED = 0.5
# What a verified claim may be wrong in that makes it false rather than badly worded.
_FALSE = {Problem.QUOTE, Problem.VALUE_MISPLACED, Problem.DIRECTION, Problem.OTHER_SUBJECT}
# «aunque no haya habido operaciones» denies nothing of what the sentence says.
# Problems of wording, or that the verification suspects where another sentence of the fragment denies something.
_MILD = {None, Problem.POLARITY, Problem.MODALITY, Problem.IDLE_CITATION}
_ABOUT_THE_SAME = 0.4
_VERBS = terms_of(
    "podrá podrán puede pueden deberá deberán debe deben será serán es son está están ha han hay tiene tienen"
)
_CONCESSION = re.compile(r"\b(?:aunque|incluso si|aun cuando|haya o no|con independencia)\b[^.;]*", re.IGNORECASE)
# So much of an expected statement's new words is all of it, in other words than the source's.
_PARAPHRASED = 0.7
_SAME_STATEMENT, _BY_CHANCE = 0.6, 0.2
_HELD = 0.9
_ROOT = 5  # «España» is known where the source says «español»
_NAME = re.compile(r"(?<=[\w,;:)»] )[A-ZÁÉÍÓÚÑ][a-záéíóúñ]{2,}")


@dataclass(frozen=True)
class Reading:
    """One answer as read. ``fragments``: the document's, by id. ``weight``: as for `verify`."""

    question: BatteryQuestion
    answer: Answer
    fragments: Mapping[str, Fragment]
    limits: VerifyThresholds
    weight: Callable[[str], float] | None = None

    @cached_property
    def sentences(self) -> tuple[Sentence, ...]:
        """The answer's own sentences, frame and marks left out."""
        return signals.sentences_of(self.answer.text)

    @cached_property
    def stems(self) -> frozenset[str]:
        """All stems of the answer's sentences."""
        return frozenset().union(*(s.stems for s in self.sentences))

    @cached_property
    def expected(self) -> tuple[Fragment, ...]:
        """The expected fragments that the document has."""
        return tuple(self.fragments[i] for i in self.question.expected_fragments if i in self.fragments)

    @cached_property
    def passages(self) -> dict[int, Passage]:
        """What each ``[n]`` of the answer means: the whole fragment where the document has it, else what is quoted."""
        found = {}
        for number, source in enumerate(self.answer.sources, start=1):
            whole = self.fragments.get(source.fragment_id)
            found[number] = passage_of(whole) if whole else Passage(source.passage, f"{source.title}\n{source.section}")
        return found

    @cached_property
    def allowed(self) -> tuple[str, ...]:
        """Every text that may support a statement: cited and expected fragments, with where they stand."""
        cited = [f"{p.text}\n{p.context}" for p in self.passages.values()]
        due = [f"{p.text}\n{p.context}" for p in map(passage_of, self.expected)]
        return (*cited, *due, self.question.expected_answer)

    # ------------------------------------------------------------------------------------------ what is there

    @cached_property
    def facts(self) -> float:
        """Mean share (0..1) of the expected facts that are there; 1 where none is named."""
        due = self.question.criteria.precision
        shares = [signals.fact_share(fact, self.answer.text, self.sentences) for fact in due]
        return sum(shares) / len(shares) if shares else 1.0

    @cached_property
    def missing(self) -> list[str]:
        """Expected facts of which less than half is there."""
        due = self.question.criteria.precision
        return [fact[0] for fact in due if signals.fact_share(fact, self.answer.text, self.sentences) < 0.5]

    @cached_property
    def core(self) -> tuple[str, ...]:
        """The sentences of the expected answer that answer: the fewest that hold all facts and the question's words."""
        text = self.question.expected_answer
        asked = content_of(self.question.question)
        pool = [text[a:b] for a, b in split_sentences(text)]
        left, chosen = self.question.criteria.precision, list[str]()
        while pool:
            best = max(pool, key=lambda s: _held(left, s) + 2 * signals.share(asked, content_of(s)) * (not chosen))
            if chosen and not _held(left, best):
                break
            there = signals.sentences_of(best)
            left = tuple(fact for fact in left if signals.fact_share(fact, best, there) < _HELD)
            chosen.append(best)
            pool.remove(best)
        return tuple(chosen)

    @cached_property
    def told(self) -> float:
        """How much (0..1) of what the core says beyond the question is there, in the source's words or others."""
        asked = content_of(self.question.question)
        core = {t for sentence in self.core for t in content_of(sentence)}
        new = core - asked if len(core - asked) > 2 else core  # where yes or no is asked, the core is the question
        return min(1.0, signals.share(new, self.stems) / _PARAPHRASED)

    @cached_property
    def complete(self) -> float:
        """How much (0..1) of the whole expected answer's words is there."""
        return signals.share(content_of(self.question.expected_answer), self.stems)

    def nearest(self, text: str) -> Sentence | None:
        """The answer's sentence that shares most with a text; None where the answer has none."""
        wanted = content_of(text)
        return max(self.sentences, key=lambda s: len(wanted & s.stems), default=None)

    def says(self, text: str) -> float:
        """Share (0..1) of the text's words that one sentence of the answer has."""
        wanted = content_of(text)
        return max((signals.share(wanted, s.stems) for s in self.sentences), default=0.0)

    # ------------------------------------------------------------------------------------------ what should not be

    @cached_property
    def verification(self) -> Verification:
        """Each claim against the fragments that it cites, as the product verifies its own drafts."""
        extractive = self.answer.mode is not Mode.SYNTHESIS
        own = [line for line in self.answer.text.split("\n") if extractive and "«" not in line]
        return verify(
            self.answer.text,
            self.passages,
            thresholds=self.limits,
            own=(*own, *signals.frame_of(self.answer.text)),
            weight=self.weight,
        )

    @cached_property
    def invented(self) -> tuple[str, ...]:
        """The stretches that state what neither the cited nor the expected fragments say: figures one by one."""
        if not self.answer.grounded and self.answer.mode is not Mode.SYNTHESIS:
            return ()  # the product's own words, by which it declines
        return tuple(dict.fromkeys(stretch for s in self.sentences for stretch in self._invented_in(s)))

    def _invented_in(self, sentence: Sentence) -> list[str]:
        if self._is_literal(sentence):
            return []
        trap = self.question.type is QuestionType.D
        denied = signals.rejects(sentence) or bool(signals.acknowledgement([sentence]))
        known = self._known | (self._asked if denied or not trap else set())
        figures = signals.unknown_figures(sentence.text, known)
        return figures or ([sentence.text] if self._says_what_no_source_says(sentence, denied=denied) else [])

    def _says_what_no_source_says(self, sentence: Sentence, *, denied: bool) -> bool:
        names = {t for name in _NAME.findall(sentence.text) for t in content_of(name)}
        if any(name[:_ROOT] not in self._known_roots for name in names):
            return True
        if denied:
            return False
        if bare(sentence.text) in self._false_claims or sentence.text == self.contradicts:
            return True
        words = {t for t in sentence.stems - self._asked_stems if ":" not in t}  # figures have been looked at already
        return signals.share(words, self._known_stems) < _SUPPORTED

    @cached_property
    def _known(self) -> set[tuple[Kind, str]]:
        return signals.known_figures(self.allowed_of_source)

    @cached_property
    def allowed_of_source(self) -> tuple[str, ...]:
        """As `allowed`; for a trap without the expected answer, which repeats what is false."""
        return self.allowed[:-1] if self.question.type is QuestionType.D else self.allowed

    @cached_property
    def _asked(self) -> set[tuple[Kind, str]]:
        return signals.known_figures([self.question.question])

    @cached_property
    def _known_stems(self) -> frozenset[str]:
        return frozenset(t for text in self.allowed for t in content_of(text))

    @cached_property
    def _known_roots(self) -> frozenset[str]:
        return frozenset(t[:_ROOT] for t in self._known_stems | self._asked_stems)

    @cached_property
    def _asked_stems(self) -> frozenset[str]:
        return content_of(self.question.question)

    @cached_property
    def _false_claims(self) -> Collection[str]:
        return {
            bare(s.text)
            for claim in self.verification.claims
            if claim.problem in _FALSE
            for s in signals.sentences_of(claim.text)
        }

    @cached_property
    def unsupported(self) -> float:
        """Share (0..1) of the claims that their citations do not support; 1 where there is no citation at all."""
        claims = [c for c in self.verification.claims if len(content_of(c.text)) > 2 and not self._denied(c.text)]
        return sum(c.problem not in _MILD for c in claims) / len(claims) if claims else 0.0

    @cached_property
    def contradicts(self) -> str:
        """The sentence that denies what the core of the expected answer says, or says what it denies; '' for none.

        Not for traps and borders, whose expected answer denies the question.
        """
        kind = self.question.type
        if kind is QuestionType.D or (kind is QuestionType.C and not self.question.criteria.precision):
            return ""
        for core in self.core:
            near = self.nearest(core)
            if near is None or signals.share(content_of(core), near.stems) < _ABOUT_THE_SAME or self._is_literal(near):
                continue
            said = _CONCESSION.sub("", near.text)
            ours, theirs = negated(said) - _VERBS, negated(core) - _VERBS
            if (ours & terms_of(core)) - theirs or (theirs & terms_of(said)) - ours:
                return near.text
        return ""

    def _is_literal(self, sentence: Sentence) -> bool:
        return bare(sentence.text).strip(" .,;:") in self._source_text

    @cached_property
    def _source_text(self) -> str:
        return bare("\n".join(self.allowed[:-1]))

    def _denied(self, text: str) -> bool:
        return any(signals.rejects(s) or signals.acknowledgement([s]) for s in signals.sentences_of(text))

    @cached_property
    def uncited(self) -> bool:
        """Whether the answer states things and cites nothing."""
        return not self.answer.sources and not self.acknowledged

    # ------------------------------------------------------------------------------------------ behaviour

    @cached_property
    def acknowledged(self) -> str:
        """The sentence that says that the document does not cover it; '' where there is none."""
        return signals.acknowledgement(self.sentences)

    @cached_property
    def refused(self) -> bool:
        """Whether the answer declines to answer: nothing cited, and it says so."""
        return not self.answer.grounded and (bool(self.acknowledged) or self.answer.category.value == "out_of_scope")

    @cached_property
    def grounding(self) -> float:
        """1 for an expected fragment among the cited, 0.85 for its section, 0.7 for the same words elsewhere, else 0.3;
        0 where nothing is cited."""
        cited = self.answer.sources
        if not cited:
            return 0.0
        if not self.expected or {s.fragment_id for s in cited} & {f.id for f in self.expected}:
            return 1.0
        if {s.section_path for s in cited} & {f.section_path for f in self.expected}:
            return 0.85
        core = {t for sentence in self.core for t in content_of(sentence)}
        return 0.7 if any(signals.share(core, content_of(p.text)) >= 0.8 for p in self.passages.values()) else 0.3

    @cached_property
    def affirmed(self) -> str:
        """The sentence that states what the question falsely takes for granted, or what is forbidden; '' for none."""
        own = [s for s in self.sentences if not signals.rejects(s) and not self._is_literal(s)]
        return next((s.text for s in own if self._affirms(s)), "")

    def _affirms(self, sentence: Sentence) -> bool:
        q = self.question
        rest = content_of(q.false_statement)
        for phrase in q.criteria.forbidden:
            rest_without = rest - content_of(phrase)
            near = not rest_without or signals.share(rest_without, sentence.stems) >= 0.35
            if near and signals.fact_share([phrase], sentence.text, [sentence]) >= 0.85:
                return True
        if not q.false_statement or q.criteria.forbidden or signals.share(rest, sentence.stems) < _SAME_STATEMENT:
            return False
        false, true = denies(q.false_statement), denies(q.true_passage)
        return false != true and denies(sentence.text) == false

    @cached_property
    def corrected(self) -> float:
        """How far (0..1) the truth is told beside a trap: its facts, and the passage that shows it."""
        false, true = self.question.false_statement, self.question.true_passage
        near = self.nearest(true)
        if near is None:
            return 0.0
        if denies(false) != denies(true) and denies(near.text) != denies(true) and not signals.rejects(near):
            return 0.0
        there = signals.share(content_of(true), near.stems)
        return min(self.facts, min(1.0, max(0.0, there - _BY_CHANCE) / (_SAME_STATEMENT - _BY_CHANCE)))


def _held(facts: Sequence[Sequence[str]], sentence: str) -> int:
    """How many of the facts a sentence holds."""
    there = signals.sentences_of(sentence)
    return sum(signals.fact_share(fact, sentence, there) >= _HELD for fact in facts)


def first_of(*texts: Sequence[str] | str) -> str:
    """The first text that is not empty."""
    for text in texts:
        if isinstance(text, str):
            if text:
                return text
        elif text:
            return text[0]
    return ""
