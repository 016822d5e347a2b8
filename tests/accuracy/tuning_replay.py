"""Searches replayed from times that were measured before, and how far what they find is from the best there is."""

from __future__ import annotations

import json
import random
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from statistics import mean, median, quantiles

from server.tuning.exchange import Entry, cache_json, configuration
from server.tuning.picking import in_rounds, rounds_of
from server.tuning.search import Search

MOST = 10  # candidates that are measured beside the launch as it is, as `kernelcast tune` does
DRAWS = 2000  # of a random choice
KERNEL_TUNER_DRAWS = 20
# Kernel Tuner's default measures everything, and takes no limit; these do.
STRATEGIES = ("random_sample", "greedy_ils", "genetic_algorithm", "simulated_annealing", "bayes_opt")
PROGRAM = Path(__file__).resolve().parent / "tuning_rival.py"


@dataclass(frozen=True)
class Subject:
    """A kernel of which all is known: for each candidate of `space` its ratios to the launch as it is, turn by turn.

    A candidate without ratios failed, or writes something else. `base_us` is what the launch as it is takes.
    """

    kernel: str
    is_design: bool
    space: Search
    base_us: float
    ratios: tuple[tuple[float, ...], ...]

    @cached_property
    def times(self) -> tuple[float | None, ...]:
        """Return the time of each candidate over that of the launch as it is; None where it counts for nothing."""
        return tuple(median(own) if own else None for own in self.ratios)

    @cached_property
    def best(self) -> float:
        return min([1.0, *(time for time in self.times if time is not None)])

    def regret(self, measured: Sequence[int]) -> float:
        """Return how much longer the best of these takes than the best of all; the launch as it is may stay."""
        found = [time for at in measured if (time := self.times[at]) is not None]
        return min([1.0, *found]) / self.best - 1

    @cached_property
    def noise(self) -> float:
        """Return what the best by every other turn loses against the best by the turns between."""
        halves = [(median(own[::2]), median(own[1::2])) for own in self.ratios if len(own) > 1] or [(1.0, 1.0)]
        chosen = min(halves, key=lambda half: half[0])
        return chosen[1] / min(second for _, second in halves) - 1


def by_the_search(subject: Subject, most: int) -> list[int]:
    """Return what `kernelcast tune` measures."""
    chosen: list[int] = []

    def measured(number: int, places: Sequence[int]) -> dict[int, float | None]:
        chosen.extend(place - 1 for place in places)
        times = {place: subject.times[place - 1] for place in places} | ({} if number else {0: 1.0})
        return {place: time * subject.base_us if time is not None else None for place, time in times.items()}

    in_rounds(subject.space.baseline, subject.space.candidates, rounds_of(most), measured)
    return chosen


def at_random(subject: Subject, most: int) -> list[float]:
    """Return the regret of each draw."""
    draw = random.Random(subject.kernel)
    places = range(len(subject.times))
    return [subject.regret(draw.sample(places, min(most, len(places)))) for _ in range(DRAWS)]


def by_kernel_tuner(subjects: Sequence[Subject], python: str, most: int) -> dict[str, list[float]]:
    """Return the regrets of each strategy, each the mean of its draws on one kernel."""
    with tempfile.TemporaryDirectory() as folder:
        spaces = {}
        for at, one in enumerate(subjects):
            path = Path(folder) / f"{at}.json"
            entries = [
                Entry(configuration(one.space, candidate), time * one.base_us if time is not None else None)
                for candidate, time in zip(one.space.candidates, one.times, strict=True)
            ]
            path.write_text(json.dumps(cache_json(one.space, [each for each in entries if each.time_us is not None])))
            spaces[str(path)] = one.base_us * one.best
        order = {"files": list(spaces), "strategies": STRATEGIES, "most": most, "draws": KERNEL_TUNER_DRAWS}
        command = [python, str(PROGRAM)]
        done = subprocess.run(command, input=json.dumps(order), stdout=subprocess.PIPE, text=True, check=True)
        found: dict[str, dict[str, list[float | None]]] = json.loads(done.stdout)
    regrets: dict[str, list[float]] = {}
    for strategy, by_file in found.items():
        own = []
        for one, (path, best_us) in zip(subjects, spaces.items(), strict=True):
            reached = [min(one.base_us, time or one.base_us) / best_us - 1 for time in by_file[path]]
            own.append(mean(reached))
        regrets[strategy] = own
    return regrets


def replayed(subjects: Sequence[Subject], kernel_tuner: str | None, each: bool) -> str:
    """Return a table of regrets, and a line for each kernel if wanted."""
    found: dict[str, list[float]] = {
        f"kernelcast tune, {MOST} measured": [one.regret(by_the_search(one, MOST)) for one in subjects],
        f"fastest {MOST} as predicted": [one.regret(range(min(MOST, len(one.times)))) for one in subjects],
        "the fastest as predicted": [one.regret(range(min(1, len(one.times)))) for one in subjects],
        f"{MOST} at random": [mean(at_random(one, MOST)) for one in subjects],
    }
    if kernel_tuner is not None:
        by_strategy = by_kernel_tuner(subjects, kernel_tuner, MOST)
        found |= {f"Kernel Tuner, {strategy}": regrets for strategy, regrets in by_strategy.items()}
    found["all measured, by half of the turns (noise)"] = [one.noise for one in subjects]
    found["the launch as it is"] = [1 / one.best - 1 for one in subjects]
    sizes = [len(one.times) for one in subjects]
    kind = "design" if subjects[0].is_design else "reported"
    lines = [f"{len(subjects)} {kind} kernels, {min(sizes)} to {max(sizes)} candidates, median {median(sizes):.0f}"]
    lines += [f"  {name:45} {_figures(regrets)}" for name, regrets in found.items()]
    if each:
        ours = next(iter(found.values()))
        for at, one in enumerate(subjects):
            beside = ", ".join(f"{name.split(',')[-1].strip()} {own[at]:.1%}" for name, own in found.items())
            lines.append(f"    {one.kernel}, {len(one.times)} candidates: {ours[at]:.1%} ({beside})")
    return "\n".join(lines)


def _figures(regrets: Sequence[float]) -> str:
    p90 = quantiles(regrets, n=10, method="inclusive")[-1] if len(regrets) > 1 else regrets[0]
    within = sum(regret <= 0.05 for regret in regrets) / len(regrets)
    return f"median {median(regrets):6.1%}  mean {mean(regrets):6.1%}  p90 {p90:6.1%}  within 5 %: {within:4.0%}"
