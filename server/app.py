"""The server process: a conversation over stdio or a loopback socket, and a clean end to it."""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, BinaryIO

from pygls.io_ import StdinAsyncReader, StdoutWriter

from server import gc_policy
from server.client.auth import Token
from server.client.framing import BrokenStream, bodies
from server.client.port import serve_port
from server.client.streams import is_pipe
from server.early_initialize import EarlyInitialize
from server.handlers import create_server
from server.session import KernelcastServer

if TYPE_CHECKING:
    from pygls.io_ import AsyncReader

logger = logging.getLogger("kernelcast")

# Python hands over between threads every 5 ms; a message crosses several of those while an analysis is under way.
_SWITCH_S = 0.0005


def run_stdio(stdin: BinaryIO, stdout: BinaryIO, early: EarlyInitialize) -> int:
    """Serve the editor that was greeted, over our own copies of stdin and stdout; returns the exit status."""
    return _run(_over_stdio(stdin, stdout, early))


def run_tcp(port: int, token: Token) -> int:
    """Serve one editor that connects to this port, from this machine only, and knows the token; the exit status."""
    return _run(serve_port(port, token, _talk))


def _run(conversation: Coroutine[object, object, None]) -> int:
    sys.setswitchinterval(_SWITCH_S)
    gc_policy.postpone_full_collections()
    try:
        asyncio.run(conversation)
    except SystemExit as leaving:  # how pygls answers `exit`: 0 after `shutdown`, else 1
        return leaving.code if isinstance(leaving.code, int) else 1
    except KeyboardInterrupt:
        return 130
    finally:
        gc_policy.freeze_all()
    return 0


async def _over_stdio(stdin: BinaryIO, stdout: BinaryIO, early: EarlyInitialize) -> None:
    server = create_server()
    server.protocol.answered = early.answered
    server.seen_editor = early.editor
    loop = asyncio.get_running_loop()
    reader: AsyncReader
    if sys.platform != "win32" and is_pipe(stdin) and is_pipe(stdout):
        # Without threads: pygls' own reader shares a pool with its handlers, and a full pool stops all input.
        stream = asyncio.StreamReader()
        stream.feed_data(early.said)
        await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(stream), stdin)
        writer, _ = await loop.connect_write_pipe(asyncio.BaseProtocol, stdout)
        server.protocol.set_writer(writer)
        reader = stream
    else:
        reader = StdinAsyncReader(stdin, ThreadPoolExecutor(1, "stdin"))
        server.protocol.set_writer(StdoutWriter(stdout))
    await _converse(server, reader)


async def _talk(reader: AsyncReader, writer: asyncio.StreamWriter) -> None:
    server = create_server()
    server.protocol.set_writer(writer)
    await _converse(server, reader)


async def _take_in(server: KernelcastServer, reader: AsyncReader) -> None:
    async for body in bodies(reader):
        try:
            server.protocol.receive(body)
        except Exception:  # a fault of ours costs one message, not the conversation
            logger.exception("a message could not be handled")


async def _converse(server: KernelcastServer, reader: AsyncReader) -> None:
    """Serve until `exit`, the end of the input, or the end of the editor's process."""
    talking = asyncio.ensure_future(_take_in(server, reader))
    leaving = asyncio.ensure_future(server.leaving.wait())
    try:
        await asyncio.wait({talking, leaving}, return_when=asyncio.FIRST_COMPLETED)
        if talking.done():
            talking.result()
    except asyncio.IncompleteReadError:
        logger.warning("the editor left in the middle of a message")
    except BrokenStream as error:
        logger.warning("what comes in is not the language server protocol: %s", error)
    finally:
        talking.cancel()
        leaving.cancel()
        server.close()
