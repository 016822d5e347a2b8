"""A launch that is written down, asked about with another global size: what followed the old size follows the new one.

`--global 65536` on a kernel whose annotation says `global=n n=8192 items=n` means a larger problem, not work-items
beyond the ends of its buffers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from itertools import product
from math import prod

from model.launch.access_bounds import AccessBounds
from model.launch.driver_choice import effective_local_size
from model.launch.expression import Expression
from model.launch.launch import Assumption, Launch
from model.launch.resolve import resolve
from model.launch.scaling import Sizes, evaluated, spec_at
from model.launch.scaling_plan import Plan, plan
from model.launch.source_hints import gather
from model.launch.spec import LaunchSpec
from model.launch.vectors import with_components
from model.opencl.kernel import Kernel, ParameterKind
from model.opencl.types import PointerType
from model.work.work import Work

_MOST_DRIVERS = 3
_NAMED = 4


def refitted(
    kernel: Kernel, work: Work, spec: LaunchSpec, complete: Callable[[LaunchSpec], Launch]
) -> tuple[LaunchSpec, bool]:
    """Return `spec` with what goes with its global size, and whether that is another than the written one.

    Lengths and arguments follow, with notes on what changed; nothing that the request itself gives is touched.
    `complete` is asked for the launch that is written down, which many requests have in common. Raises KernelcastError
    as it does.
    """
    if spec.over is None:
        return spec, False
    base, request = (with_components(kernel, each) for each in spec.over)
    plain = replace(spec, over=None)
    launch = complete(base)
    wanted = resolve(kernel, plain).global_size
    if wanted is None or wanted == launch.global_size:
        return plain, False
    if _gives_all_of(base, request):
        return plain, True
    return _scaled(kernel, work, plain, base, request, launch, wanted), True


def _gives_all_of(base: LaunchSpec, request: LaunchSpec) -> bool:
    """Return whether nothing is left that could follow the global size."""
    named, filled = (dict(each).keys() for each in (base.values, base.fills))
    return named <= dict(request.values).keys() and filled <= dict(request.fills).keys()


def _scaled(
    kernel: Kernel,
    work: Work,
    plain: LaunchSpec,
    base: LaunchSpec,
    request: LaunchSpec,
    launch: Launch,
    wanted: tuple[int, ...],
) -> LaunchSpec:
    if len(wanted) != len(launch.global_size):
        return plain
    planned = plan(kernel, base, launch, effective_local_size(launch, kernel), gather(work))
    if not planned.can_scale:
        return plain
    given = {name for name, _ in request.values}
    drivers = _drivers(planned, launch, wanted)
    if drivers is None:
        return plain
    made = spec_at(planned, launch, Sizes(wanted, drivers))
    before = dict(base.values)
    values = {name: parts for name, parts in made.values if name in before and name not in given}
    fills = {name: fill for name, fill in made.fills if name not in dict(request.fills)}
    changed = [name for name, parts in values.items() if parts != before[name]]
    return replace(
        plain,
        values=tuple({**dict(plain.values), **values}.items()),
        fills=tuple({**dict(plain.fills), **fills}.items()),
        notes=(*plain.notes, *_note(wanted, launch, changed, values)),
    )


def _note(
    wanted: tuple[int, ...], launch: Launch, changed: list[str], values: Mapping[str, tuple[Expression, ...]]
) -> Iterator[str]:
    if changed:
        said = [f"`{name}`={', '.join(str(part.evaluate({})) for part in values[name])}" for name in changed]
        more = f" and {len(said) - _NAMED} more" if len(said) > _NAMED else ""
        sizes = (" x ".join(map(str, each)) for each in (wanted, launch.global_size))
        yield f"scaled with the global size ({' instead of '.join(sizes)}): {', '.join(said[:_NAMED])}{more}"


def _drivers(planned: Plan, launch: Launch, wanted: tuple[int, ...]) -> dict[str, int] | None:
    """Values of the names that the global size is written with, so that it is `wanted`; None where there are none."""
    if not planned.drivers:
        return {}
    if len(planned.drivers) > _MOST_DRIVERS:
        return None
    ratios = [new / old for new, old in zip(wanted, launch.global_size, strict=True)]
    tries = []
    for growth in planned.drivers:
        at = float(growth.at)
        scaled = [at * ratio for ratio in ratios] + [at * prod(ratios) ** growth.power]
        tries.append(list(dict.fromkeys(max(1, round(value)) for value in (*scaled, *wanted))))
    for values in product(*tries):
        drivers = {growth.name: value for growth, value in zip(planned.drivers, values, strict=True)}
        if evaluated(planned.spec, planned.spec.global_size or (), drivers) == wanted:
            return drivers
    return None


def with_misfits(kernel: Kernel, work: Work, spec: LaunchSpec, launch: Launch) -> Launch:
    """Return `launch`, which completes the refitted `spec`, with notes on the given lengths that it reaches beyond."""
    notes = tuple(Assumption("sizes", text) for text in _misfits(kernel, work, spec, launch))
    known = len(spec.notes)  # the launch's first assumptions
    assumptions = (*launch.assumptions[:known], *notes, *launch.assumptions[known:])
    return replace(launch, assumptions=assumptions) if notes else launch


def _misfits(kernel: Kernel, work: Work, spec: LaunchSpec, launch: Launch) -> Iterator[str]:
    spans, given = AccessBounds(work, launch).spans, {name for name, _ in spec.values}
    for name, elements in launch.buffers:
        parameter = kernel.parameter(name)
        if name not in given or name not in spans or parameter is None or parameter.kind is not ParameterKind.BUFFER:
            continue
        size = parameter.type.pointee.size_bytes if isinstance(parameter.type, PointerType) else 0
        if size and elements * size < spans[name].high < _MOST_BYTES:
            reached = -(-int(spans[name].high) // size)
            yield f"`{name}` does not fit this global size: it has {elements} elements, and {reached} are reached"


_MOST_BYTES = 1 << 40  # beyond, only the data bound the index
