"""What `kernelcast compare` tells of two versions of a launch: as JSON, as a table and in one sentence."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from rich.text import Text

from model.device import Device
from model.forecast import Forecast
from model.prediction import Ratio
from profiler.measurement import MeasureError, MeasureRequest
from profiler.side_by_side import SideBySide, Version
from profiler.turns import Ratio as MeasuredRatio
from server.cli.forecasts import Found
from server.cli.tables import table_of
from server.cli.terminal import err, listed, out
from server.text.format import format_duration_us, format_interval, format_spread, shown_name
from server.text.hint import basis_sign, guess_mark
from server.text.versions import faster_words, interval_words, ratio_json
from server.tuning.result import difference_text, request_json


class Verdict(StrEnum):
    """How the new version compares with the old one: measured if it was, else as predicted.

    `NEW` and `GONE` are kernels of one version alone, as `kernelcast diff` meets them.
    """

    FASTER = "faster"
    SLOWER = "slower"
    UNCLEAR = "no clear change"
    NEW = "new"
    GONE = "gone"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Side:
    """One version: its file, and the forecast of the launch that is compared."""

    file: Path
    found: Found
    forecast: Forecast


def measure_request(side: Side) -> MeasureRequest:
    """Return how to run a version, whose launch must be known."""
    source, kernel = side.forecast.compiled_from(side.found.text)
    assert side.forecast.launch is not None
    return MeasureRequest(source, str(side.found.path), kernel, side.forecast.launch, side.found.device.id)


@dataclass(frozen=True, slots=True)
class Compared:
    """`predicted` and `measured` are the new version's time over the old one's, `side` what was measured in turns."""

    old: Side
    new: Side
    device: Device
    predicted: Ratio | None
    side: SideBySide | None
    tolerance: float

    @property
    def measured(self) -> MeasuredRatio | None:
        return self.side.ratio(1) if self.side is not None else None

    @property
    def equal(self) -> bool | None:
        """Whether all outputs are equal within the tolerance; None where some could not be compared."""
        difference = self.side.versions[1].difference if self.side is not None else None
        if difference is None or difference.equal is not False:
            return difference.equal if difference is not None else None
        return difference.within(relative=self.tolerance)

    @property
    def verdict(self) -> Verdict:
        measured, predicted = self.measured, self.predicted
        if measured is not None:
            return _verdict(is_faster=measured.is_faster, is_slower=measured.is_slower)
        if predicted is None:
            return Verdict.UNKNOWN
        return _verdict(is_faster=predicted.p90 < 1, is_slower=predicted.p10 > 1)

    @property
    def has_failed(self) -> bool:
        """Whether something that was asked for is missing."""
        is_measured = self.side is None or self.measured is not None
        return self.predicted is None or not is_measured


def _verdict(*, is_faster: bool, is_slower: bool) -> Verdict:
    return Verdict.FASTER if is_faster else Verdict.SLOWER if is_slower else Verdict.UNCLEAR


def compared_json(compared: Compared) -> dict[str, Any]:
    """Return all of it; each `launch` is a request for `predict --batch` and `measure --batch`."""
    measured, side = compared.measured, compared.side
    versions = side.versions if side is not None else (None, None)
    difference = versions[1].difference if versions[1] is not None else None
    is_known = difference is not None and bool(difference.compared)
    return {
        "device": {"id": compared.device.id, "name": compared.device.name},
        "old": _side_json(compared.old, versions[0], compared.device),
        "new": _side_json(compared.new, versions[1], compared.device),
        "predicted_ratio": ratio_json(compared.predicted) if compared.predicted is not None else None,
        "measured_ratio": {"median": measured.ratio, "low": measured.low, "high": measured.high} if measured else None,
        "verdict": str(compared.verdict),
        "equal": compared.equal,
        "max_ulps": difference.max_ulps if difference is not None and is_known else None,
        "max_relative": difference.max_relative if difference is not None and is_known else None,
    }


def _side_json(side: Side, version: Version | None, device: Device) -> dict[str, Any]:
    forecast = side.forecast
    q = forecast.prediction.own_us if forecast.prediction is not None else None
    problem, launch = _problem(forecast, version), forecast.launch
    return {
        "file": str(side.file),
        "kernel": forecast.kernel.name,
        "launch": request_json(launch, forecast.kernel, str(side.file), device.id) if launch else None,
        "predicted_us": q.p50 if q is not None else None,
        "predicted": {"p10": q.p10, "p50": q.p50, "p90": q.p90} if q is not None else None,
        "measured_us": version.median_us if version is not None else None,
        "ci95_us": list(version.ci95_us) if version is not None and version.ci95_us is not None else None,
        "error": {"code": problem[0], "message": problem[1]} if problem is not None else None,
    }


def _problem(forecast: Forecast, version: Version | None) -> tuple[str, str] | None:
    """Return code and message of why a version has no time."""
    error: MeasureError | None = version.error if version is not None else None
    if error is not None:
        return error.code, error.message
    return (forecast.problem.code, forecast.problem.message) if forecast.problem is not None else None


def show(compared: Compared) -> None:
    """Print both versions, then what the change is; why one has no time goes to stderr."""
    versions = compared.side.versions if compared.side is not None else (None, None)
    table = table_of("Version", "Launch", ">Predicted", ">80 % range", ">Measured", ">±95 %")
    problems = []
    for side, version in zip((compared.old, compared.new), versions, strict=True):
        forecast = side.forecast
        launch, prediction = forecast.launch, forecast.prediction
        cells = [_name(compared, side), launch.describe() if launch is not None else "-", "-", "", "", ""]
        if prediction is not None:
            q = prediction.own_us
            cells[2] = f"{basis_sign(prediction)} {format_duration_us(q.p50)}{guess_mark(prediction)}"
            cells[3] = format_interval(q.p10, q.p90)
        if version is not None and version.median_us is not None and version.ci95_us is not None:
            cells[4] = format_duration_us(version.median_us)
            cells[5] = format_spread(version.ci95_us[0], version.median_us, version.ci95_us[1])
        table.add_row(*cells)
        if problem := _problem(forecast, version):
            problems.append(f"{_name(compared, side)}: {problem[1]}")
    console = out()
    console.print(Text.assemble((_name(compared, compared.new), "bold"), f" on {shown_name(compared.device.name)}"))
    console.print(table)
    console.print(sentence(compared))
    console.print()
    if problems:
        err().print(listed(problems))


def _name(compared: Compared, side: Side) -> str:
    """Return what tells the versions apart: the kernel in one file, else the file, and the kernel where it differs."""
    kernels = {each.forecast.kernel.name for each in (compared.old, compared.new)}
    if compared.old.file == compared.new.file:
        return side.forecast.kernel.name
    return f"{side.file}: {side.forecast.kernel.name}" if len(kernels) > 1 else str(side.file)


def sentence(compared: Compared) -> str:
    """Return `predicted 12 % faster (80 %: ...), measured 15 % faster (95 %: ...), results equal`."""
    kernel, predicted, measured = compared.new.forecast.kernel.name, compared.predicted, compared.measured
    said = []
    if predicted is not None:
        said.append(f"predicted {faster_words(predicted.p50)} (80 %: {interval_words(predicted)})")
    if measured is not None:
        ends = interval_words(Ratio(measured.low, measured.ratio, measured.high))
        unsure = "" if measured.is_faster or measured.is_slower else ", no measurable difference"
        said.append(f"measured {faster_words(measured.ratio)} (95 %: {ends}{unsure})")
    if compared.side is not None and (results := _results(compared)):
        said.append(f"results {results}")
    return f"{kernel}: {', '.join(said) or 'nothing is known of the change'}"


def _results(compared: Compared) -> str:
    assert compared.side is not None
    if any(version.error is not None for version in compared.side.versions):
        return ""
    if not compared.side.is_repeatable:
        return "differ from run to run"
    return difference_text(compared.side.versions[1].difference, is_accepted=bool(compared.equal))
