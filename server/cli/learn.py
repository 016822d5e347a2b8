"""`kernelcast learn`: measure kernels of the corpus on a device, to correct predictions and tell how good they are."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from typing import Any

from model.device import Device
from model.errors import UnknownDevice
from model.learned.device_accuracy import accuracy_from
from model.learned.learned import UnusableModel
from profiler.store import Store
from server.analysis.store_cache import StoreCache
from server.cli.device_choice import Devices
from server.cli.output import ANSWERED, SOME_FAILED, WrongCallError
from server.cli.terminal import cancelled_by_ctrl_c, out, progress_bar
from server.text.learned import accuracy_words, figure_words, learned_words


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


def accuracy_lines(device: Device, *, after_learning: bool = False) -> tuple[str, ...]:
    """Return lines for a terminal; none without measurements."""
    try:
        found = accuracy_from(StoreCache().lessons(device))
    except UnusableModel as error:
        return (f"the accuracy of predictions is not known: {error.message}",)
    if found is None:
        return ()
    return tuple(figure_words(found)) if after_learning else accuracy_words(found)


def accuracy_json(device: Device) -> dict[str, Any] | None:
    """Return the same as JSON; None without measurements. Raises UnusableModel."""
    found = accuracy_from(StoreCache().lessons(device))
    return asdict(found) if found is not None else None
