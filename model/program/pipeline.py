"""A program that is written down: the tables `[[pipeline]]` of a `kernelcast.toml`, and their commands.

[[pipeline]]
name = "frame"
before = [{ write = "4*1024*1024" }]            # once; `after` as well
repeat = 100
steps = [
  { launch = "blur", file = "blur.cl", name = "large", repeat = 2 },
  { read = 4194304, queue = 1, wait_for = ["blur"], blocking = true },
  { host_us = 200 },
]
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from model.launch.config_tables import Table
from model.launch.expression import ExpressionError
from model.program.command import Command, CommandKind, CommandSequence, Queue

MOST_STEPS = 1000
MOST_COMMANDS = 1 << 16
MOST_QUEUES = 64
_TRANSFERS = {
    "write": CommandKind.WRITE, "read": CommandKind.READ, "copy": CommandKind.COPY, "fill": CommandKind.FILL,
    "map": CommandKind.MAP,
}  # fmt: skip
_WHAT = ("launch", *_TRANSFERS, "finish", "host_us")
_STEP_KEYS = (*_WHAT, "file", "name", "queue", "blocking", "pinned", "repeat", "wait_for")
_KEYS = ("name", "before", "steps", "after", "repeat", "out_of_order")


@dataclass(frozen=True, slots=True)
class PipelineLaunch:
    """A launch of a pipeline: of a kernel in a file, by its name if it has several."""

    kernel: str
    file: str | None = None
    name: str | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """One line of a pipeline. `kind` is None for `host_us`, in which the host does something else."""

    kind: CommandKind | None
    launch: PipelineLaunch | None = None
    size_bytes: int = 0
    host_us: float = 0.0
    queue: int = 0
    is_blocking: bool = False
    is_pinned: bool = False
    repeat: int = 1
    wait_for: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        """What `wait_for` of later steps calls it."""
        return self.launch.kernel if self.launch is not None else self.kind.word if self.kind is not None else ""


@dataclass(frozen=True, slots=True)
class Pipeline:
    """One `[[pipeline]]`; `line` is that of its header."""

    name: str
    before: tuple[Step, ...]
    steps: tuple[Step, ...]
    after: tuple[Step, ...]
    repeat: int
    is_out_of_order: bool
    line: int

    @property
    def launches(self) -> tuple[PipelineLaunch, ...]:
        """Return the distinct launches, in their order."""
        every = (*self.before, *self.steps, *self.after)
        return tuple(dict.fromkeys(step.launch for step in every if step.launch is not None))


def read_pipeline(table: Table) -> Pipeline:
    """Read one `[[pipeline]]`. Raises `ConfigError`."""
    table.allow(*_KEYS)
    name = table.string("name")
    if not name:
        table.refuse(None, 'a [[pipeline]] needs a name: name = "frame"')
    before, steps, after = (tuple(_steps(table, key)) for key in ("before", "steps", "after"))
    if not steps:
        table.refuse(None, f'the pipeline `{name}` has no steps: steps = [{{ launch = "KERNEL" }}, ...]')
    repeat = _count(table, "repeat", table.content.get("repeat", 1))
    found = Pipeline(name, before, steps, after, repeat, table.flag("out_of_order") or False, table.line())
    count = sum(step.repeat for step in (*before, *after)) + repeat * sum(step.repeat for step in steps)
    if count > MOST_COMMANDS:
        table.refuse("repeat", f"the pipeline `{name}` has {count} commands; at most {MOST_COMMANDS} are composed")
    return found


def commands_of(pipeline: Pipeline, device: str) -> CommandSequence:
    """Return the pipeline's commands, on queues of `device`; launches are places in `pipeline.launches`."""
    places = {launch: place for place, launch in enumerate(pipeline.launches)}
    commands: list[Command] = []
    latest: dict[str, int] = {}  # the last command of each label
    now_us = 0.0
    for step in _expanded(pipeline):
        if step.kind is None:
            now_us += step.host_us
            continue
        waits = tuple(sorted({latest[each] for each in step.wait_for if each in latest}))
        commands.append(
            Command(
                step.kind,
                now_us,
                now_us,
                step.queue,
                places[step.launch] if step.launch else None,
                step.size_bytes,
                is_blocking=step.is_blocking,
                is_pinned=step.is_pinned,
                waits=waits,
            )
        )
        latest[step.label] = len(commands) - 1
    count = 1 + max((command.queue or 0 for command in commands), default=0)
    if commands:  # the end waits for all that was enqueued
        commands += [Command(CommandKind.FINISH, now_us, now_us, queue) for queue in range(count)]
    queues = (Queue(device, pipeline.is_out_of_order),) * count
    return CommandSequence(tuple(commands), queues, is_recorded=False)


def _expanded(pipeline: Pipeline) -> Iterator[Step]:
    for steps, times in ((pipeline.before, 1), (pipeline.steps, pipeline.repeat), (pipeline.after, 1)):
        for _ in range(times):
            for step in steps:
                for _ in range(step.repeat):
                    yield step


def _steps(table: Table, key: str) -> Iterator[Step]:
    value = table.content.get(key, [])
    if not isinstance(value, list) or not all(isinstance(each, dict) for each in value):
        table.refuse(key, f'`{key}` must be a list of steps: {key} = [{{ launch = "KERNEL" }}, {{ read = 4096 }}]')
    if len(value) > MOST_STEPS:
        table.refuse(key, f"`{key}` has {len(value)} steps; at most {MOST_STEPS} are read")
    for content in value:
        yield _step(Table(content, table.name, table.text, table.index))


def _step(table: Table) -> Step:
    table.allow(*_STEP_KEYS)
    what = [key for key in _WHAT if key in table.content]
    if len(what) != 1:
        table.refuse(what[0] if what else None, f"a step is one of {', '.join(_WHAT)}; this one has {what or 'none'}")
    (key,) = what
    shared: Mapping[str, Any] = {
        "queue": _count(table, "queue", table.content.get("queue", 0), least=0, most=MOST_QUEUES - 1),
        "repeat": _count(table, "repeat", table.content.get("repeat", 1)),
        "wait_for": table.texts("wait_for"),
        "is_blocking": bool(table.flag("blocking")),
        "is_pinned": bool(table.flag("pinned")),
    }
    if key == "launch":
        launch = PipelineLaunch(table.string("launch") or "", table.string("file"), table.string("name"))
        return Step(CommandKind.LAUNCH, launch, **shared)
    if key == "finish":
        return Step(CommandKind.FINISH, **shared)
    if key == "host_us":
        return Step(None, host_us=float(_number(table, key)), **shared)
    return Step(_TRANSFERS[key], size_bytes=int(_number(table, key)), **shared)


def _number(table: Table, key: str) -> float:
    try:
        value = table.number(key, table.content[key]).evaluate({})
    except ExpressionError as error:
        table.refuse(key, f"`{key}`: {error.message}")
    if not 0 <= value < 1e15:
        table.refuse(key, f"`{key}` must not be negative or as large as {value:g}")
    return value


def _count(table: Table, key: str, value: object, least: int = 1, most: int = MOST_COMMANDS) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        table.refuse(key, f"`{key}` must be a whole number from {least} to {most}")
    return value


def pipeline_named(pipelines: Sequence[Pipeline], name: str) -> Pipeline | None:
    """Return the pipeline of this name; None if there is none."""
    return next((each for each in pipelines if each.name == name), None)
