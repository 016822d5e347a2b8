"""One fault again and again: what is counted, and what is held to be wrong."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.faults.scenarios import Scenario
from tests.faults.site import Site, site
from tests.faults.watching import Held, Kept, held, hints_throughout, kept, wait_until_alone

GROWTH_MB = 30.0  # of the server's memory from the first time to the last: caches fill, leaks do not end
GROWTH_FILES = 3


@dataclass
class Tally:
    """What came of a scenario so far."""

    scenario: str
    times: int = 0
    hints: int = 0
    longest_s: float = 0.0
    took_s: float = 0.0
    before: Held | None = None
    after: Held | None = None
    problems: list[str] = field(default_factory=list)


async def trial(kernelcast: str, home: Path, scenario: Scenario, times: int, seed: int) -> Tally:
    """Bring the fault about `times` times, with one server unless it is the server that ends."""
    tally = Tally(scenario.name)
    begin = time.monotonic()
    if scenario.ends_server:
        for number in range(times):
            await _one_server(kernelcast, home, scenario, 1, seed + number, tally)
    else:
        await _one_server(kernelcast, home, scenario, times, seed, tally)
    tally.took_s = time.monotonic() - begin
    return tally


async def trial_of(kernelcast: str, home: Path, scenarios: Sequence[Scenario], seed: int) -> list[Tally]:
    """Bring each fault about once, one after the other, with the same server."""
    tallies = [Tally(scenario.name) for scenario in scenarios]
    async with site(kernelcast, home, seed) as here:
        added = 0
        for scenario, tally in zip(scenarios, tallies, strict=True):
            added = await _once(here, scenario, tally)
        if not added:  # else it has just shown that it measures
            await _check(here, scenarios[-1], "after all faults", tallies[-1])
        await here.editor.leave()
        tallies[-1].problems += [
            f"left after the server: {each}" for each in await wait_until_alone(here.mark, None, here.temporary)
        ]
    return tallies


async def _one_server(kernelcast: str, home: Path, scenario: Scenario, times: int, seed: int, tally: Tally) -> None:
    async with site(kernelcast, home, seed, settings=scenario.settings) as here:
        await _check(here, scenario, "before any fault", tally)  # what is loaded at first use is loaded then
        for _ in range(times):
            await _once(here, scenario, tally)
        if not scenario.ends_server:
            await _check(here, scenario, "after all faults", tally)
            await here.editor.leave()
        tally.problems += [
            f"left after the server: {each}" for each in await wait_until_alone(here.mark, None, here.temporary)
        ]


async def _check(here: Site, scenario: Scenario, when: str, tally: Tally) -> None:
    answer = await here.measure_calm() if scenario.with_calm else {}
    if "error" in answer:
        tally.problems.append(f"{when}: {answer}")


async def _once(here: Site, scenario: Scenario, tally: Tally) -> int:
    before = kept(here.data)
    added = 0
    try:
        if scenario.ends_server:
            await here.editor.wait_for_hint("calm.cl")
            added = await scenario.once(here)
        else:
            async with hints_throughout(here.editor, "calm.cl") as answers:
                added = await scenario.once(here)
            tally.hints += answers.asked
            tally.longest_s = max(tally.longest_s, answers.longest_s)
            if answers.missing:
                tally.problems.append(f"{answers.missing} of {answers.asked} answers had no hint")
    except AssertionError as error:
        tally.problems.append(f"time {tally.times + 1}: {error}")
    here.set_fault("")
    server = None if scenario.ends_server else here.server
    tally.problems += [f"left: {each}" for each in await wait_until_alone(here.mark, server, here.temporary)]
    tally.problems += _lost(before, kept(here.data), added)
    tally.times += 1
    if server is not None:
        tally.after = held(server)
        tally.before = tally.before or tally.after
        tally.problems += _grown(tally.before, tally.after)
    return added


def _lost(before: Kept, after: Kept, added: int) -> list[str]:
    problems = []
    if after.integrity != "ok":
        problems.append(f"the store is damaged: {after.integrity}")
    if after.measurements[: len(before.measurements)] != before.measurements or after.profiles != before.profiles:
        problems.append("the store lost what it had")
    if len(after.measurements) != len(before.measurements) + added:
        problems.append(f"{len(after.measurements) - len(before.measurements)} rows were added, not {added}")
    return problems


def _grown(before: Held, after: Held) -> list[str]:
    problems = []
    if after.files > before.files + GROWTH_FILES or after.threads > before.threads + GROWTH_FILES:
        problems.append(f"the server holds more and more: {before} became {after}")
    if after.memory_mb > before.memory_mb + GROWTH_MB:
        problems.append(f"the server's memory grew from {before.memory_mb:.0f} to {after.memory_mb:.0f} MB")
    return problems
