"""The OpenCL C of public programs: files below a folder, and texts that stand in host code, with what they include.

A program is a folder. Nothing of it is kept here: it comes from the registries that `profiler.corpus.origins` names, or
lies on this machine already.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from profiler.corpus.origins.decontamination import is_exam_path, is_exam_text
from profiler.corpus.origins.literals import KERNEL, programs_in
from profiler.corpus.origins.origin import Origin
from profiler.corpus.origins.sources import (
    CODE_SUFFIXES,
    HEADER_SUFFIXES,
    MOST_BYTES,
    OPENCL_SUFFIXES,
    Unreachable,
    sources,
)

_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]+["<]([^">\n]+)[">]', re.MULTILINE)
_ENDS = tuple(suffix.removeprefix(".") for suffix in OPENCL_SUFFIXES)
MOST_INCLUDED = 300  # files


@dataclass(frozen=True, slots=True)
class Source:
    """One text that holds kernels: `file` is what is asked about, `reference` its path in the program."""

    reference: str
    file: Path
    include: tuple[str, ...] = ()  # the folders in which what it includes is found


def fetched(origins: Sequence[Origin], folder: Path, mirrors: Path | None) -> Iterator[tuple[str, Path]]:
    """Each origin's name and folder; those that cannot be had are named, and left out."""
    for origin in origins:
        try:
            yield origin.name, sources(origin, folder, mirrors)
        except Unreachable as error:
            print(error.message, flush=True)


def programs_below(folder: Path) -> Iterator[tuple[str, Path]]:
    """Each folder in `folder` is a program."""
    for place in sorted(folder.iterdir()):
        if place.is_dir() and not place.name.startswith("."):
            yield place.name, place


def sources_of(folder: Path, texts: Path) -> Iterator[Source]:
    """In order of their paths. Texts out of host code are written below `texts`; copies of one text count once."""
    files = {path.relative_to(folder).as_posix(): path for path in sorted(folder.rglob("*")) if path.is_file()}
    by_name: dict[str, list[str]] = {}
    for name in files:
        by_name.setdefault(name.rpartition("/")[2], []).append(name)
    seen: set[str] = set()
    # Files of OpenCL C first: host code often holds copies of them.
    for name in sorted(files, key=lambda name: (not name.lower().endswith(_ENDS), name)):
        for number, text in enumerate(_texts(name, files[name])):
            key = hashlib.sha256("".join(text.split()).encode()).hexdigest()
            if key in seen:
                continue
            seen.add(key)
            include = _include(text, name, files, by_name)
            if name.lower().endswith(_ENDS):
                yield Source(name, files[name], include)
                break
            file = texts / f"{name}.{number}.cl"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
            yield Source(f"{name}#{number}", file, (str(files[name].parent), *include))


def _texts(name: str, path: Path) -> Iterator[str]:
    lower = name.lower()
    if is_exam_path(name) or not lower.endswith((*_ENDS, *CODE_SUFFIXES, *HEADER_SUFFIXES)):
        return
    if path.stat().st_size > MOST_BYTES:
        return
    text = path.read_text(encoding="utf-8", errors="replace")
    if is_exam_text(text):
        return
    if lower.endswith(_ENDS):
        if KERNEL.search(text) or "kernel" in text or _INCLUDE.search(text):
            yield text
    elif KERNEL.search(text):
        yield from programs_in(text, is_python=lower.endswith((".py", ".mako", ".jinja")))


def _include(text: str, name: str, files: dict[str, Path], by_name: dict[str, list[str]]) -> tuple[str, ...]:
    """The folders from which every include is found that the program has, those of included files too."""
    folders: dict[str, None] = {}
    waiting = [(name, text)]
    seen = {name}
    for own, content in waiting:
        for wanted in _INCLUDE.findall(content):
            goal = _nearest(wanted.strip(), own, by_name)
            if goal is None:
                continue
            folders[str(files[goal])[: -len(wanted.lstrip("./")) - 1]] = None
            if goal not in seen and len(seen) < MOST_INCLUDED:
                seen.add(goal)
                waiting.append((goal, files[goal].read_text(encoding="utf-8", errors="replace")))
    return tuple(folders)


def _nearest(wanted: str, own: str, by_name: dict[str, list[str]]) -> str | None:
    ending = f"/{wanted.lstrip('./')}"
    among = [one for one in by_name.get(PurePosixPath(wanted).name, ()) if f"/{one}".endswith(ending)]
    parts = own.split("/")

    def distance(one: str) -> tuple[int, int, str]:
        shared = sum(1 for _ in _common(one.split("/"), parts))
        return -shared, len(one), one

    return min(among, key=distance, default=None)


def _common(a: list[str], b: list[str]) -> Iterator[str]:
    for x, y in zip(a, b, strict=False):
        if x != y:
            return
        yield x
