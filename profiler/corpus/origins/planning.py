"""What kernels of built programs are worth having, each alone in its text, with a first launch that is inferred."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from model.errors import KernelcastError
from model.launch.launch import Launch
from model.opencl.kernel import Kernel
from model.opencl.normalise import identity, normalised_tokens
from model.opencl.program import Program, read_program
from model.work.work import Work
from profiler.corpus.kernel import CorpusKernel
from profiler.corpus.origins.building import BuiltProgram
from profiler.corpus.origins.decontamination import is_exam_kernel
from profiler.corpus.origins.launching import first_launch, time_limit
from profiler.corpus.origins.origin import Origin
from profiler.corpus.origins.pruning import pruned
from profiler.extract_kernels import with_only

ANALYSIS_LIMIT_S = 20
FEWEST_TOKENS = 40  # kernels below do next to nothing
LONG_SOURCE = 60_000  # characters from which on what a kernel does not use is left out
LONGEST_SOURCE = 400_000  # characters of a kernel with all that it stands upon
_BLANK_LINES = re.compile(r"(?<!\\)\n(?:[ \t\r]*\n)+")  # not what goes on behind a backslash


@dataclass(frozen=True, slots=True)
class Planned:
    corpus: CorpusKernel  # without launches
    kernel: Kernel
    work: Work
    first: Launch


def planned(origin: Origin, program: BuiltProgram, known: set[str], dropped: Counter[str]) -> Iterator[Planned]:
    """Kernels that are not among `known`, which names them by what they are and by where they stand."""
    read = read_program(program.text, None, program.options)
    for name in program.kernels:
        if f"{origin.name} {program.reference}:{name}" in known:
            dropped["duplicates"] += 1
            continue
        one = None
        with counted(dropped):
            one = _planned(origin, program, read, name, known, dropped)
        if one is not None:
            yield one


def _planned(
    origin: Origin, program: BuiltProgram, read: Program, name: str, known: set[str], dropped: Counter[str]
) -> Planned | None:
    found = alone(origin, program, read, name, known, dropped)
    if found is None:
        return None
    corpus, kernel = found
    known.add(corpus.id)
    work, first = first_launch(read, kernel, program.options)
    return Planned(corpus, kernel, work, first)


def alone(
    origin: Origin, program: BuiltProgram, read: Program, name: str, known: set[str], dropped: Counter[str]
) -> tuple[CorpusKernel, Kernel] | None:
    """Return the kernel `name` of a program without the others, if it is worth having and none of `known`."""
    if is_exam_kernel(name):
        dropped["kernels of the exam's suites"] += 1
        return None
    kernel = read.by_name.get(name)
    if kernel is None:
        dropped["kernels that our parser does not see"] += 1
        return None
    tokens = normalised_tokens(read, name)
    key = identity(tokens, program.options.flags)
    if len(tokens) < FEWEST_TOKENS or not kernel.parameters:
        dropped["kernels that do next to nothing"] += 1
        return None
    if key in known:
        dropped["duplicates"] += 1
        return None
    text = program.text
    if len(read.kernels) > 1:
        text = with_only([name], text, None, program.options)
    text = pruned(text) if len(text) > LONG_SOURCE else _BLANK_LINES.sub("\n", text)
    if len(text) > LONGEST_SOURCE:
        dropped["kernels with too long a source"] += 1
        return None
    reference = f"{program.reference}:{name}"
    return CorpusKernel(key, origin.name, origin.name, origin.field, reference, name, text, program.options), kernel


@contextmanager
def counted(dropped: Counter[str]) -> Iterator[None]:
    """Limits the time that a kernel's analysis takes, and counts what ends it."""
    try:
        with time_limit(ANALYSIS_LIMIT_S):
            yield
    except KernelcastError as error:
        dropped[f"kernels without a launch: {type(error).__name__}"] += 1
    except Exception as error:  # noqa: BLE001  a mistake of ours must cost one kernel only; the summary names it
        dropped[f"kernels that our analysis fails on: {type(error).__name__}"] += 1
