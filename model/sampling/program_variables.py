"""Variables at program scope: made when first named, filled when a sample begins."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from model.opencl.types import ArrayType, OpaqueType, Type
from model.sampling.code import Code
from model.sampling.compiler import Compiler, Table, Variable
from model.sampling.counters import FunctionSites
from model.sampling.dispatch import expression
from model.sampling.initialisers import completed, initialise
from model.sampling.places import place_of_variable
from model.sampling.values import NotInterpreted

if TYPE_CHECKING:
    from model.sampling.lanes import Lanes


def global_variable(c: Compiler, name: str) -> Variable:
    """Return a variable at program scope; its initialiser is stored when a sample begins."""
    known = c.globals.get(name)
    if known is not None:
        return known
    declared = c.program.globals[name]
    outer = (c.reader, c.scopes, c.sites, c.cost, c.in_memory)
    c.reader = c.program.reader_of_global(name, c.names)
    c.scopes, c.sites, c.in_memory = [{}], FunctionSites(name), frozenset()
    try:
        kind = declared.type
        if isinstance(kind, ArrayType):
            kind = completed(c, kind, declared.value)
        if isinstance(kind, OpaqueType) and kind.is_unknown:
            raise NotInterpreted(f"the type `{kind.name[:40]}` of `{name[:60]}` is not known")
        slot = c.new_slot()
        variable = Variable(name, kind, None, lambda f: f.values[slot], frozenset((f"&%global {name}",)), slot)
        c.globals[name] = variable
        table = Table(declared, kind, slot)
        c.tables.append(table)
        if kind.name == "sampler_t":
            value = expression(c, declared.value) if declared.value is not None else None
            c.globals[name] = variable = _sampler(c, name, kind, value)
        elif declared.value is not None:
            steps = initialise(c, place_of_variable(variable), declared.value)
            context = c.sites
            table.fill = lambda f: _all(steps, f)
            table.sites = context
    finally:
        c.reader, c.scopes, c.sites, c.cost, c.in_memory = outer
    c.used.add(slot)
    return variable


def _sampler(c: Compiler, name: str, kind: Type, value: Code | None) -> Variable:
    slot = c.new_slot()
    held = value.constant if value is not None and value.constant is not None else np.int64(0)
    c.fixed[slot] = held
    return Variable(name, kind, slot)


def _all(steps: Sequence[Any], f: Lanes) -> None:
    for step in steps:
        step(f)
