"""Launches of a kernel that nobody described: the first one is inferred, the others vary what may be varied of it."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from math import prod
from types import FrameType

from model.errors import KernelcastError
from model.launch.expression import constant
from model.launch.inference import buffer_bytes, complete
from model.launch.launch import Launch, Origin
from model.launch.plausible import implausible
from model.launch.spec import LaunchSpec
from model.opencl.kernel import Kernel
from model.opencl.options import BuildOptions
from model.opencl.program import Program
from model.work.analyse import analyse
from model.work.work import Work
from profiler.corpus.draw import Draw
from profiler.corpus.kernel import CorpusLaunch, Vary

MOST_BYTES = 192 << 20
MOST_ITEMS = 1 << 24
MOST_BLOCKS = 2e8  # of straight code, executed in a launch: a fraction of a second
_FIRST_BLOCKS = 1e7  # in the first one, since nobody knows yet what they cost
_SMALLEST = 256  # work-items
SHORTEST_US, LONGEST_US = 3.0, 300_000.0
_LOCAL_SIZES: tuple[int | None, ...] = (None, 32, 64, 128, 256)
_LEAST_SIZE = 16  # a scalar from here on is taken for a size
_FACTORS = (1 / 64, 1 / 16, 1 / 4, 4.0, 16.0, 64.0)


class TooLate(KernelcastError):
    """The analysis of a kernel took longer than it may."""


class TooLarge(KernelcastError):
    """No launch of a kernel is small enough."""


class NoProgramsLaunch(KernelcastError):
    """Whatever is guessed, the kernel divides by zero, or overflows where that decides what it does."""


@contextmanager
def time_limit(seconds: int) -> Iterator[None]:
    """Raise TooLate in the block once that much processor time is used up; in a process' first thread only.

    Wall-clock time does not count: a timing may have stopped this process meanwhile.
    """

    def stop(_signal: int, _frame: FrameType | None) -> None:
        raise TooLate(f"not analysed within {seconds} s")

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def first_launch(program: Program, kernel: Kernel, options: BuildOptions) -> tuple[Work, Launch]:
    """Infer the first launch of a kernel. Raises KernelcastError where the arguments cannot be inferred."""
    work = analyse(program, kernel)
    launch = complete(kernel, work, LaunchSpec(options=options, origin=Origin.INFERRED))
    while (launch.work_items > _SMALLEST) and (
        buffer_bytes(kernel, launch) > MOST_BYTES or blocks(work, launch) > _FIRST_BLOCKS
    ):
        smaller = complete(kernel, work, _spec(launch, _scaled(launch.global_size, 1 / 4, launch.local_size)))
        if smaller.work_items >= launch.work_items:
            break
        launch = smaller
    if blocks(work, launch) > MOST_BLOCKS:
        raise TooLarge("whatever its launch, this kernel does too much to be timed many times")
    if reasons := implausible(work, launch):
        raise NoProgramsLaunch(reasons[0].text.format(line=reasons[0].line + 1))
    return work, launch


def blocks(work: Work, launch: Launch) -> float:
    """Return how many pieces of straight code a launch executes in all."""
    return sum(work.walk(launch).runs.values())


def further_launches(kernel: Kernel, work: Work, first: Launch, runtime_us: float, draw: Draw) -> list[CorpusLaunch]:
    """Up to three: another data size, another global size, another local size. `runtime_us` is that of `first`."""
    found: list[CorpusLaunch] = []
    keys = {first.key}
    for vary in (Vary.DATA, Vary.GLOBAL, Vary.LOCAL):
        launch = _varied(kernel, work, first, vary, runtime_us, draw.child(vary.value))
        if launch is not None and launch.key not in keys and _is_allowed(kernel, work, launch):
            keys.add(launch.key)
            found.append(CorpusLaunch(launch, _what_varies(first, launch, vary), data_of(launch)))
    return found


def first_of(launch: Launch) -> CorpusLaunch:
    return CorpusLaunch(launch, Vary.FIRST, data_of(launch))


def _varied(kernel: Kernel, work: Work, first: Launch, vary: Vary, runtime_us: float, draw: Draw) -> Launch | None:
    try:
        match vary:
            case Vary.DATA:
                return _other_data(kernel, work, first, runtime_us, draw)
            case Vary.GLOBAL:
                size = _scaled(first.global_size, _factor(runtime_us, draw), first.local_size)
                keeps = bool(_sizes_of(first)) and draw.chance(0.6)
                return complete(kernel, work, _spec(first, size, keeps_scalars=keeps))
            case _:
                return _other_local(kernel, work, first, draw)
    except KernelcastError:
        return None  # no such launch of this kernel


def _other_data(kernel: Kernel, work: Work, first: Launch, runtime_us: float, draw: Draw) -> Launch | None:
    """Return the same global size with larger or smaller sizes among the scalars."""
    sizes = _sizes_of(first)
    if not sizes:
        return None
    factor = _factor(runtime_us, draw)
    several = len(sizes) > 1 and draw.chance(0.5)
    chosen = dict(draw.sample(list(sizes.items()), 1)) if several else sizes
    factor **= 1 / len(chosen)
    values = {**dict(first.scalars), **{name: max(1, int(value * factor)) for name, value in chosen.items()}}
    return complete(
        kernel, work, _spec(replace(first, scalars=tuple(values.items())), first.global_size, keeps_scalars=True)
    )


def _other_local(kernel: Kernel, work: Work, first: Launch, draw: Draw) -> Launch | None:
    if kernel.attributes.reqd_work_group_size is not None:
        return None
    for wanted in draw.shuffled(_LOCAL_SIZES):
        local = _shape(wanted, first.global_size)
        if local == first.local_size or (wanted is not None and local is None):
            continue
        spec = _spec(first, first.global_size, keeps_scalars=True)
        if local is None:
            spec = replace(spec, local_size=None, driver_chooses_local=True)
        else:
            spec = replace(spec, local_size=tuple(constant(side) for side in local))
        return complete(kernel, work, spec)
    return None


def _shape(items: int | None, global_size: tuple[int, ...]) -> tuple[int, ...] | None:
    """Return a group of so many work-items that divides the global size, as square as can be."""
    if items is None:
        return None
    sides = [1] * len(global_size)
    while prod(sides) < items:
        at = min(
            (d for d in range(len(sides)) if global_size[d] % (2 * sides[d]) == 0), key=lambda d: sides[d], default=None
        )
        if at is None:
            return None
        sides[at] *= 2
    return tuple(sides)


def _spec(launch: Launch, global_size: tuple[int, ...], *, keeps_scalars: bool = False) -> LaunchSpec:
    local = launch.local_size
    return LaunchSpec(
        global_size=tuple(constant(side) for side in global_size),
        local_size=tuple(constant(side) for side in local) if local else None,
        driver_chooses_local=local is None,
        values=tuple((name, (constant(value),)) for name, value in launch.scalars) if keeps_scalars else (),
        options=launch.options,
        origin=Origin.INFERRED,
    )


def _scaled(size: tuple[int, ...], factor: float, local: tuple[int, ...] | None) -> tuple[int, ...]:
    """Return each side by the same share of `factor`, in whole groups."""
    share = factor ** (1 / max(1, sum(side > 1 for side in size)))
    steps = local or tuple(min(side, 16) for side in size)
    return tuple(
        side if side == 1 else max(step, round(side * share / step) * step)
        for side, step in zip(size, steps, strict=True)
    )


def _factor(runtime_us: float, draw: Draw) -> float:
    """To come from `runtime_us` to a time that is drawn evenly in the logarithm, as far as one step goes."""
    wanted = draw.log_real(SHORTEST_US, LONGEST_US) / max(0.1, runtime_us)
    return min(_FACTORS, key=lambda factor: abs(_ratio(factor, wanted)))


def _ratio(one: float, other: float) -> float:
    return max(one / other, other / one)


def _sizes_of(launch: Launch) -> dict[str, int]:
    return {name: value for name, value in launch.scalars if isinstance(value, int) and _LEAST_SIZE <= value < 1 << 28}


def data_of(launch: Launch) -> int:
    """Return the elements of the largest argument: what the kernel works on is not known better."""
    images = [prod(max(1, side) for side in size) for _, size in launch.images]
    return max([length for _, length in launch.buffers] + images, default=0)


def _what_varies(first: Launch, launch: Launch, vary: Vary) -> Vary:
    if vary is Vary.GLOBAL and launch.scalars != first.scalars:
        return Vary.FRESH
    return vary


def _is_allowed(kernel: Kernel, work: Work, launch: Launch) -> bool:
    """Return whether it is small enough to be timed many times, and a program may make it."""
    if buffer_bytes(kernel, launch) > MOST_BYTES or not 1 <= launch.work_items <= MOST_ITEMS:
        return False
    return blocks(work, launch) <= MOST_BLOCKS and not implausible(work, launch)
