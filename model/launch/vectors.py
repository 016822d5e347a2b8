"""Vectors that are given whole: `size=(512, 512)` says what `size.x=512 size.y=512` says."""

from __future__ import annotations

from dataclasses import replace

from model.errors import LaunchError
from model.launch.expression import Expression
from model.launch.spec import LaunchSpec
from model.opencl.kernel import Kernel, ParameterKind
from model.opencl.types import StructType, Type, VectorType, lane_names

MOST_COMPONENTS = 16


def vector_named(kernel: Kernel, name: str) -> VectorType | None:
    """Return the type of a parameter, or of a struct's member `p.size`, if it is a vector."""
    head, *path = name.split(".")
    parameter = kernel.parameter(head)
    kind: Type | None = parameter.type if parameter is not None else None
    for member in path:
        kind = kind.member(member) if isinstance(kind, StructType) else None
    return kind if isinstance(kind, VectorType) else None


def with_components(kernel: Kernel, spec: LaunchSpec) -> LaunchSpec:
    """`spec` with each vector's values by component; the very same object where none is given whole.

    Of a whole vector and one of its components the one that was given later counts. Raises LaunchError for a wrong
    number of values.
    """
    if all(len(parts) == 1 for _, parts in spec.values):
        return spec
    values: dict[str, tuple[Expression, ...]] = {}
    is_changed = False
    for name, parts in spec.values:
        kind = vector_named(kernel, name) if len(parts) > 1 else None
        if kind is None:
            parameter = kernel.parameter(name)
            if len(parts) > 1 and parameter is not None and parameter.kind is ParameterKind.SCALAR:
                raise LaunchError(f"`{name}` takes one value; only images and vectors take several")
            values[name] = parts
            continue
        wrong = count_problem(name, kind, len(parts))
        if wrong is not None:
            raise LaunchError(wrong)
        is_changed = True
        for lane, part in enumerate(parts):
            spellings = lane_names(name, lane)
            for spelling in spellings:
                values.pop(spelling, None)
            values[spellings[-1]] = (part,)
    return replace(spec, values=tuple(values.items())) if is_changed else spec


def count_problem(name: str, kind: VectorType, count: int) -> str | None:
    """Return what is wrong with so many values for a vector; one stands for all components."""
    if count in (1, kind.width):
        return None
    return f"`{name}` is a {kind.name} and takes {kind.width} values, or one for all of them, not {count}"
