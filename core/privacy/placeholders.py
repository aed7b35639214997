"""Stable placeholders: the same value is ``<NIF_1>`` wherever a session writes it, and the value is not kept."""

import hashlib
import hmac
import re
import secrets
import threading
import unicodedata
from collections.abc import Iterable

from core.privacy.kinds import Kind

_AT = re.compile(r"\s*[(\[{]?\s*(?:\bat\b|\barroba\b|@)\s*[)\]}]?\s*", re.IGNORECASE)
_USED = re.compile(rf"<({'|'.join(Kind)})_(\d{{1,6}})>")
_DOT = re.compile(r"\s*[(\[{]\s*(?:punto|dot)\s*[)\]}]\s*|\s+punto\s+", re.IGNORECASE)


def normalise(kind: Kind, value: str) -> str:
    """The value without the accidents of writing: two ways to write one number, name or address give one result."""
    if kind is Kind.EMAIL:
        return re.sub(r"\s+|-\n", "", _DOT.sub(".", _AT.sub("@", value))).casefold()
    plain = "".join(c for c in unicodedata.normalize("NFKD", value) if not unicodedata.combining(c)).casefold()
    if kind is Kind.PERSON:
        return " ".join(sorted(re.findall(r"[^\W\d_]+", plain)))
    solid = "".join(re.findall(r"[^\W_]+", plain))
    if kind is Kind.PHONE:
        return solid[-9:] if len(solid) in (11, 13) and solid.removeprefix("00").startswith("34") else solid
    if kind in (Kind.NIF, Kind.NIE, Kind.CIF):
        solid = solid.removeprefix("es")
        return solid.zfill(9) if solid[:1].isdigit() else solid
    return solid


class Placeholders:
    """The numbering of one session (or one document). Thread-safe.

    It holds keyed hashes (HMAC-SHA-256, 128 bits, a random key that never leaves the object) and numbers, so that not
    even a memory dump of it lists the values. It is lost with the session: nothing here is made to be stored.
    """

    def __init__(self) -> None:
        self._key = secrets.token_bytes(32)
        self._numbers: dict[bytes, int] = {}
        self._last: dict[Kind, int] = {}
        self._lock = threading.Lock()

    def skip_used(self, texts: Iterable[str]) -> None:
        """Number on after the placeholders that stand in ``texts``, which an earlier process redacted."""
        with self._lock:
            for text in texts:
                for kind, number in _USED.findall(text):
                    self._last[Kind(kind)] = max(self._last.get(Kind(kind), 0), int(number))

    def name(self, kind: Kind, value: str) -> str:
        """The placeholder without its angle brackets, e.g. ``NIF_1``."""
        message = f"{kind}\x1f{normalise(kind, value)}".encode()
        digest = hmac.new(self._key, message, hashlib.sha256).digest()[:16]
        with self._lock:
            if digest not in self._numbers:
                self._last[kind] = self._last.get(kind, 0) + 1
                self._numbers[digest] = self._last[kind]
            return f"{kind}_{self._numbers[digest]}"

    def distinct(self) -> dict[Kind, int]:
        """How many different values of each kind have been seen."""
        with self._lock:
            return {kind: self._last[kind] for kind in Kind if kind in self._last}
