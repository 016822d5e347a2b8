"""What the compiler made of a kernel that was just built, as `CompiledFacts`."""

from __future__ import annotations

from pathlib import Path

import pyopencl as cl

from model.compiled import CompiledFacts
from profiler.compiling import CompileRequest
from profiler.device_worker.compilers import pocl
from profiler.device_worker.compilers.reader import Built
from profiler.device_worker.compiling import asked, reader_of
from profiler.measurement import MeasureRequest


def facts_of_program(program: cl.Program, device: cl.Device, request: MeasureRequest) -> CompiledFacts:
    """Of a driver whose program holds all code. Runs nothing."""
    built, wanted = _built(program, device), _wanted(request)
    return reader_of(device).read(wanted, built, asked(wanted, built))


def facts_of_object(path: Path, program: cl.Program, device: cl.Device, request: MeasureRequest) -> CompiledFacts:
    """Of PoCL, from the object file of one local size."""
    built, wanted = _built(program, device), _wanted(request)
    return pocl.with_object_code(asked(wanted, built), path, wanted)


def _built(program: cl.Program, device: cl.Device) -> Built:
    log = str(program.get_build_info(device, cl.program_build_info.LOG))  # type: ignore[no-untyped-call]
    return Built(program, device, log, Path())


def _wanted(request: MeasureRequest) -> CompileRequest:
    return CompileRequest(request.source, request.path, request.kernel, request.launch, request.device_id)
