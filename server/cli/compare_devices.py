"""`kernelcast compare --devices`: one version of a kernel on several devices, predicted, against the first of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from rich.text import Text

from model.device import Device
from model.errors import KernelcastError
from model.forecast import Forecast
from server.analysis.elsewhere import DeviceTime, Elsewhere
from server.analysis.sources import Sources
from server.cli import tables
from server.cli.answers import error_answer, error_json
from server.cli.forecasts import Forecaster, Found
from server.cli.output import ANSWERED, SOME_FAILED, write_json
from server.cli.requests import Request
from server.cli.terminal import err, listed, out
from server.text.devices import cells, device_json, names_apart


@dataclass(frozen=True, slots=True)
class DevicesWanted:
    """The devices of a call by the words that name them, and how to find them."""

    names: Sequence[str]
    device_for: Callable[[str], Device]


def devices_compared(
    forecaster: Forecaster, sources: Sources, request: Request, wanted: DevicesWanted, *, is_json: bool
) -> int:
    """Predict the launches of a file on each device; returns the exit status.

    The launches are those of the first device: of a kernel without a launch, too, the same is compared everywhere.
    """
    devices = [wanted.device_for(name) for name in wanted.names]
    found, failed = _first_found(forecaster, request, devices)
    if found is None:
        first = next(iter(failed.values()))
        if is_json:
            write_json(error_answer(request, first))
        else:
            tables.complain(request.file, first)
        return SOME_FAILED
    elsewhere = Elsewhere(sources)
    others = [each for each in devices if each.id not in failed and each.id != found.device.id]
    status = SOME_FAILED if failed else ANSWERED
    for forecast in found.forecasts:
        rows = elsewhere.on_devices(forecast, found.device, others, path=found.path)
        if any(row.prediction is None for row in rows):
            status = SOME_FAILED
        if is_json:
            write_json(_json(request, forecast, rows, failed))
        else:
            _show(request, forecast, rows, failed)
    return status


def _first_found(
    forecaster: Forecaster, request: Request, devices: Sequence[Device]
) -> tuple[Found | None, dict[str, KernelcastError]]:
    """Return the forecasts on the first device that has any, and what the ones before it failed by."""
    failed: dict[str, KernelcastError] = {}
    for device in devices:
        try:
            return forecaster.forecast(replace(request, device=device.id)), failed
        except KernelcastError as error:
            failed[device.id] = error
    return None, failed


def _json(
    request: Request, forecast: Forecast, rows: Sequence[DeviceTime], failed: dict[str, KernelcastError]
) -> dict[str, Any]:
    launch = forecast.launch
    return {
        "file": str(request.file),
        "kernel": forecast.kernel.name,
        "launch": launch.describe() if launch is not None else None,
        "devices": [
            *({"device": {"id": each}, "error": error_json(error)} for each, error in failed.items()),
            *map(device_json, rows),
        ],
    }


def _show(request: Request, forecast: Forecast, rows: Sequence[DeviceTime], failed: dict[str, KernelcastError]) -> None:
    table = tables.table_of("Device", ">Predicted", ">80 % range", "Bound by", "Against the first")
    for name, row in zip(names_apart(rows), rows, strict=True):
        table.add_row(name, *(cells(row)[1:] if row.prediction is not None else ("-", "", "", "")))
    launch = f" ({forecast.launch.describe()})" if forecast.launch is not None else ""
    out().print(Text.assemble((f"{request.file}: {forecast.kernel.name}", "bold"), launch))
    out().print(table)
    out().print()
    errors = [f"{each}: {error.message}" for each, error in failed.items()]
    errors += [f"{row.device.id}: {row.problem}" for row in rows if row.prediction is None]
    if errors:
        err().print(listed(errors))
