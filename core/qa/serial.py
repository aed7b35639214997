"""Batteries, answers and reports as JSON and back: the one place where it is done."""

from collections.abc import Hashable
from functools import lru_cache
from typing import Any, TypeVar, cast

from pydantic import TypeAdapter, ValidationError

from core.errors import AsesoriaError

T = TypeVar("T")


class StoredDataError(AsesoriaError):
    """What is stored of a battery cannot be read."""


@lru_cache(maxsize=32)
def _adapter(kind: Hashable) -> TypeAdapter[Any]:
    return TypeAdapter(cast(Any, kind))


def to_data(value: object) -> Any:
    """A domain value as plain lists, dicts and scalars."""
    return _adapter(cast(Hashable, type(value))).dump_python(value, mode="json")


def to_json(value: object) -> str:
    """A domain value as JSON text; the same value gives the same text."""
    return _adapter(cast(Hashable, type(value))).dump_json(value).decode("utf-8")


def from_json(kind: type[T], text: str) -> T:
    """The domain value of ``kind`` that `to_json` wrote.

    Raises:
        StoredDataError: the text is damaged, or of another version.
    """
    try:
        return cast(T, _adapter(cast(Hashable, kind)).validate_json(text))
    except ValidationError as error:
        raise StoredDataError(
            f"No se puede leer lo guardado de la batería ({error.error_count()} errores). Vuelva a ejecutarla."
        ) from error
