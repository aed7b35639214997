from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
Progress = Callable[[str, int], None]
@dataclass(frozen=True, slots=True)
class WantedFile:
    target: Path
    sha256: str
def fetch_wheel_members(requirement, members, *, staging, extra_args=(), progress=None): ...
