"""The commands of a program: what the host called, in its order, recorded or written in a configuration."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum


class CommandKind(IntEnum):
    """What a call does. The numbers are those of the recorder's files and of the store: none ever changes."""

    LAUNCH = 1
    WRITE = 2  # host to device
    READ = 3
    COPY = 4  # on the device
    FILL = 5
    MAP = 6
    UNMAP = 7
    MIGRATE = 8
    MARKER = 9
    BARRIER = 10
    FINISH = 11  # waits for a queue
    WAIT = 12  # waits for events
    FLUSH = 13
    CREATE = 14  # a buffer with a copy of the host's data
    BUILD = 15  # of a program

    @property
    def word(self) -> str:
        return self.name.lower()


TRANSFERS = frozenset(
    {CommandKind.WRITE, CommandKind.READ, CommandKind.COPY, CommandKind.FILL, CommandKind.MAP, CommandKind.CREATE}
)
# Calls in which the host works or waits, and which no queue gets.
HOST_CALLS = frozenset({CommandKind.FINISH, CommandKind.WAIT, CommandKind.FLUSH, CommandKind.CREATE, CommandKind.BUILD})


@dataclass(frozen=True, slots=True)
class Command:
    """One call. `launch` and `queue` are places in lists beside it; `waits` are places of earlier commands.

    Times are in microseconds from the first call of the program, all by the host's clock.
    """

    kind: CommandKind
    begin_us: float  # of the call
    end_us: float
    queue: int | None = None
    launch: int | None = None
    size_bytes: int = 0
    is_blocking: bool = False
    is_first: bool = False  # the first one that writes to its buffer, or to memory of the host that it reads into
    is_pinned: bool = False
    thread: int = 0
    waits: tuple[int, ...] = ()
    start_us: float | None = None  # on the device; None where its queue had no profiling
    finish_us: float | None = None

    @property
    def device_us(self) -> float | None:
        """Return its recorded time on the device; the call's own time where only the host works."""
        if self.kind in {CommandKind.CREATE, CommandKind.BUILD}:
            return self.end_us - self.begin_us
        return None if self.start_us is None or self.finish_us is None else self.finish_us - self.start_us

    @property
    def waits_for_device(self) -> bool:
        """Whether the host goes on only after something on a device has ended."""
        on_queue = self.is_blocking and self.kind not in HOST_CALLS
        return on_queue or self.kind in {CommandKind.FINISH, CommandKind.WAIT}


@dataclass(frozen=True, slots=True)
class Queue:
    """A command queue of a program; `device` names what tells the program's devices apart."""

    device: str
    is_out_of_order: bool = False


@dataclass(frozen=True, slots=True)
class CommandSequence:
    """All commands in the order in which the host called them; `left_out` more came after the last one.

    `wall_us` is the time from the first call to the end of the last, those left out included. `is_recorded` says
    whether times of commands were measured; else they only order what the host does.
    """

    commands: tuple[Command, ...] = ()
    queues: tuple[Queue, ...] = ()
    left_out: int = 0
    wall_us: float = 0.0
    is_recorded: bool = True
    notes: tuple[str, ...] = field(default=())

    @property
    def recorded_us(self) -> float:
        """Return the time from the first call to the end of the last one that is here."""
        return max((max(each.end_us, each.finish_us or 0.0) for each in self.commands), default=0.0)
