"""Whatever goes wrong while measuring, the server answers on, says what it was, and keeps what it had.

`make faults` does this many times over; here each fault comes about once, all with one server.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.faults.scenarios import SCENARIOS
from tests.faults.trial import trial_of

pytestmark = [pytest.mark.e2e, pytest.mark.device, pytest.mark.asyncio]


async def test_no_fault_harms_the_server_or_what_it_keeps(kernelcast: str, tmp_path: Path) -> None:
    tallies = await trial_of(kernelcast, tmp_path, [each for each in SCENARIOS if each.in_tests], seed=1)
    assert [f"{tally.scenario}: {problem}" for tally in tallies for problem in tally.problems] == []
    assert all(tally.hints for tally in tallies)
