"""From an answer to what is kept of it."""

from core.models import Answer
from core.records.interactions import AnswerVersions, Channel, Interaction, session_ref
from core.seal.explain import seal_json


def interaction_of(
    question: str,
    answer: Answer,
    *,
    channel: Channel,
    versions: AnswerVersions,
    latency_ms: float,
    session_id: str = "",
    private_session: bool = False,
) -> Interaction:
    """What is kept of ``answer``. ``question`` must be redacted already.

    Raises:
        ValueError: the answer has no seal.
    """
    if answer.seal is None:
        raise ValueError("an answer without a seal is not kept")
    found = seal_json(answer.seal)
    return Interaction(
        question=question,
        answer=answer,
        channel=channel,
        versions=versions,
        latency_ms=latency_ms,
        signals={**found["signals"], "versions": found["signal_versions"], "reasons": found["reasons"]},
        private_session=private_session,
        session_ref=session_ref(session_id),
    )
