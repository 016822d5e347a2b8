"""Receive samples of buffers from a recorded program and describe each by a fill word; the data are not kept."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import struct
import tempfile
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import BinaryIO

from model.errors import KernelcastError
from model.opencl.kernel import Parameter
from model.opencl.program import Program, read_program
from model.opencl.types import PointerType, Type
from profiler.recording.naming import absolute_options
from profiler.recording.raw_log import RawProcess, RawProgram
from profiler.recording.reader import LogTail

MAX_HEAD_BYTES = 1 << 16
MAX_SAMPLE_BYTES = 17 << 20
_PATIENCE_S = 10.0  # with one sender
_MAX_ADDRESS_BYTES = 107  # of a Unix socket, without the zero at its end
_LENGTH = struct.Struct("<I")


class CannotListen(KernelcastError):
    """No socket can be created for the contents of buffers."""

    code = "contents"


@dataclass(slots=True)
class Fills:
    """Fill words of launches' arguments, each with the member of the buffer's elements that it describes, or ""."""

    # by the log's name, launch and argument
    words: dict[tuple[str, int, int], tuple[tuple[str, str], ...]] = field(default_factory=dict)

    def added_to(self, process: RawProcess) -> RawProcess:
        """Return the process with the fill words of its launches."""
        launches = []
        for launch in process.launches:
            found = [
                (argument, part, word)
                for (log, number, argument), parts in self.words.items()
                if (log, number) == (process.log, launch.number)
                for part, word in parts
            ]
            launches.append(replace(launch, fills=(*launch.fills, *found)))
        return replace(process, launches=tuple(launches))


@contextmanager
def listening(folder: Path) -> Iterator[tuple[Fills, Path]]:
    """Receive samples of the processes whose logs are in `folder`; yield their fill words and the socket's path.

    Raises CannotListen.
    """
    listener = _Listener(folder)
    with ExitStack() as stack:
        path = _address(folder, stack)
        server = stack.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM))
        try:
            server.bind(str(path))
        except OSError as error:
            raise CannotListen(f"contents of buffers cannot be received: {error.strerror or error}: {path}") from None
        server.listen(64)
        before = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())  # the main thread waits for signals
        thread = threading.Thread(target=listener.serve, args=(server,), daemon=True)
        thread.start()
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        try:
            yield listener.fills, path
        finally:
            with contextlib.suppress(OSError):
                server.shutdown(socket.SHUT_RDWR)
            thread.join(_PATIENCE_S)


def _address(folder: Path, stack: ExitStack) -> Path:
    """Return a path for the socket in `folder`, or in a folder of its own where that would be too long."""
    path = folder / "contents"
    if len(os.fsencode(path)) > _MAX_ADDRESS_BYTES:
        short = tempfile.TemporaryDirectory(prefix="kernelcast-", dir="/tmp", ignore_cleanup_errors=True)
        path = Path(stack.enter_context(short)) / "contents"
    return path


class _Listener:
    """Serves one sender after the other."""

    def __init__(self, folder: Path) -> None:
        self.fills = Fills()
        self._folder = folder
        self._tails: dict[str, LogTail] = {}
        self._programs: dict[tuple[RawProgram, str], Program | None] = {}

    def serve(self, server: socket.socket) -> None:
        while True:
            try:
                connection, _ = server.accept()
            except OSError:  # it was shut down
                return
            connection.settimeout(_PATIENCE_S)
            unusable = (OSError, ValueError, KeyError, TypeError, struct.error)
            with connection, connection.makefile("rb") as stream, contextlib.suppress(*unusable):
                self._take(stream)

    def _take(self, stream: BinaryIO) -> None:
        (length,) = _LENGTH.unpack(stream.read(_LENGTH.size))
        if length > MAX_HEAD_BYTES:
            raise ValueError(f"a head of {length} bytes")
        head = json.loads(stream.read(length))
        data = stream.read(MAX_SAMPLE_BYTES)
        if len(data) != head["bytes"]:
            raise ValueError(f"{len(data)} bytes came of {head['bytes']}")  # the program ended meanwhile
        log, launch, argument = f"{int(head['pid'])}-{int(head['n'])}", int(head["launch"]), int(head["arg"])
        element = self._element(log, launch, argument)
        if element is not None and data:
            from profiler.recording.contents import describe  # noqa: PLC0415 - needs NumPy

            self.fills.words[log, launch, argument] = tuple(describe(data, element).items())

    def _element(self, log: str, launch: int, argument: int) -> Type | None:
        """Return the type of the buffer's elements, as declared in the program's source."""
        tail = self._tails.setdefault(log, LogTail(self._folder / f"{log}.jsonl"))
        found = tail.program_of(launch)
        if found is None:
            return None
        program, kernel = found
        for part in (program, *program.linked):
            read = self._read(part, tail.cwd)
            known = read.by_name.get(kernel) if read is not None else None
            if known is not None and argument < len(known.parameters):
                return _pointee(known.parameters[argument])
        return None

    def _read(self, program: RawProgram, cwd: str) -> Program | None:
        key = (program, cwd)
        if key not in self._programs:
            text = program.text
            options = absolute_options(program.options, cwd)
            self._programs[key] = None if text is None else read_program(text.decode("utf-8", "replace"), None, options)
        return self._programs[key]


def _pointee(parameter: Parameter) -> Type | None:
    return parameter.type.pointee if isinstance(parameter.type, PointerType) else None
