"""Arm's targets: `malioc` compiles one kernel at a time and reports registers, spills, and the cycles of each pipe.

Source: Arm, "Mali Offline Compiler User Guide" (101863), chapter "Compiling OpenCL kernels", and `malioc --help`.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Sequence
from pathlib import Path

from model.compile_targets import CompileTarget
from profiler.measurement import MeasureError
from profiler.offline.clang import Text
from profiler.offline.code import CompiledCode
from profiler.offline.diagnostics import Diagnostic, diagnostics_in, failure
from profiler.offline.malioc_report import MaliReport, UnreadableReport, read_report
from profiler.offline.tools import run_tool
from profiler.offline.vendor_tools import ArmTools

LIMIT_S = 120.0
_VERSION = re.compile(r"-cl-std=(?:CL|cl)(?P<version>1\.1|1\.2|2\.0|3\.0)$")
_LINE_ONLY = re.compile(r"^(?:ERROR|WARNING):? *\d+:(?P<line>\d+): *(?P<text>.+)$", re.MULTILINE)
_NO_MIX = "its instructions are not known: malioc reports the cycles of each pipe instead"
_BYTES = 4  # of a register


class ReportFailed(MeasureError):
    """malioc says nothing that can be read; its words are in the log."""

    code = "unreadable_code"


def compile_program(
    text: Text, architecture: CompileTarget, tools: ArmTools, kernels: Sequence[str]
) -> tuple[dict[str, CompiledCode], tuple[Diagnostic, ...]]:
    """Return the code of `kernels` by name, and warnings. Raises DoesNotCompile, TimedOut or ReportFailed."""
    codes: dict[str, CompiledCode] = {}
    warnings: list[Diagnostic] = []
    with tempfile.TemporaryDirectory(prefix="kernelcast-") as folder:
        source = Path(folder, "program.cl")
        source.write_text(text.with_definitions, encoding="utf-8", errors="replace")
        for kernel in dict.fromkeys(kernels):
            report = _report(text, architecture, tools, source, kernel)
            warnings += diagnostics_in("\n".join(report.warnings), text.name, text.folders)
            codes[kernel] = code_of(report, text, architecture)
    return codes, tuple(dict.fromkeys(warnings))


def command_for(text: Text, architecture: CompileTarget, tools: ArmTools, source: Path, kernel: str) -> list[str]:
    """Return how `malioc` is called for one kernel; build options beyond the language's version it does not take."""
    asked = next((match["version"] for match in map(_VERSION.match, text.options.flags) if match), "1.2")
    core = "-".join(part.capitalize() for part in architecture.target.split("-"))
    return [
        str(tools.compiler), "--kernel", "--opencl", asked, "--core", core, "--name", kernel, "--format", "json",
        str(source),
    ]  # fmt: skip


def code_of(report: MaliReport, text: Text, architecture: CompileTarget) -> CompiledCode:
    """Return a report in the terms of all vendors. Raises ReportFailed if the registers are missing."""
    if report.work_registers is None:
        raise ReportFailed(f"malioc does not report the registers of {text.name} for {architecture.target}")
    spill_bytes = report.spill_bytes
    if spill_bytes is None:
        spill_bytes = _BYTES if report.spills else 0  # at least one register
    return CompiledCode(
        registers=report.work_registers,
        scalar_registers=report.uniform_registers or 0,
        spill_bytes=spill_bytes,
        private_mem_bytes=max(spill_bytes, report.stack_bytes or 0),
        local_mem_bytes=report.local_bytes,
        code_bytes=None,
        instructions=(),
        wave_size=architecture.wave_size,
        pipes=report.pipes,
        half_arithmetic_percent=report.half_arithmetic_percent,
        notes=(*_notes(report, text), _NO_MIX),
    )


def _report(text: Text, architecture: CompileTarget, tools: ArmTools, source: Path, kernel: str) -> MaliReport:
    command = command_for(text, architecture, tools, source, kernel)
    status, output, messages = run_tool(command, b"", LIMIT_S, source.parent)
    said = output.decode("utf-8", "replace")
    try:
        report = read_report(said)
    except UnreadableReport as error:
        if status != 0:
            messages = as_clang_writes(said + messages, text.name)
            raise failure(messages, text.name, architecture.target, text.folders) from None
        raise ReportFailed(str(error), log=said + messages) from None
    if report.errors or status != 0:
        errors = as_clang_writes("\n".join(report.errors) or messages, text.name)
        raise failure(errors, text.name, architecture.target, text.folders)
    return report


def as_clang_writes(messages: str, name: str) -> str:
    """Return messages with each place as `file:line:column`: some name the line alone, and the text by a number."""
    return _LINE_ONLY.sub(lambda match: f"{name}:{match['line']}:1: error: {match['text']}", messages)


def _notes(report: MaliReport, text: Text) -> list[str]:
    notes = []
    if report.spills and report.spill_bytes is None:
        notes.append("malioc says that registers are spilled, and not how many: one is assumed")
    ignored = [flag for flag in text.options.flags if not _VERSION.match(flag)]
    if ignored:
        notes.append(f"malioc takes no build options: {' '.join(ignored)} left out")
    return notes
