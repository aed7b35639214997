"""The pinned model itself: downloaded on first use into the project's own model folder."""

import socket
import threading
from pathlib import Path

import numpy as np
import pytest

from core.config import Settings
from core.errors import AcquisitionError
from core.retrieval import e5_weights
from core.retrieval.embedder import (
    SentenceTransformerEmbedder,
    batches_by_length,
    build_embedder,
    has_bfloat16,
)

QUESTION = "¿Puedo deducirme el IVA de la gasolina de mi coche?"
RELATED = (
    "Las cuotas soportadas por la adquisición de combustible de vehículos turismo afectos a la actividad "
    "empresarial o profesional son deducibles en la proporción en que se utilicen en la actividad."
)
UNRELATED = "El modelo 115 se presenta por quienes satisfacen rentas por el arrendamiento de inmuebles urbanos."
PASSAGES = [
    RELATED,
    UNRELATED,
    "Modelo 130: pago fraccionado, 20 por 100 del rendimiento neto.",
    "Plazo: del 1 al 20 de abril.",
    "La prorrata general se calcula por año natural. " * 12,
    "x",
]

# What the tokenizer of the C engine (which maps characters one by one) says of each, prefix and specials
# included: recorded once from its own e5_token_count.
COUNTS = {
    "¿El IVA de la gasolina me lo puedo deducir?": 18,
    "Art. 99.Uno LIVA: 1.200,00 € (21 %) — «prorrata»": 24,
    "Nº 5 º ª ½ ﬁn\u00a0de mes\u00ad guion": 15,
    "ñandú pingüino Ç ß ŒÆ": 17,
    "IVA²  ³ ① ™ … –  \t\ttabulado\nlínea": 15,
    "日本語 emoji 😀😀 x": 11,
    "a\u200bb \ufeffc": 7,
    "MODELO 036: casilla [12] >> 4.056,30": 18,
}


@pytest.fixture(scope="module")
def folder() -> Path:
    return e5_weights.ensure_model(Settings())


@pytest.fixture(scope="module")
def precise(folder) -> SentenceTransformerEmbedder:
    return SentenceTransformerEmbedder(str(folder), fingerprint=e5_weights.FINGERPRINT, dtype="float32")


def test_a_related_passage_is_nearer_than_an_unrelated_one(precise):
    related, unrelated = precise.embed_passages([RELATED, UNRELATED]) @ precise.embed_query(QUESTION)
    assert related > unrelated + 0.03


def test_vectors_are_unit_float32_in_the_order_given(precise):
    vectors = precise.embed_passages(PASSAGES)
    assert vectors.shape == (len(PASSAGES), precise.dimension) == (len(PASSAGES), 384)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    for passage, vector in zip(PASSAGES, vectors, strict=True):
        assert float(precise.embed_passages([passage])[0] @ vector) > 0.9999
    query = precise.embed_query(QUESTION)
    assert query.shape == (384,) and query.dtype == np.float32


def test_the_same_text_gives_the_same_vector(precise):
    assert np.array_equal(precise.embed_query(QUESTION), precise.embed_query(QUESTION))
    assert np.array_equal(precise.embed_passages(PASSAGES), precise.embed_passages(PASSAGES))


def test_no_texts_give_no_vectors(precise):
    assert precise.embed_passages([]).shape == (0, 384)
    assert precise.count_tokens_batch([]) == []


def test_a_question_and_a_passage_of_the_same_words_differ(precise):
    assert float(precise.embed_query(RELATED) @ precise.embed_passages([RELATED])[0]) < 0.999


def test_bfloat16_agrees_with_float32(folder, precise):
    reduced = SentenceTransformerEmbedder(str(folder), dtype="bfloat16")
    cosines = np.sum(reduced.embed_passages(PASSAGES) * precise.embed_passages(PASSAGES), axis=1)
    assert cosines.min() > 0.995
    np.testing.assert_allclose(reduced.embed_query(QUESTION), precise.embed_query(QUESTION), atol=1e-6)


def test_the_format_follows_the_processor(folder):
    automatic = SentenceTransformerEmbedder(str(folder))
    assert automatic._reduced is has_bfloat16()


@pytest.mark.parametrize(("text", "count"), COUNTS.items())
def test_tokens_agree_with_the_original_engine(precise, text, count):
    prefix_and_specials = 4
    assert precise.count_tokens(text) == count - prefix_and_specials


def test_a_text_of_max_tokens_fits_and_what_is_beyond_is_cut(precise):
    words = ["de"] * precise.max_tokens
    assert precise.count_tokens(" ".join(words)) == precise.max_tokens == 508
    whole, longer, shorter = precise.embed_passages(
        [" ".join(words), " ".join([*words, "palabra", *words]), " ".join(words[:-1])]
    )
    assert np.allclose(whole, longer, atol=1e-5)
    assert not np.array_equal(whole, shorter)


def test_long_texts_can_be_counted_beyond_the_window(precise):
    assert precise.count_tokens("de " * 2000) == 2000


def test_progress_reaches_the_end(precise):
    seen: list[tuple[int, int]] = []
    precise.embed_passages(PASSAGES * 8, progress=lambda done, total: seen.append((done, total)))
    total = len(PASSAGES) * 8
    assert seen[-1] == (total, total)
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)


def test_threads_do_not_disturb_each_other(precise):
    expected = precise.embed_passages(PASSAGES)
    query, count = precise.embed_query(QUESTION), precise.count_tokens(QUESTION)
    wrong: list[str] = []

    def passages() -> None:
        if not np.allclose(precise.embed_passages(PASSAGES), expected, atol=1e-5):
            wrong.append("passages")

    def questions() -> None:
        for _ in range(5):
            if precise.count_tokens(QUESTION) != count or not np.allclose(
                precise.embed_query(QUESTION), query, atol=1e-5
            ):
                wrong.append("query")

    threads = [threading.Thread(target=work) for work in (passages, questions) * 3]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_loading_the_folder_makes_no_network_call(folder, monkeypatch):
    def refuse(*_args: object, **_kwargs: object) -> None:
        raise AssertionError("network call")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    SentenceTransformerEmbedder(str(folder)).embed_query(QUESTION)


def test_the_default_settings_use_the_pinned_model(folder):
    embedder = build_embedder(Settings())
    assert embedder.fingerprint == e5_weights.FINGERPRINT


def test_a_model_by_path_gets_a_fingerprint_of_its_own(folder, precise):
    named = SentenceTransformerEmbedder(str(folder), dtype="float32")
    again = SentenceTransformerEmbedder(str(folder), dtype="bfloat16")
    assert named.fingerprint == again.fingerprint != precise.fingerprint


def test_an_unreadable_folder_is_explained(tmp_path):
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(AcquisitionError, match="ASESORIA_EMBEDDER"):
        build_embedder(Settings(embedder=str(tmp_path)))


@pytest.mark.parametrize(
    ("lengths", "budget", "batches"),
    [
        ([], 10, []),
        ([3, 5, 4], 10, [[1, 2], [0]]),
        ([20, 1, 1], 10, [[0], [1, 2]]),
        ([2] * 6, 10, [[0, 1, 2, 3, 4], [5]]),
    ],
)
def test_batches_stay_within_the_budget(lengths, budget, batches):
    assert batches_by_length(lengths, budget) == batches
