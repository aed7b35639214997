"""The database of the records: SQLite in WAL mode by default. Errors of the library leave as `RecordsError`."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout
from sqlalchemy import URL, Connection, Engine, create_engine, event
from sqlalchemy.engine import make_url
from sqlalchemy.exc import (
    ArgumentError,
    DataError,
    DBAPIError,
    IntegrityError,
    InterfaceError,
    NoSuchModuleError,
    ProgrammingError,
    SQLAlchemyError,
    StatementError,
)

from core.config import Settings
from core.errors import RecordsError
from core.records.schema import bring_up_to_date, is_up_to_date

# What a database says when it cannot, in lower case, and what the user is told.
_PROBLEMS = (
    ("locked", "La base de datos de registros está ocupada por otro programa. Se reintenta solo."),
    ("full", "No queda espacio en el disco para los registros. Libere espacio: se reintenta solo."),
    ("disk i/o", "El disco no deja escribir los registros. Compruebe el espacio y los permisos: se reintenta solo."),
    ("readonly", "La base de datos de registros es de solo lectura. Revise los permisos de la carpeta: se reintenta solo."),
    ("unable to open", "No se puede abrir la base de datos de registros. Revise la carpeta y sus permisos."),
    ("malformed", "La base de datos de registros está dañada. Recupere una copia, o retire el archivo para empezar otra."),
    ("not a database", "El archivo de registros no es una base de datos. Retírelo, o indique otro con ASESORIA_RECORDS_URL."),
)  # fmt: skip


class RefusedValueError(RecordsError, ValueError):
    """The database works, but does not take this value: trying again would change nothing."""


def records_url(settings: Settings) -> str:
    """Address of the database: that of the setting, else a file under home."""
    return settings.records_url or f"sqlite:///{settings.records_dir / 'records.db'}"


def records_folder(settings: Settings) -> Path:
    """Where what belongs beside the database is kept: its own folder if it is a file, else that under home."""
    path = _file(_parsed(records_url(settings)))
    return path.parent if path else settings.records_dir


class Database:
    """An open database of the present version. Safe to use from several threads.

    ``busy_s``: how long to wait for a lock that another program holds.
    Every method raises `RecordsError` where the database cannot be used.
    """

    def __init__(self, url: str, *, busy_s: float = 5.0) -> None:
        parsed = _parsed(url)
        self._path = _file(parsed)
        self._busy_s = busy_s
        with _translated():
            self._engine = _engine(parsed, busy_s) if self._path else create_engine(parsed)
        self._prepare()

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A connection to read from, in one consistent view."""
        with _translated(), self._engine.connect() as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """A transaction that holds the write lock from its start; committed at the end, rolled back on an error."""
        with (
            _translated(),
            self._engine.connect().execution_options(asesoria_writes=True) as connection,
            connection.begin(),
        ):
            yield connection

    def leave_no_trace(self) -> bool:
        """Overwrite what was deleted: move the write-ahead log into the file and cut it to nothing.

        Deleted rows are overwritten in the file itself (``secure_delete``); the log may still hold them until then.
        False where a reader is in the way: try again later.
        """
        if self._path is None:
            return True
        with _translated(), self._engine.connect() as connection:
            raw = connection.connection.driver_connection
            assert raw is not None
            busy, _, _ = raw.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        return not busy

    def close(self) -> None:
        """Close all connections."""
        self._engine.dispose()

    def _prepare(self) -> None:
        """Create the file, turn WAL on and bring the tables up to date; one process at a time."""
        if self._path is None:
            with self.writing() as connection:
                bring_up_to_date(connection)
            return
        try:
            if self._path.exists() and self._ready():
                return
            self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            with FileLock(self._path.with_suffix(".lock"), timeout=max(self._busy_s, 0.05)):
                self._turn_wal_on()
                with self.writing() as connection:
                    bring_up_to_date(connection)
        except Timeout as error:
            raise RecordsError(_PROBLEMS[0][1]) from error
        except OSError as error:
            raise RecordsError(
                f"No se puede escribir en la carpeta de los registros ({error.strerror}). Revise el espacio y los permisos."
            ) from error
        except RecordsError:
            self.close()
            raise

    def _ready(self) -> bool:
        with self.reading() as connection:
            return is_up_to_date(connection)

    def _turn_wal_on(self) -> None:
        with _translated(), self._engine.connect() as connection:
            raw = connection.connection.driver_connection
            assert raw is not None
            raw.execute("PRAGMA journal_mode=WAL")


def _parsed(url: str) -> URL:
    try:
        parsed = make_url(url)
    except ArgumentError as error:
        raise RecordsError(
            "ASESORIA_RECORDS_URL no es una dirección de base de datos, por ejemplo «sqlite:////ruta/records.db»."
        ) from error
    if parsed.get_backend_name() == "sqlite" and parsed.database in (None, "", ":memory:"):
        raise RecordsError("Los registros necesitan un archivo: indique uno en ASESORIA_RECORDS_URL.")
    return parsed


def _file(url: URL) -> Path | None:
    return Path(url.database) if url.get_backend_name() == "sqlite" and url.database else None


def _engine(url: URL, busy_s: float) -> Engine:
    engine = create_engine(url, connect_args={"timeout": busy_s}, pool_timeout=max(busy_s, 1.0))

    @event.listens_for(engine, "connect")
    def _set_up(raw: object, _: object) -> None:
        raw.isolation_level = None  # type: ignore[attr-defined]  # transactions are begun below, not by the driver
        # FULL: a commit is on the disk before the spool forgets the entry.
        for pragma in ("synchronous=FULL", "secure_delete=ON", "temp_store=MEMORY"):
            raw.execute(f"PRAGMA {pragma}")  # type: ignore[attr-defined]

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        writes = connection.get_execution_options().get("asesoria_writes", False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    return engine


@contextmanager
def _translated() -> Iterator[None]:
    """The library's errors in one table."""
    try:
        yield
    except (SQLAlchemyError, NoSuchModuleError, ModuleNotFoundError) as error:
        of_the_value = isinstance(error, StatementError) and not isinstance(error, DBAPIError)
        if of_the_value or isinstance(error, IntegrityError | DataError | InterfaceError | ProgrammingError):
            raise RefusedValueError("La base de datos de registros no admite un valor.") from error
        raise RecordsError(_message(error)) from error
    except Exception as error:
        if type(error).__module__ == "sqlite3":  # raised by a pragma, before SQLAlchemy sees it
            raise RecordsError(_message(error)) from error
        raise


def _message(error: Exception) -> str:
    said = str(getattr(error, "orig", None) or error).casefold()
    for sign, message in _PROBLEMS:
        if sign in said:
            return message
    return f"La base de datos de registros ha fallado ({type(error).__name__}). Se reintenta solo."
