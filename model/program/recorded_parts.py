"""What a recording itself says of where its program's time went."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from model.program.command import TRANSFERS, CommandKind, CommandSequence
from model.program.timeline import Part
from model.program.what_if import once_us


@dataclass(frozen=True, slots=True)
class RecordedParts:
    """Sums over a program's commands: None where its queues had no profiling.

    `total_us` is the time from the first call to the end of the last command that is here. `launches_us` splits the
    kernels' sum by launch.
    """

    total_us: float
    kernels_us: float | None
    transfers_us: float | None
    builds_us: float
    host_us: float
    launches_us: Mapping[int, float]

    def of(self, part: Part) -> float | None:
        """Return a part's sum; what calls took cannot be told from waiting."""
        return {
            Part.KERNEL: self.kernels_us,
            Part.TRANSFER: self.transfers_us,
            Part.BUILD: self.builds_us,
            Part.HOST: self.host_us,
        }.get(part)

    @property
    def without_builds_us(self) -> float:
        return max(0.0, self.total_us - self.builds_us)


def recorded_parts(sequence: CommandSequence) -> RecordedParts:
    """Return the sums of a recorded sequence."""
    kernels, transfers, launches = _Sum(), _Sum(), dict[int, float]()
    builds_us, host_us = once_us(sequence.commands), 0.0
    called_us: dict[int, float] = {}
    begun_us = 0.0
    for command in sequence.commands:
        host_us += max(0.0, command.begin_us - called_us.get(command.thread, begun_us))
        called_us[command.thread], begun_us = command.end_us, command.begin_us
        took_us = command.device_us
        if command.kind is CommandKind.LAUNCH:
            kernels.add(took_us)
            if command.launch is not None and took_us is not None:
                launches[command.launch] = launches.get(command.launch, 0.0) + took_us
        elif command.kind in TRANSFERS:
            transfers.add(took_us)
        elif command.kind is CommandKind.BUILD:
            builds_us += took_us or 0.0
    return RecordedParts(sequence.recorded_us, kernels.sum_us, transfers.sum_us, builds_us, host_us, launches)


class _Sum:
    """A sum that is unknown if most of what it adds up is."""

    def __init__(self) -> None:
        self._sum_us, self._known, self._unknown = 0.0, 0, 0

    def add(self, took_us: float | None) -> None:
        self._sum_us += took_us or 0.0
        self._known += took_us is not None
        self._unknown += took_us is None

    @property
    def sum_us(self) -> float | None:
        return None if self._unknown > self._known else self._sum_us
