"""From a request to its forecasts: reads the file and what stands beside it, and asks the engine."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from types import MappingProxyType
from typing import TypeVar

from cachetools import LRUCache

from model.device import Device
from model.embedded.languages import Language, language_of
from model.embedded.program import line_starts
from model.engine import Engine
from model.errors import ConfigError, KernelcastError, NoSuchKernel, SourceError
from model.faults import contained
from model.forecast import FileForecast, Forecast, Problem
from model.launch.annotation import misused_names
from model.launch.config import Config
from model.launch.config_file import find_config
from model.launch.launch import Launch
from model.launch.spec import LaunchSpec
from model.observing import Observer
from server.analysis.composer import Composer, ForecastGroup
from server.analysis.configurations import Configurations
from server.analysis.fix_gains import FileContext
from server.analysis.parts import Part, Parts
from server.analysis.sources import Sources
from server.cli.requests import BadRequestError, Request
from server.text.recorded import shares_by_forecast

MAX_SOURCE_BYTES = 64_000_000
_Outcome = TypeVar("_Outcome")


class UnansweredError(KernelcastError):
    """One of the engine's problems, where it is the whole answer."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.message, line=problem.line)
        self.code = problem.code


@dataclass(frozen=True)
class Found:
    """The forecasts of one request. `problems` concern the file or its annotations and spoil no forecast."""

    text: str
    path: Path
    device: Device
    forecasts: tuple[Forecast, ...]
    problems: tuple[Problem, ...]

    @cached_property
    def recorded_shares(self) -> Mapping[int, float | None]:
        """Share of each recorded launch in its kernel's time, by the `id` of its forecast."""
        return shares_by_forecast(self.forecasts)


