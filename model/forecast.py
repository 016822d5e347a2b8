"""What an engine answers about one file: for each launch of each kernel a prediction, or a problem that has a name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from model.compiled import CompiledFacts
from model.errors import NoSuchKernel
from model.launch.launch import Assumption, Launch
from model.launch.recorded import RecordedUse
from model.launch.spec import LaunchSpec
from model.learned.question import Question
from model.opencl.kernel import Kernel, SourceRange
from model.opencl.program import Program
from model.prediction import Prediction
from model.samples import SampleKey
from model.work.work import Work

KernelChoice = Callable[[Sequence[Kernel]], Sequence[Kernel]]  # of a file's kernels, in the order of its text


@dataclass(frozen=True, slots=True)
class Problem:
    """A named failure. `code` and `message` as in `KernelcastError`; `line` counts from 1."""

    code: str
    message: str
    line: int | None = None
    range: SourceRange | None = None  # set for annotations: these become editor diagnostics


@dataclass(frozen=True, slots=True)
class Home:
    """The text that an embedded kernel is compiled from, the kernel as it stands there, and the host's lines.

    `part` says which of the host's programs it is, `assumed` what was assumed of its text.
    """

    text: str
    kernel: Kernel
    host_lines: tuple[int, ...]
    part: str
    assumed: tuple[Assumption, ...] = ()

    def line(self, line: int | None) -> int | None:
        """Return the host's line, counted from 1, of a line of the text."""
        return self.host_lines[line - 1] + 1 if line is not None and 1 <= line <= len(self.host_lines) else line


@dataclass(frozen=True, slots=True)
class Forecast:
    """One launch of one kernel: either a prediction (then all but `problem` are set) or a problem.

    `spec` is what was said of the launch, build options included, and `work` the kernel's: with them other sizes and
    other devices can be asked about without the engine, from any thread. `question` is for the learned model, of
    devices that it covers; `tokens` are the kernel's, for questions about others, and `compiled` what it was told of
    the code. `unsampled` where running some work-items would tell what is assumed. `recorded` where a real program made
    the launch. `home` where the kernel is embedded in a host file, whose places all else has.
    """

    kernel: Kernel
    launch: Launch | None = None
    prediction: Prediction | None = None
    problem: Problem | None = None
    spec: LaunchSpec | None = field(default=None, compare=False)
    work: Work | None = field(default=None, compare=False)
    question: Question | None = field(default=None, compare=False)
    tokens: tuple[str, ...] = field(default=(), compare=False)
    compiled: CompiledFacts | None = field(default=None, compare=False)
    unsampled: SampleKey | None = field(default=None, compare=False)
    recorded: RecordedUse | None = None
    home: Home | None = field(default=None, compare=False)

    @property
    def part(self) -> str:
        """Which of its host's programs the kernel is in; empty for one that is not embedded."""
        return self.home.part if self.home is not None else ""

    def with_prediction(self, prediction: Prediction) -> Forecast:
        """Return the forecast with another prediction; half as long as `replace` takes, which each keystroke feels."""
        return Forecast(
            self.kernel, self.launch, prediction, self.problem, self.spec, self.work, self.question, self.tokens,
            self.compiled, self.unsampled, self.recorded, self.home,
        )  # fmt: skip

    def compiled_from(self, text: str) -> tuple[str, Kernel]:
        """Return the text of its program, `text` where that is the whole file, and the kernel as it stands there."""
        return (text, self.kernel) if self.home is None else (self.home.text, self.home.kernel)


@dataclass(frozen=True, slots=True)
class FileForecast:
    """Everything about one file. `kernels` in source order; each has at least one forecast, in the same order.

    `problems` concern the file: missing includes, unreadable text ...; `annotation_problems` each have a range.
    `left_out` counts the kernels that were not asked for yet.
    """

    kernels: tuple[Kernel, ...] = ()
    forecasts: tuple[Forecast, ...] = ()
    problems: tuple[Problem, ...] = ()
    annotation_problems: tuple[Problem, ...] = field(default=())
    left_out: int = 0


def no_such_kernel(program: Program, name: str) -> Problem:
    """Say that `program` has no kernel `name`, and which are like it."""
    try:
        program.kernel(name)
    except NoSuchKernel as error:
        return Problem(error.code, error.message)
    return Problem(NoSuchKernel.code, f"there is no kernel `{name}` here")
