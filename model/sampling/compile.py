"""A kernel -> closures: the parts put together, helpers, and variables at program scope."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from tree_sitter import Node

from model.launch.launch import Number
from model.opencl.builtin_types import VOID
from model.opencl.item_parser import Function
from model.opencl.kernel import Kernel, ParameterKind
from model.opencl.program import Program
from model.opencl.types import ArrayType, OpaqueType, StructType, Type, VectorType
from model.sampling import expressions, initialisers, leaves, members, statements
from model.sampling.calls import call
from model.sampling.code import Code, Place
from model.sampling.compiler import MAX_CALLS, Compiled, Compiler, Step, Table, Variable
from model.sampling.counters import FunctionSites
from model.sampling.places import place_of_variable
from model.sampling.values import NotInterpreted, Value
from model.work.regions.region import Site

if TYPE_CHECKING:
    from model.sampling.lanes import Lanes


class KernelCompiler(Compiler):
    """What the modules for expressions and statements ask of each other."""

    def expression(self, node: Node) -> Code:
        return expressions.expression(self, node)

    def statement(self, node: Node) -> Step:
        return statements.statement(self, node)

    def block(self, nodes: Sequence[Node]) -> Step:
        return statements.block(self, nodes)

    def braced(self, node: Node, kind: Type) -> Code:
        return initialisers.braced(self, node, kind)

    def vector_of(self, kind: VectorType, values: list[Code], node: Node) -> Code:
        return expressions.vector_of(self, kind, values, node)

    def value_of(self, place: Place) -> Code:
        return leaves.value_of(self, place)

    def call(self, node: Node) -> Code:
        return call(self, node)

    def type_of(self, node: Node) -> Type:
        """Return the type of an expression that is not evaluated; of an array the array's."""
        sites, accesses, cost = len(self.sites.sites), len(self.sites.accesses), self.cost
        place = members.place(self, node)
        kind = place.type if place is not None else self.expression(node).type
        del self.sites.sites[sites:], self.sites.taints[sites:], self.sites.accesses[accesses:]
        self.cost = cost
        return kind

    def block_value(self, node: Node) -> Code:
        """`({ ...; value; })`, of GNU C."""
        nodes = [n for n in node.named_children if n.type != "comment"]
        with self.scope():
            if not nodes or nodes[-1].type != "expression_statement" or not nodes[-1].named_children:
                steps, value = statements.block(self, nodes), Code(lambda _: np.int32(0), VOID)
            else:
                steps, value = statements.block(self, nodes[:-1]), self.expression(nodes[-1].named_children[0])
        run = value.run

        def both(f: Lanes) -> Value:
            steps(f)
            return run(f)

        return Code(both, value.type, is_pure=False, taint=value.taint)

    def global_variable(self, name: str) -> Variable:
        """Return a variable at program scope; its initialiser is stored when a sample begins."""
        known = self.globals.get(name)
        if known is not None:
            return known
        declared = self.program.globals[name]
        outer = (self.reader, self.scopes, self.sites, self.cost, self.in_memory)
        self.reader = self.program.reader_of_global(name, self.names)
        self.scopes, self.sites, self.in_memory = [{}], FunctionSites(name), frozenset()
        try:
            kind = declared.type
            if isinstance(kind, ArrayType):
                kind = initialisers.completed(self, kind, declared.value)
            if isinstance(kind, OpaqueType) and kind.is_unknown:
                raise NotInterpreted(f"the type `{kind.name[:40]}` of `{name[:60]}` is not known")
            slot = self.new_slot()
            variable = Variable(name, kind, None, lambda f: f.values[slot], frozenset((f"&%global {name}",)), slot)
            self.globals[name] = variable
            table = Table(declared, kind, slot)
            self.tables.append(table)
            if kind.name == "sampler_t":
                value = self.expression(declared.value) if declared.value is not None else None
                self.globals[name] = variable = self._sampler(name, kind, value)
            elif declared.value is not None:
                steps = initialisers.initialise(self, place_of_variable(variable), declared.value)
                context = self.sites
                table.fill = lambda f: _all(steps, f)
                table.sites = context
        finally:
            self.reader, self.scopes, self.sites, self.cost, self.in_memory = outer
        self.used.add(slot)
        return variable

    def _sampler(self, name: str, kind: Type, value: Code | None) -> Variable:
        slot = self.new_slot()
        held = value.constant if value is not None and value.constant is not None else np.int64(0)
        self.fixed[slot] = held
        return Variable(name, kind, slot)

    def function(self, helper: Function, node: Node) -> Compiled:
        """Return a helper, compiled once; sites are told apart by who calls it."""
        known = self.functions.get(helper)
        if helper in self.calling:
            raise self.refuse(f"`{helper.name[:60]}` calls itself: OpenCL C has no recursion", node)
        if known is None:
            if len(self.calling) >= MAX_CALLS:
                raise self.refuse(f"calls are nested more than {MAX_CALLS} deep", node)
            known = self.functions[helper] = self.compiled(helper)
        return known

    def compiled(self, function: Function) -> Compiled:
        outer = (self.reader, self.scopes, self.sites, self.cost, self.in_memory, self.result, self.depth)
        self.reader = self.program.reader(function, self.names)
        self.scopes, self.sites, self.cost = [{}], FunctionSites(function.name), 0
        self.in_memory = _addressed(function.body, self.reader)
        self.depth = 0
        self.calling.append(function)
        try:
            if function.has_errors:
                raise NotInterpreted(f"`{function.name[:60]}` could not be read as OpenCL C")
            with self.slots_of() as slots:
                result = self.new_slot()
                self.result = (result, function.return_type)
                parameters = [self._parameter(d.name, d.type) for d in function.parameters]
                copies = [
                    statements.copied_to_memory(self, p)
                    for p in parameters
                    if p.name in self.in_memory or isinstance(p.type, StructType)
                ]
                body = self.statement(function.body)
            run = body if not copies else _behind(copies, body)
            return Compiled(function, parameters, run, result, self.sites, frozenset(slots), self.cost)
        finally:
            self.calling.pop()
            self.reader, self.scopes, self.sites, self.cost, self.in_memory, self.result, self.depth = outer

    def _parameter(self, name: str, kind: Type) -> Variable:
        if isinstance(kind, OpaqueType) and kind.is_unknown:
            raise NotInterpreted(f"the type `{kind.name[:40]}` of `{name[:60]}` is not known")
        return self.declare(name, kind)


