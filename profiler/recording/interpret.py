"""From the logs of a run to a recording: launches by name, with their files, devices and counts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from model.device import Device
from model.errors import LaunchError
from model.launch.build_options import parse_build_options
from model.opencl.options import BuildOptions
from profiler.recording.naming import Namer
from profiler.recording.raw_log import BufferRaw, EventTimes, RawArgument, RawLaunch, RawProcess
from profiler.recording.recorded_entry import RecordedEntry
from profiler.recording.sources import Sources, Workspace, file_sha256

MAX_SAMPLES = 512


def entries_of(
    processes: Sequence[RawProcess], sources: Sources, workspace: Workspace, devices: Callable[[], Sequence[Device]]
) -> tuple[RecordedEntry, ...]:
    """Return the distinct launches of all processes together, those that took most of the time first.

    `devices`: those of this machine, asked for only if something was launched.
    """
    entries: list[RecordedEntry] = []
    for cwd, launches in _by_folder(processes).items():
        namer = Namer(sources, cwd)
        entries += [namer.entry(launch) for launch in together(launches)]
    here = devices() if entries else ()
    placed = _alike_as_one(_placed(entry, sources, workspace, here) for entry in entries)
    return tuple(sorted(placed, key=lambda each: (each.total_us or 0.0, each.count), reverse=True))


def together(launches: Iterable[RawLaunch]) -> list[RawLaunch]:
    """Return equal launches as one: several processes may run the same."""
    found: dict[RawLaunch, list[RawLaunch]] = {}
    for launch in launches:
        plain = replace(
            launch,
            arguments=tuple(map(_without_object, launch.arguments)),
            count=0,
            times=EventTimes(),
            values_vary=False,
            fills=(),
            number=-1,
        )
        found.setdefault(plain, []).append(launch)
    return [_joined(plain, each) for plain, each in found.items()]


def device_id(entry: RecordedEntry, devices: Sequence[Device]) -> str:
    """Return the id of the device here that has this name, platform and driver, as far as one has."""
    name, platform = entry.device_name.strip(), entry.platform.strip()
    alike = [d for d in devices if d.name == name and platform in ("", d.platform)]  # imported logs name no platform
    exact = [d for d in alike if d.driver == entry.driver.strip()]
    best = exact or alike
    return best[0].id if best else ""


def _alike_as_one(entries: Iterable[RecordedEntry]) -> list[RecordedEntry]:
    """Return those of one name and size as one: what told them apart has no name, or the program was built twice."""
    found: dict[tuple[object, ...], RecordedEntry] = {}
    for entry in entries:
        known = found.get(entry.identity)
        if known is None:
            found[entry.identity] = entry
            continue
        often = max(known, entry, key=lambda each: (each.event_us is not None, each.count))
        times = [each.total_us for each in (known, entry) if each.total_us is not None]
        found[entry.identity] = replace(
            often,
            count=known.count + entry.count,
            total_us=sum(times) if times else None,
            values_vary=known.values_vary or entry.values_vary,
            notes=tuple(dict.fromkeys((*known.notes, *entry.notes))),
        )
    return list(found.values())


def _by_folder(processes: Iterable[RawProcess]) -> dict[str, list[RawLaunch]]:
    found: dict[str, list[RawLaunch]] = {}
    for process in processes:
        found.setdefault(process.cwd, []).extend(process.launches)
    return found


def _without_object(argument: RawArgument) -> RawArgument:
    return replace(argument, object=-1, offset_bytes=0) if isinstance(argument, BufferRaw) else argument


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


def _placed(entry: RecordedEntry, sources: Sources, workspace: Workspace, devices: Sequence[Device]) -> RecordedEntry:
    entry = replace(entry, device_id=device_id(entry, devices))
    if not entry.source:
        return entry
    file = workspace.file_with(sources.path(entry.source).read_bytes())
    if file is None and entry.fingerprint:
        file = workspace.file_with_kernel(entry.kernel, entry.fingerprint, _options(entry))
    return entry if file is None else replace(entry, file=str(file), file_sha256=file_sha256(file))


def _options(entry: RecordedEntry) -> BuildOptions:
    try:
        return parse_build_options(entry.options)
    except LaunchError:
        return BuildOptions()
