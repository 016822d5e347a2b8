"""What a program's processes wrote down while they ran, as it stands in their logs."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RawDevice:
    """A device as its driver names it; `type` is `cpu`, `gpu`, `accelerator` or `other`."""

    name: str
    vendor: str
    driver_version: str
    platform: str
    type: str


@dataclass(frozen=True, slots=True)
class RawProgram:
    """A program that was built. `text` is None where it was not built from source, or its source is lost.

    `headers` are those that were passed beside the source, by name; `linked` the programs that it is made of.
    """

    kind: str
    text: bytes | None
    sha256: str
    options: str
    headers: tuple[tuple[str, bytes], ...] = ()
    linked: tuple[RawProgram, ...] = ()


@dataclass(frozen=True, slots=True)
class BufferRaw:
    """`object` is the same number for buffers that share memory."""

    size_bytes: int
    offset_bytes: int = 0
    object: int = -1


@dataclass(frozen=True, slots=True)
class ImageRaw:
    """`channels` and `type` as OpenCL calls them, in lower case."""

    size: tuple[int, ...]
    channels: str
    type: str


@dataclass(frozen=True, slots=True)
class LocalRaw:
    """Local memory of a work-group."""

    size_bytes: int


@dataclass(frozen=True, slots=True)
class ValueRaw:
    """The bytes of an argument by value, as they lie in memory."""

    data: bytes


@dataclass(frozen=True, slots=True)
class SvmRaw:
    """Shared virtual memory; its size is not always known."""

    size_bytes: int | None


@dataclass(frozen=True, slots=True)
class UnseenRaw:
    """Local memory, or a value of which nothing but its size was written down."""

    size_bytes: int


@dataclass(frozen=True, slots=True)
class OtherRaw:
    """A sampler, a null buffer, or one that was never set: `kind` says which."""

    kind: str


RawArgument = BufferRaw | ImageRaw | LocalRaw | ValueRaw | SvmRaw | UnseenRaw | OtherRaw


@dataclass(frozen=True, slots=True)
class EventTimes:
    """Times of one launch's events: of how many, all together, and a sample for the median. `timed` is 0 without."""

    timed: int = 0
    sum_us: float = 0.0
    samples_us: tuple[float, ...] = ()

    @property
    def median_us(self) -> float | None:
        ordered = sorted(self.samples_us)
        if not ordered:
            return None
        middle = len(ordered) // 2
        return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2

    @property
    def mean_us(self) -> float | None:
        return self.sum_us / self.timed if self.timed else None


@dataclass(frozen=True, slots=True)
class RawLaunch:
    """One distinct launch; `count` is how often it ran.

    `fills` say what was seen in its buffers: argument, member of its elements ("" for all), word. `number` is that of
    the launch in its process's log.
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
class RawProcess:
    """What one process did. `log` names its files; `problems` are sentences on what could not be recorded."""

    command: tuple[str, ...]
    cwd: str
    writer: str
    started_at: float  # unix seconds
    ended_in_order: bool = False
    launches: tuple[RawLaunch, ...] = ()
    problems: tuple[str, ...] = ()
    log: str = ""
