"""Intel's binary for GPUs, an ELF file ("zebin"): the notes on each kernel in `.ze_info`, and its machine code.

Source: Intel, intel-graphics-compiler, "ZEBIN" specification, `zeinfo.md` and `elf.md`.
"""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

import yaml
from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile

_NOTES = ".ze_info"
_CODE = ".text."


class UnreadableBinary(Exception):
    """The bytes are no zebin, or its notes do not say what the specification requires."""


@dataclass(frozen=True, slots=True)
class ZebinKernel:
    """What the notes say of one kernel. A thread is a hardware thread, which runs `simd_size` work-items."""

    name: str
    simd_size: int
    grf_count: int  # registers of a thread
    barrier_count: int
    local_bytes: int  # of a work-group
    private_bytes: int  # of a work-item, values that are spilled included
    spill_bytes: int | None  # of a work-item; None where the notes do not tell it from private arrays
    required_local_size: tuple[int, int, int] | None


@dataclass(frozen=True, slots=True)
class Zebin:
    """A program: notes and machine code of its kernels by name."""

    kernels: Mapping[str, ZebinKernel]
    codes: Mapping[str, bytes]


def read_zebin(data: bytes) -> Zebin:
    """Return the notes and the code of all kernels. Raises UnreadableBinary."""
    try:
        sections = {section.name: bytes(section.data()) for section in ELFFile(io.BytesIO(data)).iter_sections()}
    except (ELFError, UnicodeDecodeError) as error:
        raise UnreadableBinary(f"the compiler's output is not an ELF file: {error or 'it is damaged'}") from error
    notes = sections.get(_NOTES)  # which a program without kernels does not have
    kernels = read_notes(notes.decode("utf-8", "replace")) if notes is not None else {}
    return Zebin(kernels, {name: sections.get(f"{_CODE}{name}", b"") for name in kernels})


def read_notes(text: str) -> dict[str, ZebinKernel]:
    """Return what `.ze_info` says of each kernel, by name. Raises UnreadableBinary."""
    try:
        notes = yaml.safe_load(text)
        return {kernel["name"]: _kernel(kernel) for kernel in notes["kernels"] or []}
    except (yaml.YAMLError, KeyError, TypeError, ValueError) as error:
        raise UnreadableBinary(f"the notes of the compiler's output cannot be read: {error!r}") from error


def _kernel(kernel: Mapping[str, Any]) -> ZebinKernel:
    execution = cast("Mapping[str, Any]", kernel["execution_env"])
    simd = max(1, int(execution["simd_size"]))
    buffers = cast("list[Mapping[str, Any]]", kernel.get("per_thread_memory_buffers") or [])
    buffered = sum(_bytes_of_item(each, simd) for each in buffers if each.get("type") != "slm")
    spilled = execution.get("spill_size")
    separate = [each for each in buffers if each.get("usage") == "spill_fill_space"]
    if spilled is None and separate:
        spilled = sum(int(each["size"]) for each in separate)
    if spilled is None and not buffered:
        spilled = 0
    declared = _share(int(execution.get("private_size") or 0), simd) + _share(int(spilled or 0), simd)
    user = cast("Mapping[str, Any]", kernel.get("user_attributes") or {})
    required = execution.get("required_work_group_size") or user.get("reqd_work_group_size")
    return ZebinKernel(
        name=str(kernel["name"]),
        simd_size=simd,
        grf_count=int(execution["grf_count"]),
        barrier_count=int(execution.get("barrier_count") or 0),
        local_bytes=int(execution.get("slm_size") or 0),
        private_bytes=max(buffered, declared),
        spill_bytes=None if spilled is None else _share(int(spilled), simd),
        required_local_size=_size(required) if required else None,
    )


def _bytes_of_item(buffer: Mapping[str, Any], simd: int) -> int:
    """Return a buffer's share of a work-item: its size is of a work-item already, or of a thread."""
    size = int(buffer["size"])
    return size if buffer.get("is_simt_thread") else _share(size, simd)


def _share(size: int, simd: int) -> int:
    return -(-size // simd)


def _size(numbers: list[int]) -> tuple[int, int, int]:
    first, second, third = (int(each) for each in numbers)
    return first, second, third
