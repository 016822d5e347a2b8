"""What a host program puts before a file, found in its project: files that define its names, folders of its includes.

Many programs join several files before they build them, or build in a folder that the files' includes begin at. Read
alone, such a file has names that nothing declares. They are looked up in the project, the nearest file first; a file
that defines what this one defines, too, is another version of it and is not taken.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from model.opencl.include_policy import Reach
from model.opencl.options import BuildOptions
from model.opencl.program import Program
from model.opencl.project_files import ProjectFile, ProjectFiles

_ROUNDS = 4  # a file that is found may need others in turn
_MOST_FORCED = 12


@dataclass(frozen=True, slots=True)
class Completed:
    """A program with what was found for it: the file of each name, and of each include as it is written."""

    program: Program
    found: tuple[tuple[str, str], ...] = ()


def completed(
    program: Program,
    path: Path,
    reach: Reach | None,
    files: ProjectFiles,
    undeclared: Callable[[Program], Collection[str]],
    read: Callable[[BuildOptions], Program],
) -> Completed:
    """Return the program read with the files and folders that it lacks, as far as the project has them.

    `undeclared` are the names of a reading that nothing declares, `read` reads the same text under other options.
    """
    found: dict[str, str] = {}
    for _ in range(_ROUNDS):
        folders = _folders(program, path, reach, files)
        names = set(undeclared(program)) - found.keys()
        forced = _forced(program, names, path, reach, files) if names else {}
        options = program.options
        known = options.forced_includes
        new = [each for each in dict.fromkeys(forced.values()) if each not in known][: _MOST_FORCED - len(known)]
        folders = {name: place for name, place in folders.items() if place[0] not in options.include_dirs}
        if not new and not folders:
            break
        found.update({name: file for name, file in forced.items() if file in new})
        found.update({name: file for name, (_, file) in folders.items()})
        program = read(
            replace(
                options,
                include_dirs=(*options.include_dirs, *dict.fromkeys(folder for folder, _ in folders.values())),
                forced_includes=(*_in_order(new, files.around(path, reach)), *known),
            )
        )
    return Completed(program, tuple(sorted(found.items())))


def _folders(program: Program, path: Path, reach: Reach | None, files: ProjectFiles) -> dict[str, tuple[str, str]]:
    """Return the folder from which each include that was not found can be read, and the file that it then means."""
    if not program.plan.missing:
        return {}
    around = files.around(path, reach)
    return {name: place for name in program.plan.missing if (place := _place_of(name, around)) is not None}


def _place_of(name: str, around: Sequence[ProjectFile]) -> tuple[str, str] | None:
    """Return the folder below which `name` is one of the files `around`, the nearest of them, and that file."""
    parts = os.path.normpath(name).replace("\\", "/").split("/")
    ups = sum(part == ".." for part in parts)
    ending = parts[ups:]
    for file in around:
        inside = file.path.replace("\\", "/").split("/")
        if inside[-len(ending) :] == ending:
            down = inside[len(inside) - len(ending) : -1][:ups]  # `..` needs a folder to leave
            if len(down) == ups:
                return "/".join([*inside[: len(inside) - len(ending)], *down]), file.path
    return None


def _forced(
    program: Program, names: Iterable[str], path: Path, reach: Reach | None, files: ProjectFiles
) -> dict[str, str]:
    """Return the nearest file that defines each name."""
    own, self_path = program.functions.keys() | program.globals.keys(), os.path.abspath(path)
    opened = {os.path.abspath(name) for name, data in program.plan.opened if data is not None}
    candidates = [
        file
        for file in files.around(path, reach)
        if file.path not in opened
        and file.path != self_path
        and path.name not in file.includes
        and own.isdisjoint(file.defines)
    ]
    taken: dict[str, str] = {}
    for name in sorted(names):
        file = next((each for each in candidates if name in each.defines), None)
        if file is not None:
            taken[name] = file.path
    return taken


def _in_order(paths: Sequence[str], around: Sequence[ProjectFile]) -> list[str]:
    """Sort files so that each stands behind those whose definitions it uses."""
    waiting = {file.path: file for file in around if file.path in paths}
    done: list[str] = []
    while waiting:
        free = [
            each
            for each, file in waiting.items()
            if not any(o != each and (other.defines - file.defines) & file.words for o, other in waiting.items())
        ]
        for each in free or list(waiting)[:1]:  # two files that need each other: in their order
            done.append(each)
            del waiting[each]
    return done
