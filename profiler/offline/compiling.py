"""Compile programs for a GPU that need not be there, and tell what its compiler made of each kernel."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

from model.compile_targets import CompileTarget, Vendor, target_named
from model.compiled import CodeSource, CompiledFacts
from profiler.compiling import CompileRequest
from profiler.machine_code.digest import calls_of, loop_places_in, loops_of, mix_of
from profiler.machine_code.profile import profile_of
from profiler.measurement import BuildFailed, MeasureError
from profiler.offline import amd, arm, intel, nvidia
from profiler.offline.clang import Text, assembly, read_text
from profiler.offline.code import CompiledCode
from profiler.offline.diagnostics import Diagnostic
from profiler.offline.library import library_version
from profiler.offline.tools import Tools, find_tools
from profiler.offline.vendor_tools import ArmTools, IntelTools, find_arm_tools, find_intel_tools

_MOST_WARNINGS = 20
_READERS = {Vendor.NVIDIA: nvidia.read_kernels, Vendor.AMD: amd.read_kernels}
_SOURCES = {
    Vendor.NVIDIA: CodeSource.PTX, Vendor.AMD: CodeSource.AMD_ISA, Vendor.INTEL: CodeSource.ZEBIN,
    Vendor.ARM: CodeSource.MALIOC,
}  # fmt: skip
AnyTools = Tools | IntelTools | ArmTools


def compile_offline(requests: Sequence[CompileRequest]) -> tuple[CompiledFacts | MeasureError, ...]:
    """Compile kernels of one source and its options for one target, `device_id`; an outcome for each.

    A program is compiled once for all its kernels and local sizes, which decide only the occupancy.
    Raises UnknownTarget.
    """
    first = requests[0]
    architecture = target_named(first.device_id)
    text = Text(first.source, first.path, first.launch.options)
    try:
        tools = find_any_tools(architecture.vendor)
        kernels = [request.kernel.name for request in requests]
        codes, warnings = compile_text(text, architecture, tools, kernels)
    except MeasureError as error:
        return (error,) * len(requests)
    return tuple(_outcome(request, text, codes, warnings, architecture, tools) for request in requests)


def find_any_tools(vendor: Vendor) -> AnyTools:
    """Return what compiles for a vendor's GPUs. Raises ToolMissing."""
    if vendor is Vendor.INTEL:
        return find_intel_tools()
    return find_arm_tools() if vendor is Vendor.ARM else find_tools(vendor)


def compile_text(
    text: Text, architecture: CompileTarget, tools: AnyTools, kernels: Sequence[str] = ()
) -> tuple[dict[str, CompiledCode], tuple[Diagnostic, ...]]:
    """Return the code of all kernels by name, and the compiler's warnings. Raises a MeasureError.

    Arm's compiler has to be asked for each kernel by its name, and knows only those in `kernels`.
    """
    if isinstance(tools, IntelTools):
        return intel.compile_program(text, architecture, tools)
    if isinstance(tools, ArmTools):
        return arm.compile_program(text, architecture, tools, kernels)
    read = read_text(text, architecture, tools)
    if not read.kernels:
        return {}, read.warnings
    made = assembly(text, read, architecture, tools)
    return _READERS[architecture.vendor](made, text, architecture, tools), read.warnings


def offline_driver(architecture: CompileTarget) -> str:
    """Return the versions of compilers and library: what results depend on. Raises ToolMissing."""
    return _driver(architecture, find_any_tools(architecture.vendor))


def _driver(architecture: CompileTarget, tools: AnyTools) -> str:
    """Intel's and Arm's compilers bring OpenCL C's functions themselves."""
    if not isinstance(tools, Tools):
        return tools.version
    return f"{tools.version}, library {library_version(architecture.vendor, tools)}"


def _outcome(
    request: CompileRequest,
    text: Text,
    codes: dict[str, CompiledCode],
    warnings: Sequence[Diagnostic],
    architecture: CompileTarget,
    tools: AnyTools,
) -> CompiledFacts | MeasureError:
    code = codes.get(request.kernel.name)
    if code is None:
        return BuildFailed(f"{text.name} has no kernel `{request.kernel.name}` when it is built with these options")
    facts = _facts(request, code, architecture, tools)
    said = [*map(str, warnings[:_MOST_WARNINGS]), *code.notes, *_notes(tools)]
    places = loop_places_in(request.source, text.name)
    return replace(facts, loops=loops_of(code.instructions, places), warnings=tuple(said))


def _facts(request: CompileRequest, code: CompiledCode, architecture: CompileTarget, tools: AnyTools) -> CompiledFacts:
    return CompiledFacts(
        kernel=request.kernel.name,
        kernel_fingerprint=request.kernel.fingerprint,
        options=shlex.join(request.launch.options.arguments()),
        local_size=None,  # the code is for any
        device_id=architecture.target,
        device_name=f"{architecture.family} ({architecture.target})",
        driver=_driver(architecture, tools),
        compiled_at=datetime.now(UTC).isoformat(timespec="seconds"),
        source=_SOURCES[architecture.vendor],
        private_mem_bytes=code.private_mem_bytes,
        local_mem_bytes=code.local_mem_bytes,
        required_local_size=code.required_local_size or request.kernel.attributes.reqd_work_group_size,
        sub_group_size=code.wave_size if architecture.vendor is Vendor.INTEL else architecture.wave_size,
        registers=code.registers,
        scalar_registers=code.scalar_registers or None,
        accumulator_registers=code.accumulator_registers or None,
        spill_bytes=code.spill_bytes,
        mix=mix_of(code.instructions),
        calls=calls_of(code.instructions),
        profile=profile_of(code.instructions) if code.instructions else (),
        code_bytes=code.code_bytes,
        kernel_lines=(request.kernel.range.start_line, request.kernel.range.end_line),
        pipes=code.pipes,
        half_arithmetic_percent=code.half_arithmetic_percent,
    )


def _notes(tools: AnyTools) -> list[str]:
    """Return what a reader should know of how these figures came about."""
    if isinstance(tools, Tools) and tools.math_library is None:
        return ["mathematical functions are stand-ins: ROCm's library OCML (ocml.bc) was not found"]
    return []
