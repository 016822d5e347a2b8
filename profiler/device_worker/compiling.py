"""Builds a program and reads what its compiler made of each kernel, inside the device process. Nothing is run."""

from __future__ import annotations

import os
import shlex
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, cast

import pyopencl as cl

from model.compiled import CompiledFacts
from model.device import DeviceType
from model.launch.driver_choice import effective_local_size
from model.opencl.options import BuildOptions
from profiler.device_worker.building import ON_COMPILER_CRASH, build, kernel_named, source_name
from profiler.device_worker.compilers import intel, nvidia, pocl
from profiler.device_worker.compilers.reader import Built, Reader, with_warning
from profiler.device_worker.failures import named_failures
from profiler.device_worker.probing import facts_of, open_device
from profiler.machine_code.compiler_log import warnings_in
from profiler.measurement import MeasureError
from profiler.process.messages import Phase

if TYPE_CHECKING:
    from profiler.compiling import CompileLimits, CompileRequest
    from profiler.device_worker.main import Reporter

ONLY_QUERIES = Reader(lambda _request, _built, facts: facts)


def run(
    requests: tuple[CompileRequest, ...], limits: CompileLimits, with_lines: bool, reporter: Reporter
) -> tuple[CompiledFacts | MeasureError, ...]:
    """Return one outcome for each. Raises MeasureError subclasses only."""
    first = requests[0]
    folder = tempfile.mkdtemp(prefix="code-")  # below the job's own folder, which is removed with it
    os.environ.update(pocl.environment(requests, folder), **nvidia.ENVIRONMENT)
    device = open_device(first.device_id)
    name = source_name(first.path)
    phase = Phase(f"compiling {name}", limits.build_s, on_crash=ON_COMPILER_CRASH, is_compiling=True)
    reporter.begin(0.1, "building", phase)
    reader = reader_of(device)
    options = first.launch.options.merged(BuildOptions(flags=reader.flags + (reader.line_flags if with_lines else ())))
    program = build(cl.Context([device]), first.source, first.path, options)
    with named_failures(f"building {name}"):
        log = str(program.get_build_info(device, cl.program_build_info.LOG))  # type: ignore[no-untyped-call]
    built = Built(program, device, log, Path(folder))
    reporter.progress(0.5, "reading what the compiler made")
    return tuple(_outcome(request, built, reader) for request in requests)


def reader_of(device: cl.Device) -> Reader:
    facts = facts_of(device)
    platform = facts.platform.lower()
    if "portable computing language" in platform and facts.type is DeviceType.CPU:
        return pocl.READER
    if "intel" in platform and facts.type is DeviceType.CPU:
        return intel.READER
    if "nvidia" in platform:
        return nvidia.READER
    return ONLY_QUERIES


def _outcome(request: CompileRequest, built: Built, reader: Reader) -> CompiledFacts | MeasureError:
    try:
        with named_failures(f"kernel `{request.kernel.name}`"):
            return reader.read(request, built, asked(request, built))
    except MeasureError as error:
        return error


def asked(request: CompileRequest, built: Built) -> CompiledFacts:
    """Return what every OpenCL driver answers: `clGetKernelWorkGroupInfo`, OpenCL 3.0, sec. 5.9.3."""
    device = built.device
    kernel = kernel_named(built.program, request.kernel.name)
    info = cl.kernel_work_group_info
    local_size = request.launch.local_size
    facts = CompiledFacts(
        kernel=request.kernel.name,
        kernel_fingerprint=request.kernel.fingerprint,
        options=shlex.join(request.launch.options.arguments()),
        local_size=local_size,
        device_id=request.device_id,
        device_name=device.name.strip(),
        driver=device.driver_version.strip(),
        compiled_at=datetime.now(UTC).isoformat(timespec="seconds"),
        max_work_group_size=_number(kernel, info.WORK_GROUP_SIZE, device),
        preferred_multiple=_number(kernel, info.PREFERRED_WORK_GROUP_SIZE_MULTIPLE, device),
        private_mem_bytes=_number(kernel, info.PRIVATE_MEM_SIZE, device),
        local_mem_bytes=_number(kernel, info.LOCAL_MEM_SIZE, device),
        required_local_size=_required_local_size(kernel, device),
        sub_group_size=_sub_group_size(kernel, device, local_size),
        kernel_lines=(request.kernel.range.start_line, request.kernel.range.end_line),
        warnings=warnings_in(built.log),
    )
    if local_size is None:
        taken = "x".join(map(str, effective_local_size(request.launch, request.kernel)))
        facts = with_warning(facts, f"which local size the driver will choose is not known; assumed to be {taken}")
    return facts


def _number(kernel: cl.Kernel, what: cl.kernel_work_group_info, device: cl.Device) -> int | None:
    try:
        return int(cast("int", kernel.get_work_group_info(what, device)))
    except cl.Error:
        return None  # older drivers know fewer questions


def _required_local_size(kernel: cl.Kernel, device: cl.Device) -> tuple[int, ...] | None:
    """None where the source requires none: drivers then answer with zeros."""
    sizes = kernel.get_work_group_info(cl.kernel_work_group_info.COMPILE_WORK_GROUP_SIZE, device)
    return tuple(int(size) for size in sizes) if any(sizes) else None


def _sub_group_size(kernel: cl.Kernel, device: cl.Device, local_size: tuple[int, ...] | None) -> int | None:
    """OpenCL 2.1 and `cl_khr_subgroups`; drivers that know neither say nothing."""
    if local_size is None:
        return None
    try:
        asked = cl.kernel_sub_group_info.MAX_SUB_GROUP_SIZE_FOR_NDRANGE
        return int(cast("int", kernel.get_sub_group_info(device, asked, list(local_size)))) or None
    except (cl.Error, AttributeError, TypeError):
        return None
