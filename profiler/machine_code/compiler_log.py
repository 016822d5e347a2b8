"""What compilers say of a program in its build log."""

from __future__ import annotations

import re
from dataclasses import dataclass

_WARNING = re.compile(r"^.*\bwarning: .*$", re.MULTILINE | re.IGNORECASE)
_MOST_WARNINGS = 20
_VECTORISED = re.compile(
    r'^Kernel "(?P<name>[^"]+)" was (?:successfully vectorized \((?P<items>\d+)\)|not vectorized)', re.MULTILINE
)
# NVIDIA's assembler: "ptxas info    : Used 10 registers, 4096 bytes smem, 380 bytes cmem[0]".
_ENTRY = re.compile(r"(?:Compiling entry function|Function properties for) '?(?P<name>[\w$]+)'?")
_REGISTERS = re.compile(r"Used (?P<registers>\d+) registers")
_SHARED = re.compile(r"(?P<bytes>\d+) bytes smem")
_SPILLS = re.compile(
    r"(?P<stack>\d+) bytes stack frame, (?P<stores>\d+) bytes spill stores, (?P<loads>\d+) bytes spill loads"
)


@dataclass(frozen=True, slots=True)
class Assembled:
    """What NVIDIA's assembler says of one kernel, for each of its work-items."""

    registers: int | None
    stack_bytes: int | None
    spill_bytes: int | None
    shared_bytes: int | None = None  # of a work-group


def warnings_in(log: str) -> tuple[str, ...]:
    """Return each line that warns, once."""
    lines = (match[0].strip() for match in _WARNING.finditer(log))
    return tuple(dict.fromkeys(lines))[:_MOST_WARNINGS]


def items_side_by_side(log: str, kernel: str) -> int | None:
    """From Intel's log: `Kernel "name" was successfully vectorized (16)`; 1 where it was not; None if it is silent."""
    found = next((m for m in _VECTORISED.finditer(log) if m["name"] == kernel), None)
    return None if found is None else int(found["items"] or 1)


def assembled(log: str, kernel: str) -> Assembled | None:
    """From NVIDIA's log with `-cl-nv-verbose`: the lines after those that name the kernel. None if it is silent."""
    registers = stack = spills = shared = None
    name, is_known = "", False
    for line in log.splitlines():
        entry = _ENTRY.search(line)
        name = entry["name"] if entry else name
        if name != kernel:
            continue
        is_known = True
        if found := _REGISTERS.search(line):
            registers = int(found["registers"])
            in_shared = _SHARED.search(line)
            shared = int(in_shared["bytes"]) if in_shared else 0
        if found := _SPILLS.search(line):
            stack, spills = int(found["stack"]), max(int(found["stores"]), int(found["loads"]))
    return Assembled(registers, stack, spills, shared) if is_known else None
