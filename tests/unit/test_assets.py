"""core.assets with the ordinary pip client, on tiny wheels in a local folder (no network)."""

import hashlib
import sys
import zipfile
from pathlib import Path

import pytest

from core.assets import WantedFile, fetch_wheel_members
from core.errors import AcquisitionError

REQUIREMENT = "papeles==1.0"
CONTENT = {"papeles/a.pdf": b"%PDF-1.7 documento a" * 400, "papeles/b.html": b"<p>documento b</p>"}


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def build_wheel(folder: Path, content: dict[str, bytes]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "papeles-1.0-py3-none-any.whl"
    info = "papeles-1.0.dist-info"
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in content.items():
            archive.writestr(name, data)
        metadata = "Metadata-Version: 2.1\nName: papeles\nVersion: 1.0\nRequires-Python: >=3.13\n"
        archive.writestr(f"{info}/METADATA", metadata)
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{info}/RECORD", "")
    return path


@pytest.fixture
def published(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The wheel where pip will find it; remove it and pip fails."""
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "published"))
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    return build_wheel(tmp_path / "published", CONTENT)


@pytest.fixture
def staging(tmp_path: Path) -> Path:
    return tmp_path / "staging"


@pytest.fixture
def wanted(tmp_path: Path) -> dict[str, WantedFile]:
    return {name: WantedFile(tmp_path / "out" / Path(name).name, sha256(data)) for name, data in CONTENT.items()}


def fetch(wanted: dict[str, WantedFile], staging: Path, seen: list[tuple[str, int]] | None = None) -> None:
    report = None if seen is None else lambda label, done: seen.append((label, done))
    fetch_wheel_members(REQUIREMENT, wanted, staging=staging, extra_args=("--python-version", "3.13"), progress=report)


def contents(wanted: dict[str, WantedFile]) -> dict[str, bytes]:
    return {name: file.target.read_bytes() for name, file in wanted.items() if file.target.exists()}


def leftovers(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.rglob("*") if path.suffix != ".lock")


def test_all_members_come_with_one_download(published, staging, wanted):
    seen: list[tuple[str, int]] = []
    fetch(wanted, staging, seen)
    assert contents(wanted) == CONTENT
    assert leftovers(staging) == []
    assert leftovers(wanted["papeles/a.pdf"].target.parent) == ["a.pdf", "b.html"]
    assert seen[-1] == (REQUIREMENT, published.stat().st_size)


def test_nothing_is_downloaded_when_all_is_there(published, staging, wanted):
    fetch(wanted, staging)
    published.unlink()
    fetch(wanted, staging)
    assert contents(wanted) == CONTENT


def test_a_damaged_file_is_replaced(published, staging, wanted):
    fetch(wanted, staging)
    wanted["papeles/a.pdf"].target.write_bytes(b"roto")
    fetch(wanted, staging)
    assert contents(wanted) == CONTENT


def test_an_unexpected_file_is_refused_and_the_others_come(published, staging, wanted):
    wanted["papeles/a.pdf"] = WantedFile(wanted["papeles/a.pdf"].target, "0" * 64)
    with pytest.raises(AcquisitionError, match=r"SHA-256 de «a\.pdf» no es la esperada.*Vuelva a intentarlo"):
        fetch(wanted, staging)
    assert contents(wanted) == {"papeles/b.html": CONTENT["papeles/b.html"]}
    assert leftovers(wanted["papeles/a.pdf"].target.parent) == ["b.html"]
    assert leftovers(staging) == []


def test_an_unexpected_file_does_not_replace_what_was_there(published, staging, wanted):
    target = wanted["papeles/a.pdf"].target
    target.parent.mkdir()
    target.write_bytes(b"anterior")
    with pytest.raises(AcquisitionError):
        fetch({"papeles/a.pdf": WantedFile(target, "0" * 64)}, staging)
    assert target.read_bytes() == b"anterior"


def test_a_missing_member_is_named(published, staging, wanted):
    wanted["papeles/c.pdf"] = WantedFile(wanted["papeles/a.pdf"].target.with_name("c.pdf"), "0" * 64)
    with pytest.raises(AcquisitionError, match=r"falta «c\.pdf»"):
        fetch(wanted, staging)
    assert contents(wanted) == CONTENT


def room_of(staging: Path) -> Path:
    return staging / "papeles-1.0"


def test_a_wheel_left_complete_is_used(published, staging, wanted):
    build_wheel(room_of(staging), CONTENT)
    (room_of(staging) / "tmp" / "pip-unpack-x").mkdir(parents=True)
    published.unlink()
    fetch(wanted, staging)
    assert contents(wanted) == CONTENT
    assert leftovers(staging) == []


def test_a_wheel_left_truncated_is_downloaded_anew(published, staging, wanted):
    left = build_wheel(room_of(staging), CONTENT)
    left.write_bytes(left.read_bytes()[:-200])
    fetch(wanted, staging)
    assert contents(wanted) == CONTENT


def test_a_wheel_left_with_a_broken_member_is_downloaded_anew(published, staging, wanted):
    left = build_wheel(room_of(staging), CONTENT)
    data = bytearray(left.read_bytes())
    data[200] ^= 0xFF
    left.write_bytes(bytes(data))
    fetch(wanted, staging)
    assert contents(wanted) == CONTENT


def test_leftovers_of_a_killed_pip_are_cleared(published, staging, wanted):
    scratch = room_of(staging) / "tmp"
    scratch.mkdir(parents=True)
    (scratch / "medio.whl").write_bytes(b"x" * 10_000_000)
    seen: list[tuple[str, int]] = []
    fetch(wanted, staging, seen)
    assert max(done for _, done in seen) < 1_000_000


def test_a_failing_pip_is_explained_without_addresses(published, staging, wanted, monkeypatch):
    published.unlink()
    with pytest.raises(AcquisitionError) as caught:
        fetch(wanted, staging)
    message = str(caught.value)
    assert "«a.pdf», «b.html»" in message
    assert "vuelva a intentarlo" in message
    assert "://" not in message
    assert leftovers(staging) == []


def test_no_network_is_said_without_naming_a_host(published, staging, wanted, monkeypatch):
    monkeypatch.delenv("PIP_NO_INDEX")
    monkeypatch.delenv("PIP_FIND_LINKS")
    monkeypatch.setenv("PIP_INDEX_URL", "http://user:secret@127.0.0.1:9/simple")
    monkeypatch.setenv("PIP_RETRIES", "1")
    with pytest.raises(AcquisitionError) as caught:
        fetch(wanted, staging)
    message = str(caught.value)
    assert "No hay conexión" in message
    assert "127.0.0.1" not in message and "secret" not in message


def test_an_environment_without_pip_is_explained(published, staging, wanted, monkeypatch, tmp_path):
    bare = tmp_path / "python"
    bare.write_text(f'#!/bin/sh\nexec "{Path(sys.executable).resolve()}" -S -I "$@"\n')
    bare.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(bare))
    with pytest.raises(AcquisitionError, match="Falta pip"):
        fetch(wanted, staging)


def test_a_target_that_cannot_be_written_is_explained(published, staging, wanted, tmp_path):
    (tmp_path / "out").write_text("un archivo donde debería ir la carpeta")
    with pytest.raises(AcquisitionError, match="Compruebe el espacio en disco y los permisos"):
        fetch(wanted, staging)