class Forecaster:
    """Owns the engine, and keeps files and configurations until they change.

    Launches are predicted by what `sources` know beside the files; through the measurements of a launch itself only if
    `measured_too`. `texts` are of files that an editor has not saved; build options of a request beat those of a launch
    if `options_win`. `config_of` finds the configuration for a file, by default the nearest one above it.
    """

    def __init__(
        self,
        device_for: Callable[[str | None], Device],
        sources: Sources | None = None,
        *,
        measured_too: bool = False,
        texts: Mapping[Path, str] = MappingProxyType({}),
        options_win: bool = True,
        config_of: Callable[[Path], Config | None] | None = None,
    ) -> None:
        self._config = config_of or self._nearest_config
        self._sources = sources = sources or Sources()
        self._measured_too = measured_too
        self._unsaved = texts
        self._options_win = options_win
        self._composer = Composer()
        self._parts = Parts()
        self._engine = Engine(
            asks=sources.ask is not None, observer=Observer(runs=True), code_of=sources.code_of,
            is_taught=sources.is_taught,
        )  # fmt: skip
        self._device_for = device_for
        self._texts: LRUCache[tuple[Path, int, int], str] = LRUCache(64)
        self._configurations = Configurations()

    def forecast(self, request: Request, launches: Sequence[LaunchSpec] = ()) -> Found:
        """Predict every launch of the kernels asked for, or `launches` of each, merged into the request's.

        Raises `KernelcastError` if there is nothing to forecast.
        """
        return _raised(contained("predicting", lambda: self._composed([self._analysed(request, launches)])))[0]

    def forecast_one(self, request: Request) -> tuple[Found, Forecast]:
        """Return the forecast for the one launch that a line of a batch is about. Raises `KernelcastError`."""
        found = _raised(self.forecast_each([request])[0])
        return found, found.forecasts[0]

    def forecast_each(self, requests: Sequence[Request]) -> list[Found | KernelcastError]:
        """Predict one launch of each request, as `forecast_one` does; the learned model is asked of all at once."""
        outcomes = [contained("predicting", partial(self._one_analysed, request)) for request in requests]
        asked = [each for each in outcomes if isinstance(each, Found)]
        answers = contained("asking the learned model", lambda: self._composed(asked))
        composed = iter(self._each_alone(asked) if isinstance(answers, KernelcastError) else answers)
        return [next(composed) if isinstance(each, Found) else each for each in outcomes]

    def _each_alone(self, asked: Sequence[Found]) -> Iterator[Found | KernelcastError]:
        """Compose each alone, so that an internal error in one costs no other."""
        for each in asked:
            answers = contained("asking the learned model", partial(self._composed, [each]))
            yield answers if isinstance(answers, KernelcastError) else answers[0]

    def _one_analysed(self, request: Request) -> Found:
        found = self._analysed(request, ())
        kernels = list(dict.fromkeys(forecast.kernel.name for forecast in found.forecasts))
        if len(kernels) > 1:
            raise BadRequestError(f"`kernel` is missing: {request.file} holds {', '.join(kernels)}")
        return replace(found, forecasts=found.forecasts[:1])

    def _analysed(self, request: Request, launches: Sequence[LaunchSpec]) -> Found:
        text = self._text(request.file)
        config = self._config(request.file)
        device = self._device_for(request.device or (config.device_id if config else None))
        path = request.file.absolute()

        def forecast(part: Part, kernel: str | None) -> FileForecast:
            return self._engine.forecast(
                part.text, path, device, config=config, options=request.options,
                requests=_requests(request, launches), kernel=kernel, included=part.program is None,
                recorded=partial(self._sources.recorded, path), part=part.name, options_win=self._options_win,
            )  # fmt: skip

        found = self._in_parts(path, text, lambda part: forecast(part, request.kernel))
        if not found.forecasts and not found.problems and request.kernel:
            found = replace(self._in_parts(path, text, lambda part: forecast(part, None)), forecasts=())
        if not found.forecasts:
            raise _nothing(request, found)
        problems = (*found.problems, *found.annotation_problems, *_misused(request, found.forecasts))
        return Found(text, path, device, found.forecasts, problems)

    def context(self, request: Request, found: Found) -> FileContext:
        """Return what the file's kernels were predicted by, to predict them by after an edit."""
        return FileContext(
            found.text, found.path, found.device, self._config(request.file), request.options, _requests(request, ()),
            recorded=partial(self._sources.recorded, found.path),
        )  # fmt: skip

    def _in_parts(self, path: Path, text: str, forecast: Callable[[Part], FileForecast]) -> FileForecast:
        """Return what is known of a file: of its programs if it is a host's, else of it as a program itself."""
        name = str(path)
        parts = self._parts.of(name, path, text, recorded=partial(self._sources.recorded, path))
        found = self._parts.together(name, text, line_starts(text), [(part, forecast(part)) for part in parts])
        is_python = language_of(path, "") is Language.PYTHON
        return found if found.kernels or parts[0:1] == (Part(text),) or is_python else forecast(Part(text))

    def opened(self, found: Found) -> Sequence[tuple[str, bytes | None]] | None:
        """Return the files that what was found rests on beside its own; None if that is not known."""
        return self._engine.readings.opened(found.path)

    def at(self, found: Found, forecast: Forecast, launches: Sequence[Launch]) -> tuple[Forecast, ...]:
        """Return the forecast's kernel under each of `launches`; itself for its own."""
        return self.at_each(found, [(forecast, launch) for launch in launches])

    def at_each(self, found: Found, wanted: Sequence[tuple[Forecast, Launch]]) -> tuple[Forecast, ...]:
        """Return each forecast's kernel under the launch beside it; the learned model is asked of all at once.

        The launches of one forecast differ in sizes and arguments alone: nothing is read or analysed again.
        """
        at, device = self._composer.at, found.device
        made = [each if launch is each.launch else at(each, launch, device, self._sources) for each, launch in wanted]
        return self._composed([replace(found, forecasts=tuple(made))])[0].forecasts

    def _composed(self, found: Sequence[Found]) -> list[Found]:
        """Return the same by all that is known beside the files; the learned model is asked of all at once."""
        groups = [ForecastGroup(each.forecasts, each.device, partial(self._settle, each), each.path) for each in found]
        composed = self._composer.composed(groups, self._sources, measured_too=self._measured_too)
        return [replace(each, forecasts=own) for each, own in zip(found, composed, strict=True)]

    def _settle(self, found: Found, forecast: Forecast, launches: Sequence[Launch]) -> None:
        text, _ = forecast.compiled_from(found.text)
        self._engine.settle(forecast, launches, text, found.path, part=forecast.part)

    def _text(self, file: Path) -> str:
        if (unsaved := self._unsaved.get(file)) is not None:
            return unsaved
        try:
            stat = file.stat()
            key = (file, stat.st_mtime_ns, stat.st_size)
            if key not in self._texts:
                if stat.st_size > MAX_SOURCE_BYTES:
                    raise SourceError(f"{file} is larger than {MAX_SOURCE_BYTES // 1_000_000} MB")
                # Comments are often Latin-1, and what a compiler reads we read.
                self._texts[key] = file.read_bytes().decode("utf-8", errors="replace")
            return self._texts[key]
        except OSError as error:
            raise SourceError(f"{file} cannot be read: {error.strerror}") from None

    def _nearest_config(self, file: Path) -> Config | None:
        path = find_config(file.absolute().parent)
        try:
            return self._configurations.read(path) if path else None
        except ConfigError as error:
            raise ConfigError(f"{path}: {error.message}", line=error.line) from None


def _raised(outcome: _Outcome | KernelcastError) -> _Outcome:
    if isinstance(outcome, KernelcastError):
        raise outcome
    return outcome


def _requests(request: Request, launches: Sequence[LaunchSpec]) -> tuple[LaunchSpec, ...]:
    if request.spec is None:
        return tuple(launches)
    return tuple(request.spec.merged(launch) for launch in launches) or (request.spec,)


def _misused(request: Request, forecasts: Sequence[Forecast]) -> Iterator[Problem]:
    """Yield a problem for each name in the request that none of its kernels has: most likely a typing mistake."""
    if request.spec is None:
        return
    by_name = {forecast.kernel.name: forecast for forecast in forecasts}
    found = [misused_names(request.spec, each.kernel, _undeclared(each)) for each in by_name.values()]
    for key, message in found[0].items():
        if all(key in other for other in found):
            yield Problem("launch", message)


def _undeclared(forecast: Forecast) -> list[str]:
    return [name for name, _ in forecast.launch.options.stand_ins] if forecast.launch is not None else []


def _nothing(request: Request, found: FileForecast) -> KernelcastError:
    if found.problems:
        return UnansweredError(found.problems[0])
    names = ", ".join(kernel.name for kernel in found.kernels)
    if request.kernel and names:
        return NoSuchKernel(f"there is no kernel `{request.kernel}` in it; it holds {names}")
    return NoSuchKernel("there is no kernel in this file")