def _all(steps: Sequence[Any], f: Lanes) -> None:
    for step in steps:
        step(f)


def _behind(copies: Sequence[Any], body: Step) -> Step:
    def run(f: Lanes) -> bool:
        _all(copies, f)
        return body(f)

    return run


def _addressed(body: Node, reader: Value) -> frozenset[str]:
    """Return the variables of which the address is taken."""
    found: set[str] = set()
    stack = [body]
    while stack:
        node = stack.pop()
        stack.extend(node.named_children)
        if node.type == "pointer_expression" or (node.type == "unary_expression" and reader.operator(node) == "&"):
            at = node.child_by_field_name("argument")
            if reader.operator(node) == "&":
                while at is not None and at.type in (
                    "parenthesized_expression",
                    "field_expression",
                    "subscript_expression",
                ):
                    at = at.named_children[0] if at.named_children else None
                if at is not None and at.type == "identifier":
                    found.add(reader.text(at))
    return frozenset(found)


@dataclass(frozen=True, slots=True)
class CompiledKernel:
    """A kernel ready to be run; depends on no launch but for names that nothing declares."""

    compiler: KernelCompiler
    body: Compiled


def compile_kernel(
    program: Program, kernel: Kernel, free_names: dict[str, Number], wanted: frozenset[Site] | None
) -> CompiledKernel:
    """Compile `kernel`. Raises NotInterpreted."""
    function = program.functions.get(kernel.name)
    if function is None:
        raise NotInterpreted(f"`{kernel.name[:60]}` could not be read")
    compiler = KernelCompiler(program, kernel, free_names, wanted)
    compiler.reader, compiler.sites, compiler.result = (
        program.reader(function, compiler.names),
        FunctionSites(""),
        (0, VOID),
    )
    try:
        body = compiler.compiled(function)
        by_value = {p.name for p in kernel.of_kind(ParameterKind.SCALAR, ParameterKind.STRUCT)}
        for parameter in body.parameters:
            own = (f"&{parameter.name}", *((f"={parameter.name}",) if parameter.name in by_value else ()))
            compiler.flows.assigned(f"${parameter.slot}", frozenset(own))
        return CompiledKernel(compiler, body)
    except RecursionError:
        raise NotInterpreted("statements or expressions are nested too deeply to be interpreted") from None
