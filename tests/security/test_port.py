"""The port: who listens on it, who is let in, and what the others find."""

from __future__ import annotations

import asyncio
import json
import os
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.client.auth import Refused, Token, TokenError, admit, take_token

SECRET = "a secret that nobody guesses"
WAIT_S = 60


class Served:
    """A `kernelcast serve --tcp` and what it says."""

    def __init__(self, process: asyncio.subprocess.Process, port: int) -> None:
        self.process = process
        self.port = port
        self.said: list[str] = []

    async def line_with(self, words: str) -> str:
        assert self.process.stderr
        while True:
            line = (await asyncio.wait_for(self.process.stderr.readline(), WAIT_S)).decode()
            assert line, f"it ended without saying {words!r}; it said {self.said}"
            self.said.append(line)
            if words in line:
                return line

    async def answer_to(self, message: bytes) -> bytes:
        """What comes back until the connection is closed, or the whole first answer."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        try:
            writer.write(message)
            header = await asyncio.wait_for(reader.readline(), WAIT_S)
            if not header.startswith(b"Content-Length: "):
                return header
            await reader.readline()
            while (await reader.readline()).strip():  # further headers
                pass
        except ConnectionError:
            return b""
        else:
            return b"an answer"
        finally:
            writer.close()


Serve = Callable[..., AbstractAsyncContextManager[Served]]


@pytest.fixture
def serve(kernelcast: str) -> Serve:
    @asynccontextmanager
    async def start(*arguments: str, **environment: str) -> AsyncIterator[Served]:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        process = await asyncio.create_subprocess_exec(
            kernelcast, "serve", "--tcp", str(port), *arguments,
            stderr=asyncio.subprocess.PIPE, env={**os.environ, **environment},
        )  # fmt: skip
        try:
            yield Served(process, port)
        finally:
            if process.returncode is None:
                process.kill()
            await process.wait()

    return start


def framed(message: Any) -> bytes:
    body = json.dumps(message).encode()
    return b"Content-Length: %d\r\n\r\n%s" % (len(body), body)


def initialize(options: Any) -> bytes:
    params = {"processId": None, "rootUri": None, "capabilities": {}, "initializationOptions": options}
    return framed({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params})


OPEN = framed({"jsonrpc": "2.0", "method": "textDocument/didOpen", "params": {"initializationOptions": SECRET}})
POST = b"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 2\r\n\r\n{}"
STRANGERS = {
    "no token": (initialize(None), "no `token`"),
    "an empty token": (initialize({"token": ""}), "not the right one"),
    "a wrong token": (initialize({"token": SECRET[:-1] + "!"}), "not the right one"),
    "a token that is no text": (initialize({"token": [SECRET]}), "not the right one"),
    "a token that is half a character": (initialize({"token": "\ud800"}), "not the right one"),
    "another message first": (OPEN, "not `initialize`"),
    "a web page": (POST, "not the language server protocol"),
    "a line without end": (b"x" * 300_000, "not the language server protocol"),
    "a message without end": (b"Content-Length: 999999999\r\n\r\n{", "too long"),
    "a deep message": (b"Content-Length: 200000\r\n\r\n" + b"[" * 200_000, "not JSON"),
}


@pytest.mark.e2e
@pytest.mark.asyncio
async def test_strangers_are_sent_away_and_the_right_client_is_still_let_in(serve: Serve) -> None:
    async with serve(KERNELCAST_TOKEN=SECRET) as served:
        assert "127.0.0.1" in await served.line_with("listening")
        for who, (sent, why) in STRANGERS.items():
            assert await served.answer_to(sent) == b"", who
            assert why in await served.line_with("connection was refused"), who
        assert await served.answer_to(initialize({"token": SECRET})) == b"an answer"
        assert not any(SECRET in line for line in served.said)


@pytest.mark.e2e
@pytest.mark.asyncio
async def test_a_crowd_that_says_nothing_keeps_nobody_out(serve: Serve) -> None:
    async with serve(KERNELCAST_TOKEN=SECRET) as served:
        await served.line_with("listening")
        crowd = [await asyncio.open_connection("127.0.0.1", served.port) for _ in range(40)]
        await served.line_with("other clients connected before")
        assert await served.answer_to(initialize({"token": SECRET})) == b"an answer"
        for _, writer in crowd:
            writer.close()


@pytest.mark.e2e
@pytest.mark.asyncio
async def test_a_token_that_nobody_gave_is_made_up_and_told_once(serve: Serve) -> None:
    async with serve() as first, serve() as second:
        lines = [await served.line_with("listening") for served in (first, second)]
        tokens = [json.loads(line[line.index("{") :])["token"] for line in lines]
        assert len(set(tokens)) == 2
        assert all(len(token) >= 40 for token in tokens)
        assert await first.answer_to(initialize({"token": tokens[1]})) == b""
        assert await first.answer_to(initialize({"token": tokens[0]})) == b"an answer"


@pytest.mark.e2e
@pytest.mark.asyncio
async def test_nobody_listens_anywhere_but_on_the_loopback_interface(serve: Serve) -> None:
    async with serve(KERNELCAST_TOKEN=SECRET) as served:
        await served.line_with("listening")
        sockets = [s for s in psutil.Process(served.process.pid).net_connections() if s.status == "LISTEN"]
        assert [(s.laddr.ip, s.laddr.port) for s in sockets] == [("127.0.0.1", served.port)]


@pytest.mark.e2e
@pytest.mark.asyncio
async def test_a_second_editor_finds_a_closed_door(serve: Serve) -> None:
    async with serve(KERNELCAST_TOKEN=SECRET) as served:
        await served.line_with("listening")
        reader, writer = await asyncio.open_connection("127.0.0.1", served.port)
        writer.write(initialize({"token": SECRET}))
        assert await asyncio.wait_for(reader.readline(), WAIT_S)
        with pytest.raises(ConnectionError):
            await asyncio.open_connection("127.0.0.1", served.port)
        writer.close()
        assert await asyncio.wait_for(served.process.wait(), WAIT_S) == 0


@pytest.mark.e2e
@pytest.mark.asyncio
async def test_a_port_that_is_taken_is_named(serve: Serve) -> None:
    async with serve(KERNELCAST_TOKEN=SECRET) as served:
        await served.line_with("listening")
        other = await asyncio.create_subprocess_exec(
            *psutil.Process(served.process.pid).cmdline(), stderr=asyncio.subprocess.PIPE
        )
        _, said = await asyncio.wait_for(other.communicate(), WAIT_S)
        assert other.returncode == 1
        assert f"port {served.port} cannot be listened on" in said.decode()
        assert "Traceback" not in said.decode()


def test_a_token_leaves_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KERNELCAST_TOKEN", SECRET)
    assert take_token().is_said_by(SECRET)
    assert "KERNELCAST_TOKEN" not in os.environ
    assert SECRET not in repr(take_token())


def test_a_weak_token_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KERNELCAST_TOKEN", "1234")
    with pytest.raises(TokenError, match="fewer than 16"):
        take_token()


def test_a_token_in_a_file_is_for_its_owner_alone(tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text(f"{SECRET}\n")
    file.chmod(0o644)
    with pytest.raises(TokenError, match="chmod 600"):
        take_token(file)
    file.chmod(0o600)
    assert take_token(file).is_said_by(SECRET)
    for other in (tmp_path / "nothing", tmp_path):
        with pytest.raises(TokenError):
            take_token(other)


@pytest.mark.asyncio
async def test_one_that_says_nothing_is_not_waited_for() -> None:
    with pytest.raises(Refused, match="in time"):
        await admit(asyncio.StreamReader(), Token(SECRET), limit_s=0.01)


@given(st.binary(max_size=300) | st.binary(max_size=100).map(lambda junk: b"Content-Length: 90\r\n" + junk))
def test_whatever_is_sent_without_the_token_is_refused_by_name(sent: bytes) -> None:
    async def knock() -> None:
        reader = asyncio.StreamReader()
        reader.feed_data(sent)
        reader.feed_eof()
        await admit(reader, Token(SECRET))

    with pytest.raises(Refused):
        asyncio.run(knock())


@given(st.integers(0, 200))
def test_what_follows_the_first_message_is_read_as_it_was_sent(length: int) -> None:
    async def talk() -> tuple[bytes, bytes, bytes]:
        reader = asyncio.StreamReader()
        reader.feed_data(initialize({"token": SECRET, "trusted": False}) + b"next\n" + b"x" * length)
        reader.feed_eof()
        admitted = await admit(reader, Token(SECRET))
        header = await admitted.readline()
        assert await admitted.readline() == b"\r\n"
        first = await admitted.readexactly(int(header.split()[1]))
        return first, await admitted.readline(), await admitted.readexactly(length)

    first, line, rest = asyncio.run(talk())
    assert json.loads(first)["params"]["initializationOptions"] == {"trusted": False}  # and no token
    assert (line, rest) == (b"next\n", b"x" * length)
