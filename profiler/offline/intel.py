"""Intel's targets: `ocloc` compiles, its binary's notes tell registers and memory, `iga64` tells the instructions.

Sources: Intel, compute-runtime, `ocloc compile --help`; what a thread's registers and memory are, see
`profiler.offline.zebin`. Nothing of Intel's runtime is loaded, and no device is opened.
"""

from __future__ import annotations

import re
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from model.compile_targets import CompileTarget
from profiler.machine_code.intel_isa import read_intel_isa
from profiler.measurement import MeasureError, TimedOut
from profiler.offline.clang import Text
from profiler.offline.code import CompiledCode
from profiler.offline.diagnostics import Diagnostic, diagnostics_in, failure
from profiler.offline.tools import run_tool
from profiler.offline.vendor_tools import DISASSEMBLER_HINT, IntelTools, need_newer_ocloc

if TYPE_CHECKING:
    from profiler.machine_code.instruction import Instruction
    from profiler.offline.zebin import ZebinKernel

LIMIT_S = 120.0
_DISASSEMBLY_LIMIT_S = 30.0
_ELF = b"\x7fELF"
_PLATFORMS = {
    "Gen9": "skl", "Gen11": "icl", "Xe-LP": "tgl", "Xe-HPG": "xehpg", "Xe-LPG": "xehpg", "Xe-HPC": "xehpc",
    "Xe2": "xe2",
}  # fmt: skip  # of `iga64`
# Options of `clBuildProgram` that ocloc hands on: OpenCL's, and those of Intel's that decide registers and addresses.
_FLAGS = re.compile(
    r"-cl-(?:std=\S+|single-precision-constant|opt-disable|strict-aliasing|mad-enable|no-signed-zeros"
    r"|unsafe-math-optimizations|finite-math-only|fast-relaxed-math|fp32-correctly-rounded-divide-sqrt|denorms-are-zero"
    r"|uniform-work-group-size|intel-\d+-GRF-per-thread|intel-enable-auto-large-GRF-mode"
    r"|intel-greater-than-4GB-buffer-required|intel-no-prera-scheduling)$|-[UW]\w\S*$|-w$"
)
_UNKNOWN_DEVICE = re.compile(r"(?:Cannot get HW Info for device|Could not determine (?:device )?target)", re.IGNORECASE)
_SPILLED = re.compile(r"^warning: kernel (?P<kernel>\S+)\s+(?P<said>compiled SIMD\d+ .*spilled.*)$", re.MULTILINE)


class UnreadableOutput(MeasureError):
    """ocloc succeeded, and what it wrote cannot be read."""

    code = "unreadable_code"


def compile_program(
    text: Text, architecture: CompileTarget, tools: IntelTools
) -> tuple[dict[str, CompiledCode], tuple[Diagnostic, ...]]:
    """Return the code of all kernels by name, and warnings. Raises DoesNotCompile, TimedOut or another MeasureError."""
    from profiler.offline.zebin import UnreadableBinary, read_zebin  # noqa: PLC0415  of the extra `offline`

    with tempfile.TemporaryDirectory(prefix="kernelcast-") as name:
        folder = Path(name)
        binary, messages = _compile(text, architecture, tools, folder)
        if not binary:
            return {}, diagnostics_in(messages, text.name, text.folders)
        try:
            program = read_zebin(binary)
        except UnreadableBinary as error:
            raise UnreadableOutput(f"what ocloc made for {architecture.target} cannot be read: {error}") from None
        spilled = {match["kernel"]: match["said"] for match in _SPILLED.finditer(messages)}
        codes = {}
        for kernel in program.kernels.values():
            machine_code = program.codes[kernel.name]
            instructions, why_not = _instructions(machine_code, architecture, tools, folder)
            codes[kernel.name] = _code(kernel, len(machine_code), instructions, spilled.get(kernel.name, ""), why_not)
    return codes, diagnostics_in(messages, text.name, text.folders)


def _compile(text: Text, architecture: CompileTarget, tools: IntelTools, folder: Path) -> tuple[bytes, str]:
    """Return the binary and all messages; no bytes for a program without kernels. Raises DoesNotCompile or TimedOut."""
    source, output = folder / "program.cl", folder / "made"
    source.write_text(text.with_definitions, encoding="utf-8", errors="replace")
    command = [
        str(tools.compiler), "compile", "-file", str(source), "-device", architecture.target, "-out_dir", str(output),
        "-output", "program", "-output_no_suffix", "--format", "zebin", "-options", _options(text),
    ]  # fmt: skip
    status, said, errors = run_tool(command, b"", LIMIT_S, folder)
    messages = said.decode("utf-8", "replace") + errors
    if _UNKNOWN_DEVICE.search(messages):
        raise need_newer_ocloc(tools, architecture.target)
    if status != 0:
        raise failure(messages, text.name, architecture.target, text.folders)
    files = (each.read_bytes() for each in sorted(output.iterdir()) if each.is_file()) if output.is_dir() else iter(())
    return next((data for data in files if data.startswith(_ELF)), b""), messages


def _options(text: Text) -> str:
    """OpenCL C 1.2 where the text asks for nothing else, as `clBuildProgram` does. Definitions are in the text."""
    flags = [flag for flag in text.options.flags if _FLAGS.match(flag)]
    if not any(flag.startswith("-cl-std=") for flag in flags):
        flags.append("-cl-std=CL1.2")
    return " ".join([*flags, *(f'-I "{folder}"' for folder in text.folders if '"' not in folder)])


def _instructions(
    machine_code: bytes, architecture: CompileTarget, tools: IntelTools, folder: Path
) -> tuple[tuple[Instruction, ...], str]:
    """Return a kernel's instructions, or none and why not."""
    if tools.disassembler is None:
        return (), f"its instructions are not known: {DISASSEMBLER_HINT}"
    file = folder / "kernel.bin"
    file.write_bytes(machine_code)
    command = [str(tools.disassembler), "-d", "-p", _PLATFORMS[architecture.family], str(file)]
    try:
        status, output, messages = run_tool(command, b"", _DISASSEMBLY_LIMIT_S, folder)
    except TimedOut as error:
        return (), f"its instructions are not known: {error.message}"
    instructions = read_intel_isa(output.decode("utf-8", "replace"))
    if status == 0 and instructions:
        return instructions, ""
    said = next((line for line in messages.splitlines() if line.strip()), "iga64 gave no reason")
    return (), f"its instructions are not known: {said}"


def _code(
    kernel: ZebinKernel, code_bytes: int, instructions: tuple[Instruction, ...], spilled: str, why_not: str
) -> CompiledCode:
    """Return the code of one kernel.

    Where the notes do not tell spilled values from arrays, all is spilled if the compiler says that anything is.
    """
    spill_bytes = kernel.spill_bytes
    if spill_bytes is None:
        spill_bytes = kernel.private_bytes if spilled else 0
    return CompiledCode(
        registers=kernel.grf_count,
        scalar_registers=0,
        spill_bytes=spill_bytes,
        private_mem_bytes=max(kernel.private_bytes, spill_bytes),
        local_mem_bytes=kernel.local_bytes,
        code_bytes=code_bytes,
        instructions=instructions,
        wave_size=kernel.simd_size,
        required_local_size=kernel.required_local_size,
        notes=tuple(each for each in (f"ocloc: {spilled}" if spilled else "", why_not) if each),
    )
