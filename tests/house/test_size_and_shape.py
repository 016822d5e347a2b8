"""A newcomer can read any file in one sitting, and can tell from its name what is in it."""

from __future__ import annotations

from pathlib import Path
from statistics import median

import pytest

PACKAGES = ("server", "model", "profiler", "tests")
VAGUE = {"utils", "util", "common", "helper", "helpers", "manager", "misc", "stuff"}
MOST_LINES = 400  # the aim is 300
FEW_LINES, FEW_SHARE = 40, 0.05  # a folder of scraps hides what is in it
MEDIAN_LINES = (110, 250)


@pytest.fixture(scope="module")
def python_files(repository: Path) -> list[Path]:
    return sorted(file for package in PACKAGES for file in (repository / package).rglob("*.py"))


def test_no_file_is_too_long_to_read(python_files: list[Path]) -> None:
    lengths = {file: len(file.read_text(encoding="utf-8").splitlines()) for file in python_files}
    assert {str(file): length for file, length in lengths.items() if length > MOST_LINES} == {}


def test_files_are_neither_scraps_nor_tomes(repository: Path) -> None:
    product = [
        len(file.read_text(encoding="utf-8").splitlines())
        for package in ("server", "model", "profiler")
        for file in (repository / package).rglob("*.py")
        if file.name != "__init__.py" and not file.is_relative_to(repository / "profiler" / "corpus")
    ]
    assert sum(lines < FEW_LINES for lines in product) < FEW_SHARE * len(product)
    assert MEDIAN_LINES[0] <= median(product) <= MEDIAN_LINES[1]


def test_no_name_is_vague(python_files: list[Path]) -> None:
    assert [file for file in python_files if VAGUE & {file.stem, file.parent.name}] == []


def test_every_package_says_what_lives_there(repository: Path) -> None:
    silent = [
        file
        for package in ("server", "model", "profiler")
        for file in (repository / package).rglob("__init__.py")
        if '"""' not in file.read_text(encoding="utf-8")
    ]
    assert silent == []
