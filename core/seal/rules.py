"""From signals to a seal. Pure; conservative: what is in doubt goes one level down, what is no number goes to low."""

from core.models import Level, Seal, SealMode, SelfCheck, Signals
from core.thresholds import SealThresholds, Thresholds


def seal(signals: Signals, thresholds: Thresholds, mode: SealMode) -> Seal:
    """The seal of an answer with these signals.

    Deterministic ``mode`` leaves the self-check out; all else stays. Source of the rules: the seal's specification
    (high: 0.6 and verified citations; medium: 0.4 to 0.6, a single citation or little coverage; low: the rest).
    """
    limits = thresholds.seal
    low = _reasons_for_low(signals, limits, mode)
    if low:
        return Seal(Level.LOW, signals, low, thresholds.version, mode)
    medium = _reasons_for_medium(signals, limits)
    level = Level.MEDIUM if medium else Level.HIGH
    doubt = _doubt(signals, mode)
    if doubt:
        level = Level.LOW if level is Level.MEDIUM else Level.MEDIUM
    reasons = (*medium, *doubt) or _reasons_for_high(signals, mode)
    return Seal(level, signals, reasons, thresholds.version, mode)


def _reasons_for_low(signals: Signals, limits: SealThresholds, mode: SealMode) -> tuple[str, ...]:
    measured = 0.0 <= signals.rerank <= 1.0 and 0.0 <= signals.coverage <= 1.0 and signals.supporting >= 0
    reasons = []
    if not measured:  # NaN too
        reasons.append("Alguna señal no se ha podido medir bien, y ante la duda la confianza es baja.")
    if signals.fallback:
        reasons.append(
            f"La redacción con el modelo de lenguaje no terminó ({signals.fallback}) y se muestra la respuesta de respaldo."
        )
    if signals.refusal:
        reasons.append("La respuesta dice que no puede responder, o que no tiene datos suficientes.")
    if mode is SealMode.NORMAL and signals.self_check is SelfCheck.UNSUPPORTED:
        reasons.append("La autoverificación concluyó que las fuentes citadas no sostienen la respuesta.")
    if measured and signals.rerank < limits.medium_rerank:
        reasons.append(
            f"Lo citado no llega a una relevancia de {number(limits.medium_rerank)} (tiene {number(signals.rerank)})."
        )
    if signals.supporting == 0 and not signals.refusal:
        reasons.append(
            "Ninguna cita comprobada viene de un fragmento con relevancia de "
            f"{number(limits.supporting_relevance)} o más."
        )
    return tuple(reasons)


def _reasons_for_medium(signals: Signals, limits: SealThresholds) -> tuple[str, ...]:
    reasons = []
    if signals.rerank < limits.high_rerank:
        reasons.append(
            f"Lo citado tiene una relevancia de {number(signals.rerank)}, menos de {number(limits.high_rerank)}."
        )
    if signals.coverage < limits.coverage_min:
        reasons.append(
            f"Se ha podido respaldar el {percent(signals.coverage)} de lo redactado, "
            f"menos del {percent(limits.coverage_min)}."
        )
    if signals.supporting < limits.supporting_min:
        reasons.append(
            "Una sola cita la sostiene: no hay una segunda fuente que lo confirme."
            if signals.supporting == 1
            else f"La sostienen {signals.supporting} citas; hacen falta {limits.supporting_min}."
        )
    return tuple(reasons)


def _doubt(signals: Signals, mode: SealMode) -> tuple[str, ...]:
    """Why the level goes one down: the self-check counts, and did not come to a result."""
    if mode is SealMode.DETERMINISTIC or signals.self_check is SelfCheck.SUPPORTED:
        return ()
    if signals.self_check is SelfCheck.ERROR:
        return ("La autoverificación falló y no se pudo hacer: ante la duda, un nivel menos.",)
    return ("La autoverificación no se ha hecho: ante la duda, un nivel menos.",)


def _reasons_for_high(signals: Signals, mode: SealMode) -> tuple[str, ...]:
    checked = ", y la autoverificación lo confirma" if mode is SealMode.NORMAL else ""
    return (
        f"Lo citado tiene una relevancia de {number(signals.rerank)}, y se ha podido respaldar el "
        f"{percent(signals.coverage)} de la respuesta con {signals.supporting} fragmentos{checked}.",
    )


def number(value: float) -> str:
    """A value in 0..1 with two decimals, cut and not rounded: 0.599 must not read as the 0.6 that it misses."""
    return f"{_cut(value, 100):.2f}".replace(".", ",")


def percent(share: float) -> str:
    """A share in 0..1 as whole per cent, cut and not rounded."""
    return f"{_cut(share, 100) * 100:.0f} %"


def _cut(value: float, steps: int) -> float:
    return int(value * steps + 1e-9) / steps
