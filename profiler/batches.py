"""What the batches of a measurement say: which of them count, when they are enough, and how well the median is known.

Pure decisions over what was seen; `profiler.device_worker.timing` does the seeing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import exp, hypot, log, sqrt
from statistics import median

from profiler.statistics import CONFIDENCE_DEVIATIONS, median_interval, spread_percent

MIN_BATCHES = 6  # fewer cannot give a 95 % interval of the median
ENOUGH = 0.03  # half the interval, as a share of the median, at which measuring may stop
WARM = 0.02  # within which successive batches agree once clocks and caches have settled
WARM_BATCHES = 3
DISPLACED = 0.05  # share of the time it was ready to run that a batch's own threads had to wait
BUSY = 0.02  # share of the machine that others used, below which they cannot have been why
COUNTED_S = 0.03  # processor time that systems may miscount: they look every 10 ms, on each processor
CROWDED = 0.10  # share of the machine that others used; caches and memory are shared even where processors are not
FAR_OFF = 1.05  # a batch's median over that of the undisturbed ones
# Measured again later, in another process, the same launch differs by more than its own batches tell: code, stacks and
# buffers lie elsewhere. Half the deviation between batches, which use several placements of the buffers, and never less
# than this share of the median stands for it (standard deviation).
RUN_TO_RUN = 0.0075
RUN_PER_BATCH = 0.5
# A hypervisor's other guests share cores, caches and the clock with us: within seconds, the same instructions have been
# seen to take 12 % more processor time. A few batches do not show that, as it lasts for longer than they do.
SHARED = 0.005  # share of the machine that a hypervisor gave to others
RUN_TO_RUN_SHARED = 0.03
# Shares of the processors' time from which on a launch's time tells of others, too: of other programs, and of a
# hypervisor's other guests.
DISTURBED_OTHERS = 0.10
DISTURBED_STOLEN = 0.05
_COUNTED_WELL_S = 10 * COUNTED_S  # processor time over which the miscounted part is small


@dataclass(frozen=True, slots=True)
class Load:
    """What others did to this process, and to the machine, during a batch. None: this system does not tell."""

    elapsed_s: float
    processors: int
    ran_s: float  # processor time that this process used
    waited_s: float | None  # time that its threads were ready to run and others ran instead
    others_s: float | None  # processor time that others used; by miscounting it may come out below 0
    stolen_s: float = 0.0  # of it, what a hypervisor gave to its other guests
    matters: bool = True  # the kernel runs on these processors

    @property
    def displaced(self) -> float:
        """Share of the time that its threads could have run in which others did."""
        return self.waited_s / (self.waited_s + self.ran_s) if self.waited_s else 0.0

    @property
    def available_s(self) -> float:
        """Processor time that all processors together had to give."""
        return self.elapsed_s * self.processors

    @property
    def others(self) -> float:
        """Share of the machine's processor time that others used."""
        return max(0.0, self.others_s) / self.available_s if self.others_s and self.available_s else 0.0


@dataclass(frozen=True, slots=True)
class Batch:
    """Runs that followed one another. A train counts as one run, by its mean."""

    runs_us: tuple[float, ...]
    walls_us: tuple[float, ...] = ()  # of launches by themselves, from before enqueue to after finish
    overheads_us: tuple[float, ...] = ()  # what these walls have beyond their events
    load: Load | None = None

    @property
    def median_us(self) -> float:
        return median(self.runs_us)


@dataclass(frozen=True, slots=True)
class Judged:
    """The batches that count, and how many were thrown away because others disturbed them.

    `is_busy`: too few were undisturbed, so that the least disturbed count.
    """

    batches: tuple[Batch, ...]
    thrown_away: int = 0
    is_busy: bool = False


def judge(batches: Sequence[Batch]) -> Judged:
    """Throw away disturbed batches, provided that enough are left for an interval."""
    disturbed = disturbances(batches)
    quiet = tuple(batch for batch, is_disturbed in zip(batches, disturbed, strict=True) if not is_disturbed)
    if len(quiet) == len(batches):
        return Judged(quiet)
    if len(quiet) < MIN_BATCHES:
        least = _least_disturbed(batches)
        return Judged(least, len(batches) - len(least), is_busy=True)
    return Judged(quiet, len(batches) - len(quiet))


def _least_disturbed(batches: Sequence[Batch]) -> tuple[Batch, ...]:
    """As many as make an interval, in their order. By what others did alone: to choose by the times would flatter."""

    def disturbance(at: int) -> float:
        load = batches[at].load
        return max(load.displaced, load.others) if load is not None and load.matters else 0.0

    chosen = sorted(range(len(batches)), key=disturbance)[:MIN_BATCHES]
    return tuple(batches[at] for at in sorted(chosen))


def disturbances(batches: Sequence[Batch]) -> tuple[bool, ...]:
    """For each batch whether others disturbed it.

    That is where its threads had to wait for others, and where others used much of the machine and it took far longer
    than batches during which they did not (or, if these are too few, than those whose threads did not wait). A slow
    batch on an idle machine is no disturbance: the kernel is like that.
    """
    loads = [batch.load if batch.load is not None and batch.load.matters else None for batch in batches]
    known = [load for load in loads if load is not None]
    displaced = [load is not None and _is_displaced(load, known) for load in loads]
    unhindered = [at for at, waited in enumerate(displaced) if not waited]
    calm = [at for at in unhindered if (load := loads[at]) is None or load.others <= CROWDED]
    usual = calm if len(calm) >= WARM_BATCHES else unhindered
    usual_us = median(batches[at].median_us for at in usual) if usual else float("inf")
    return tuple(
        waited or (load is not None and load.others > CROWDED and batch.median_us > FAR_OFF * usual_us)
        for batch, load, waited in zip(batches, loads, displaced, strict=True)
    )


