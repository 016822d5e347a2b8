"""Whatever goes wrong while measuring, the server answers on, says what it was, and keeps what it had.

`make faults` does this many times over; here each fault comes about once. Those of the store have a server of their
own: one waits for a lock while the other works.
"""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.faults.scenarios import SCENARIOS
from tests.faults.trial import trial_of

pytestmark = [pytest.mark.e2e, pytest.mark.device, pytest.mark.asyncio]


async def test_no_fault_harms_the_server_or_what_it_keeps(kernelcast: str, tmp_path: Path) -> None:
    async with asyncio.TaskGroup() as together:
        trials = []
        for of_store in (True, False):
            home = tmp_path / ("store" if of_store else "device")
            home.mkdir()
            faults = [each for each in SCENARIOS if each.in_tests and each.of_store == of_store]
            trials.append(together.create_task(trial_of(kernelcast, home, faults, seed=1)))
    tallies = [tally for trial in trials for tally in trial.result()]
    assert len(tallies) == sum(each.in_tests for each in SCENARIOS)
    assert [f"{tally.scenario}: {problem}" for tally in tallies for problem in tally.problems] == []
    assert all(tally.hints for tally in tallies)
