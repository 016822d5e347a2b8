"""Price the commands of a program, and change prices: another device, half the transfers, a kernel twice as fast."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import median

from model.device import Device
from model.device_curves import HostSide
from model.program.command import HOST_CALLS, TRANSFERS, Command, CommandKind, CommandSequence
from model.program.host_sides import engine_of, host_side_of, transfer_us
from model.program.timeline import Cost, Part, Timeline, compose

# A call counts as one in which the driver did more than enqueue (compiled, allocated) from here on.
_EXTRA_TIMES, _EXTRA_US = 5.0, 50.0
_DELAY_US = 500.0  # of a first launch: it was compiled


@dataclass(frozen=True, slots=True)
class Scales:
    """Factors on durations: of a part of the program, or of one kernel's launches by its name."""

    parts: Mapping[Part, float] = field(default_factory=dict)
    kernels: Mapping[str, float] = field(default_factory=dict)


UNCHANGED = Scales()


@dataclass(frozen=True, slots=True)
class Prices:
    """What everything in a program costs.

    `launches_us` are the times of its distinct launches, by their place; `names` their kernels' names. `devices` are
    those of its queues, by `Queue.device`. If `are_transfers_recorded`, these take what was recorded.
    """

    launches_us: Sequence[float]
    names: Sequence[str]
    devices: Mapping[str, Device]
    are_transfers_recorded: bool = False


def program_timeline(sequence: CommandSequence, prices: Prices, scales: Scales = UNCHANGED) -> Timeline:
    """Return the composed program."""
    sides = {name: _scaled_side(host_side_of(each).side, scales) for name, each in prices.devices.items()}
    devices = [prices.devices[queue.device] for queue in sequence.queues]
    extra_us, delays_us = _extra_us(sequence.commands), _delays_us(sequence.commands)
    elsewhere = next(iter(sides.values()), HostSide(0.0, 0.0, 0.0, 0.0))

    def cost(place: int, command: Command) -> Cost:
        side = elsewhere if command.queue is None else sides[sequence.queues[command.queue].device]
        build = scales.parts.get(Part.BUILD, 1.0)
        once_us = build * extra_us.get(place, 0.0), build * delays_us.get(place, 0.0)
        return Cost(_work_us(command, side, prices, scales), *once_us)

    costs = [cost(place, command) for place, command in enumerate(sequence.commands)]
    host = scales.parts.get(Part.HOST, 1.0)
    scaled = sequence if host == 1.0 else _with_gaps(sequence, host)
    return compose(
        scaled,
        costs,
        sides.__getitem__,
        lambda each: "" if each.queue is None else engine_of(devices[each.queue], each),
    )


def _work_us(command: Command, side: HostSide, prices: Prices, scales: Scales) -> float:
    if command.kind is CommandKind.LAUNCH:
        if command.launch is None:
            return command.device_us or 0.0
        factor = scales.parts.get(Part.KERNEL, 1.0) * scales.kernels.get(prices.names[command.launch], 1.0)
        return factor * prices.launches_us[command.launch]
    if command.kind is CommandKind.BUILD:
        return scales.parts.get(Part.BUILD, 1.0) * (command.device_us or 0.0)
    if command.kind in TRANSFERS:
        recorded_us = command.device_us if prices.are_transfers_recorded else None
        took_us = transfer_us(side, command) if recorded_us is None else recorded_us
        return scales.parts.get(Part.TRANSFER, 1.0) * took_us
    return 0.0


def _scaled_side(side: HostSide, scales: Scales) -> HostSide:
    factor = scales.parts.get(Part.CALL, 1.0)
    return HostSide(
        factor * side.enqueue_us, factor * side.start_us, factor * side.between_us, factor * side.finish_us,
        side.transfers,
    )  # fmt: skip


def _extra_us(commands: Sequence[Command]) -> Mapping[int, float]:
    """Return what calls took beyond the usual, by their place: the driver compiled a kernel or allocated memory.

    Calls that wait for a device say nothing of that.
    """
    by_kind: dict[CommandKind, list[tuple[int, float]]] = defaultdict(list)
    for place, command in enumerate(commands):
        if command.kind not in HOST_CALLS and not command.is_blocking:
            by_kind[command.kind].append((place, command.end_us - command.begin_us))
    extra: dict[int, float] = {}
    for calls in by_kind.values():
        usual_us = min(median(took_us for _, took_us in calls), _EXTRA_US)
        for place, took_us in calls:
            if took_us > max(_EXTRA_TIMES * usual_us, _EXTRA_US):
                extra[place] = took_us - usual_us
    return extra


def _delays_us(commands: Sequence[Command]) -> Mapping[int, float]:
    """Return how late the first of each distinct launch started, by its place: a driver may compile only then.

    It is known where the queue had profiling.
    """
    delays: dict[int, float] = {}
    seen: set[int] = set()
    finished_us: dict[int | None, float] = {}  # by queue
    for place, command in enumerate(commands):
        if command.start_us is None or command.finish_us is None:
            continue
        if command.launch is not None and command.launch not in seen:
            seen.add(command.launch)
            ready = [command.end_us, finished_us.get(command.queue, 0.0)]
            ready += [commands[each].finish_us or 0.0 for each in command.waits]
            late_us = command.start_us - max(ready)
            if late_us > _DELAY_US:
                delays[place] = late_us
        finished_us[command.queue] = max(finished_us.get(command.queue, 0.0), command.finish_us)
    return delays


def once_us(commands: Sequence[Command]) -> float:
    """Return what a driver did only once in all calls and before all starts [us]."""
    return sum(_extra_us(commands).values()) + sum(_delays_us(commands).values())


def _with_gaps(sequence: CommandSequence, factor: float) -> CommandSequence:
    """Return the sequence with all calls of the host at `factor` times their distance."""
    moved: list[Command] = []
    at_us: dict[int, tuple[float, float]] = {}  # each thread's last end: recorded, moved
    begun = (0.0, 0.0)
    for command in sequence.commands:
        recorded_us, moved_us = at_us.get(command.thread, begun)
        begin_us = moved_us + factor * max(0.0, command.begin_us - recorded_us)
        end_us = begin_us + command.end_us - command.begin_us
        moved.append(replace(command, begin_us=begin_us, end_us=end_us))
        at_us[command.thread], begun = (command.end_us, end_us), (command.begin_us, begin_us)
    return replace(sequence, commands=tuple(moved))
