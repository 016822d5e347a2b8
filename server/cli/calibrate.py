"""`kernelcast calibrate`: measures what devices sustain and how kernels fare there, for every later prediction."""

from __future__ import annotations

import argparse

from rich.box import SIMPLE_HEAD
from rich.table import Table

from model.device import Device
from model.errors import KernelcastError, UnknownDevice
from profiler.calibrate import calibrate
from profiler.store import Store
from server.cli.device_choice import Devices
from server.cli.devices import device_json
from server.cli.learn import accuracy_json, accuracy_lines
from server.cli.output import ANSWERED, SOME_FAILED, WrongCallError, warn, write_json
from server.cli.terminal import cancelled_by_ctrl_c, out, progress_bar
from server.device_report.facts import transfer_rates
from server.text.format import format_count, format_duration_us, format_mem_bytes, shown_name
from server.text.learned import learned_words


def run(arguments: argparse.Namespace) -> int:
    """Calibrate the devices named, else all that are here. Raises `KernelcastError` if nothing could be kept.

    What is measured of the corpus' kernels afterwards is kept at once: Ctrl-C costs what is missing, no more.
    """
    store = Store.open()  # before a minute is spent: what cannot be kept need not be measured
    devices = Devices()
    wanted = [*arguments.wanted, *([arguments.device] if arguments.device else [])]
    try:
        chosen = [devices.to_run_on(each) for each in wanted] or list(devices.here)
    except UnknownDevice as error:
        raise WrongCallError(error.message) from None
    status = ANSWERED
    calibrated = []
    for device in {device.id: device for device in chosen}.values():
        try:
            with progress_bar(f"Calibrating {device.id}") as on_progress:
                profile = calibrate(device.id, on_progress=on_progress, quick=arguments.quick)
            store.save_profile(profile)
        except KernelcastError as error:
            warn(f"{device.id}: {error.message}")
            status = SOME_FAILED
            continue
        calibrated.append(profile)
        for failure in profile.calibration.failures if profile.calibration else ():
            warn(f"{device.id}: not measured: {failure}")
        if arguments.format == "text":
            out().print(_table(profile))
        if not _learned(profile, store, quick=arguments.quick, is_said=arguments.format == "text"):
            status = SOME_FAILED
    if arguments.format == "json":
        told = [{**device_json(profile), "accuracy": accuracy_json(profile)} for profile in calibrated]
        write_json(told, indent=2)
    return status


def _learned(profile: Device, store: Store, *, quick: bool, is_said: bool) -> bool:
    """Measure kernels of the corpus on a device that was calibrated; False where they cannot be kept."""
    from profiler.learning import KERNELS, MINUTES, QUICK_KERNELS, QUICK_MINUTES, learn  # noqa: PLC0415 - as in `learn`

    kernels, minutes = (QUICK_KERNELS, QUICK_MINUTES) if quick else (KERNELS, MINUTES)
    try:
        with cancelled_by_ctrl_c() as cancel, progress_bar(f"Learning {profile.id}") as on_progress:
            done = learn(profile, store, minutes=minutes, most_kernels=kernels, on_progress=on_progress, cancel=cancel)
    except KernelcastError as error:
        warn(f"{profile.id}: nothing was learned: {error.message}")
        return False
    if is_said:
        out().print(learned_words(profile.id, done))
        for line in accuracy_lines(profile, after_learning=True):
            out().print(line)
    return True


def _conditions(device: Device) -> str:
    """Return the line below the table: the conditions of the calibration."""
    made = device.calibration
    if made is None:
        return ""
    parts = [f"took {made.duration_s:.0f} s", f"{made.rounds} rounds and {made.repeats} repeats"]
    if made.threads is not None:
        parts.append(f"{made.threads} thread{'' if made.threads == 1 else 's'}")
    parts.append(f"load average {made.load_average:.1f}")
    if made.other_load_percent is not None:
        parts.append(f"others used {made.other_load_percent:.0f} % of the machine")
    return ", ".join(parts)


def _table(device: Device) -> Table:
    rates = device.rates
    repeatability = "" if device.noise_percent is None else f", repeatability ±{device.noise_percent:.1f} %"
    table = Table(
        title=f"{shown_name(device.name)} ({device.id}){repeatability}",
        title_justify="left",
        title_style="bold",
        caption=_conditions(device) or None,
        caption_justify="left",
        box=SIMPLE_HEAD,
        pad_edge=False,
        show_edge=False,
    )
    table.add_column("What it sustains", overflow="fold")
    table.add_column("Rate", justify="right", no_wrap=True)
    table.add_row("launch of an empty kernel", format_duration_us(rates.launch_floor_us))
    if rates.launch_wall_us:
        table.add_row("the same by the host's clock", format_duration_us(rates.launch_wall_us))
    for name, rate in transfer_rates(rates.host_side):
        table.add_row(name, rate)
    table.add_row("fp32 arithmetic", format_count(rates.fp32_gflop_s * 1e9, "flop/s"))
    if rates.fp64_gflop_s:
        table.add_row("fp64 arithmetic", format_count(rates.fp64_gflop_s * 1e9, "flop/s"))
    if rates.fp16_gflop_s:
        table.add_row("fp16 arithmetic", format_count(rates.fp16_gflop_s * 1e9, "flop/s"))
    table.add_row("integer arithmetic", format_count(rates.int32_gop_s * 1e9, "op/s"))
    table.add_row("sin, exp, log, pow", format_count(rates.special_gop_s * 1e9, "op/s"))
    if rates.fma_latency_ns:
        table.add_row("a multiply-add that waits for the one before", f"{rates.fma_latency_ns:.2g} ns")
    table.add_row("local memory", format_count(rates.local_bandwidth_gb_s * 1e9, "B/s"))
    for level in rates.memory_levels:
        until = f" (up to {format_mem_bytes(level.up_to_bytes)})" if level.up_to_bytes else ""
        table.add_row(f"reading {level.name}{until}", format_count(level.read_gb_s * 1e9, "B/s"))
        table.add_row(f"writing {level.name}", format_count(level.write_gb_s * 1e9, "B/s"))
    return table
