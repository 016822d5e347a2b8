"""The programs of a package: its files of OpenCL C, and OpenCL C that stands as text in other files."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from model.opencl.options import BuildOptions
from profiler.corpus.origins.decontamination import is_exam_path, is_exam_text
from profiler.corpus.origins.includes import with_includes
from profiler.corpus.origins.jobs import WRITE_JOB, Written, outcomes
from profiler.corpus.origins.licences import has_strict_head
from profiler.corpus.origins.literals import KERNEL, programs_in
from profiler.corpus.origins.sources import CODE_SUFFIXES, HEADER_SUFFIXES, OPENCL_SUFFIXES, Unreachable
from profiler.installing import install_command
from profiler.measurement import MeasureError

# A text around the text: literals of a host's language, or a macro that makes one of its argument.
_IS_HOST = re.compile(r'R"|\bchar\s*\*\s*\w+\s*=|\bstd::string\b|=[ \t]*#[ \t]*\w+[ \t]*;')
_IS_KERNELS = re.compile(r"^[ \t]*__kernel\b", re.MULTILINE)  # as in a file of C only where it is OpenCL C
_MAIN = re.compile(r"\bmain\s*\(")
WRITE_S = 600.0
_AT_A_TIME = 200
MOST_CHARACTERS = 600_000  # of a program with all that it includes


@dataclass(frozen=True, slots=True)
class FoundProgram:
    """`reference` is the path in the package, with a number where one file holds several texts."""

    reference: str
    text: str
    options: BuildOptions = BuildOptions()  # as the host passes them, where that is known


def recorded_programs(path: Path) -> Iterator[FoundProgram]:
    """Programs as a host passed them to its driver, one JSON line each: what hosts put together is not found in files.

    Keys are `reference`, `text`, `defines` (pairs) and `flags`.
    """
    for line in path.read_text(encoding="utf-8").splitlines():
        given = json.loads(line)
        defines = tuple((str(name), str(value)) for name, value in given.get("defines", ()))
        yield FoundProgram(given["reference"], given["text"], BuildOptions(defines, (), tuple(given.get("flags", ()))))


def written_programs(device_id: str) -> Iterator[FoundProgram]:
    """Yield what an installed library writes when it is asked for all that it can do, each text once.

    Raises Unreachable where it writes nothing at all.
    """
    known: set[str] = set()
    for place in range(0, 1 << 20, _AT_A_TIME):
        made = outcomes(WRITE_JOB, device_id, range(place, place + _AT_A_TIME), WRITE_S, Written)
        written = [one for one in made if isinstance(one, Written)]
        if not written and not known:
            reasons = {one.message for one in made if isinstance(one, MeasureError)}
            raise Unreachable(
                f"the library writes no kernels here ({'; '.join(sorted(reasons))}); PyOpenCL's templates need Mako: "
                f"{install_command('corpus')}"
            )
        for reference, text in (source for one in written for source in one.sources):
            if text not in known:
                known.add(text)
                yield FoundProgram(reference, text)
        if not written or any(one.is_last for one in written):
            return


def programs_of(folder: Path, dropped: Counter[str]) -> Iterator[FoundProgram]:
    """In order of their paths; `dropped` counts files that are left out, by reason."""
    files = {path.relative_to(folder).as_posix(): path for path in sorted(folder.rglob("*")) if path.is_file()}
    by_name: dict[str, list[str]] = {}
    for name in files:
        by_name.setdefault(name.rpartition("/")[2], []).append(name)
    for name, path in files.items():
        lower = name.lower()
        if not lower.endswith((*OPENCL_SUFFIXES, *CODE_SUFFIXES, *HEADER_SUFFIXES)):
            continue
        text = path.read_text(encoding="utf-8", errors="replace")
        if not KERNEL.search(text):
            continue
        if is_exam_path(name) or is_exam_text(text, folder.name):
            dropped["files of the exam's suites"] += 1
            continue
        if has_strict_head(text):
            dropped["files under a stricter licence"] += 1
            continue
        for number, found in enumerate(_texts(lower, text)):
            whole = with_includes(found, name, files, by_name)
            if len(whole) > MOST_CHARACTERS:
                dropped["programs that are too long"] += 1
            elif has_strict_head(whole) and whole != found:
                dropped["files under a stricter licence"] += 1
            else:
                yield FoundProgram(name if number == 0 else f"{name}#{number}", whole)


def _texts(name: str, text: str) -> list[str]:
    if name.endswith(OPENCL_SUFFIXES):
        raw = list(programs_in(text, is_python=False)) if _IS_HOST.search(text) else []
        return raw or [text]
    if name.endswith(".c") and _IS_KERNELS.search(text) and not _MAIN.search(text) and not _IS_HOST.search(text):
        return [text]
    return list(programs_in(text, is_python=name.endswith((".py", ".mako", ".jinja"))))
