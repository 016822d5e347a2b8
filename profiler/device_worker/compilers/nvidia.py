"""NVIDIA's driver: a program's binary is PTX, and its verbose log tells registers and spills."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from model.compiled import CodeSource, CompiledFacts
from profiler.device_worker.compilers.reader import Built, Reader, loop_places, with_warning
from profiler.machine_code.compiler_log import assembled
from profiler.machine_code.digest import calls_of, loops_of, mix_of
from profiler.machine_code.ptx import read_ptx

if TYPE_CHECKING:
    from profiler.compiling import CompileRequest

ENVIRONMENT = {"CUDA_CACHE_DISABLE": "1"}  # a program from the cache comes without a log


def _read(request: CompileRequest, built: Built, facts: CompiledFacts) -> CompiledFacts:
    name = request.kernel.name
    log = assembled(built.log, name)
    if log is not None:
        facts = replace(
            facts,
            source=CodeSource.LOG,
            registers=log.registers,
            spill_bytes=log.spill_bytes,
            private_mem_bytes=log.stack_bytes if facts.private_mem_bytes is None else facts.private_mem_bytes,
        )
    text = built.binary.decode("utf-8", "replace").rstrip("\0")
    code = read_ptx(text, name)
    if code is None:
        return with_warning(facts, "the program's binary holds no PTX of this kernel")
    found = code.instructions
    return replace(
        facts,
        source=CodeSource.PTX,
        private_mem_bytes=facts.private_mem_bytes or code.private_bytes,
        local_mem_bytes=facts.local_mem_bytes or code.local_bytes,
        mix=mix_of(found),
        calls=calls_of(found),
        loops=loops_of(found, loop_places(request)),
    )


READER = Reader(_read, flags=("-cl-nv-verbose",))  # cl_nv_compiler_options
