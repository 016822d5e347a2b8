"""Functions of the program: each is compiled once, with slots of its own for parameters and result."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tree_sitter import Node

from model.opencl.item_parser import Function
from model.opencl.program import Reader
from model.opencl.types import OpaqueType, StructType, Type
from model.sampling.compiler import MAX_CALLS, Compiled, Compiler, Step, Variable
from model.sampling.counters import FunctionSites
from model.sampling.dispatch import statement
from model.sampling.statements import copied_to_memory
from model.sampling.values import NotInterpreted

if TYPE_CHECKING:
    from model.sampling.lanes import Lanes


def compiled_helper(c: Compiler, helper: Function, node: Node) -> Compiled:
    """Return a helper, compiled once; sites are told apart by who calls it."""
    known = c.functions.get(helper)
    if helper in c.calling:
        raise c.refuse(f"`{helper.name[:60]}` calls itself: OpenCL C has no recursion", node)
    if known is None:
        if len(c.calling) >= MAX_CALLS:
            raise c.refuse(f"calls are nested more than {MAX_CALLS} deep", node)
        known = c.functions[helper] = compiled_function(c, helper)
    return known


def compiled_function(c: Compiler, function: Function) -> Compiled:
    outer = (c.reader, c.scopes, c.sites, c.cost, c.in_memory, c.result, c.depth)
    c.reader = c.program.reader(function, c.names)
    c.scopes, c.sites, c.cost = [{}], FunctionSites(function.name), 0
    c.in_memory = _addressed(function.body, c.reader)
    c.depth = 0
    c.calling.append(function)
    try:
        if function.has_errors:
            raise NotInterpreted(f"`{function.name[:60]}` could not be read as OpenCL C")
        with c.slots_of() as slots:
            result = c.new_slot()
            c.result = (result, function.return_type)
            parameters = [_parameter(c, d.name, d.type) for d in function.parameters]
            copies = [
                copied_to_memory(c, p) for p in parameters if p.name in c.in_memory or isinstance(p.type, StructType)
            ]
            body = statement(c, function.body)
        run = body if not copies else _behind(copies, body)
        return Compiled(function, parameters, run, result, c.sites, frozenset(slots), c.cost)
    finally:
        c.calling.pop()
        c.reader, c.scopes, c.sites, c.cost, c.in_memory, c.result, c.depth = outer


def _parameter(c: Compiler, name: str, kind: Type) -> Variable:
    if isinstance(kind, OpaqueType) and kind.is_unknown:
        raise NotInterpreted(f"the type `{kind.name[:40]}` of `{name[:60]}` is not known")
    return c.declare(name, kind)


def _behind(copies: Sequence[Any], body: Step) -> Step:
    def run(f: Lanes) -> bool:
        for copy in copies:
            copy(f)
        return body(f)

    return run


def _addressed(body: Node, reader: Reader) -> frozenset[str]:
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