def _is_displaced(load: Load, in_all: Sequence[Load]) -> bool:
    """Threads wait for each other, too: that they waited for others takes others that ran."""
    if load.waited_s is None:  # all that can be said is what others used of the machine
        return load.others > CROWDED
    return load.displaced > DISPLACED and (others_ran([load]) or others_ran(in_all))


def others_ran(loads: Sequence[Load]) -> bool:
    """On this machine: while a hypervisor's other guests run, nobody here waits in a queue."""
    if any(load.others_s is None for load in loads):
        return True  # for all we know
    ran_s = sum((load.others_s or 0.0) - load.stolen_s for load in loads)
    return ran_s > BUSY * sum(load.available_s for load in loads) + COUNTED_S


def others_share(loads: Sequence[Load]) -> float | None:
    """Share of the machine's processor time that others used over all of them, in 0..1.

    None if the system does not tell, or if they were too short for it to have counted well.
    """
    return _share(loads, lambda load: load.others_s or 0.0)


def stolen_share(loads: Sequence[Load]) -> float | None:
    """Return the share of it that a hypervisor gave to its other guests; None as of `others_share`."""
    return _share(loads, lambda load: load.stolen_s)


def _share(loads: Sequence[Load], used_s: Callable[[Load], float]) -> float | None:
    told = [load for load in loads if load.others_s is not None]
    available_s = sum(load.available_s for load in told)
    if available_s < _COUNTED_WELL_S:
        return None
    return min(1.0, max(0.0, sum(map(used_s, told)) / available_s))


@dataclass(frozen=True, slots=True)
class Others:
    """Shares of the processors' time that other programs used, and that a hypervisor gave to its other guests.

    None where the system does not tell, or where that does not matter, since the device is no CPU.
    """

    programs: float | None = None
    guests: float | None = None

    @property
    def are_disturbing(self) -> bool:
        return (self.programs or 0.0) > DISTURBED_OTHERS or (self.guests or 0.0) > DISTURBED_STOLEN


def others_meanwhile(batches: Sequence[Batch], earlier: Sequence[Load] = ()) -> Others:
    """Return what others used during the batches that count.

    Where these are too short for the system to count well, those of launches timed just `earlier` count, too, the last
    ones first.
    """
    told = [batch.load for batch in batches if batch.load is not None and batch.load.matters]
    for load in reversed(earlier if told else ()):
        if sum(each.available_s for each in told) >= _COUNTED_WELL_S:
            break
        told.append(load)
    used, stolen = others_share(told), stolen_share(told)
    return Others(None if used is None or stolen is None else max(0.0, used - stolen), stolen)


def is_disturbed(batches: Sequence[Batch], others: Others) -> bool:
    """Return whether others used so much of the processors that a launch's time tells of them, too.

    `batches` are those that count; `others` as of `others_meanwhile`.
    """
    return others.are_disturbing or 2 * sum(disturbances(batches)) > len(batches)


def is_on_shared_host(loads: Sequence[Load]) -> bool:
    """Return whether kernels run on a virtual machine's processors, and its host is busy with others, too."""
    told = [load for load in loads if load.matters]
    return sum(load.stolen_s for load in told) > SHARED * sum(load.available_s for load in told)


def is_warm(medians_us: Sequence[float]) -> bool:
    """Return whether the last few batches agree: clocks have risen, caches and branch predictors have learned."""
    last = medians_us[-WARM_BATCHES:]
    return len(last) == WARM_BATCHES and max(last) <= (1 + WARM) * min(last)


def is_enough(batches: Sequence[Batch]) -> bool:
    """Return whether the sampling error of the median is small enough to stop: half its 95 % interval within 3 %.

    This is what more batches could improve; `repeat_interval`, which is wider, is what a repeat will show.
    """
    if len(batches) < MIN_BATCHES:
        return False
    low, high = sampling_interval(batches)
    return (high - low) / 2 <= ENOUGH * median_of(batches)


def median_of(batches: Sequence[Batch]) -> float:
    return median(runs_of(batches))


def runs_of(batches: Sequence[Batch]) -> list[float]:
    return [run for batch in batches for run in batch.runs_us]


def sampling_interval(batches: Sequence[Batch]) -> tuple[float, float]:
    """95 % interval of the median [us], from the batches' medians: runs within a batch are not independent."""
    low, high = median_interval([batch.median_us for batch in batches])
    middle = median_of(batches)
    return min(low, middle), max(high, middle)


def repeat_interval(batches: Sequence[Batch], *, on_shared_host: bool = False) -> tuple[float, float]:
    """Where the median of a repeat in a new process will lie, with 95 % confidence [us].

    Both medians carry the run-to-run deviation, hence the root of two; the sampling error is added to it in quadrature.
    A few batches hardly tell how they spread: with fewer than make an interval, the deviation is taken to be larger.
    """
    middle = median_of(batches)
    low, high = sampling_interval(batches)
    between = spread_percent([batch.median_us for batch in batches]) / 100
    least = RUN_TO_RUN_SHARED if on_shared_host else RUN_TO_RUN
    run_to_run = max(least, RUN_PER_BATCH * between) * sqrt(max(1.0, MIN_BATCHES / len(batches)))
    reach = CONFIDENCE_DEVIATIONS * sqrt(2) * run_to_run
    if not 0 < low <= middle:
        return low, high * exp(reach)
    # By factors: a time may well be three times as long, but not 200 % shorter.
    return middle * exp(-hypot(log(middle / low), reach)), middle * exp(hypot(log(high / middle), reach))
