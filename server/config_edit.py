"""An addition to a `kernelcast.toml`, as a file and a place that any client can be given."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class ConfigEdit:
    """Put `added` at the end of a file, which is made if it `is_new`; its last line is number `line` (from 0)."""

    path: Path
    added: str
    is_new: bool
    line: int = 0
    last_line: str = ""
