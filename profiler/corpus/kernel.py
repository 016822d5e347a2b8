"""A kernel of the corpus with its launches, whoever wrote it, and what is kept of one timed launch."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from model.launch.launch import Launch
from model.opencl.options import BuildOptions

GENERATOR = "generator"  # the origin of kernels of our own
SEED = "kernelcast corpus 1"  # of everything that the generator draws


class Vary(StrEnum):
    """What sets a launch apart from the first one of its kernel."""

    FIRST = "first"
    DATA = "data"  # another data size, the same global size
    GLOBAL = "global"  # another global size, the same data size
    LOCAL = "local"  # another local size, all else the same
    FRESH = "fresh"  # everything drawn anew
    PROGRAM = "program"  # nothing: the kernel's own program launches it so


@dataclass(frozen=True, slots=True)
class CorpusLaunch:
    """`data` is the number of elements that the kernel works on, see `profiler.corpus.family.Wish`; 0: not known.

    `checked` is how it was shown that the launch stays inside its buffers, as in `Measurement.checked`; empty: not yet.
    """

    launch: Launch
    vary: Vary = Vary.FIRST
    data: int = 0
    checked: str = ""


@dataclass(frozen=True, slots=True)
class CorpusKernel:
    """One kernel as it is built and run.

    `id` is that of the normalised source: kernels that differ in names, layout and comments alone share it.
    `reference` finds the source again: the generator's seed, or the path in a package and the kernel's name.
    """

    id: str
    origin: str  # `GENERATOR`, or the name of a package or repository
    family: str  # of the generator; of others the origin again
    group: str
    reference: str
    name: str
    source: str
    options: BuildOptions = BuildOptions()
    path: str | None = None  # of the file that `source` was read from, for its includes
    launches: tuple[CorpusLaunch, ...] = ()
    in_place: tuple[str, ...] = ()  # buffers whose contents are put back before each run
    choices: tuple[tuple[str, str], ...] = ()  # that the generator made


@dataclass(frozen=True, slots=True)
class CorpusDevice:
    """A device of the collection: all of an OpenCL device, or as much of it as some processors give.

    `id` names it in the dataset (`pocl`, `pocl-1core`), `device_id` is the one that `kernelcast devices` knows.
    """

    id: str
    device_id: str
    processors: int | None = None  # how many it may use; None: all


@dataclass(frozen=True, slots=True)
class RowTiming:
    """Of one launch on one device. Times are those of profiling events."""

    median_us: float  # of the batches
    p10_us: float  # of the runs
    p90_us: float
    wall_us: float  # median, from before enqueue to after finish
    runs: int
    batches_us: tuple[float, ...]  # medians of the batches, which lie some tenths of a second apart
    paces_us: tuple[float, ...]  # of a fixed piece of host work around each: how fast the processors were then
    batch_spread_percent: float  # between the batches' medians
    other_load_percent: float | None  # of the machine's processor time, what others used meanwhile
    stolen_percent: float | None  # of it, what a hypervisor gave to other guests
    is_disturbed: bool
    load_average: float
    measured_at: str  # ISO 8601, UTC
