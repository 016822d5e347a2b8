"""NVIDIA's targets: PTX by clang, registers and spills by ptxas."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

from model.compile_targets import CompileTarget
from profiler.machine_code.compiler_log import assembled
from profiler.machine_code.ptx import read_ptx
from profiler.measurement import MeasureError
from profiler.offline.clang import Text, refuse_unknown
from profiler.offline.code import CompiledCode
from profiler.offline.tools import Tools, run_tool

LIMIT_S = 120.0
_EXTERNAL = re.compile(r"^\.extern \.func\s+(?:\([^)]*\)\s*)?(?P<name>[\w$]+)", re.MULTILINE)
_PRINTF = re.compile(r"\bprintf\b(?!_param)")  # the driver calls it `vprintf`, with the same two arguments
_PROVIDED = ("vprintf",)  # by the driver


class AssemblerFailed(MeasureError):
    """ptxas refused what clang made; its words are in the log."""

    code = "assembler"


def read_kernels(ptx: str, text: Text, architecture: CompileTarget, tools: Tools) -> dict[str, CompiledCode]:
    """Assemble a program and return what each of its kernels became. Raises AssemblerFailed or UnknownFunctions."""
    ptx = _PRINTF.sub("vprintf", ptx)
    external = [match["name"] for match in _EXTERNAL.finditer(ptx)]
    refuse_unknown([name for name in external if name not in _PROVIDED], text)
    log = _assemble(ptx, architecture, tools)
    found = {}
    for kernel in re.findall(r"\.entry\s+([\w$]+)", ptx):
        said, code = assembled(log, kernel), read_ptx(ptx, kernel)
        if said is None or said.registers is None or code is None:
            raise AssemblerFailed(f"ptxas does not report kernel `{kernel}`", log=log)
        found[kernel] = CompiledCode(
            registers=said.registers,
            scalar_registers=0,
            spill_bytes=said.spill_bytes or 0,
            private_mem_bytes=said.stack_bytes or 0,
            local_mem_bytes=said.shared_bytes or 0,
            code_bytes=None,
            instructions=code.instructions,
        )
    return found


def _assemble(ptx: str, architecture: CompileTarget, tools: Tools) -> str:
    with tempfile.TemporaryDirectory(prefix="kernelcast-") as folder:
        path = Path(folder, "program.ptx")
        path.write_text(ptx, encoding="utf-8")
        command = [
            str(tools.ptxas), "-v", "-arch", architecture.target, str(path), "-o", str(Path(folder, "program.cubin")),
        ]  # fmt: skip
        status, output, messages = run_tool(command, b"", LIMIT_S)
    log = output.decode("utf-8", "replace") + messages
    if status != 0:
        first = next((line for line in log.splitlines() if "error" in line or "fatal" in line), log.strip())
        raise AssemblerFailed(f"NVIDIA's assembler refuses the program for {architecture.target}: {first}", log=log)
    return log
