"""The charts of the calibration page: values in, a figure with its data out. Nothing here reads or decides."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from zlib import crc32

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from core.calibration.gates import GRADE_TEXT, Grade
from core.calibration.measure import Calibration
from core.calibration.statistics import LEVEL_VALUE, Estimate, Measured, Reason, Unmeasured
from core.models import Level
from core.records.baselines import Baseline
from core.records.summary import LevelCount
from core.seal.drift import Colour, Drift

LEVELS = {Level.LOW: "baja", Level.MEDIUM: "media", Level.HIGH: "alta"}
LEVEL_COLOURS = {Level.LOW: "#d62728", Level.MEDIUM: "#ff9f1c", Level.HIGH: "#2a9d3f"}
_GRADE_COLOURS = {Grade.BLOCKING: "#f6c6c6", Grade.ACCEPTABLE: "#fde8c4", Grade.EXPECTED: "#c9ecd0"}
_DRIFT_COLOURS = {Colour.RED: "#d62728", Colour.AMBER: "#ff9f1c", Colour.GREEN: "#2a9d3f"}
_HEIGHT = 340
_NOTHING = Unmeasured(Reason.TOO_FEW, 0)


@dataclass(frozen=True, slots=True)
class Chart:
    """A figure, the sentence that explains it, and its data."""

    title: str
    sentence: str
    figure: go.Figure
    data: pd.DataFrame


def show_chart(chart: Chart, *, key: str, selectable: bool = False) -> str:
    """Draw a chart with its sentence and its data to download; the case of a selected point, '' where none is."""
    st.subheader(chart.title, anchor=False)
    event = st.plotly_chart(
        chart.figure,
        key=key,
        on_select="rerun" if selectable else "ignore",
        selection_mode="points",
        config={"displaylogo": False, "locale": "es"},
    )
    st.caption(chart.sentence)
    st.download_button(
        "Descargar los datos (CSV)",
        chart.data.to_csv(index=False).encode("utf-8-sig"),
        file_name=f"{key}.csv",
        mime="text/csv",
        key=f"{key}-csv",
        type="tertiary",
        icon=":material/download:",
        on_click="ignore",
    )
    points = event["selection"]["points"] if selectable else []
    return str(points[0]["customdata"][0]) if points and points[0].get("customdata") else ""


def shown(found: Measured) -> str:
    """A figure with its interval in Spanish, or why there is none."""
    if isinstance(found, Unmeasured):
        return found.text
    return (
        f"{_number(found.value)} (intervalo del 95 %: de {_number(found.low)} a {_number(found.high)}; n = {found.n})"
    )


def _number(value: float) -> str:
    return f"{value:.2f}".replace(".", ",").replace("-", "−")


def headline(found: Calibration, *, expected: Mapping[str, float], acceptable: Mapping[str, float]) -> Chart:
    """r and kappa as points with intervals on their bands. ``expected`` and ``acceptable`` by ``r`` and ``kappa``."""
    rows = [
        ("r de Pearson", "r", found.pearson, found.grade_pearson),
        ("kappa de Cohen", "kappa", found.kappa, found.grade_kappa),
    ]
    figure = go.Figure()
    for place, (name, key, measured, grade) in enumerate(rows):
        bands = (
            (-1.0, acceptable[key], Grade.BLOCKING),
            (acceptable[key], expected[key], Grade.ACCEPTABLE),
            (expected[key], 1.0, Grade.EXPECTED),
        )
        for low, high, band in bands:
            figure.add_shape(
                type="rect", x0=low, x1=high, y0=place - 0.32, y1=place + 0.32, line_width=0, layer="below",
                fillcolor=_GRADE_COLOURS[band],
            )  # fmt: skip
            figure.add_annotation(
                x=(max(low, -0.5) + high) / 2, y=place + 0.4, text=GRADE_TEXT[band], showarrow=False, font_size=11
            )
        if isinstance(measured, Estimate):
            figure.add_trace(
                go.Scatter(
                    x=[measured.value], y=[place], mode="markers", name=name, marker={"size": 14, "color": "#1f3b73"},
                    error_x={
                        "type": "data", "symmetric": False, "array": [measured.high - measured.value],
                        "arrayminus": [measured.value - measured.low], "thickness": 2.5, "color": "#1f3b73",
                    },
                    hovertemplate=f"{name}: {shown(measured)}<br>{GRADE_TEXT[grade]}<extra></extra>",
                )
            )  # fmt: skip
        else:
            figure.add_annotation(x=0.25, y=place, text=measured.text, showarrow=False)
    figure.update_yaxes(tickvals=[0, 1], ticktext=[row[0] for row in rows], range=[-0.5, 1.6])
    figure.update_xaxes(range=[-0.5, 1.04], title="valor")
    figure.update_layout(showlegend=False, height=260, margin={"t": 10, "b": 40})
    data = pd.DataFrame(
        [{"cifra": name, **_columns(measured), "banda": str(grade)} for name, _, measured, grade in rows]
    )
    return Chart(
        "Las dos cifras y sus bandas",
        "Cada punto es la cifra y la línea su intervalo del 95 %; el color de fondo dice si es la esperada, aceptable o "
        "bloqueante.",
        figure,
        data,
    )


def _columns(found: Measured) -> dict[str, object]:
    if isinstance(found, Unmeasured):
        return {"valor": None, "desde": None, "hasta": None, "p": None, "n": found.n, "motivo": str(found.reason)}
    return {"valor": found.value, "desde": found.low, "hasta": found.high, "p": found.p, "n": found.n, "motivo": ""}


def seal_and_faithfulness(cases: Sequence[tuple[str, str, Level, float]]) -> Chart:
    """Each case (id, question, level, faithfulness) as a point, moved a little by its id so that none hides another."""
    rows = [
        {
            "id": case_id, "pregunta": question, "sello": LEVELS[level], "fidelidad": faithfulness,
            "x": LEVEL_VALUE[level] + _jitter(case_id, 0.16), "y": faithfulness + _jitter(case_id[::-1] + "y", 0.12),
        }
        for case_id, question, level, faithfulness in cases
    ]  # fmt: skip
    figure = go.Figure()
    for level, name in LEVELS.items():
        own = [row for row in rows if row["sello"] == name]
        figure.add_trace(
            go.Scatter(
                x=[row["x"] for row in own], y=[row["y"] for row in own], mode="markers", name=name,
                marker={"size": 9, "color": LEVEL_COLOURS[level], "opacity": 0.75, "line": {"width": 1, "color": "white"}},
                customdata=[[row["id"], _short(str(row["pregunta"]))] for row in own],
                hovertemplate="%{customdata[0]}: %{customdata[1]}<extra>" + name + "</extra>",
            )
        )  # fmt: skip
    figure.update_xaxes(tickvals=[0, 0.5, 1], ticktext=list(LEVELS.values()), range=[-0.3, 1.3], title="sello")
    figure.update_yaxes(tickvals=[0, 1], ticktext=["no fiel", "fiel"], range=[-0.3, 1.3], title="veredicto")
    figure.update_layout(height=_HEIGHT, showlegend=False, margin={"t": 10}, clickmode="event+select")
    return Chart(
        "Sello y veredicto, caso por caso",
        "Cada punto es una respuesta: un sello que acierta los tiene abajo a la izquierda y arriba a la derecha; pulse uno "
        "para abrir el caso.",
        figure,
        pd.DataFrame(rows, columns=["id", "pregunta", "sello", "fidelidad"]),
    )


def _jitter(name: str, width: float) -> float:
    return (crc32(name.encode()) % 2001 / 1000 - 1) * width


def _short(text: str) -> str:
    return text if len(text) <= 90 else f"{text[:89]}…"


def by_level(found: Calibration) -> Chart:
    """Share of faithful answers at each level."""
    measured = {level: found.by_level[level] for level in LEVELS}
    known = {level: value for level, value in measured.items() if isinstance(value, Estimate)}
    figure = go.Figure(
        go.Bar(
            x=[LEVELS[level] for level in known], y=[100 * v.value for v in known.values()],
            marker_color=[LEVEL_COLOURS[level] for level in known], text=[f"n = {v.n}" for v in known.values()],
            error_y={
                "type": "data", "symmetric": False, "array": [100 * (v.high - v.value) for v in known.values()],
                "arrayminus": [100 * (v.value - v.low) for v in known.values()],
            },
            hovertemplate="%{x}: %{y:.0f} %<extra></extra>",
        )
    )  # fmt: skip
    figure.update_yaxes(range=[0, 105], title="fieles (%)")
    figure.update_xaxes(categoryorder="array", categoryarray=list(LEVELS.values()), title="sello")
    figure.update_layout(height=_HEIGHT, margin={"t": 10})
    return Chart(
        "Respuestas fieles con cada sello",
        "De las respuestas con cada sello, cuántas de cada cien son fieles; debe subir de baja a alta (línea: intervalo del "
        "95 % de Wilson).",
        figure,
        pd.DataFrame([{"sello": LEVELS[level], **_columns(value)} for level, value in measured.items()]),
    )


def reliability_diagram(found: Calibration) -> Chart:
    """Relevance of the best fragment against the share of faithful answers."""
    figure = go.Figure()
    figure.add_trace(
        go.Scatter(
            x=[0, 1], y=[0, 1], mode="lines", line={"dash": "dot", "color": "gray"}, name="perfecta", hoverinfo="skip"
        )
    )
    figure.add_trace(
        go.Scatter(
            x=[b.predicted for b in found.curve], y=[b.observed for b in found.curve], mode="lines+markers",
            marker={"size": [8 + 0.6 * b.n for b in found.curve], "color": "#1f3b73"}, name="medida",
            customdata=[b.n for b in found.curve],
            hovertemplate="relevancia media %{x:.2f}<br>fieles %{y:.0%}<br>%{customdata} casos<extra></extra>",
        )
    )  # fmt: skip
    figure.update_xaxes(range=[0, 1.02], title="relevancia de lo citado (media del grupo)")
    figure.update_yaxes(range=[-0.05, 1.05], title="parte de fieles", tickformat=".0%")
    figure.update_layout(height=_HEIGHT, showlegend=False, margin={"t": 10})
    return Chart(
        "Fiabilidad de la relevancia",
        f"Si la relevancia fuera una probabilidad de acertar, los puntos estarían en la diagonal; error medio (ECE): "
        f"{shown(found.ece)}",
        figure,
        pd.DataFrame([{"relevancia": b.predicted, "fieles": b.observed, "n": b.n} for b in found.curve]),
    )


def risk_and_coverage(found: Calibration) -> Chart:
    """Share of answers trusted against the share of those that is not faithful."""
    known = [(p, p.risk) for p in found.risk if isinstance(p.risk, Estimate)]
    names = {Level.HIGH: "solo alta", Level.MEDIUM: "media o alta", Level.LOW: "todas"}
    figure = go.Figure(
        go.Scatter(
            x=[100 * p.coverage for p, _ in known], y=[100 * r.value for _, r in known], mode="lines+markers+text",
            text=[names[p.level] for p, _ in known], textposition="top center", marker={"size": 11, "color": "#1f3b73"},
            error_y={
                "type": "data", "symmetric": False, "array": [100 * (r.high - r.value) for _, r in known],
                "arrayminus": [100 * (r.value - r.low) for _, r in known],
            },
            hovertemplate="%{text}: se confía en el %{x:.0f} %, y falla el %{y:.0f} %<extra></extra>",
        )
    )  # fmt: skip
    figure.update_xaxes(range=[0, 112], title="respuestas en las que se confía (%)")
    figure.update_yaxes(range=[-3, 105], title="de ellas, no fieles (%)")
    figure.update_layout(height=_HEIGHT, margin={"t": 10})
    rows = [{"se confía en": names[p.level], "cobertura": p.coverage, **_columns(p.risk)} for p in found.risk]
    return Chart(
        "Riesgo y cobertura del sello",
        "Si solo se confía en respuestas de un sello o mejor, en cuántas se confía y cuántas de ellas fallan: cuanto más "
        "exigente, menos deben fallar.",
        figure,
        pd.DataFrame(rows, columns=["se confía en", "cobertura", *_columns(_NOTHING)]),
    )


def judges_agreement(found: Calibration) -> Chart:
    """Kappa of each pair of judges, and of verdicts and panel."""
    rows: list[tuple[str, Measured]] = [(f"{a} / {b}", value) for (a, b), value in found.pairwise.items()]
    rows += [("veredicto / panel, sin excluir", found.kappa_all), ("veredicto / panel", found.kappa)]
    known = [(name, value) for name, value in rows if isinstance(value, Estimate)]
    figure = go.Figure(
        go.Scatter(
            x=[v.value for _, v in known], y=[name for name, _ in known], mode="markers",
            marker={"size": 11, "color": "#1f3b73"},
            error_x={
                "type": "data", "symmetric": False, "array": [v.high - v.value for _, v in known],
                "arrayminus": [v.value - v.low for _, v in known],
            },
            hovertemplate="%{y}: %{x:.2f}<extra></extra>",
        )
    )  # fmt: skip
    figure.add_vline(x=0, line_dash="dot", line_color="gray")
    figure.update_xaxes(range=[-0.5, 1.05], title="kappa de Cohen")
    figure.update_yaxes(automargin=True)
    figure.update_layout(height=_HEIGHT, margin={"t": 10})
    return Chart(
        "Acuerdo entre jueces",
        "Cuánto coinciden más allá del azar (1: siempre; 0: como por azar) cada par de jueces, y los veredictos con la "
        "mayoría del panel.",
        figure,
        pd.DataFrame([{"par": name, **_columns(value)} for name, value in rows]),
    )


def daily_seals(counts: Sequence[LevelCount], drift: Sequence[Drift]) -> Chart:
    """Answers of each day by level, with the colour of the drift behind."""
    frame = pd.DataFrame(
        [{"día": c.day, "sello": LEVELS[Level(c.level)], "respuestas": c.answers} for c in counts],
        columns=["día", "sello", "respuestas"],
    )
    totals = frame.groupby(["día", "sello"], as_index=False)["respuestas"].sum()
    figure = go.Figure()
    for level, name in LEVELS.items():
        own = totals[totals["sello"] == name]
        figure.add_trace(go.Bar(x=own["día"], y=own["respuestas"], name=name, marker_color=LEVEL_COLOURS[level]))
    days = set(totals["día"])
    for found in drift:
        if found.colour in _DRIFT_COLOURS and found.day.isoformat() in days:
            figure.add_shape(
                type="rect", xref="x", yref="paper", y0=1.0, y1=1.05, line_width=0,
                x0=f"{found.day.isoformat()}T00:00", x1=f"{found.day.isoformat()}T23:59",
                fillcolor=_DRIFT_COLOURS[found.colour],
            )  # fmt: skip
    figure.update_layout(barmode="stack", height=_HEIGHT, margin={"t": 25}, legend_title_text="sello")
    figure.update_xaxes(type="date", title="día (UTC)")
    figure.update_yaxes(title="respuestas")
    colours = {found.day.isoformat(): str(found.colour) for found in drift}
    totals["deriva"] = [colours.get(day, "") for day in totals["día"]]
    return Chart(
        "Sellos de cada día",
        "Respuestas de cada día con cada sello; la franja de arriba es el color de la deriva (verde, ámbar o rojo; sin "
        "franja, pocas respuestas), que no depende de los filtros.",
        figure,
        totals,
    )


def baselines_over_time(
    baselines: Sequence[Baseline],
    changes: Sequence[Sequence[str]],
    switches: Sequence[tuple[str, str]],
    *,
    acceptable: float,
) -> Chart:
    """r and kappa of each stored baseline, with what had changed; ``switches``: time and mode of the seal's changes."""
    figure = go.Figure()
    times = [b.created_at for b in baselines]
    for name, values, colour in (
        ("r de Pearson", [b.pearson for b in baselines], "#1f3b73"),
        ("kappa de Cohen", [b.kappa for b in baselines], "#8a5a00"),
    ):
        figure.add_trace(
            go.Scatter(
                x=times, y=values, name=name, mode="lines+markers", line_color=colour,
                customdata=[b.id for b in baselines],
                hovertemplate=f"línea de base %{{customdata}}<br>{name}: %{{y:.2f}}<extra></extra>",
            )
        )  # fmt: skip
    for baseline, changed in zip(baselines, changes, strict=True):
        if changed:
            _mark(figure, baseline.created_at, "cambian " + ", ".join(changed), "#666", "dash")
    for at, mode in switches:
        _mark(figure, at, f"sello {mode}", "#b00020", "dot")
    figure.add_hline(y=acceptable, line_dash="dot", line_color="gray", annotation_text="r aceptable")
    figure.update_yaxes(range=[-0.2, 1.05])
    figure.update_xaxes(type="date")
    figure.update_layout(height=_HEIGHT, margin={"t": 30}, legend={"orientation": "h"})
    rows = [
        {
            "número": b.id, "fecha": b.created_at, "guardada por": b.saved_by, "r": b.pearson, "kappa": b.kappa, "n": b.n,
            "cambia": ", ".join(changed), "instrucciones": b.prompt_version, "modelo": b.model,
            "documentos": b.corpus_version, "umbrales": b.thresholds_version,
        }
        for b, changed in zip(baselines, changes, strict=True)
    ]  # fmt: skip
    return Chart(
        "Líneas de base",
        "r y kappa de cada línea de base guardada; las líneas verticales marcan qué había cambiado desde la anterior y "
        "cuándo cambió de modo el sello.",
        figure,
        pd.DataFrame(rows),
    )


def _mark(figure: go.Figure, at: str, text: str, colour: str, dash: str) -> None:
    figure.add_shape(
        type="line", x0=at, x1=at, yref="paper", y0=0, y1=1, line={"color": colour, "dash": dash, "width": 1}
    )
    figure.add_annotation(x=at, yref="paper", y=1.06, text=text, showarrow=False, font={"size": 10, "color": colour})
