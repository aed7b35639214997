"""The one straight line from a question to an answer."""

import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace

from core.answering.both import NEITHER, Sides, extract_both, not_here, own_data_only, sides_of
from core.answering.both_text import quoted_text, written_text
from core.answering.checked import SEARCHED, CheckedExtractor
from core.answering.cited import cite, keep_cited
from core.answering.compose import compose
from core.answering.conversation import WHAT_IS_MEANT, Turn, resolve
from core.answering.extractive import Extract, Extractor, Neighbours, Searched
from core.answering.made import Made, personal_notice
from core.answering.one_document import of_one_document
from core.answering.parts import Part, parts_of
from core.answering.ports import Examination, Retriever, Synthesis, Verifier
from core.answering.premises import premise_of
from core.answering.scope import Assessment, ScopeModel, assess, is_other_language, load_scope, trusted
from core.answering.sealing import Sealer
from core.answering.sentence_model import SentenceModel
from core.answering.synthesis import Draft, self_check, synthesise
from core.answering.untrusted import blanked, data_only
from core.documents.record import PrivateDocument
from core.documents.search import SessionResult, SessionSearch
from core.errors import InvalidQuestionError, LlmAnswerError, LlmError, LlmSaysNotEnoughError
from core.models import Answer, Category, Fragment, Mode, RetrievedFragment, Source
from core.retrieval.expected import KnownAnswers
from core.retrieval.search import SearchResult
from core.retrieval.terms import TermStatistics
from core.thresholds import Thresholds

FRAGMENTS_FOR_ANSWER = 8


