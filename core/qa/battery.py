"""A battery of questions for a document, without a model: the same seed gives the same battery."""

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from random import Random

from core.models import Fragment
from core.qa.borders import Border, Nearest, absent_topics, limitations, newer, not_applicable
from core.qa.candidates import Candidate
from core.qa.checks import problems, same_question
from core.qa.generator_narrative import actors, narrative_candidates, people
from core.qa.generator_rules import rule_candidates, without_pointer
from core.qa.generator_tables import table_candidates
from core.qa.headings import heading_candidates, related, with_context
from core.qa.models import (
    COUNTS,
    FORMS,
    Battery,
    BatteryQuestion,
    BatterySummary,
    BookInfo,
    BookType,
    Criteria,
    Difficulty,
    Form,
    QuestionType,
    Shortfall,
)
from core.qa.naming import is_official, named, topic_of
from core.qa.spanish import lower_first
from core.qa.text import DocumentText, Statement
from core.qa.traps import (
    Trap,
    attribution_traps,
    figure_traps,
    opposite_traps,
    plain,
    quotation_traps,
    sayable,
    story_plain,
)
from core.retrieval.terms import stems

# Raise when the same document and seed would give another battery.
GENERATOR_VERSION = 5
# Candidates below this are used only where nothing better is left.
_JITTER = 0.12
# A heading shorter than this (with its article) names its topic too vaguely for a question on the document's borders.
_TOPIC_WORDS = 4
# Patterns made for expository prose are less sure of themselves in a story.
_IN_A_STORY = 0.5
_DIFFICULTY = {
    Form.DEFINITION: Difficulty.BASIC, Form.FIGURE: Difficulty.BASIC, Form.DEADLINE: Difficulty.BASIC,
    Form.STATEMENT: Difficulty.BASIC, Form.TABLE: Difficulty.INTERMEDIATE, Form.LIST: Difficulty.INTERMEDIATE,
    Form.CONDITION: Difficulty.INTERMEDIATE, Form.CASE: Difficulty.ADVANCED, Form.CONSEQUENCE: Difficulty.INTERMEDIATE,
    Form.RELATION: Difficulty.ADVANCED, Form.INFERENCE: Difficulty.ADVANCED, Form.ABSENT_TOPIC: Difficulty.BASIC,
    Form.NEWER_RESEARCH: Difficulty.INTERMEDIATE, Form.LIMITATION: Difficulty.ADVANCED,
    Form.NOT_APPLICABLE: Difficulty.ADVANCED, Form.FALSE_STATEMENT: Difficulty.INTERMEDIATE,
    Form.OPPOSITE_IDEA: Difficulty.INTERMEDIATE, Form.FAKE_QUOTATION: Difficulty.ADVANCED,
    Form.WRONG_AUTHOR: Difficulty.ADVANCED,
}  # fmt: skip
_INSTITUTIONAL = "tono claro y directo, apoyado en la fuente, sin consejo personal"


def generate_battery(
    book: BookInfo,
    fragments: Sequence[Fragment],
    *,
    seed: int = 0,
    nearest: Nearest | None = None,
    identity: str = "",
) -> Battery:
    """Make the calibrated number of questions of each type from the document's own structure.

    ``nearest`` (the document's passages nearest to a phrase by vector) makes the check of absent topics stricter.
    ``identity``: what the choice hangs on besides type and seed, '' for the document's id; an upload, whose id is
    another each time, gives its `content_key`. What cannot be made is in ``summary.shortfalls``; nothing is padded.
    """
    maker = _Maker(book, DocumentText(fragments), (identity or book.doc_id, seed), nearest)
    questions = maker.make()
    return Battery(
        id=battery_id(book, fragments, seed, "deterministic"),
        book=book,
        seed=seed,
        generator="deterministic",
        generator_version=GENERATOR_VERSION,
        fragments_version=fragments_version(fragments),
        questions=questions,
        summary=summarise(book, maker.text, questions, maker.reasons),
    )


