"""`kernelcast tune`: launches that may be faster, predicted, the best of them measured, and the winner written down."""

from __future__ import annotations

import argparse
import json
from dataclasses import replace
from itertools import groupby
from pathlib import Path

from model.errors import KernelcastError, LaunchError
from model.forecast import Forecast
from model.launch.config import load_config
from model.launch.config_file import find_config
from model.launch.launch import Origin
from model.launch.tuning import Tuning
from server.analysis.sources import no_versions, nothing_measured
from server.analysis.store_cache import StoreCache
from server.cli import tables, tuning_tables
from server.cli.answers import error_answer
from server.cli.device_choice import Devices, check_devices
from server.cli.forecasts import Forecaster, Found
from server.cli.learned import sources_of
from server.cli.output import ANSWERED, SOME_FAILED, WrongCallError, warn, write_json
from server.cli.requests import Request, requests_of
from server.cli.runs import keep
from server.cli.source_writing import write_edited
from server.cli.terminal import cancelled_by_ctrl_c, progress_bar
from server.gc_policy import postpone_full_collections
from server.text.format import format_things
from server.tuning import trial
from server.tuning.exchange import exported, format_of
from server.tuning.importing import read_results, with_results
from server.tuning.result import tuned_json
from server.tuning.search import Search, search
from server.tuning.trial import Tuned
from server.tuning.writing import applied, in_config, in_source


def run(arguments: argparse.Namespace) -> int:
    """Tune a launch of each kernel of the files: the first that is written for it, or the one that is named."""
    if not arguments.files:
        raise WrongCallError("no FILE: say what to tune")
    if arguments.write and arguments.predict_only:
        raise WrongCallError("--write needs measurements: a launch is written down once it was seen to be faster")
    if arguments.export is not None and arguments.predict_only:
        raise WrongCallError("--export writes what was measured, and --predict-only measures nothing")
    if arguments.export_format is not None and arguments.export is None:
        raise WrongCallError("--export-format is for --export FILE")
    postpone_full_collections()  # a fifth of the time, where each set of macros is analysed and kept
    devices = Devices()
    device_for = devices.to_predict_for if arguments.predict_only else devices.to_run_on
    check_devices(device_for, arguments.device)
    sources = sources_of(
        StoreCache(), analytic_only=arguments.analytic_only, ignore_recordings=arguments.ignore_recordings
    )
    command = _Tune(
        Forecaster(device_for, replace(sources, runs_of=nothing_measured, versions_of=no_versions)), devices, arguments
    )
    return max(command.file(request) for request in requests_of(arguments))


class _Tune:
    """Owns what all files share."""

    def __init__(self, forecaster: Forecaster, devices: Devices, arguments: argparse.Namespace) -> None:
        self._forecaster, self._devices, self._arguments = forecaster, devices, arguments
        self._is_json = arguments.format == "json"
        self._more = Tuning(tuple(arguments.tune), tuple(arguments.where))

    def file(self, request: Request) -> int:
        """Tune the kernels of a file one after the other; one that fails costs itself alone."""
        try:
            found = self._forecaster.forecast(request)
        except KernelcastError as error:
            return self._failed(request, error)
        if not self._is_json:
            tables.show_problems(request.file, found)
        status = ANSWERED
        groups = [(name, list(own)) for name, own in groupby(found.forecasts, key=lambda each: each.kernel.name)]
        if (self._arguments.export or self._arguments.imported) and len(groups) * len(self._arguments.files) > 1:
            raise WrongCallError("--export and --import are for one kernel at a time: name it with --kernel")
        for kernel, own in groups:
            named = [each for each in own if each.launch is not None and each.launch.name == self._arguments.launch]
            try:
                if self._arguments.launch is not None and not named:
                    raise LaunchError(f"`{kernel}` has no launch named `{self._arguments.launch}`")
                status = max(status, self._kernel(replace(request, kernel=kernel), found, (named or own)[0], own))
            except KernelcastError as error:
                status = self._failed(replace(request, kernel=kernel), error)
        return status

    def _failed(self, request: Request, error: KernelcastError) -> int:
        if self._is_json:
            write_json(error_answer(request, error))
        else:
            tables.complain(request.file, error, kernel=request.kernel or "")
        return SOME_FAILED

    def _kernel(self, request: Request, found: Found, base: Forecast, own: list[Forecast]) -> int:
        space = self._with_imported(search(self._forecaster, request, found, base, self._more))
        if self._arguments.predict_only:
            tuned = trial.predicted_only(space)
        else:
            with cancelled_by_ctrl_c() as cancel, progress_bar(base.kernel.name) as on_progress:
                tuned = trial.measured(
                    space,
                    most=None if self._arguments.exhaustive else self._arguments.most,
                    tolerance=self._arguments.tolerance,
                    budget_s=self._arguments.budget_s,
                    on_progress=on_progress,
                    cancel=cancel,
                )
            keep(self._devices, trial.kept(tuned))
            self._export(tuned)
        if self._is_json:
            write_json(tuned_json(tuned, str(request.file)))
        else:
            tuning_tables.show(request.file, tuned)
        if tuned.was_cancelled:
            raise KeyboardInterrupt
        if self._arguments.write:
            self._write(request.file, tuned, own.index(base))
        return ANSWERED

    def _with_imported(self, space: Search) -> Search:
        """Return the search with the times from the files. Raises LaunchError."""
        for file in self._arguments.imported:
            results = read_results(file)
            space, others = with_results(space, results, file)
            at = f" on {results.device_name}" if results.device_name else ""
            timed = sum(one.imported_us is not None for one in (space.baseline, *space.candidates))
            warn(f"{file}: times of {format_things(timed, 'launch', 'launches')} measured{at}")
            if others:
                warn(f"{file}: {format_things(others, 'time')} of nothing that is searched here")
        return space

    def _export(self, tuned: Tuned) -> None:
        file: Path | None = self._arguments.export
        if file is None or not tuned.was_measured:
            return
        made = exported(tuned, format_of(file, self._arguments.export_format))
        try:
            file.write_text(json.dumps(made, indent=1) + "\n", "utf-8")
        except OSError as error:
            raise LaunchError(f"{file} cannot be written: {error.strerror}") from None
        warn(f"written into {file}")

    def _write(self, file: Path, tuned: Tuned, number: int) -> None:
        """Write the winner where its launch comes from. Raises LaunchError, with what to write by hand."""
        winner, baseline = tuned.winner, tuned.search.baseline
        if winner is None:
            warn(f"{file} stays as it is: nothing else is measurably faster with the same results")
            return
        config_path = find_config(file.absolute().parent)
        config = load_config(file.absolute().parent) if baseline.launch.origin is Origin.CONFIG else None
        if config is not None and config_path is not None:
            made = in_config(config, file.absolute(), baseline, winner.candidate, number)
            target, text = config_path, config.text
        else:
            target, text = file, file.read_bytes().decode("utf-8", "surrogatepass")
            made = in_source(text, baseline, winner.candidate)
        write_edited(target, text, applied(text, made))
        warn(f"written into {target}: {' '.join(winner.candidate.change.words)}")
