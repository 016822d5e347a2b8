"""What was last read, found and predicted of each file: the engine's memory of texts."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from cachetools import LRUCache

from model.advice.advice import AdviceCode
from model.device import Device
from model.forecast import Forecast, Problem
from model.launch.annotation import Annotation
from model.launch.launch import Assumption, Launch
from model.launch.spec import LaunchSpec
from model.launch.together import FileGuesses
from model.learned.question import Question
from model.opencl.completing import completed
from model.opencl.fingerprint import Meaning
from model.opencl.include_policy import Reach
from model.opencl.kernel import Kernel
from model.opencl.options import BuildOptions
from model.opencl.program import Program, read_program
from model.opencl.project_files import ProjectFiles
from model.opencl.stand_ins import Lacking, stand_ins
from model.placed_annotation import Annotations
from model.prediction import Prediction
from model.recorded_choice import FromProgram
from model.samples import SampleKey
from model.throughput.cpu_code import KnownCode
from model.work.work import Work

_FILES_KEPT = 64
_TYPED_IN = 4  # files, of which what was overwritten is kept: it may be undone


@dataclass(frozen=True, slots=True, eq=False)
class Made:
    """A prediction before it is placed: `stood` are the lines on which the functions it covers were analysed."""

    meaning: Meaning
    device: Device
    ignored: frozenset[AdviceCode]
    written: LaunchSpec
    spec: LaunchSpec
    work: Work
    stood: tuple[int, ...]
    launch: Launch
    code: KnownCode | None
    prediction: Prediction
    question: Question | None
    tokens: tuple[str, ...]
    unsampled: SampleKey | None


@dataclass(frozen=True, slots=True, eq=False)
class Answer:
    """A forecast with all that it follows from. Without `made` it is a problem, and found anew each time."""

    kernel: Kernel
    annotation: Annotation | None
    places: tuple[int, ...]
    made: Made | None
    forecast: Forecast
    problem: Problem | None = None


@dataclass(slots=True)
class FileState:
    """What was last known of one file under one set of options.

    `found` are names that the file does not declare, each with the file of the project that does and is read before it.
    `part` says which of several programs in the file it is.
    """

    program: Program
    part: str = ""
    annotations: Annotations | None = None
    answers: dict[tuple[str, int], Answer] = field(default_factory=dict)
    guesses: FileGuesses = field(default_factory=FileGuesses)
    found: tuple[tuple[str, str], ...] = ()
    from_program: dict[str, FromProgram] = field(default_factory=dict)
    has_searched: bool = False  # other files of the project, for names that nothing declares
    stand_ins: tuple[tuple[str, str], ...] = ()  # defines for names of which nothing else was found
    stood_in_for: Lacking | None = None
    words: tuple[Program, dict[str, set[str]]] | None = None  # of each kernel's own text, in that program
    sizes: Mapping[str, Size] = field(default_factory=dict)  # of numbers that nothing declares


_ROUNDS = 3  # of stand-ins: what other names stand for is seen once types are known
Size = tuple[str, Assumption | None]  # a number, and what is assumed of it; None where it is given
Undeclared = Callable[[FileState, bool], Lacking]
_StateKey = tuple[Path | None, BuildOptions, Reach | None, str]


class Readings:
    """The states of the files read last. Not for two threads at once."""

    def __init__(self) -> None:
        self._states: LRUCache[_StateKey, FileState] = LRUCache(_FILES_KEPT)
        self._typed_in: LRUCache[_StateKey, FileState] = LRUCache(_TYPED_IN)
        self._project_files = ProjectFiles()

    def read(
        self, text: str, path: Path | None, options: BuildOptions, reach: Reach | None, part: str = ""
    ) -> FileState:
        """Return the program, from the cache or by re-reading what changed; included files are checked every time."""
        key = path, options, reach, part
        state = self._states.get(key)
        if state is None:
            state = self._states[key] = FileState(read_program(text, path, options, reach=reach), part)
        elif state.program.text != text or state.program.rests_on_files:
            state.program = read_program(text, path, options, state.program, reach)
            self._remember_typing(key, state)
        return state

    def completed(
        self, state: FileState, path: Path | None, reach: Reach | None, undeclared: Undeclared,
        sizes: Callable[[FileState], Mapping[str, Size]],
    ) -> FileState:  # fmt: skip
        """Return the reading with what the file lacks and its project has, and stand-ins for the rest.

        See `model.opencl.completing` and `model.opencl.stand_ins`. `undeclared` are the names that nothing declares, in
        the kernels that are asked about or in the whole file; `sizes` those that are numbers, as launches have them.
        """
        states, names = {state.program.options: state}, Lacking()

        def read(options: BuildOptions) -> Program:
            states[options] = self.read(state.program.text, path, options, reach, state.part)
            return states[options].program

        def lacking(program: Program) -> Collection[str]:
            nonlocal names
            names = undeclared(states[program.options], False)
            states[program.options].has_searched = bool(names.all)
            return names.all

        last = state
        if path is None:
            lacking(state.program)
        else:
            found = completed(state.program, path, reach, self._project_files, lacking, read)
            last = states[found.program.options]
            last.found = found.found
        return last if names == Lacking() else self._with_stand_ins(last, path, reach, undeclared, sizes)

    def _with_stand_ins(
        self, state: FileState, path: Path | None, reach: Reach | None, undeclared: Undeclared,
        sizes: Callable[[FileState], Mapping[str, Size]],
    ) -> FileState:  # fmt: skip
        """Return the reading with defines in place of what only the host declares; those of the last time stay."""
        text, asked = state.program.text, undeclared(state, True)
        last, defines = state, dict[str, str]()

        def read() -> FileState:
            options = replace(state.program.options, stand_ins=tuple(defines.items()))
            return self.read(text, path, options, reach, state.part)

        new = dict(state.stand_ins) if asked == state.stood_in_for else stand_ins(asked, state.program.code)
        for _ in range(_ROUNDS):
            if not new:
                break
            defines |= new
            last = read()
            new = stand_ins(undeclared(last, True), last.program.code, defines)
        state.stand_ins, state.stood_in_for = tuple(defines.items()), asked
        if found := sizes(last):
            defines |= {name: value for name, (value, _) in found.items()}
            last = read()
        last.found, last.stand_ins = state.found, state.stand_ins
        last.sizes = found
        return last

    def opened(self, path: Path) -> tuple[tuple[str, bytes | None], ...] | None:
        """Return what the file's includes were looked for in, under whatever options, and what was found there.

        None where other files of the project count, too.
        """
        states = [state for key, state in self._states.items() if key[0] == path]
        if any(state.has_searched or state.found for state in states):
            return None
        return tuple({name: data for state in states for name, data in state.program.plan.opened}.items())

    def forget(self, path: Path | None, part: str = "") -> None:
        """Drop what was read of a file that was closed, and of the part of that name with all `part#...` below it.

        Texts without a path, and the cells of one notebook, share their path with others: they go by their parts.
        """
        for states in (self._states, self._typed_in):
            for key in [key for key in states if _is_of(key, path, part)]:
                del states[key]

    def _remember_typing(self, key: _StateKey, state: FileState) -> None:
        if key not in self._typed_in and len(self._typed_in) >= _TYPED_IN:
            _, left = self._typed_in.popitem()
            left.program.kept.forget_recent()
        self._typed_in[key] = state


def _is_of(key: _StateKey, path: Path | None, part: str) -> bool:
    if path is not None and key[0] == path:
        return True
    return bool(part) and (key[3] == part or key[3].startswith(f"{part}#"))
