"""Advice on the launch: as many work-groups as the device can take at a time, of sizes that fill its lanes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import ceil

from model.advice.advice import Advice, AdviceCode, sizes_text
from model.advice.situation import WAKING_US, Situation
from model.analytic.operations import CPU_LANES

_LEAST_IDLE = 0.2  # of the units or lanes; a launch can do without fewer
_MOSTLY = 0.5
_WIDEST = 64
_IN_VECTORS = ("floating point", "integer", "special functions")  # resources of a CPU's vector units


def too_few_groups(situation: Situation) -> Iterator[Advice]:
    """Fewer work-groups than compute units, so that some of these have nothing to do.

    Silent where a few units more would not matter, where the number of groups is not known for sure (the global size
    was assumed, the driver chooses the local size), and where the launch is so short that its floor is most of it, or
    that a CPU would hardly have woken the others before it ends.
    """
    counts, units, device = situation.counts, situation.device.core_count, situation.device
    groups = counts.work_groups
    if not situation.is_gpu and situation.runtime_us < WAKING_US:
        return
    if groups > units * (1 - _LEAST_IDLE) or situation.is_assumed("global") or not situation.is_local_size_given:
        return
    lanes = device.preferred_multiple if situation.is_gpu else CPU_LANES
    most = max(units, device.rates.groups_to_fill)
    # The same work in as many groups of this size as fill the device.
    filled = replace(counts, work_groups=most, work_items=most * max(1, counts.work_items // max(1, groups)))
    # The same work on all units takes its share of the time, at the best: what is done does not become less.
    most_us = situation.runtime_us * (1 - groups / units)
    gain_us = min(most_us, situation.runtime_us - situation.predicted_us(filled))
    if not situation.is_worth(gain_us):
        return
    could_split = counts.work_items // lanes >= units
    smaller = counts.work_items // units // lanes * lanes
    help_ = f"groups of {smaller} or fewer" if could_split else "the same work spread over more work-items"
    yield Advice(
        AdviceCode.TOO_FEW_GROUPS,
        f"{_counted(groups, 'work-group')} of {sizes_text(situation.local_size)} work-items cannot use more than "
        f"{groups} of the {units} compute units: {units - groups} stay idle; {help_} would use them all",
        gain_us=gain_us,
    )


def local_size_multiple(situation: Situation) -> Iterator[Advice]:
    """Yield a work-group size that leaves lanes of the device empty.

    On a GPU: not a multiple of the lanes that run in step. On a CPU, whose compilers put neighbours along dimension 0
    side by side in a vector: a group that is narrower than a vector there.

    Silent where the driver or we chose the size; where less than a fifth of the lanes stays empty; where there are not
    enough work-items for full lanes on all compute units, so that larger groups would leave units idle instead; on a
    CPU also where work-items go one by one anyway and where dimension 0 has no more to give; and for short launches.
    """
    if not situation.is_local_size_given or not situation.is_long:
        return
    lanes = situation.device.preferred_multiple if situation.is_gpu else CPU_LANES
    if situation.counts.work_items < lanes * situation.device.core_count:
        return
    yield from _partly_filled(situation) if situation.is_gpu else _too_narrow(situation)


def _partly_filled(situation: Situation) -> Iterator[Advice]:
    items, lanes = situation.group_items, situation.device.preferred_multiple
    turns = ceil(items / lanes)
    idle = 1 - items / (turns * lanes)
    if idle < _LEAST_IDLE:
        return
    better = [size for size in ((turns - 1) * lanes, turns * lanes) if size and size <= _most(situation)]
    gain_us = max((situation.gain_of_groups_us(size) for size in better), default=0.0)
    if not situation.is_worth(gain_us):
        return
    yield Advice(
        AdviceCode.LOCAL_SIZE_MULTIPLE,
        f"work-groups of {_size(situation)} work-items fill {items / lanes:.3g} times the {lanes} lanes that run in "
        f"step: {100 * idle:.0f} % of the lanes stay empty; {' or '.join(map(str, better))} would fill them",
        gain_us=gain_us,
    )


def _too_narrow(situation: Situation) -> Iterator[Advice]:
    width, size = situation.local_size[0], situation.launch.global_size[0]
    counts = situation.counts
    one_by_one = sum(op.count for op in counts.scalar_ops) > (1 - _MOSTLY) * sum(op.count for op in counts.ops)
    # A kernel for one work-item a group is written for a CPU; it has loops of its own to vectorise.
    better = next((wide for wide in range(CPU_LANES, _WIDEST + 1) if size % wide == 0), None)
    if width * 2 > CPU_LANES or better is None or situation.group_items == 1 or one_by_one:
        return
    # Analytical models of CPUs take full vectors for granted.
    idle = 1 - width / CPU_LANES
    gain_us = idle * situation.prediction.account.time_of(*_IN_VECTORS)
    if not situation.is_worth(gain_us):
        return
    yield Advice(
        AdviceCode.LOCAL_SIZE_MULTIPLE,
        f"work-groups of {_size(situation)} are {width} wide in dimension 0, where compilers for CPUs put {CPU_LANES} "
        f"work-items side by side: {100 * idle:.0f} % of the vector stays empty; a dimension 0 of "
        f"{better} would fill it",
        gain_us=gain_us,
    )


def _size(situation: Situation) -> str:
    size = sizes_text(situation.local_size)
    return f"{size} = {situation.group_items}" if "x" in size and situation.is_gpu else size


def _most(situation: Situation) -> int:
    return situation.device.max_work_group_size


def _counted(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
