"""Drivers that came with pip are found without anybody setting variables."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from profiler.drivers import driver_environment


@pytest.fixture
def with_intel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    library = tmp_path / "lib" / "libintelocl.so"
    library.parent.mkdir()
    library.write_bytes(b"")
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    return library


def test_intels_runtime_is_named_to_the_loader(with_intel: Path, tmp_path: Path) -> None:
    environment = driver_environment({"LD_LIBRARY_PATH": "/elsewhere"}, tmp_path)
    assert (Path(environment["OCL_ICD_VENDORS"]) / "intel-cpu.icd").read_text().strip() == str(with_intel)
    assert environment["LD_LIBRARY_PATH"] == f"{with_intel.parent}:/elsewhere"


@pytest.mark.usefixtures("with_intel")
def test_whoever_chose_drivers_is_left_alone(tmp_path: Path) -> None:
    chosen = {"OCL_ICD_VENDORS": "/my/vendors"}
    assert driver_environment(chosen, tmp_path) == chosen


def test_without_intels_runtime_nothing_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    assert driver_environment({"HOME": "/me"}, tmp_path) == {"HOME": "/me"}
