"""What is written is its owner's alone, under names that nobody can guess, and gone when it is not needed."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from profiler.process.temp_cleanup import NATIVE_OUTPUT, PREFIX, remove_leftovers
from profiler.process.worker import run_job
from profiler.store import Store
from profiler.store.database import FILE_NAME
from server.report.pages import cached_page, write_page


@pytest.fixture(autouse=True)
def _open_to_all() -> Iterator[None]:
    """A careless user's mask must not matter."""
    before = os.umask(0)
    yield
    os.umask(before)


def open_to_others(folder: Path) -> list[str]:
    every = [folder, *folder.rglob("*")]
    return [str(each) for each in every if not each.is_symlink() and stat.S_IMODE(each.stat().st_mode) & 0o077]


def test_nobody_else_can_read_the_store(tmp_path: Path) -> None:
    path = tmp_path / "data" / FILE_NAME
    Store.open(path)
    assert open_to_others(tmp_path / "data") == []
    path.chmod(0o644)  # as earlier versions left it
    Store.open(path)
    assert open_to_others(tmp_path / "data") == []


def test_nobody_else_can_read_a_cached_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    page = cached_page("k.cl", "../../escape from the folder")
    write_page(page, "a report")
    assert page.parent == tmp_path / "kernelcast/reports"
    assert open_to_others(page.parent) == []


def test_a_report_goes_to_everybody_where_its_owner_says_so(tmp_path: Path) -> None:
    write_page(tmp_path / "page.html", "a report")
    assert stat.S_IMODE((tmp_path / "page.html").stat().st_mode) == 0o666


def test_a_device_process_has_a_folder_of_its_own_with_a_name_that_cannot_be_guessed() -> None:
    told = [run_job("tests.security.jobs:tell_folder", (), returns=tuple) for _ in range(2)]
    assert told[0][0] != told[1][0]
    for name, mode in told:
        assert mode == 0o700
        assert Path(name).name.startswith(PREFIX)
        assert not Path(name).exists()


HOLDS = """
import os, sys, tempfile
from profiler.process.temp_cleanup import NATIVE_OUTPUT, PREFIX, claim
folder = tempfile.mkdtemp(prefix=PREFIX, dir=sys.argv[1])
with open(f"{folder}/{NATIVE_OUTPUT}", "w+b") as output:
    claim(output)
    os.utime(output.fileno(), (1e9, 1e9))
    print(folder, flush=True)
    input()
"""


def test_what_a_killed_process_leaves_is_removed_by_the_next_one(tmp_path: Path, repository: Path) -> None:
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDS, str(tmp_path)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=repository,
    )  # fmt: skip
    assert holder.stdout
    folder = Path(holder.stdout.readline().strip())
    (folder / "pocl").mkdir()
    remove_leftovers(str(tmp_path))
    assert folder.exists()  # it is in use
    holder.kill()
    holder.communicate()
    remove_leftovers(str(tmp_path))
    assert not folder.exists()


def test_nothing_else_is_removed(tmp_path: Path) -> None:
    young = Path(tempfile.mkdtemp(prefix=PREFIX, dir=tmp_path))
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / NATIVE_OUTPUT).touch()
    os.utime(precious / NATIVE_OUTPUT, (1e9, 1e9))
    (tmp_path / f"{PREFIX}link").symlink_to(precious)
    (tmp_path / f"{PREFIX}file").touch()
    (tmp_path / f"{PREFIX}linked").mkdir()
    (tmp_path / f"{PREFIX}linked" / NATIVE_OUTPUT).symlink_to(precious / NATIVE_OUTPUT)
    (tmp_path / f"{PREFIX}pipe").mkdir()
    os.mkfifo(tmp_path / f"{PREFIX}pipe" / NATIVE_OUTPUT)
    remove_leftovers(str(tmp_path))
    names = {young.name, "precious", *(f"{PREFIX}{each}" for each in ("link", "file", "linked", "pipe"))}
    assert {each.name for each in tmp_path.iterdir()} == names


def test_an_empty_folder_of_long_ago_is_removed(tmp_path: Path) -> None:
    left = Path(tempfile.mkdtemp(prefix=PREFIX, dir=tmp_path))
    os.utime(left, (1e9, 1e9))
    remove_leftovers(str(tmp_path))
    assert not left.exists()
