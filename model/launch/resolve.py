"""What was said of a launch, in numbers: expressions over scalar names evaluated in whatever order they allow."""

from __future__ import annotations

from dataclasses import dataclass, field

from model.errors import LaunchError
from model.launch.expression import Expression, ExpressionError
from model.launch.launch import Fill, Number
from model.launch.names import defined_numbers
from model.launch.names import resolve as work_out
from model.launch.spec import LaunchSpec
from model.launch.vectors import with_components
from model.opencl.kernel import Kernel, ParameterKind

Size3 = tuple[int, int, int]
_MAX_SIZE = 1 << 40


@dataclass(slots=True)
class ResolvedSpec:
    """A `LaunchSpec` in numbers, sorted by what each name is to the kernel. Still incomplete."""

    global_size: tuple[int, ...] | None = None
    local_size: tuple[int, ...] | None = None
    driver_chooses_local: bool = False
    scalars: dict[str, Number] = field(default_factory=dict)
    buffers: dict[str, int] = field(default_factory=dict)
    images: dict[str, Size3] = field(default_factory=dict)
    local_bytes: dict[str, int] = field(default_factory=dict)
    fills: dict[str, Fill] = field(default_factory=dict)


def resolve(kernel: Kernel, spec: LaunchSpec) -> ResolvedSpec:
    """Evaluate `spec`. Raises ExpressionError (with the place) or LaunchError."""
    spec = with_components(kernel, spec)
    names = _names(spec)
    said = ResolvedSpec(driver_chooses_local=spec.driver_chooses_local)
    sized = (ParameterKind.BUFFER, ParameterKind.LOCAL, ParameterKind.IMAGE)
    said.scalars = {name: value for name, value in names.items() if _kind(kernel, name) not in sized}
    for name, expressions in spec.values:
        kind = _kind(kernel, name)
        if kind is ParameterKind.BUFFER:
            said.buffers[name] = _size(expressions[0], names)
        elif kind is ParameterKind.LOCAL:
            said.local_bytes[name] = _size(expressions[0], names)
        elif kind is ParameterKind.IMAGE:
            sizes = [_size(e, names) for e in expressions] + [1, 1, 1]
            said.images[name] = (sizes[0], sizes[1], sizes[2])
    if spec.global_size is not None:
        said.global_size = tuple(_size(e, names) for e in spec.global_size)
    if spec.local_size is not None:
        said.local_size = tuple(_size(e, names) for e in spec.local_size)
    for name, fill in spec.fills:
        said.fills[name] = fill.evaluate(names)
    if said.global_size and said.local_size and len(said.global_size) != len(said.local_size):
        raise LaunchError(
            f"global has {len(said.global_size)} dimension(s), local has {len(said.local_size)}: "
            "give both the same number"
        )
    return said


def _kind(kernel: Kernel, name: str) -> ParameterKind | None:
    parameter = kernel.parameter(name)
    return parameter.kind if parameter is not None else None


def _names(spec: LaunchSpec) -> dict[str, Number]:
    """Numbers for every name that expressions may use: scalars given, and `-D` names that are plain numbers."""
    known = defined_numbers(spec.options)
    resolution = work_out(spec.values, known)
    for error in resolution.errors.values():
        raise error
    names = {**known, **resolution.scalars}
    for _, expressions in spec.values:
        for expression in expressions:
            expression.evaluate(names)  # raises for a name that nothing gives
    return names


def _size(expression: Expression, names: dict[str, Number]) -> int:
    size = expression.evaluate_size(names)
    if size > _MAX_SIZE:
        raise ExpressionError(f"{size} is more than any device holds", expression.start, expression.end)
    return size
