"""`kernelcast compare`: two versions of a kernel, predicted as a pair and measured in turns; or one on many devices."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby

from model.errors import KernelcastError, LaunchError, NoSuchKernel
from model.forecast import Forecast
from model.launch.launch import Origin
from model.prediction import Ratio
from profiler.side_by_side import SideBySide, measure_side_by_side
from profiler.turns import Stopping
from server.analysis.sources import Sources, no_versions, nothing_measured, stored
from server.analysis.store_cache import StoreCache
from server.analysis.versions import predicted_ratio
from server.cli import comparing, tables
from server.cli.answers import error_answer
from server.cli.compare_devices import DevicesWanted, devices_compared
from server.cli.comparing import Compared, Side, compared_json, measure_request
from server.cli.device_choice import Devices, check_devices
from server.cli.flags import file_options, launch_spec
from server.cli.forecasts import Forecaster, Found
from server.cli.learned import sources_of
from server.cli.output import ANSWERED, SOME_FAILED, WrongCallError, write_json
from server.cli.requests import Request
from server.cli.runs import keep
from server.cli.terminal import cancelled_by_ctrl_c, progress_bar


def run(arguments: argparse.Namespace) -> int:
    """Compare two files' kernels of the same name, or the two kernels that are named."""
    requests = _requests(arguments)
    devices = Devices()
    only_predicts = arguments.predict_only or arguments.devices is not None
    device_for = devices.to_predict_for if only_predicts else devices.to_run_on
    check_devices(device_for, *(arguments.devices or ()), arguments.device)
    sources = sources_of(
        StoreCache(), analytic_only=arguments.analytic_only, ignore_recordings=arguments.ignore_recordings,
        ignore_measurements=arguments.devices is None,
    )  # fmt: skip
    if arguments.devices is not None:
        forecaster = Forecaster(device_for, sources)
        wanted = DevicesWanted(arguments.devices, device_for)
        return devices_compared(forecaster, sources, requests[0], wanted, is_json=arguments.format == "json")
    # What was measured of one version would correct that one alone, and not cancel.
    sources = replace(sources, runs_of=nothing_measured, versions_of=no_versions)
    forecaster = Forecaster(device_for, sources)
    return _Compare(forecaster, sources, devices, arguments).run(requests[0], requests[-1])


def _requests(arguments: argparse.Namespace) -> list[Request]:
    """Return what is asked of each version. Raises WrongCallError where these are not two."""
    files, kernels = arguments.files, arguments.kernel
    if len(kernels) > 2 or len(files) > 2:
        raise WrongCallError("compare takes two versions: two files, or one file and --kernel twice")
    spec, options = launch_spec(arguments), file_options(arguments)
    if arguments.devices is not None:
        if len(files) != 1 or len(kernels) > 1:
            raise WrongCallError("compare --devices takes one FILE, and one --kernel at most")
        return [Request(files[0], kernels[0] if kernels else None, spec, options)]
    if not files or (len(files) == 1 and len(kernels) != 2):
        raise WrongCallError("say what to compare: two files, one file and --kernel twice, or one file and --devices")
    names = kernels if len(kernels) == 2 else [kernels[0] if kernels else None] * 2
    return [
        Request(file, name, spec, options, arguments.device)
        for file, name in zip((files[0], files[-1]), names, strict=True)
    ]


@dataclass(frozen=True, slots=True)
class _Pair:
    """A launch of one version, and the same of the other."""

    old: Side
    new: Side


