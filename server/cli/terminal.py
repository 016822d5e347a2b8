"""What people look at: text and tables on stdout, progress and complaints on stderr."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

OnProgress = Callable[[float, str], None]

_UNBOUNDED = 10_000  # columns where nobody looks: a file or another program wants all of the data


def out() -> Console:
    """stdout: as wide as the terminal, and unbounded where it is none."""
    return _console(is_error=False)


def err() -> Console:
    return _console(is_error=True)


@contextmanager
def progress_bar(task: str) -> Iterator[OnProgress]:
    """A bar on stderr while the work lasts, if somebody looks; yields what the work calls with its progress."""
    console = err()
    columns = (TextColumn("{task.description}"), BarColumn(bar_width=24), TextColumn("{task.fields[doing]}"))
    with Progress(
        *columns, TimeElapsedColumn(), console=console, transient=True, disable=not console.is_terminal
    ) as bars:
        bar = bars.add_task(task, total=1.0, doing="")
        yield lambda fraction, doing: bars.update(bar, completed=fraction, doing=doing)


def _console(*, is_error: bool) -> Console:
    stream = sys.stderr if is_error else sys.stdout
    if isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(errors="replace")  # not every terminal knows µ and ±
    width = None if stream.isatty() else _UNBOUNDED
    return Console(stderr=is_error, width=width, highlight=False, markup=False)
