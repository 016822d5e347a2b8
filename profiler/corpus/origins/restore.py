"""Finds the sources of a dataset's real kernels again: it holds none of other people's text, only where each stands.

A kernel is found where the text is the one that was measured: to the last character, as `source_sha256` says, or but
for layout, as its id does.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

from model.errors import KernelcastError
from model.opencl.normalise import identity, normalised_tokens
from model.opencl.options import BuildOptions
from model.opencl.program import read_program
from profiler.corpus.origins.building import built
from profiler.corpus.origins.definitions import package_definitions
from profiler.corpus.origins.finding import FoundProgram, programs_of, recorded_programs, written_programs
from profiler.corpus.origins.host_builds import as_hosts_build
from profiler.corpus.origins.origin import Origin, OriginKind
from profiler.corpus.origins.planning import LONG_SOURCE
from profiler.corpus.origins.pruning import pruned
from profiler.corpus.origins.sources import Unreachable, sources
from profiler.corpus.origins.tables import described_programs, host_facts
from profiler.extract_kernels import with_only

_BLANK_LINES = re.compile(r"(?<!\\)\n(?:[ \t\r]*\n)+")
AT_A_TIME = 40  # programs that are built in one go


@dataclass(frozen=True, slots=True)
class Wanted:
    """A kernel whose source is looked for."""

    id: str
    reference: str
    name: str
    options: BuildOptions
    source_sha256: str


@dataclass(frozen=True, slots=True)
class Restored:
    origin: str
    found: int
    wanted: int


def restored_sources(folder: Path) -> dict[str, str]:
    """Source by kernel id: all that `restore` has written below `folder`."""
    found: dict[str, str] = {}
    for path in sorted((folder / "restored").glob("*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            entry = json.loads(line)
            found[entry["id"]] = entry["source"]
    return found


def restore(
    folder: Path,
    origins: Sequence[Origin],
    wanted: Mapping[str, Sequence[Wanted]],
    *,
    mirrors: Path | None = None,
    builds_on: str = "pocl",
    processes: int = 2,
    on_progress: Callable[[str], None] = print,
) -> list[Restored]:
    """Work through `origins`, each in a process of its own; what an earlier call finished is not done again."""
    outcome = []
    with ProcessPoolExecutor(processes, max_tasks_per_child=1) as pool:
        waiting = [
            pool.submit(restore_origin, one, folder, tuple(wanted[one.name]), mirrors, builds_on)
            for one in origins
            if wanted.get(one.name)
        ]
        for future in as_completed(waiting):
            try:
                one = future.result()
            except Unreachable as error:
                on_progress(error.message)
                continue
            outcome.append(one)
            on_progress(f"{one.origin}: {one.found} of {one.wanted} sources found again")
    return outcome


def restore_origin(
    origin: Origin, folder: Path, wanted: Sequence[Wanted], mirrors: Path | None, builds_on: str
) -> Restored:
    """Restore the sources of one origin's kernels. Raises Unreachable."""
    goal = folder / "restored" / f"{origin.folder_name}.jsonl"
    if not goal.exists():
        goal.parent.mkdir(parents=True, exist_ok=True)
        part = goal.with_suffix(".part")
        with part.open("w", encoding="utf-8") as lines:
            for kernel, source in _found(origin, folder, wanted, mirrors, builds_on):
                lines.write(json.dumps({"id": kernel.id, "source": source}) + "\n")
                lines.flush()
        part.rename(goal)
    found = sum(1 for _ in goal.open(encoding="utf-8"))
    return Restored(origin.name, found, len(wanted))


def _found(
    origin: Origin, folder: Path, wanted: Sequence[Wanted], mirrors: Path | None, builds_on: str
) -> Iterator[tuple[Wanted, str]]:
    place = sources(origin, folder / "sources", mirrors)
    of_program: dict[str, list[Wanted]] = defaultdict(list)
    for kernel in wanted:
        of_program[kernel.reference.removesuffix(f":{kernel.name}")].append(kernel)
    facts = host_facts(origin)
    left: list[FoundProgram] = []
    programs, _ = as_hosts_build(_programs(origin, folder, place, builds_on), facts.builds, place)
    for program in programs:
        asked = of_program.get(program.reference)
        if asked is None:
            continue
        # Most programs were measured as they stand; the others lack what their host puts in front of them.
        known = [(kernel, _source_of(kernel, program.text)) for kernel in asked]
        yield from ((kernel, source) for kernel, source in known if source is not None)
        lacking = [kernel for kernel, source in known if source is None]
        of_program[program.reference] = lacking
        if lacking:
            left += [one.program for one in described_programs([program], facts.launches)]
            left.append(program)
    definitions = package_definitions(place)
    for start in range(0, len(left), AT_A_TIME):
        for whole in built(left[start : start + AT_A_TIME], definitions, builds_on, Counter()):
            for kernel in tuple(of_program[whole.reference]):
                source = _source_of(kernel, whole.text)
                if source is not None:
                    of_program[whole.reference].remove(kernel)
                    yield kernel, source


def _programs(origin: Origin, folder: Path, place: Path, builds_on: str) -> Iterator[FoundProgram]:
    recorded = folder / "programs" / f"{origin.folder_name}.jsonl"
    if recorded.exists():
        return recorded_programs(recorded)
    if origin.kind is OriginKind.INSTALLED:
        return written_programs(builds_on)
    return programs_of(place, Counter())


def _source_of(kernel: Wanted, text: str) -> str | None:
    """Return the kernel alone, cut out of its program as it was before it was measured.

    None where that is another text.
    """
    try:
        read = read_program(text, None, kernel.options)
        if len(read.kernels) > 1:
            text = with_only([kernel.name], text, None, kernel.options)
    except KernelcastError:
        return None
    text = pruned(text) if len(text) > LONG_SOURCE else _BLANK_LINES.sub("\n", text)
    if hashlib.sha256(text.encode()).hexdigest() == kernel.source_sha256:
        return text
    try:
        tokens = normalised_tokens(read, kernel.name)
    except KeyError:
        return None
    return text if identity(tokens, kernel.options.flags) == kernel.id else None
