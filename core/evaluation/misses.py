"""Where the product goes wrong, as counts by cause and kind: no question is shown, so the reported half stays unread."""

from collections import Counter
from collections.abc import Sequence

from core.evaluation.run import Row
from core.models import Category

NEAR, SHOWN = 5, 8


def misses(rows: Sequence[Row]) -> dict[str, dict[str, int]]:
    """Three tables, each cause → count: ``retrieval`` (evidence not among the first five), ``abstention`` and
    ``category`` (each wrong decision as "right → decided"). Causes end with the question's kind."""
    retrieval = Counter(f"{cause} · {row.item.kind}" for row in rows if row.item.gold if (cause := _unfound(row)))
    abstention = Counter(f"{cause} · {row.item.kind}" for row in rows if (cause := _misjudged(row)))
    category = Counter(
        f"{row.item.category} → {row.category} · {row.item.kind}"
        for row in rows
        if row.category is not row.item.category
    )
    return {
        name: dict(sorted(table.items(), key=lambda pair: (-pair[1], pair[0])))
        for name, table in (("retrieval", retrieval), ("abstention", abstention), ("category", category))
    }


def _unfound(row: Row) -> str:
    """Why the evidence is not among the first five ('' where it is)."""
    if 1 <= row.rank <= NEAR:
        return ""
    if not row.candidate:
        return "ningún candidato la contiene"
    right_document = bool(row.fragments) and row.fragments[0].doc_id in {gold.doc_id for gold in row.item.gold}
    place = f"del {NEAR + 1} al {SHOWN}" if 1 <= row.rank <= SHOWN else f"después del {SHOWN}"
    return f"candidata, {place}; el primero es de {'su' if right_document else 'otro'} documento"


def _misjudged(row: Row) -> str:
    """Which way the decision to answer went wrong ('' where it is right)."""
    if row.item.category is Category.DIRECT and not row.grounded:
        found = "encontrada" if 1 <= row.rank <= SHOWN else "no encontrada"
        return f"callada con la evidencia {found}"
    if not row.item.answerable and row.grounded:
        return f"respondida sin deber ({row.item.category})"
    return ""
