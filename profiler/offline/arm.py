"""Arm's targets: `malioc` compiles one kernel at a time and reports registers, spills, and the cycles of each pipe.

Source: Arm, "Mali Offline Compiler User Guide" (101863), chapter "Compiling OpenCL kernels", and `malioc --help`.

Its report is JSON, see chapters "Performance analysis" and "JSON reports": schemas `performance` and `error`, each with
a list `shaders`; a kernel has one variant.
"""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from model.compile_targets import CompileTarget
from model.compiled import PipeCycles
from profiler.measurement import MeasureError
from profiler.offline.clang import Text
from profiler.offline.code import CompiledCode
from profiler.offline.diagnostics import Diagnostic, diagnostics_in, failure
from profiler.offline.tools import run_tool
from profiler.offline.vendor_tools import ArmTools

_PATHS = ("total_cycles", "shortest_path_cycles", "longest_path_cycles")


class UnreadableReport(Exception):
    """The text is no report of `malioc`, or lacks what its documentation promises."""


@dataclass(frozen=True, slots=True)
class MaliReport:
    """What the compiler says of one kernel; None where this version does not tell. With `errors` there is no kernel."""

    work_registers: int | None = None  # 32-bit registers of a work-item
    uniform_registers: int | None = None
    occupancy_percent: float | None = None  # of the threads that a core can hold
    spills: bool = False
    spill_bytes: int | None = None
    stack_bytes: int | None = None  # of a work-item, spilled values included
    local_bytes: int | None = None  # of a work-group
    half_arithmetic_percent: float | None = None
    pipes: tuple[PipeCycles, ...] = ()
    bound: tuple[str, ...] = ()  # pipes that limit the longest path, else all instructions
    errors: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


def read_report(text: str) -> MaliReport:
    """Return what a report says of its first kernel. Raises UnreadableReport."""
    try:
        report = json.loads(text)
        shader = cast("Mapping[str, Any]", report["shaders"][0])
        warnings, errors = (tuple(map(str, shader.get(key) or ())) for key in ("warnings", "errors"))
        if errors or report["schema"]["name"] == "error":
            return MaliReport(errors=errors, warnings=warnings)
        return _performance(cast("Mapping[str, Any]", shader["variants"][0]), warnings)
    except (ValueError, KeyError, IndexError, TypeError, AttributeError) as error:
        raise UnreadableReport(f"the report of malioc cannot be read: {error!r}") from error


def _performance(variant: Mapping[str, Any], warnings: tuple[str, ...]) -> MaliReport:
    found = {str(each["name"]): each["value"] for each in variant["properties"]}

    def number(*names: str) -> int | None:
        return next((int(found[name]) for name in names if found.get(name) is not None), None)

    half, occupancy = found.get("fp16_arithmetic"), found.get("thread_occupancy")
    performance = cast("Mapping[str, Any]", variant.get("performance") or {})
    spill_bytes = number("stack_spill_bytes")
    return MaliReport(
        work_registers=number("work_registers_used"),
        uniform_registers=number("uniform_registers_used"),
        occupancy_percent=float(occupancy) if occupancy is not None else None,
        spills=bool(found.get("has_stack_spilling")) or bool(spill_bytes),
        spill_bytes=spill_bytes,
        stack_bytes=number("stack_size", "stack_bytes"),
        local_bytes=number("shared_storage_bytes", "shared_storage_used", "shared_storage"),
        half_arithmetic_percent=float(half) if half is not None else None,
        pipes=_pipes(performance),
        bound=_bound(performance),
        warnings=warnings,
    )


def _pipes(performance: Mapping[str, Any]) -> tuple[PipeCycles, ...]:
    names = cast("Sequence[str]", performance.get("pipelines") or ())
    counts = [[_cycles(each) for each in performance[path]["cycle_count"]] for path in _PATHS] if names else []
    if any(len(each) != len(names) for each in counts):
        raise UnreadableReport("the report of malioc has other pipes than cycles")
    return tuple(PipeCycles(str(name), *cycles) for name, *cycles in zip(names, *counts, strict=True))


def _bound(performance: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the pipelines that bound a kernel, by the longest path that the compiler can follow.

    It writes null for one that it cannot, such as one through a loop without a known end.
    """
    for path in reversed(_PATHS):
        names = [str(each) for each in (performance.get(path) or {}).get("bound_pipelines") or () if each]
        if names and path != "shortest_path_cycles":
            return tuple(names)
    return ()


def _cycles(count: object) -> float | None:
    return float(count) if isinstance(count, int | float) else None


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