def fragments_version(fragments: Sequence[Fragment]) -> str:
    """A hash of the fragments' ids, whatever their order."""
    return hashlib.sha256("\n".join(sorted(f.id for f in fragments)).encode()).hexdigest()[:16]


def content_key(fragments: Sequence[Fragment]) -> str:
    """A hash of what the fragments say, where and in which order: the same for a file that is uploaded again."""
    told = (f"{f.section_label}\x1f{f.page}\x1f{f.kind}\x1f{f.text}" for f in fragments)
    return hashlib.sha256("\x1e".join(told).encode()).hexdigest()[:16]


def battery_id(book: BookInfo, fragments: Sequence[Fragment], seed: int, generator: str) -> str:
    """The same document, type, seed and generator have the same id."""
    key = f"{book!r}|{seed}|{generator}|{GENERATOR_VERSION}|{fragments_version(fragments)}"
    return hashlib.sha256(key.encode()).hexdigest()[:16]


def summarise(
    book: BookInfo, text: DocumentText, questions: Sequence[BatteryQuestion], reasons: dict[QuestionType, str]
) -> BatterySummary:
    """The seed's summary of a battery."""
    counts = Counter(q.type for q in questions)
    covered = {text.chapter(text.by_id[f]) for q in questions for f in q.expected_fragments if f in text.by_id}
    return BatterySummary(
        by_type={str(t): counts[t] for t in QuestionType},
        by_difficulty={str(d): sum(q.difficulty is d for q in questions) for d in Difficulty},
        sections=tuple(c for c in dict.fromkeys(text.chapter(f) for f in text.fragments) if c in covered),
        gaps=tuple(c for c in text.chapters if c not in covered),
        shortfalls=tuple(
            Shortfall(t, n, counts[t], reasons.get(t) or _NO_MORE[t])
            for t, n in COUNTS[book.type].items()
            if counts[t] < n
        ),
    )


_NO_MORE = {
    QuestionType.A: "el documento no tiene más frases de las que se pueda preguntar un dato con seguridad",
    QuestionType.B: "el documento no tiene más reglas, causas o consecuencias que aplicar a un caso",
    QuestionType.C: "no se encontraron más temas que el documento deje fuera con seguridad",
    QuestionType.D: "el documento no tiene más afirmaciones sencillas de las que hacer una variante falsa comprobable",
}


