"""The whole way from text to predictions, with everything cached by meaning. One engine per thread.

`Engine.forecast` is the one entry point that the server and the command line share.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from cachetools import LRUCache

from model.advice.advice import Advice, AdviceCode
from model.advice.advise import advise
from model.advice.situation import Situation
from model.device import Device
from model.errors import AnalysisError, KernelcastError, LaunchError, NoSuchKernel
from model.launch.annotation import (
    Annotation,
    AnnotationProblem,
    annotations_for,
    check_names,
    find_annotations,
    placement_problems,
)
from model.launch.config import Config
from model.launch.expression import ExpressionError
from model.launch.inference import complete
from model.launch.launch import Launch, Origin
from model.launch.spec import LaunchSpec
from model.opencl.kernel import Kernel, SourceRange
from model.opencl.options import BuildOptions
from model.opencl.program import Program, read_program
from model.placement import Moves, moves, placed
from model.prediction import Prediction
from model.predictor import Predictor
from model.work.analyse import analyse
from model.work.work import Work


@dataclass(frozen=True, slots=True)
class Problem:
    """A named failure. `code` and `message` as in `KernelcastError`; `line` counts from 1."""

    code: str
    message: str
    line: int | None = None
    range: SourceRange | None = None  # set for annotations: these become editor diagnostics


@dataclass(frozen=True, slots=True)
class Forecast:
    """One launch of one kernel: either a prediction (then all but `problem` are set) or a problem.

    `spec` is what was said of the launch, build options included, and `work` the kernel's: with them other sizes and
    other devices can be asked about without the engine, from any thread.
    """

    kernel: Kernel
    launch: Launch | None = None
    prediction: Prediction | None = None
    problem: Problem | None = None
    spec: LaunchSpec | None = field(default=None, compare=False)
    work: Work | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class FileForecast:
    """Everything about one file. `kernels` in source order; each has at least one forecast, in the same order.

    `problems` concern the file: missing includes, unreadable text ...; `annotation_problems` each have a range.
    """

    kernels: tuple[Kernel, ...] = ()
    forecasts: tuple[Forecast, ...] = ()
    problems: tuple[Problem, ...] = ()
    annotation_problems: tuple[Problem, ...] = field(default=())


class Engine:
    """Owns the caches; not safe for use by two threads at once."""

    def __init__(self) -> None:
        self._programs: LRUCache[tuple[Path | None, BuildOptions], Program] = LRUCache(64)
        self._works: LRUCache[tuple[str, str], tuple[Work | AnalysisError, dict[str, int]]] = LRUCache(2048)
        self._launches: LRUCache[tuple[Work, LaunchSpec, Device], Launch] = LRUCache(4096)
        self._advice: LRUCache[tuple[Work, Launch, Device], tuple[Advice, ...]] = LRUCache(4096)
        self._predictor = Predictor()

    def forecast(
        self,
        text: str,
        path: Path | None,
        device: Device,
        *,
        config: Config | None = None,
        options: BuildOptions | None = None,
        requests: Sequence[LaunchSpec] = (),
        kernel: str | None = None,
    ) -> FileForecast:
        """Predict every launch of every kernel in `text` (or of one `kernel`), never raising for bad input.

        Launches come from `requests` (each laid over the first annotation or config launch of the kernel), else
        from annotations, else from `config`, else by inference. `options` are build options for the whole file.
        """
        whole = (config.options_for(path) if config else BuildOptions()).merged(options or BuildOptions())
        program = self._read(text, path, whole)
        annotations = find_annotations(text)
        placed = annotations_for(annotations, program.kernels)
        found = [
            Problem("launch", p.message, p.range.start_line + 1, p.range)
            for p in _problems(annotations, placed, program)
        ]
        forecasts: list[Forecast] = []
        wanted = [k for k in program.kernels if kernel is None or k.name == kernel]
        for one in wanted:
            own = placed.get(one.name, ())
            for spec, annotation in _specs(one, own, config, path, requests):
                forecast, problem = self._one(program, one, spec, annotation, path, device)
                forecasts.append(_without(forecast, config.advice_ignored) if config else forecast)
                if problem is not None and problem not in found:
                    found.append(problem)
        problems = [Problem("source", n.message, n.line + 1) for n in program.notes]
        if kernel is not None and not wanted:
            problems.insert(0, _no_such_kernel(program, kernel))
        return FileForecast(tuple(wanted), tuple(forecasts), tuple(problems), tuple(found))

    def _one(
        self,
        program: Program,
        kernel: Kernel,
        spec: LaunchSpec,
        annotation: Annotation | None,
        path: Path | None,
        device: Device,
    ) -> tuple[Forecast, Problem | None]:
        """One launch of one kernel; the problem again, with its place, when an annotation is to blame."""
        try:
            options = program.options.merged(spec.options)
            if options != program.options:
                program = self._read(program.text, path, options)
                kernel = program.kernel(kernel.name)
            work, moved = self._work(program, kernel)
            spec = replace(spec, options=options)
            launch = self._complete(kernel, work, spec, device)
            prediction = self._advised(
                self._predictor.predict(work, launch, device), program, work, moved, launch, device
            )
            return Forecast(kernel, launch, placed(prediction, moved), spec=spec, work=work), None
        except KernelcastError as error:
            place = _place(error, annotation)
            line = error.line or (place.start_line + 1 if place else None)
            problem = Problem(error.code, error.message, line, place)
            return Forecast(kernel, problem=problem), problem if place is not None else None

    def _advised(
        self, prediction: Prediction, program: Program, work: Work, moved: Moves, launch: Launch, device: Device
    ) -> Prediction:
        key = (work, launch, device)
        advice = self._advice.get(key)
        if advice is None:

            def source_line(line: int) -> str:
                now = moved.line(line)
                return program.lines[now] if 0 <= now < len(program.lines) else ""

            advice = self._advice[key] = advise(Situation(work, launch, prediction, device, source_line))
        return replace(prediction, advice=advice)

    def _complete(self, kernel: Kernel, work: Work, spec: LaunchSpec, device: Device) -> Launch:
        key = (work, replace(spec, range=None), device)
        launch = self._launches.get(key)
        if launch is None:
            launch = self._launches[key] = complete(kernel, work, spec, device)
        return launch

    def _read(self, text: str, path: Path | None, options: BuildOptions) -> Program:
        """The program, from the cache or by re-reading what changed; included files are looked at every time."""
        previous = self._programs.get((path, options))
        if previous is not None and previous.text == text and not previous.rests_on_files:
            return previous
        program = read_program(text, path, options, previous)
        self._programs[path, options] = program
        return program

    def _work(self, program: Program, kernel: Kernel) -> tuple[Work, Moves]:
        """The kernel's work, and how far its lines have moved since it was analysed."""
        now = program.function_lines
        # The kernel's own text is part of the key: costs are kept by line, and comments have lines, too.
        text = "\n".join(program.lines[kernel.range.start_line : kernel.range.end_line + 1])
        known = self._works.get((kernel.fingerprint, text))
        if known is None:
            try:
                known = (analyse(program, kernel), now)
            except AnalysisError as error:
                known = (error, now)
            self._works[kernel.fingerprint, text] = known
        work, before = known
        moved = moves(before, now)
        if isinstance(work, AnalysisError):
            raise AnalysisError(work.message, line=moved.line(work.line - 1) + 1 if work.line else None)
        return work, moved


