"""A launch's time as its machine code tells it: what each loop executes, how often, and what a core makes of that.

Each loop takes as long as its busiest unit, or as long as its rounds wait for each other; bytes from beyond the nearest
cache come on top, in part at the same time, as in `model.analytic.cpu`. After Laukemann et al., "Automated instruction
stream throughput prediction", PMBS 2018 (OSACA), and the execution-cache-memory model, Hager et al., 2012.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from model.account import Times
from model.analytic.cpu import MISPREDICTED_CLOCKS, far_us
from model.compiled import moved_to
from model.costs import alike, costs_of
from model.device import Device, Rates
from model.learned.loop_costs import call_cycles
from model.opencl.builtins import BUILTINS
from model.throughput.cpu_code import CpuCode
from model.throughput.cycles import PORTS, Doubles, pressure_of
from model.throughput.processors import Microarchitecture, microarchitecture
from model.throughput.rounds import Rounds, rounds_of
from model.work.counts import OpKind
from model.work.work import Work
from model.work.work_counts import WorkCounts

# Both chosen by eye, with figures of a few families in training in view, measured on a Sapphire Rapids; not fitted.
EFFICIENCY = 0.7  # of a core's units on whole kernels, against what its tables say
WINDOW_SHARE = 0.25  # of the instructions under way, until a branch is mispredicted or the schedulers are full
_CHEAP_CALL = 2.5  # cycles of a function of a few instructions, as a lone `fmin` is measured
_NARROW = 4  # elements: calls of more are vector functions, which a calibration does not see alone
_ISSUE, _ALONE = PORTS.index("issue"), PORTS.index("alone")


def with_code_us(work: Work, counts: WorkCounts, device: Device, times: Times, code: CpuCode) -> float:
    """Return the analytical model's time [us] where a kernel's code is known.

    It is halfway, in logarithms, from what the source gives to what the code gives: they are off independently.
    """
    own_us = code_us(work, counts, device, times, code)
    return times.bounded_us if own_us is None else math.sqrt(times.bounded_us * own_us)


def code_us(work: Work, counts: WorkCounts, device: Device, times: Times, code: CpuCode) -> float | None:
    """Return the time of a launch [us]; None where the code or the device are not known well enough.

    None also where there are barriers: how often the loops between them run is not known well enough yet. `times` are
    those from the source, of which atomics, groups' starts and the launch's floor are taken.
    """
    costs = costs_of(device) if not counts.barriers else None
    rounds = rounds_of(moved_to(code.facts, work.kernel), counts) if costs is not None else None
    if costs is None or rounds is None:
        return None
    core, units = microarchitecture(code.facts.microarchitecture), max(1, device.compute_units)
    ghz = core_ghz(device, core)
    cycles = float(rounds.often @ cycles_of_loops(code, rounds, core, device.rates, units * ghz))
    cycles += MISPREDICTED_CLOCKS * _mispredictions(code, rounds, counts)
    waves = math.ceil(counts.work_groups / units) * units / max(1, counts.work_groups)
    near_us = 1e-3 * cycles * waves / (units * ghz * EFFICIENCY)
    by_name = {name: time_us for name, _, time_us in times.resources}
    busy_us = max(math.hypot(near_us, far_us(counts, device, costs)), by_name["atomics"])
    return max(busy_us + by_name["starting groups"] + by_name["launch floor"], times.floor_us)


def core_ghz(device: Device, core: Microarchitecture) -> float:
    """Return the clock at which the core's tables agree with what was measured: drivers name a base clock."""
    base = (device.clock_mhz or 2500) / 1000
    seen = {cost.name: cost.ns * max(1, device.compute_units) for cost in device.rates.costs}
    known = {"scalar.int": 1 / core.integer, "scalar.divide": core.divide_f32_cycles.narrow}
    found = [cycles / seen[name] for name, cycles in known.items() if seen.get(name, 0.0) > 0]
    return min(max(float(np.median(found)), 0.7 * base), 2.0 * base) if found else base


def cycles_of_loops(code: CpuCode, rounds: Rounds, core: Microarchitecture, rates: Rates, per_ns: float) -> Doubles:
    """Return the cycles of one round of each loop of the profile, without those of the loops in it.

    `per_ns` are the cycles of all cores together in a nanosecond, in which calls were measured.
    """
    facts = code.facts
    parents = {loop.parent for loop in facts.profile}
    pressure = np.zeros((len(facts.profile), len(PORTS)))
    for region, active, own in zip(facts.regions, rounds.active, _pressures(code, core, rates, per_ns), strict=True):
        pressure[region.loop] += active * own
    busiest = np.delete(pressure, _ALONE, axis=1).max(axis=1) + pressure[:, _ALONE]
    chains = np.array([0.0 if at in parents else loop.chain_cycles for at, loop in enumerate(facts.profile)])
    outer = rounds.often[[loop.parent or 0 for loop in facts.profile]]
    executed = pressure[:, _ISSUE] * core.issued * rounds.often / np.maximum(outer, 1e-9)
    # Of short loops, as many go at once as the window holds: their rounds wait for each other side by side.
    found: Doubles = np.maximum(busiest, chains / (1 + WINDOW_SHARE * core.window / np.maximum(executed, 1.0)))
    return found


def _mispredictions(code: CpuCode, rounds: Rounds, counts: WorkCounts) -> float:
    """Return how often a branch of scalar code goes another way than before, by what the analysis makes of the data."""
    executed = [
        (rounds.often[each.loop] * each.instructions, code.facts.profile[each.loop].lanes == 1)
        for each in code.facts.regions
    ]
    every = sum(amount for amount, _ in executed)
    scalar = sum(amount for amount, is_scalar in executed if is_scalar)
    return float(scalar / every) * sum(part.surprises for part in counts.contexts) if every > 0 else 0.0


@lru_cache(maxsize=256)
def _pressures(code: CpuCode, core: Microarchitecture, rates: Rates, per_ns: float) -> tuple[Doubles, ...]:
    """Return what each region keeps busy, calls among it: [regions] of [PORTS]."""
    measured = {cost.name: cost.ns * per_ns for cost in rates.costs}
    found = []
    for region in code.facts.regions:
        own = pressure_of(region.mix, region.instructions, core)
        calls = [each for each in region.mix if each.kind == "call"]
        own[_ISSUE] += sum(each.count * _call_cycles(each.element, each.lanes, measured) for each in calls)
        found.append(own)
    return tuple(found)


def _call_cycles(name: str, lanes: int, measured: dict[str, float]) -> float:
    """Return the cycles of one call: as `measured` where the function was, else as others of its kind."""
    builtin = BUILTINS.get(name)
    if builtin is None:
        return call_cycles(name, lanes)
    if all(kind != OpKind.SPECIAL for kind, _ in builtin.costs):
        return _CHEAP_CALL
    own = measured.get(f"call.{alike(name)}")
    return call_cycles(name, lanes) if own is None or lanes > _NARROW else own
