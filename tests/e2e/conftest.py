"""An editor without a screen, for tests."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.editor import started


@pytest.fixture
def start_editor(kernelcast: str, tmp_path: Path) -> Callable[..., Any]:
    """`async with start_editor(...) as editor`: a fresh server and a user-data folder of its own."""
    return functools.partial(started, kernelcast, tmp_path)


@pytest.fixture
def no_opencl() -> dict[str, str]:
    """An environment in which no OpenCL platform can be found."""
    return {"OCL_ICD_VENDORS": "/nonexistent.icd"}
