"""Which sizes of a launch to measure, so that its kernel's other sizes can be predicted through them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from model.analytic.launch_times import launch_times
from model.device import Device
from model.errors import LaunchError
from model.launch.driver_choice import on_device
from model.launch.inference import buffer_bytes
from model.launch.launch import Launch
from model.launch.scaling import FACTORS, Scaled, scale
from model.launch.spec import LaunchSpec
from model.opencl.kernel import Kernel
from model.work.work import Work

_PREFERRED = (1.0, 0.25, 0.5, 2.0)  # of the launch itself: near enough for one line, far enough apart to draw it
_LARGER = tuple(4.0**power for power in range(1, 11))  # for launches that are mostly overhead
_MEMORY_SHARE = 0.25  # of the device's memory: on a CPU it is everybody's
_LONGEST_US = 1e6
_NEAR = 1.3  # a size within this factor of another is no other size


@dataclass(frozen=True, slots=True)
class SizeChoice:
    """`launches` by ascending size, at least the one at hand; `problem` says why there is no other."""

    launches: tuple[Launch, ...]
    problem: str = ""


def sizes_to_measure(
    kernel: Kernel, work: Work, spec: LaunchSpec, launch: Launch, device: Device, most: int = len(_PREFERRED)
) -> SizeChoice:
    """Return the launch itself and a quarter, a half and the double of it, as far as they tell something.

    Sizes that are mostly launch overhead tell little of the work, so larger ones take their place; none takes more
    than a second, or a quarter of the device's memory, unless the launch itself does.
    """
    is_small = not _tells(work, launch, device)
    scaled = scale(kernel, work, spec, launch, device, _LARGER if is_small else FACTORS)
    others = [each for each in scaled.launches if each.launch is not launch]
    fitting = [each for each in others if _fits(kernel, work, each.launch, launch, device)]
    telling = [each for each in fitting if _tells(work, each.launch, device)] or fitting
    chosen = [launch]
    larger = [f for f in (_LARGER if is_small else FACTORS) if f > 2]
    for factor in (*_PREFERRED, *larger, *(f for f in reversed(FACTORS) if f < 1)):
        nearest = min(telling, key=lambda each: max(each.factor / factor, factor / each.factor), default=None)
        if nearest is None or len(chosen) == most:
            break
        if max(nearest.factor / factor, factor / nearest.factor) < _NEAR and _is_new(nearest.launch, chosen):
            chosen.append(nearest.launch)
    problem = _problem(scaled) if len(chosen) == 1 else ""
    return _choice(chosen, launch, problem)


def sizes_as_wanted(
    kernel: Kernel,
    work: Work,
    spec: LaunchSpec,
    launch: Launch,
    device: Device,
    factors: Sequence[float] = (),
    work_items: Sequence[int] = (),
) -> SizeChoice:
    """Return the launch scaled by each of `factors` and to each number of `work_items`, as near as whole groups come.

    Sizes that the device cannot hold are left out, and `problem` says why. Raises LaunchError if none is left.
    """
    asked = (*factors, *(items / launch.work_items for items in work_items))
    scaled = scale(kernel, work, spec, launch, device, asked)
    most = _NEAR * max(each.factor for each in scaled.launches)
    within = [factor for factor in asked if factor <= most or not scaled.stopped]
    nearest = (min(scaled.launches, key=lambda each: abs(each.factor - factor)).launch for factor in within)
    chosen = dict.fromkeys(nearest) if scaled.plan.can_scale else {launch: None}
    problem = scaled.stopped or ("" if scaled.plan.can_scale else _problem(scaled))
    if not chosen:
        raise LaunchError(problem)
    return _choice(chosen, launch, problem)


def _choice(chosen: Iterable[Launch], launch: Launch, problem: str) -> SizeChoice:
    """Return the choice; only the given launch keeps its name, as `large` would not be true of the others."""
    named = (each if each is launch else replace(each, name=None) for each in chosen)
    return SizeChoice(tuple(sorted(named, key=lambda each: each.work_items)), problem)


def _fits(kernel: Kernel, work: Work, candidate: Launch, launch: Launch, device: Device) -> bool:
    if candidate.work_items < launch.work_items:
        return True
    memory = buffer_bytes(kernel, candidate) <= _MEMORY_SHARE * device.global_mem_bytes
    return memory and launch_times(work.count(on_device(candidate, device)), device).total_us <= _LONGEST_US


def _tells(work: Work, candidate: Launch, device: Device) -> bool:
    """Its work takes at least as long as launching it."""
    return launch_times(work.count(on_device(candidate, device)), device).total_us >= 2 * device.rates.launch_floor_us


def _is_new(candidate: Launch, chosen: Sequence[Launch]) -> bool:
    ratios = [candidate.work_items / each.work_items for each in chosen]
    return all(max(ratio, 1 / ratio) >= _NEAR for ratio in ratios)


def _problem(scaled: Scaled) -> str:
    return scaled.plan.reason or scaled.stopped or "no other size of it fits the device"
