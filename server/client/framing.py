"""Read messages as bytes, one after another, until the stream ends or breaks."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pygls.io_ import AsyncReader

# Far beyond any message; a length that is garbage must not make the server wait for it.
MAX_BODY_BYTES = 1 << 28
_LENGTH = re.compile(rb"content-length[ \t]*:[ \t]*([0-9]{1,12})[ \t]*\r?\n", re.IGNORECASE)


class BrokenStream(Exception):
    """The input is no message, and nothing says where the next one begins."""


async def bodies(reader: AsyncReader) -> AsyncIterator[bytes]:
    """Yield the bodies of messages.

    Raises BrokenStream for malformed headers, IncompleteReadError for half a message.
    """
    while (length := await _length(reader)) is not None:
        body = await reader.readexactly(length) if length else b""
        if len(body) < length:  # a file's end
            raise asyncio.IncompleteReadError(body, length)
        yield body


async def _length(reader: AsyncReader) -> int | None:
    """Return the length of the next body from its headers; None at the end of the stream."""
    length: int | None = None
    lines = 0
    while line := await _line(reader):
        if not line.strip():
            if length is not None:
                return length
            if lines:
                raise BrokenStream("a message without a Content-Length")
            continue  # some clients end a message with an empty line
        lines += 1
        found = _LENGTH.fullmatch(line)
        if found:
            length = int(found[1])
        elif b":" not in line or line[:15].lower().startswith(b"content-length"):
            raise BrokenStream(f"a line that is not a header: {line[:40]!r}")
        if length is not None and length > MAX_BODY_BYTES:
            raise BrokenStream(f"a message of {length} bytes")
    if lines:
        raise asyncio.IncompleteReadError(b"", None)
    return None


async def _line(reader: AsyncReader) -> bytes:
    try:
        return await reader.readline()
    except ValueError as error:  # how asyncio says that a line is longer than it keeps
        raise BrokenStream("a line without end where a header should be") from error
