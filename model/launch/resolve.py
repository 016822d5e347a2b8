"""What was said of a launch, in numbers: expressions over scalar names evaluated in whatever order they allow."""

from __future__ import annotations

from dataclasses import dataclass, field

from model.errors import LaunchError
from model.launch.expression import Expression, ExpressionError
from model.launch.launch import Fill, Number
from model.launch.spec import LaunchSpec
from model.opencl.kernel import Kernel, ParameterKind

Size3 = tuple[int, int, int]
_MAX_SIZE = 1 << 40


@dataclass(slots=True)
class Said:
    """A `LaunchSpec` in numbers, sorted by what each name is to the kernel. Still incomplete."""

    global_size: tuple[int, ...] | None = None
    local_size: tuple[int, ...] | None = None
    driver_chooses_local: bool = False
    scalars: dict[str, Number] = field(default_factory=dict)
    buffers: dict[str, int] = field(default_factory=dict)
    images: dict[str, Size3] = field(default_factory=dict)
    local_bytes: dict[str, int] = field(default_factory=dict)
    fills: dict[str, Fill] = field(default_factory=dict)


def resolve(kernel: Kernel, spec: LaunchSpec) -> Said:
    """Evaluate `spec`. Raises ExpressionError (with the place) or LaunchError."""
    values = dict(spec.values)
    names = _scalars(kernel, spec, values)
    said = Said(driver_chooses_local=spec.driver_chooses_local)
    for name, value in names.items():
        said.scalars[name] = value
    for name, expressions in values.items():
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
            f"global has {len(said.global_size)} dimension(s), local has {len(said.local_size)}: give both the same number"
        )
    return said


def _kind(kernel: Kernel, name: str) -> ParameterKind | None:
    parameter = kernel.parameter(name)
    return parameter.kind if parameter is not None else None


def _scalars(kernel: Kernel, spec: LaunchSpec, values: dict[str, tuple[Expression, ...]]) -> dict[str, Number]:
    """Numbers for every name that is not a buffer, image or local pointer; defines count as names too."""
    names: dict[str, Number] = {}
    for name, text in spec.options.defines:
        if text.lstrip("-").isdigit():
            names[name] = int(text)
    sized = (ParameterKind.BUFFER, ParameterKind.LOCAL, ParameterKind.IMAGE)
    open_names = {n: e[0] for n, e in values.items() if _kind(kernel, n) not in sized}
    while open_names:
        ready = [n for n, e in open_names.items() if not e.names & open_names.keys()]
        if not ready:
            first, expression = next(iter(open_names.items()))
            raise ExpressionError(f"`{first}` is defined through itself", expression.start, expression.end)
        for name in ready:
            names[name] = open_names.pop(name).evaluate(names)
    return names


def _size(expression: Expression, names: dict[str, Number]) -> int:
    size = expression.evaluate_size(names)
    if size > _MAX_SIZE:
        raise ExpressionError(f"{size} is more than any device holds", expression.start, expression.end)
    return size
