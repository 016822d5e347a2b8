"""A kernel -> closures: the tables of all kinds of nodes put together, and the function to begin with."""

from __future__ import annotations

from dataclasses import dataclass

from model.launch.launch import Number
from model.opencl.builtin_types import VOID
from model.opencl.kernel import Kernel, ParameterKind
from model.opencl.program import Program
from model.sampling.calls import call
from model.sampling.compiler import Compiled, Compiler, NodeCompilers
from model.sampling.counters import FunctionSites
from model.sampling.expressions import EXPRESSIONS
from model.sampling.functions import compiled_function
from model.sampling.members import PLACES
from model.sampling.statements import STATEMENTS, block_value
from model.sampling.values import NotInterpreted
from model.work.regions.region import Site

_BY_NODE = NodeCompilers(
    {**EXPRESSIONS, "call_expression": call, "compound_statement": block_value}, STATEMENTS, PLACES
)


@dataclass(frozen=True, slots=True)
class CompiledKernel:
    """A kernel ready to be run; depends on no launch but for names that nothing declares."""

    compiler: Compiler
    body: Compiled


def compile_kernel(
    program: Program, kernel: Kernel, free_names: dict[str, Number], wanted: frozenset[Site] | None
) -> CompiledKernel:
    """Compile `kernel`. Raises NotInterpreted."""
    function = program.functions.get(kernel.name)
    if function is None:
        raise NotInterpreted(f"`{kernel.name[:60]}` could not be read")
    compiler = Compiler(program, kernel, free_names, wanted, _BY_NODE)
    compiler.reader, compiler.sites, compiler.result = (
        program.reader(function, compiler.names),
        FunctionSites(""),
        (0, VOID),
    )
    try:
        body = compiled_function(compiler, function)
        by_value = {p.name for p in kernel.of_kind(ParameterKind.SCALAR, ParameterKind.STRUCT)}
        for parameter in body.parameters:
            own = (f"&{parameter.name}", *((f"={parameter.name}",) if parameter.name in by_value else ()))
            compiler.flows.assigned(f"${parameter.slot}", frozenset(own))
        return CompiledKernel(compiler, body)
    except RecursionError:
        raise NotInterpreted("statements or expressions are nested too deeply to be interpreted") from None
