"""How a package's own host builds its programs, as facts: `[[program]]` tables in the file of its launches.

`files` are globs of paths in the package, `before` the files whose texts the host puts in front, in their order,
`defines` and `options` what it tells the compiler, `source` the place in the host code that says so. Launches that are
inferred are so for programs built in this way; those of `[[launch]]` tables add their own options.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path

from model.launch.config_tables import Table, read_options
from model.opencl.options import BuildOptions
from profiler.corpus.origins.finding import FoundProgram

KEYS = ("files", "before", "defines", "options", "source")


@dataclass(frozen=True, slots=True)
class HostBuild:
    """One `[[program]]` of the file `table`, as `source` in a host's code says."""

    table: str
    line: int  # from 1
    files: tuple[str, ...]
    before: tuple[str, ...]
    source: str
    options: BuildOptions

    def is_of(self, program: FoundProgram) -> bool:
        return any(fnmatchcase(program.reference, file) for file in self.files)


def read_host_build(table: Table, path: Path, source: str) -> HostBuild:
    """Read one `[[program]]`. Raises ConfigError."""
    table.allow(*KEYS)
    if not (files := table.texts("files")):
        table.refuse("files", "`files` is missing; every program needs the files that it is in")
    return HostBuild(path.name, table.line(), files, table.texts("before"), source, read_options(table, path.parent))


def as_hosts_build(
    programs: Iterable[FoundProgram], builds: Sequence[HostBuild], folder: Path
) -> tuple[list[FoundProgram], list[str]]:
    """Return `programs` as their hosts build them, and complaints about what the package in `folder` does not hold."""
    found = list(programs)
    complaints = []
    for build in builds:
        missing = [name for name in build.before if not (folder / name).is_file()]
        complaints += [f"{build.table}:{build.line}: the package has no file {name}" for name in missing]
        if not any(build.is_of(program) for program in found):
            complaints.append(f"{build.table}:{build.line}: the package has no program {', '.join(build.files)}")
        if not missing:
            texts = [(folder / name).read_text(encoding="utf-8", errors="replace") for name in build.before]
            found = [_built_as(program, build, texts) if build.is_of(program) else program for program in found]
    return found, complaints


def _built_as(program: FoundProgram, build: HostBuild, before: Sequence[str]) -> FoundProgram:
    text = "\n".join([*before, program.text])
    return replace(program, text=text, options=build.options.merged(program.options))
