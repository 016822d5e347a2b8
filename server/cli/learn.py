"""`kernelcast learn`: measure kernels of the corpus on a device, which corrects what the model answers there."""

from __future__ import annotations

import argparse

from model.errors import UnknownDevice
from profiler.store import Store
from server.cli.accuracy import accuracy_lines
from server.cli.device_choice import Devices
from server.cli.interrupts import cancelled_by_ctrl_c
from server.cli.status import ANSWERED, SOME_FAILED, WrongCallError
from server.cli.terminal import out, progress_bar
from server.text.accuracy import learned_words


def run(arguments: argparse.Namespace) -> int:
    """Measure for some minutes; what earlier calls measured is not measured again. Ctrl-C keeps what there is."""
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
    out().print(learned_words(device.id, done))
    for line in accuracy_lines(device, after_learning=True):
        out().print(line)
    return ANSWERED if done.launches else SOME_FAILED
