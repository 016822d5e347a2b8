"""What the tests in real editors share: where pictures go. `make test-editors` sets up what they drive."""

from __future__ import annotations

from pathlib import Path

import pytest

CACHE = Path(__file__).resolve().parents[2] / ".cache" / "editors"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--pictures",
        type=Path,
        default=CACHE / "pictures",
        help="folder for the pictures that the tests take (default: .cache/editors/pictures)",
    )


@pytest.fixture(scope="session")
def pictures(request: pytest.FixtureRequest) -> Path:
    """The folder for pictures of what users see."""
    folder = Path(request.config.getoption("--pictures", CACHE / "pictures")).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    return folder
