"""A home that nobody can write to, as on machines that people share: what was kept before is read all the same."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from profiler.store import FILE_NAME, Store, StoreError
from tests.faults.disk import read_only, small_disk
from tests.faults.site import PAST, fill


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """Read-only, with a store in it."""
    with small_disk(tmp_path / "data"):
        fill(tmp_path / "data" / FILE_NAME)
        with read_only(tmp_path / "data"):
            if os.access(tmp_path / "data", os.W_OK):
                pytest.skip("root can write to every folder here, and may mount none")
            yield tmp_path / "data"


def test_what_was_kept_is_read_where_nothing_can_be_written(folder: Path) -> None:
    store = Store.open(folder / FILE_NAME)
    assert [profile.measured_at for profile in store.profiles()] == ["2026-01-01T00:00:00+00:00"]
    assert [entry.measurement for entry in store.everything()] == [PAST]
    assert os.listdir(folder) == [FILE_NAME]


def test_that_nothing_is_remembered_there_is_told_with_what_to_do(folder: Path) -> None:
    store = Store.open(folder / FILE_NAME)
    with pytest.raises(StoreError, match=r"cannot be written .*; make it writable, or set KERNELCAST_DATA_DIR"):
        store.add_measurement(PAST, path="k.cl")


def test_a_folder_that_cannot_be_made_there_is_named(folder: Path) -> None:
    with pytest.raises(StoreError, match=r"newer cannot be used for measurements .*set KERNELCAST_DATA_DIR"):
        Store.open(folder / "newer" / FILE_NAME)
