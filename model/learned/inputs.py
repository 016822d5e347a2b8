"""What the boosted trees see of a question: its facts in one row, with analytical times over their sum.

Of the device they see which runtime and make of processor it has, and how many units: its rates speak through the
analytical model, so that the trees carry to machines that they never saw.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from model.learned.compiled_facts import COMPILED_FACT_NAMES
from model.learned.device_facts import DEVICE_FACT_NAMES
from model.learned.launch_facts import LAUNCH_FACT_NAMES
from model.learned.machine_facts import CYCLES
from model.learned.question import ANALYTIC_FACT_NAMES

Floats = npt.NDArray[np.float32]
_LEAST = -20.0  # log2 of the share below which a resource does not matter
_SEEN = ("shape.is_pocl", "shape.is_intels", "shape.is_amd", "shape.compute_units")
_OF_DEVICE = [DEVICE_FACT_NAMES.index(name) for name in _SEEN]
_CHAIN, _UNITS_OF_DEVICE = (DEVICE_FACT_NAMES.index(n) for n in ("compute.chain_per_unit", "shape.compute_units"))
INPUT_NAMES = (*LAUNCH_FACT_NAMES, *(f"analytic.{name}" for name in ANALYTIC_FACT_NAMES), *_SEEN)
_CYCLES = [COMPILED_FACT_NAMES.index(f"machine.cycles.{name}") for name in CYCLES]
_ITEMS, _ALL_ITEMS, _ROUNDS = (
    LAUNCH_FACT_NAMES.index(name) for name in ("log.active_items", "log.items", "loop.rounds")
)
_TOTAL, _UNITS = len(LAUNCH_FACT_NAMES), INPUT_NAMES.index("shape.compute_units")
_A_SECOND = 12.0  # log2 of instructions in a microsecond, roughly


def source_inputs(launch: Floats, analytic: Floats, device: Floats) -> Floats:
    """[rows, launch facts], [rows, analytic facts], [rows, device facts] -> [rows, INPUT_NAMES]."""
    total = analytic[:, :1]
    shares = np.maximum(analytic[:, 1:] - total, _LEAST)
    return np.concatenate([launch, total, shares, device.take(_OF_DEVICE, axis=1)], axis=1, dtype=np.float32)


def compiled_inputs(source: Floats, compiled: Floats) -> Floats:
    """[rows, INPUT_NAMES], [rows, compiled facts] -> both and what `_code` derives, side by side [rows, numbers]."""
    return np.concatenate([source, compiled, _code(source, compiled)], axis=1, dtype=np.float32)


def _code(source: Floats, compiled: Floats) -> Floats:
    """Return the time of the code at one instruction a clock over the analytical time.

    Three columns: executed once through, with its loops, and with its loops in their own cycles.
    """

    def amount(name: str) -> Floats:
        found: Floats = np.exp2(compiled[:, COMPILED_FACT_NAMES.index(name)]) - 1
        return found

    def lanes(name: str) -> Floats:
        return np.maximum(compiled[:, COMPILED_FACT_NAMES.index(name)], 1)

    every = source[:, _ITEMS] - source[:, _UNITS] - source[:, _TOTAL] - _A_SECOND
    rounds = np.maximum(np.exp2(np.minimum(source[:, _ROUNDS], 60)), 1)
    inner, outer, whole = (amount(f"{n}instructions") for n in ("loop.inner_", "loop.outer_", ""))
    inside, outside = inner / lanes("loop.inner_lanes"), outer / lanes("loop.outer_lanes")
    around = np.maximum(outer - inner, 0) / lanes("loop.outer_lanes")
    found = (
        np.log2(outside + 1) + every,
        np.log2(inside * rounds + 1) + every,
        np.log2(around + inside * rounds + 1) + every,
        np.log2(whole + 1) + every,
        np.log2(np.maximum(whole - inner, 0) + inner * rounds + 1) + every,
        np.log2(inside + 1),
        np.log2(outside + 1),
    )
    items = source[:, _ALL_ITEMS] - source[:, _UNITS] - source[:, _TOTAL] - _A_SECOND
    cycles = compiled[:, _CYCLES] + items[:, None]
    return np.concatenate([np.stack(found, axis=1), cycles], axis=1).astype(np.float32)


def log2_pace(device: Floats) -> Floats:
    """Return how fast the device's cores are together, from its features [rows, device features] -> [rows].

    log2 of multiply-adds in a nanosecond, each of which waits for the one before on its core. That follows the clock
    alone: what a compiler makes of a loop, as the rate of vector code does, says nothing of other code.
    """
    found: Floats = device[:, _CHAIN] + device[:, _UNITS_OF_DEVICE]
    return found
