"""Drivers that came with pip are found without anybody setting variables."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from dataclasses import replace
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from typing import Any

import pytest

from model.device import DeviceType
from model.launch.launch import Launch
from profiler.devices import discover
from profiler.measure import measure
from profiler.process.drivers import LOADER_VARIABLES, driver_environment, intels_library, without_blanks


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
    def nothing(name: str) -> None:
        raise PackageNotFoundError(name)

    monkeypatch.setattr("importlib.metadata.distribution", nothing)
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    assert driver_environment({"HOME": "/me"}, tmp_path) == {"HOME": "/me"}


def test_the_runtime_is_found_in_the_users_own_folder_as_well(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    library = tmp_path / "own folder" / "lib" / "libintelocl.so"
    library.parent.mkdir(parents=True)
    library.write_bytes(b"")

    class File:
        name = library.name

        def locate(self) -> Path:
            return library.parent / ".." / "lib" / library.name

    class Installed:
        files = (File(),)

    monkeypatch.setattr(sys, "prefix", str(tmp_path / "elsewhere"))
    monkeypatch.setattr("importlib.metadata.distribution", lambda name: Installed())
    assert intels_library() == library


@pytest.fixture
def both_platforms(monkeypatch: pytest.MonkeyPatch) -> None:
    """Skips where Intel's runtime is not installed, as on processors that it does not know."""
    if intels_library() is None:
        pytest.skip("Intel's CPU runtime is not installed: pip install 'kernelcast[intel]'")
    for name in LOADER_VARIABLES:
        monkeypatch.delenv(name, raising=False)


@pytest.mark.device
@pytest.mark.usefixtures("both_platforms", "nothing_left_behind")
def test_both_platforms_are_seen_at_once_and_run_kernels(
    make_kernel: Callable[..., Any], make_request: Callable[..., Any], types: Any
) -> None:
    found = {device.id: device for device in discover()}
    assert {"pocl", "intel-cpu"} <= found.keys()
    assert found["intel-cpu"].type is found["pocl"].type is DeviceType.CPU
    kernel = make_kernel("twice", x=types.buffer(), n=types.int)
    source = "kernel void twice(global float *x, int n) { int i = get_global_id(0); if (i < n) x[i] *= 2.0f; }"
    request = make_request(source, kernel, Launch((4096,), (64,), (("n", 4096),), (("x", 4096),)), repeats=20)
    for device_id in ("pocl", "intel-cpu"):
        result = measure(replace(request, device_id=device_id))
        assert result.device_id == device_id
        assert result.median_us > 0


@pytest.mark.device
@pytest.mark.usefixtures("both_platforms", "nothing_left_behind")
@pytest.mark.parametrize("home", ["home", "my home"])
def test_kernels_run_on_both_platforms_from_an_environment_with_an_odd_path(
    home: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    make_kernel: Callable[..., Any],
    make_request: Callable[..., Any],
    types: Any,
) -> None:
    found = intels_library()
    assert found is not None
    odd = tmp_path / "größe: 2 µm" / "lib"
    odd.mkdir(parents=True)
    shutil.copyfile(found, odd / found.name)  # a link would not do: the library sees where it leads
    for neighbour in found.parent.iterdir():
        if neighbour.name != found.name:
            (odd / neighbour.name).symlink_to(neighbour)
    monkeypatch.setattr(sys, "prefix", str(odd.parent))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / home))
    assert {"pocl", "intel-cpu"} <= {device.id for device in discover()}

    kernel = make_kernel("waves", x=types.buffer())
    source = "kernel void waves(global float *x) { int i = get_global_id(0); x[i] = sin(x[i]); }"
    request = make_request(source, kernel, Launch((4096,), (64,), (), (("x", 4096),)), repeats=5)
    assert measure(replace(request, device_id="intel-cpu")).median_us > 0


@pytest.mark.usefixtures("with_intel")
def test_a_library_below_a_plain_path_is_used_where_it_lies(tmp_path: Path, with_intel: Path) -> None:
    assert without_blanks(with_intel, tmp_path / "job") == with_intel


def test_a_library_below_a_blank_is_copied_once_with_its_neighbours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = tmp_path / "a b" / "libintelocl.so"
    library.parent.mkdir()
    library.write_bytes(b"code")
    (library.parent / "libneighbour.so").write_bytes(b"more")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    copy = without_blanks(library, tmp_path / "job")
    assert copy.read_bytes() == b"code"
    assert (copy.parent / "libneighbour.so").read_bytes() == b"more"
    assert without_blanks(library, tmp_path / "other job") == copy
    assert [entry.name for entry in copy.parent.parent.iterdir()] == [copy.parent.name]
