"""Compose a program's timeline: the host walks its calls, queues keep their order, and engines run what is ready.

Every moment is the latest of some earlier moments plus a duration, and what comes first on an engine does not depend
on durations: so no command that becomes faster makes the whole slower. The chain of moments that led to the last one
is the critical path, whose durations add up to the total.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from model.device_curves import HostSide
from model.program.command import HOST_CALLS, TRANSFERS, Command, CommandKind, CommandSequence


class Part(StrEnum):
    """What a program's time is spent on."""

    KERNEL = "kernels"
    TRANSFER = "transfers"
    CALL = "calls"  # enqueueing, starting, noticing the end
    BUILD = "builds"  # of programs, and what a driver does at a kernel's first launch
    HOST = "host"  # the program's own code between calls


@dataclass(frozen=True, slots=True)
class Cost:
    """What one command takes: on its engine (`work_us`), and what a driver does once.

    The latter is in the command's call (`extra_us`) or between that and the start (`delay_us`).
    """

    work_us: float = 0.0
    extra_us: float = 0.0
    delay_us: float = 0.0


@dataclass(frozen=True, slots=True)
class Engine:
    """Runs one command at a time. `device` and `name` tell it apart."""

    device: str
    name: str


@dataclass(frozen=True, slots=True)
class Span:
    """When the command at a place ran on an engine, or a thread of the host was in its call (`engine` is None)."""

    command: int
    start_us: float
    end_us: float
    engine: Engine | None = None


@dataclass(frozen=True, slots=True)
class Timeline:
    """A composed program. `critical_us` are the durations on the critical path and add up to `total_us`.

    `critical_launches_us` splits the kernels' part by launch. `busy_us` adds up all durations of a part, wherever they
    overlap; of starts and ends those that something waited for. `idle_us` is the time in which no engine ran anything.
    """

    total_us: float
    spans: tuple[Span, ...]
    critical_us: Mapping[Part, float]
    critical_launches_us: Mapping[int, float]
    busy_us: Mapping[Part, float]
    idle_us: float

    @property
    def bound(self) -> Part:
        """Return the part that most of the critical path goes to; builds, which happen once, are left out."""
        return max((each for each in Part if each != Part.BUILD), key=lambda part: self.critical_us.get(part, 0.0))


@dataclass(frozen=True, slots=True)
class _Moment:
    """A time, and what led to it: `duration_us` of `part` after `cause`."""

    time_us: float
    cause: _Moment | None = None
    part: Part = Part.HOST
    duration_us: float = 0.0
    launch: int | None = None

    def after(self, part: Part, duration_us: float, launch: int | None = None) -> _Moment:
        return _Moment(self.time_us + duration_us, self, part, duration_us, launch) if duration_us else self


_BEGIN = _Moment(0.0)
_MARKERS = frozenset({CommandKind.BARRIER, CommandKind.MARKER})
EngineOf = Callable[[Command], str]
HostSideOf = Callable[[str], HostSide]


@dataclass(slots=True)
class _State:
    """What has happened so far."""

    threads: dict[int, _Moment] = field(default_factory=dict)  # where each thread of the host is
    called_us: dict[int, float] = field(default_factory=dict)  # recorded end of each thread's last call
    begun: tuple[float, _Moment] = (0.0, _BEGIN)  # of the last call of all threads: recorded, and composed
    submitted: dict[int, _Moment] = field(default_factory=dict)  # commands, by place
    ended: dict[int, _Moment] = field(default_factory=dict)
    queues: dict[int, _Moment] = field(default_factory=dict)  # when all their commands so far have ended
    barriers: dict[int, _Moment] = field(default_factory=dict)
    engines: dict[Engine, _Moment] = field(default_factory=dict)
    spans: list[Span] = field(default_factory=list)


