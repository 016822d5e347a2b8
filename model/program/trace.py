"""A program's timeline in the trace event format, which Perfetto and Chrome's tracing page open."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from model.program.command import TRANSFERS, Command, CommandKind, CommandSequence
from model.program.timeline import Timeline

# Source: "Trace Event Format", Google, 2016: complete events (X) with times in microseconds, metadata (M).
PREDICTED, RECORDED = 1, 2  # "processes" of the trace
_ENGINES = 1000  # threads of the trace from here on are engines or queues
Event = dict[str, Any]


def trace_of(sequence: CommandSequence, names: Sequence[str], timeline: Timeline) -> dict[str, Any]:
    """Return the predicted timeline and, where it was recorded, the program's own beside it.

    `names` are the kernels' names by the place of a launch.
    """
    events = [*_predicted(sequence, names, timeline)]
    if sequence.is_recorded:
        events += _recorded(sequence, names)
    return {"traceEvents": events, "displayTimeUnit": "ms"}


def label(command: Command, names: Sequence[str]) -> str:
    """Return what a command is called in a timeline."""
    if command.kind is CommandKind.LAUNCH:
        return names[command.launch] if command.launch is not None else "unknown kernel"
    return command.kind.word


def _predicted(sequence: CommandSequence, names: Sequence[str], timeline: Timeline) -> Iterator[Event]:
    yield _process(PREDICTED, "predicted")
    engines = list(dict.fromkeys(span.engine for span in timeline.spans if span.engine is not None))
    for number, engine in enumerate(engines):
        yield _thread(PREDICTED, _ENGINES + number, f"{engine.device}: {engine.name}")
    yield from _host_threads(PREDICTED, sequence)
    for span in timeline.spans:
        command = sequence.commands[span.command]
        row = command.thread if span.engine is None else _ENGINES + engines.index(span.engine)
        yield _span(PREDICTED, row, command, names, span.start_us, span.end_us)


def _recorded(sequence: CommandSequence, names: Sequence[str]) -> Iterator[Event]:
    yield _process(RECORDED, "recorded")
    for number, queue in enumerate(sequence.queues):
        yield _thread(RECORDED, _ENGINES + number, f"{queue.device}: queue {number}")
    yield from _host_threads(RECORDED, sequence)
    for command in sequence.commands:
        yield _span(RECORDED, command.thread, command, names, command.begin_us, command.end_us)
        if command.queue is not None and command.start_us is not None and command.finish_us is not None:
            yield _span(
                RECORDED, _ENGINES + command.queue, command, names, max(0.0, command.start_us), command.finish_us
            )


def _host_threads(process: int, sequence: CommandSequence) -> Iterator[Event]:
    for thread in sorted({command.thread for command in sequence.commands}):
        yield _thread(process, thread, f"host thread {thread}")


def _process(process: int, name: str) -> Event:
    return {"ph": "M", "name": "process_name", "pid": process, "tid": 0, "args": {"name": name}}


def _thread(process: int, thread: int, name: str) -> Event:
    return {"ph": "M", "name": "thread_name", "pid": process, "tid": thread, "args": {"name": name}}


def _span(process: int, row: int, command: Command, names: Sequence[str], start_us: float, end_us: float) -> Event:
    details: dict[str, Any] = {"queue": command.queue}
    if command.kind in TRANSFERS:
        details["bytes"] = command.size_bytes
    return {
        "ph": "X",
        "name": label(command, names),
        "cat": command.kind.word,
        "ts": round(start_us, 3),
        "dur": round(max(0.0, end_us - start_us), 3),
        "pid": process,
        "tid": row,
        "args": details,
    }
