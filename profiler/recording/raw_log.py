"""The contents of the logs of a recorded program's processes."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median

from model.program.command import CommandKind


@dataclass(frozen=True, slots=True)
class RawDevice:
    """A device, named as by its driver."""

    name: str
    driver_version: str
    platform: str


@dataclass(frozen=True, slots=True)
class RawProgram:
    """A program that was built. `text` is None if it was not built from source, or its source is lost.

    `headers` were passed with the source, by name; `linked` are the programs that it was linked from.
    """

    kind: str
    text: bytes | None
    options: str
    headers: tuple[tuple[str, bytes], ...] = ()
    linked: tuple[RawProgram, ...] = ()


@dataclass(frozen=True, slots=True)
class BufferRaw:
    """A buffer, or a part of one."""

    size_bytes: int


@dataclass(frozen=True, slots=True)
class ImageRaw:
    """An image; `channels` and `type` are OpenCL's names in lower case."""

    size: tuple[int, ...]
    channels: str
    type: str


@dataclass(frozen=True, slots=True)
class LocalRaw:
    """Local memory of a work-group."""

    size_bytes: int


@dataclass(frozen=True, slots=True)
class ValueRaw:
    """The bytes of an argument by value, as in memory."""

    data: bytes


@dataclass(frozen=True, slots=True)
class SvmRaw:
    """Shared virtual memory; `size_bytes` is None if it is unknown."""

    size_bytes: int | None


@dataclass(frozen=True, slots=True)
class UnseenRaw:
    """An argument of which the log has only the size: local memory, a value, or null."""

    size_bytes: int


@dataclass(frozen=True, slots=True)
class OtherRaw:
    """A sampler, null, or an argument that was not set: `kind` says which."""

    kind: str


RawArgument = BufferRaw | ImageRaw | LocalRaw | ValueRaw | SvmRaw | UnseenRaw | OtherRaw


@dataclass(frozen=True, slots=True)
class EventTimes:
    """Times of one launch's events: the number of timed events, their sum, and a sample of them for the median."""

    timed: int = 0
    sum_us: float = 0.0
    samples_us: tuple[float, ...] = ()

    @property
    def median_us(self) -> float | None:
        return median(self.samples_us) if self.samples_us else None

    @property
    def mean_us(self) -> float | None:
        return self.sum_us / self.timed if self.timed else None


@dataclass(frozen=True, slots=True)
class RawLaunch:
    """One distinct launch; `count` is how often it ran.

    `fills` describe the contents of its buffers: argument, member of its elements ("" for all), fill word. `number`
    is the launch's in its process's log. `values_vary`: launches with other values were counted as this one.
    """

    program: RawProgram
    kernel: str
    device: RawDevice
    global_size: tuple[int, ...]
    local_size: tuple[int, ...] | None
    offset: tuple[int, ...]
    arguments: tuple[RawArgument, ...]
    count: int
    times: EventTimes = EventTimes()
    values_vary: bool = False
    fills: tuple[tuple[int, str, str], ...] = ()
    number: int = -1


@dataclass(frozen=True, slots=True)
class RawCommand:
    """A record. Host times are by the system's monotonic clock, device times by the driver's; 0 where unknown."""

    number: int
    kind: CommandKind
    launch: int | None
    queue: int | None
    flags: int
    size_bytes: int
    begin_ns: int
    end_ns: int
    queued_ns: int
    start_ns: int
    finish_ns: int
    thread: int
    waits: tuple[int, ...]  # numbers


@dataclass(frozen=True, slots=True)
class RawCommands:
    """One process's commands. `launch` and `queue` of commands are the log's numbers; times are those of the clocks.

    `queues` are numbers, devices, and whether they are out of order. `seen` counts recorded and other commands.
    """

    log: str = ""
    records: tuple[RawCommand, ...] = ()
    queues: tuple[tuple[int, RawDevice, bool], ...] = ()
    seen: int = 0
    end_ns: int = 0


@dataclass(frozen=True, slots=True)
class RawProcess:
    """What one process did. `log` names its files; `problems` are sentences on what could not be recorded."""

    cwd: str
    started_at: float  # unix seconds
    launches: tuple[RawLaunch, ...] = ()
    problems: tuple[str, ...] = ()
    log: str = ""
    commands: RawCommands = RawCommands()
