"""Takes samples of buffers from a recorded program and turns each into a word; nothing of them is kept or written."""

from __future__ import annotations

import contextlib
import json
import signal
import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from model.opencl.kernel import Parameter
from model.opencl.program import Program, read_program
from model.opencl.types import PointerType, Type
from profiler.recording.naming import absolute_options
from profiler.recording.raw_log import RawProcess, RawProgram
from profiler.recording.reader import LogTail

MAX_HEAD_BYTES = 1 << 16
MAX_SAMPLE_BYTES = 17 << 20
_PATIENCE_S = 10.0  # with one sender
_CHUNK_BYTES = 1 << 20
_LENGTH = struct.Struct("<I")


@dataclass(slots=True)
class Fills:
    """Words by the log of a process, launch and argument; `part` is a member of the buffer's elements, or ""."""

    words: dict[tuple[str, int, int], tuple[tuple[str, str], ...]] = field(default_factory=dict)

    def added_to(self, process: RawProcess) -> RawProcess:
        """Return the process with what its buffers held."""
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
def listening(folder: Path, path: Path) -> Iterator[Fills]:
    """Listen at `path` for samples of processes whose logs lie in `folder`."""
    listener = _Listener(folder)
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as server:
        server.bind(str(path))
        server.listen(64)
        before = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())  # the main thread waits for them
        thread = threading.Thread(target=listener.serve, args=(server,), daemon=True)
        thread.start()
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        try:
            yield listener.fills
        finally:
            with contextlib.suppress(OSError):
                server.shutdown(socket.SHUT_RDWR)
            thread.join(_PATIENCE_S)


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
            with connection, contextlib.suppress(OSError, ValueError, KeyError, TypeError):
                connection.settimeout(_PATIENCE_S)
                self._take(connection)

    def _take(self, connection: socket.socket) -> None:
        (length,) = _LENGTH.unpack(_exactly(connection, _LENGTH.size))
        if length > MAX_HEAD_BYTES:
            raise ValueError(f"a head of {length} bytes")
        head = json.loads(_exactly(connection, length))
        data = _rest(connection)
        log, launch, argument = f"{int(head['pid'])}-{int(head['n'])}", int(head["launch"]), int(head["arg"])
        element = self._element(log, launch, argument)
        if element is not None and data:
            from profiler.recording.contents import describe  # noqa: PLC0415 - needs NumPy

            self.fills.words[log, launch, argument] = tuple(describe(bytes(data), element).items())

    def _element(self, log: str, launch: int, argument: int) -> Type | None:
        """Return what the buffer is of, as the program's source says."""
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


def _exactly(connection: socket.socket, count: int) -> bytes:
    found = b""
    while len(found) < count:
        part = connection.recv(count - len(found))
        if not part:
            raise ValueError("the sender left")
        found += part
    return found


def _rest(connection: socket.socket) -> bytearray:
    data = bytearray()
    while part := connection.recv(_CHUNK_BYTES):
        data += part
        if len(data) > MAX_SAMPLE_BYTES:
            raise ValueError("more than was agreed on")
    return data
