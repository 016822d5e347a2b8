"""`kernelcast learn`: measure kernels of the corpus on a device, which corrects what the model answers there."""

from __future__ import annotations

import argparse
from importlib.util import find_spec

import numpy as np

from model.device import Device
from model.errors import UnknownDevice
from model.learned.answering import Answering
from model.learned.few_shot import left_out_errors
from model.learned.learned import load_model
from profiler.store import Store
from server.analysis.memory import Memory
from server.cli.device_choice import Devices
from server.cli.interrupts import cancelled_by_ctrl_c
from server.cli.status import ANSWERED, SOME_FAILED, WrongCallError
from server.cli.terminal import out, progress_bar


def run(arguments: argparse.Namespace) -> int:
    """Measure for some minutes; what earlier calls measured is not measured again. Ctrl-C keeps what there is."""
    if find_spec("profiler.corpus") is None:
        raise WrongCallError(
            "this installation, which an editor's extension made, has no generator of kernels: install Kernelcast from "
            "its repository, with pip install '.[corpus]'"
        )
    from profiler.learning import learn  # noqa: PLC0415 - half of the code, which other commands do without

    store = Store.open()
    try:
        device = Devices().to_run_on(arguments.device)
    except UnknownDevice as error:
        raise WrongCallError(error.message) from None
    with cancelled_by_ctrl_c() as cancel, progress_bar(f"Learning {device.id}") as on_progress:
        done = learn(
            device,
            store,
            minutes=arguments.minutes,
            most_kernels=arguments.kernels,
            on_progress=on_progress,
            cancel=cancel,
        )
    out().print(f"{done.launches} launches of {done.kernels} kernels are known on {device.id}; {done.failed} failed")
    for line in _worth(device):
        out().print(line)
    return ANSWERED if done.launches else SOME_FAILED


def _worth(device: Device) -> list[str]:
    """Say how far off the model is on all that was measured here, by itself and with what the others teach."""
    model = load_model()
    if model is None:
        return []
    found = Answering(model).correction(Memory().lessons(device))
    if found is None or not len(found.errors):
        return []
    before, after = (_figures(each) for each in (found.errors, left_out_errors(found)))
    used = "used" if found.is_used else "not used: it does not help"
    return [
        f"of {len(found.errors)} launches the model is off by {before} (median, and share within 2x)",
        f"corrected by the other kernels it is off by {after}; the correction is {used}",
    ]


def _figures(errors: np.ndarray) -> str:
    """Errors are ln of measured over predicted."""
    ape = 100 * np.abs(np.expm1(-errors))
    return f"{np.median(ape):.0f} %, {100 * (np.abs(errors) <= np.log(2)).mean():.0f} %"