def compose(sequence: CommandSequence, costs: Sequence[Cost], host_side: HostSideOf, engine_of: EngineOf) -> Timeline:
    """Return the timeline of commands that cost `costs`.

    `host_side` gives what calls cost by the name of a queue's device; `engine_of` which engine runs a command.
    """
    composer = _Composer(sequence, costs, host_side, engine_of)
    for epoch in _epochs(sequence.commands):
        composer.walk(epoch)
    return composer.finished()


def _epochs(commands: Sequence[Command]) -> Iterator[range]:
    """Yield the places of commands between one wait for a device and the next, the waiting call at the end."""
    start = 0
    for place, command in enumerate(commands):
        if command.waits_for_device:
            yield range(start, place + 1)
            start = place + 1
    if start < len(commands):
        yield range(start, len(commands))


class _Composer:
    """Walks the epochs of one sequence."""

    def __init__(
        self, sequence: CommandSequence, costs: Sequence[Cost], host_side: HostSideOf, engine_of: EngineOf
    ) -> None:
        self._commands, self._queues, self._costs = sequence.commands, sequence.queues, costs
        self._sides = [host_side(queue.device) for queue in sequence.queues]
        self._elsewhere = self._sides[0] if self._sides else HostSide(0.0, 0.0, 0.0, 0.0)
        self._engine_of = engine_of
        self._state = _State()
        self._busy_us: dict[Part, float] = defaultdict(float)

    def walk(self, epoch: range) -> None:
        """Let the host make its calls, the devices run what was enqueued, and then the host wait."""
        for place in epoch:
            self._call(place)
        depths = self._depths(epoch)
        for place in sorted(depths, key=lambda each: (depths[each], each)):
            self._run(place)
        if epoch and self._commands[epoch[-1]].waits_for_device:
            self._wait(epoch[-1])

    def finished(self) -> Timeline:
        state = self._state
        last = _latest([*state.threads.values(), *state.queues.values()])
        critical: dict[Part, float] = defaultdict(float)
        launches: dict[int, float] = defaultdict(float)
        moment: _Moment | None = last
        while moment is not None and moment is not _BEGIN:
            critical[moment.part] += moment.duration_us
            if moment.launch is not None:
                launches[moment.launch] += moment.duration_us
            moment = moment.cause
        spans = tuple(sorted(state.spans, key=lambda span: (span.start_us, span.command)))
        idle_us = last.time_us - _covered_us(span for span in spans if span.engine is not None)
        return Timeline(last.time_us, spans, dict(critical), dict(launches), dict(self._busy_us), max(0.0, idle_us))

    def _side(self, command: Command) -> HostSide:
        return self._elsewhere if command.queue is None else self._sides[command.queue]

    def _spent(self, moment: _Moment, part: Part, duration_us: float, launch: int | None = None) -> _Moment:
        self._busy_us[part] += duration_us
        return moment.after(part, duration_us, launch)

    def _after_calls(self, causes: Sequence[tuple[_Moment, float]]) -> _Moment:
        """Return the latest of some moments, each with the call [us] that follows it; the call behind that one counts.

        So no part is longer on the critical path than in all.
        """
        ends = [(cause.after(Part.CALL, call_us), call_us) for cause, call_us in causes]
        latest, call_us = max(ends, key=lambda end: end[0].time_us)
        self._busy_us[Part.CALL] += call_us
        return latest

    def _call(self, place: int) -> None:
        """Let the host get to a call and through it, but for what it waits for."""
        state, command, cost = self._state, self._commands[place], self._costs[place]
        if command.thread in state.threads:
            before, gap_us = state.threads[command.thread], command.begin_us - state.called_us[command.thread]
        else:  # a thread begins while another is at some call
            before, gap_us = state.begun[1], command.begin_us - state.begun[0]
        begun = self._spent(before, Part.HOST, max(0.0, gap_us))
        ready = self._spent(begun, Part.BUILD, cost.extra_us)
        if command.kind in HOST_CALLS:
            part = Part.TRANSFER if command.kind is CommandKind.CREATE else Part.BUILD
            called = self._spent(ready, part, cost.work_us)
        else:
            called = self._spent(ready, Part.CALL, self._side(command).enqueue_us)
            state.submitted[place] = ready
        state.spans.append(Span(place, begun.time_us, called.time_us))
        state.threads[command.thread], state.called_us[command.thread] = called, command.end_us
        state.begun = command.begin_us, begun

    def _depths(self, epoch: range) -> Mapping[int, int]:
        """Return how many commands of this epoch each one comes after, at least: the order in which engines take them.

        It does not depend on durations, and no command precedes one that it waits for.
        """
        depths: dict[int, int] = {}
        deepest: dict[int, int] = defaultdict(int)  # of each queue's commands so far
        behind: dict[int, int] = defaultdict(int)  # what the next command of a queue comes after
        for place in epoch:
            command = self._commands[place]
            if command.kind in HOST_CALLS or command.queue is None:
                continue
            queue, in_order = command.queue, not self._queues[command.queue].is_out_of_order
            before = deepest[queue] if in_order or command.kind in _MARKERS else behind[queue]
            depth = 1 + max((depths.get(each, 0) for each in command.waits), default=0)
            depths[place] = depth = max(depth, 1 + before)
            deepest[queue] = max(deepest[queue], depth)
            if command.kind is CommandKind.BARRIER:
                behind[queue] = depth
        return depths

    def _run(self, place: int) -> None:
        """Run a command when it was submitted, what it waits for has ended, and its engine is free."""
        state, command, cost = self._state, self._commands[place], self._costs[place]
        assert command.queue is not None
        side, queue = self._side(command), command.queue
        is_marker = command.kind in _MARKERS
        causes = [(state.submitted[place], side.start_us)]
        waited = [state.ended[each] for each in command.waits if each in state.ended]
        follows = state.queues if is_marker or not self._queues[queue].is_out_of_order else state.barriers
        waited += [follows[queue]] if queue in follows else []
        causes += [(each, 0.0 if is_marker else side.between_us) for each in waited]
        engine = None if is_marker else Engine(self._queues[queue].device, self._engine_of(command))
        if engine is not None and engine in state.engines:
            causes.append((state.engines[engine], 0.0))
        started = self._spent(self._after_calls(causes), Part.BUILD, cost.delay_us)
        part = Part.TRANSFER if command.kind in TRANSFERS else Part.KERNEL
        ended = self._spent(started, part, cost.work_us, command.launch)
        state.ended[place] = ended
        state.queues[queue] = _latest([state.queues.get(queue, _BEGIN), ended])
        if command.kind is CommandKind.BARRIER:
            state.barriers[queue] = ended
        if engine is not None:
            state.engines[engine] = ended
            state.spans.append(Span(place, started.time_us, ended.time_us, engine))

    def _wait(self, place: int) -> None:
        state, command = self._state, self._commands[place]
        side = self._side(command)
        if command.kind is CommandKind.FINISH:
            ends = [state.queues[command.queue]] if command.queue in state.queues else []
        elif command.kind is CommandKind.WAIT:
            ends = [state.ended[each] for each in command.waits if each in state.ended]
        else:
            ends = [state.ended[place]] if place in state.ended else []
        begun = state.threads[command.thread]
        after = self._after_calls([(begun, 0.0), *((each, side.finish_us) for each in ends)])
        state.threads[command.thread] = after
        if after.time_us > begun.time_us:
            state.spans.append(Span(place, begun.time_us, after.time_us))


def _latest(moments: Sequence[_Moment]) -> _Moment:
    return max(moments, key=lambda moment: moment.time_us, default=_BEGIN)


def _covered_us(spans: Iterator[Span]) -> float:
    """Return the time that at least one span covers; they come by their start."""
    covered_us, until_us = 0.0, 0.0
    for span in spans:
        covered_us += max(0.0, span.end_us - max(span.start_us, until_us))
        until_us = max(until_us, span.end_us)
    return covered_us
