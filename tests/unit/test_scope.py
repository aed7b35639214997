"""What the words of a question say of its scope."""

import pytest

from core.answering.scope import has_known_words, is_other_language, load_scope, personal_features, read_signs, refusal


@pytest.mark.parametrize(
    ("question", "place", "own"),
    [
        ("tengo un bar en Bilbao, ¿cuándo presento el IVA?", "Bizkaia", True),
        ("soy autónoma en Pamplona y no sé qué retención poner", "Navarra", True),
        ("vivo en Las Palmas, cuanto igic pago", "Canarias", True),
        ("vendo a un cliente de Canarias, ¿le pongo IVA?", "Canarias", False),
        ("¿la navaja es deducible?", None, False),
        ("abro una tienda en Melilla", "Melilla", True),
        ("hacienda foral", "País Vasco", True),
    ],
)
def test_territory(question: str, place: str | None, own: bool) -> None:
    signs = read_signs(question)
    assert (signs.territory.name if signs.territory else None) == place
    assert signs.own_place is own


@pytest.mark.parametrize(
    ("question", "year", "asked"),
    [
        ("¿cuál era el mínimo exento en 2019?", 2019, True),
        ("la renta del 23 cuándo se presentaba", 2023, True),
        ("compré la furgoneta en 2022, ¿la puedo amortizar?", 2022, False),
        ("según el Real Decreto 1619/2012 qué lleva una factura", None, False),
        ("plazos de 2026", None, False),
        ("gano 2000 euros al mes", None, False),
    ],
)
def test_years(question: str, year: int | None, asked: bool) -> None:
    signs = read_signs(question)
    assert (signs.other_year, signs.year_is_asked) == (year, asked)


def test_personal_features_see_figures_and_formulas() -> None:
    own = personal_features("gano 30.000 € y tengo 2 hijos, ¿cuánto me sale a pagar?")
    general = personal_features("¿qué libros tengo que llevar?")
    assert sum(own) > sum(general) and own[1] == 1.0 and general[:6] == [0.0] * 6


def test_refusals_say_why_and_who() -> None:
    scope = load_scope()
    territory = refusal("territory", read_signs("vivo en Vitoria"), scope)
    assert "Álava" in territory and "Hacienda Foral de Álava" in territory
    year = refusal("other_year", read_signs("renta de 2019"), scope)
    assert "2019" in year and "2025" in year
    assert "Seguridad Social" in refusal("social_security", read_signs("cuota"), scope)
    assert "fiscalidad de autónomos" in refusal("out_of_scope", read_signs("x"), scope)
    assert "información suficiente" in refusal("no_answer", read_signs("x"), scope)


@pytest.mark.parametrize(
    ("text", "known"), [("qwrtz plkjh", False), ("iva gasolina", True), ("303", True), ("12", False), ("zzzz", False)]
)
def test_known_words(text: str, known: bool) -> None:
    assert has_known_words(text) is known


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("can I deduct the petrol of my car from my taxes?", True),
        ("puc deduir la benzina del meu cotxe amb aquesta activitat?", True),
        ("¿puedo deducir la gasolina del coche?", False),
        ("iva furgoneta", False),
    ],
)
def test_other_language(text: str, other: bool) -> None:
    assert is_other_language(text) is other
