"""Prepares the kernels of all origins in a working folder: download, find, build, launch, prove. Resumable."""

from __future__ import annotations

import fcntl
import os
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, replace
from pathlib import Path

from model.errors import KernelcastError
from model.launch.launch import Launch
from model.opencl.kernel import Kernel
from model.opencl.normalise import identity, normalised_tokens
from model.opencl.program import Program, read_program
from model.work.work import Work
from profiler.corpus.draw import Draw
from profiler.corpus.kernel import CorpusKernel, CorpusLaunch
from profiler.corpus.origins.building import BuiltProgram, built
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
from profiler.corpus.origins.exam import is_exam_kernel
from profiler.corpus.origins.finding import FoundProgram, programs_of, recorded_programs, written_programs
from profiler.corpus.origins.jobs import ProofTry, Proved
from profiler.corpus.origins.launching import blocks, first_launch, first_of, further_launches, time_limit
from profiler.corpus.origins.origin import Origin, OriginKind
from profiler.corpus.origins.proving import proved
from profiler.corpus.origins.pruning import pruned
from profiler.corpus.origins.sources import Unreachable, sources
from profiler.kernels_alone import with_only
from profiler.measurement import MeasureError

SEED = "kernelcast origins 1"
AT_A_TIME = 40  # programs; what a kill costs
ANALYSIS_LIMIT_S = 20
FEWEST_TOKENS = 40  # kernels below do next to nothing
LONGEST_US = 1e6
_US_A_BLOCK = 1e-3  # roughly, where nothing was run
LONG_SOURCE = 60_000  # characters from which on what a kernel does not use is left out
LONGEST_SOURCE = 400_000  # characters of a kernel with all that it stands upon
_BLANK_LINES = re.compile(r"(?<!\\)\n(?:[ \t\r]*\n)+")  # not what goes on behind a backslash


@dataclass(frozen=True, slots=True)
class Devices:
    runs_on: str
    builds_on: str


@dataclass(frozen=True, slots=True)
class _Planned:
    corpus: CorpusKernel  # without launches
    kernel: Kernel
    work: Work
    first: Launch


def prepare(
    folder: Path,
    origins: Sequence[Origin],
    *,
    mirrors: Path | None = None,
    device_id: str = "pocl",
    builds_on: str = "pocl",
    processes: int = 2,
    proves: bool = True,
    on_progress: Callable[[str], None] = print,
) -> list[Summary]:
    """Work through `origins`, each in a process of its own; what an earlier call finished is not done again.

    `builds_on` is the device whose compiler says what a program lacks; the launches run on `device_id`.
    Without `proves` launches are as inferred, unchecked: the collection proves them, but gives none a second try.
    """
    found = []
    with ProcessPoolExecutor(processes, max_tasks_per_child=1) as pool:
        waiting = {
            pool.submit(prepare_origin, one, folder, mirrors, Devices(device_id, builds_on), proves=proves): one
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
    return found


def prepare_origin(
    origin: Origin, folder: Path, mirrors: Path | None, devices: Devices, *, proves: bool = True
) -> Summary:
    """Raises Unreachable. Leaves alone what another process is preparing."""
    files = files_of(origin, folder)
    files.kernels.parent.mkdir(parents=True, exist_ok=True)
    with files.done.with_suffix(".lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return read_summary(origin, folder)
        return _prepared(origin, folder, mirrors, devices, files, proves=proves)


def _prepared(
    origin: Origin, folder: Path, mirrors: Path | None, devices: Devices, files: OriginFiles, *, proves: bool
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
    programs = Draw(SEED, origin.name).shuffled(found)
    summary.programs = len(programs)
    summary.dropped |= dropped
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
            origin, left[start : start + AT_A_TIME], definitions, devices, known, summary, files, proves=proves
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
    definitions: Definitions,
    devices: Devices,
    known: set[str],
    summary: Summary,
    files: OriginFiles,
    *,
    proves: bool,
) -> None:
    ready = built(programs, definitions, devices.builds_on, summary.dropped)
    summary.programs_built += len(ready)
    summary.kernels_built += sum(len(one.kernels) for one in ready)
    planned = [one for program in ready for one in _planned(origin, program, known, summary.dropped)]
    made = list(_with_launches(planned, devices.runs_on, summary.dropped) if proves else map(_unproved, planned))
    summary.kernels += len(made)
    summary.launches += sum(len(kernel.launches) for kernel in made)
    append(files.kernels, [kernel_line(kernel) for kernel in made])
    append(files.done, [one.reference for one in programs])
    write_summary(files.summary, summary)


def _planned(origin: Origin, program: BuiltProgram, known: set[str], dropped: Counter[str]) -> Iterator[_Planned]:
    read = read_program(program.text, None, program.options)
    for name in program.kernels:
        if is_exam_kernel(name):
            dropped["kernels of the exam's suites"] += 1
            continue
        try:
            with time_limit(ANALYSIS_LIMIT_S):
                one = _plan(origin, program, read, name, known, dropped)
        except KernelcastError as error:
            dropped[f"kernels without a launch: {type(error).__name__}"] += 1
            continue
        except Exception as error:  # noqa: BLE001  a mistake of ours must cost one kernel only; the summary names it
            dropped[f"kernels that our analysis fails on: {type(error).__name__}"] += 1
            continue
        if one is not None:
            yield one


def _plan(
    origin: Origin, program: BuiltProgram, read: Program, name: str, known: set[str], dropped: Counter[str]
) -> _Planned | None:
    kernel = read.by_name.get(name)
    if kernel is None:
        dropped["kernels that our parser does not see"] += 1
        return None
    tokens = normalised_tokens(read, name)
    key = identity(tokens, program.options.flags)
    if len(tokens) < FEWEST_TOKENS or not kernel.parameters:
        dropped["kernels that do next to nothing"] += 1
        return None
    reference = f"{program.reference}:{name}"
    if key in known or f"{origin.name} {reference}" in known:
        dropped["duplicates"] += 1
        return None
    text = program.text
    if len(read.kernels) > 1:
        text = with_only([name], text, None, program.options)
    text = pruned(text) if len(text) > LONG_SOURCE else _BLANK_LINES.sub("\n", text)
    if len(text) > LONGEST_SOURCE:
        dropped["kernels with too long a source"] += 1
        return None
    known.add(key)
    work, first = first_launch(read, kernel, program.options)
    made = CorpusKernel(key, origin.name, origin.name, origin.field, reference, name, text, program.options)
    return _Planned(made, kernel, work, first)


def _with_launches(planned: list[_Planned], device_id: str, dropped: Counter[str]) -> Iterator[CorpusKernel]:
    """The first launches are proved before others are made: their times say what else is worth having."""
    tries = [ProofTry(one.corpus.source, one.kernel, one.first) for one in planned]
    good: list[tuple[_Planned, CorpusLaunch, list[CorpusLaunch]]] = []
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


def _unproved(one: _Planned) -> CorpusKernel:
    return _with_all(one.corpus, [first_of(one.first), *_further(one, one.first)])


def _further(one: _Planned, first: Launch, runtime_us: float | None = None) -> list[CorpusLaunch]:
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
