"""`kernelcast campaign`: what a device of this machine is like, measured in some minutes, in a folder to commit."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from rich.box import SIMPLE_HEAD
from rich.table import Table

from model.device import Device, DeviceType
from model.errors import UnknownDevice
from profiler.campaign.campaign import CalibrationWanted, CampaignPlan, run_campaign
from profiler.campaign.report import FILE_NAME, Report, accuracy, figure_cells, host_accuracy, host_sentences, noise
from profiler.devices import discover, find_device
from profiler.gpu_hardware import unserved_gpus
from profiler.measurement import DeviceGone
from server.cli.output import ANSWERED, INTERRUPTED, NO_GPU, SOME_FAILED, WrongCallError, warn
from server.cli.terminal import cancelled_by_ctrl_c, err, out, progress_bar
from server.text.format import format_percent, shown_name

FULL_FROM_MINUTES = 10.0  # a full calibration takes one or two of them
LINE_EVERY_S = 15.0  # where no terminal shows a bar
DEFAULT_FOLDER = Path("gpu-campaign")
OWN_KERNELS = Path("tests/kernels")  # of a checkout


def run(arguments: argparse.Namespace) -> int:
    """Measure for the given time what earlier calls left, and print accuracy before and after the calibration."""
    device = _device(arguments.device)
    if device is None:
        return NO_GPU
    folder = arguments.folder or DEFAULT_FOLDER / device.id
    plan = CampaignPlan(folder, device, arguments.minutes, _own(arguments.kernels), _calibration(arguments))
    warn(
        f"{shown_name(device.name)} ({device.id}), driver {device.driver}: {arguments.minutes:g} minutes into {folder}"
    )
    with cancelled_by_ctrl_c() as pressed, _shown() as on_progress:
        report = run_campaign(plan, on_progress, pressed)
    _print(report)
    warn(f"{len(report.rows)} rows; {folder / FILE_NAME} says all of it, and the same call goes on from here")
    if pressed.is_set():
        return INTERRUPTED
    return ANSWERED if report.rows else SOME_FAILED


def _device(wanted: str | None) -> Device | None:
    """Return the one asked for, else the GPU; None where there is none, and say why. Raises WrongCallError."""
    found: tuple[Device, ...] = ()
    try:
        found = discover()
    except DeviceGone:
        if wanted:
            raise
    if wanted:
        try:
            return find_device(found, wanted)
        except UnknownDevice as error:
            raise WrongCallError(error.message) from None
    gpus = [device for device in found if device.type is DeviceType.GPU]
    if len(gpus) > 1:
        ids = ", ".join(device.id for device in gpus)
        raise WrongCallError(f"there are several GPUs: say which with --device ({ids})")
    if not gpus:
        _explain(found)
        return None
    return gpus[0]


def _explain(found: Sequence[Device]) -> None:
    unserved = unserved_gpus(found)
    for gpu in unserved:
        warn(f"{gpu.text}: {gpu.mend}")
    if not unserved:
        warn("no GPU is in this machine, as far as OpenCL, the PCI bus and /dev tell")
    if found:
        ids = ", ".join(device.id for device in found)
        warn(f"another device can be measured all the same: --device ID, of {ids}")


def _own(chosen: Path | None) -> Path | None:
    if chosen is not None:
        if not chosen.is_dir():
            raise WrongCallError(f"{chosen} is not a folder; --kernels takes a folder with .cl files")
        return chosen
    return OWN_KERNELS if OWN_KERNELS.is_dir() else None


def _calibration(arguments: argparse.Namespace) -> CalibrationWanted:
    if arguments.calibration:
        return CalibrationWanted(arguments.calibration)
    return CalibrationWanted.FULL if arguments.minutes >= FULL_FROM_MINUTES else CalibrationWanted.QUICK


@contextmanager
def _shown() -> Iterator[Callable[[float, str], None]]:
    """Show a progress bar on a terminal, else a line for each phase and from time to time."""
    if err().is_terminal:
        with progress_bar("Campaign") as on_progress:
            yield on_progress
    else:
        yield _lines()


def _lines() -> Callable[[float, str], None]:
    last_phase, next_s = "", 0.0

    def tell(_: float, text: str) -> None:
        nonlocal last_phase, next_s
        phase = text.partition(":")[0]
        if phase != last_phase or time.monotonic() >= next_s:
            last_phase, next_s = phase, time.monotonic() + LINE_EVERY_S
            warn(text)

    return tell


def _print(report: Report) -> None:
    for title, lines in (("Event time", accuracy(report)), ("Time that the host waits", host_accuracy(report))):
        table = Table(title=title, title_justify="left", title_style="bold", box=SIMPLE_HEAD, pad_edge=False)
        table.add_column("Kernels", no_wrap=True)
        table.add_column("Prediction", no_wrap=True)
        for heading in ("Rows", "MAPE", "Median APE", "Within 2x", "Rank correlation"):
            table.add_column(heading, justify="right")
        for line in lines:
            table.add_row(line.part, line.who, *figure_cells(line.figures))
        out().print(table)
    for each in noise(report):
        twice = f", {format_percent(each.pairs_median)} between {each.pairs} rows measured twice" if each.pairs else ""
        out().print(f"Repeatability, {each.part}: ±{format_percent(each.batches_median)} between batches{twice}.")
    for sentence in host_sentences(report):
        out().print(sentence)
    for note in report.notes:
        warn(note)
