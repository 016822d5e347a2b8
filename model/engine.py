"""The whole way from text to predictions, with everything cached by meaning. One engine per thread.

`Engine.forecast` is the one entry point that the server and the command line share.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from cachetools import LRUCache

from model.advice.advice import Advice, AdviceCode
from model.advice.advise import advise
from model.advice.situation import Situation
from model.device import Device
from model.errors import AnalysisError, KernelcastError
from model.faults import contained, internal_error
from model.forecast import FileForecast, Forecast, KernelChoice, Problem, no_such_kernel
from model.host_names import notes_of, sizes_for, undeclared_by
from model.launch.config import Config
from model.launch.inference import complete
from model.launch.launch import Assumption, Launch
from model.launch.recorded import RecordedLaunch
from model.launch.refit import refitted, with_misfits
from model.launch.spec import LaunchSpec
from model.launch.together import Complete
from model.launch.vectors import with_components
from model.launch_specs import Written, limit_launches, silent_kernels, with_options, written_for
from model.learned.asking import covers, no_lessons, question_about
from model.line_remap import LineShifts, line_shifts
from model.observing import Observer
from model.opencl.include_policy import Reach
from model.opencl.kernel import Kernel
from model.opencl.normalise import normalised_tokens
from model.opencl.options import BuildOptions
from model.opencl.program import Program
from model.placed_annotation import PlacedAnnotation, annotations_of, place_of
from model.prediction import Prediction
from model.predictor import Predictor
from model.readings import Answer, FileState, Made, Readings
from model.recorded_choice import Reading, RecordedOf, choose, nothing_recorded
from model.recorded_times import in_order_of_time
from model.samples import SampleKey
from model.throughput.cpu_code import CodeOf, not_compiled
from model.work.analyse import analyse
from model.work.work import Work


class Engine:
    """Owns the caches; not safe for use by two threads at once.

    With `asks`, each forecast has its question for the learned model; without, that costs nothing. What would have to
    be assumed is left to `observer`. `kept` are the kernels that are remembered beside those of the files read last;
    each takes some 80 KB. Of a file, no more than `most_launches` are predicted, one of each kernel aside. `told` hears
    of each stage of the work (`read`, `analyse`, `predict`) and the seconds that it took. What `code_of` knows counts
    instead of estimates; when it knows more, the kernel is predicted anew and not analysed anew.
    """

    def __init__(
        self,
        *,
        asks: bool = False,
        kept: int = 2048,
        most_launches: int | None = None,
        told: Callable[[str, float], None] | None = None,
        observer: Observer | None = None,
        code_of: CodeOf = not_compiled,
        is_taught: Callable[[Device], bool] = no_lessons,
    ) -> None:
        self._asks = asks
        self._is_taught = is_taught
        self._observer = observer or Observer()
        self._most_launches = most_launches
        self._told = told or (lambda _stage, _seconds: None)
        self._code_of = code_of
        self._tokens: LRUCache[tuple[str, tuple[str, ...]], tuple[str, ...]] = LRUCache(kept)
        self.readings = Readings()
        self._works: LRUCache[tuple[object, ...], tuple[Work | AnalysisError, tuple[int, ...]]] = LRUCache(kept)
        self._launches: LRUCache[tuple[Work, LaunchSpec, Device | None], Launch] = LRUCache(2 * kept)
        self._advice: LRUCache[tuple[object, ...], tuple[Advice, ...]] = LRUCache(2 * kept)
        self._predictor = Predictor(2 * kept)
        self._device: Device | None = None

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
        reach: Reach | None = None,
        included: bool = False,
        recorded: RecordedOf = nothing_recorded,
        part: str = "",
        options_win: bool = False,
        first: KernelChoice | None = None,
    ) -> FileForecast:
        """Predict every launch of every kernel in `text` (or of one `kernel`), never raising for bad input.

        Launches come from `requests` (each laid over the first annotation or config launch of the kernel), else
        from annotations, else from `config`, else from what was `recorded`, else by inference. `options` are build
        options for the whole file, which beat a launch's own if `options_win`. Files beyond `reach` are not included;
        without one, all may be. A kernel of an included file is found by its name; with `included` all of them are
        wanted where the file has none of its own. `part` says which of several programs in the file this is. With
        `first` only the kernels that it chooses are predicted, and what is guessed of them follows from them alone.
        """
        whole = options or BuildOptions()
        found = contained(
            "reading a file",
            lambda: self._forecast(
                text, path, device, config, whole, requests, kernel, reach, included, recorded, part, options_win, first
            ),
        )
        if isinstance(found, KernelcastError):
            self.forget(path)  # what was remembered of it may be half of something
            return FileForecast(problems=(Problem(found.code, found.message, found.line),))
        return found

    def _forecast(
        self, text: str, path: Path | None, device: Device, config: Config | None, options: BuildOptions,
        requests: Sequence[LaunchSpec], kernel: str | None, reach: Reach | None, included: bool, recorded: RecordedOf,
        part: str, options_win: bool, first: KernelChoice | None,
    ) -> FileForecast:  # fmt: skip
        began_s = time.perf_counter()
        whole = (config.options_for(path) if config else BuildOptions()).merged(options)
        state = self.readings.read(text, path, whole, reach, part)

        def wanted_of(now: Program) -> Sequence[Kernel]:
            every = now.wanted(kernel, included=included)
            return every if first is None else first(every)

        def asked_of(now: Program, whole: bool) -> Sequence[Kernel]:
            """Compilers want what all kernels of a file need, whichever is asked about."""
            return now.wanted(None, included=included) if whole and kernel is not None else wanted_of(now)

        def given(k: Kernel, own: Sequence[PlacedAnnotation]) -> Sequence[Written]:
            made = recorded([k.name]).get(k.name, ())
            return written_for(k, own, config, path, requests, lambda: [Written(each.spec) for each in made])

        state = self.readings.completed(
            state, path, reach,
            lambda now, whole: undeclared_by(now, asked_of(now.program, whole), given, self._work_of),
            lambda now: sizes_for(now, asked_of(now.program, True), given, self._work_of, self._completed(device)),
        )  # fmt: skip
        program = state.program
        annotations = state.annotations = annotations_of(program, state.annotations)
        found = [Problem("launch", p.message, p.range.start_line + 1, p.range) for p in annotations.problems]
        device = self._same(device)
        ignored = config.advice_ignored if config else frozenset()
        self._told("read", time.perf_counter() - began_s)
        answers: dict[tuple[str, int], Answer] = {}
        wanted = wanted_of(program)
        runs = recorded(dict.fromkeys(k.name for k in (*wanted, *program.kernels)))

        def written(k: Kernel) -> list[Written]:
            own = annotations.of_kernel.get(k.name, ())
            by_program = partial(self._by_program, state, k, path, device, runs.get(k.name, ()))
            found_for = written_for(k, own, config, path, requests, by_program)
            return with_options(found_for, options) if options_win else found_for

        said, beyond = limit_launches({k.name: written(k) for k in wanted}, self._most_launches)
        silent = silent_kernels(program.kernels if first is None else wanted, said, written)
        if len(silent) > 1:
            work_of = partial(self._work_of, state)
            shared = state.guesses.specs(silent, program.options, work_of, self._completed(device))
            said |= {name: [replace(said[name][0], spec=spec)] for name, spec in shared.items() if name in said}
        for one in wanted:
            for number, launch in enumerate(said[one.name]):
                key = (one.name, number)
                answer = self._one(state, one, launch, path, device, ignored, state.answers.get(key))
                answers[key] = answer
                if answer.problem is not None and answer.problem not in found:
                    found.append(answer.problem)
        state.answers = answers
        problems = [Problem("source", n.message, n.line + 1) for n in program.notes]
        problems += [Problem("launch", beyond)] if beyond else []
        if kernel is not None and not wanted:
            problems.insert(0, no_such_kernel(program, kernel))
        forecasts = in_order_of_time(a.forecast for a in answers.values())
        left_out = len(program.wanted(kernel, included=included)) - len(wanted)
        return FileForecast(tuple(wanted), forecasts, tuple(problems), tuple(found), left_out)

    def _by_program(
        self, state: FileState, kernel: Kernel, path: Path | None, device: Device, launches: Sequence[RecordedLaunch]
    ) -> tuple[Written, ...]:
        under = partial(self._under, state.part, state.program, kernel, path)
        reading = Reading(kernel, state.program.options, under, self._analysed)
        return choose(state.from_program, reading, launches, device)

    def _under(
        self, part: str, program: Program, kernel: Kernel, path: Path | None, more: BuildOptions
    ) -> tuple[Program, Kernel]:
        """Return the file and the kernel as `more` build options make them."""
        options = program.options if more == BuildOptions() else program.options.merged(more)
        if options == program.options:
            return program, kernel
        built = self.readings.read(program.text, path, options, program.plan.reach, part).program
        return built, built.kernel(kernel.name)

    def _completed(self, device: Device) -> Complete:
        return lambda kernel, work, spec: self._complete(kernel, work, spec, device)

    def _work_of(self, state: FileState, kernel: Kernel) -> Work | None:
        """Return the kernel's work, the last answer's where its meaning is unchanged; None if it cannot be analysed."""
        program, last = state.program, state.answers.get((kernel.name, 0))
        if last is not None and last.made is not None and last.made.meaning is program.meanings[kernel.name]:
            return last.made.work
        try:
            return self._analysed(program, kernel)
        except Exception:  # noqa: BLE001 - the reason, a mistake of ours too, is given where the kernel is predicted
            return None

    def _analysed(self, program: Program, kernel: Kernel) -> Work:
        return self._work(program, kernel, tuple(program.line_of(f) for f in program.rests_on[kernel.name]))[0]

    def settle(
        self, forecast: Forecast, launches: Sequence[Launch], text: str, path: Path | None,
        reach: Reach | None = None, part: str = "",
    ) -> list[tuple[SampleKey, Launch]]:  # fmt: skip
        """Find out how much work is in other launches of a forecast's kernel, whose loops or branches the data decide.

        They have its build options. Return those of which the observer does not know it yet.
        """
        work, launch = forecast.work, forecast.launch
        if work is None or launch is None:
            return []
        program = self.readings.read(text, path, launch.options, reach, part).program
        kernel = program.kernel(forecast.kernel.name)
        keys = ((self._observer.settled(program, kernel, work, other), other) for other in launches)
        return [(key, other) for key, other in keys if key is not None]

    def forget(self, path: Path | None, part: str = "") -> None:
        """Drop what was read of a file that was closed; see `Readings.forget`."""
        self.readings.forget(path, part)

    def _same(self, device: Device) -> Device:
        """Return an equal device as the same object: then it need not be compared for each kernel."""
        if self._device is None or self._device != device:
            self._device = device
        return self._device

    def _one(
        self, state: FileState, kernel: Kernel, written: Written, path: Path | None, device: Device,
        ignored: frozenset[AdviceCode], before: Answer | None,
    ) -> Answer:  # fmt: skip
        """One launch of one kernel; the problem again, with its place, when an annotation is to blame."""
        program, annotation = state.program, written.annotation
        try:
            program, kernel = self._under(state.part, program, kernel, path, written.spec.options)
            places = tuple(program.line_of(f) for f in program.rests_on[kernel.name])
            made = before.made if before is not None else None
            if made is None or not self._still_holds(made, program, kernel, written.spec, device, ignored):
                notes = notes_of(state, kernel)
                made = self._made(program, kernel, written.spec, places, device, ignored, made, notes)
        except Exception as raised:  # noqa: BLE001 - a mistake of ours costs this launch alone
            error = raised if isinstance(raised, KernelcastError) else internal_error(raised, "predicting a launch")
            place = place_of(error, annotation)
            line = error.line or (place.start_line + 1 if place else None)
            problem = Problem(error.code, error.message, line, place)
            failed = Forecast(kernel, problem=problem, recorded=written.recorded)
            return Answer(kernel, annotation, (), None, failed, problem if place is not None else None)
        if (
            before is not None
            and before.made is made
            and before.kernel is kernel
            and before.annotation is annotation
            and before.places == places
            and before.forecast.recorded == written.recorded
        ):
            return before
        spec = replace(made.spec, range=annotation.range) if annotation is not None else made.spec
        prediction = made.prediction.moved(line_shifts(made.stood, places))
        forecast = Forecast(
            kernel,
            made.launch,
            prediction,
            spec=spec,
            work=made.work,
            question=made.question,
            tokens=made.tokens,
            unsampled=made.unsampled,
            recorded=written.recorded,
        )
        return Answer(kernel, annotation, places, made, forecast)

    def _made(
        self, program: Program, kernel: Kernel, written: LaunchSpec, places: tuple[int, ...], device: Device,
        ignored: frozenset[AdviceCode], earlier: Made | None, notes: tuple[Assumption, ...],
    ) -> Made:  # fmt: skip
        began_s = time.perf_counter()
        if earlier is not None and earlier.meaning is program.meanings[kernel.name]:
            work, stood = earlier.work, earlier.stood
        else:
            work, stood = self._work(program, kernel, places)
        analysed_s = time.perf_counter()
        self._told("analyse", analysed_s - began_s)
        shifts = line_shifts(stood, places)
        given = replace(with_components(kernel, written), options=program.options)
        spec, is_resized = refitted(kernel, work, given, partial(self._complete, kernel, work, device=None))
        launch = self._complete(kernel, work, spec, device)
        if is_resized:
            launch = with_misfits(kernel, work, spec, launch)
        launch = replace(launch, assumptions=(*notes, *launch.assumptions)) if notes else launch
        code = self._code_of(kernel, launch, device)
        plain, unsampled = self._observer.predicted(self._predictor, program, kernel, work, launch, device, code)
        advice = self._advice_on(plain, program, work, shifts, launch, device)
        prediction = replace(plain, candidate_advice=tuple(a for a in advice if a.code not in ignored))
        tokens = self._tokens_of(program, kernel) if self._asks else ()
        question = None
        if self._asks_of(device):
            question = question_about(prediction, work, launch, device, tokens)
        self._told("predict", time.perf_counter() - analysed_s)
        meaning = program.meanings[kernel.name]
        return Made(
            meaning, device, ignored, written, spec, work, stood, launch, code, prediction, question, tokens, unsampled
        )

    def _still_holds(
        self, made: Made, program: Program, kernel: Kernel, written: LaunchSpec, device: Device,
        ignored: frozenset[AdviceCode],
    ) -> bool:  # fmt: skip
        return (
            made.meaning is program.meanings[kernel.name]
            and (made.written is written or made.written == written)
            and made.device is device
            and made.ignored == ignored
            and (made.unsampled is None or self._observer.samples.of(made.unsampled) is None)
            and made.code == self._code_of(kernel, made.launch, device)
            and (made.question is not None) is self._asks_of(device)
        )

    def _asks_of(self, device: Device) -> bool:
        return self._asks and (covers(device) or self._is_taught(device))

    def _tokens_of(self, program: Program, kernel: Kernel) -> tuple[str, ...]:
        key = (kernel.fingerprint, program.options.flags)
        tokens = self._tokens.get(key)
        if tokens is None:
            tokens = self._tokens[key] = normalised_tokens(program, kernel.name)
        return tokens

    def _advice_on(
        self, prediction: Prediction, program: Program, work: Work, shifts: LineShifts, launch: Launch, device: Device
    ) -> tuple[Advice, ...]:
        key = (work, launch, device, prediction.code, prediction.work.sample)
        advice = self._advice.get(key)
        if advice is None:
            lines: list[str] = []

            def source_line(line: int) -> str:
                lines.extend(() if lines else program.lines())
                now = shifts.line(line)
                return lines[now] if 0 <= now < len(lines) else ""

            advice = self._advice[key] = advise(Situation(work, launch, prediction, device, source_line))
        return advice

    def _complete(self, kernel: Kernel, work: Work, spec: LaunchSpec, device: Device | None) -> Launch:
        key = (work, spec, device)
        launch = self._launches.get(key)
        if launch is None:
            launch = self._launches[key] = complete(kernel, work, spec, device)
        return launch

    def _work(self, program: Program, kernel: Kernel, places: tuple[int, ...]) -> tuple[Work, tuple[int, ...]]:
        """Return the kernel's work, and the lines of the functions it covers when it was analysed."""
        # How functions are laid out is part of the key: costs are kept by line, and comments have lines, too.
        layout = tuple(f.layout for f in program.rests_on[kernel.name])
        key = (kernel.fingerprint, program.options.flags, layout)
        known = self._works.get(key)
        if known is None:
            try:
                known = (analyse(program, kernel), places)
                self._observer.note_analysis(program, known[0])
            except AnalysisError as error:
                known = (error, places)
            self._works[key] = known
        work, stood = known
        if isinstance(work, AnalysisError):
            line = line_shifts(stood, places).line(work.line - 1) + 1 if work.line else None
            raise AnalysisError(work.message, line=line)
        return work, stood
