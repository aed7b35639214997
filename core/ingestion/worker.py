"""Reading files and drawing pages in a process of their own, so that no file can hang or crash the app.

The parent calls `load_in_worker` and `render_in_worker`; ``python -m core.ingestion.worker`` is the child. Requests
go in on standard input and results come out on standard output, so that private text touches no file.
"""

import base64
import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from core.config import PROJECT_ROOT, Settings
from core.errors import AsesoriaError, UnreadableDocumentError, UnsupportedFileTypeError
from core.models import LoadedDocument

_RESULT = TypeAdapter(LoadedDocument)
_ERRORS: dict[str, type[AsesoriaError]] = {
    "UnreadableDocumentError": UnreadableDocumentError,
    "UnsupportedFileTypeError": UnsupportedFileTypeError,
}
Progress = Callable[[str, int, int], None]


def load_in_worker(path: Path, settings: Settings, *, progress: Progress | None = None) -> LoadedDocument:
    """`core.ingestion.loader.load` in a child process, within the settings' limits of time, memory, size and pages.

    Raises:
        UnsupportedFileTypeError, UnreadableDocumentError: as `load`; also when a limit is passed or the child dies.
    """
    request = {
        "do": "load",
        "path": str(path.resolve()),
        "max_pages": settings.max_pages,
        "max_mb": settings.max_file_mb,
    }
    return _RESULT.validate_json(_run(request, settings, progress))


def render_in_worker(
    path: Path, settings: Settings, *, page: int, passages: tuple[str, ...] = (), zoom: float = 1.6
) -> bytes:
    """`core.ingestion.pdf.render_page` in a child process. Returns a PNG."""
    request = {
        "do": "render",
        "path": str(path.resolve()),
        "page": page,
        "passages": list(passages),
        "zoom": zoom,
    }
    return base64.b64decode(_run(request, settings, None))


def _run(request: dict[str, Any], settings: Settings, progress: Progress | None) -> str:
    request["memory_mb"] = settings.load_memory_mb
    child = subprocess.Popen(
        [sys.executable, "-m", "core.ingestion.worker"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd=PROJECT_ROOT,
        text=True,
        encoding="utf-8",
    )
    assert child.stdin is not None and child.stdout is not None
    watch = _Watch(child.kill, limit=settings.load_timeout_s, stall=settings.load_stall_s)
    try:
        child.stdin.write(json.dumps(request))
        child.stdin.close()
        for line in child.stdout:
            kind, _, rest = line.rstrip("\n").partition(" ")
            if kind == "progress":
                stage, done, total = json.loads(rest)
                watch.note(done / max(total, 1))
                if progress:
                    progress(stage, done, total)
            elif kind == "result":
                return rest
            elif kind == "error":
                name, message = json.loads(rest)
                raise _ERRORS.get(name, UnreadableDocumentError)(message)
    except BrokenPipeError:
        pass  # the child died before reading: reported below
    finally:
        watch.end()
        child.kill()
        child.stdout.close()
        child.wait()
    if watch.gave_up:
        raise UnreadableDocumentError(
            f"Leer el archivo lleva más de {watch.seconds:.0f} s y se ha interrumpido. Divídalo en partes más pequeñas."
        )
    raise UnreadableDocumentError(
        "El archivo no se ha podido procesar (dañado, o necesita demasiada memoria). Expórtelo de nuevo o divídalo en partes."
    )


class _Watch:
    """Kills the child at ``limit`` seconds; at ``stall`` already (0 = never) unless it is on the way to end in time.

    On the way means that it has told of progress within the last seconds, and at that pace ends within ``limit``.
    """

    _NEWS_S = 5.0

    def __init__(self, kill: Callable[[], None], *, limit: float, stall: float) -> None:
        self._kill, self._limit = kill, limit
        self._begun = self._last = time.monotonic()
        self._first: tuple[float, float] | None = None
        self._share = 0.0
        self.gave_up = False
        self._ended = threading.Event()
        self._stall = min(stall or limit, limit)
        threading.Thread(target=self._run, name="reading-watch", daemon=True).start()

    @property
    def seconds(self) -> float:
        """How long the reading took so far."""
        return time.monotonic() - self._begun

    def note(self, share: float) -> None:
        """The child has told that ``share`` (0..1) of a stage is done."""
        begins = self._first is None or share < self._share  # the first news, or those of another stage
        self._last, self._share = time.monotonic(), share
        if begins:
            self._first = (self._last, share)

    def end(self) -> None:
        """The child is done."""
        self._ended.set()

    def _run(self) -> None:
        wait = self._stall
        while not self._ended.wait(wait):
            if self.seconds >= self._limit or not self._in_time():
                self.gave_up = True
                self._kill()
                return
            wait = min(1.0, max(0.01, self._limit - self.seconds))

    def _in_time(self) -> bool:
        now = time.monotonic()
        if self._first is None or now - self._last > self._NEWS_S:
            return False
        since, share = self._first
        pace = (self._share - share) / max(self._last - since, 1e-6)
        return self.seconds + (1 - self._share) / max(pace, 1e-9) <= self._limit


def _limit_memory(megabytes: int) -> None:
    if sys.platform != "win32":
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (megabytes * 2**20, megabytes * 2**20))


def main() -> int:
    """Serve the one request on standard input."""
    out = sys.stdout
    sys.stdout = sys.stderr  # a library that prints must not break the protocol

    def send(kind: str, payload: str) -> None:
        out.write(f"{kind} {payload}\n")
        out.flush()

    request = json.loads(sys.stdin.read())
    _limit_memory(int(request["memory_mb"]))
    path = Path(request["path"])
    try:
        if request["do"] == "render":
            from core.ingestion.pdf import render_page

            image = render_page(path, page=request["page"], passages=tuple(request["passages"]), zoom=request["zoom"])
            send("result", base64.b64encode(image).decode("ascii"))
        else:
            from core.ingestion.loader import load

            document = load(
                path,
                max_pages=request["max_pages"],
                max_bytes=request["max_mb"] * 2**20,
                progress=lambda stage, done, total: send("progress", json.dumps([stage, done, total])),
            )
            send("result", _RESULT.dump_json(document).decode("utf-8"))
    except AsesoriaError as error:
        send("error", json.dumps([type(error).__name__, str(error)]))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
