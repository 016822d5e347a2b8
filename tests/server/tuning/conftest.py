"""Searches on a device that need not be here."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from model.device_catalog import find_builtin
from model.launch.tuning import Tuning
from server.cli.forecasts import Forecaster
from server.cli.requests import Request
from server.tuning.search import Search, search

KERNEL = """__kernel void k(__global float *A, int N) {
    int x = get_global_id(0), y = get_global_id(1);
#if T == 2
    if (x < N && y < N) A[y * N + x] = x;
#else
    if (x < N && y < N) A[x * N + y] = x;
#endif
}
"""


@pytest.fixture
def forecaster() -> Forecaster:
    device = find_builtin("generic-cpu")
    assert device is not None
    return Forecaster(lambda _wanted: device)


@pytest.fixture
def searching(tmp_path: Path, forecaster: Forecaster) -> Callable[..., Search]:
    """The search for the first launch of a text."""

    def run(text: str, more: Tuning | None = None) -> Search:
        path = tmp_path / "k.cl"
        path.write_bytes(text.encode())
        request = Request(path, device="generic-cpu")
        found = forecaster.forecast(request)
        return search(forecaster, request, found, found.forecasts[0], more or Tuning())

    return run
