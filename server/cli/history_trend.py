"""`kernelcast history --trend`: predicted and measured times of kernels over the commits that changed their files."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from model.errors import KernelcastError
from model.forecast import Forecast
from profiler.store import Store
from server.analysis.sources import Sources
from server.analysis.store_cache import StoreCache
from server.cli.device_choice import Devices, check_devices
from server.cli.forecasts import Forecaster, Found
from server.cli.learned import sources_of
from server.cli.output import ANSWERED, SOME_FAILED, WrongCallError, warn, write_json
from server.cli.requests import Request
from server.cli.terminal import out
from server.diff.git import Repository, repository_of
from server.report.commit_trend import CommitPoint, Interval, KernelTrend, change_percent, trend_page
from server.report.pages import write_page
from server.text.format import format_duration_us, format_percent, format_things, name_and_runtime
from server.text.timeline import sparkline

WORKING_TREE = "now"
_ABBREVIATED = 9  # characters of a commit's id


@dataclass(frozen=True, slots=True)
class FileVersion:
    """A file's text at a commit; `commit` is "now" for the working tree, whose `date` and `subject` are empty."""

    commit: str
    date: str  # ISO 8601, of the commit
    subject: str
    text: str


def file_versions(file: Path, most: int) -> tuple[FileVersion, ...]:
    """Return at most `most` versions of a file, the oldest first, the working tree's last if no commit has it.

    Renames are followed. Raises GitError.
    """
    repository = repository_of(file.resolve().parent)
    committed = list(_committed(repository, file.resolve(), most))[::-1]
    try:
        text = file.read_text("utf-8", "replace")
    except OSError:
        return tuple(committed)
    if not committed or committed[-1].text != text:
        committed.append(FileVersion(WORKING_TREE, "", "", text))
    return tuple(committed[-most:])


def _committed(repository: Repository, file: Path, most: int) -> Iterator[FileVersion]:
    """Yield the versions at the commits that changed the file, the newest first."""
    inside = os.path.relpath(file, repository.folder.resolve())
    # One record a commit: its line, and the name that the file had there.
    told = repository.git(
        "log", f"--max-count={most}", "--follow", "--name-only", "-z", "--format=%x01%H%x02%cI%x02%s", "--", inside
    ).decode("utf-8", "surrogateescape")
    for record in told.split("\x01")[1:]:
        head, *names = (part.strip("\n") for part in record.split("\0"))
        commit, date, subject = head.split("\x02", 2)
        name = next((each for each in names if each), inside)
        blobs = repository.git("show", f"{commit}:{name}", allowed=(0, 128))
        if blobs:
            shown = subject.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
            yield FileVersion(commit[:_ABBREVIATED], date, shown, blobs.decode("utf-8", "replace"))


COMMITS = 20


def run_trend(arguments: argparse.Namespace) -> int:
    """Show each kernel of the files over commits, or write a page with charts."""
    if not arguments.files:
        raise WrongCallError("--trend needs the files: kernelcast history --trend FILE ...")
    devices = Devices()
    check_devices(devices.to_predict_for, arguments.device)
    # What was measured of one version would correct that version alone, and its change would be of both.
    sources = sources_of(StoreCache(), analytic_only=False, ignore_measurements=True)
    trends: list[KernelTrend] = []
    for file in arguments.files:
        versions = file_versions(file, arguments.limit or COMMITS)
        trends += _trends(file, versions, arguments, devices, sources)
    if not trends:
        warn("no version of these files has a kernel that can be predicted")
        return SOME_FAILED
    if arguments.format == "json":
        for trend in trends:
            write_json(_json(trend))
    else:
        for trend in trends:
            _show(trend)
    if arguments.output is not None:
        write_page(arguments.output, trend_page(trends))
        warn(f"{format_things(len(trends), 'chart')} written to {arguments.output}")
    return ANSWERED


def _trends(
    file: Path, versions: Sequence[FileVersion], arguments: argparse.Namespace, devices: Devices, sources: Sources
) -> Iterator[KernelTrend]:
    """Yield the trends of a file's kernels: those that its newest version has, under that version's launches."""
    request = Request(file, arguments.kernel, device=arguments.device)
    found = [_found(request, version, devices, sources) for version in versions]
    newest = next((each for each in reversed(found) if each is not None), None)
    if newest is None:
        return
    for wanted in newest.forecasts:
        key = _key(wanted)
        own = [
            next((each for each in each_found.forecasts if _key(each) == key), None) if each_found else None
            for each_found in found
        ]
        points = list(_points(versions, own, devices.store, newest.device.id))
        if points and wanted.launch is not None:
            yield KernelTrend(
                str(file), wanted.kernel.name, _launch(wanted), name_and_runtime(newest.device), tuple(points)
            )


