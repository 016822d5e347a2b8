"""Helix and Emacs as users have them: our configuration files copied, the real server, a terminal of 80 columns."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.editors.terminal import Terminal, tmux_is_here

REPOSITORY = Path(__file__).resolve().parents[3]
PROGRAMS = REPOSITORY / ".cache" / "editors" / "bin"

KERNEL = """\
// kernelcast: global=n local=256 n=65536 x=n y=n a=2.0
__kernel void blend(__global const float *x,
                    __global float *y,
                    const float a, const int n)
{
    const int i = get_global_id(0);
    if (i < n)
        y[i] = a * x[i] + y[i];
}
"""


def program(name: str) -> str:
    path = PROGRAMS / name
    if not path.is_file():
        pytest.skip(f"{name} is not set up: `make test-editors` fetches it where Debian's packages can be reached")
    return str(path)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A project with one kernel."""
    (tmp_path / "kernelcast.toml").touch()
    (tmp_path / "blend.cl").write_text(KERNEL)
    return tmp_path


@pytest.fixture
def environment(tmp_path_factory: pytest.TempPathFactory, kernelcast: str) -> dict[str, str]:
    """A home of its own, measurements of its own, and `kernelcast` on the PATH."""
    return {
        "HOME": str(tmp_path_factory.mktemp("home")),
        "XDG_DATA_HOME": str(tmp_path_factory.mktemp("data")),
        "LC_ALL": "C.UTF-8",
        "PATH": f"{Path(kernelcast).parent}:{os.environ['PATH']}",
    }


@pytest.fixture
def start(folder: Path, environment: dict[str, str]) -> Iterator[Callable[..., Terminal]]:
    """Start a program in a terminal; it is ended with the test."""
    if not tmux_is_here():
        pytest.skip("tmux is not installed: what an editor draws cannot be seen without it")
    opened: list[Terminal] = []

    def start_one(*command: str) -> Terminal:
        opened.append(Terminal(command, folder, environment))
        return opened[-1]

    yield start_one
    for terminal in opened:
        terminal.close()
