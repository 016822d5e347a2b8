"""Which of the launches that a real program made of a kernel are predicted."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from model.device import Device
from model.errors import KernelcastError
from model.launch.build_options import is_harmless
from model.launch.clusters import Cluster, Counts, clustered
from model.launch.fill_target import buffer_of
from model.launch.launch import Origin
from model.launch.recorded import RecordedLaunch, RecordedUse
from model.launch.source_hints import gather
from model.launch.spec import LaunchSpec
from model.launch_specs import Written
from model.opencl.kernel import Kernel, ParameterKind
from model.opencl.options import BuildOptions
from model.opencl.program import Program
from model.work.expressions.symbolic import Atom
from model.work.work import Work

MOST_SHOWN = 8  # clusters of a kernel that are predicted; the others are only counted
_MOST_BUILDS = 16  # sets of build options that a kernel is read under
_LEAST_KNOWN = 0.5  # share of a launch's arguments that a kernel must have, for the launch to be of it
STALE = "the launch was recorded before the last change of this kernel"
_STALE_OR_BUILT_OTHERWISE = f"{STALE}, or with other build options"

# What was recorded of kernels, by their names. The same tuple comes back until something else was recorded.
RecordedOf = Callable[[Collection[str]], Mapping[str, tuple[RecordedLaunch, ...]]]


def nothing_recorded(_names: Collection[str]) -> Mapping[str, tuple[RecordedLaunch, ...]]:
    return {}


@dataclass(frozen=True, slots=True)
class Reading:
    """A kernel as the file has it under its own `options`, and the ways to read it under others and to analyse it.

    Both may raise KernelcastError.
    """

    kernel: Kernel
    options: BuildOptions
    under: Callable[[BuildOptions], tuple[Program, Kernel]]
    analysed: Callable[[Program, Kernel], Work]

    def fingerprint(self, options: BuildOptions) -> str:
        """Return the kernel's under these options, "" where it cannot be read."""
        try:
            return self.under(options)[1].fingerprint
        except KernelcastError:
            return ""

    def work(self, options: BuildOptions) -> Work | None:
        """Return what it does under these options, None where it cannot be analysed."""
        try:
            return self.analysed(*self.under(options))
        except KernelcastError:
            return None

    def with_own(self, recorded: BuildOptions) -> BuildOptions:
        """Return recorded build options as they apply: the file's own go first."""
        flags = tuple(flag for flag in recorded.flags if is_harmless(flag))
        return replace(recorded, flags=flags).merged(self.options)


@dataclass(frozen=True, slots=True, eq=False)
class FromProgram:
    """The recorded launches of one kernel that are predicted, and what they were chosen from.

    `builds` are the kernel's fingerprints, under the file's own build options and under those of the launches.
    """

    launches: Sequence[RecordedLaunch]
    device: Device
    written: tuple[Written, ...]
    builds: Mapping[BuildOptions, str]


def choose(
    known: dict[str, FromProgram], reading: Reading, launches: Sequence[RecordedLaunch], device: Device
) -> tuple[Written, ...]:
    """Return what `written_by_program` chooses; `known` has what it chose last, by kernel."""
    name = reading.kernel.name
    if not launches:
        known.pop(name, None)
        return ()
    last = known.get(name)
    if (
        last is None
        or last.launches is not launches
        or last.device is not device
        or any(reading.fingerprint(options) != built for options, built in last.builds.items())
    ):
        written = written_by_program(reading, launches, device)
        builds = {each: reading.fingerprint(each) for each in (BuildOptions(), *(w.spec.options for w in written))}
        last = known[name] = FromProgram(launches, device, written, builds)
    return last.written


def written_by_program(reading: Reading, launches: Sequence[RecordedLaunch], device: Device) -> tuple[Written, ...]:
    """Return the launches to predict; those with the most time first, as far as the program measured any.

    Recordings of this very kernel go before those of other versions, and recordings on this device before others.
    """
    mine = [launch for launch in launches if _is_of(reading.kernel, launch)]
    if not mine:
        return ()
    options = dict.fromkeys(launch.spec.options for launch in sorted(mine, key=lambda each: each.weight, reverse=True))
    prints = {each: reading.fingerprint(reading.with_own(each)) for each in [*options][:_MOST_BUILDS]}
    current = [launch for launch in mine if launch.kernel_fingerprint == prints.get(launch.spec.options) != ""]
    current = current or [launch for launch in mine if not launch.kernel_fingerprint]
    chosen = current or mine
    here = [launch for launch in chosen if launch.device_id == device.id]
    chosen = here or chosen
    work = reading.work(reading.with_own(max(chosen, key=lambda each: each.weight).spec.options))
    clusters = clustered(chosen, _counts(reading.kernel, work))
    whole = _whole(clusters)
    return tuple(
        Written(
            _spec(reading, each.middle, is_stale=not current),
            recorded=RecordedUse(
                each.count,
                each.distinct,
                each.event_us,
                each.total_us,
                is_stale=not current,
                elsewhere="" if here else each.middle.device_name or "another device",
                recorded_at=each.middle.recorded_at,
                command=each.middle.command,
                kernel_count=whole.count,
                kernel_distinct=whole.distinct,
                kernel_total_us=whole.total_us,
            ),
        )
        for each in clusters[:MOST_SHOWN]
    )


def _is_of(kernel: Kernel, launch: RecordedLaunch) -> bool:
    names = [name.partition(".")[0] for name, _ in launch.spec.values]
    known = sum(kernel.parameter(name) is not None for name in names)
    return launch.spec.global_size is not None and known >= _LEAST_KNOWN * len(names)


def _counts(kernel: Kernel, work: Work | None) -> Counts:
    """Return which arguments launches must agree in: lengths, and numbers that bound loops or are checked against ids.

    Of a kernel that could not be analysed it is every argument.
    """
    if work is None:
        return lambda name: True
    hints = gather(work)
    bounds: set[Atom] = {*hints.trip_bounds, *hints.grid_bounds}
    bounds |= {atom for guards in (*hints.guards.values(), *hints.group_guards.values()) for atom in guards}
    bounds |= {factor for product in hints.products.values() for factor in product.factors}
    names = {str(atom.arguments[0]).partition(".")[2] for atom in bounds}

    def counts(name: str) -> bool:
        parameter = kernel.parameter(name.partition(".")[0])
        is_number = parameter is None or parameter.kind in (ParameterKind.SCALAR, ParameterKind.STRUCT)
        return not is_number or name in names

    return counts


def _spec(reading: Reading, launch: RecordedLaunch, *, is_stale: bool) -> LaunchSpec:
    spec, kernel = launch.spec, reading.kernel
    options = reading.with_own(spec.options)
    note = STALE if options == spec.options else _STALE_OR_BUILT_OTHERWISE
    return replace(
        spec,
        values=tuple(each for each in spec.values if kernel.parameter(each[0].partition(".")[0]) is not None),
        fills=tuple(each for each in spec.fills if kernel.parameter(buffer_of(each[0])) is not None),
        options=options,
        origin=Origin.RECORDED,
        notes=(*spec.notes, note) if is_stale else spec.notes,
    )


def _whole(clusters: Sequence[Cluster]) -> Cluster:
    """Return all clusters as one; without a time where part of them has none."""
    times = [each.total_us for each in clusters]
    total_us = sum(time or 0.0 for time in times) if None not in times else None
    count, distinct = sum(each.count for each in clusters), sum(each.distinct for each in clusters)
    return Cluster(clusters[0].middle, count, distinct, None, total_us)
