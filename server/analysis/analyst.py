"""One document, analysed. Lives in the background thread: importing it loads the engine with all that it needs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from model.compiled import CompiledFacts, FactsKey, key_of
from model.device import Device
from model.engine import Engine, FileForecast
from model.errors import ConfigError
from model.launch.annotation import write_annotation
from model.launch.config import Config, find_config
from model.launch.launch import Origin
from model.measured import Fits
from profiler.devices import with_calibrations
from profiler.measurement import Measurement
from server.analysis.configurations import Configurations
from server.analysis.devices import pick_device, shipped_for
from server.analysis.fits import Run, with_fits
from server.analysis.memory import Memory
from server.analysis.scheduler import Order
from server.snapshot import Analysis, ConfigProblem, Slot, slots_of


@dataclass(frozen=True, slots=True)
class _Configuration:
    path: Path | None = None
    config: Config | None = None
    problem: ConfigProblem | None = None


class Analyst:
    """Owns the engine, which must not be shared."""

    def __init__(self) -> None:
        self._engine = Engine()
        self._configurations = Configurations()
        self._memory = Memory()
        self._fits = Fits()

    def analyse(self, order: Order) -> Analysis:
        document = order.document
        read = self._configuration(document.path)
        config_device = read.config.device_id if read.config else None
        wanted = (order.chosen, order.settings.device, config_device)
        profiles = self._memory.profiles()
        found = with_calibrations(order.found, profiles)
        device, unknown = pick_device(wanted, found, profiles, shipped_for(wanted))
        forecast = self._engine.forecast(
            document.text.value, document.path, device, config=read.config, options=order.settings.options
        )
        runs = self._runs(forecast, device, order)
        forecasts = with_fits(forecast.forecasts, lambda fingerprint: runs.get(fingerprint, ()), device, self._fits)
        forecast = replace(forecast, forecasts=forecasts)
        return Analysis(
            order.number,
            document,
            forecast,
            device,
            stored=_stored(forecast, runs),
            last=self._last(forecast, document.path, device),
            compiled=self._compiled(forecast, device),
            memory_problem=self._memory.problem,
            annotations=_annotations(forecast),
            config_path=read.path,
            config_problem=read.problem,
            hints_off=read.config is not None and read.config.hints_enabled is False,
            unknown_device=unknown,
            found=order.found,
        )

    def _configuration(self, path: Path | None) -> _Configuration:
        """The `kernelcast.toml` for a file; where it stands is looked up each time, so that a new one counts."""
        found = find_config(path.parent) if path else None
        if found is None:
            return _Configuration()
        try:
            return _Configuration(found, self._configurations.read(found))
        except ConfigError as error:
            return _Configuration(found, None, ConfigProblem(found, error.message, error.line))

    def _runs(self, forecast: FileForecast, device: Device, order: Order) -> dict[str, tuple[Run, ...]]:
        """By kernel. Those of this session come first: they are newer, and may not have been kept."""
        own: dict[str, list[Run]] = {}
        for run in reversed(order.runs):
            if run.measurement.device_id == device.id:
                own.setdefault(run.measurement.kernel_fingerprint, []).append(run)
        fingerprints = {kernel.fingerprint for kernel in forecast.kernels}
        return {each: (*own.get(each, ()), *self._memory.runs(each, device.id)) for each in fingerprints}

    def _compiled(self, forecast: FileForecast, device: Device) -> dict[FactsKey, CompiledFacts]:
        launches = [(f.kernel, f.launch) for f in forecast.forecasts if f.launch is not None]
        found = {key_of(kernel, launch, device.id): (kernel, launch) for kernel, launch in launches}
        facts = {key: self._memory.compiled(kernel, launch, device) for key, (kernel, launch) in found.items()}
        return {key: each for key, each in facts.items() if each is not None}

    def _last(self, forecast: FileForecast, path: Path | None, device: Device) -> dict[str, Measurement]:
        found = {kernel.name: self._memory.last(path, kernel.name, device.id) for kernel in forecast.kernels}
        return {name: m for name, m in found.items() if m is not None}


def _stored(forecast: FileForecast, runs: Mapping[str, Sequence[Run]]) -> tuple[Measurement, ...]:
    """The newest measurement of each launch that the file has now."""
    found = (
        next((r.measurement for r in runs[f.kernel.fingerprint] if r.measurement.launch_key == f.launch.key), None)
        for f in forecast.forecasts
        if f.launch is not None
    )
    return tuple(m for m in found if m is not None)


def _annotations(forecast: FileForecast) -> dict[Slot, str]:
    """The comment line that says what we took for granted, for each launch that has none yet."""
    return {
        slot: write_annotation(each.launch, kernel)
        for kernel in forecast.kernels
        for slot, each in slots_of(forecast, kernel)
        if each.launch is not None and each.launch.origin not in (Origin.ANNOTATION, Origin.REQUEST)
    }
