"""A port of the loopback interface on which one editor is waited for: the first that knows the token."""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from model.errors import KernelcastError
from server.client.auth import Refused, Token, admit

if TYPE_CHECKING:
    from pygls.io_ import AsyncReader

logger = logging.getLogger("kernelcast")

LOOPBACK = "127.0.0.1"
_MOST_AT_THE_DOOR = 16  # connections whose first message is not read yet
_LONGEST_LINE_BYTES = 64 * 1024

Talk = Callable[["AsyncReader", asyncio.StreamWriter], Awaitable[None]]


class PortError(KernelcastError):
    """The port cannot be had."""

    code = "port"


async def serve_port(port: int, token: Token, talk: Talk) -> None:
    """Serve the client that was let in until it leaves; others are sent away meanwhile.

    Raises `PortError`.
    """
    finished: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    at_the_door: dict[asyncio.StreamWriter, None] = {}  # the one that has waited longest first

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if len(at_the_door) >= _MOST_AT_THE_DOOR:
            # Not this one: whoever says nothing could otherwise keep out the one that is waited for.
            longest = next(iter(at_the_door))
            del at_the_door[longest]
            longest.close()
        at_the_door[writer] = None
        try:
            conversation = await admit(reader, token)
        except Refused as refused:
            why = (
                refused
                if writer in at_the_door
                else f"{_MOST_AT_THE_DOOR} other clients connected before it sent its first message"
            )
            logger.warning("a connection was refused: %s", why)
            writer.close()
            return
        finally:
            at_the_door.pop(writer, None)
        if not listener.is_serving():  # another one was faster
            writer.close()
            return
        listener.close()  # one editor, one server
        for other in at_the_door:
            other.close()
        try:
            await talk(conversation, writer)
        finally:
            writer.close()
            if not finished.done():
                finished.set_result(None)

    try:
        listener = await asyncio.start_server(connected, LOOPBACK, port, limit=_LONGEST_LINE_BYTES)
    except OSError as error:
        raise PortError(f"port {port} cannot be listened on: {error.strerror or error}; choose another") from None
    _announce(listener.sockets[0].getsockname()[1], token)
    await finished


def _announce(port: int, token: Token) -> None:
    """Print the port and a generated token once to stderr, not to the log, which may be kept."""
    where = f"listening on {LOOPBACK}:{port}"
    if token.is_made_up:
        secret = token.secret
        print(f'{where} for a client with initializationOptions {{"token": "{secret}"}}', file=sys.stderr, flush=True)
    else:
        print(f"{where} for a client that knows the token", file=sys.stderr, flush=True)
