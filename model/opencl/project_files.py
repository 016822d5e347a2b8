"""The OpenCL sources of the project that a file lies in: what host programs include, or join with it, is among them."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from cachetools import LRUCache

from model.opencl.include_policy import Reach
from model.safe_read import read_plain

_PROJECT_SIGNS = ("kernelcast.toml", ".git", ".hg")
_SUFFIXES = (".cl", ".clh", ".clc", ".ocl", ".opencl", ".h", ".hcl", ".inc")
FOLDERS_WITHOUT_SOURCES = frozenset({"node_modules", "build", "dist", "venv", "site-packages", "__pycache__", "target"})
_MOST_ENTRIES, _MOST_FILES = 5_000, 500
_MOST_BYTES = 512 << 10
_LISTING_HOLDS_S = 10.0
_FOLDERS_KEPT = 16

# What C++ has and OpenCL C has not: a header of the host program, not of its kernels.
_HOST_CODE = re.compile(
    r"^[ \t]*(?:template[ \t]*<|namespace\b|class[ \t]+\w|using[ \t]|extern[ \t]+\"C\"|#[ \t]*include[ \t]*<)", re.M
)
_BLOCK_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
# At the beginning of a line, where definitions stand in all but a few files; better none than a wrong one.
_DEFINITION = re.compile(
    r"^[ \t]*#[ \t]*define[ \t]+(?P<macro>\w+)"
    r"|^(?!kernel\b|__kernel\b)(?:[A-Za-z_][\w \t*]*[ \t*])(?P<function>\w+)[ \t]*\([^;{}()]*\)\s*\{"
    r"|^\}[ \t]*(?:__attribute__[ \t]*\(\([^\n]*\)\)[ \t]*)?(?P<type>\w+)[ \t]*;"
    r"|^(?:typedef[ \t]+)?(?:struct|union|enum)[ \t]+(?P<tag>\w+)[ \t]*\{"
    r"|^typedef\b[^;{}]*?(?P<alias>\w+)[ \t]*;"
    r"|^(?:__)?constant\b[^=;()]*?(?P<constant>\w+)[ \t]*(?:\[[^\]]*\][ \t]*)*=",
    re.M | re.ASCII,
)
KERNEL_NAME = re.compile(r"\b(?:__)?kernel\b[^;{}()]*?(?:\([^;{}]*?\)\)[^;{}()]*?)?\bvoid\s+(\w+)", re.ASCII)
_INCLUDE = re.compile(r"^[ \t]*#[ \t]*include[ \t]*[\"<](?:[^\">\n]*/)?([^\">/\n]+)[\">]", re.M)
_WORD = re.compile(r"[A-Za-z_]\w*", re.ASCII)


@dataclass(frozen=True, slots=True)
class ProjectFile:
    """A source file: what it defines at its top level, the names of files that it includes, and all words in it."""

    path: str  # absolute
    defines: frozenset[str]
    includes: frozenset[str]
    words: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Listing:
    at_s: float
    files: tuple[ProjectFile, ...]


class ProjectFiles:
    """Looks which files there are every few seconds, and reads each once. Not for two threads at once."""

    def __init__(self, clock_s: Callable[[], float] = time.monotonic) -> None:
        self._clock_s = clock_s
        self._listed: LRUCache[tuple[str, Reach | None], _Listing] = LRUCache(_FOLDERS_KEPT)
        self._read: LRUCache[tuple[str, int, int], ProjectFile | None] = LRUCache(4 * _MOST_FILES)

    def around(self, path: Path, reach: Reach | None) -> tuple[ProjectFile, ...]:
        """Return the source files of the project, those that are nearest to `path` first; that file is among them."""
        folder = os.path.dirname(os.path.abspath(path))
        known = self._listed.get((folder, reach))
        if known is None or self._clock_s() - known.at_s > _LISTING_HOLDS_S:
            project = project_folder(Path(folder))
            paths = _sources_below(str(project or folder), reach, is_deep=project is not None)
            nearest = sorted(paths, key=lambda each: (_distance(folder, each), each))
            files = tuple(file for each in nearest if (file := self._file(each)) is not None)
            known = self._listed[folder, reach] = _Listing(self._clock_s(), files)
        return known.files

    def _file(self, path: str) -> ProjectFile | None:
        """Return what a file defines; None for one that cannot be read, or is no OpenCL C."""
        try:
            stat = os.stat(path)
        except OSError:
            return None
        key = (path, stat.st_mtime_ns, stat.st_size)
        if key not in self._read:
            self._read[key] = _read(path)
        return self._read[key]


def project_folder(folder: Path) -> Path | None:
    """Return the nearest folder, from this one upward, that has a sign of a project; None if there is none."""
    folder = folder.absolute()
    for each in (folder, *folder.parents):
        if any(os.path.exists(each / sign) for sign in _PROJECT_SIGNS):  # `Path.exists` raises for names too long
            return each
    return None


def _sources_below(root: str, reach: Reach | None, *, is_deep: bool) -> Iterator[str]:
    entries = files = 0
    waiting = [root]
    for folder in waiting:  # breadth first: what is near the root is found even in a large project
        try:
            found = sorted(os.scandir(folder), key=lambda entry: entry.name)
        except OSError:
            continue
        for entry in found:
            entries += 1
            if entries > _MOST_ENTRIES or files >= _MOST_FILES:
                return
            if entry.is_dir(follow_symlinks=False):
                if is_deep and not entry.name.startswith(".") and entry.name not in FOLDERS_WITHOUT_SOURCES:
                    waiting.append(entry.path)
            elif entry.name.endswith(_SUFFIXES) and (reach is None or reach.holds(entry.path)):
                files += 1
                yield entry.path


def _distance(folder: str, path: str) -> int:
    """Return how many folders one goes through from a folder to a file."""
    mine, its = folder.split(os.sep), os.path.dirname(path).split(os.sep)
    same = next((n for n, (a, b) in enumerate(zip(mine, its, strict=False)) if a != b), min(len(mine), len(its)))
    return len(mine) + len(its) - 2 * same


def _read(path: str) -> ProjectFile | None:
    try:
        return project_file(path, read_plain(Path(path), _MOST_BYTES).decode("utf-8", "replace"))
    except OSError:
        return None


def project_file(path: str, text: str) -> ProjectFile | None:
    """Return what a file with this text defines and uses; None for code of a host program."""
    text = _BLOCK_COMMENT.sub(" ", text)
    if _HOST_CODE.search(text):
        return None
    defines = (word for match in _DEFINITION.finditer(text) for word in match.groups() if word)
    return ProjectFile(
        path,
        frozenset((*defines, *KERNEL_NAME.findall(text))),
        frozenset(_INCLUDE.findall(text)),
        frozenset(_WORD.findall(text)),
    )
