"""From a launch of which something would have to be assumed to what running some of its work-items tells of that.

`observe` is the one way there, for whoever has the time: commands in their own process, the server in another one.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from model.device import Device
from model.faults import internal_error
from model.launch.driver_choice import on_device
from model.launch.launch import Launch
from model.opencl.kernel import Kernel
from model.opencl.program import Program
from model.prediction import Prediction
from model.predictor import Predictor
from model.samples import SampleKey, Samples
from model.throughput.cpu_code import KnownCode
from model.work.analyse import analyse
from model.work.sampled import is_open, leaves_open, sampled, wanted_sites
from model.work.walk.sample import Sample
from model.work.walk.walk import Walk
from model.work.work import Work
from model.work.work_counts import WorkCounts

PATIENCE_S = 20.0  # of processor time, for counts that are to be the same everywhere


def sample_key(program: Program, kernel: Kernel, launch: Launch) -> SampleKey:
    return SampleKey(kernel.fingerprint, program.options.flags, launch.key)


def never() -> bool:
    return False


def observe(
    program: Program,
    kernel: Kernel,
    launch: Launch,
    cancelled: Callable[[], bool] = never,
    *,
    work: Work | None = None,
    walk: Walk | None = None,
    patience_s: float | None = None,
) -> Sample:
    """Run some of the work-items of `launch`, one instruction after the other; of none where nothing need be assumed.

    `work` must come of this very reading of `program`, since sites are comparable within one reading alone; without it
    the kernel is analysed afresh. `walk` is one of `launch` through `work`, without a sample, if there is one already.
    Loads NumPy. With `patience_s`, the number of steps ends a sample rather than the usual time, so that a busy
    machine finds the same.
    """
    if work is None:
        work, walk = analyse(program, kernel), None
    walk = walk or work.walk(launch)
    if not leaves_open(work, walk):
        return Sample(0)
    from model.sampling.run import sample_launch  # noqa: PLC0415 - loads NumPy, which most launches do without
    from model.sampling.sample import SampleBudget  # noqa: PLC0415

    budget = SampleBudget() if patience_s is None else SampleBudget(seconds=patience_s)
    try:
        raw = sample_launch(program, kernel, launch, wanted_sites(work, walk), budget, cancelled)
    except Exception as error:  # noqa: BLE001 - it is logged
        # A fault of ours must cost no more than the sample: the prediction then rests on what was assumed.
        return Sample(0, stopped=internal_error(error, "running some of the work-items").message)
    return sampled(work, walk, raw)


def count_observed(program: Program, kernel: Kernel, work: Work, launch: Launch) -> WorkCounts:
    """Return the counts of a launch; where something would have to be assumed, some work-items are run first.

    `work` must come of this very reading of `program`. Steps end a sample, not the clock: the same counts on every
    machine.
    """
    if work.sample_of(launch) is None:
        work.remember(launch, observe(program, kernel, launch, work=work, patience_s=PATIENCE_S))
    return work.count(launch)


class Observer:
    """Predicts by what running some of the work-items told. Not for two threads at once.

    With `runs`, they are run where that is not known yet, which takes up to a quarter of a second; without, it goes by
    the `samples` that somebody else puts there. `told` hears how long it took, in seconds.
    """

    def __init__(
        self,
        samples: Samples | None = None,
        *,
        runs: bool = False,
        told: Callable[[str, float], None] | None = None,
    ) -> None:
        self.samples = samples or Samples()
        self._runs = runs
        self._read_last: tuple[Program | None, list[Work]] = (None, [])
        self._told = told or (lambda _stage, _seconds: None)

    def note_analysis(self, program: Program, work: Work) -> None:
        """Note that `work` comes of this very reading of `program`: to be run, it need not be analysed afresh."""
        if not self._runs:
            return
        if self._read_last[0] is not program:
            self._read_last = (program, [])
        self._read_last[1].append(work)

    def predicted(
        self,
        predictor: Predictor,
        program: Program,
        kernel: Kernel,
        work: Work,
        launch: Launch,
        device: Device,
        code: KnownCode | None = None,
    ) -> tuple[Prediction, SampleKey | None]:
        """And where a sample would tell more, what that goes by."""
        key = sample_key(program, kernel, launch)
        sample = self.samples.of(key)
        if sample is not None:
            work.remember(launch, sample)
        elif self._runs and work.sample_of(launch) is None and work.sample_for(launch) is not None:
            # What another launch told is no more than a guess here: `is_open` says so of each prediction by it.
            self._observe(program, kernel, work, launch, key)
            return predictor.predict(work, launch, device, code), None
        prediction = predictor.predict(work, launch, device, code)
        if sample is not None or not is_open(work, launch, prediction.work):
            return prediction, None
        if not self._runs:
            return prediction, key
        counts = prediction.work
        is_walked = counts.sample is None and on_device(launch, device) is launch
        self._observe(program, kernel, work, launch, key, counts.facts.paths.walk if is_walked else None)
        return predictor.predict(work, launch, device, code), None

    def settled(self, program: Program, kernel: Kernel, work: Work, launch: Launch) -> SampleKey | None:
        """Have `work` know what running some work-items of `launch` tells; where that is not known, return its key."""
        key = sample_key(program, kernel, launch)
        sample = self.samples.of(key)
        if sample is not None:
            work.remember(launch, sample)
            return None
        if not self._runs:
            return key
        self._observe(program, kernel, work, launch, key)
        return None

    def _observe(
        self,
        program: Program,
        kernel: Kernel,
        work: Work,
        launch: Launch,
        key: SampleKey,
        walk: Walk | None = None,
    ) -> None:
        began_s = time.perf_counter()
        is_of_program = self._read_last[0] is program and any(known is work for known in self._read_last[1])
        sample = observe(program, kernel, launch, work=work if is_of_program else None, walk=walk)
        self._told("observe", time.perf_counter() - began_s)
        self.samples.put(key, sample)
        work.remember(launch, sample)
