"""Predict a recorded program: its launches by the engine, and all of it by its commands."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from model.device import Device
from model.errors import KernelcastError, LaunchError
from model.program.command import CommandSequence
from model.program.host_sides import host_side_of
from model.program.timeline import Part, Timeline
from model.program.what_if import UNCHANGED, Prices, Scales, program_timeline
from profiler.recording.recorded_entry import RecordedEntry, request_of
from profiler.recording.recordings import project_of, recorded_commands, recordings, sources_of
from profiler.recording.sources import Sources
from profiler.store import Store
from server.cli.forecasts import Forecaster, Found
from server.cli.recordings import file_of
from server.cli.requests import Request, read_request
from server.text.format import shown_name

MOST_NOTES = 5


@dataclass(frozen=True, slots=True)
class LaunchTime:
    """The time of one distinct launch [us], and why it is not a prediction ("" if it is one)."""

    p10_us: float
    p50_us: float
    p90_us: float
    note: str = ""


@dataclass(frozen=True, slots=True)
class ProgramLaunch:
    """A distinct launch of a program: how to ask for its prediction, or why that is not possible.

    `name` chooses among the launches that the kernel's source or configuration gives. `edited` is the workspace's file
    that has the kernel, which may have changed since.
    """

    kernel: str
    request: Request | None
    why_not: str = ""
    recorded_us: float | None = None
    name: str | None = None
    edited: Path | None = None


@dataclass(frozen=True, slots=True)
class Program:
    """What is predicted: distinct launches, and commands that refer to them by place."""

    launches: tuple[ProgramLaunch, ...]
    commands: CommandSequence

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(each.kernel for each in self.launches)


def recorded_program(launches: Sequence[RecordedEntry], commands: CommandSequence, sources: Sources) -> Program:
    """Return the program of a recording."""
    return Program(tuple(_of_entry(each, file_of(each, sources)) for each in launches), commands)


class NoRecordedProgramError(KernelcastError):
    """Nothing was recorded that tells the order of a program's commands; the message says what would."""


def newest_program(store: Store, folder: Path, number: int | None = None) -> tuple[str, Program]:
    """Return title and program of a recording: of `number`, else of the newest of the folder's project.

    Raises NoRecordedProgramError, and StoreError.
    """
    found = recordings(store, None if number else project_of(folder), number=number)
    if not found and number:
        raise NoRecordedProgramError(f"there is no recording {number}; `kernelcast recordings --all` lists them")
    if not found:
        raise NoRecordedProgramError(
            "nothing was recorded in this project; `kernelcast record --profile -- COMMAND` does"
        )
    recording = found[0]
    commands = recorded_commands(store, recording.id)
    if commands is None:
        raise NoRecordedProgramError(
            f"recording {recording.id} has no order of commands: record the program again "
            f"(`kernelcast record --profile -- {shlex.join(recording.command)}`)"
        )
    program = recorded_program(recording.launches, commands, sources_of(store))
    return f"recording {recording.id}: {shlex.join(recording.command)}", program


def _of_entry(entry: RecordedEntry, file: str) -> ProgramLaunch:
    mean_us = entry.total_us / entry.count if entry.total_us is not None and entry.count else entry.event_us
    edited = Path(entry.file) if entry.file and Path(entry.file).is_file() else None
    if not file or entry.positional:
        return ProgramLaunch(entry.kernel, None, "its source is not known", mean_us)
    return ProgramLaunch(
        entry.kernel, read_request(request_of(entry, file), 0, None), recorded_us=mean_us, edited=edited
    )


@dataclass(frozen=True, slots=True)
class ProgramForecast:
    """A program under certain devices, kernels and scales.

    `low_us` and `high_us` are its total with all kernels at their p10 and p90.
    """

    timeline: Timeline
    low_us: float
    high_us: float
    times: tuple[LaunchTime, ...]
    devices: tuple[Device, ...]
    notes: tuple[str, ...]

    @property
    def without_builds_us(self) -> float:
        return max(0.0, self.timeline.total_us - self.timeline.critical_us.get(Part.BUILD, 0.0))


