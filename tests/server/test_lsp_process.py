"""The server as a process: its streams, its port, and the ways in which it ends."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import subprocess
import sys
from typing import Any

import pytest
from pygls.protocol import default_converter
from pytest_lsp import LanguageClient

from server.analysis.devices import pick_device
from server.client.parent import parent_gone

TOKEN = {"KERNELCAST_TOKEN": "known to this client alone"}
STRAY = """
import os, sys
from server.client.streams import claim_streams
stdin, stdout = claim_streams()
print("a chatty library", flush=True)
os.write(1, b"a chatty driver\\n")
os.system("echo a chatty child")
stdout.write(stdin.read())
stdout.flush()
assert sys.stdin.read() == ""
"""


def test_whatever_is_printed_never_reaches_the_protocol() -> None:
    ended = subprocess.run(
        [sys.executable, "-c", STRAY], input=b"protocol", capture_output=True, check=True, timeout=60
    )
    assert ended.stdout == b"protocol"
    assert ended.stderr.split(b"\n")[:3] == [b"a chatty library", b"a chatty driver", b"a chatty child"]


@pytest.mark.e2e
@pytest.mark.parametrize(
    "sent",
    [b"", b"no protocol at all\n" * 9, b"Content-Length: 99\r\n\r\n{", b"x" * 200_000],
    ids=["nothing", "no protocol", "half a message", "a line without end"],
)
def test_input_that_is_no_conversation_ends_the_server_without_a_traceback(kernelcast: str, sent: bytes) -> None:
    ended = subprocess.run([kernelcast, "serve"], input=sent, capture_output=True, check=False, timeout=60)
    assert ended.stdout == b""
    assert b"Traceback" not in ended.stderr


@pytest.mark.e2e
def test_a_conversation_can_come_from_a_file(kernelcast: str, tmp_path: Any) -> None:
    messages = [
        {"id": 1, "method": "initialize", "params": {"processId": None, "rootUri": None, "capabilities": {}}},
        {"id": 2, "method": "shutdown"},
        {"id": 3, "method": "textDocument/hover", "params": None},
        {"method": "exit"},
    ]
    bodies = [json.dumps({"jsonrpc": "2.0", **message}).encode() for message in messages]
    (tmp_path / "in").write_bytes(b"".join(b"Content-Length: %d\r\n\r\n%s" % (len(b), b) for b in bodies))
    with (tmp_path / "in").open("rb") as read, (tmp_path / "out").open("wb") as written:
        ended = subprocess.run([kernelcast, "serve"], stdin=read, stdout=written, check=False, timeout=60)
    said = (tmp_path / "out").read_bytes()
    assert ended.returncode == 0
    assert b'"positionEncoding": "utf-16"' in said
    assert b'"id": 2' in said


@pytest.mark.e2e
@pytest.mark.asyncio
async def test_an_editor_can_come_over_a_port_of_the_loopback_interface(kernelcast: str) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    server = await asyncio.create_subprocess_exec(
        kernelcast, "serve", "--tcp", str(port), stderr=asyncio.subprocess.PIPE, env={**os.environ, **TOKEN}
    )
    assert server.stderr
    assert b"listening on 127.0.0.1" in await asyncio.wait_for(server.stderr.readline(), 60)
    client = LanguageClient(converter_factory=default_converter)
    await client.start_tcp("127.0.0.1", port)
    from lsprotocol import types

    options = {"token": TOKEN["KERNELCAST_TOKEN"]}
    params = types.InitializeParams(capabilities=types.ClientCapabilities(), initialization_options=options)
    answer = await asyncio.wait_for(client.initialize_session(params), 60)
    assert answer.capabilities.inlay_hint_provider
    await asyncio.wait_for(client.shutdown_async(None), 60)
    client.exit(None)
    assert await asyncio.wait_for(server.wait(), 60) == 0


@pytest.mark.asyncio
async def test_the_end_of_the_editors_process_is_noticed() -> None:
    editor = await asyncio.create_subprocess_exec(sys.executable, "-c", "input()", stdin=asyncio.subprocess.PIPE)
    watching = asyncio.ensure_future(parent_gone(editor.pid))
    done, _ = await asyncio.wait({watching}, timeout=0.05)
    assert not done
    editor.kill()
    await editor.wait()
    await asyncio.wait_for(watching, 60)


@pytest.mark.asyncio
async def test_an_editor_that_cannot_be_seen_from_here_is_not_taken_for_dead() -> None:
    gone = await asyncio.create_subprocess_exec(sys.executable, "-c", "")
    await gone.wait()
    watching = asyncio.ensure_future(parent_gone(gone.pid))
    done, _ = await asyncio.wait({watching}, timeout=0.05)
    assert not done
    watching.cancel()


@pytest.mark.asyncio
async def test_an_editor_that_was_there_before_the_server_was_loaded_is_gone_when_it_is_gone() -> None:
    gone = await asyncio.create_subprocess_exec(sys.executable, "-c", "")
    await gone.wait()
    await asyncio.wait_for(parent_gone(gone.pid, was_seen=True), 60)


def test_the_device_asked_for_first_is_taken_and_an_unknown_one_is_named(device: Any) -> None:
    from dataclasses import replace

    slow, fast = replace(device, id="slow"), replace(device, id="fast")
    fast = replace(fast, rates=replace(fast.rates, fp32_gflop_s=1e6))
    assert pick_device(["", "slow", "fast"], [slow, fast], [], [device]) == (slow, None)
    assert pick_device(["", None], [slow, fast], [], [device]) == (fast, None)
    assert pick_device(["nowhere"], [], [slow], [device]) == (slow, "nowhere")
    assert pick_device([], [], [], [device]) == (device, None)
