"""The server process: a conversation over stdio or a loopback socket, and a clean end to it."""

from __future__ import annotations

import asyncio
import logging
import sys
import threading
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, BinaryIO

from pygls.io_ import StdinAsyncReader, StdoutWriter, run_async

from server import garbage
from server.client.streams import is_pipe
from server.greeting import Greeting
from server.handlers import create_server
from server.session import KernelcastServer

if TYPE_CHECKING:
    from pygls.io_ import AsyncReader

logger = logging.getLogger("kernelcast")

# Python hands over between threads every 5 ms; a message crosses several of those while an analysis is under way.
_SWITCH_S = 0.0005
_LOOPBACK = "127.0.0.1"


def run_stdio(stdin: BinaryIO, stdout: BinaryIO, greeting: Greeting) -> int:
    """Serve the editor that was greeted, over our own copies of stdin and stdout; returns the exit status."""
    return _run(_over_stdio(stdin, stdout, greeting))


def run_tcp(port: int) -> int:
    """Serve one editor that connects to this port, from this machine only; returns the exit status."""
    return _run(_over_tcp(port))


def _run(conversation: Coroutine[object, object, None]) -> int:
    logging.basicConfig(level=logging.WARNING, stream=sys.stderr, format="%(levelname)s %(name)s: %(message)s")
    sys.setswitchinterval(_SWITCH_S)
    garbage.put_off()
    try:
        asyncio.run(conversation)
    except SystemExit as leaving:  # how pygls answers `exit`: 0 after `shutdown`, else 1
        return leaving.code if isinstance(leaving.code, int) else 1
    except KeyboardInterrupt:
        return 130
    finally:
        garbage.leave_all()
    return 0


async def _over_stdio(stdin: BinaryIO, stdout: BinaryIO, greeting: Greeting) -> None:
    server = create_server()
    server.protocol.answered = greeting.answered
    server.seen_editor = greeting.editor
    loop = asyncio.get_running_loop()
    reader: AsyncReader
    if sys.platform != "win32" and is_pipe(stdin) and is_pipe(stdout):
        # Without threads: pygls' own reader shares a pool with its handlers, and a full pool stops all input.
        stream = asyncio.StreamReader()
        stream.feed_data(greeting.said)
        await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(stream), stdin)
        writer, _ = await loop.connect_write_pipe(asyncio.BaseProtocol, stdout)
        server.protocol.set_writer(writer)
        reader = stream
    else:
        reader = StdinAsyncReader(stdin, ThreadPoolExecutor(1, "stdin"))
        server.protocol.set_writer(StdoutWriter(stdout))
    await _converse(server, reader)


async def _over_tcp(port: int) -> None:
    finished: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        listener.close()  # one editor, one server
        server = create_server()
        server.protocol.set_writer(writer)
        try:
            await _converse(server, reader)
        finally:
            writer.close()
            if not finished.done():
                finished.set_result(None)

    listener = await asyncio.start_server(connected, _LOOPBACK, port)
    logger.warning("listening on %s:%d", *listener.sockets[0].getsockname()[:2])
    await finished


async def _converse(server: KernelcastServer, reader: AsyncReader) -> None:
    """Until `exit`, the end of the input, or the end of the editor's process."""
    talking = asyncio.ensure_future(
        run_async(threading.Event(), reader, server.protocol, logger, server.report_server_error)
    )
    leaving = asyncio.ensure_future(server.leaving.wait())
    try:
        await asyncio.wait({talking, leaving}, return_when=asyncio.FIRST_COMPLETED)
        if talking.done():
            talking.result()
    except asyncio.IncompleteReadError:
        logger.warning("the editor left in the middle of a message")
    except ValueError as error:  # a line without end where a header should be
        logger.warning("what comes in is not the language server protocol: %s", error)
    finally:
        talking.cancel()
        leaving.cancel()
        server.close()
