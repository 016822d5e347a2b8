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


def test_intels_runtime_is_named_to_the_loader_while_it_is_needed(with_intel: Path) -> None:
    with driver_environment({"LD_LIBRARY_PATH": "/elsewhere"}) as environment:
        vendors = Path(environment["OCL_ICD_VENDORS"])
        assert (vendors / "intel-cpu.icd").read_text().strip() == str(with_intel)
        assert environment["LD_LIBRARY_PATH"] == f"{with_intel.parent}:/elsewhere"
    assert not vendors.exists()


@pytest.mark.usefixtures("with_intel")
def test_whoever_chose_drivers_is_left_alone() -> None:
    chosen = {"OCL_ICD_VENDORS": "/my/vendors"}
    with driver_environment(chosen) as environment:
        assert environment == chosen


def test_without_intels_runtime_nothing_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    with driver_environment({"HOME": "/me"}) as environment:
        assert environment == {"HOME": "/me"}