def _specs(
    kernel: Kernel,
    annotations: Sequence[Annotation],
    config: Config | None,
    path: Path | None,
    requests: Sequence[LaunchSpec],
) -> list[tuple[LaunchSpec, Annotation | None]]:
    """What was said of this kernel's launches, by precedence; at least one, perhaps empty."""
    written: list[tuple[LaunchSpec, Annotation | None]] = [(a.spec, a) for a in annotations]
    if not written and config is not None:
        written = [(spec, None) for spec in config.specs_for(kernel.name, path)]
    if requests:
        base, annotation = written[0] if written else (LaunchSpec(origin=Origin.INFERRED), None)
        return [(base.merged(request), annotation) for request in requests]
    return written or [(LaunchSpec(origin=Origin.INFERRED), None)]


def _without(forecast: Forecast, ignored: frozenset[AdviceCode]) -> Forecast:
    prediction = forecast.prediction
    if prediction is None or not any(a.code in ignored for a in prediction.advice):
        return forecast
    kept = tuple(a for a in prediction.advice if a.code not in ignored)
    return replace(forecast, prediction=replace(prediction, advice=kept))


def _problems(
    annotations: Sequence[Annotation], placed: Mapping[str, tuple[Annotation, ...]], program: Program
) -> list[AnnotationProblem]:
    problems = [p for a in annotations for p in a.problems]
    problems += placement_problems(annotations, program.kernels)
    for kernel in program.kernels:
        for annotation in placed.get(kernel.name, ()):
            problems += check_names(annotation, kernel)
    return problems


def _place(error: KernelcastError, annotation: Annotation | None) -> SourceRange | None:
    if annotation is None:
        return None
    if isinstance(error, ExpressionError):
        return annotation.range_of(error.start, error.end)
    return annotation.range if isinstance(error, LaunchError) else None


def _no_such_kernel(program: Program, name: str) -> Problem:
    try:
        program.kernel(name)
    except NoSuchKernel as error:
        return Problem(error.code, error.message)
    return Problem(NoSuchKernel.code, f"there is no kernel `{name}` here")
