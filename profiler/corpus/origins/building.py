"""Makes programs build: what their host would have put in front of them is found in the package, or guessed."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from model.opencl.options import BuildOptions
from model.opencl.program import read_program
from profiler.corpus.origins.definitions import Definitions
from profiler.corpus.origins.finding import FoundProgram
from profiler.corpus.origins.jobs import BUILD_JOB, BUILD_S, Builds, BuildTry, outcomes
from profiler.corpus.origins.supplying import guessed_defines, lacking, without_consequences
from profiler.extract_kernels import with_only
from profiler.measurement import MeasureError

MOST_ROUNDS = 6
CHUNK = 60  # programs in one process
_ERROR_LINE = re.compile(r"error: [^:\n]*kernel\.cl:(\d+):|kernel\.cl:(\d+):\d+: error: ")


@dataclass(frozen=True, slots=True)
class BuiltProgram:
    """`text` and `options` with all that was supplied to `found`; `kernels` are those that the compiler saw."""

    found: FoundProgram
    text: str
    options: BuildOptions
    kernels: tuple[str, ...]

    @property
    def reference(self) -> str:
        return self.found.reference


@dataclass
class _Candidate:
    """A program on its way; `known` are the names that it was given already."""

    found: FoundProgram
    text: str
    defines: dict[str, str] = field(default_factory=dict)
    known: set[str] = field(default_factory=set)
    attempt: int = 0
    log: str = ""

    def options(self) -> BuildOptions:
        return self.found.options.merged(BuildOptions(tuple(self.defines.items())))


def built(
    programs: Sequence[FoundProgram], definitions: Definitions, device_id: str, dropped: Counter[str]
) -> list[BuiltProgram]:
    """Those of `programs` that build in the end; `dropped` counts the others."""
    done: list[BuiltProgram] = []
    waiting = [_Candidate(one, one.text) for one in programs]
    for _ in range(MOST_ROUNDS):
        again: list[_Candidate] = []
        for start in range(0, len(waiting), CHUNK):
            chunk = waiting[start : start + CHUNK]
            tries = [BuildTry(one.text, one.options()) for one in chunk]
            for one, outcome in zip(chunk, outcomes(BUILD_JOB, device_id, tries, BUILD_S, Builds), strict=True):
                if isinstance(outcome, Builds):
                    done.append(BuiltProgram(one.found, one.text, one.options(), outcome.kernels))
                elif _supplied(one, definitions, outcome):
                    again.append(one)
                else:
                    dropped["programs that do not build"] += 1
        waiting = again
        if not waiting:
            break
    dropped["programs that do not build"] += len(waiting)
    return done


def _supplied(one: _Candidate, definitions: Definitions, error: MeasureError) -> bool:
    """Return whether there is anything left to try."""
    asked = without_consequences(lacking(error.log), one.text)
    fresh = [name for name in asked.all if name not in one.known]
    if fresh:
        texts = definitions.closure(fresh, one.found.reference, one.known)
        if texts:
            one.text = "\n".join([*texts, one.text])
        left = replace(
            asked,
            types=tuple(n for n in asked.types if n not in one.known),
            names=tuple(n for n in asked.names if n not in one.known),
            functions=tuple(n for n in asked.functions if n not in one.known),
        )
        one.defines |= guessed_defines(left, one.text, 0)
        one.known |= set(fresh)
    elif one.attempt < 2 and one.defines:
        one.attempt += 1
        kinds = lacking("")
        numbers = [name for name in one.defines if "(" not in name]
        types = tuple(n for n in numbers if one.defines[n].rstrip("0123456789") in ("float", "int"))
        names = tuple(n for n in numbers if n not in types)
        one.defines |= guessed_defines(replace(kinds, types=types, names=names), one.text, one.attempt)
    else:
        return _without_broken_kernels(one, error)
    one.log = error.log
    return True


def _without_broken_kernels(one: _Candidate, error: MeasureError) -> bool:
    """Leave out the kernels that the compiler's messages are about, if others remain."""
    lines = {int(first or second) - 1 for first, second in _ERROR_LINE.findall(error.log)}
    kernels = read_program(one.text, None, one.options()).kernels
    broken = {k.name for k in kernels if any(k.range.start_line <= at <= k.range.end_line for at in lines)}
    kept = [k.name for k in kernels if k.name not in broken]
    if not broken or not kept:
        return False
    text = with_only(kept, one.text, None, one.options())
    is_new = text != one.text
    one.text = text
    return is_new
