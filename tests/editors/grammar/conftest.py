"""One process that colours texts as VS Code would."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.editors.grammar.colours import Colours

HERE = Path(__file__).parent
REPOSITORY = HERE.parents[2]
GRAMMAR = REPOSITORY / "editors" / "vscode" / "syntaxes" / "opencl.tmLanguage.json"


@pytest.fixture(scope="session")
def colour(node: str, npm_packages: Callable[[str], Path]) -> Iterator[Colours]:
    """Colours a text: `colour("half4 h;")["half4"]` is the scope of that word."""
    command = [node, str(HERE / "tokenise.js"), str(npm_packages("grammar") / "package.json"), str(GRAMMAR)]
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
