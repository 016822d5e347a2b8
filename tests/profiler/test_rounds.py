"""A calibration times every probe in rounds, trusts what nothing disturbed, and repeats what does not agree."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from profiler.batches import Load
from profiler.child.calibration.rounds import Decides, Plan, Sample, Timed, agreed, decided_us, run_rounds
from profiler.measurement import MeasureError

CALM = Load(elapsed_s=0.01, processors=4, ran_s=0.04, waited_s=0.0, others_s=0.0)
CROWDED = Load(elapsed_s=0.01, processors=4, ran_s=0.02, waited_s=0.02, others_s=0.02)
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
