"""Cleaning mends what a page's width has cut and never changes what the text says."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.ingestion.cleaning import clean_text, join_hyphenated, normalize_characters, remove_repeated_lines


@pytest.mark.parametrize(
    ("raw", "clean"),
    [
        ("las reten-\nciones soportadas", "las retenciones soportadas"),
        ("la regulariza-\nción anual", "la regularización anual"),
        ("amorti-\nzación lineal", "amortización lineal"),
        ("el ejercicio 2025-\n2026", "el ejercicio 2025-2026"),
        ("el autónomo-\nempleador", "el autónomo-empleador"),
        ("el nif-\niva", "el nif-iva"),
        ("el NIF-\nIVA", "el NIF-IVA"),
        ("la declaración-\nliquidación", "la declaración-liquidación"),
        ("teórico-\npráctico", "teórico-práctico"),
        ("inmovi-\n  lizado", "inmovilizado"),
        ("auto\u00ad\nliquidación", "autoliquidación"),
    ],
)
def test_hyphens_at_a_line_end(raw: str, clean: str) -> None:
    assert clean_text(raw) == clean


def test_unknown_word_is_joined() -> None:
    assert join_hyphenated("prorratea-\nble") == "prorrateable"


def test_paragraphs_items_and_records_keep_their_lines() -> None:
    raw = "Primero  con   espacios.\n\n\n\nSegundo:\n• uno\n• dos\n1. tres\n\nGestoría: 60,50 €\nTeléfono: 36,30 €"
    assert clean_text(raw) == (
        "Primero con espacios.\n\nSegundo:\n• uno\n• dos\n1. tres\n\nGestoría: 60,50 €\nTeléfono: 36,30 €"
    )


def test_wrapped_lines_of_prose_are_joined() -> None:
    raw = (
        "Los empresarios o profesionales que realicen operaciones sujetas al\n"
        "Impuesto deberán expedir factura por las entregas de bienes que efectúen\n"
        "en el desarrollo de su actividad."
    )
    assert "\n" not in clean_text(raw)


@pytest.mark.parametrize(
    ("raw", "clean"),
    [
        ("ﬁanza\u00a0de\u2009mil", "fianza de mil"),
        ("a\x00b\u200bc\ufeff", "abc"),
        ("a\r\nb\rc", "a\nb\nc"),
        ("cafe\u0301", "café"),
    ],
)
def test_characters(raw: str, clean: str) -> None:
    assert normalize_characters(raw) == clean


@given(st.text(alphabet="abcñáé 0123456789.,;:%€()«»\n•-", max_size=300))
def test_cleaning_keeps_every_sign_but_space_and_line_end_hyphens(text: str) -> None:
    def solid(value: str) -> str:
        return re.sub(r"[\s-]", "", value)

    assert solid(clean_text(text)) == solid(text)
    assert clean_text(clean_text(text)) == clean_text(text)


def page(number: int, body: str) -> str:
    return f"GESTORÍA FICTICIA · Informe\n{body}\nPágina {number} de 5 · Confidencial"


def test_headers_footers_and_page_numbers_go() -> None:
    pages = [page(n, f"Apartado {n}. Ingresos del mes {n}: {1000 + 111 * n},00 euros.") for n in range(1, 6)]
    assert remove_repeated_lines(pages) == [
        f"Apartado {n}. Ingresos del mes {n}: {1000 + 111 * n},00 euros." for n in range(1, 6)
    ]


@pytest.mark.parametrize(
    "number", ["{n}", "- {n} -", "{n} / 6", "Pág. {n}", "{n} de 6", "02/10/2025 - Manual. Página {n}"]
)
def test_page_number_forms(number: str) -> None:
    pages = [f"Texto propio de la hoja {'abcdef'[n]}.\n{number.format(n=n + 1)}" for n in range(6)]
    assert all("Texto propio" in p and "\n" not in p.strip() for p in remove_repeated_lines(pages))


def test_a_body_line_that_recurs_inside_pages_stays() -> None:
    pages = [f"Cabecera\nIntroducción {'abcd'[n]}\nTotal: 100,00 €\nCierre {'efgh'[n]}" for n in range(4)]
    assert all("Total: 100,00 €" in p for p in remove_repeated_lines(pages))


def test_amounts_that_differ_are_never_taken_for_page_numbers() -> None:
    pages = [f"Mes {n}\nCuota {n}00,00 €" for n in range(1, 7)]
    assert remove_repeated_lines(pages) == pages


def test_two_pages_are_too_few_to_tell() -> None:
    pages = ["Cabecera\nuno", "Cabecera\ndos"]
    assert remove_repeated_lines(pages) == pages


def test_running_titles_that_change_by_chapter_go() -> None:
    chapters = ["Capítulo 1. Novedades"] * 4 + ["Capítulo 2. Introducción"] * 4
    pages = [
        f"{title}\nCuerpo de la página {'abcdefgh'[n]} que sigue.\nPágina {n + 1}" for n, title in enumerate(chapters)
    ]
    cleaned = remove_repeated_lines(pages)
    assert all(p.startswith("Cuerpo") and "Página" not in p.replace("página", "") for p in cleaned)
