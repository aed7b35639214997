"""Getting ready in the background: model, services, index. One per process, shared by pages and API."""

import logging
import threading
from functools import lru_cache

from core.config import Settings
from core.errors import AsesoriaError
from core.services import Services, build_services

log = logging.getLogger(__name__)


class Startup:
    """Builds the services in a thread and then brings the index in step. Safe to use from any thread."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._message = "Preparando AsesorIA…"
        self._error = ""
        self._services: Services | None = None

    def start(self) -> None:
        """Start unless it is running or done; after an error it may be started again."""
        with self._lock:
            if self._services is not None or (self._thread is not None and self._thread.is_alive()):
                return
            self._error = ""
            self._thread = threading.Thread(target=self._run, name="startup", daemon=True)
            self._thread.start()

    @property
    def settings(self) -> Settings:
        """What everything is built from."""
        return self._settings

    @property
    def services(self) -> Services | None:
        """The services once they are there."""
        return self._services

    @property
    def message(self) -> str:
        """What is being done, for the user."""
        return self._message

    @property
    def error(self) -> str:
        """Why it failed ('' if it did not)."""
        return self._error

    def wait(self, timeout: float | None = None) -> Services | None:
        """Wait for the services (not for the index)."""
        if self._thread is not None:
            self._thread.join(timeout)
        return self._services

    def _run(self) -> None:
        try:
            services = build_services(self._settings, progress=self._note)
            self._message = "Cargando el buscador…"
            _ = services.engine
            services.redactor.warm_up()
            _ = services.recorder  # stores what an earlier process left, applies the retention
            services.indexing.start()
            services.sessions.start_sweeping()
            self._services = services
        except AsesoriaError as error:
            self._error = str(error)
        except Exception:  # a thread's error would be lost: log it in full, tell the user plainly
            log.exception("start-up failed")
            self._error = (
                "AsesorIA no ha podido arrancar por un error inesperado. Mire la consola y vuelva a intentarlo."
            )

    def _note(self, what: str, received: int) -> None:
        megabytes = f" ({received / 2**20:.0f} MB)" if received else ""
        self._message = f"Descargando el modelo de búsqueda, solo esta vez{megabytes}…"


@lru_cache(maxsize=1)
def shared_startup() -> Startup:
    """The process's one start-up, from the environment's settings."""
    return Startup(Settings())
