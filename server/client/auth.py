"""Who comes over the port is let in by the token in the first message, before anything else of theirs is read.

The token stands in `initializationOptions.token` of `initialize`: the one thing that every editor that can connect to
a port lets its user set (a line or a header before the protocol is more than Neovim, Emacs or Sublime Text can send).

The loopback interface is open to every user and every web page of this machine, so the port alone proves nothing.
"""

from __future__ import annotations

import asyncio
import hmac
import json
import os
import re
import secrets
import stat
import sys
from dataclasses import dataclass
from pathlib import Path

from model.errors import KernelcastError

TOKEN_VARIABLE = "KERNELCAST_TOKEN"
LEAST_CHARACTERS = 16
_MOST_BYTES = 4096


class TokenError(KernelcastError):
    """A token that cannot be had or is too weak; the message says what to do."""

    code = "token"


@dataclass(frozen=True, slots=True)
class Token:
    """`is_made_up`: nobody gave one, so whoever starts the server must be told. Never part of a text by accident."""

    secret: str
    is_made_up: bool = False

    def __repr__(self) -> str:
        return "Token(...)"

    def is_said_by(self, told: object) -> bool:
        """Return whether `told` is the token, in a time that does not depend on how much of it is right."""
        return isinstance(told, str) and hmac.compare_digest(
            told.encode("utf-8", "surrogatepass"), self.secret.encode("utf-8", "surrogatepass")
        )


def take_token(file: Path | None = None) -> Token:
    """Take the token from the file, else out of the environment, where no child may see it, else make one.

    Raises `TokenError`.
    """
    said = os.environ.pop(TOKEN_VARIABLE, "")
    if file is not None:
        return _strong(_read(file), str(file))
    return _strong(said, TOKEN_VARIABLE) if said else Token(secrets.token_urlsafe(32), is_made_up=True)


def _strong(text: str, source: str) -> Token:
    secret = text.strip()
    if len(secret) < LEAST_CHARACTERS:
        raise TokenError(
            f"the token in {source} has fewer than {LEAST_CHARACTERS} characters; "
            "`python3 -c 'import secrets; print(secrets.token_urlsafe())'` makes a good one"
        )
    return Token(secret)


def _read(file: Path) -> str:
    try:
        with file.open("rb") as opened:
            mode = os.fstat(opened.fileno()).st_mode
            if not stat.S_ISREG(mode):
                raise TokenError(f"{file} is not a regular file")
            if sys.platform != "win32" and mode & (stat.S_IRWXG | stat.S_IRWXO):
                raise TokenError(f"others may use the token in {file}; make it your own: chmod 600 {file}")
            return opened.read(_MOST_BYTES).decode("utf-8")
    except UnicodeDecodeError:
        raise TokenError(f"{file} holds no text") from None
    except OSError as error:
        raise TokenError(f"the token in {file} cannot be read: {error.strerror}") from None


FIRST_MESSAGE_S = 10.0
_MOST_HEADERS = 8
_MOST_BODY_BYTES = 4 << 20
# Nothing else: a web page can send `POST / HTTP/1.1` with a body of its choice, which a lenient reader would take.
_HEADER = re.compile(rb"(?i)content-(?:(?P<is_length>length)|type): *(?P<value>[^\r\n]{1,200})\r?\n")


class Refused(Exception):
    """A connection was refused; the message says why, and quotes nothing of what was sent."""


@dataclass(slots=True)
class Replayed:
    """A stream whose first bytes have been looked at already."""

    first: bytes
    rest: asyncio.StreamReader

    async def readline(self) -> bytes:
        if not self.first:
            return await self.rest.readline()
        line, end, self.first = self.first.partition(b"\n")
        return line + end

    async def readexactly(self, n: int) -> bytes:
        taken, self.first = self.first[:n], self.first[n:]
        return taken + (await self.rest.readexactly(n - len(taken)) if len(taken) < n else b"")


async def admit(reader: asyncio.StreamReader, token: Token, limit_s: float = FIRST_MESSAGE_S) -> Replayed:
    """Return the conversation from its first message on, without the token. Raises `Refused`."""
    try:
        async with asyncio.timeout(limit_s):
            body = await _first_body(reader)
    except TimeoutError:
        raise Refused("it sent no whole message in time") from None
    except (asyncio.IncompleteReadError, ConnectionError):
        raise Refused("it disconnected in the middle of its first message") from None
    except ValueError:  # a line without end
        raise Refused("what it sent is not the language server protocol") from None
    cleared = _cleared(body, token)
    return Replayed(b"Content-Length: %d\r\n\r\n%s" % (len(cleared), cleared), reader)


async def _first_body(reader: asyncio.StreamReader) -> bytes:
    length = -1
    for _ in range(_MOST_HEADERS):
        line = await reader.readline()
        if length >= 0 and line in (b"\r\n", b"\n"):
            return await reader.readexactly(length)
        header = _HEADER.fullmatch(line)
        if header is None:
            break
        if header["is_length"]:
            length = _length(header["value"])
    raise Refused("what it sent is not the language server protocol")


def _length(value: bytes) -> int:
    if not re.fullmatch(rb"[0-9]{1,9}", value) or int(value) > _MOST_BODY_BYTES:
        raise Refused("its first message is too long")
    return int(value)


def _cleared(body: bytes, token: Token) -> bytes:
    try:
        message = json.loads(body)
    except (ValueError, RecursionError):
        raise Refused("its first message is not JSON") from None
    if not isinstance(message, dict) or message.get("method") != "initialize":
        raise Refused("its first message is not `initialize`")
    params = message.get("params")
    options = params.get("initializationOptions") if isinstance(params, dict) else None
    told = options.pop("token", None) if isinstance(options, dict) else None
    if told is None:
        raise Refused("its `initializationOptions` have no `token`")
    if not token.is_said_by(told):
        raise Refused("the token in its `initializationOptions` is not the right one")
    return json.dumps(message).encode()
