"""The editor without a screen, which attackers' folders are opened in."""

from __future__ import annotations

import functools
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.editor import started

EVIL = """#include "<script>evil.h"
// kernelcast: global=64 name="<img src=x onerror=evil()>"
__kernel void k(__global float *a) { a[get_global_id(0)] = 1.0f; }
#error [evil](command:evil) <script>evil()</script>
"""


@pytest.fixture
def run_report(kernelcast: str, tmp_path: Path) -> Path:
    """The page about hostile code in a hostile file."""
    source, page = tmp_path / "<svg onload=evil()>.cl", tmp_path / "page.html"
    source.write_text(EVIL)
    subprocess.run([kernelcast, "report", str(source), "-o", str(page)], check=False, timeout=300, cwd=tmp_path)
    return page


@pytest.fixture
def start_editor(kernelcast: str, tmp_path: Path) -> Callable[..., Any]:
    """`async with start_editor(...) as editor`: a fresh server and a user-data folder of its own."""
    return functools.partial(started, kernelcast, tmp_path)
