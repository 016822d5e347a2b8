"""Which device a name means, and which processors one gets."""

from __future__ import annotations

import pytest

from model.errors import UnknownDevice
from profiler.corpus.collection import devices
from profiler.corpus.collection.devices import corpus_device, processor_slots
from profiler.corpus.kernel import CorpusDevice

HERE = ("pocl", "intel-cpu", "odd-2cores")


@pytest.mark.parametrize(
    ("name", "device"),
    [
        ("pocl", CorpusDevice("pocl", "pocl")),
        ("pocl-1core", CorpusDevice("pocl-1core", "pocl", 1)),
        ("intel", CorpusDevice("intel", "intel-cpu")),
        ("intel-1core", CorpusDevice("intel-1core", "intel-cpu", 1)),
        ("intel-cpu-2cores", CorpusDevice("intel-cpu-2cores", "intel-cpu", 2)),
        ("odd-2cores", CorpusDevice("odd-2cores", "odd-2cores")),  # a device that is really called that
    ],
)
def test_a_name_means_a_device_or_a_part_of_one(name: str, device: CorpusDevice) -> None:
    assert corpus_device(name, HERE) == device


@pytest.mark.parametrize("name", ["gpu", "gpu-1core", "pocl-0cores", "pocl-1core-1core", ""])
def test_what_is_not_here_is_refused(name: str) -> None:
    with pytest.raises(UnknownDevice, match="there are: intel-cpu, odd-2cores, pocl"):
        corpus_device(name, HERE)


def test_a_device_of_another_machine_is_taken_at_its_word() -> None:
    assert corpus_device("gpu-2cores", None) == CorpusDevice("gpu-2cores", "gpu", 2)


def test_no_processor_is_given_twice_and_cores_are_filled_last(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(devices, "allowed_processors", lambda: frozenset(range(8)))
    monkeypatch.setattr(devices, "_siblings", lambda processor: str(processor // 2))
    assert processor_slots(1, 4) == ((0,), (2,), (4,), (6,))
    assert processor_slots(2, 9) == ((0, 2), (4, 6), (1, 3), (5, 7))
    assert processor_slots(16, 2) == ((),)