class AnswerEngine:
    """Answers questions from what is indexed, and says so when that does not suffice."""

    def __init__(
        self,
        *,
        retriever: Retriever,
        neighbours: Callable[[Fragment], Sequence[Fragment]],
        terms: Callable[[], TermStatistics],
        about: Callable[[str], tuple[int | None, str]],
        scope: ScopeModel,
        sentences: SentenceModel,
        known: KnownAnswers,
        thresholds: Thresholds,
        max_question_chars: int,
        verify: Verifier,
        synthesis: Synthesis | None = None,
        sealer: Sealer | None = None,
        redact: Callable[[str], str] = str,
        one_document: bool = False,
    ) -> None:
        """``synthesis``: the model that writes, None to quote. ``sealer`` puts the seal on. ``redact`` takes what
        identifies a person out of a question; the model reads no other. ``one_document``: the retriever is held to one
        document, which is asked."""
        self._retriever = retriever
        self._neighbours = neighbours
        self._terms = terms
        self._about = about
        self._scope = scope
        self._sentences = sentences
        self._known = known
        self._thresholds = thresholds
        self._max_chars = max_question_chars
        self._verify = verify
        self._synthesis = synthesis
        self._sealer = sealer or Sealer(thresholds)
        self._redact = redact
        self._one_document = one_document

    def ask(self, question: str, *, history: Sequence[Turn] = (), private: SessionSearch | None = None) -> Answer:
        """Answer ``question``. Not finding is not an error: the answer then has ``grounded=False`` and no sources.

        ``history`` is the conversation so far, oldest first. ``private``: one session's search, whose documents have
        part in the answer.

        Raises:
            InvalidQuestionError: the question is empty or too long.
            IndexNotReadyError: nothing is indexed yet.
        """
        for item in self.stream(question, history=history, private=private):
            if isinstance(item, Answer):
                return item
        raise RuntimeError("the stream ended without an answer")

    def stream(
        self, question: str, *, history: Sequence[Turn] = (), private: SessionSearch | None = None
    ) -> Generator[str | Answer, None, None]:
        """As `ask`: first the model's draft as it is being written, which is not verified, and last the `Answer`.

        The answer takes the draft's place: only its text is verified. Without a model there is no draft.
        """
        question = self.check(question)
        resolved = resolve(question, history)
        if resolved.unclear:
            unclear = Answer(WHAT_IS_MEANT, False, Category.NO_ANSWER, Mode.EXTRACTIVE)
            yield self._sealer.with_seal(unclear, relevances=(), coverage=0.0, supporting=0)
            return
        asked = self.check(resolved.question[: self._max_chars])
        earlier = [turn.question for turn in history] if resolved.follow_up else []
        with closing(self._examine(asked, FRAGMENTS_FOR_ANSWER, earlier, private)) as steps:
            for step in steps:
                if isinstance(step, str):
                    yield step
                else:
                    yield replace(step.answer, understood=asked if resolved.follow_up else "")

    def examine(
        self, question: str, *, k: int = FRAGMENTS_FOR_ANSWER, private: SessionSearch | None = None
    ) -> Examination:
        """As `ask`, of a question by itself, with the ``k`` best fragments and the scope's verdict."""
        for step in self._examine(self.check(question), k, (), private):
            if isinstance(step, Examination):
                return step
        raise RuntimeError("the examination ended without an answer")

    def _examine(
        self, question: str, k: int, earlier: Sequence[str], private: SessionSearch | None
    ) -> Generator[str | Examination, None, None]:
        clock = time.perf_counter()
        result = (private or self._retriever).run(question, k)
        public = result.public if isinstance(result, SessionResult) else result
        searched = time.perf_counter()
        verdict = assess(question, public, self._scope, thresholds=self._thresholds.scope)
        if self._one_document:
            limit = self._thresholds.scope.one_document
            verdict = of_one_document(verdict, question, public, weight=self._terms().weight, threshold=limit)
        public = trusted(public, verdict.answerable, self._scope)
        result = result.with_public(public) if isinstance(result, SessionResult) else public
        scoped = time.perf_counter()
        made = None
        if private is not None and isinstance(result, SessionResult) and not verdict.is_no_question:
            made = yield from self._over_both(question, result, verdict, earlier, private)
        said = ""
        if made is None and private is not None and isinstance(result, SessionResult):
            said = not_here(result, private.documents.redacted)
        if said:
            made = Made(said, (), Mode.EXTRACTIVE)
        elif made is None and verdict.refusal:
            made = Made(verdict.refusal, (), Mode.EXTRACTIVE)
            plain = verdict.kind in ("no_answer", "out_of_scope") and not verdict.is_no_question
            if plain and isinstance(result, SessionResult) and result.reference.own:
                made = replace(made, text=NEITHER, category=Category.NO_ANSWER)
        elif made is None:
            made = yield from self._made(question, data_only(public), verdict.category, earlier)
        timings = {
            **result.timings,
            "search_ms": 1000 * (searched - clock),
            "scope_ms": 1000 * (scoped - searched),
            "answer_ms": 1000 * (time.perf_counter() - scoped),
        }
        made = replace(made, relevances=made.relevances or tuple(hit.relevance for hit in public.found))
        yield self._sealed(question, result, verdict, made, timings)

    def _sealed(
        self, question: str, result: SearchResult, verdict: Assessment, made: Made, timings: Mapping[str, float]
    ) -> Examination:
        clock = time.perf_counter()
        grounded = bool(made.sources)
        answer = Answer(
            text=_with_notices(question, made) if grounded else made.text,
            grounded=grounded,
            category=(made.category or verdict.category) if grounded or verdict.refusal else Category.NO_ANSWER,
            mode=made.mode,
            sources=made.sources,
            fallback=made.fallback,
            model=made.model,
            prompt_version=made.prompt_version,
        )
        sealed = self._sealer.with_seal(
            answer,
            relevances=made.relevances,
            answered=made.answered,
            coverage=made.coverage,
            supporting=made.supporting,
            self_check=made.check,
            fallback=made.fallback,
            notices=made.notices,
        )
        whole = {**timings, "seal_ms": 1000 * (time.perf_counter() - clock)}
        return Examination(replace(sealed, timings=whole), result, verdict)

    def _made(
        self, question: str, result: SearchResult, category: Category, earlier: Sequence[str]
    ) -> Generator[str, None, Made]:
        """The verified text: a synthesis where a model is there and does its part, else the extraction."""
        if self._synthesis is None:
            return self._extracted(question, result, category)
        try:
            asked, before = self._redact(question), [self._redact(said) for said in earlier]
            return (yield from self._synthesised(self._synthesis, asked, result.found, category, before))
        except LlmError as error:
            made = self._extracted(question, result, category)
            said_no = isinstance(error, LlmSaysNotEnoughError)
            return replace(made, mode=Mode.FALLBACK, fallback=str(error), refusal=said_no)

    def _synthesised(
        self,
        synthesis: Synthesis,
        question: str,
        found: Sequence[RetrievedFragment],
        category: Category,
        earlier: Sequence[str],
    ) -> Generator[str, None, Made]:
        """Draft, verification, self-verification; all that the model does within the time limit.

        ``question`` and ``earlier`` are redacted already.

        Raises:
            LlmError: there is no draft, or nothing of it is supported.
        """
        end = time.monotonic() + synthesis.limits.timeout_s
        draft = yield from _drafted(
            synthesise(
                question, found, model=synthesis.model, category=category, limits=synthesis.limits, history=earlier
            )
        )
        verified = self._verify(draft.text, dict(enumerate(draft.shown, start=1)))
        text, sources = cite(verified.text, draft.shown, about=self._about)
        if not sources or not verified.coverage:
            raise LlmAnswerError("Lo que ha escrito el modelo de lenguaje no se sostiene en las fuentes que cita.")
        check = self_check(
            question,
            text,
            _cited(sources, draft.shown),
            model=synthesis.model,
            limits=synthesis.limits,
            timeout_s=end - time.monotonic(),
        )
        return Made(
            text=text,
            sources=sources,
            mode=Mode.SYNTHESIS,
            coverage=verified.coverage,
            supporting=verified.supporting,
            check=check,
            model=draft.model,
            prompt_version=draft.prompt_version,
            notices=(personal_notice(draft.shown, [text]),) if category is Category.PERSONAL_CASE else (),
        )

    def extract(self, question: str, result: SearchResult) -> Extract:
        """What is quoted for ``question`` of what a search has found for it, before it is written down and verified."""
        return self._extractor(self._around).extract(question, self._parts(question, result))

    def _extracted(self, question: str, result: SearchResult, category: Category) -> Made:
        """The sentences that answer, quoted exactly, and verified as every draft is."""
        texts = load_scope().answers
        extracted = self.extract(question, result)
        if not extracted.units:
            return Made(texts["no_answer"], (), Mode.EXTRACTIVE)
        draft, listed = compose(extracted, about=self._about)
        hits = {q.fragment.id: replace(hit, fragment=q.fragment) for unit, hit in extracted.units for q in unit.quotes}
        cited = {number: hits[source.fragment_id] for number, source in enumerate(listed, start=1)}
        own = [line for line in draft.split("\n") if "«" not in line]
        verified = self._verify(draft, cited, own=own)
        text, sources = keep_cited(verified.text, listed)
        if not sources or not verified.coverage:
            return Made(texts["no_answer"], (), Mode.EXTRACTIVE, coverage=verified.coverage)
        notices = []
        if category is Category.PERSONAL_CASE:
            notices.append(
                personal_notice([hit for _, hit in extracted.units], [unit.text for unit, _ in extracted.units])
            )
        if premise_of(question) and not extracted.correction and not extracted.lead:
            notices.append(texts["premise"])
        return Made(
            text,
            sources,
            Mode.EXTRACTIVE,
            verified.coverage,
            verified.supporting,
            notices=tuple(notices),
            answered=extracted.answered,
        )

    def _over_both(
        self,
        question: str,
        result: SessionResult,
        verdict: Assessment,
        earlier: Sequence[str],
        private: SessionSearch,
    ) -> Generator[str, None, Made | None]:
        """The verified text where the own documents have part in the answer; None where they have not."""
        parts = parts_of(question)
        results = [own_data_only(private.run(part.query, FRAGMENTS_FOR_ANSWER)) for part in parts]
        if not parts:
            parts, results = (Part("", question),), [own_data_only(result)]
        documents = private.documents.documents()
        sides = sides_of(
            list(zip(parts, results, strict=True)),
            verdict,
            known=self._thresholds.documents,
            documents=documents,
            search_rule=self._search_rule,
        )
        if sides is None:
            return None
        fallback: LlmError | None = None
        if self._synthesis is not None:
            asked, before = private.documents.redacted(question), [private.documents.redacted(q) for q in earlier]
            try:
                made = yield from self._synthesised(self._synthesis, asked, sides.hits, sides.category, before)
                return written_text(made, sides, documents)
            except LlmError as error:
                fallback = error
        extracted = self._extracted_both(question, sides, private, documents)
        if extracted is None or fallback is None:
            return extracted
        said_no = isinstance(fallback, LlmSaysNotEnoughError)
        return replace(extracted, mode=Mode.FALLBACK, fallback=str(fallback), refusal=said_no)

    def _search_rule(self, question: str) -> tuple[SearchResult, Assessment]:
        """What the corpus has for a question, and whether it answers it."""
        found = self._retriever.run(question, FRAGMENTS_FOR_ANSWER)
        verdict = assess(question, found, self._scope, thresholds=self._thresholds.scope)
        return trusted(found, verdict.answerable, self._scope), verdict

    def _extracted_both(
        self,
        question: str,
        sides: Sides,
        private: SessionSearch,
        documents: Sequence[PrivateDocument],
    ) -> Made | None:
        near = private.neighbours(self._neighbours)
        extractor = self._extractor(lambda f: [blanked(other) for other in near(f)], private)
        both = extract_both(question, sides, extractor=extractor, about=self._about, verify=self._verify)
        return None if both is None else quoted_text(question, both, sides, documents)

    def _extractor(self, neighbours: Neighbours, private: SessionSearch | None = None) -> Extractor:
        more = self._more(private)
        return CheckedExtractor(neighbours, self._terms(), self._sentences, self._known, search=more)

    def _more(self, private: SessionSearch | None) -> Callable[[str, bool], SearchResult]:
        """A search for more fragments, official or of the session's own."""

        def search(text: str, own: bool) -> SearchResult:
            if own and private is not None:
                result = own_data_only(private.run(text[: self._max_chars], SEARCHED))
                return replace(result, found=result.private)
            return data_only(self._retriever.run(text[: self._max_chars], SEARCHED))

        return search

    def _around(self, fragment: Fragment) -> Sequence[Fragment]:
        return [blanked(near) for near in self._neighbours(fragment)]

    def _parts(self, question: str, result: SearchResult) -> list[Searched]:
        """The things asked with what was found for each; the whole question where it asks one thing."""
        parts = parts_of(question)
        if not parts:
            return [Searched(question, result.found, result.expected)]
        others = [data_only(self._retriever.run(part.query, FRAGMENTS_FOR_ANSWER)) for part in parts[1:]]
        results = [result, *others]  # the whole question finds its first part as well, and costs no search more
        return [Searched(p.query, r.found, r.expected, p.title) for p, r in zip(parts, results, strict=True)]

    def check(self, question: str) -> str:
        """The question without needless white space.

        Raises:
            InvalidQuestionError: it has no letter or figure, or is too long.
        """
        question = " ".join(question.replace("\x00", "").split())
        if not any(ch.isalnum() for ch in question):
            raise InvalidQuestionError("Escriba una pregunta, por ejemplo: «¿Qué debe contener una factura?».")
        if len(question) > self._max_chars:
            raise InvalidQuestionError(
                f"La pregunta tiene {len(question)} caracteres y el máximo es {self._max_chars}. "
                "Resúmala en una o dos frases."
            )
        return question


def _drafted(steps: Iterator[str | Draft]) -> Generator[str, None, Draft]:
    """Pass on the draft's text as it comes; the draft itself is the generator's return value."""
    for step in steps:
        if isinstance(step, Draft):
            return step
        yield step
    raise LlmAnswerError("El modelo de lenguaje no ha devuelto nada. Vuelva a intentarlo.")


def _cited(sources: Sequence[Source], shown: Sequence[RetrievedFragment]) -> list[tuple[int, RetrievedFragment]]:
    """Each source's number in the answer with its fragment."""
    by_id = {hit.fragment.id: hit for hit in shown}
    return [(number, by_id[source.fragment_id]) for number, source in enumerate(sources, start=1)]


def _with_notices(question: str, made: Made) -> str:
    """The answer's text with what every reader of it has to know."""
    texts = load_scope().answers
    parts = [made.text] if made.placed else [*made.notices, made.text, texts["common_territory"]]
    if is_other_language(question):
        parts.append(texts["other_language"])
    return "\n\n".join(parts)
