"""A server that is killed before its device process has begun leaves a folder, which the next job removes."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest

from profiler.process.temp_cleanup import NATIVE_OUTPUT, PREFIX, claim, remove_leftovers


def job_folder(base: Path, name: str, *, is_new: bool = False) -> Path:
    folder = base / f"{PREFIX}{name}"
    (folder / "pocl").mkdir(parents=True)
    (folder / NATIVE_OUTPUT).write_text("some words")
    if not is_new:
        os.utime(folder / NATIVE_OUTPUT, (1e9, 1e9))
    return folder


def test_what_nobody_uses_any_more_is_removed_and_nothing_else(tmp_path: Path) -> None:
    left, used, new = (job_folder(tmp_path, name, is_new=name == "new") for name in ("left", "used", "new"))
    other = tmp_path / "somebody-else"
    other.mkdir()
    with (used / NATIVE_OUTPUT).open("r+b") as output:
        claim(output)
        remove_leftovers(str(tmp_path))
        assert not left.exists()
        assert used.exists()
        assert new.exists()
        assert other.exists()
    remove_leftovers(str(tmp_path))
    assert not used.exists()


def test_a_job_begins_by_removing_what_others_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from profiler.process.worker import run_job

    left = job_folder(tmp_path, "left")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    assert run_job("tests.profiler.test_temp_cleanup:seen", (str(tmp_path),), returns=list) == [False, True]
    assert not left.exists()
    assert os.listdir(tmp_path) == []


def seen(base: str, _: object) -> list[bool]:
    """Whether the folder that was left is there, and whether this job's own is there after another looked."""
    there = [(Path(base) / f"{PREFIX}left").exists()]
    for file in Path(base).glob(f"{PREFIX}*/{NATIVE_OUTPUT}"):
        os.utime(file, (1e9, 1e9))
    remove_leftovers(base)
    return [*there, bool(os.listdir(base))]
