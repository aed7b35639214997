"""The official documents as the pipeline reads them, loaded once per run of the tests (Renta takes a minute)."""

import re
import unicodedata
from collections.abc import Sequence
from functools import cache

from core.config import Settings
from core.corpus.prepare import prepare
from core.corpus.register import load_register
from core.ingestion.fragments import make_fragments
from core.ingestion.worker import load_in_worker
from core.models import DocumentInfo, Fragment, LoadedDocument
from tests.conftest import count_words

RENTA = "ManualRenta2025Parte1_es_es.pdf"
IVA = "Manual_IVA_2025.pdf"
CALENDAR = "calendario-contribuyente-2026.pdf"
MANUALS = (RENTA, IVA)
PDFS = (*MANUALS, CALENDAR, "Folleto_Censos.pdf", "instr_mod_349.pdf")
LAWS = tuple(
    f"{name}.html"
    for name in "ley-35-2006 ley-37-1992 ley-58-2003 rd-439-2007 rd-1007-2023 rd-1065-2007 rd-1619-2012 rd-1624-1992".split()
)

# The manuals' pages: their header ends above, and their footer begins below (points from the top of 842).
BODY_TOP, BODY_BOTTOM = 55.0, 798.0


def info_of(filename: str) -> DocumentInfo:
    """The register's row of a file."""
    return next(info for info in load_register() if info.filename == filename)


@cache
def loaded(filename: str) -> LoadedDocument:
    """The document through the worker, HTML converted first, as the index is made."""
    settings = Settings()
    path, _ = prepare(info_of(filename), settings)
    return load_in_worker(path, settings)


@cache
def fragments(filename: str) -> Sequence[Fragment]:
    """Its fragments, cut by words instead of the model's tokens."""
    return make_fragments(loaded(filename), info_of(filename), count_words)


def squeeze(text: str) -> str:
    """Letters, figures and signs only: no white space, no hyphens, compatibility forms undone (² is 2)."""
    return re.sub(r"[\s\-‐\u00ad]+", "", unicodedata.normalize("NFKC", text))