class _Compare:
    """Owns what all launches share."""

    def __init__(
        self, forecaster: Forecaster, sources: Sources, devices: Devices, arguments: argparse.Namespace
    ) -> None:
        self._forecaster, self._sources, self._devices, self._arguments = forecaster, sources, devices, arguments
        self._is_json = arguments.format == "json"

    def run(self, old: Request, new: Request) -> int:
        try:
            was = self._forecaster.forecast(old)
            now = self._forecaster.forecast(replace(new, device=was.device.id))
            pairs = list(self._pairs(replace(old, device=was.device.id), was, replace(new, device=was.device.id), now))
        except KernelcastError as error:
            return self._failed(old, error)
        if not self._is_json:
            for request, found in ((old, was), (new, now)):
                tables.show_problems(request.file, found)
        status = ANSWERED
        for pair in pairs:
            compared = self._compared(pair)
            if self._is_json:
                write_json(compared_json(compared))
            else:
                comparing.show(compared)
            if compared.side is not None and compared.side.was_cancelled:
                raise KeyboardInterrupt
            status = max(status, SOME_FAILED if compared.has_failed else ANSWERED)
        return status

    def _failed(self, request: Request, error: KernelcastError) -> int:
        if self._is_json:
            write_json(error_answer(request, error))
        else:
            tables.complain(request.file, error)
        return SOME_FAILED

    def _pairs(self, old: Request, was: Found, new: Request, now: Found) -> Iterator[_Pair]:
        """Yield all launches that both versions have. Raises KernelcastError if there are none."""
        mine, theirs = _by_kernel(was), _by_kernel(now)
        names = [(name, name) for name in mine if name in theirs] if old.kernel == new.kernel else []
        if not names and len(mine) == len(theirs) == 1:
            names = [(next(iter(mine)), next(iter(theirs)))]
        if not names:
            raise NoSuchKernel(
                f"no kernel has the same name in both: {', '.join(mine)} in {old.file}, {', '.join(theirs)} in "
                f"{new.file}; name two with --kernel"
            )
        for one, other in names:
            first = _alike(mine[one], theirs[other], partial(self._laid_over, replace(old, kernel=one)))
            second = _alike(theirs[other], mine[one], partial(self._laid_over, replace(new, kernel=other)))
            for a, b in _matched(first, second):
                yield _Pair(Side(old.file, was, a), Side(new.file, now, b))

    def _laid_over(self, request: Request, like: Sequence[Forecast]) -> list[Forecast]:
        """Return a version whose launches are guessed under the launches of the other one."""
        specs = [each.spec for each in like if each.spec is not None]
        return list(self._forecaster.forecast(request, specs).forecasts)

    def _compared(self, pair: _Pair) -> Compared:
        old, new, device = pair.old.forecast, pair.new.forecast, pair.old.found.device
        ratio: Ratio | None = predicted_ratio(new, old, device, self._sources)
        side = None
        if not self._arguments.predict_only and old.launch is not None and new.launch is not None:
            side = self._measured(pair)
        return Compared(pair.old, pair.new, device, ratio, side, self._arguments.tolerance)

    def _measured(self, pair: _Pair) -> SideBySide:
        with cancelled_by_ctrl_c() as cancel, progress_bar(pair.new.forecast.kernel.name) as on_progress:
            side = measure_side_by_side(
                [measure_request(each) for each in (pair.old, pair.new)],
                budget_s=self._arguments.budget_s,
                stopping=Stopping(drops_slower=False),
                on_progress=on_progress,
                cancel=cancel,
            )
        self._keep(pair, side)
        return side

    def _keep(self, pair: _Pair, side: SideBySide) -> None:
        pairs = zip((pair.old, pair.new), side.versions, strict=True)
        keep(
            self._devices,
            [stored(v.measurement, each.forecast, each.file) for each, v in pairs if v.measurement is not None],
        )


def _by_kernel(found: Found) -> dict[str, list[Forecast]]:
    return {name: list(own) for name, own in groupby(found.forecasts, key=lambda each: each.kernel.name)}


def _alike(own: list[Forecast], other: list[Forecast], laid_over: partial[list[Forecast]]) -> list[Forecast]:
    """Return the launches of one version; where they are guessed and the other's are not, under the other's."""
    return laid_over(other) if _is_guessed(own) and not _is_guessed(other) else own


def _is_guessed(own: Sequence[Forecast]) -> bool:
    return all(each.launch is None or each.launch.origin is Origin.INFERRED for each in own)


def _matched(old: Sequence[Forecast], new: Sequence[Forecast]) -> Iterator[tuple[Forecast, Forecast]]:
    """Yield launches of one name together; without names, those in the same place."""
    named = {each.launch.name: each for each in new if each.launch is not None and each.launch.name}
    found = 0
    for place, each in enumerate(old):
        name = each.launch.name if each.launch is not None else None
        match = named.get(name) if name and named else new[place] if place < len(new) else None
        if match is not None:
            found += 1
            yield each, match
    if not found:
        raise LaunchError("the two versions have no launch of the same name")
