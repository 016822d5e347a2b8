"""Launch tables: what a package's own host code says of its launches, as facts, one TOML file for each origin.

`launches/<owner>+<name>.toml` holds `[[launch]]` tables with the keys of `kernelcast.toml` (kernel, files, global,
local, args, buffers, images, local_bytes, fill, defines, options, name) and `source`, the place in the host code that
says so: "src/blur.cpp:120". A kernel that is described here is launched as its program launches it. `[[program]]`
tables say how programs are built, see `host_builds`.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from model.errors import ConfigError
from model.launch.config_tables import LAUNCH_KEYS, Table, read_launch
from model.launch.expression import suggestion
from model.launch.spec import LaunchSpec
from profiler.corpus.origins.finding import FoundProgram
from profiler.corpus.origins.host_builds import HostBuild, read_host_build
from profiler.corpus.origins.origin import Origin

FOLDER = Path(__file__).with_name("launches")
NEEDED = ("kernel", "files", "source", "global")
_SOURCE = re.compile(r"[^\s:]+:[1-9]\d*\Z")
_AT_LINE = re.compile(r"\(at line (\d+),")


@dataclass(frozen=True, slots=True)
class DescribedLaunch:
    """One `[[launch]]` of the file `table`, as `source` in a host's code says.

    `kernel` is a glob; `files` are paths in the package, with #1, #2 ... for the further texts that a file holds.
    """

    table: str
    line: int  # from 1
    kernel: str
    files: tuple[str, ...]
    source: str
    spec: LaunchSpec

    def is_of(self, program: FoundProgram) -> bool:
        return program.reference in self.files

    def complaint(self, what: str) -> str:
        return f"{self.table}:{self.line}: {what}"


@dataclass(frozen=True, slots=True)
class DescribedProgram:
    """A program as it is built for some of its launches, which all want the same build options."""

    program: FoundProgram
    launches: tuple[DescribedLaunch, ...]


@dataclass(frozen=True, slots=True)
class HostFacts:
    """What the table of an origin says of its host code."""

    launches: tuple[DescribedLaunch, ...] = ()
    builds: tuple[HostBuild, ...] = ()


def host_facts(origin: Origin, folder: Path = FOLDER) -> HostFacts:
    """Return the table of `origin`; nothing where it has none. Raises ConfigError: file, line, what is wrong."""
    path = folder / f"{origin.name.replace('/', '+')}.toml"
    return read_table(path) if path.exists() else HostFacts()


def read_table(path: Path) -> HostFacts:
    """Read a table of an origin. Raises ConfigError, which names file, line and what is wrong."""
    text = path.read_text(encoding="utf-8")
    try:
        content: dict[str, Any] = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        at = _AT_LINE.search(str(error))
        _refuse(path, int(at[1]) if at else text.count("\n") + 1, str(error))
    top = Table(content, "", text)
    try:
        top.allow("launch", "program")
        return HostFacts(
            tuple(_read(table, path) for table in top.tables("launch")),
            tuple(read_host_build(table, path, _source(table)) for table in top.tables("program")),
        )
    except ConfigError as error:
        _refuse(path, error.line or 1, error.message)


def described_programs(
    programs: Iterable[FoundProgram], launches: Sequence[DescribedLaunch]
) -> tuple[DescribedProgram, ...]:
    """Return each of `programs` that launches are described of, once for each set of build options that they want."""
    found = []
    for program in programs:
        by_options: dict[tuple[tuple[tuple[str, str], ...], tuple[str, ...]], list[DescribedLaunch]] = {}
        for launch in launches:
            if launch.is_of(program):
                options = launch.spec.options
                by_options.setdefault((options.defines, options.flags), []).append(launch)
        for same in by_options.values():
            options = program.options.merged(same[0].spec.options)
            found.append(DescribedProgram(FoundProgram(program.reference, program.text, options), tuple(same)))
    return tuple(found)


def unmatched(launches: Iterable[DescribedLaunch], programs: Sequence[FoundProgram]) -> list[str]:
    """Return a complaint about each file of a launch that the package does not hold, or not as a program."""
    there = {program.reference for program in programs}
    return [
        launch.complaint(f"the package has no program {file}{suggestion(file, there)}")
        for launch in launches
        for file in launch.files
        if file not in there
    ]


def _read(table: Table, path: Path) -> DescribedLaunch:
    for key in NEEDED:
        if key not in table.content:
            table.refuse(None, f"`{key}` is missing; every launch of a program needs {', '.join(NEEDED)}")
    source = _source(table)
    if "include" in table.content:
        table.refuse("include", "`include` is of no use here: what a program includes is put into its text")
    kernel, files, spec = read_launch(table, path.parent, (*LAUNCH_KEYS, "source"))
    return DescribedLaunch(path.name, table.line(), kernel, files, source, spec)


def _source(table: Table) -> str:
    source = table.string("source") or ""
    if not _SOURCE.match(source):
        table.refuse("source", f"`source` must be a file of the package and a line, as in src/host.cpp:120: {source!r}")
    return source


def _refuse(path: Path, line: int, what: str) -> NoReturn:
    raise ConfigError(f"{path.name}:{line}: {what}", line=line) from None
