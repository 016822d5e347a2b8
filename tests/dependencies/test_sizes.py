"""The default installation stays small, and the documentation says what each extra adds."""

from __future__ import annotations

import re

import pytest

from tests.dependencies.sizes import DOCUMENTED, sizes
from tests.dependencies.tools import REPOSITORY

MOST_MB = 120.0  # of the default installation
PAGE = (REPOSITORY / "docs/pages/installing.md").read_text(encoding="utf-8")
MAY_DIFFER = 1.3  # packages grow from release to release, and differ from system to system


@pytest.fixture(scope="module")
def found() -> dict[str, float | None]:
    return sizes()


def documented_mb(row: str) -> float:
    said = re.search(rf"^\| {re.escape(row)} \|.*?([\d,]+) MB \|$", PAGE, re.MULTILINE)
    assert said, f"docs/pages/installing.md has no row for {row}"
    return float(said[1].replace(",", ""))


def test_the_default_installation_is_small(found: dict[str, float | None]) -> None:
    size = found[""]
    assert size is not None
    assert size < MOST_MB
    assert size / MAY_DIFFER < documented_mb("(none)") < size * MAY_DIFFER


@pytest.mark.parametrize("extra", DOCUMENTED)
def test_the_documentation_says_what_an_extra_adds(found: dict[str, float | None], extra: str) -> None:
    size, said = found[extra], documented_mb(f"`{extra}`")
    if size is None:
        pytest.skip(f"the extra `{extra}` is not installed")
    assert size / MAY_DIFFER - 2 < said < size * MAY_DIFFER + 2
