"""The entrance of the package: texts and questions without personal data.

One `Redactor` is shared by all sessions; what belongs to a session is its `Placeholders`. Nothing heavy is imported
before it is needed: the patterns are plain Python, spaCy and Presidio come with the first private text.
"""

import logging
import threading
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from core.assets import Progress
from core.config import Settings
from core.errors import AsesoriaError
from core.privacy.kinds import Match, PiiSpan, Redaction, count, resolve
from core.privacy.patterns import find_patterns
from core.privacy.placeholders import Placeholders

if TYPE_CHECKING:
    from core.privacy.presidio_engine import PresidioEngine

log = logging.getLogger(__name__)
Finder = Callable[[str], list[Match]]


def spans_of(text: str, matches: Iterable[Match], placeholders: Placeholders) -> tuple[PiiSpan, ...]:
    """The matches as spans with their placeholders; what overlaps is settled, scraps without a letter are left."""
    return tuple(
        PiiSpan(m.start, m.end, m.kind, f"<{placeholders.name(m.kind, text[m.start : m.end])}>")
        for m in map(_trimmed(text), resolve(matches))
        if sum(c.isalnum() for c in text[m.start : m.end]) > 1
    )


def _trimmed(text: str) -> Callable[[Match], Match]:
    def trim(match: Match) -> Match:
        value = text[match.start : match.end]
        left, right = len(value) - len(value.lstrip()), len(value) - len(value.rstrip())
        return Match(match.start + left, match.end - right, match.kind, match.score) if value.strip() else match

    return trim


def splice(text: str, spans: Sequence[PiiSpan]) -> str:
    """The text with each span replaced by its placeholder."""
    parts: list[str] = []
    at = 0
    for span in spans:
        parts.extend((text[at : span.start], span.placeholder))
        at = span.end
    return "".join((*parts, text[at:]))


class Redactor:
    """Finds personal data and puts placeholders in its place. Thread-safe."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._engine: PresidioEngine | None = None
        self._lock = threading.Lock()
        self._warming: threading.Thread | None = None

    @property
    def ready(self) -> bool:
        """Whether the engine that finds names in prose is loaded."""
        return self._engine is not None

    def load(self, *, progress: Progress | None = None) -> "PresidioEngine":
        """The engine, loaded once (10 to 20 s on first use, as spaCy is imported; more where it is downloaded).

        Raises:
            AcquisitionError: the model of names cannot be had; then no private document may be indexed.
        """
        with self._lock:
            if self._engine is None:
                from core.privacy.presidio_engine import PresidioEngine
                from core.privacy.spanish_model import load_pipeline

                self._engine = PresidioEngine(load_pipeline(self._settings, progress=progress))
            return self._engine

    def warm_up(self) -> None:
        """Load the engine in the background; an error is logged and met again at the first document."""
        if self._engine is not None or (self._warming and self._warming.is_alive()):
            return

        def work() -> None:
            try:
                self.load()
            except AsesoriaError as error:
                log.warning("names engine not loaded: %s", type(error).__name__)

        self._warming = threading.Thread(target=work, name="privacy-warm-up", daemon=True)
        self._warming.start()

    def redact_pii(self, text: str, placeholders: Placeholders | None = None) -> Redaction:
        """The text without personal data. ``placeholders`` is the session's numbering; without it a fresh one.

        Raises:
            AcquisitionError: the model of names cannot be had. Nothing is returned half redacted.
        """
        engine = self.load()
        spans = spans_of(text, engine.find(text), placeholders or Placeholders())
        redacted = engine.replace(text, [(s.start, s.end, s.placeholder[1:-1]) for s in spans])
        return Redaction(redacted, spans, count(spans))

    def redact_question(self, question: str, placeholders: Placeholders | None = None) -> Redaction:
        """A question without personal data, before any log, store or model sees it. Never waits for the engine.

        Identifiers, labelled and listed names go at once by the patterns; the engine adds names of prose once it is
        loaded.
        """
        finder: Finder = self._engine.find if self._engine is not None else find_patterns
        spans = spans_of(question, finder(question), placeholders or Placeholders())
        return Redaction(splice(question, spans), spans, count(spans))


@lru_cache(maxsize=4)
def shared_redactor(settings: Settings) -> Redactor:
    """The process's one redactor for these settings. It holds no text and no value of anybody."""
    return Redactor(settings)


def redact_pii(text: str, placeholders: Placeholders | None = None, *, settings: Settings | None = None) -> Redaction:
    """`Redactor.redact_pii` with the shared redactor."""
    return shared_redactor(settings or Settings()).redact_pii(text, placeholders)


def redact_question(
    question: str, placeholders: Placeholders | None = None, *, settings: Settings | None = None
) -> Redaction:
    """`Redactor.redact_question` with the shared redactor."""
    return shared_redactor(settings or Settings()).redact_question(question, placeholders)
