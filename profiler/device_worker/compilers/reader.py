"""What the readers of all vendors have in common."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, cast

import pyopencl as cl

from model.compiled import CodeSource, CompiledFacts
from profiler.device_worker.building import source_name
from profiler.device_worker.processors import this_microarchitecture
from profiler.installing import install_command
from profiler.machine_code.digest import digest, loop_places_in
from profiler.machine_code.profile import regions_of

if TYPE_CHECKING:
    from profiler.compiling import CompileRequest
    from profiler.machine_code.instruction import Instruction


def no_disassembler() -> str:
    """Return why a kernel's machine code is not read."""
    return f"its machine code is not read without the packages capstone and pyelftools: {install_command('pocl')}"


@dataclass(frozen=True, slots=True)
class Built:
    """A program with its driver's log; `folder` is where PoCL left its files."""

    program: cl.Program
    device: cl.Device
    log: str
    folder: Path

    @property
    def binary(self) -> bytes:
        """For the one device. Some drivers compile only now."""
        binaries = cast("list[bytes]", self.program.get_info(cl.program_info.BINARIES))
        return bytes(binaries[0])


Read = Callable[["CompileRequest", Built, CompiledFacts], CompiledFacts]


@dataclass(frozen=True, slots=True)
class Reader:
    """Build options that make the driver tell more and change nothing else; `line_flags` are those for lines."""

    read: Read
    flags: tuple[str, ...] = ()
    line_flags: tuple[str, ...] = ()


def loop_places(request: CompileRequest) -> frozenset[tuple[str, int]]:
    """As the code's lines name them."""
    return loop_places_in(request.source, source_name(request.path))


def with_warning(facts: CompiledFacts, text: str) -> CompiledFacts:
    return replace(facts, warnings=(*facts.warnings, text))


def with_code(
    facts: CompiledFacts, instructions: Sequence[Instruction], code_bytes: int, request: CompileRequest
) -> CompiledFacts:
    found = digest(instructions, loop_places(request))
    told = {field.name: getattr(found, field.name) for field in fields(found)}
    return replace(
        facts,
        source=CodeSource.ASSEMBLY,
        code_bytes=code_bytes,
        regions=regions_of(instructions, source_name(request.path)),
        microarchitecture=this_microarchitecture(),
        **told,
    )
