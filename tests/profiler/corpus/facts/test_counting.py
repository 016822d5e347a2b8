"""A kernel of the dataset, counted again for the devices that it was measured on."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from model.device import Device
from model.launch.launch import Launch
from model.learned.launch_facts import LAUNCH_FACT_NAMES
from model.learned.question import ANALYTIC_FACT_NAMES
from model.opencl.options import BuildOptions
from profiler.corpus.dataset.columns import DatasetError
from profiler.corpus.facts.counting import Counted, Source, counted
from profiler.corpus.facts.devices import FILE_NAME, read_devices, write_devices

SCALE = "kernel void scale(global float *x, int n) { int i = get_global_id(0); if (i < n) x[i] *= 2.0f; }"
OPEN = Launch((100_000,), None, scalars=(("n", 100_000),), buffers=(("x", 100_000),))
FIXED = Launch((100_096,), (64,), scalars=(("n", 100_000),), buffers=(("x", 100_000),))


@pytest.fixture(scope="module")
def devices(repository: Path) -> Mapping[str, Device]:
    """Two that choose local sizes differently."""
    found = read_devices(repository / "profiler/corpus/data")
    return {name: found[name] for name in ("pocl", "intel")}


def count(devices: Mapping[str, Device], *launches: Launch, text: str = SCALE, name: str = "scale") -> Counted:
    keyed = tuple((launch.key, launch) for launch in launches)
    return counted(Source("id", name, text, BuildOptions(), keyed), devices)


def test_a_local_size_that_drivers_choose_is_counted_once_for_each_choice(devices: Mapping[str, Device]) -> None:
    found = count(devices, OPEN)
    assert not found.failure
    assert [(key, set(analytic)) for key, _, analytic in found.launches] == [
        (OPEN.key, {"pocl"}),
        (OPEN.key, {"intel"}),
    ]
    at = LAUNCH_FACT_NAMES.index("log.group_items")
    sizes = [facts[at] for _, facts, _ in found.launches]
    assert sizes[0] != sizes[1]
    assert all(facts[LAUNCH_FACT_NAMES.index("driver_chooses")] == 1 for _, facts, _ in found.launches)


def test_a_local_size_that_is_set_is_counted_once_for_all(devices: Mapping[str, Device]) -> None:
    ((key, facts, analytic),) = count(devices, FIXED).launches
    assert key == FIXED.key
    assert len(facts) == len(LAUNCH_FACT_NAMES)
    assert analytic.keys() == devices.keys()
    assert all(len(each) == len(ANALYTIC_FACT_NAMES) for each in analytic.values())
    assert analytic["pocl"] != analytic["intel"]


def test_tokens_are_the_kernels_own(devices: Mapping[str, Device]) -> None:
    renamed = SCALE.replace("scale", "twice")
    assert count(devices, FIXED).tokens == count(devices, FIXED, text=renamed, name="twice").tokens != ()


@pytest.mark.parametrize(
    ("text", "name"),
    [(SCALE, "no such kernel"), ("kernel void scale(", "scale"), ("#error no", "scale"), ("", "scale")],
)
def test_what_cannot_be_counted_says_why(devices: Mapping[str, Device], text: str, name: str) -> None:
    found = count(devices, FIXED, text=text, name=name)
    assert found.launches == ()
    assert found.failure


def test_devices_are_read_back_as_they_were_written(devices: Mapping[str, Device], tmp_path: Path) -> None:
    write_devices(tmp_path, dict(devices))
    assert read_devices(tmp_path) == devices


@pytest.mark.parametrize("text", ["no JSON", "[]", '{"pocl": {}}', '{"pocl": 3}'])
def test_what_holds_no_devices_is_named(tmp_path: Path, text: str) -> None:
    (tmp_path / FILE_NAME).write_text(text)
    with pytest.raises(DatasetError, match=rf"{FILE_NAME} holds no profiles of devices"):
        read_devices(tmp_path)


def test_missing_devices_are_named(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match=rf"{FILE_NAME} cannot be read: No such file"):
        read_devices(tmp_path)
