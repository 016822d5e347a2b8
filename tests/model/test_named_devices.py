"""A device answers to its name, also where another one's name holds it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from model.device import Device
from model.device_catalog import builtin_devices, find_builtin, named_builtins
from model.errors import UnknownDevice
from profiler.devices import find_device
from profiler.measurement import DeviceGone
from server.analysis.devices import pick_device, shipped_for
from server.cli.device_choice import Devices


@pytest.mark.parametrize("device", builtin_devices(), ids=lambda device: device.id)
def test_every_shipped_device_answers_to_its_name_or_is_one_of_several_of_that_name(device: Device) -> None:
    found = named_builtins(device.name)
    assert device in found
    if sum(other.name == device.name for other in builtin_devices()) == 1 and len(found) == 1:
        assert find_device(builtin_devices(), device.name) is device


@pytest.mark.parametrize(
    ("wanted", "device_id"),
    [
        ("GeForce GTX 1080", "nvidia-geforce-gtx-1080"),
        ("NVIDIA GeForce GTX 1080 Ti", "nvidia-geforce-gtx-1080-ti"),
        ("1080", "nvidia-geforce-gtx-1080"),
        ("4090", "nvidia-geforce-rtx-4090"),
        ("apple m2", "apple-m2"),
    ],
)
def test_a_name_is_not_taken_for_a_longer_one(wanted: str, device_id: str) -> None:
    assert find_device(builtin_devices(), wanted).id == device_id
    assert Devices().to_predict_for(wanted).id == device_id
    assert pick_device((wanted,), (), (), shipped_for((wanted,)))[0].id == device_id


def _with_the_ti_here() -> Devices:
    ti = find_builtin("nvidia-geforce-gtx-1080-ti")
    assert ti is not None
    devices = Devices()
    devices.__dict__["_outcome"] = (replace(ti, id="nvidia-0"),)
    devices.__dict__["remembered"] = ()
    return devices


def test_the_card_here_is_not_taken_for_the_one_whose_name_its_own_holds() -> None:
    devices = _with_the_ti_here()
    assert devices.to_predict_for("GeForce GTX 1080").id == "nvidia-geforce-gtx-1080"
    assert devices.to_predict_for("GeForce GTX 1080 Ti").id == "nvidia-0"
    assert devices.to_predict_for("nvidia").id == "nvidia-0"
    assert devices.to_run_on("GTX 1080 Ti").id == "nvidia-0"
    with pytest.raises(DeviceGone):
        devices.to_run_on("GeForce GTX 1080")


def test_boards_of_one_chip_are_listed() -> None:
    with pytest.raises(UnknownDevice, match="nvidia-a100-pcie-40gb"):
        find_device(builtin_devices(), "A100")
