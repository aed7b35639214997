"""Spanish sentences end where a reader would end them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.ingestion.sentences import sentences, split_sentences


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "Véase el art. 30.2.5.ª de la Ley. El límite es 3.005,06 euros (p. ej. en 2025).",
            ["Véase el art. 30.2.5.ª de la Ley.", "El límite es 3.005,06 euros (p. ej. en 2025)."],
        ),
        ("1.º Que se trate de una entrega. 2.º Otra.", ["1.º Que se trate de una entrega.", "2.º Otra."]),
        ("1. Toda factura contendrá: a) Número. b) Fecha.", ["1. Toda factura contendrá: a) Número. b) Fecha."]),
        (
            "Talleres Ficticios, S.L. emitió la factura. D. Juan firmó.",
            ["Talleres Ficticios, S.L. emitió la factura.", "D. Juan firmó."],
        ),
        ("¿Cuándo? Hasta el 20 de octubre.", ["¿Cuándo?", "Hasta el 20 de octubre."]),
        ("Importe: 1.200,00². Siguiente.", ["Importe: 1.200,00².", "Siguiente."]),
        ("Dijo «no procede». Y calló.", ["Dijo «no procede».", "Y calló."]),
        (
            "El plazo (salvo lo dicho. Véase) es de un mes. Fin.",
            ["El plazo (salvo lo dicho. Véase) es de un mes.", "Fin."],
        ),
        ("", []),
    ],
)
def test_sentences(text: str, expected: list[str]) -> None:
    assert sentences(text) == expected


@given(st.text(max_size=200))
def test_spans_lose_nothing_but_white_space(text: str) -> None:
    spans = split_sentences(text)
    assert "".join("".join(text[a:b].split()) for a, b in spans) == "".join(text.split())
    assert all(a < b for a, b in spans) and spans == sorted(spans)