class _Maker:
    """Chooses among the candidates: good ones first, spread over forms and chapters, none twice."""

    def __init__(self, book: BookInfo, text: DocumentText, draw: tuple[str, int], nearest: Nearest | None) -> None:
        self.book, self.text, self.nearest = book, text, nearest
        identity, seed = draw
        key = hashlib.sha256(f"{identity}|{book.type}|{seed}".encode()).digest()
        self.rng = Random(int.from_bytes(key[:8], "big"))
        self.questions: list[BatteryQuestion] = []
        self.reasons: dict[QuestionType, str] = {}
        self.chapters: Counter[str] = Counter()
        self.sections: Counter[tuple[str, ...]] = Counter()
        self.used: set[tuple[str, int]] = set()
        self.doers = set() if is_official(book) else {n for n, c in actors(text, set(people(text))).items() if c >= 2}
        # A story is told of persons: at least two who do something, in a book that is no official document.
        self.story = len(self.doers) >= 2

    def make(self) -> tuple[BatteryQuestion, ...]:
        """All questions, type by type, A first."""
        counts = COUNTS[self.book.type]
        candidates = self._candidates()
        for kind in (QuestionType.A, QuestionType.B):
            self._fill(kind, counts[kind], [c for c in candidates if c.form in FORMS[kind]])
        self._fill_borders(counts[QuestionType.C], candidates)
        self._fill_traps(counts[QuestionType.D])
        return tuple(self.questions)

    def _candidates(self) -> list[Candidate]:
        found: list[Candidate] = []
        if self.story:
            found.extend(narrative_candidates(self.text))
        if not (self.story and self.book.type is BookType.NARRATIVE):
            rules = list(rule_candidates(self.text))
            rules.extend(related(self.text, rules))
            rules.extend(table_candidates(self.text))
            less = _IN_A_STORY if self.story else 0.0
            found.extend(replace(r, quality=r.quality - less) for r in (with_context(c, self.text) for c in rules))
        found.extend(heading_candidates(self.book, self.text, story=self.story))
        times = Counter(" ".join(stems(c.question)) for c in found)
        return [c for c in found if times[" ".join(stems(c.question))] == 1]

    def _fill(self, kind: QuestionType, wanted: int, candidates: list[Candidate]) -> None:
        forms: Counter[Form] = Counter()
        noise = {id(c): self.rng.random() for c in candidates}
        left = list(candidates)
        made = 0
        while made < wanted and left:
            best = min(left, key=lambda c: self._cost(c, forms) + _JITTER * noise[id(c)] * 2)
            left.remove(best)
            if (best.fragment.id, best.start) in self.used:
                continue
            question = self._question(kind, made + 1, best)
            if problems(question, self.book, self.text, before=self.questions):
                continue
            self._take(question, best.fragment, best.start)
            forms[best.form] += 1
            made += 1

    def _cost(self, c: Candidate, forms: Counter[Form]) -> float:
        """Low is good: unused chapter and form, no second question from one section, a sure pattern."""
        repeated = self.sections[c.fragment.section_path]
        return (
            0.45 * self.chapters[self.text.chapter(c.fragment)] + 0.3 * forms[c.form] + 2.0 * repeated - 2.0 * c.quality
        )

    def _take(self, question: BatteryQuestion, fragment: Fragment | None, start: int = -1) -> None:
        self.questions.append(question)
        if fragment is not None:
            self.chapters[self.text.chapter(fragment)] += 1
            self.sections[fragment.section_path] += 1
            self.used.add((fragment.id, start))

    def _question(self, kind: QuestionType, number: int, c: Candidate) -> BatteryQuestion:
        places = ((c.fragment, c.start, c.length), *c.others)
        if c.others:
            expected, ids = " ".join(_exact(*place) for place in places), tuple(f.id for f, _, _ in places)
        else:
            expected, ids = self.text.around(c.fragment, c.start, c.length)
        return BatteryQuestion(
            id=f"{kind}-{number}",
            type=kind,
            form=c.form,
            difficulty=_DIFFICULTY[c.form],
            question=c.question,
            expected_fragments=tuple(dict.fromkeys(ids)),
            section=c.fragment.section_label,
            expected_answer=expected,
            criteria=Criteria(
                precision=c.facts,
                voice=self._voice(c.subject or c.question),
                limits=(f"No debe afirmar nada que no esté en {named(self.book)}.", *self._filters()),
            ),
        )

    def _voice(self, about: str) -> tuple[str, ...]:
        profile = self.book.profile
        if profile and profile.vocabulary:
            near = [w for w in profile.vocabulary if set(stems(w)) & set(stems(about))]
            return tuple(dict.fromkeys([*near, *profile.vocabulary]))[:4]
        return (*self.text.key_terms(about, 2), _INSTITUTIONAL)

    def _filters(self) -> tuple[str, ...]:
        return tuple(f"No debe decir: {f}" for f in (self.book.profile.negative_filters if self.book.profile else ()))

    def _places(self) -> list[Fragment]:
        """First fragments of sections that have a name to ask about, in the seed's order."""
        if self._told():
            chapters = [s[0] for s in self.text.sections if len(s[0].text.split()) >= 60]
            self.rng.shuffle(chapters)
            return sorted(chapters, key=lambda f: self.chapters[self.text.chapter(f)])
        found = [
            s[0] for s in self.text.sections
            if s[0].kind == "text" and len(s[0].text.split()) >= 60 and all(topic_of(s[0], deepest_only=True))
        ] or [
            s[0] for s in self.text.sections if len(s[0].text.split()) >= 60 and topic_of(s[0], deepest_only=True)[0]
        ]  # fmt: skip
        named_here = {st.fragment.section_path for st in self.text.statements}
        found = [f for f in found if f.section_path in named_here] or found
        found = [f for f in found if len(topic_of(f, deepest_only=True)[0].split()) >= _TOPIC_WORDS] or found
        self.rng.shuffle(found)
        return sorted(found, key=lambda f: self.chapters[self.text.chapter(f)])

    def _fill_borders(self, wanted: int, candidates: list[Candidate]) -> None:
        """One of each form; where fewer are wanted, absent topics always and the others in the seed's turn."""
        others = [Form.NEWER_RESEARCH, Form.LIMITATION, Form.NOT_APPLICABLE]
        self.rng.shuffle(others)
        order = [Form.ABSENT_TOPIC, *others]
        makers: dict[Form, Callable[[], Iterator[Border]]] = {
            Form.ABSENT_TOPIC: lambda: absent_topics(self.book, self.text, self.rng, self.nearest),
            Form.NEWER_RESEARCH: lambda: newer(self.book, self.text, self._places(), story=self._told()),
            Form.LIMITATION: lambda: limitations(self.book, self.text, self._places(), story=self._told()),
            Form.NOT_APPLICABLE: lambda: not_applicable(
                self.book, self.text, self._shuffled(candidates), self._places(), story=self._told()
            ),
        }
        made = 0
        for form, fresh in [(f, True) for f in order] + [(f, False) for f in order]:
            if made < wanted and self._first(makers[form](), made + 1, fresh=fresh):
                made += 1

    def _told(self) -> bool:
        return self.story

    def _shuffled(self, candidates: Sequence[Candidate]) -> list[Candidate]:
        mixed = list(candidates)
        self.rng.shuffle(mixed)
        return mixed

    def _first(self, borders: Iterable[Border], number: int, *, fresh: bool) -> bool:
        """Take the first that holds; with ``fresh``, of a section that has no question yet."""
        for border in borders:
            said = border.said
            fragment = said.fragment if said else border.fragment
            if fragment is not None and fresh and self.sections[fragment.section_path]:
                continue
            question = self._border_question(border, number, fragment)
            nearest = self.nearest if border.form is Form.ABSENT_TOPIC else None
            if not problems(question, self.book, self.text, before=self.questions, nearest=nearest):
                self._take(question, fragment, said.start if said else -1)
                return True
        return False

    def _border_question(self, border: Border, number: int, fragment: Fragment | None) -> BatteryQuestion:
        kind = QuestionType.C
        if border.said:
            question = self._question(kind, number, replace(border.said, form=border.form))
            return replace(
                question,
                form=border.form,
                difficulty=_DIFFICULTY[border.form],
                criteria=replace(question.criteria, limits=(*question.criteria.limits, border.limit)),
            )
        passage, ids = self.text.around(fragment, 0, len(fragment.text.split("\n")[0]) + 40) if fragment else ("", ())
        return BatteryQuestion(
            id=f"{kind}-{number}",
            type=kind,
            form=border.form,
            difficulty=_DIFFICULTY[border.form],
            question=border.question,
            expected_fragments=ids,
            section=fragment.section_label if fragment else "",
            expected_answer=f"{border.expected}{f'«{passage}»' if passage else ''}",
            criteria=Criteria(precision=(), voice=self._voice(border.topic), limits=(border.limit, *self._filters())),
            topic=border.topic,
        )

    def _fill_traps(self, wanted: int) -> None:
        statements = [replace(s, text=without_pointer(s.text)) for s in self.text.statements]
        good = [s for s in statements if (self.story and story_plain(s, self.doers)) or plain(s)]
        wide = good if self._told() else [s for s in statements if s in set(good) or sayable(s)]
        good, wide = self._spread(good), self._spread(wide)
        makers: dict[Form, Callable[[], Iterator[Trap]]] = {
            Form.FALSE_STATEMENT: lambda: figure_traps(self.book, self.text, wide, self.rng),
            Form.OPPOSITE_IDEA: lambda: opposite_traps(self.book, self.text, good, self.rng, self.doers),
            Form.FAKE_QUOTATION: lambda: quotation_traps(self.book, self.text, good, self.rng, self.doers),
            Form.WRONG_AUTHOR: lambda: attribution_traps(self.book, self.text, wide, self.rng),
        }
        others = [Form.OPPOSITE_IDEA, Form.FAKE_QUOTATION, Form.WRONG_AUTHOR]
        self.rng.shuffle(others)
        made = 0
        turns = [Form.FALSE_STATEMENT, *others]
        for form, fresh in [*((f, True) for f in turns), *((f, True) for f in turns), *((f, False) for f in turns)]:
            if made < wanted and self._first_trap(makers[form](), made + 1, fresh=fresh):
                made += 1

    def _spread(self, statements: Sequence[Statement]) -> list[Statement]:
        """In the seed's order, those of sections and chapters without questions first."""
        left = list(statements)
        self.rng.shuffle(left)
        return sorted(
            left,
            key=lambda s: (
                (s.fragment.id, s.start) in self.used,
                self._told() and not story_plain(s, self.doers),
                self.sections[s.fragment.section_path] > 0,
                self.chapters[self.text.chapter(s.fragment)],
            ),
        )

    def _first_trap(self, traps: Iterable[Trap], number: int, *, fresh: bool) -> bool:
        """Take the first trap that holds; with ``fresh``, of a section that has no question yet."""
        said = [q.true_passage for q in self.questions if q.true_passage]
        for trap in traps:
            st = trap.statement
            if (fresh and (st.fragment.id, st.start) in self.used) or any(
                same_question(st.text, other) for other in said
            ):
                continue
            if fresh and self.sections[st.fragment.section_path] and not self._told():
                continue
            question = self._trap_question(trap, number)
            if not problems(question, self.book, self.text, before=self.questions):
                self._take(question, st.fragment, st.start)
                return True
        return False

    def _trap_question(self, trap: Trap, number: int) -> BatteryQuestion:
        st = trap.statement
        name = named(self.book)
        passage, ids = self.text.around(st.fragment, st.start, len(st.text))
        if trap.form is Form.WRONG_AUTHOR:
            lead = f"No: no lo dice {trap.forbidden[0]}, sino {name}. El pasaje es este: "
        elif trap.form is Form.FAKE_QUOTATION:
            lead = f"No se puede citar, porque {name} no contiene esa frase. Lo que dice es: "
        else:
            lead = f"No es correcto: {name} no dice que {lower_first(trap.false_statement)}. Lo que dice es: "
        return BatteryQuestion(
            id=f"{QuestionType.D}-{number}",
            type=QuestionType.D,
            form=trap.form,
            difficulty=_DIFFICULTY[trap.form],
            question=trap.question,
            expected_fragments=ids,
            section=st.section,
            expected_answer=f"{lead}«{passage}»",
            criteria=Criteria(
                precision=trap.facts,
                voice=self._voice(st.text),
                limits=("No debe confirmar la afirmación falsa ni darla por dicha.", *self._filters()),
                forbidden=trap.forbidden,
            ),
            false_statement=trap.false_statement,
            true_passage=st.text,
        )


def _exact(fragment: Fragment, start: int, length: int) -> str:
    return fragment.text[start : start + length].strip()


__all__ = ["GENERATOR_VERSION", "battery_id", "content_key", "fragments_version", "generate_battery", "summarise"]
