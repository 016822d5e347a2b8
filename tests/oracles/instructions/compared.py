"""One launch, counted by the analysis and by Oclgrind."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from model.device_catalog import find_builtin
from model.engine import Engine
from model.launch.driver_choice import effective_local_size
from model.observing import observe
from model.opencl.program import read_program
from model.work.analyse import analyse
from model.work.counts import OpKind
from model.work.work import Work
from model.work.work_counts import WorkCounts
from tests.oracles.instructions.decided import Decided, decided
from tests.oracles.instructions.meaning import flop_instructions, global_bytes, why_bytes_unseen
from tests.oracles.instructions.simulate import simulate
from tests.oracles.instructions.task import Compiled, Executed, NotExecuted, Task

PATIENCE_S = 60.0  # for a sample, whose steps are bounded: what it tells must not depend on the machine
FLOP_KINDS = frozenset({OpKind.ADD, OpKind.MUL, OpKind.FMA, OpKind.DIVIDE, OpKind.SQRT, OpKind.SPECIAL, OpKind.NATIVE})


@dataclass(frozen=True, slots=True)
class Quantity:
    """The same figure twice; `counted` is None where Oclgrind cannot see it."""

    name: str
    predicted: float
    counted: float | None

    @property
    def deviation_percent(self) -> float:
        """Of the counted figure, signed; 0 where there is nothing to compare."""
        if self.counted is None or self.predicted == self.counted:
            return 0.0
        return 100.0 * (self.predicted - self.counted) / self.counted if self.counted else float("inf")


@dataclass(frozen=True, slots=True)
class Compared:
    """A launch and its quantities, or why there are none."""

    task: Task
    decided: Decided
    quantities: tuple[Quantity, ...]
    problem: str | None = None
    executed: Executed | None = None

    @property
    def kernel(self) -> str:
        return self.task.kernel.name

    @property
    def launch(self) -> str:
        return self.task.launch.name or self.task.launch.describe()

    @property
    def worst_percent(self) -> float:
        return max((abs(q.deviation_percent) for q in self.quantities), default=0.0)


def read_tasks(file: Path, *, without: Iterable[str] = ()) -> list[tuple[Task, Work]]:
    """Return every annotated launch of every kernel in `file` but those named in `without`.

    Some of their work-items were run where something would have to be assumed, as the commands do before they answer.
    Raises ValueError for one that cannot be analysed: the file is ours, and its annotations are complete.
    """
    text = file.read_text("utf-8")
    device = find_builtin("generic-cpu")
    assert device is not None
    found = Engine().forecast(text, file, device)
    for problem in (*found.problems, *found.annotation_problems, *(f.problem for f in found.forecasts if f.problem)):
        raise ValueError(f"{file.name}: {problem.message}")
    tasks = []
    for forecast in found.forecasts:
        assert forecast.launch is not None
        assert forecast.work is not None
        if forecast.launch.name not in set(without):
            launch = replace(forecast.launch, local_size=effective_local_size(forecast.launch, forecast.kernel))
            task = Task(forecast.kernel, launch, text, file)
            tasks.append((task, _observed(task)))
    return tasks


def _observed(task: Task) -> Work:
    """The work of a task, with what running some of its work-items tells, however busy this machine is."""
    program = read_program(task.source, task.path, task.launch.options)
    kernel = program.kernel(task.kernel.name)
    work = analyse(program, kernel)
    work.remember(task.launch, observe(program, kernel, task.launch, patience_s=PATIENCE_S))
    return work


def compare(tasks: Sequence[tuple[Task, Work]], compiled: Compiled = Compiled.FOR_SPEED) -> list[Compared]:
    """Execute all, and set each beside what the analysis counts."""
    outcomes = simulate([task for task, _ in tasks], compiled)
    return [_compared(task, work, outcome) for (task, work), outcome in zip(tasks, outcomes, strict=True)]


def _compared(task: Task, work: Work, outcome: Executed | NotExecuted) -> Compared:
    by = decided(work, task.launch)
    if isinstance(outcome, NotExecuted):
        return Compared(task, by, (), problem=outcome.reason)
    counts = work.count(task.launch)
    unseen = why_bytes_unseen(outcome)
    quantities = (
        Quantity("flops", predicted_flop_instructions(counts), flop_instructions(outcome)),
        Quantity("loads", counts.global_load_bytes, None if unseen else global_bytes(outcome, "load")),
        Quantity("stores", counts.global_store_bytes, None if unseen else global_bytes(outcome, "store")),
    )
    return Compared(task, by, quantities, executed=outcome)


def predicted_flop_instructions(counts: WorkCounts) -> float:
    """`flops` with each operation on a vector counted once, as Oclgrind does."""
    return sum(
        op.count * (2 if op.kind is OpKind.FMA else 1) / getattr(op, "width", 1)
        for op in counts.ops
        if op.element.startswith("f") and op.kind in FLOP_KINDS
    )
