"""Batteries, answers and reports as JSON and back: the one place where it is done."""

from functools import lru_cache
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from core.errors import AsesoriaError

T = TypeVar("T")


class StoredDataError(AsesoriaError):
    """What is stored of a battery cannot be read."""


@lru_cache(maxsize=32)
def _adapter(kind: type[Any]) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


def to_data(value: Any) -> Any:
    """A domain value as plain lists, dicts and scalars."""
    return _adapter(type(value)).dump_python(value, mode="json")


def to_json(value: Any) -> str:
    """A domain value as JSON text; the same value gives the same text."""
    return _adapter(type(value)).dump_json(value).decode("utf-8")


def from_json(kind: type[T], text: str) -> T:
    """The domain value of ``kind`` that `to_json` wrote.

    Raises:
        StoredDataError: the text is damaged, or of another version.
    """
    try:
        value: T = _adapter(kind).validate_json(text)
    except ValidationError as error:
        raise StoredDataError(
            f"No se puede leer lo guardado de la batería ({error.error_count()} errores). Vuelva a ejecutarla."
        ) from error
    return value
