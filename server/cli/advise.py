"""`kernelcast advise`: fixes with their predicted gain, measured and applied where that is asked for."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rich.text import Text

from model.advice.advice import UNPROVEN
from model.embedded.find import find_programs
from model.embedded.languages import language_of
from model.engine import Engine
from model.errors import KernelcastError
from model.faults import contained
from model.forecast import Forecast, Home
from model.observing import Observer
from profiler.measurement import Cancelled, MeasureRequest
from profiler.side_by_side import SideBySide, measure_side_by_side
from server.analysis.fix_gains import FileContext, FixPredictor, PredictedFix, best_of
from server.analysis.fix_search import in_host
from server.analysis.sources import stored
from server.analysis.store_cache import StoreCache
from server.cli import tables
from server.cli.answers import Answer, error_answer, error_json, prediction_answer
from server.cli.device_choice import Devices, check_devices
from server.cli.forecasts import Forecaster, Found
from server.cli.learned import sources_of
from server.cli.output import ANSWERED, SOME_FAILED, WrongCallError, warn, write_json
from server.cli.requests import Request, requests_of
from server.cli.runs import keep
from server.cli.source_writing import write_edited
from server.cli.terminal import cancelled_by_ctrl_c, hung, out, progress_bar
from server.text.fixes import Proof, fix_json, fix_title, proof_of
from server.text.format import format_duration_us


@dataclass(frozen=True, slots=True)
class _Told:
    """A fix, and what came of measuring it: nothing where that was not asked for."""

    fix: PredictedFix
    proof: Proof | None = None
    error: KernelcastError | None = None

    @property
    def is_good(self) -> bool:
        """Whether it may be applied: nothing was measured that says otherwise."""
        return self.error is None and (self.proof is None or self.proof.is_kept)


def run(arguments: argparse.Namespace) -> int:
    """List the fixes of each launch in the files; measure them, and apply the best of one code, if asked to."""
    if not arguments.files:
        raise WrongCallError("no FILE: say what to advise on")
    devices = Devices()
    pick = devices.to_run_on if arguments.measure else devices.to_predict_for
    check_devices(pick, arguments.device)
    sources = sources_of(
        StoreCache(),
        analytic_only=arguments.analytic_only,
        ignore_measurements=True,
        ignore_recordings=arguments.ignore_recordings,
    )
    engine = Engine(asks=sources.ask is not None, observer=Observer(runs=True), is_taught=sources.is_taught)
    command = _Advise(arguments, devices, Forecaster(pick, sources), FixPredictor(sources, engine))
    return max(command.answer(request) for request in requests_of(arguments))


class _Advise:
    def __init__(
        self, arguments: argparse.Namespace, devices: Devices, forecaster: Forecaster, predictor: FixPredictor
    ) -> None:
        self._arguments, self._devices = arguments, devices
        self._forecaster, self._predictor = forecaster, predictor

    def answer(self, request: Request) -> int:
        is_json = self._arguments.format == "json"
        try:
            found = self._forecaster.forecast(request)
        except KernelcastError as error:
            if is_json:
                write_json(error_answer(request, error))
            else:
                tables.complain(request.file, error)
            return SOME_FAILED
        status = ANSWERED
        for forecast in found.forecasts:
            if forecast.launch is None or forecast.prediction is None:
                status = SOME_FAILED
                self._tell_problem(request, found, forecast, is_json=is_json)
                continue
            told = self._advised(request, found, forecast)
            applied = self._applied(request, found, told)
            if is_json:
                write_json(_answer(request, found, forecast, told, applied))
            else:
                _show(request.file, forecast, told, applied)
            if applied is not None:
                return status  # the other launches are of a text that is no more
        return status

    def _tell_problem(self, request: Request, found: Found, forecast: Forecast, *, is_json: bool) -> None:
        if is_json:
            write_json(prediction_answer(request, found, forecast))
        elif forecast.problem is not None:
            warn(f"{request.file}: {forecast.kernel.name}: {forecast.problem.message}")

    def _advised(self, request: Request, found: Found, forecast: Forecast) -> list[_Told]:
        assert forecast.launch is not None
        context = self._forecaster.context(request, found)
        fixes = contained("predicting edits", lambda: self._fixes(context, forecast))
        if isinstance(fixes, KernelcastError):
            raise fixes
        if not self._arguments.measure:
            return [_Told(each) for each in fixes]
        return [self._measured(request, found, each) for each in fixes]

    def _fixes(self, context: FileContext, forecast: Forecast) -> Sequence[PredictedFix]:
        """Return the fixes that were asked for: of one code, all, or those that are on and gain enough."""
        assert forecast.launch is not None
        code, name, launch = self._arguments.apply, forecast.kernel.name, forecast.launch
        host, home = context.text, forecast.home
        if home is not None:
            context, name = replace(context, text=home.text), home.kernel.name
        if self._arguments.all:
            found: Sequence[PredictedFix] = list(best_of(self._predictor.all_fixes(context, name, launch)))
        else:
            ignored = UNPROVEN | (context.config.advice_ignored if context.config else frozenset())
            found = self._predictor.fixes(context, name, launch, ignored - {code})
        if home is not None:
            found = list(_in_host(found, home, host, context.path))
        return [each for each in found if code in (None, each.fix.code)]

    def _measured(self, request: Request, found: Found, each: PredictedFix) -> _Told:
        path, device = str(request.file.absolute()), found.device.id
        versions = [
            MeasureRequest(text, path, forecast.kernel, forecast.launch, device)
            for text, forecast in zip(each.sources, (each.before, each.after), strict=True)
            if forecast.launch is not None
        ]
        name = f"{each.after.kernel.name}: {each.fix.title}"
        with cancelled_by_ctrl_c() as cancel, progress_bar(name) as on_progress:
            side = measure_side_by_side(
                versions, budget_s=self._arguments.budget_s, on_progress=on_progress, cancel=cancel
            )
        if side.was_cancelled:
            raise KeyboardInterrupt
        self._keep(request, each, side)
        try:
            return _Told(each, proof_of(side, self._arguments.ulps))
        except Cancelled:
            raise KeyboardInterrupt from None
        except KernelcastError as error:
            return _Told(each, error=error)

    def _keep(self, request: Request, fix: PredictedFix, side: SideBySide) -> None:
        """Put both measurements into the store, as those of `measure`."""
        pairs = zip(side.versions, (fix.before, fix.after), strict=True)
        keep(self._devices, [stored(v.measurement, f, request.file) for v, f in pairs if v.measurement is not None])

    def _applied(self, request: Request, found: Found, told: Sequence[_Told]) -> _Told | None:
        """Write the file as the most useful fix makes it: as measured, where that was done."""
        good = [each for each in told if each.is_good]
        if not self._arguments.apply or not good:
            return None
        best = max(good, key=lambda each: each.proof.speed_up if each.proof else each.fix.speed_up)
        write_edited(request.file, found.text, best.fix.text)
        return best


def _in_host(found: Sequence[PredictedFix], home: Home, host: str, path: Path | None) -> Iterator[PredictedFix]:
    language = language_of(path, host)
    programs = find_programs(host, language) if language is not None else ()
    program = next((each for each in programs if each.text == home.text), None)
    if program is not None and language is not None:
        yield from in_host(found, home, program, host, language)


def _answer(request: Request, found: Found, forecast: Forecast, told: Sequence[_Told], applied: _Told | None) -> Answer:
    answer = prediction_answer(request, found, forecast)
    kept = ("id", "file", "kernel", "device", "launch", "runtime_us", "advice")
    fixes = [
        {
            **fix_json(each.fix),
            "measured": each.proof.as_json() if each.proof else None,
            **({"error": error_json(each.error)} if each.error else {}),
            "applied": each is applied,
        }
        for each in told
    ]
    return {**{key: answer[key] for key in kept}, "fixes": fixes}


def _show(file: Path, forecast: Forecast, told: Sequence[_Told], applied: _Told | None) -> None:
    launch, prediction = forecast.launch, forecast.prediction
    assert launch is not None
    assert prediction is not None
    console = out()
    time = format_duration_us(prediction.runtime_us.p50)
    console.print(Text.assemble((str(file), "bold"), f": {forecast.kernel.name} ({launch.describe()}), {time}"))
    if not told:
        console.print("  no fix gains 5 % or more of the predicted time")
    for each in told:
        lines = [fix_title(each.fix)]
        lines += [f"Right if {each.fix.fix.promise}."] if each.fix.fix.promise else []
        lines += [f"Measured: {each.proof.text}."] if each.proof else []
        lines += [f"Not measured: {each.error.message}"] if each.error else []
        lines += [f"Applied to {file}."] if each is applied else []
        console.print(hung([(Text(f"[{each.fix.fix.code}] ", "dim"), "\n".join(lines))]))
