"""Turn the logs of a run into recorded launches by name, with their files, devices and counts."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from model.device import Device
from model.errors import LaunchError
from model.launch.build_options import parse_build_options
from model.opencl.options import BuildOptions
from model.program.command import CommandSequence
from profiler.recording.commands import program_of
from profiler.recording.naming import Namer
from profiler.recording.raw_log import EventTimes, RawDevice, RawLaunch, RawProcess
from profiler.recording.recorded_entry import RecordedEntry
from profiler.recording.sources import Sources, Workspace, file_sha256

MAX_SAMPLES = 512


@dataclass(frozen=True, slots=True)
class Interpreted:
    """A run's distinct launches, and its commands, whose launches are places among them."""

    launches: tuple[RecordedEntry, ...]
    commands: CommandSequence


def entries_of(
    processes: Sequence[RawProcess], sources: Sources, workspace: Workspace, devices: Callable[[], Sequence[Device]]
) -> tuple[RecordedEntry, ...]:
    """Return the distinct launches of all processes, those with the most time first.

    `devices` returns those of this machine; it is called only if something was launched.
    """
    return interpreted(processes, sources, workspace, devices).launches


def interpreted(
    processes: Sequence[RawProcess], sources: Sources, workspace: Workspace, devices: Callable[[], Sequence[Device]]
) -> Interpreted:
    """Return the distinct launches of all processes, and their commands; see `entries_of`."""
    entries: list[RecordedEntry] = []
    numbers: list[list[tuple[str, int]]] = []  # of each entry: the logs that have it, and its numbers there
    for cwd, group in _by_folder(processes).items():
        namer = Namer(sources, cwd)
        for launch, equal in _merged(group):
            entries.append(namer.entry(launch))
            numbers.append(equal)
    here = devices() if entries else ()
    file_of = functools.cache(functools.partial(_file_of, sources, workspace))  # many launches have the same source
    placed = []
    for each in entries:
        file, sha256 = file_of(each.source, each.kernel, each.fingerprint, each.options)
        placed.append(replace(each, device_id=device_id(each, here), file=file, file_sha256=sha256))
    launches = tuple(sorted(_equal_as_one(placed), key=lambda each: each.weight, reverse=True))
    place_of = {each.identity: place for place, each in enumerate(launches)}
    places = {key: place_of[each.identity] for each, keys in zip(placed, numbers, strict=True) for key in keys}
    ids = {device: device_id_of(device, here) for each in processes for _, device, _ in each.commands.queues}
    return Interpreted(launches, program_of([each.commands for each in processes], places, ids))


def together(launches: Iterable[RawLaunch]) -> list[RawLaunch]:
    """Merge equal launches: several processes may make the same."""
    return [launch for launch, _ in _merged(("", launch) for launch in launches)]


def _merged(launches: Iterable[tuple[str, RawLaunch]]) -> list[tuple[RawLaunch, list[tuple[str, int]]]]:
    """Merge equal launches; each comes with the name of its log, and returns with names and numbers."""
    found: dict[RawLaunch, list[tuple[str, RawLaunch]]] = {}
    for log, launch in launches:
        plain = replace(launch, count=0, times=EventTimes(), values_vary=False, fills=(), number=-1)
        found.setdefault(plain, []).append((log, launch))
    return [
        (_joined(plain, [launch for _, launch in each]), [(log, launch.number) for log, launch in each])
        for plain, each in found.items()
    ]


def device_id(entry: RecordedEntry, devices: Sequence[Device]) -> str:
    """Return the id of the device here with this name, platform and, if there is one, driver; "" for none."""
    return device_id_of(RawDevice(entry.device_name, entry.driver, entry.platform), devices)


def device_id_of(device: RawDevice, devices: Sequence[Device]) -> str:
    """Return the id of the device here that a log names; "" for none."""
    name, platform = device.name.strip(), device.platform.strip()
    alike = [d for d in devices if d.name == name and platform in ("", d.platform)]  # imported logs have no platform
    exact = [d for d in alike if d.driver == device.driver_version.strip()]
    best = exact or alike
    return best[0].id if best else ""


def _equal_as_one(entries: Iterable[RecordedEntry]) -> Iterator[RecordedEntry]:
    """Merge entries with the same names and sizes: they differ in what has no name, or the program was built twice.

    Untimed launches count as the timed ones among them.
    """
    found: dict[RecordedEntry, list[RecordedEntry]] = {}
    for entry in entries:
        found.setdefault(entry.identity, []).append(entry)
    for equal in found.values():
        count, timed = sum(each.count for each in equal), [each for each in equal if each.total_us is not None]
        timed_us, timed_count = sum(each.total_us or 0.0 for each in timed), sum(each.count for each in timed)
        yield replace(
            max(equal, key=lambda each: (each.event_us is not None, each.count)),
            count=count,
            total_us=timed_us * count / timed_count if timed_count else None,
            notes=tuple(dict.fromkeys(note for each in equal for note in each.notes)),
        )


def _by_folder(processes: Iterable[RawProcess]) -> dict[str, list[tuple[str, RawLaunch]]]:
    found: dict[str, list[tuple[str, RawLaunch]]] = {}
    for process in processes:
        found.setdefault(process.cwd, []).extend((process.log, launch) for launch in process.launches)
    return found


def _joined(plain: RawLaunch, launches: Sequence[RawLaunch]) -> RawLaunch:
    times = [launch.times for launch in launches]
    samples = [sample for each in times for sample in each.samples_us]
    return replace(
        plain,
        count=sum(launch.count for launch in launches),
        times=EventTimes(
            sum(each.timed for each in times), sum(each.sum_us for each in times), tuple(samples[:MAX_SAMPLES])
        ),
        values_vary=any(launch.values_vary for launch in launches),
        fills=tuple({fill[:2]: fill for launch in launches for fill in launch.fills}.values()),
    )


def _file_of(
    sources: Sources, workspace: Workspace, source: str, kernel: str, fingerprint: str, options: str
) -> tuple[str, str]:
    """Return path and hash of the workspace's file that has this source, or else the same kernel; "" for none."""
    if not source:
        return "", ""
    file = workspace.file_with(sources.path(source).read_bytes())
    if file is None and fingerprint:
        file = workspace.file_with_kernel(kernel, fingerprint, _parsed(options))
    return ("", "") if file is None else (str(file), file_sha256(file))


def _parsed(options: str) -> BuildOptions:
    try:
        return parse_build_options(options)
    except LaunchError:
        return BuildOptions()
