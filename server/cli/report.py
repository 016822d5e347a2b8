"""`kernelcast report`: one page about all kernels of the files, or the same facts as JSON."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from model.device import Device
from model.errors import KernelcastError
from model.forecast import FileForecast
from profiler.measurement import MeasureError
from profiler.store import StoredMeasurement, StoreError
from server.analysis.store_cache import StoreCache
from server.cli import tables
from server.cli.device_choice import Devices, check_devices
from server.cli.forecasts import Forecaster
from server.cli.learned import sources_of
from server.cli.output import ANSWERED, SOME_FAILED, WrongCallError, json_text, warn
from server.cli.requests import Request, requests_of
from server.report.as_json import report_json
from server.report.builder import History, Subject, gather
from server.report.facts import Report
from server.report.page import page
from server.report.pages import cached_page, forget_old_pages, write_page

_STDOUT = "-"


def run(arguments: argparse.Namespace) -> int:
    """Write the report, and say on stdout where it is; without `-o` into the cache folder, never beside the files."""
    if not arguments.files:
        raise WrongCallError("no FILE: say what to report about")
    devices = Devices()
    check_devices(devices.to_predict_for, arguments.device)
    sources = sources_of(
        StoreCache(), analytic_only=arguments.analytic_only, ignore_recordings=arguments.ignore_recordings
    )
    forecaster = Forecaster(devices.to_predict_for, sources)
    subjects, status = _subjects(arguments, forecaster)
    if not subjects:
        return SOME_FAILED
    report = gather(_title(subjects), subjects, _here(devices), devices.remembered, _history(devices), sources)
    if devices.store is not None and devices.store.left_out:
        warn(devices.store.left_out)
    _deliver(report, arguments)
    unpredicted = any(f.prediction is None for subject in subjects for f in subject.forecast.forecasts)
    return SOME_FAILED if unpredicted else status


def _subjects(arguments: argparse.Namespace, forecaster: Forecaster) -> tuple[list[Subject], int]:
    found, status = [], ANSWERED
    for request in requests_of(arguments):
        try:
            found.append(_subject(forecaster, request))
        except KernelcastError as error:
            tables.complain(request.file, error)
            status = SOME_FAILED
    return found, status


def _subject(forecaster: Forecaster, request: Request) -> Subject:
    found = forecaster.forecast(request)
    kernels = tuple({(f.kernel.range, f.kernel.name): f.kernel for f in found.forecasts}.values())
    forecast = FileForecast(kernels, found.forecasts, found.problems)
    return Subject(request.file.absolute(), str(request.file), forecast, found.device)


def _title(subjects: list[Subject]) -> str:
    if len(subjects) > 1:
        return f"Performance of {len(subjects)} files"
    kernels = subjects[0].forecast.kernels
    return f"Performance of {kernels[0].name if len(kernels) == 1 else subjects[0].label}"


def _here(devices: Devices) -> tuple[Device, ...]:
    """Return this machine's devices; none if no driver answers, since the report is about predictions."""
    try:
        return devices.here
    except MeasureError:
        return ()


def _history(devices: Devices) -> History:
    def read(path: Path | None, kernel: str) -> tuple[StoredMeasurement, ...]:
        if devices.store is None:
            raise StoreError("measurements are not remembered on this machine")
        return devices.store.history(path, kernel)

    return read


def _deliver(report: Report, arguments: argparse.Namespace) -> None:
    output: str | None = arguments.output
    is_json = arguments.format == "json"
    text = json_text(report_json(report), indent=2) + "\n" if is_json else page(report)
    if output == _STDOUT or (is_json and not output):
        sys.stdout.buffer.write(text.encode("utf-8", "replace"))
        return
    path = Path(output) if output else cached_page(_about(arguments), report.title)
    write_page(path, text)
    if not output:
        forget_old_pages(path.parent)
    print(path)


def _about(arguments: argparse.Namespace) -> str:
    return "\n".join([*(str(file.absolute()) for file in arguments.files), arguments.kernel or ""])
