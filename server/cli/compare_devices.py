"""`kernelcast compare --devices`: one version of a kernel on several devices, predicted, against the first of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from rich.text import Text

from model.device import Device
from model.errors import KernelcastError
from model.forecast import Forecast
from model.pairs import predicted_side, unrelated_ratio
from model.prediction import Ratio
from server.cli import tables
from server.cli.answers import error_answer, error_json
from server.cli.forecasts import Forecaster, Found
from server.cli.requests import Request
from server.cli.status import ANSWERED, SOME_FAILED
from server.cli.streams import write_json
from server.cli.terminal import err, listed, out
from server.text.format import format_duration_us, format_interval
from server.text.hint import basis_sign, guess_mark
from server.text.versions import devices_words, ratio_json


@dataclass(frozen=True, slots=True)
class _OnDevice:
    """A launch on a device; or why it has no prediction there."""

    wanted: str
    device: Device | None = None
    forecast: Forecast | None = None
    error: KernelcastError | None = None
    ratio: Ratio | None = None  # to the first device; its own is None


def devices_compared(forecaster: Forecaster, request: Request, devices: Sequence[str], *, is_json: bool) -> int:
    """Predict the launches of a file on each device; returns the exit status."""
    found: dict[str, Found | KernelcastError] = {}
    for each in devices:
        try:
            found[each] = forecaster.forecast(replace(request, device=each))
        except KernelcastError as error:
            found[each] = error
    answered = [each for each in found.values() if isinstance(each, Found)]
    if not answered:
        first = next(each for each in found.values() if isinstance(each, KernelcastError))
        if is_json:
            write_json(error_answer(request, first))
        else:
            tables.complain(request.file, first)
        return SOME_FAILED
    status = ANSWERED
    for place, forecast in enumerate(answered[0].forecasts):
        rows = _against_first([_at(wanted, each, place) for wanted, each in found.items()])
        if any(row.ratio is None for row in rows[1:]):
            status = SOME_FAILED
        if is_json:
            write_json(_json(request, forecast, rows))
        else:
            _show(request, forecast, rows)
    return status


def _at(wanted: str, found: Found | KernelcastError, place: int) -> _OnDevice:
    if isinstance(found, KernelcastError):
        return _OnDevice(wanted, error=found)
    forecast = found.forecasts[place]
    if forecast.prediction is None and forecast.problem is not None:
        return _OnDevice(wanted, found.device, error=KernelcastError(forecast.problem.message))
    return _OnDevice(wanted, found.device, forecast)


def _against_first(rows: Sequence[_OnDevice]) -> list[_OnDevice]:
    sides = [predicted_side(r.forecast.prediction) if r.forecast and r.forecast.prediction else None for r in rows]
    base = sides[0]
    return [
        replace(row, ratio=unrelated_ratio(side, base)) if at and side is not None and base is not None else row
        for at, (row, side) in enumerate(zip(rows, sides, strict=True))
    ]


def _json(request: Request, forecast: Forecast, rows: Sequence[_OnDevice]) -> dict[str, Any]:
    launch = forecast.launch
    return {
        "file": str(request.file),
        "kernel": forecast.kernel.name,
        "launch": launch.describe() if launch is not None else None,
        "devices": [_device_json(row) for row in rows],
    }


def _device_json(row: _OnDevice) -> dict[str, Any]:
    prediction = row.forecast.prediction if row.forecast is not None else None
    q = prediction.own_us if prediction is not None else None
    return {
        "device": {"id": row.device.id, "name": row.device.name} if row.device is not None else {"id": row.wanted},
        "runtime_us": {"p10": q.p10, "p50": q.p50, "p90": q.p90} if q is not None else None,
        "bound": str(prediction.bound) if prediction is not None else None,
        "basis": str(prediction.own.basis) if prediction is not None else None,
        "ratio": ratio_json(row.ratio) if row.ratio is not None else None,
        "error": error_json(row.error) if row.error is not None else None,
    }


def _show(request: Request, forecast: Forecast, rows: Sequence[_OnDevice]) -> None:
    table = tables.table_of("Device", ">Predicted", ">p10-p90", "Bound by", "Against the first")
    for row in rows:
        prediction = row.forecast.prediction if row.forecast is not None else None
        name = row.device.name if row.device is not None else row.wanted
        if prediction is None:
            table.add_row(name, "-", "", "", "")
            continue
        q = prediction.own_us
        predicted = f"{basis_sign(prediction)} {format_duration_us(q.p50)}{guess_mark(prediction)}"
        against = devices_words(row.ratio) if row.ratio is not None else ""
        table.add_row(name, predicted, format_interval(q.p10, q.p90), str(prediction.bound), against)
    launch = f" ({forecast.launch.describe()})" if forecast.launch is not None else ""
    out().print(Text.assemble((f"{request.file}: {forecast.kernel.name}", "bold"), launch))
    out().print(table)
    out().print()
    errors = [f"{row.wanted}: {row.error.message}" for row in rows if row.error is not None]
    if errors:
        err().print(listed(errors))
