"""Calls: helpers of the program, and OpenCL's own functions from their tables."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tree_sitter import Node

from model.opencl.item_parser import Function
from model.opencl.syntax import without_parentheses
from model.opencl.types import ScalarType, VectorType
from model.sampling.builtins_atomic import ATOMIC_FUNCTIONS
from model.sampling.builtins_group import GROUP_FUNCTIONS
from model.sampling.builtins_images import IMAGE_FUNCTIONS
from model.sampling.builtins_integer import INTEGER_FUNCTIONS
from model.sampling.builtins_items import ITEM_FUNCTIONS
from model.sampling.builtins_math import MATH_FUNCTIONS
from model.sampling.builtins_memory import MEMORY_FUNCTIONS, VECTOR_MEMORY, vector_memory
from model.sampling.code import Code
from model.sampling.compiler import Compiled, Compiler
from model.sampling.conversions import exact_converter, reinterpreted
from model.sampling.dispatch import expression
from model.sampling.expressions import cast, named_type
from model.sampling.functions import compiled_helper
from model.sampling.initialisers import vector_of
from model.sampling.places import assigned_as
from model.sampling.values import Value, element_of, is_float, with_element, zero_of

if TYPE_CHECKING:
    from model.sampling.lanes import Lanes

_CONVERT = re.compile(r"(convert|as)_([a-z]+(?:_t)?\d*)(_sat)?(?:_(rt[ezpn]))?\Z")
FUNCTIONS = {
    **MATH_FUNCTIONS, **INTEGER_FUNCTIONS, **ITEM_FUNCTIONS, **GROUP_FUNCTIONS, **MEMORY_FUNCTIONS, **ATOMIC_FUNCTIONS,
    **IMAGE_FUNCTIONS,
}  # fmt: skip


def call(c: Compiler, node: Node) -> Code:
    """Compile a call, or a cast that looks like one."""
    function, arguments = node.child_by_field_name("function"), node.child_by_field_name("arguments")
    if function is None or arguments is None:
        raise c.refuse(f"`{c.text(node)[:40]}` is not understood", node)
    nodes = [n for n in arguments.named_children if n.type != "comment"]
    kind = named_type(c, function)
    if kind is not None:
        values = [expression(c, n) for n in nodes]
        if not values:
            raise c.refuse(f"`{c.text(node)[:40]}` is not understood", node)
        if isinstance(kind, VectorType) and (len(values) > 1 or not isinstance(values[0].type, VectorType)):
            return vector_of(c, kind, values, node)
        return cast(c, _last(values), kind, node)
    function = without_parentheses(function)
    name = c.text(function)
    if function.type != "identifier":
        raise c.refuse(f"the call of `{name[:40]}` is not understood", node)
    if name == "printf" and name not in c.program.functions:
        return c.constant_zero()
    if name in c.program.functions and any(n.type == "initializer_list" for n in nodes):
        raise c.refuse(f"the call of `{name[:40]}` is not understood", node)
    values = [expression(c, n) for n in nodes]
    if name in c.program.functions:
        helper = c.program.called(name, [v.type for v in values], c.calling)
        if helper is not None:
            return _helper(c, helper, values, node)
    known = FUNCTIONS.get(name)
    if known is not None:
        return known(c, name, values, node)
    conversion = _CONVERT.match(name)
    if conversion is not None and len(values) == 1:
        found = _conversion(c, conversion, values[0], node)
        if found is not None:
            return found
    memory = VECTOR_MEMORY.match(name)
    if memory is not None:
        return vector_memory(c, memory, values, node)
    raise c.refuse(f"`{name[:60]}` is not known to the interpreter", node)


def _last(values: list[Code]) -> Code:
    runs, last = [v.run for v in values[:-1]], values[-1]
    if not runs:
        return last

    def run(f: Lanes) -> Value:
        for each in runs:
            each(f)
        return last.run(f)

    return Code(run, last.type, None, None, is_pure=False, taint=last.taint)


def _conversion(c: Compiler, match: re.Match[str], value: Code, node: Node) -> Code | None:
    kind = c.reader.names.type_named(match[2])
    if not isinstance(kind, ScalarType | VectorType) or not isinstance(value.type, ScalarType | VectorType):
        return None
    source, run = value.type, value.run
    c.cost += 3
    if match[1] == "as":
        if source.size_bytes != kind.size_bytes:
            raise c.refuse(f"`{match[0]}` of a `{source.name}`", node)
        return Code(lambda f: reinterpreted(run(f), source, kind), kind, None, None, value.is_pure, value.taint)
    if isinstance(kind, VectorType) and isinstance(source, VectorType) and kind.width != source.width:
        raise c.refuse(f"`{match[0]}` of a `{source.name}`", node)
    if isinstance(kind, ScalarType) and isinstance(source, VectorType):
        raise c.refuse(f"`{match[0]}` of a `{source.name}`", node)
    rounding = match[4] or ""
    if not match[3] and (is_float(element_of(kind)) or rounding in ("", "rtz")):
        return assigned_as(value, kind)
    convert = exact_converter(element_of(source), element_of(kind), bool(match[3]), rounding)
    narrow = Code(
        lambda f: convert(run(f)), with_element(source, element_of(kind)), None, None, value.is_pure, value.taint
    )
    return assigned_as(narrow, kind)


def _helper(c: Compiler, helper: Function, values: list[Code], node: Node) -> Code:
    compiled = compiled_helper(c, helper, node)
    if len(values) != len(compiled.parameters):
        raise c.refuse(f"`{helper.name[:60]}` is called with {len(values)} arguments", node)
    arguments = [assigned_as(v, p.type) for v, p in zip(values, compiled.parameters, strict=True)]
    for value, parameter in zip(arguments, compiled.parameters, strict=True):
        c.flows.assigned(f"${parameter.slot}", value.taint)
    c.used |= compiled.slots
    kind = compiled.function.return_type
    taint = frozenset((f"${compiled.result}",)) if kind.name != "void" else frozenset[str]()
    return Code(_calling(compiled, arguments, node.start_byte), kind, is_pure=False, taint=taint)


def _calling(compiled: Compiled, arguments: list[Code], byte: int) -> Value:
    given = [(p.slot or 0, value.run) for p, value in zip(compiled.parameters, arguments, strict=True)]
    kind, result, body, made = compiled.function.return_type, compiled.result, compiled.run, compiled.sites
    cost = compiled.cost + 2
    is_void = kind.name == "void"
    zero = None if is_void else zero_of(kind)

    def run(f: Lanes) -> Value:
        values = [each(f) for _, each in given]
        context, active = f.context, f.active
        mask, returned, continued = f.mask, f.returned, f.continued
        f.context = context.child(byte, made)
        f.returned = f.continued = None
        for (slot, _), value in zip(given, values, strict=True):
            f.values[slot] = value
            f.declared[slot] = active
        f.values[result] = zero
        f.declared[result] = active
        try:
            f.meter.spend(cost, f.width)
            body(f)
        finally:
            f.context = context
            f.mask, f.active, f.returned, f.continued = mask, active, returned, continued
        return zero if is_void else f.values[result]

    return run
