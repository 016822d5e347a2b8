"""A calibration times every probe in rounds, trusts what nothing disturbed, and repeats what does not agree."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from profiler.batches import Load
from profiler.device_worker.calibration.probe import difference_noise
from profiler.device_worker.calibration.rounds import (
    Decides,
    Plan,
    Sample,
    Timed,
    agreed,
    decided_us,
    is_disturbed,
    run_rounds,
)
from profiler.measurement import MeasureError

CALM = Load(elapsed_s=1.0, processors=4, ran_s=4.0, waited_s=0.0, others_s=0.0)
CROWDED = Load(elapsed_s=1.0, processors=4, ran_s=2.0, waited_s=2.0, others_s=2.0)
IN_EACH_OTHERS_WAY = Load(elapsed_s=1.0, processors=4, ran_s=2.0, waited_s=2.0, others_s=0.0)
STOLEN = Load(elapsed_s=1.0, processors=4, ran_s=2.0, waited_s=2.0, others_s=2.0, stolen_s=2.0)
TIMES = st.lists(st.floats(1.0, 1e6), min_size=1, max_size=15)


@dataclass
class Machine:
    """Says of each sample, in their order, whether others disturbed it; of none once the list is through."""

    disturbed: list[bool] = field(default_factory=list)
    _left: Iterator[bool] = field(init=False)

    def __post_init__(self) -> None:
        self._left = iter(self.disturbed)

    def begin(self) -> None:
        pass

    def end(self) -> Load:
        return CROWDED if next(self._left, False) else CALM


def probe(*times_us: float, probe: int = 0) -> Timed:
    """A launch that takes one of these after the other, each for a whole sample, and the last for ever."""
    left = [us for us in times_us for _ in range(2)]  # a run to warm up, and one that counts
    return Timed(lambda: left.pop(0) if len(left) > 1 else left[0], items=1, runs=1, probe=probe)


def calm(*times_us: float) -> list[Sample]:
    return [Sample(us, is_disturbed=False) for us in times_us]


def run(launches: list[Timed], rounds: int = 3, repeat_s: float = 0.0, machine: Machine | None = None) -> list[str]:
    told: list[str] = []
    watch = machine or Machine()
    run_rounds(
        launches, Plan(rounds, repeat_s), lambda: watch, lambda _share, timed, _when: told.append(str(timed.probe))
    )
    return told


def test_every_round_goes_over_all_probes_so_that_none_has_a_bad_moment_to_itself() -> None:
    told = run([probe(10.0, probe=0), probe(20.0, probe=1)])
    assert told == ["0", "1", "0", "1", "0", "1"]


def test_what_others_slowed_down_does_not_count() -> None:
    timed = probe(90.0, 50.0, 51.0)
    run([timed], machine=Machine([True, False, False]))
    assert timed.us == pytest.approx(50.5)


def test_a_disturbed_sample_does_not_count_even_where_it_is_the_fastest() -> None:
    # Where cores contend, a run in which one of them was away looks fast.
    timed = probe(30.0, 50.0, 51.0)
    run([timed], machine=Machine([True, False, False]))
    assert timed.us == pytest.approx(50.5)


@pytest.mark.parametrize(
    ("load", "told"), [(CALM, False), (CROWDED, True), (IN_EACH_OTHERS_WAY, False), (STOLEN, False)]
)
def test_threads_that_waited_for_each_other_or_for_the_hypervisor_were_not_disturbed(load: Load, told: bool) -> None:
    assert is_disturbed([load]) is told


def test_on_a_machine_that_is_never_calm_the_fastest_samples_still_give_a_rate() -> None:
    timed = probe(90.0, 50.0, 70.0)
    run([timed], machine=Machine([True, True, True]))
    assert 50.0 <= timed.us <= 70.0


def test_probes_whose_samples_do_not_agree_are_repeated_until_they_do() -> None:
    steady, wild = probe(10.0, probe=0), probe(10.0, 20.0, 30.0, 10.0, probe=1)
    told = run([steady, wild], repeat_s=60.0)
    assert told[6:] == ["1"]
    assert wild.us == pytest.approx(10.0)


def test_a_probe_that_never_settles_does_not_hold_the_calibration_up_for_ever() -> None:
    wild = probe(*(float(2**step) for step in range(40, 0, -1)))
    run([wild], repeat_s=60.0)
    assert len(wild.samples) < 40


def test_a_probe_that_the_driver_refuses_costs_itself_alone() -> None:
    def refused() -> float:
        raise MeasureError("no memory left")

    broken, sound = Timed(refused, items=1, runs=1), probe(10.0)
    run([broken, sound], repeat_s=60.0)
    assert broken.failure == "no memory left"
    assert sound.us == pytest.approx(10.0)


def test_a_long_launch_is_run_in_vain_once_at_most() -> None:
    long_us, runs = 1e5, []

    def counted() -> float:
        runs.append(long_us)
        return long_us

    run([Timed(counted, items=1, runs=2)], rounds=3)
    assert len(runs) == 1 + 3 * 2


def test_progress_grows_from_none_to_nearly_all() -> None:
    shares: list[float] = []
    machine = Machine()
    run_rounds([probe(10.0), probe(5.0, 9.0)], Plan(3, 0.0), lambda: machine, lambda share, *_: shares.append(share))
    assert shares == sorted(shares)
    assert shares[0] == 0
    assert 0.5 < shares[-1] < 1


@given(TIMES)
def test_a_rate_lies_among_what_was_seen(times: list[float]) -> None:
    samples = calm(*times)
    for decides in Decides:
        assert min(times) * 0.999 <= decided_us(samples, decides) <= max(times) * 1.001


@given(TIMES, st.floats(1.5, 100.0))
def test_one_slow_sample_more_changes_no_rate_of_what_is_sustained(times: list[float], factor: float) -> None:
    samples = calm(*times, *times)
    slow = calm(max(times) * factor)
    assert decided_us([*samples, *slow], Decides.FASTEST) == pytest.approx(decided_us(samples, Decides.FASTEST))


def test_two_samples_that_differ_do_not_agree_and_one_alone_never_does() -> None:
    assert agreed(calm(10.0, 10.1), Decides.FASTEST)
    assert not agreed(calm(10.0, 12.0), Decides.FASTEST)
    assert not agreed(calm(10.0), Decides.FASTEST)
    assert not agreed([Sample(10.0, is_disturbed=True)] * 3, Decides.FASTEST)


def test_noise_is_the_spread_of_what_counts() -> None:
    steady = Timed(lambda: 1.0, items=1, runs=1, samples=[*calm(10.0, 10.0, 10.0), Sample(99.0, is_disturbed=True)])
    wild = Timed(lambda: 1.0, items=1, runs=1, samples=calm(10.0, 13.0, 17.0))
    assert steady.noise_percent == 0
    assert wild.noise_percent > 10


def test_what_little_is_left_of_two_times_is_as_noisy_as_both_together() -> None:
    whole = Timed(lambda: 1.0, items=10, runs=1, samples=calm(100.0, 102.0, 104.0))
    part = Timed(lambda: 1.0, items=10, runs=1, samples=calm(90.0, 91.0, 92.0))
    assert difference_noise(whole, part) > 5 * max(whole.noise_percent, part.noise_percent)
    nothing = Timed(lambda: 1.0, items=10_000, runs=1, samples=calm(10.0, 10.0, 10.0))
    assert difference_noise(whole, nothing) == pytest.approx(whole.noise_percent, rel=0.01)
