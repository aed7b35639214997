"""The seal in words: level, icon, the signals beside their thresholds, and what the seal does not say."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from types import MappingProxyType
from typing import Any

from core.models import Level, Seal, SealMode, SelfCheck
from core.seal.rules import number, percent
from core.seal.signals import SIGNAL_VERSIONS
from core.thresholds import SealThresholds

NAMES: Mapping[Level, str] = MappingProxyType(
    {Level.HIGH: "Confianza alta", Level.MEDIUM: "Confianza media", Level.LOW: "Confianza baja"}
)

HONEST_LIMITS = (
    "No es una probabilidad: es una clase ordinal (alta, media, baja). «Alta» no significa un tanto por ciento de acierto.",
    "No detecta instrucciones escondidas en la pregunta o en un documento: mira si las fuentes sostienen lo dicho.",
    "No mide si el dato sigue vigente: mire la fecha de cada fuente, que se muestra junto a ella.",
)

_CHECKS = {
    SelfCheck.SUPPORTED: "las fuentes la sostienen",
    SelfCheck.UNSUPPORTED: "las fuentes no la sostienen",
    SelfCheck.ERROR: "falló",
    SelfCheck.NOT_RUN: "no se hizo",
}


@dataclass(frozen=True, slots=True)
class SignalRow:
    """One signal as a reader sees it. ``fine`` says whether it allows a high seal; None where it does not count."""

    name: str
    value: str
    wanted: str
    fine: bool | None
    version: str


def signal_rows(seal: Seal, limits: SealThresholds) -> tuple[SignalRow, ...]:
    """The five signals of ``seal`` against what a high seal wants; the citations go with coverage."""
    s = seal.signals
    reads_check = seal.mode is SealMode.NORMAL
    return (
        SignalRow(
            "Relevancia de lo citado",
            _value(s.rerank, number),
            f"{number(limits.high_rerank)} (media: {number(limits.medium_rerank)})",
            limits.high_rerank <= s.rerank <= 1,
            SIGNAL_VERSIONS["rerank"],
        ),
        SignalRow(
            "Cobertura",
            f"{_value(s.coverage, percent)} respaldado, {s.supporting} {'cita' if s.supporting == 1 else 'citas'}",
            f"{percent(limits.coverage_min)} y {limits.supporting_min} citas de relevancia "
            f"{number(limits.supporting_relevance)}",
            limits.coverage_min <= s.coverage <= 1 and s.supporting >= limits.supporting_min,
            SIGNAL_VERSIONS["coverage"],
        ),
        SignalRow(
            "Autoverificación",
            _CHECKS[s.self_check] if reads_check else "no cuenta (modo determinista)",
            "las fuentes la sostienen" if reads_check else "—",
            s.self_check is SelfCheck.SUPPORTED if reads_check else None,
            SIGNAL_VERSIONS["self_check"],
        ),
        SignalRow(
            "Negativa", "sí" if s.refusal else "no", "no", not s.refusal, SIGNAL_VERSIONS["refusal"]
        ),
        SignalRow(
            "Ruta de respaldo", f"sí ({s.fallback})" if s.fallback else "no", "no", not s.fallback, SIGNAL_VERSIONS["fallback"]
        ),
    )  # fmt: skip


def _value(value: float, shown: Any) -> str:
    return str(shown(value)) if 0 <= value <= 1 else "no medida"


def seal_json(seal: Seal) -> dict[str, Any]:
    """The seal as the API prints it; a signal that is no number is null, for JSON has no NaN."""
    signals = asdict(seal.signals)
    for name in ("rerank", "coverage"):
        value = signals[name]
        signals[name] = round(value, 4) if 0 <= value <= 1 else None
    return {
        "level": str(seal.level),
        "reasons": list(seal.reasons),
        "signals": {**signals, "self_check": str(seal.signals.self_check)},
        "signal_versions": dict(SIGNAL_VERSIONS),
        "thresholds_version": seal.thresholds_version,
        "mode": str(seal.mode),
    }