class Programs:
    """Predicts programs; `device_for` finds devices by id."""

    def __init__(self, forecaster: Forecaster, device_for: Callable[[str | None], Device]) -> None:
        self._forecaster, self._device_for = forecaster, device_for

    def forecast(
        self,
        program: Program,
        *,
        device: str | None = None,
        scales: Scales = UNCHANGED,
        sources: Mapping[str, Path] | None = None,
        recorded: Collection[Part] = (),
    ) -> ProgramForecast:
        """Return the program's forecast, on `device` if one is named, with kernels from `sources` by their name.

        Kernels and transfers take what was recorded, where that is known, if they are among `recorded`.
        """
        devices, notes = self._devices(program, device)
        if Part.KERNEL in recorded:
            times = [_recorded(each, "") for each in program.launches]
        else:
            times = self._times(program, device, sources or {})
        notes += [note for each in devices.values() if (note := host_side_of(each).note)]
        notes += _notes_on(program, times)

        def composed(launches_us: Sequence[float]) -> Timeline:
            prices = Prices(launches_us, program.names, devices, are_transfers_recorded=Part.TRANSFER in recorded)
            return program_timeline(program.commands, prices, scales)

        low, high = composed([each.p10_us for each in times]), composed([each.p90_us for each in times])
        timeline = composed([each.p50_us for each in times])
        return ProgramForecast(
            timeline, low.total_us, high.total_us, tuple(times), tuple(devices.values()), tuple(dict.fromkeys(notes))
        )

    def _devices(self, program: Program, wanted: str | None) -> tuple[dict[str, Device], list[str]]:
        """Return the device of each queue by the name that the queue has for it, and notes on those not known."""
        devices: dict[str, Device] = {}
        notes = []
        for queue in program.commands.queues:
            if queue.device not in devices:
                try:
                    devices[queue.device] = self._device_for(wanted or queue.device or None)
                except KernelcastError:
                    devices[queue.device] = default = self._device_for(None)
                    notes.append(f"{queue.device} is not known here: predicted for {shown_name(default.name)}")
        return devices, notes

    def _times(self, program: Program, device: str | None, sources: Mapping[str, Path]) -> list[LaunchTime]:
        """Return the time of each distinct launch; the learned model is asked of all at once."""
        wanted = [_request(each, device, sources) for each in program.launches]
        asked = [request for each, request in zip(program.launches, wanted, strict=True) if request and not each.name]
        together = iter(self._forecaster.forecast_each(asked))
        times = []
        for launch, request in zip(program.launches, wanted, strict=True):
            if request is None:
                times.append(_recorded(launch, launch.why_not))
            else:
                times.append(_time(launch, self._named(launch, request) if launch.name else next(together)))
        return times

    def _named(self, launch: ProgramLaunch, request: Request) -> Found | KernelcastError:
        """Return the forecast for the launch of a name."""
        try:
            found = self._forecaster.forecast(request)
        except KernelcastError as error:
            return error
        chosen = tuple(each for each in found.forecasts if each.spec is not None and each.spec.name == launch.name)
        if not chosen:
            return LaunchError(f"no launch of `{launch.kernel}` is named `{launch.name}`")
        return replace(found, forecasts=chosen)

    def rescaled(
        self, program: Program, forecast: ProgramForecast, scales: Scales, *, recorded: Collection[Part] = ()
    ) -> Timeline:
        """Return the timeline of a forecast under other scales; nothing is predicted again."""
        devices, _ = self._devices(program, None)
        launches_us = [each.p50_us for each in forecast.times]
        prices = Prices(launches_us, program.names, devices, are_transfers_recorded=Part.TRANSFER in recorded)
        return program_timeline(program.commands, prices, scales)


def _request(launch: ProgramLaunch, device: str | None, sources: Mapping[str, Path]) -> Request | None:
    if launch.request is None:
        return None
    file = sources.get(launch.kernel, launch.request.file)
    return replace(launch.request, file=file, device=device or launch.request.device)


def _time(launch: ProgramLaunch, outcome: Found | KernelcastError) -> LaunchTime:
    if isinstance(outcome, KernelcastError):
        return _recorded(launch, outcome.message)
    forecast = outcome.forecasts[0]
    if forecast.prediction is None:
        return _recorded(launch, forecast.problem.message if forecast.problem else "no prediction could be made")
    q = forecast.prediction.runtime_us
    return LaunchTime(q.p10, q.p50, q.p90)


def _recorded(launch: ProgramLaunch, why: str) -> LaunchTime:
    """Return the recorded time of a launch, with the reason why it is none that was predicted."""
    if launch.recorded_us is None:
        missing = why or "its queue had no profiling"
        return LaunchTime(0.0, 0.0, 0.0, f"`{launch.kernel}` counts as taking no time: {missing}")
    note = f"`{launch.kernel}` takes its recorded time: {why}" if why else ""
    return LaunchTime(launch.recorded_us, launch.recorded_us, launch.recorded_us, note)


def _notes_on(program: Program, times: Sequence[LaunchTime]) -> list[str]:
    notes = [each.note for each in times if each.note][:MOST_NOTES]
    commands = program.commands
    if commands.left_out:
        share = commands.recorded_us / commands.wall_us if commands.wall_us else 0.0
        notes.append(
            f"{commands.left_out} commands after the first {len(commands.commands)} are left out; those here are "
            f"{100 * share:.0f} % of the program's time"
        )
    if commands.is_recorded and commands.queues and all(each.start_us is None for each in commands.commands):
        notes.append("its queues had no profiling: only the total is recorded (`kernelcast record --profile`)")
    return notes


def with_scales(program: Program, named: Sequence[tuple[str, float]]) -> Scales | str:
    """Return factors by part and by kernel; the name that is neither."""
    parts: dict[Part, float] = {}
    kernels: dict[str, float] = {}
    for name, factor in named:
        if name in list(Part):
            parts[Part(name)] = factor
        elif name in program.names:
            kernels[name] = factor
        else:
            return name
    return replace(UNCHANGED, parts=parts, kernels=kernels)