def _found(request: Request, version: FileVersion, devices: Devices, sources: Sources) -> Found | None:
    """Return the forecasts of one version; None if nothing in it can be predicted.

    Headers and configuration are as they are now.
    """
    forecaster = Forecaster(devices.to_predict_for, sources, texts={request.file: version.text})
    try:
        return forecaster.forecast(request)
    except KernelcastError:
        return None


def _points(
    versions: Sequence[FileVersion], own: Sequence[Forecast | None], store: Store | None, device_id: str
) -> Iterator[CommitPoint]:
    before = ""
    for version, forecast in zip(versions, own, strict=True):
        if forecast is None or forecast.prediction is None:
            continue
        q, fingerprint = forecast.prediction.runtime_us, forecast.kernel.fingerprint
        measured = _measured(store, forecast, device_id)
        predicted = Interval(q.p10, q.p50, q.p90)
        yield CommitPoint(
            version.commit, version.date, version.subject, predicted, measured, is_changed=fingerprint != before
        )
        before = fingerprint


def _measured(store: Store | None, forecast: Forecast, device_id: str) -> Interval | None:
    """Return the newest measurement of exactly this version under this launch."""
    if store is None or forecast.launch is None:
        return None
    for stored in store.measurements_of(forecast.kernel.fingerprint, device_id):
        m = stored.measurement
        if m.launch_key == forecast.launch.key:
            return Interval(m.p10_us, m.median_us, m.p90_us)
    return None


def _key(forecast: Forecast) -> tuple[str, str]:
    """Return what tells a kernel's launches apart in all versions: their name, else their sizes."""
    return forecast.kernel.name, _launch(forecast)


def _launch(forecast: Forecast) -> str:
    name = forecast.spec.name if forecast.spec is not None else None
    if name or forecast.launch is None:
        return name or ""
    return "x".join(map(str, forecast.launch.global_size))


def _show(trend: KernelTrend) -> None:
    console = out()
    console.print(Text.assemble((trend.kernel, "bold"), f" in {trend.file}, launch {trend.launch}, on {trend.device}"))
    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 1, 0, 0))
    for name in ("Commit", "Date"):
        table.add_column(name, no_wrap=True)
    for name in ("Predicted", "Change", "Measured", "Error"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("Subject", overflow="ellipsis", no_wrap=True)
    for place, point in enumerate(trend.points):
        change = change_percent(trend.points, place) if point.is_changed else None
        predicted, measured = point.predicted, point.measured
        error = 100 * (predicted.middle_us / measured.middle_us - 1) if predicted and measured else None
        table.add_row(
            point.commit, point.date[:10], format_duration_us(predicted.middle_us) if predicted else "-",
            "" if change is None else format_percent(change, signed=True),
            format_duration_us(measured.middle_us) if measured else "-",
            "" if error is None else format_percent(error, signed=True), point.subject,
        )  # fmt: skip
    console.print(table)
    for name, values in (
        ("predicted", [each.predicted.middle_us for each in trend.points if each.predicted]),
        ("measured", [each.measured.middle_us for each in trend.points if each.measured]),
    ):
        if len(values) > 1:
            whole = format_percent(100 * (values[-1] / values[0] - 1), signed=True)
            ends = f"{format_duration_us(values[0])} to {format_duration_us(values[-1])}"
            console.print(f"{name:9}  {sparkline(values)}  {ends} ({whole})")
    console.print()


def _json(trend: KernelTrend) -> dict[str, Any]:
    return {
        "file": trend.file,
        "kernel": trend.kernel,
        "launch": trend.launch,
        "device": trend.device,
        "versions": [
            {
                "commit": point.commit,
                "date": point.date or None,
                "subject": point.subject,
                "changed": point.is_changed,
                "predicted_us": _interval(point.predicted),
                "measured_us": _interval(point.measured),
            }
            for point in trend.points
        ],
    }


def _interval(interval: Interval | None) -> dict[str, float] | None:
    if interval is None:
        return None
    return {"p10": interval.low_us, "p50": interval.middle_us, "p90": interval.high_us}
