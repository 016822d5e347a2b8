"""The same launch of the same kernel for a smaller or a larger problem: sizes, lengths and contents go along."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from math import lcm, prod

from model.device import Device
from model.errors import LaunchError
from model.launch.driver_choice import effective_local_size
from model.launch.expression import Expression, constant
from model.launch.fill import FillSpec
from model.launch.inference import complete
from model.launch.launch import Launch, Number
from model.launch.names import defined_numbers, resolve
from model.launch.scaling_plan import Growth, Plan, plan
from model.launch.source_hints import gather
from model.launch.spec import LaunchSpec
from model.opencl.kernel import Kernel
from model.work.work import Work

FACTORS = tuple(2.0**power for power in range(-6, 7))


@dataclass(frozen=True, slots=True)
class ScaledLaunch:
    """`factor` is what the number of work-items really took, whole work-groups considered."""

    factor: float
    launch: Launch


@dataclass(frozen=True, slots=True)
class Scaled:
    """`launches` by ascending size, the one at hand among them; `stopped` says why there are none beyond."""

    plan: Plan
    launches: tuple[ScaledLaunch, ...] = ()
    stopped: str = ""


def scale(
    kernel: Kernel,
    work: Work,
    spec: LaunchSpec,
    launch: Launch,
    device: Device | None = None,
    factors: Iterable[float] = FACTORS,
) -> Scaled:
    """`launch`, which completes `spec`, with its problem multiplied by each of `factors`.

    The local size stays, and every global size is a multiple of it. Sizes that need more than the device has end
    the row. A launch that holds no size has none but itself; the plan says why.
    """
    local = effective_local_size(launch, kernel)
    planned = plan(kernel, spec, launch, local, gather(work))
    found = {launch.work_items: ScaledLaunch(1.0, launch)}
    stopped = ""
    for factor in sorted(factors) if planned.can_scale else ():
        try:
            size = _sizes(planned, launch, local, factor)
            items = prod(size.global_size)
            if items in found:
                continue
            made = complete(kernel, work, spec_at(planned, launch, size), device)
        except LaunchError as error:
            if factor < 1:
                continue
            stopped = error.message
            break
        found[items] = ScaledLaunch(items / launch.work_items, made)
    return Scaled(planned, tuple(found[items] for items in sorted(found)), stopped)


@dataclass(frozen=True, slots=True)
class Sizes:
    """The new global size, and the new values of the names that it is written with."""

    global_size: tuple[int, ...]
    drivers: Mapping[str, int]


def _sizes(planned: Plan, launch: Launch, local: tuple[int, ...], factor: float) -> Sizes:
    if not planned.drivers:
        sizes = (
            size if not power else group * max(1, round(size * factor**power / group))
            for size, group, power in zip(launch.global_size, local, planned.sides, strict=True)
        )
        return Sizes(tuple(sizes), {})
    # As near as possible first; then in whole groups, as `global=(W, H) local=(16, 16)` wants it.
    for step in (1, lcm(*local)):
        drivers = {g.name: _rounded(float(g.at) * factor**g.power, step) for g in planned.drivers}
        size = evaluated(planned.spec, planned.spec.global_size or (), drivers)
        if all(s % group == 0 for s, group in zip(size, local, strict=True)):
            return Sizes(size, drivers)
    drivers = {g.name: _rounded(float(g.at) * factor**g.power, 1) for g in planned.drivers}
    size = evaluated(planned.spec, planned.spec.global_size or (), drivers)
    return Sizes(tuple(-(-s // group) * group for s, group in zip(size, local, strict=True)), drivers)


def evaluated(spec: LaunchSpec, parts: tuple[Expression, ...], changed: Mapping[str, int]) -> tuple[int, ...]:
    known = defined_numbers(spec.options)
    values = [(n, (constant(changed[n]),) if n in changed else e) for n, e in spec.values]
    names = {**known, **resolve(values, known).scalars}
    return tuple(part.evaluate_size(names) for part in parts)


def spec_at(planned: Plan, launch: Launch, size: Sizes) -> LaunchSpec:
    ratios = [new / old for new, old in zip(size.global_size, launch.global_size, strict=True)]
    values = dict(planned.spec.values)
    renewed: dict[Number, Number] = {}  # what a length was, and what it is now
    for name, value in size.drivers.items():
        values[name] = (constant(value),)
    for growth in planned.followers:
        ratio = ratios[growth.dimension] if growth.dimension is not None else prod(ratios) ** growth.power
        values[growth.name] = tuple(constant(_rounded(_plain(part) * ratio, 1)) for part in values[growth.name])
        renewed[growth.at] = _rounded(float(growth.at) * ratio, 1)
    renewed[launch.work_items] = prod(size.global_size)
    return replace(
        planned.spec,
        global_size=tuple(constant(s) for s in size.global_size),
        values=tuple(values.items()),
        fills=tuple((name, _fill(fill, renewed, prod(ratios))) for name, fill in planned.spec.fills),
        range=None,
    )


def _fill(fill: FillSpec, renewed: Mapping[Number, Number], ratio: float) -> FillSpec:
    """Row pointers end where the rows do, and indices stay below the length of what they point into."""
    if any(part.names for part in fill.arguments):
        return fill
    match fill.kind:
        case "csr_rows" | "csr_lengths":
            nonzeros, *skew = fill.arguments
            return replace(fill, arguments=(constant(_rounded(_plain(nonzeros) * ratio, 1)), *skew))
        case "randint" | "sorted" | "clustered" | "skewed":
            low, high, *run = fill.arguments
            return replace(fill, arguments=(low, constant(renewed.get(_plain(high), _plain(high))), *run))
        case _:
            return fill


def _plain(part: Expression) -> Number:
    return part.evaluate({})


def _rounded(value: float, step: int) -> int:
    return max(1, round(value / step)) * step


__all__ = ["FACTORS", "Growth", "Plan", "Scaled", "ScaledLaunch", "scale"]
