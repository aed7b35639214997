"""The formulas of refusal: each finds its examples, none finds what a true answer says, quoted text is not ours."""

import pytest

from core.answering.scope import load_scope
from core.errors import RegisterError
from core.seal.refusals import find_refusal, load_refusals, own_words
from tests.refusal_sentences import ANSWERS, REFUSALS

LIST = load_refusals()
NOTICES = tuple(load_scope().answers[name] for name in ("personal_case", "common_territory", "other_language"))


@pytest.mark.parametrize(("name", "sentence"), [(f.name, s) for f in LIST.formulas for s in f.examples])
def test_each_formula_finds_its_examples(name: str, sentence: str) -> None:
    formula = next(f for f in LIST.formulas if f.name == name)
    alone = type(LIST)(LIST.version, (formula,), ())
    assert alone.formulas and find_refusal(sentence)
    assert formula.pattern.search(_folded(sentence)), "found, but by another formula"


def _folded(sentence: str) -> str:
    from core.seal import refusals

    return refusals._folded(sentence.rstrip("."))


@pytest.mark.parametrize("sentence", LIST.harmless)
def test_what_a_true_answer_says_is_no_refusal(sentence: str) -> None:
    assert find_refusal(sentence) == ""


@pytest.mark.parametrize(
    "sentence",
    [
        "NO PUEDO AFIRMAR QUE SEA ASÍ",
        "**No** puedo _afirmar_ tal cosa",
        "No  puedo\tafirmar nada.",
        "El plazo es el 20 de octubre. No obstante, no dispongo de datos sobre recargos.",
        "Con la documentación aportada, no se puede, por desgracia, confirmar.",
        "no dispongo de informacion suficiente",  # without accents
        "«El plazo es el 20.» [1] Pero no puedo afirmar que sea el suyo.",
        "«sin cerrar, y no puedo afirmar nada",  # a mark that is never closed hides nothing
    ],
)
def test_variants(sentence: str) -> None:
    assert find_refusal(sentence)


@pytest.mark.parametrize(
    "text",
    [
        "La ley dice: «La Administración dirá: no puedo afirmar que proceda.» [1]",
        "> No dispongo de datos.\n\nEl plazo es el 20.",
        "«Quien diga «no puedo afirmar» no cumple, y no dispongo de datos.» [1]",
        "«Primera línea.\nNo dispongo de datos.\nTercera.» [2]",
        "El manual lo llama “no dispongo de datos”.",
        'El manual lo llama "no dispongo de datos".',
        "**No puedo afirmar: manual**, página 3:\n\n«Texto.» [1]",
    ],
)
def test_quoted_law_is_not_our_words(text: str) -> None:
    assert find_refusal(text, titles=["No puedo afirmar: manual"]) == ""


def test_notices_are_no_refusal() -> None:
    text = "\n\n".join([NOTICES[0], "«El plazo es el 20.» [1]", *NOTICES[1:]])
    assert find_refusal(text, notices=NOTICES) == ""
    assert find_refusal(f"{text}\n\nNo dispongo de datos.", notices=NOTICES)


def test_our_own_abstentions_are_refusals_in_words_too() -> None:
    answers = load_scope().answers
    for name in ("no_answer", "unclear", "out_of_scope"):
        assert find_refusal(answers[name]), name


def test_own_words_keeps_the_rest() -> None:
    assert own_words("Antes «dentro» después").split() == ["Antes", "…", "después"]


def test_a_list_that_is_not_valid_is_refused(tmp_path) -> None:  # type: ignore[no-untyped-def]
    path = tmp_path / "r.toml"
    for text in (
        "[",
        'version = "1"',
        'version="1"\n[words]\n[[formula]]\nname="a"\npattern="("\nexamples=[]\n[[harmless]]\nsentences=[]',
    ):
        path.write_text(text, "utf-8")
        with pytest.raises(RegisterError):
            load_refusals(path)


def test_sentences_written_after_the_list() -> None:
    """Of the last 40, 35 were found when they were written; the formulas were widened since."""
    assert [s for s in REFUSALS if not find_refusal(s)] == []
    assert [s for s in ANSWERS if find_refusal(s)] == []
    assert len(REFUSALS) > 80 and len(ANSWERS) > 50
