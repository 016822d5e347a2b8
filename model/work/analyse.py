"""Kernel -> `Work`: symbolic execution of the source, once per meaning."""

from __future__ import annotations

from tree_sitter import Node

from model.errors import AnalysisError
from model.opencl.kernel import Kernel, Parameter
from model.opencl.program import Program
from model.opencl.types import (
    AddressSpace,
    ImageType,
    OpaqueType,
    PointerType,
    ScalarType,
    StructType,
    Type,
    VectorType,
)
from model.work.builder import needed
from model.work.interning import new_analysis
from model.work.region import Block
from model.work.registers import Pressure
from model.work.settings import accesses_in
from model.work.statements import Statements
from model.work.symbolic import ZERO, symbol
from model.work.tables import numbers_of
from model.work.uniform import uniform_atoms
from model.work.unknowns import UnknownKind
from model.work.values import MAX_NUMBERS, Aggregate, Memory, Other, Pointer, Scalar, Value, Vector
from model.work.work import Work

ANALYSIS_VERSION = 2  # one more whenever a kernel and its launch come to be counted otherwise


class _Kernel(Statements):
    """One kernel, from its parameters to the end of its body."""

    def work(self) -> Work:
        function = self.program.functions[self.kernel.name]
        for parameter in self.kernel.parameters:
            self.declare(parameter.name, parameter.type, self._argument(parameter))
            if isinstance(parameter.type, OpaqueType) and parameter.type.is_unknown:
                text = f"the type `{parameter.type.name}` of `{parameter.name}` is not declared"
                self.assume(parameter.name, f"{text}: taken for an image or opaque value", 1.3)
        self.returned = []
        if self.kernel.has_errors:
            self.unreadable(UnknownKind.SYNTAX, self.kernel.name)
            self.assume("source", "the kernel has syntax errors: what could not be read is not counted", 1.5)
        self.run_body(function.body)
        root = self.root.freeze(needed(self.root, self.rests))
        tables = {name: numbers for name, table in self.tables.items() if (numbers := numbers_of(table)) is not None}
        return Work(
            self.kernel, root, dict(self.parameters), tuple(self.free_names.items()),
            tuple(self.assumptions.values()), tuple(self.local_bytes.items()), sum(self.private_bytes.values()),
            tuple(sorted(self.unknowns)), tables, frozenset(self.unrolled), self._pressure(root), self.steps,
            uniform_atoms(accesses_in(root), self.rests),
        )  # fmt: skip

    def _pressure(self, root: Block) -> Pressure:
        accesses = list(accesses_in(root))
        moving = (a for a in accesses if a.space is AddressSpace.PRIVATE)
        in_memory = frozenset(a.buffer for a in moving if a.offset is None or a.offset.constant is None)
        buffers = len({a.buffer for a in accesses if a.space in (AddressSpace.GLOBAL, AddressSpace.GENERIC)})
        return self.lifetimes.pressure(self.types, in_memory, buffers)

    def run_body(self, body: Node) -> None:
        self.run(body)

    def _argument(self, parameter: Parameter) -> Value:
        name, kind = parameter.name, parameter.type
        match kind:
            case PointerType():
                memory = Memory(name, kind.space, kind.pointee, may_alias=not kind.is_restrict)
                self.memories[name] = memory
                return Pointer(memory, ZERO, kind)
            case StructType():
                return _members(name, kind)
            case ScalarType():
                return Scalar(symbol(f"arg.{name}"), kind)
            case VectorType():
                return Vector(tuple(symbol(f"arg.{name}.s{i:x}") for i in range(kind.width)), kind)
            case ImageType() | OpaqueType():
                return Other(name, kind)
            case _:
                return self.fresh_value(kind, f"`{name}`", name)


def _members(path: str, kind: StructType) -> Aggregate:
    """Return a struct by value: its members are launch scalars named `p.member`."""

    def member(name: str, of: Type) -> Value | None:
        match of:
            case ScalarType():
                return Scalar(symbol(f"arg.{path}.{name}"), of)
            case VectorType():
                return Vector(tuple(symbol(f"arg.{path}.{name}.s{i:x}") for i in range(of.width)), of)
            case StructType():
                return _members(f"{path}.{name}", of)
            case _:
                return None

    if kind.numbers > MAX_NUMBERS:
        return Aggregate((), kind)
    known = ((name, member(name, of)) for name, of in kind.members)
    return Aggregate(tuple((n, v) for n, v in known if v is not None), kind)


def analyse(program: Program, kernel: Kernel) -> Work:
    """Return the symbolic work of `kernel`.

    Raises AnalysisError for what OpenCL C does not allow (recursion) and for kernels too large to analyse."""
    if kernel.name not in program.functions:
        raise AnalysisError(f"`{kernel.name}` could not be read", line=kernel.name_range.start_line + 1)
    new_analysis()
    try:
        return _Kernel(program, kernel).work()
    except RecursionError:
        raise AnalysisError(
            f"`{kernel.name}` nests statements or expressions too deeply to be analysed",
            line=kernel.name_range.start_line + 1,
        ) from None
