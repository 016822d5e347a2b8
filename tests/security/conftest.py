"""The editor without a screen, which attackers' folders are opened in."""

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
