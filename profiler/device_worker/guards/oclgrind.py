"""Oclgrind, a simulator of OpenCL devices that checks every access (Price and McIntosh-Smith, IWOCL 2015).

It is a platform like any other, found here where its command was installed, so that no other process sees it.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

LIBRARY = "oclgrind/liboclgrind-rt-icd.so"
PLATFORM = "Oclgrind"
_REPORT = re.compile(
    r"^Invalid (?P<kind>read|write) of size (?P<bytes>\d+) at (?P<space>\w+) memory address (?P<address>0x[0-9a-f]+)\n"
    r"(?:(?!Invalid ).*\n)*?(?:\tAt line (?P<line>\d+) \(column \d+\) of (?P<file>.*):\n|\s*$)",
    re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class InvalidAccess:
    """What Oclgrind says of one access; `line` (from 1) is one of `file`."""

    is_store: bool
    size_bytes: int
    space: str
    address: int
    line: int | None
    file: str


def find_oclgrind() -> Path | None:
    """Its library for the OpenCL loader, or None where it is not installed."""
    command = shutil.which("oclgrind")
    if command is None:
        return None
    prefix = Path(command).resolve().parent.parent
    return next((p for folder in ("lib", "lib64") if (p := prefix / folder / LIBRARY).exists()), None)


def environment(library: Path, folder: Path) -> dict[str, str]:
    """Variables that make it the only platform, and have its reports written to `log_in(folder)`."""
    (folder / "oclgrind.icd").write_text(f"{library}\n", "utf-8")
    return {"OCL_ICD_VENDORS": str(folder), "OCLGRIND_LOG": str(log_in(folder)), "LC_ALL": "C"}


def log_in(folder: Path) -> Path:
    return folder / "oclgrind.log"


def invalid_accesses(log: str) -> Iterator[InvalidAccess]:
    """In the order of the log."""
    for found in _REPORT.finditer(log):
        line = int(found["line"]) if found["line"] else None
        address = int(found["address"], 16)
        yield InvalidAccess(
            found["kind"] == "write", int(found["bytes"]), found["space"], address, line, found["file"] or ""
        )
