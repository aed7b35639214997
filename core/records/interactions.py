"""An interaction as it is kept, and the opinion that a user gives of it."""

import hashlib
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal

from core.models import Answer, Scope

Channel = Literal["page", "api"]
Thumb = Literal["up", "down", ""]

_MAX_COMMENT = 2000


def utc_now() -> str:
    """Now, ISO 8601 in UTC with milliseconds; sorts as text."""
    return iso(datetime.now(UTC))


def iso(moment: datetime) -> str:
    """A moment as the records write it: ``2026-11-30T18:45:05.123Z``."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.") + f"{moment.microsecond // 1000:03d}Z"


def new_id() -> str:
    """A random 128-bit id."""
    return uuid.uuid4().hex


def session_ref(session_id: str) -> str:
    """What stands for a session in the records, so that they can be erased with it; leads back to nothing else."""
    return hashlib.sha256(f"asesoria-session:{session_id}".encode()).hexdigest()[:32] if session_id else ""


@dataclass(frozen=True, slots=True)
class AnswerVersions:
    """What an answer was made with. ``corpus`` identifies what is indexed."""

    prompt: str
    model: str
    corpus: str


@dataclass(frozen=True, slots=True)
class Interaction:
    """A question and its answer, to be kept. ``question`` is redacted already; ``latency_ms`` in milliseconds.
    ``signals``: the seal's signals, their versions and the reasons, as JSON types.

    ``private_session``: the session has documents of its own; then neither the answer's text nor passages are kept, and
    of private sources nothing but that there was one. ``session_ref`` (see `session_ref`) allows erasing with the session.
    """

    question: str
    answer: Answer
    channel: Channel
    versions: AnswerVersions
    latency_ms: float
    signals: Mapping[str, Any]
    private_session: bool = False
    session_ref: str = ""
    id: str = field(default_factory=new_id)
    created_at: str = field(default_factory=utc_now)

    def row(self) -> dict[str, Any]:
        """As a row of the table, of JSON types only.

        Raises:
            ValueError: the answer has no seal.
        """
        answer, seal = self.answer, self.answer.seal
        if seal is None:
            raise ValueError("an answer without a seal is not kept")
        open_text = not self.private_session and all(s.source_scope is Scope.PUBLIC for s in answer.sources)
        return {
            "id": self.id,
            "created_at": self.created_at,
            "day": self.created_at[:10],
            "channel": self.channel,
            "private_session": self.private_session,
            "session_ref": self.session_ref,
            "question": self.question,
            "category": str(answer.category),
            "mode": str(answer.mode),
            "grounded": answer.grounded,
            "level": str(seal.level),
            "seal_mode": str(seal.mode),
            "signals": dict(self.signals),
            "sources": [
                {"fragment_id": s.fragment_id, "doc_id": s.doc_id, "relevance": s.relevance, "scope": "public"}
                if s.source_scope is Scope.PUBLIC
                else {"scope": "private"}
                for s in answer.sources
            ],
            "prompt_version": self.versions.prompt,
            "model": self.versions.model,
            "corpus_version": self.versions.corpus,
            "thresholds_version": seal.thresholds_version,
            "latency_ms": round(self.latency_ms, 1),
            "answer": answer.text if open_text else None,
            "passages": [s.passage for s in answer.sources] if open_text else None,
        }


@dataclass(frozen=True, slots=True)
class Feedback:
    """Thumb and comment on an interaction; the last one counts, '' withdraws. ``comment`` is redacted already."""

    interaction_id: str
    thumb: Thumb
    comment: str = ""
    at: str = field(default_factory=utc_now)

    def row(self) -> dict[str, Any]:
        """As a row of the table."""
        return {
            "interaction_id": self.interaction_id,
            "at": self.at,
            "thumb": self.thumb,
            "comment": self.comment[:_MAX_COMMENT],
        }
