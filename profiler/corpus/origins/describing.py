"""Kernels with the launches of their own programs: those that a table describes, checked like any others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase

from model.errors import KernelcastError
from model.launch.inference import buffer_bytes, complete
from model.launch.launch import Launch
from model.opencl.kernel import Kernel
from model.opencl.program import Program, read_program
from model.work.analyse import analyse
from profiler.corpus.kernel import CorpusKernel, CorpusLaunch, Vary
from profiler.corpus.origins.building import BuiltProgram
from profiler.corpus.origins.jobs import ProofTry
from profiler.corpus.origins.launching import data_of
from profiler.corpus.origins.origin import Origin
from profiler.corpus.origins.planning import alone, counted
from profiler.corpus.origins.proving import proved
from profiler.corpus.origins.tables import DescribedLaunch, DescribedProgram
from profiler.measurement import MeasureError

MOST_LAUNCHES = 4  # of a kernel
MOST_BYTES = 512 << 20
LONGEST_US = 1e6
_MOST_NAMED = 8  # kernels in a complaint


@dataclass(frozen=True, slots=True)
class DescribedKernel:
    """`launches` are complete, each with where it was described; `corpus` is still without them."""

    corpus: CorpusKernel
    kernel: Kernel
    launches: tuple[tuple[DescribedLaunch, Launch], ...]


def described_kernels(
    origin: Origin, program: BuiltProgram, asked: DescribedProgram, known: set[str], dropped: Counter[str],
    complaints: list[str],
) -> Iterator[DescribedKernel]:  # fmt: skip
    """Of a program that was built with the options of its launches; what cannot be is among `complaints`."""
    read = read_program(program.text, None, program.options)
    names = [kernel for kernel in program.kernels if any(fnmatchcase(kernel, one.kernel) for one in asked.launches)]
    for launch in asked.launches:
        if not any(fnmatchcase(name, launch.kernel) for name in names):
            some = ", ".join(program.kernels[:_MOST_NAMED]) + (" ..." if len(program.kernels) > _MOST_NAMED else "")
            complaints.append(
                launch.complaint(
                    f"{program.reference} has no kernel `{launch.kernel}` when it is built so; it has {some}"
                )
            )
    for name in names:
        own = [launch for launch in asked.launches if fnmatchcase(name, launch.kernel)]
        one = None
        with counted(dropped):
            one = _described(origin, program, read, name, own[:MOST_LAUNCHES], known, dropped, complaints)
        if one is not None:
            yield one


def with_described_launches(
    kernels: Sequence[DescribedKernel], device_id: str, known: set[str], complaints: list[str]
) -> Iterator[CorpusKernel]:
    """Kernels with those launches that stay inside their buffers and end in time, for each that has any.

    The others are no longer among `known`: their launches can be inferred.
    """
    tries = [ProofTry(one.corpus.source, one.kernel, launch) for one in kernels for _, launch in one.launches]
    outcomes = iter(proved(tries, device_id))
    for one in kernels:
        launches: list[CorpusLaunch] = []
        for described, _ in one.launches:
            made, outcome = next(outcomes)
            if isinstance(outcome, MeasureError):
                complaints.append(described.complaint(f"`{one.kernel.name}`: {outcome.message}"))
            elif not outcome.checked:
                complaints.append(described.complaint(f"`{one.kernel.name}` was not shown to stay inside its buffers"))
            elif outcome.runtime_us > LONGEST_US:
                took = f"{outcome.runtime_us / 1e6:.1f} s"
                complaints.append(described.complaint(f"`{one.kernel.name}` takes {took}, which is too long"))
            else:
                launches.append(CorpusLaunch(made.launch, Vary.PROGRAM, data_of(made.launch), outcome.checked))
        if launches:
            yield replace(one.corpus, launches=tuple(launches))
        else:
            known.discard(one.corpus.id)


def unproved(one: DescribedKernel) -> CorpusKernel:
    """Return the kernel with its launches unchecked."""
    launches = tuple(CorpusLaunch(launch, Vary.PROGRAM, data_of(launch)) for _, launch in one.launches)
    return replace(one.corpus, launches=launches)


def _described(
    origin: Origin, program: BuiltProgram, read: Program, name: str, launches: Sequence[DescribedLaunch],
    known: set[str], dropped: Counter[str], complaints: list[str],
) -> DescribedKernel | None:  # fmt: skip
    found = alone(origin, program, read, name, known, dropped)
    if found is None:
        return None
    corpus, kernel = found
    work = analyse(read, kernel)
    made: list[tuple[DescribedLaunch, Launch]] = []
    for described in launches:
        spec = replace(described.spec, options=program.options)
        try:
            launch = complete(kernel, work, spec)
        except KernelcastError as error:
            complaints.append(described.complaint(f"`{name}`: {error.message}"))
            continue
        if (total := buffer_bytes(kernel, launch)) > MOST_BYTES:
            complaints.append(described.complaint(f"`{name}` takes {total >> 20} MiB, more than {MOST_BYTES >> 20}"))
        elif all(launch.key != other.key for _, other in made):
            made.append((described, launch))
    if not made:
        return None
    known.add(corpus.id)
    return DescribedKernel(corpus, kernel, tuple(made))
