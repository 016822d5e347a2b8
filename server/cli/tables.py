"""Tables for people: within 80 columns on a terminal, whole where another program reads."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import median
from typing import Literal

from rich.box import SIMPLE_HEAD
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from model.advice.advice import Advice
from model.device import Device
from model.errors import KernelcastError
from model.forecast import Forecast
from model.launch.launch import Assumption
from model.prediction import Prediction
from profiler.measurement import MeasureError
from server.cli.cross_validation import Left
from server.cli.forecasts import Found
from server.cli.terminal import err, listed, out
from server.text.advice import sentence
from server.text.format import format_duration_us, format_interval, format_percent, format_spread, shown_name
from server.text.hint import basis_sign, error_text, guess_mark
from server.text.learned import CORRECTED, NOVEL, is_by_the_model, novelty_words
from server.text.measured import circumstances, fit_sentence
from server.text.recorded import program_time, recorded_words

_BASES = {
    "analytic": "analytical model",
    "model": "learned model",
    "compiled": "learned model with compiled code",
}
_LOG_LINES = 40  # lines of a compiler's or driver's words that are shown


def show_predictions(file: Path, found: Found) -> None:
    """Print kernel, launch, prediction and bottleneck; below, what was assumed."""
    table = table_of("Kernel", ">Predicted", ">80 % range", "Launch", "Bound by", ">Assumed")
    for forecast in found.forecasts:
        prediction = forecast.prediction
        if prediction is None:
            table.add_row(forecast.kernel.name, "-", "", _launch_cell(forecast), "", "")
            continue
        q = prediction.runtime_us
        table.add_row(
            forecast.kernel.name,
            _predicted(prediction),
            format_interval(q.p10, q.p90),
            _launch_cell(forecast),
            str(prediction.bound),
            str(len(prediction.assumptions) or ""),
        )
    _print(_title(file, found.device, found.forecasts), table)
    _print_advice(found.forecasts)
    _print_program_times(found.forecasts)
    _print_novelty(found.forecasts)
    _print_assumptions(found.forecasts)
    for forecast in found.forecasts:
        if forecast.problem is not None:
            problem = forecast.problem
            _complain(file, problem.line, f"{forecast.kernel.name}: {problem.message}", problem.code)


def show_measurements(file: Path, found: Found, measured: Sequence[Left]) -> None:
    """Show what was measured beside what was predicted; below, what disturbed it, and the fits over several sizes."""
    at_sizes = any(each.left_out_us is not None for each in measured)
    table = table_of(
        *("Kernel", ">Predicted", ">Measured", ">±95 %", ">Error", "Launch"),
        ">Through others" if at_sizes else "Bound by",
    )
    for each in measured:
        forecast, was, prediction = each.outcome.forecast, each.outcome.measurement, each.outcome.forecast.prediction
        cells = [forecast.kernel.name, _predicted(prediction) if prediction else "-"]
        if was is not None:
            cells += [format_duration_us(was.median_us), format_spread(was.ci95_us[0], was.median_us, was.ci95_us[1])]
            cells.append(error_text(prediction, was) if prediction else "")
        else:
            cells += ["-", "", ""]
        bound = str(prediction.bound) if prediction else ""
        table.add_row(*cells, _launch_cell(forecast), _left_out(each) if at_sizes else bound)
    _print(_title(file, found.device, found.forecasts), table)
    _print_program_times(found.forecasts)
    _print_lines(measured)
    _print_circumstances(measured)
    _print_assumptions(found.forecasts)
    errors = [(each.outcome.forecast.kernel.name, each.outcome.error) for each in measured if each.outcome.error]
    # What keeps one size of a kernel from being measured often keeps all of them.
    for (kernel, _), error in {(kernel, error.message): error for kernel, error in errors}.items():
        complain(file, error, kernel=kernel)


def show_problems(file: Path, found: Found) -> None:
    """Show what is wrong with the file or with its annotations, though the answers stand."""
    for problem in found.problems:
        _complain(file, problem.line, problem.message, problem.code)


def complain(file: Path, error: KernelcastError, *, kernel: str = "") -> None:
    """Print why there is no answer, with the compiler's or driver's own words below."""
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


def _title(file: Path, device: Device, forecasts: Sequence[Forecast]) -> Text:
    how = "calibrated" if device.calibrated else f"not calibrated, rates from the {device.source}"
    bases = {str(f.prediction.basis) for f in forecasts if f.prediction}
    own = sorted(bases - {"measured"})
    basis = f"; {' and '.join(map(_BASES.__getitem__, own))}" if own else ""
    is_corrected = any(
        f.prediction.is_corrected for f in forecasts if f.prediction and f.prediction.basis != "measured"
    )
    basis += f", corrected {CORRECTED}" if is_corrected else ""
    basis += "; predicted from measurements" if "measured" in bases else ""
    return Text.assemble((str(file), "bold"), f" on {shown_name(device.name)} ({device.id}, {how}{basis})")


def table_of(*columns: str) -> Table:
    """Return a table; columns that start with `>` are figures. Long words are folded, never cut."""
    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 1, 0, 0))
    for column in columns:
        is_figure = column.startswith(">")
        is_short = is_figure or column == "Bound by"
        justify: Literal["left", "right"] = "right" if is_figure else "left"
        table.add_column(column.lstrip(">"), justify=justify, no_wrap=is_short, overflow="fold")
    return table


def _print(title: Text, table: Table) -> None:
    console = out()
    console.print(title)
    console.print(table)


def _launch(forecast: Forecast) -> str:
    launch = forecast.launch
    if launch is None:
        return "-"
    return f"{launch.name}: {launch.describe()}" if launch.name else launch.describe()


def _launch_cell(forecast: Forecast) -> str:
    """Return the launch; a `?` marks one of which sizes were guessed, which the lines below the table name."""
    guess = guess_mark(forecast.prediction)
    said = f"{_launch(forecast)}{guess}"
    return f"{said} ({recorded_words(forecast.recorded)})" if forecast.recorded else said


def _predicted(prediction: Prediction) -> str:
    return f"{basis_sign(prediction)} {format_duration_us(prediction.runtime_us.p50)}{guess_mark(prediction)}"


def _left_out(measured: Left) -> str:
    percent = measured.left_out_percent
    return "-" if percent is None else format_percent(percent, signed=True)


def _print_program_times(forecasts: Iterable[Forecast]) -> None:
    """Say how long recorded launches took in the program, where it timed them."""
    for forecast in forecasts:
        recording = forecast.recorded
        if recording is not None and recording.own_us is not None:
            name, took = (forecast.kernel.name, "bold"), format_duration_us(recording.own_us)
            said = f" ({_launch(forecast)}) took {took} in the program ({program_time(recording)})."
            out().print(Text.assemble(name, said))


def _print_lines(measured: Sequence[Left]) -> None:
    """Print the time of each line, once."""
    console = out()
    lines = dict.fromkeys((m.outcome.forecast.kernel.name, m.line) for m in measured if m.line is not None)
    for kernel, line in lines:
        through = [m for m in measured if m.line == line and m.outcome.forecast.kernel.name == kernel]
        missed = [abs(m.left_out_percent) for m in through if m.left_out_percent is not None]
        which = ""
        if len(through) > 1 and [name for name, _ in lines].count(kernel) > 1:
            which = f" from {_launch(through[0].outcome.forecast)} to {_launch(through[-1].outcome.forecast)}"
        said = f"{kernel}{which} takes {fit_sentence(line)}."
        if missed:
            said += f" Each size is predicted through the others to {format_percent(median(missed))} (median)."
        console.print(Padding(Text(said), (0, 0, 1, 0), expand=False))


def _print_circumstances(measured: Iterable[Left]) -> None:
    console = out()
    for each in measured:
        was, forecast = each.outcome.measurement, each.outcome.forecast
        said = [circumstances(was), *was.notes] if was is not None else []
        if any(said):
            console.print(Text.assemble((forecast.kernel.name, "bold"), f" ({_launch(forecast)}):"))
            console.print(listed(filter(None, said), "dim"))


def _print_novelty(forecasts: Iterable[Forecast]) -> None:
    """Print for which kernels the learned model is less sure than for others."""
    console = out()
    for forecast in forecasts:
        prediction = forecast.prediction
        if prediction is None or not is_by_the_model(prediction) or (prediction.novelty or 0.0) < NOVEL:
            continue
        said = novelty_words(prediction.novelty or 0.0, "the learned model")
        console.print(Text.assemble("\n", (forecast.kernel.name, "bold"), f" ({_launch(forecast)}) is {said}."))


def _print_advice(forecasts: Iterable[Forecast]) -> None:
    """Print the advice, dim: it is no part of the answer."""
    console = out()
    for forecast in forecasts:
        prediction = forecast.prediction
        if prediction is None or not prediction.advice:
            continue
        console.print(Text.assemble("\nAdvice for ", (forecast.kernel.name, "bold"), f" ({_launch(forecast)}):"))
        console.print(listed((_advised(advice, prediction) for advice in prediction.advice), "dim"))


def _advised(advice: Advice, prediction: Prediction) -> str:
    place = "" if advice.line is None else f"line {advice.line + 1}: "
    return f"{place}{sentence(advice, prediction)} [{advice.code}]"


def _print_assumptions(forecasts: Iterable[Forecast]) -> None:
    console = out()
    for forecast in forecasts:
        if forecast.prediction is None or not forecast.prediction.assumptions:
            continue
        console.print(Text.assemble("\nAssumed for ", (forecast.kernel.name, "bold"), f" ({_launch(forecast)}):"))
        console.print(listed(map(_assumed, forecast.prediction.assumptions)))
    console.print()


def _assumed(assumption: Assumption) -> str:
    spread = f" (may be off by a factor of {assumption.spread:.2g})" if assumption.spread > 1.005 else ""
    return f"{assumption.text}{spread}"
