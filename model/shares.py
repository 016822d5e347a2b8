"""Which source lines the time goes to: each line's part in the time of each resource."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import overload

from model.analytic.cpu import dependent_loads_us
from model.analytic.launch_times import access_time_us, atomic_time_us
from model.analytic.operations import one_by_one, operation_time_us, resource_of
from model.costs import costs_of
from model.device import Device, DeviceType
from model.line_costs import LineCost, LinePart
from model.opencl.types import AddressSpace
from model.work.counts import AccessCount, OpKind, Pattern
from model.work.work_counts import WorkCounts

_NAMES = {
    OpKind.DIVIDE: "divisions", OpKind.SQRT: "square roots", OpKind.SPECIAL: "special functions",
    OpKind.NATIVE: "native functions", OpKind.INT_DIVIDE: "integer divisions", OpKind.CONVERT: "conversions",
    OpKind.BRANCH: "branches",
}  # fmt: skip
_PATTERNS = {Pattern.STRIDED: ", strided", Pattern.GATHERED: ", gathered"}


class LineCosts(Sequence[LineCost]):
    """What `line_costs` says, worked out when somebody looks: of most launches only the time is asked for.

    Equal to the tuple of its costs, and pickled as that.
    """

    def __init__(self, work: WorkCounts, device: Device) -> None:
        self._work, self._device = work, device

    @cached_property
    def _costs(self) -> tuple[LineCost, ...]:
        return line_costs(self._work, self._device)

    @overload
    def __getitem__(self, at: int) -> LineCost: ...
    @overload
    def __getitem__(self, at: slice) -> tuple[LineCost, ...]: ...
    def __getitem__(self, at: int | slice) -> LineCost | tuple[LineCost, ...]:
        return self._costs[at]

    def __len__(self) -> int:
        return len(self._costs)

    def __iter__(self) -> Iterator[LineCost]:
        return iter(self._costs)

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, (LineCosts, tuple)) and self._costs == tuple(other))

    def __hash__(self) -> int:
        return hash(self._costs)

    def __repr__(self) -> str:
        return repr(self._costs)

    def __reduce__(self) -> tuple[type[tuple[LineCost, ...]], tuple[tuple[LineCost, ...]]]:
        return tuple, (self._costs,)


@dataclass(slots=True)
class _Cost:
    """Time [us] of one line on one resource alone, and what the longest piece of it is."""

    time_us: float = 0.0
    longest_us: float = 0.0
    text: Callable[[], str] = str

    def add(self, time_us: float, text: Callable[[], str]) -> None:
        self.time_us += time_us
        if time_us > self.longest_us:
            self.longest_us, self.text = time_us, text


def line_costs(work: WorkCounts, device: Device) -> tuple[LineCost, ...]:
    """Return how much of each resource's time each line needs; lines ascend. A launch's own costs are no line's."""
    is_cpu = device.type is DeviceType.CPU
    slow = one_by_one(work.scalar_ops) if is_cpu else {}
    # Where a CPU's costs were measured, functions are measured as such, and reads of images are apart from memory's.
    is_costed = is_cpu and costs_of(device) is not None
    images = _image_accesses(work)
    found: list[tuple[int, dict[str, _Cost]]] = []
    for line in work.lines:
        own: dict[str, _Cost] = defaultdict(_Cost)
        for op in line.ops:
            text = partial(_ops_text, op.kind, op.element, op.count)
            time_us = operation_time_us(op, slow, device.rates)
            own["special functions" if is_costed and op.function else resource_of(op.kind)].add(time_us, text)
            own["operations that wait for each other"].add(time_us, text)
        for access in line.accesses:
            text = partial(_access_text, access)
            if access in images:
                own["images"].add(access.count, text)
            if access not in images or not is_costed:
                own[_resource_of_access(access)].add(_access_us(access, work, device), text)
            if access.waiting:
                time_us = dependent_loads_us(access, device)
                own["operations that wait for each other"].add(time_us, partial(_waiting_text, access))
        if line.barriers:
            own["barriers"].add(line.barriers, partial(_barriers_text, line.barriers))
        found.append((line.line, own))
    totals: dict[str, float] = defaultdict(float)
    for _, own in found:
        for resource, cost in own.items():
            totals[resource] += cost.time_us
    return tuple(
        LineCost(
            line,
            tuple(
                LinePart(resource, cost.time_us / totals[resource], cost.text())
                for resource, cost in own.items()
                if cost.time_us > 0
            ),
        )
        for line, own in found
    )


def _resource_of_access(access: AccessCount) -> str:
    if access.is_atomic:
        return "atomics"
    return {AddressSpace.LOCAL: "local memory", AddressSpace.PRIVATE: "private memory"}.get(
        access.space, "global memory"
    )


def _access_us(access: AccessCount, work: WorkCounts, device: Device) -> float:
    """Return the time of an access alone [us]."""
    rates = device.rates
    if access.is_atomic:
        return atomic_time_us([access], rates)
    if access.space is AddressSpace.LOCAL:
        return 1e-3 * access.bytes / rates.local_bandwidth_gb_s
    if access.space is AddressSpace.PRIVATE:
        return 1e-3 * access.bytes / rates.private_bandwidth_gb_s
    return access_time_us(access, rates, work.global_footprint_bytes, is_cpu=device.type is DeviceType.CPU)


def _image_accesses(work: WorkCounts) -> frozenset[AccessCount]:
    if not work.image_reads and not work.image_writes:
        return frozenset()
    return frozenset(placed.access for part in work.contexts for placed in part.accesses if placed.image)


def _barriers_text(count: float) -> str:
    return f"{_si(count)} barriers of work-groups"


def _ops_text(kind: OpKind, element: str, count: float) -> str:
    if kind in _NAMES:
        return f"{_si(count)} {_NAMES[kind]}"
    family = {"f": "fp", "i": "int"}[element[0]]
    return f"{_si(count)} {family}{element[1:]} operations"


def _access_text(access: AccessCount) -> str:
    if access.is_atomic:
        return f"{_si(access.count)} atomics on `{access.buffer}`"
    verb = "stored to" if access.is_store else "loaded from"
    space = "" if access.space is AddressSpace.GLOBAL else f"{access.space} "
    name = access.buffer.removesuffix(" (private)") or "memory"
    return f"{_si(access.bytes)}B {verb} {space}`{name}`{_PATTERNS.get(access.pattern, '')}"


def _waiting_text(access: AccessCount) -> str:
    name = access.buffer.removesuffix(" (private)") or "memory"
    return f"{_si(access.waiting)} loads from `{name}`, each waiting for the one before"


def _si(value: float) -> str:
    for factor, letter in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= factor:
            return f"{value / factor:.3g} {letter}"
    return f"{value:.3g} "
