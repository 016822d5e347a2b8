"""What the rules look at: one launch on one device, with what was counted and predicted of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod

from model.analytic.launch_times import access_time_us, launch_times
from model.device import Device, DeviceType
from model.launch.driver_choice import effective_local_size, on_device
from model.launch.launch import Launch
from model.opencl.kernel import Parameter, ParameterKind
from model.opencl.types import AddressSpace, ScalarKind, ScalarType
from model.prediction import Prediction
from model.work.counts import AccessCount
from model.work.features.facts import AccessFacts
from model.work.work import Work
from model.work.work_counts import WorkCounts

GLOBAL_SPACES = frozenset({AddressSpace.GLOBAL, AddressSpace.GENERIC, AddressSpace.CONSTANT})
LEAST_GAIN = 0.05  # of the predicted runtime; less is not worth an edit, nor surely there
# Launches shorter than this are not worth anybody's time, and mostly what it costs to launch them.
_FLOORS = 4
_LEAST_US = 20.0
# Below, a CPU gains nothing from one more processor, which has to be woken: of 47 kernels that used one of two, on two
# runtimes, 32 were faster with both, and 24 of the 29 that were predicted to take this long.
WAKING_US = 100.0


@dataclass(frozen=True, eq=False)
class Situation:
    """`prediction` has its lines where `work` has them. `source_line` gives the text of such a line (from 0)."""

    work: Work
    launch: Launch
    prediction: Prediction
    device: Device
    source_line: Callable[[int], str]

    @property
    def counts(self) -> WorkCounts:
        return self.prediction.work

    @property
    def is_gpu(self) -> bool:
        """Whether lanes are work-items and local memory is memory of its own."""
        return self.device.type is DeviceType.GPU

    @property
    def runtime_us(self) -> float:
        return self.prediction.runtime_us.p50

    @cached_property
    def local_size(self) -> tuple[int, int, int]:
        size = (*effective_local_size(on_device(self.launch, self.device), self.work.kernel), 1, 1, 1)
        return size[0], size[1], size[2]

    @property
    def group_items(self) -> int:
        return prod(self.local_size)

    @property
    def is_local_size_given(self) -> bool:
        """By the launch or by the kernel itself, so that neither we nor the driver chose."""
        if self.work.kernel.attributes.reqd_work_group_size is not None:
            return True
        return self.launch.local_size is not None and not self.is_assumed("local")

    def is_assumed(self, *subjects: str) -> bool:
        """Return whether one of these (parameters, "global", "local") was assumed and not given."""
        return any(a.subject in subjects for a in self.launch.assumptions)

    @property
    def is_guessed(self) -> bool:
        """Whether sizes or scalars of the launch were taken for granted, so that figures rest upon them."""
        scalars = self.work.kernel.of_kind(ParameterKind.SCALAR, ParameterKind.STRUCT)
        return self.is_assumed("global", "local", *(p.name for p in scalars if not _is_float(p)))

    @property
    def knows_neighbours(self) -> bool:
        """Whether it is sure which work-items run side by side: in more than one dimension the local size decides."""
        return len(self.launch.global_size) == 1 or not self.is_assumed("global", "local")

    def accesses(self, *spaces: AddressSpace) -> Iterator[AccessFacts]:
        """Yield executed loads and stores in these address spaces that go to memory, without atomics."""
        for facts in self.counts.facts.accesses:
            count = facts.count
            if count.space in spaces and count.count and count.element_bytes and not count.is_atomic:
                yield facts

    def gain_us(self, changes: Sequence[tuple[AccessCount, AccessCount]], *, more_local_bytes: float = 0.0) -> float:
        """Return how much sooner [us] the launch would end with these accesses changed, each from one to the other."""
        after = dict(changes)
        return self.runtime_us - self.predicted_us(
            replace(
                self.counts,
                accesses=tuple(after.get(access, access) for access in self.counts.accesses),
                local_load_bytes=self.counts.local_load_bytes + more_local_bytes,
            )
        )

    def gain_of_groups_us(self, width: int) -> float:
        """Return how much sooner [us] the launch would end in groups of `width` along dimension 0 and 1 elsewhere."""
        size = (width, *(1 for _ in self.launch.global_size[1:]))
        launch = replace(self.launch, local_size=size, chosen_local_size=None)
        return self.runtime_us - self.predicted_us(self.work.count(launch, self.work.sample_for(launch)))

    def predicted_us(self, counts: WorkCounts) -> float:
        """Return the analytical model's time [us] for other counts than the launch has."""
        return launch_times(counts, self.device, self.prediction.code).bounded_us

    def alone_us(self, accesses: Sequence[AccessCount]) -> float:
        """Return what is theirs of the time [us] that global memory adds to the launch."""
        every = [a for a in self.counts.accesses if a.space in GLOBAL_SPACES and not a.is_atomic]
        whole, rates = self.counts.global_footprint_bytes, self.device.rates

        def time_us(some: Sequence[AccessCount]) -> float:
            return sum(access_time_us(access, rates, whole, is_cpu=not self.is_gpu) for access in some)

        total_us = time_us(every)
        needed_us = self.prediction.account.time_of("global memory")
        return needed_us * time_us(accesses) / total_us if total_us else 0.0

    @property
    def is_long(self) -> bool:
        """Whether the launch is much more than its floor, so that advice could change anything."""
        return self.runtime_us > max(_LEAST_US, _FLOORS * self.device.rates.launch_floor_us)

    def is_worth(self, gain_us: float) -> bool:
        """Return whether so much is more than a trifle of this launch."""
        return self.is_long and gain_us >= LEAST_GAIN * self.runtime_us


def _is_float(parameter: Parameter) -> bool:
    """Return whether a parameter is a float: counts and places depend on whole numbers only."""
    return isinstance(parameter.type, ScalarType) and parameter.type.kind is ScalarKind.FLOAT
