"""The state of all lanes that run together: variables, who is active, and what was spent.

Values are never changed in place, so that keeping a state costs nothing and telling whether a variable was set is a
question of identity.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from model.sampling.counters import Context, Meter
from model.sampling.estimate import Draws, Unfinished, scaled_up
from model.sampling.memory import Memory
from model.sampling.values import Array, Value


class Lanes:
    """`mask` None: all lanes of this width are active. `lane`: their numbers in the sample; None where they are all.

    `declared`: how many lanes were active when a variable was declared; where as many are when it is set, no other
    lane's value is to be kept. `stands_for`: the work-items of the launch for each lane. `draws`: what atomic counters
    gave out, by the places of the calls. `loops`: how many are being run, one in the other. `unfinished`: those that
    the budget ended, innermost first; `cut`: those behind which the run went on.
    """

    __slots__ = (
        "active",
        "arguments",
        "context",
        "continued",
        "cut",
        "declared",
        "draws",
        "group",
        "items",
        "lane",
        "loops",
        "mask",
        "memory",
        "meter",
        "returned",
        "stands_for",
        "subgroup",
        "unfinished",
        "values",
        "width",
    )  # fmt: skip

    def __init__(self, items: int, slots: int, memory: Memory, meter: Meter, context: Context) -> None:
        self.items = self.width = self.active = items
        self.values: list[Any] = [None] * slots
        self.declared: list[int] = [items] * slots
        self.mask: Array | None = None
        self.lane: Array | None = None
        self.returned: Array | None = None
        self.continued: Array | None = None
        self.memory = memory
        self.meter = meter
        self.context = context
        self.subgroup: Array = np.arange(items, dtype=np.int64)
        self.group: Array = np.zeros(items, np.int64)
        self.stands_for = 1.0
        self.draws: dict[int, Draws] = {}
        self.loops = 0
        self.unfinished: list[Unfinished] = []
        self.cut: list[Unfinished] = []

    def cut_short(self) -> None:
        """Go on behind the loops that are unfinished, as if all of their iterations had been like those that ran."""
        scaled_up(self.unfinished)
        self.cut += self.unfinished
        self.unfinished = []

    def subgroups(self) -> Array:
        """Return the number of each lane's sub-group."""
        return self.subgroup if self.lane is None else self.subgroup[self.lane]

    def assign(self, slot: int, value: Value) -> None:
        """Set a variable for the active lanes."""
        if self.active != self.declared[slot] and self.mask is not None:
            old = self.values[slot]
            if old is not None:
                value = np.where(self.mask, value, old)
        self.values[slot] = value

    def whole_mask(self) -> Array:
        return np.ones(self.width, np.bool_) if self.mask is None else self.mask


class Compacted:
    """The active lanes alone, until `restore`."""

    __slots__ = ("_kept", "_now", "_selected", "_slots")

    def __init__(self, lanes: Lanes, slots: Iterable[int]) -> None:
        selected = np.flatnonzero(lanes.mask) if lanes.mask is not None else np.arange(lanes.width)
        self._selected, self._slots = selected, tuple(slots)
        self._kept = (lanes.values, lanes.declared, lanes.width, lanes.mask, lanes.active, lanes.lane, lanes.returned)
        values, declared, count = list(lanes.values), list(lanes.declared), len(selected)
        width = lanes.width
        for slot in self._slots:
            value = values[slot]
            if value is not None and value.ndim and value.shape[-1] == width and (value.ndim == 1 or width > 1):
                values[slot] = value.take(selected, axis=-1)
            declared[slot] = count
        self._now = [values[slot] for slot in self._slots]
        lanes.values, lanes.declared, lanes.width, lanes.active = values, declared, count, count
        lanes.mask, lanes.returned = None, None
        lanes.lane = selected if lanes.lane is None else lanes.lane[selected]

    def restore(self, lanes: Lanes) -> None:
        """All lanes again, with what the active ones have set."""
        values, declared, width, mask, active, lane, returned = self._kept
        selected = self._selected
        for slot, before in zip(self._slots, self._now, strict=True):
            now = lanes.values[slot]
            if now is not before and now is not None:
                values[slot] = _scattered(values[slot], now, selected, width)
        if lanes.returned is not None:
            returned = np.zeros(width, np.bool_) if returned is None else returned.copy()
            returned[selected[lanes.returned]] = True
        lanes.values, lanes.declared, lanes.width = values, declared, width
        lanes.mask, lanes.active, lanes.lane, lanes.returned = mask, active, lane, returned


def _scattered(old: Value, new: Value, selected: Array, width: int) -> Value:
    rows = new.shape[:-1] if new.ndim > 1 else ()
    out = np.zeros((*rows, width), new.dtype)
    if old is not None:
        out[...] = old
    out[..., selected] = new
    return out
