"""Which buffers and images a kernel changes that it also reads: run again, it would start from something else."""

from __future__ import annotations

from pathlib import Path

from model.errors import KernelcastError
from model.opencl.kernel import ParameterKind
from model.opencl.program import read_program
from model.opencl.types import AddressSpace, PointerType
from model.work.analyse import analyse
from profiler.measurement import MeasureRequest

SHARED_SPACES = (AddressSpace.GLOBAL, AddressSpace.GENERIC)


def changed_inputs(request: MeasureRequest) -> frozenset[str]:
    """Names of the buffers and images that must be put back before each run.

    By the loads and stores that the analysis sees. Where it could not read everything, each buffer that may be written.
    """
    writable = {
        parameter.name
        for parameter in request.kernel.parameters
        if parameter.kind is ParameterKind.BUFFER
        and isinstance(parameter.type, PointerType)
        and not parameter.type.is_const
        and parameter.type.space is not AddressSpace.CONSTANT
    }
    images = frozenset(p.name for p in request.kernel.parameters if p.access == "read_write")
    path = Path(request.path) if request.path else None
    try:
        program = read_program(request.source, path, request.launch.options)
        work = analyse(program, program.kernel(request.kernel.name))
    except KernelcastError:
        return images | writable
    declared = {parameter.name for parameter in request.kernel.parameters}
    accesses = [access for access in work.accesses() if access.space in SHARED_SPACES]
    loaded = {access.buffer for access in accesses if not access.is_store or access.is_atomic}
    stored = {access.buffer for access in accesses if access.is_store or access.is_atomic}
    is_all_known = not work.unknowns and loaded | stored <= declared
    return images | (writable & loaded & stored if is_all_known else writable)
