"""Which source lines the time goes to: each line's own costs under the laws, as shares of the whole."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from typing import overload

from model.device import Device, DeviceType
from model.laws import access_time_us, atomic_time_us, one_by_one, operation_time_us
from model.opencl.types import AddressSpace
from model.prediction import LineShare
from model.work.counts import AccessCount, LineCount, OpKind, Pattern, WorkCounts

_NAMES = {
    OpKind.DIVIDE: "divisions", OpKind.SQRT: "square roots", OpKind.SPECIAL: "special functions",
    OpKind.NATIVE: "native functions", OpKind.INT_DIVIDE: "integer divisions", OpKind.CONVERT: "conversions",
    OpKind.BRANCH: "branches",
}  # fmt: skip
_PATTERNS = {Pattern.STRIDED: ", strided", Pattern.GATHERED: ", gathered"}


class LineShares(Sequence[LineShare]):
    """What `line_shares` says, worked out when somebody looks: of most launches only the time is asked for.

    Equal to the tuple of its shares, and pickled as that.
    """

    def __init__(self, work: WorkCounts, device: Device) -> None:
        self._work, self._device = work, device

    @cached_property
    def _shares(self) -> tuple[LineShare, ...]:
        return line_shares(self._work, self._device)

    @overload
    def __getitem__(self, at: int) -> LineShare: ...
    @overload
    def __getitem__(self, at: slice) -> tuple[LineShare, ...]: ...
    def __getitem__(self, at: int | slice) -> LineShare | tuple[LineShare, ...]:
        return self._shares[at]

    def __len__(self) -> int:
        return len(self._shares)

    def __iter__(self) -> Iterator[LineShare]:
        return iter(self._shares)

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, (LineShares, tuple)) and self._shares == tuple(other))

    def __hash__(self) -> int:
        return hash(self._shares)

    def __repr__(self) -> str:
        return repr(self._shares)

    def __reduce__(self) -> tuple[type[tuple[LineShare, ...]], tuple[tuple[LineShare, ...]]]:
        return tuple, (self._shares,)


def line_shares(work: WorkCounts, device: Device) -> tuple[LineShare, ...]:
    """Shares of the time that work takes (launch overheads left out), hottest line first."""
    slow = one_by_one(work.scalar_ops) if device.type is DeviceType.CPU else {}
    costs = [(line, *_cost(line, work, slow, device)) for line in work.lines]
    total = sum(time_us for _, time_us, _ in costs)
    if total <= 0:
        return ()
    shares = [LineShare(line.line, time_us / total, what) for line, time_us, what in costs if time_us > 0]
    return tuple(sorted(shares, key=lambda s: (-s.share, s.line)))


def _cost(
    line: LineCount, work: WorkCounts, slow: Mapping[tuple[OpKind, str], float], device: Device
) -> tuple[float, str]:
    """The line's time [us] and the greatest part of it in words; `slow` are operations that go one by one."""
    rates = device.rates
    parts: list[tuple[float, Callable[[], str]]] = [
        (operation_time_us(op, slow, rates), partial(_ops_text, op.kind, op.element, op.count)) for op in line.ops
    ]
    for access in line.accesses:
        if access.is_atomic:
            time_us = atomic_time_us([access], rates)
        elif access.space is AddressSpace.LOCAL:
            time_us = 1e-3 * access.bytes / rates.local_bandwidth_gb_s
        elif access.space is AddressSpace.PRIVATE:
            time_us = 1e-3 * access.bytes / rates.private_bandwidth_gb_s
        else:
            time_us = access_time_us(access, rates, work.global_footprint_bytes, is_cpu=device.type is DeviceType.CPU)
        parts.append((time_us, partial(_access_text, access)))
    if line.barriers:
        parts.append((1e-3 * line.barriers * rates.barrier_ns, partial(_barriers_text, line.barriers)))
    if not parts:
        return 0.0, ""
    longest = max(time_us for time_us, _ in parts)
    return sum(time_us for time_us, _ in parts), max(text() for time_us, text in parts if time_us == longest)


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


def _si(value: float) -> str:
    for factor, letter in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= factor:
            return f"{value / factor:.3g} {letter}"
    return f"{value:.3g} "
