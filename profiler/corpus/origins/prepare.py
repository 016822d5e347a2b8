"""Prepares the kernels of all origins in a working folder: download, find, build, launch, prove. Resumable."""

from __future__ import annotations

import fcntl
import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, replace
from pathlib import Path

from model.errors import KernelcastError
from model.launch.launch import Launch
from profiler.corpus.draw import Draw
from profiler.corpus.kernel import CorpusKernel, CorpusLaunch
from profiler.corpus.origins.building import built
from profiler.corpus.origins.catalogue import (
    OriginFiles,
    Summary,
    append,
    files_of,
    kernel_line,
    kernels_in,
    read_summary,
    write_summary,
)
from profiler.corpus.origins.definitions import Definitions, package_definitions
from profiler.corpus.origins.describing import (
    DescribedKernel,
    described_kernels,
    unproved,
    with_described_launches,
)
from profiler.corpus.origins.finding import FoundProgram, programs_of, recorded_programs, written_programs
from profiler.corpus.origins.host_builds import as_hosts_build
from profiler.corpus.origins.jobs import ProofTry, Proved
from profiler.corpus.origins.launching import blocks, first_of, further_launches, time_limit
from profiler.corpus.origins.origin import Origin, OriginKind
from profiler.corpus.origins.planning import ANALYSIS_LIMIT_S, Planned, planned
from profiler.corpus.origins.proving import proved
from profiler.corpus.origins.sources import Unreachable, sources
from profiler.corpus.origins.tables import FOLDER, DescribedLaunch, described_programs, host_facts, unmatched
from profiler.measurement import MeasureError

SEED = "kernelcast origins 1"
AT_A_TIME = 40  # programs; what a kill costs
LONGEST_US = 1e6
_US_A_BLOCK = 1e-3  # roughly, where nothing was run


@dataclass(frozen=True, slots=True)
class Devices:
    runs_on: str
    builds_on: str


def prepare(
    folder: Path,
    origins: Sequence[Origin],
    *,
    mirrors: Path | None = None,
    device_id: str = "pocl",
    builds_on: str = "pocl",
    processes: int = 2,
    proves: bool = True,
    tables: Path = FOLDER,
    on_progress: Callable[[str], None] = print,
) -> list[Summary]:
    """Work through `origins`, each in a process of its own; what an earlier call finished is not done again.

    `builds_on` is the device whose compiler says what a program lacks; the launches run on `device_id`.
    Without `proves` launches are as inferred, unchecked: the collection proves them, but gives none a second try.
    Raises ConfigError for a launch table that cannot be read.
    """
    for one in origins:
        host_facts(one, tables)  # what is wrong with a table is said before hours of work
    found = []
    with ProcessPoolExecutor(processes, max_tasks_per_child=1) as pool:
        waiting = {
            pool.submit(
                prepare_origin, one, folder, mirrors, Devices(device_id, builds_on), proves=proves, tables=tables
            ): one
            for one in origins
        }
        for future in as_completed(waiting):
            try:
                summary = future.result()
            except Unreachable as error:
                on_progress(error.message)
                continue
            found.append(summary)
            on_progress(f"{summary.origin}: {summary.kernels} kernels of {summary.kernels_built} that build")
            for complaint in summary.complaints:
                on_progress(complaint)
    return found


