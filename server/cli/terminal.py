"""Consoles for people: text and tables on stdout, progress and complaints on stderr, and Ctrl-C while they watch."""

from __future__ import annotations

import io
import re
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TextIO, cast

from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

OnProgress = Callable[[float, str], None]

_UNBOUNDED = 10_000  # columns where nobody looks: a file or another program wants all of the data


def out() -> Console:
    """Return the console of stdout: as wide as the terminal, unbounded if it is none."""
    return _console(is_error=False)


def err() -> Console:
    return _console(is_error=True)


@contextmanager
def progress_bar(task: str) -> Iterator[OnProgress]:
    """Show a progress bar on stderr while the work lasts, on a terminal; yield the callback for its progress."""
    console = err()
    if not console.is_terminal:
        yield lambda *_: None  # some versions of rich end even a bar that is switched off with a line feed
        return
    columns = (TextColumn("{task.description}"), BarColumn(bar_width=24), TextColumn("{task.fields[doing]}"))
    with Progress(*columns, TimeElapsedColumn(), console=console, transient=True) as bars:
        bar = bars.add_task(task, total=1.0, doing="")
        yield lambda fraction, doing: bars.update(bar, completed=fraction, doing=doing)


def hung(rows: Iterable[tuple[RenderableType, RenderableType]], indent: int = 2) -> Padding:
    """Return each text behind its head, and what does not fit into its line below itself."""
    grid = Table.grid()
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    for head, text in rows:
        grid.add_row(head, text)
    return Padding(grid, (0, 0, 0, indent), expand=False)


def listed(texts: Iterable[Text | str], style: str = "") -> Padding:
    """Return a list of sentences."""
    return hung((Text("- ", style), Text.assemble(text, style=style)) for text in texts)


class _Console(Console):
    def on_broken_pipe(self) -> None:
        """Ignore it: rich would leave with the status of an error, but it is none (see `server.cli.entry`)."""
        raise BrokenPipeError


class _WithoutPadding:
    """A stream for files and other programs: rich fills the lines of tables up with blanks."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self.encoding = stream.encoding

    def write(self, text: str) -> int:
        return self._stream.write(re.sub(r" +(?=\n|$)", "", text))

    def flush(self) -> None:
        self._stream.flush()


def _console(*, is_error: bool) -> Console:
    stream = sys.stderr if is_error else sys.stdout
    if isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(errors="replace")  # not every terminal knows µ and ±
    if stream.isatty():
        return _Console(stderr=is_error, highlight=False, markup=False, emoji=False)
    trimmed = cast(TextIO, _WithoutPadding(stream))
    return _Console(file=trimmed, width=_UNBOUNDED, highlight=False, markup=False, emoji=False)


@contextmanager
def cancelled_by_ctrl_c() -> Iterator[threading.Event]:
    """Have Ctrl-C set this event instead of raising `KeyboardInterrupt`; pressed again it raises."""
    pressed = threading.Event()

    def press(_number: int, _frame: FrameType | None) -> None:
        if pressed.is_set():
            raise KeyboardInterrupt
        pressed.set()

    before = signal.getsignal(signal.SIGINT)
    if before is not signal.default_int_handler:  # whoever has another one, or ignores it, has a reason
        yield pressed
        return
    signal.signal(signal.SIGINT, press)
    try:
        yield pressed
    finally:
        signal.signal(signal.SIGINT, before)
