"""What tables of OpenCL's functions are made of: how arguments are brought to one type, and applied."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from tree_sitter import Node

from model.opencl.builtin_types import FLOAT
from model.opencl.types import ScalarType, VectorType
from model.sampling.code import Code, Run
from model.sampling.compiler import Compiler
from model.sampling.places import assigned_as
from model.sampling.values import Value, common_scalar, element_of, is_float

Function = Callable[[Compiler, str, list[Code], Node], Code]
Kind = ScalarType | VectorType
Apply = Callable[..., Value]


def table(function: Function, *names: str) -> dict[str, Function]:
    """Return the same function under several names."""
    return dict.fromkeys(names, function)


def common_kind(c: Compiler, name: str, values: Sequence[Code], node: Node) -> Kind:
    """Return the type that OpenCL's overloads would bring numbers to: that of the vectors, or the widest scalar."""
    kinds = [v.type for v in values]
    if not kinds or not all(isinstance(k, ScalarType | VectorType) for k in kinds):
        raise c.refuse(f"`{name}` does not take these arguments", node)
    vectors = [k for k in kinds if isinstance(k, VectorType)]
    if vectors:
        if len({k.width for k in vectors}) > 1:
            raise c.refuse(f"`{name}` is given vectors of different widths", node)
        return max(vectors, key=lambda k: (is_float(k.element), k.element.size_bytes))
    scalars = [element_of(k) for k in kinds]
    if len(set(scalars)) == 1:
        return scalars[0]
    kind = scalars[0]
    for other in scalars[1:]:
        kind = common_scalar(kind, other)
    return kind


def float_kind(c: Compiler, name: str, values: Sequence[Code], node: Node) -> Kind:
    """As `common_kind`; whole numbers become floats."""
    kind = common_kind(c, name, values, node)
    if is_float(element_of(kind)):
        return kind
    return VectorType(FLOAT, kind.width) if isinstance(kind, VectorType) else FLOAT


def arguments(c: Compiler, name: str, values: Sequence[Code], node: Node, count: int) -> None:
    """Refuse another number of arguments."""
    if len(values) != count:
        raise c.refuse(f"`{name}` is called with {len(values)} arguments", node)


def spread(values: Sequence[Code], kind: Kind) -> list[Run]:
    """Return all as values of `kind`; scalars beside a vector are left to NumPy."""
    element = element_of(kind)
    return [assigned_as(v, kind if isinstance(v.type, VectorType) else element).run for v in values]


def applied(
    c: Compiler, values: Sequence[Code], runs: Sequence[Run], result: Kind, function: Apply, cost: int = 1
) -> Code:
    """Compile `function` of all arguments; the result has as many components as `result` says."""
    c.cost += cost
    pure = all(v.is_pure for v in values)
    taint = frozenset[str]().union(*(v.taint for v in values))
    run = _applied(function, runs)
    if values and all(v.constant is not None for v in values):
        with np.errstate(all="ignore"):
            known = run(None)  # type: ignore[arg-type]
        return Code(lambda _: known, result, None, known)
    if isinstance(result, VectorType) and not any(isinstance(v.type, VectorType) for v in values):
        raise c.refuse("a function of scalars gives a vector")
    return Code(run, result, None, None, pure, taint)


def _applied(function: Apply, runs: Sequence[Run]) -> Run:
    if len(runs) == 1:
        (one,) = runs
        return lambda f: function(one(f))
    if len(runs) == 2:
        first, second = runs
        return lambda f: function(first(f), second(f))
    if len(runs) == 3:
        a, b, d = runs
        return lambda f: function(a(f), b(f), d(f))
    return lambda f: function(*[each(f) for each in runs])


def elementwise(function: Apply, cost: int = 1, count: int = 1, *, floats: bool = True) -> Function:
    """Return a function that gives what it is given."""

    def compiled(c: Compiler, name: str, values: list[Code], node: Node) -> Code:
        arguments(c, name, values, node, count)
        kind = (float_kind if floats else common_kind)(c, name, values, node)
        return applied(c, values, spread(values, kind), kind, function, cost)

    return compiled
