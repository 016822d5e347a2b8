"""`make soak` types for minutes and kills for half an hour; here it does each for seconds."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.soak.kill_run import Kill, KillRun
from tests.soak.typing_run import Sample, typing_run

pytestmark = [pytest.mark.e2e, pytest.mark.asyncio]


@pytest.fixture(autouse=True)
def weights(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that ship: the predictor process is one of those that are watched, and killed."""
    monkeypatch.delenv("KERNELCAST_WEIGHTS")


async def test_every_request_is_answered_while_many_files_are_typed_in(kernelcast: str, tmp_path: Path) -> None:
    samples: list[Sample] = []
    typed = await typing_run(kernelcast, tmp_path, number=20, edits=400, seed=1, every=100, tell=samples.append)
    assert typed.problems == []
    assert typed.edits == 400
    assert [sample.edits for sample in samples] == [100, 200, 300, 400]
    assert samples[-1].files <= samples[0].files + 2, "nothing is opened and left so"


@pytest.mark.device
async def test_whatever_is_killed_hints_come_again_and_nothing_is_lost_or_left(kernelcast: str, tmp_path: Path) -> None:
    kills: list[Kill] = []
    await KillRun(kernelcast, tmp_path, seed=1).kill(list(range(4)), kills.append)
    assert [problem for kill in kills for problem in kill.problems] == []
    assert [kill.number for kill in kills] == list(range(4))
    assert all(kill.hints for kill in kills)
