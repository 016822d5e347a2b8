"""One kernel of the dataset, read and counted again: its tokens, each launch in numbers, and analytical times."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from model.analytic.launch_times import launch_times
from model.device import Device
from model.errors import KernelcastError
from model.launch.driver_choice import on_device
from model.launch.launch import Launch
from model.learned.launch_facts import launch_facts
from model.learned.question import analytic_facts
from model.observing import count_observed
from model.opencl.normalise import normalised_tokens
from model.opencl.options import BuildOptions
from model.opencl.program import read_program
from model.work.analyse import analyse
from profiler.corpus.origins.launching import time_limit

LIMIT_S = 60


@dataclass(frozen=True, slots=True)
class Source:
    """A kernel of the dataset as it is read: with its launches by their keys."""

    id: str
    name: str
    text: str
    options: BuildOptions
    launches: tuple[tuple[str, Launch], ...]


@dataclass(frozen=True, slots=True)
class Counted:
    """Features of each launch by its key, and the analytical ones by device (`launch_facts`, `analytic_features`).

    A launch of which drivers choose the local size stands there once for each choice, with the devices that make it.

    `failure` says why there are none, or not of all launches.
    """

    id: str
    tokens: tuple[str, ...] = ()
    launches: tuple[tuple[str, tuple[float, ...], Mapping[str, tuple[float, ...]]], ...] = ()
    failure: str = ""


def counted(
    source: Source, devices: Mapping[str, Device], wanted: Mapping[str, Collection[str]] | None = None
) -> Counted:
    """Count a kernel's launches for all `devices`, or of each launch for those that are `wanted` by its key.

    In a process' first thread only. Never raises for what a kernel is like.
    """
    found: list[tuple[str, tuple[float, ...], Mapping[str, tuple[float, ...]]]] = []
    tokens: Sequence[str] = ()
    try:
        with time_limit(LIMIT_S):
            program = read_program(source.text, None, source.options)
            kernel = program.kernel(source.name)
            tokens = normalised_tokens(program, source.name)
            work = analyse(program, kernel)
            for key, launch in source.launches:
                for_these = devices if wanted is None else {name: devices[name] for name in sorted(wanted[key])}
                own = {name: on_device(launch, device) for name, device in for_these.items()}
                for each in dict.fromkeys(own.values()):
                    counts = count_observed(program, kernel, work, each)
                    analytic = {
                        n: analytic_facts(launch_times(counts, devices[n])) for n, same in own.items() if same == each
                    }
                    found.append((key, launch_facts(work, counts, each), analytic))
    except (KernelcastError, RecursionError) as error:
        return Counted(source.id, tuple(tokens), tuple(found), str(error) or type(error).__name__)
    return Counted(source.id, tuple(tokens), tuple(found))
