"""What is said of a program: as it is, changed, on other devices, and what would help most."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from model.program.recorded_parts import RecordedParts, recorded_parts
from model.program.timeline import Part
from model.program.what_if import UNCHANGED, Scales
from server.program.forecast import Program, ProgramForecast, Programs

_HALF = 0.5
_MOST_COMMANDS = 10_000  # beyond that, what would help is not tried out


@dataclass(frozen=True, slots=True)
class Report:
    """What one call shows: the program as it is, changed by the call's flags, and on other devices.

    `gains` are its total times [us] if one thing took half its time, by what that is.
    """

    title: str
    program: Program
    plain: ProgramForecast
    changed: ProgramForecast | None
    others: Mapping[str, ProgramForecast]
    gains: Mapping[str, float]

    @property
    def recorded(self) -> RecordedParts | None:
        commands = self.program.commands
        return recorded_parts(commands) if commands.is_recorded else None


def report_on(
    programs: Programs,
    title: str,
    program: Program,
    *,
    device: str | None = None,
    scales: Scales = UNCHANGED,
    sources: Mapping[str, Path] = MappingProxyType({}),
    recorded_times: bool = False,
    compared: Sequence[str] = (),
) -> Report:
    """Return the program's forecast as it was recorded or written and, if anything differs, under other conditions.

    Those are another `device`, `scales`, and the files of kernels, by name, in `sources`. `compared` are further
    devices. With `recorded_times` kernels and transfers take what was recorded, where no prediction is asked for.
    """
    recorded = (Part.KERNEL, Part.TRANSFER) if recorded_times else ()
    plain = programs.forecast(program, recorded=recorded)
    changed = None
    if device is not None or scales != UNCHANGED or sources:
        kept = () if sources or device else recorded
        changed = programs.forecast(program, device=device, scales=scales, sources=sources, recorded=kept)
    return Report(
        title=title,
        program=program,
        plain=plain,
        changed=changed,
        others={each: programs.forecast(program, device=each, sources=sources) for each in compared},
        gains=_gains(programs, program, plain, recorded),
    )


def _gains(
    programs: Programs, program: Program, plain: ProgramForecast, recorded: Sequence[Part]
) -> Mapping[str, float]:
    """Return the total [us] if a part, or the kernel that takes most, took half its time; the best first."""
    if len(program.commands.commands) > _MOST_COMMANDS:
        return {}
    wanted: dict[str, Scales] = {
        part: Scales(parts={part: _HALF})
        for part in Part
        if plain.timeline.busy_us.get(part, 0.0) and part != Part.BUILD
    }
    launches = plain.timeline.critical_launches_us
    if len(set(program.names)) > 1 and launches:
        name = program.names[max(launches, key=launches.__getitem__)]
        wanted[f"`{name}`"] = Scales(kernels={name: _HALF})
    totals = {
        name: programs.rescaled(program, plain, scales, recorded=recorded).total_us for name, scales in wanted.items()
    }
    return dict(sorted(totals.items(), key=lambda each: each[1]))