def prepare_origin(
    origin: Origin, folder: Path, mirrors: Path | None, devices: Devices, *, proves: bool = True, tables: Path = FOLDER
) -> Summary:
    """Prepare the kernels of one origin. Raises Unreachable.

    Leaves alone what another process is preparing.
    """
    files = files_of(origin, folder)
    files.kernels.parent.mkdir(parents=True, exist_ok=True)
    with files.done.with_suffix(".lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return read_summary(origin, folder)
        return _prepared(origin, folder, mirrors, devices, files, proves=proves, tables=tables)


def _prepared(
    origin: Origin,
    folder: Path,
    mirrors: Path | None,
    devices: Devices,
    files: OriginFiles,
    *,
    proves: bool,
    tables: Path,
) -> Summary:
    summary = read_summary(origin, folder)
    if summary.is_complete:
        return summary
    # What PoCL compiled for a first launch serves the others.
    os.environ.setdefault("POCL_CACHE_DIR", str(_made(folder / "pocl")))
    dropped: Counter[str] = Counter()
    place = sources(origin, folder / "sources", mirrors)
    recorded = folder / "programs" / f"{origin.folder_name}.jsonl"
    if recorded.exists():
        found = list(recorded_programs(recorded))
    elif origin.kind is OriginKind.INSTALLED:
        found = list(written_programs(devices.builds_on))
    else:
        found = list(programs_of(place, dropped))
    facts = host_facts(origin, tables)
    found, complaints = as_hosts_build(found, facts.builds, place)
    programs = Draw(SEED, origin.name).shuffled(found)
    summary.programs = len(programs)
    summary.dropped |= dropped
    complaints += unmatched(facts.launches, programs)
    summary.complaints += [each for each in complaints if each not in summary.complaints]
    done = set(files.done.read_text(encoding="utf-8").splitlines()) if files.done.exists() else set()
    left = [one for one in programs if one.reference not in done]
    # By what they are, and by where they stand: supplied with other defines a kernel is no other one.
    kept = [kernel for path in files.kernels.parent.glob("*.jsonl") for kernel in kernels_in(path)]
    known = {name for kernel in kept for name in (kernel.id, f"{kernel.origin} {kernel.reference}")}
    definitions = package_definitions(place)
    for start in range(0, len(left), AT_A_TIME):
        if summary.kernels >= origin.most_kernels:
            break
        if os.getppid() == 1:  # whoever started us is gone, and may start anew
            return summary
        _prepare_some(
            origin,
            left[start : start + AT_A_TIME],
            facts.launches,
            definitions,
            devices,
            known,
            summary,
            files,
            proves=proves,
        )
    summary.is_complete = True
    write_summary(files.summary, summary)
    return summary


def _made(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _prepare_some(
    origin: Origin,
    programs: Sequence[FoundProgram],
    launches: Sequence[DescribedLaunch],
    definitions: Definitions,
    devices: Devices,
    known: set[str],
    summary: Summary,
    files: OriginFiles,
    *,
    proves: bool,
) -> None:
    made = _described(origin, programs, launches, definitions, devices, known, summary, proves=proves)
    known.update(f"{one.origin} {one.reference}" for one in made)
    ready = built(programs, definitions, devices.builds_on, summary.dropped)
    summary.kernels_built += sum(len(one.kernels) for one in ready)
    inferred = [one for program in ready for one in planned(origin, program, known, summary.dropped)]
    made += _with_launches(inferred, devices.runs_on, summary.dropped) if proves else map(_unproved, inferred)
    summary.kernels += len(made)
    summary.launches += sum(len(kernel.launches) for kernel in made)
    append(files.kernels, [kernel_line(kernel) for kernel in made])
    append(files.done, [one.reference for one in programs])
    write_summary(files.summary, summary)


def _described(
    origin: Origin,
    programs: Sequence[FoundProgram],
    launches: Sequence[DescribedLaunch],
    definitions: Definitions,
    devices: Devices,
    known: set[str],
    summary: Summary,
    *,
    proves: bool,
) -> list[CorpusKernel]:
    """Kernels with the launches of their programs, for what builds with the options that these want."""
    asked = described_programs(programs, launches)
    of_program = {one.program: one for one in asked}
    ready = built([one.program for one in asked], definitions, devices.builds_on, Counter())
    kernels: list[DescribedKernel] = []
    for program in ready:
        one = of_program.pop(program.found)
        kernels += described_kernels(origin, program, one, known, summary.dropped, summary.complaints)
    for one in of_program.values():
        what = f"{one.program.reference} does not build with these options"
        summary.complaints += [launch.complaint(what) for launch in one.launches]
    if not proves:
        return [unproved(one) for one in kernels]
    return list(with_described_launches(kernels, devices.runs_on, known, summary.complaints))


def _with_launches(planned: list[Planned], device_id: str, dropped: Counter[str]) -> Iterator[CorpusKernel]:
    """Yield kernels with their launches.

    The first launches are proved before others are made: their times say which others are worth having.
    """
    tries = [ProofTry(one.corpus.source, one.kernel, one.first) for one in planned]
    good: list[tuple[Planned, CorpusLaunch, list[CorpusLaunch]]] = []
    for one, (made, outcome) in zip(planned, proved(tries, device_id), strict=True):
        if isinstance(outcome, MeasureError):
            dropped[f"kernels not measured: {outcome.code}"] += 1
        elif outcome.checked == "" or outcome.runtime_us > LONGEST_US:
            dropped["kernels not measured: " + ("too slow" if outcome.checked else "not proved in bounds")] += 1
        else:
            first = _checked(first_of(made.launch), outcome)
            good.append((one, first, _further(one, made.launch, outcome.runtime_us)))
    more = [(number, launch) for number, (_, _, others) in enumerate(good) for launch in others]
    tries = [ProofTry(good[n][0].corpus.source, good[n][0].kernel, launch.launch) for n, launch in more]
    launches = [[first] for _, first, _ in good]
    for (number, launch), (made, outcome) in zip(more, proved(tries, device_id), strict=True):
        if isinstance(outcome, Proved) and outcome.checked and outcome.runtime_us <= LONGEST_US:
            launches[number].append(_checked(_with(launch, made.launch), outcome))
        else:
            dropped["launches beyond the first"] += 1
    for (one, _, _), proven in zip(good, launches, strict=True):
        yield _with_all(one.corpus, proven)


def _unproved(one: Planned) -> CorpusKernel:
    return _with_all(one.corpus, [first_of(one.first), *_further(one, one.first)])


def _further(one: Planned, first: Launch, runtime_us: float | None = None) -> list[CorpusLaunch]:
    """`runtime_us` of the first, where it ran."""
    try:
        with time_limit(ANALYSIS_LIMIT_S):
            if runtime_us is None:
                runtime_us = blocks(one.work, first) * _US_A_BLOCK
            return further_launches(one.kernel, one.work, first, runtime_us, Draw(SEED, one.corpus.id))
    except KernelcastError:
        return []


def _checked(launch: CorpusLaunch, outcome: Proved) -> CorpusLaunch:
    return CorpusLaunch(launch.launch, launch.vary, launch.data, outcome.checked)


def _with(launch: CorpusLaunch, made: Launch) -> CorpusLaunch:
    return CorpusLaunch(made, launch.vary, launch.data)


def _with_all(kernel: CorpusKernel, launches: list[CorpusLaunch]) -> CorpusKernel:
    return replace(kernel, launches=tuple(launches))
