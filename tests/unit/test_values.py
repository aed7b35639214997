"""Figures of Spanish text, in every notation that our sources and models use."""

import pytest

from core.answering.values import Kind, read_values

P, M, D, T, A = Kind.PERCENT, Kind.MONEY, Kind.DATE, Kind.PERIOD, Kind.ARTICLE


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("30 %", [(P, "30")]),
        ("21%", [(P, "21")]),
        ("el 30 por 100", [(P, "30")]),
        ("el 0,5 por ciento", [(P, "0.5")]),
        ("un 0,50 por ciento", [(P, "0.5")]),
        ("treinta por ciento", [(P, "30")]),
        ("treinta y cinco por cien", [(P, "35")]),
        ("afecto al 100 por cien", [(P, "100")]),
        ("los tipos del 21, 10 y 4 por ciento", [(P, "21"), (P, "10"), (P, "4")]),
        ("más de 10 puntos porcentuales", [(P, "10")]),
        ("3.005,06 €", [(M, "3005.06")]),
        ("3005.06 EUR", [(M, "3005.06")]),
        ("3.005,06 euros", [(M, "3005.06")]),
        ("3 005,06 euros", [(M, "3005.06")]),
        ("1.200,00² euros", [(M, "1200")]),
        ("tres mil euros", [(M, "3000")]),
        ("6 mil euros", [(M, "6000")]),
        ("1 millón de euros", [(M, "1000000")]),
        ("un millón doscientos mil euros", [(M, "1200000")]),
        ("1,5 millones de euros", [(M, "1500000")]),
        ("de 10 a 12 millones de euros", [(M, "10000000"), (M, "12000000")]),
        ("entre 1.000 y 3.000 euros", [(M, "1000"), (M, "3000")]),
        ("quinientas mil pesetas", [(M, "500000")]),
        ("20 de abril", [(D, "20/4")]),
        ("20/04/2026", [(D, "20/4")]),
        ("20-4-2026", [(D, "20/4")]),
        ("2026-04-20", [(D, "20/4")]),
        ("día 30 de enero", [(D, "30/1")]),
        ("primero de enero", [(D, "1/1")]),
        ("1 a 20 de abril", [(D, "1/4"), (D, "20/4")]),
        ("del 1 al 20 de abril", [(D, "1/4"), (D, "20/4")]),
        ("desde el 1 hasta el 20 de abril", [(D, "1/4"), (D, "20/4")]),
        ("los días 1 y 20, ambos inclusive, del mes de abril", [(D, "1/4"), (D, "20/4")]),
        ("hasta el 20 de abril y julio", [(D, "20/4"), (D, "20/7")]),
        ("4 años", [(T, "4 año")]),
        ("cuatro años", [(T, "4 año")]),
        ("seis meses", [(T, "6 mes")]),
        ("un mes", [(T, "1 mes")]),
        ("de 2 a 4 años", [(T, "2 año"), (T, "4 año")]),
        ("artículo 30.2.5.ª", [(A, "30.2.5")]),
        ("art. 30", [(A, "30")]),
        ("arts. 30 y 31", [(A, "30"), (A, "31")]),
        ("artículo 95.Tres.2.ª", [(A, "95.3.2")]),
        ("artículo 163 sexies", [(A, "163sexies")]),
        ("artículo 38 ter", [(A, "38ter")]),
        ("disposición adicional tercera", [(A, "a-3")]),
        ("Ley 35/2006", [(Kind.LAW, "35/2006")]),
        ("modelo 130", [(Kind.MODEL, "130")]),
        ("modelos 111, 115 y 123", [(Kind.MODEL, "111"), (Kind.MODEL, "115"), (Kind.MODEL, "123")]),
        ("1T", [(Kind.QUARTER, "1")]),
        ("primer trimestre", [(Kind.QUARTER, "1")]),
        ("3.er trimestre", [(Kind.QUARTER, "3")]),
        ("ejercicio 2025", [(Kind.YEAR, "2025")]),
        ("la mitad", [(Kind.FRACTION, "1/2")]),
        ("un tercio", [(Kind.FRACTION, "1/3")]),
        ("dos terceras partes", [(Kind.FRACTION, "2/3")]),
        ("| 12.450,00 | 19 |", [(Kind.NUMBER, "12450"), (Kind.NUMBER, "19")]),
        ("la segunda vivienda", [(Kind.ORDINAL, "2")]),
        ("un tercero y una factura", []),
        ("", []),
    ],
)
def test_values(text: str, expected: list[tuple[Kind, str]]) -> None:
    assert [(v.kind, v.norm) for v in read_values(text)] == expected


def test_working_days_are_not_calendar_days() -> None:
    assert [v.detail for v in read_values("15 días hábiles, 15 días naturales, 15 días")] == ["habil", "natural", ""]


def test_offsets_are_those_of_the_text() -> None:
    text = "Á É: el tipo del 21 % y 3.000 €"
    assert [text[v.start : v.end] for v in read_values(text)] == ["21 %", "3.000 €"]


@pytest.mark.parametrize("text", ["1" * 5000, "mil " * 2000, "artículo 1, " * 1000, "1 de " * 2000, "«" * 3000])
def test_hostile_text_is_read_in_no_time(text: str) -> None:
    read_values(text)
