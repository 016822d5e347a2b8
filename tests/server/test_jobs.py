"""Device work that nobody can wait for any more."""

from __future__ import annotations

import threading

import pytest

from profiler.measurement import Cancelled
from server.device_work.jobs import Jobs


@pytest.mark.asyncio
async def test_a_job_that_comes_when_the_server_is_leaving_is_cancelled() -> None:
    jobs = Jobs()
    jobs.close()
    with pytest.raises(Cancelled):
        await jobs.run(lambda *_: 1, lambda *_: None, threading.Event())
    assert await jobs.run_aside(lambda *_: 1) is None
