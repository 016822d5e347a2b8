"""Options of the log. Light: they are read before the editor has its first answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from model.errors import KernelcastError

LEVELS = ("error", "warning", "info", "debug")
LEVEL_VARIABLE, FILE_VARIABLE, SOURCE_VARIABLE = "KERNELCAST_LOG_LEVEL", "KERNELCAST_LOG_FILE", "KERNELCAST_LOG_SOURCE"
_NO = ("", "0", "false", "no", "off")


class LogError(KernelcastError):
    """The log cannot be written as asked; the message says why."""

    code = "log"


@dataclass(frozen=True, slots=True)
class LogOptions:
    """`level` empty: warnings to stderr, and in a file what happens as well."""

    level: str = ""
    file: Path | None = None
    with_source: bool = False

    @property
    def in_words(self) -> str:
        where = f"stderr and {self.file}" if self.file else "stderr"
        source = ", with source text" if self.with_source else ""
        return f"{self.level or ('info in the file, else warning' if self.file else 'warning')} to {where}{source}"


def read_options(level: str | None, file: Path | None, with_source: bool, environment: Mapping[str, str]) -> LogOptions:
    """Return what the command line says, else the environment. Raises `LogError`."""
    chosen = level or environment.get(LEVEL_VARIABLE, "").strip().lower()
    if chosen and chosen not in LEVELS:
        raise LogError(f"{LEVEL_VARIABLE} is {chosen!r}; there is {', '.join(LEVELS)}")
    named = environment.get(FILE_VARIABLE, "").strip()
    path = file or (Path(named) if named else None)
    asked = with_source or environment.get(SOURCE_VARIABLE, "").strip().lower() not in _NO
    return LogOptions(chosen, path.expanduser() if path else None, asked)
