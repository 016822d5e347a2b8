"""One document, analysed. Lives in the background thread: importing it loads the engine with all that it needs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from model.compiled import CompiledFacts, FactsKey, key_of
from model.device import Device
from model.engine import Engine
from model.errors import ConfigError
from model.forecast import FileForecast, Forecast, KernelChoice
from model.launch.config import Config
from model.launch.config_file import find_config
from model.launch.launch import Launch
from model.learned.learned import weights_folder
from model.learned.lessons import Lesson, Lessons
from model.learned.question import Answer, Question
from model.observing import Observer
from model.opencl.include_policy import OUT_OF_REACH, Reach
from model.opencl.kernel import Kernel
from model.samples import Samples
from profiler.devices import with_calibrations
from profiler.measurement import Measurement
from server.analysis.compiled_code import GpuCode
from server.analysis.composer import Composer, ForecastGroup, KnownAnswers
from server.analysis.configurations import Configurations
from server.analysis.devices import pick_device, pick_others, shipped_for
from server.analysis.parts import Part, Parts
from server.analysis.request import AnalysisRequest, visible_first
from server.analysis.sources import MeasuredLaunch, Sources
from server.analysis.store_cache import StoreCache
from server.analysis.writing import annotations_to_write, config_edits_to_write
from server.documents import path_of
from server.launch_view import Slot
from server.log.events import document_name, event, milliseconds
from server.log.timings import Timings, Watch
from server.snapshot import Analysis, ConfigEdit, ConfigProblem, Unsampled, slots

# Each keystroke makes another kernel, of which nobody asks again but by undoing; those of open files are kept by file.
_KERNELS_KEPT = 128
_MOST_LAUNCHES = 2000  # of a file; each takes a millisecond and 20 KB


@dataclass(frozen=True, slots=True)
class _Configuration:
    path: Path | None = None
    config: Config | None = None
    problem: ConfigProblem | None = None


class Analyzer:
    """Owns the engine, which must not be shared."""

    def __init__(self, timings: Timings | None = None, samples: Samples | None = None) -> None:
        self._timings = timings or Timings()
        self._watch = Watch(self._timings)
        self._memory = StoreCache()
        self._code = GpuCode(self._memory)
        self._engine = Engine(
            asks=weights_folder() is not None, kept=_KERNELS_KEPT, most_launches=_MOST_LAUNCHES, told=self._lap,
            observer=Observer(samples), code_of=self._code.of, is_taught=self._memory.is_taught,
        )  # fmt: skip
        self._configurations = Configurations()
        self._composer = Composer()
        self._parts = Parts()
        self._answers = KnownAnswers()
        self._taught: tuple[Lessons, tuple[MeasuredLaunch, ...], Lessons] | None = None
        self._store_news = 0
        self._whole: set[str] = set()  # documents of which all kernels were predicted once

    def _lap(self, stage: str, seconds: float) -> None:
        self._watch.lap(stage, seconds)

    def analyses(self, request: AnalysisRequest) -> Iterator[Analysis]:
        """Yield the analysis of the document; of a long new one, first that of the kernels that are shown."""
        uri = request.document.uri
        is_new = uri not in self._whole
        found = self.analyse(request, visible_first(request.window) if is_new else None)
        if found.is_partial:
            yield found
            found = self.analyse(request)
        self._whole.add(uri)
        yield found

    def analyse(self, request: AnalysisRequest, first: KernelChoice | None = None) -> Analysis:
        """Analyse the document in its present state, and write a line about it to the log."""
        self._watch = watch = Watch(self._timings)
        with watch.whole("analysis"):
            analysis = self._analyse(request, first)
        analysis = replace(analysis, taken_s=watch.laps_s["analysis"])
        event(
            "analysed",
            document=document_name(request.document.uri),
            number=request.number,
            kernels=len(analysis.forecast.kernels),
            left_out=analysis.forecast.left_out,
            problems=len(analysis.forecast.problems),
            unanswered=len(analysis.unanswered),
            ms={stage: milliseconds(each_s) for stage, each_s in watch.laps_s.items()},
        )
        return analysis

    def _analyse(self, request: AnalysisRequest, first: KernelChoice | None) -> Analysis:
        document = request.document
        read = self._configuration(document.path, request.reach)
        config_device = read.config.device_id if read.config else None
        wanted = (request.chosen, request.settings.device, config_device)
        if request.store_news != self._store_news:
            self._store_news = request.store_news
            self._memory.look_now()
        profiles = self._memory.profiles()
        found = with_calibrations(request.found, profiles)
        device, unknown = pick_device(wanted, found, profiles, shipped_for(wanted))
        compared = request.settings.compared_devices or (read.config.compared if read.config else ())
        others, unknown_others = pick_others(compared, device, found, profiles)
        self._code.session = request.compiled
        with self._watch.whole("find programs"):
            recorded = partial(self._memory.recorded, document.path)
            parts = self._parts.of(document.uri, document.path, document.text.value, document.language, recorded)
        read_parts = [
            self._engine.forecast(
                part.text, document.path, device, config=read.config, options=request.settings.options,
                reach=request.reach, recorded=recorded, part=part.name, first=None if part.program else first,
            )
            for part in parts
        ]  # fmt: skip
        with self._watch.whole("remember"):
            runs = self._runs([each for found in read_parts for each in found.forecasts], device, request)
            lessons = self._lessons(device, request)
        unsampled_runs: list[Unsampled] = []

        def settle(part: Part, forecast: Forecast, launches: Sequence[Launch]) -> None:
            found = self._engine.settle(forecast, launches, part.text, document.path, request.reach, part.name)
            unsampled_runs.extend(Unsampled(key, forecast.kernel.name, launch, part.text) for key, launch in found)

        with self._watch.whole("put in the model's answers"):
            sources = self._sources(device, runs, lessons, request)
            groups = [
                ForecastGroup(found.forecasts, device, partial(settle, part), document.path)
                for part, found in zip(parts, read_parts, strict=True)
            ]
            composed = self._composer.composed(groups, sources)
        answers = [replace(found, forecasts=own) for found, own in zip(read_parts, composed, strict=True)]
        text = document.text
        found_parts = list(zip(parts, answers, strict=True))
        forecast = self._parts.together(document.uri, text.value, text.feed_starts, found_parts)
        return Analysis(
            request.number,
            document,
            forecast,
            device,
            stored=_stored(forecast, runs),
            last=self._last(forecast, document.path, device),
            compiled=self._compiled(forecast, device),
            memory_problem=self._memory.problem,
            annotations=annotations_to_write(forecast),
            config_edits=self._config_edits(forecast, document.path, read),
            config_path=read.path,
            config_problem=read.problem,
            hints_off=read.config is not None and read.config.hints_enabled is False,
            unknown_device=unknown,
            compared=others,
            unknown_compared=unknown_others,
            compared_line=None if request.settings.compared_devices or not read.config else read.config.compared_line,
            found=request.found,
            unanswered=_unanswered(forecast, lessons, request),
            unanswered_versions={
                key: pair
                for key, pair in self._composer.unanswered_versions.items()
                if request.learned is not None and all(request.learned.awaits(each, lessons) for each in pair)
            },
            reach=request.reach,
            lessons=lessons,
            unsampled={
                slot: Unsampled(each.unsampled, each.kernel.name, each.launch, each.home.text if each.home else "")
                for _, own in slots(forecast)
                for slot, each in own
                if each.unsampled is not None and each.launch is not None
            },
            unsampled_runs=tuple(unsampled_runs),
            programs={part.name: part.program for part in parts if part.program is not None},
        )

    def forget(self, uri: str) -> None:
        """Drop what is kept of a document that was closed."""
        path = path_of(uri)
        self._whole.discard(uri)
        self._parts.forget(uri)
        self._engine.forget(path, uri)
        if path is not None:
            self._memory.forget(path)

    def _sources(
        self,
        device: Device,
        runs: Mapping[str, Sequence[MeasuredLaunch]],
        lessons: Mapping[str, Lessons],
        request: AnalysisRequest,
    ) -> Sources:
        """Return what is known by now beside the document, of the device that it is analysed for."""
        learned = request.learned
        newest = request.compiled.get(device.id, {})
        with_code = self._memory.with_code(device) | {key.kernel_fingerprint for key in newest}
        self._answers.begin_round()

        def ask(asked: Sequence[tuple[Question, Device]]) -> list[Answer | None]:
            if learned is None:
                return []
            own = lessons.get(device.id)
            return [self._answers.of(question, own, lambda q: learned.known(q, lessons)) for question, _ in asked]

        def compiled_of(kernel: Kernel, launch: Launch, _device: Device) -> CompiledFacts | None:
            if kernel.fingerprint not in with_code:
                return None
            found = newest.get(key_of(kernel, launch, device.id))
            if found is not None and found.device_id == device.id:  # the learned model knows drivers' code alone
                return found
            return self._memory.compiled(kernel, launch, device)

        def runs_of(fingerprint: str, _device_id: str) -> Sequence[MeasuredLaunch]:
            return runs.get(fingerprint, ())

        def versions_of(path: Path | None, kernel: str, _device: Device) -> Sequence[MeasuredLaunch]:
            own = [
                r for r in reversed(request.runs) if r.document == request.document.uri and _is_of(r, kernel, device)
            ]
            return (*own, *self._memory.versions(path, kernel, device))

        return Sources(ask if learned is not None else None, runs_of, versions_of, compiled_of)

    def _lessons(self, device: Device, request: AnalysisRequest) -> dict[str, Lessons]:
        """Return the measurements of this device: those of this session, then those that the store keeps."""
        if request.learned is None or not request.learned.is_there:
            return {}
        kept = self._memory.lessons(device)
        if self._taught is None or self._taught[0] is not kept or self._taught[1] is not request.runs:
            own = (
                Lesson(run.question, run.measurement.median_us)
                for run in reversed(request.runs)
                if run.question and (run.measurement.device_id, run.measurement.driver) == (device.id, device.driver)
            )
            self._taught = kept, request.runs, Lessons.of((*own, *kept.lessons))
        return {device.id: self._taught[2]}

    def _configuration(self, path: Path | None, reach: Reach | None) -> _Configuration:
        """Return the `kernelcast.toml` for a file; it is looked up each time, so that a new one counts."""
        found = find_config(path.parent) if path else None
        if found is None:
            return _Configuration()
        if reach is not None and not reach.holds(found):
            return _Configuration(found, None, ConfigProblem(found, f"{found} {OUT_OF_REACH}", None))
        try:
            return _Configuration(found, self._configurations.read(found))
        except ConfigError as error:
            return _Configuration(found, None, ConfigProblem(found, error.message, error.line))

    def _config_edits(
        self, forecast: FileForecast, path: Path | None, read: _Configuration
    ) -> Mapping[Slot, ConfigEdit | None]:
        if path is None or read.problem is not None:
            return {}
        return config_edits_to_write(forecast, path, read.config, self._memory.project(path))

    def _runs(
        self, forecasts: Sequence[Forecast], device: Device, request: AnalysisRequest
    ) -> dict[str, tuple[MeasuredLaunch, ...]]:
        """Return the measurements by kernel. This session's come first: they are newer, and may not have been kept."""
        own: dict[str, list[MeasuredLaunch]] = {}
        for run in reversed(request.runs):
            if run.measurement.device_id == device.id:
                own.setdefault(run.measurement.kernel_fingerprint, []).append(run)
        # A launch with macros of its own has a kernel of its own: the file's, as these macros make it.
        fingerprints = {each.kernel.fingerprint for each in forecasts}
        return {each: (*own.get(each, ()), *self._memory.runs(each, device.id)) for each in fingerprints}

    def _compiled(self, forecast: FileForecast, device: Device) -> dict[FactsKey, CompiledFacts]:
        """Return the compiled facts of the file's kernels that the store holds."""
        launches = [(f.kernel, f.launch) for f in forecast.forecasts if f.launch is not None]
        kept = [(kernel, launch, self._code.kept(kernel, launch, device)) for kernel, launch in launches]
        return {key_of(kernel, launch, device.id): facts for kernel, launch, facts in kept if facts is not None}

    def _last(self, forecast: FileForecast, path: Path | None, device: Device) -> dict[str, Measurement]:
        found = {kernel.name: self._memory.last(path, kernel.name, device.id) for kernel in forecast.kernels}
        return {name: m for name, m in found.items() if m is not None}


def _is_of(run: MeasuredLaunch, kernel: str, device: Device) -> bool:
    measured = run.measurement
    return (measured.kernel, measured.device_id, measured.driver) == (kernel, device.id, device.driver)


def _unanswered(
    forecast: FileForecast, lessons: Mapping[str, Lessons], request: AnalysisRequest
) -> dict[Slot, Question]:
    """Return the questions that the learned model may still answer."""
    learned = request.learned
    if learned is None:
        return {}
    return {
        slot: each.question
        for _, own in slots(forecast)
        for slot, each in own
        if each.question is not None
        and (each.prediction is None or each.prediction.learned is None)
        and learned.awaits(each.question, lessons)
    }


def _stored(forecast: FileForecast, runs: Mapping[str, Sequence[MeasuredLaunch]]) -> tuple[Measurement, ...]:
    """Return the newest measurement of each launch that the file has now."""
    found = (
        next((r.measurement for r in runs[f.kernel.fingerprint] if r.measurement.launch_key == f.launch.key), None)
        for f in forecast.forecasts
        if f.launch is not None
    )
    return tuple(m for m in found if m is not None)
