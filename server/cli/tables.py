"""Tables for people: within 80 columns on a terminal, whole where another program reads."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.box import SIMPLE_HEAD
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from model.device import Device
from model.engine import Forecast
from model.errors import KernelcastError
from model.prediction import Prediction
from profiler.measurement import MeasureError, Measurement
from server.cli.forecasts import Found
from server.cli.terminal import err, out
from server.format import format_duration_us, format_interval, format_percent
from server.render import basis_sign, error_percent

_LOG_LINES = 40  # lines of a compiler's or driver's words that are shown


@dataclass(frozen=True, slots=True)
class Outcome:
    """One launch that was to be measured."""

    forecast: Forecast
    measurement: Measurement | None = None
    error: KernelcastError | None = None


def show_predictions(file: Path, found: Found) -> None:
    """Kernel, launch, prediction, what bounds it; below, what was taken for granted."""
    table = _table(file, found.device, "Kernel", "Launch", ">Predicted", ">p10-p90", "Bound by", "Basis", ">Assumed")
    for forecast in found.forecasts:
        prediction = forecast.prediction
        if prediction is None:
            table.add_row(forecast.kernel.name, _launch(forecast), "-", "", "no prediction", "", "")
            continue
        table.add_row(
            forecast.kernel.name,
            _launch(forecast),
            *_predicted(prediction),
            str(prediction.bound),
            str(prediction.basis),
            str(len(prediction.assumptions) or ""),
        )
    console = out()
    console.print(table)
    _print_assumptions(found.forecasts)
    for forecast in found.forecasts:
        if forecast.problem is not None:
            problem = forecast.problem
            _complain(file, problem.line, f"{forecast.kernel.name}: {problem.message}", problem.code)


def show_measurements(file: Path, device: Device, outcomes: Sequence[Outcome]) -> None:
    """What was measured beside what was predicted."""
    table = _table(
        file, device, "Kernel", "Launch", ">Predicted", ">p10-p90", ">Measured", ">95 % of median", ">Error", ">Runs"
    )
    for outcome in outcomes:
        forecast, measured = outcome.forecast, outcome.measurement
        predicted = _predicted(forecast.prediction) if forecast.prediction else ("-", "")
        if measured is None:
            table.add_row(forecast.kernel.name, _launch(forecast), *predicted, "-", "", "", "")
            continue
        error = error_percent(forecast.prediction, measured) if forecast.prediction else None
        table.add_row(
            forecast.kernel.name,
            _launch(forecast),
            *predicted,
            format_duration_us(measured.median_us),
            format_interval(*measured.ci95_us),
            "" if error is None else format_percent(error, signed=True),
            str(measured.repeats),
        )
    out().print(table)
    _print_assumptions([outcome.forecast for outcome in outcomes])
    for outcome in outcomes:
        if outcome.error is not None:
            complain(file, outcome.error, kernel=outcome.forecast.kernel.name)


def show_problems(file: Path, found: Found) -> None:
    """What is wrong with the file or with its annotations, though the answers stand."""
    for problem in found.problems:
        _complain(file, problem.line, problem.message, problem.code)


def complain(file: Path, error: KernelcastError, *, kernel: str = "") -> None:
    """Why there is no answer, with the compiler's or driver's own words below."""
    _complain(file, error.line, f"{kernel}: {error.message}" if kernel else error.message, error.code)
    if isinstance(error, MeasureError) and error.log:
        lines = error.log.strip().splitlines()
        err().print(Padding(Text("\n".join(lines[-_LOG_LINES:]), style="dim"), (0, 0, 0, 4), expand=False))


def _complain(file: Path, line: int | None, message: str, code: str) -> None:
    # file:line: as compilers say it, so that editors and terminals make a link of it.
    place = f"{file}:{line}" if line is not None else str(file)
    said = message.removeprefix(f"{file} ")
    separator = ": " if said == message else " "
    err().print(Text.assemble((place, "bold"), separator, said, " ", (f"[{code}]", "dim")))


def _table(file: Path, device: Device, *columns: str) -> Table:
    """Columns that start with `>` are figures. Long words are folded, never cut."""
    how = "calibrated" if device.calibrated else f"not calibrated; rates from the {device.source}"
    table = Table(
        title=f"{file} on {device.name} ({device.id}, {how})",
        title_justify="left",
        title_style="bold",
        box=SIMPLE_HEAD,
        pad_edge=False,
        show_edge=False,
    )
    for column in columns:
        is_figure = column.startswith(">")
        table.add_column(
            column.lstrip(">"),
            justify="right" if is_figure else "left",
            no_wrap=is_figure,
            overflow="fold",
        )
    return table


def _launch(forecast: Forecast) -> str:
    launch = forecast.launch
    if launch is None:
        return "-"
    return f"{launch.name}: {launch.describe()}" if launch.name else launch.describe()


def _predicted(prediction: Prediction) -> tuple[str, str]:
    q = prediction.runtime_us
    return f"{basis_sign(prediction)} {format_duration_us(q.p50)}", format_interval(q.p10, q.p90)


def _print_assumptions(forecasts: Iterable[Forecast]) -> None:
    console = out()
    for forecast in forecasts:
        if forecast.prediction is None or not forecast.prediction.assumptions:
            continue
        console.print(Text.assemble("\nAssumed for ", (forecast.kernel.name, "bold"), f" ({_launch(forecast)}):"))
        for assumption in forecast.prediction.assumptions:
            spread = f" (may be off by a factor of {assumption.spread:.2g})" if assumption.spread > 1.005 else ""
            console.print(Padding(Text(f"- {assumption.text}{spread}"), (0, 0, 0, 2), expand=False))
    console.print()
