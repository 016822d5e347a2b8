"""Samples of buffers that come over a socket are described, if they are whole."""

from __future__ import annotations

import json
import socket
import struct
from pathlib import Path

import pytest

from profiler.recording.listener import listening
from tests.profiler.recording.test_reader import LINES, SOURCE

ONES = struct.pack("<64f", *[1.0] * 64)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The logs of a running process, in a folder whose path is longer than the address of a socket may be."""
    logs = tmp_path / ("long" * 40)
    logs.mkdir()
    (logs / "program-x.cl").write_bytes(SOURCE)
    (logs / "7-0.jsonl").write_text("".join(json.dumps(line) + "\n" for line in LINES), "utf-8")
    return logs


def send(path: Path, announced: int, data: bytes, length: int | None = None) -> None:
    head = json.dumps({"pid": 7, "n": 0, "launch": 0, "arg": 0, "bytes": announced}).encode()
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.settimeout(30)
        connection.connect(str(path))
        connection.sendall(struct.pack("<I", len(head) if length is None else length) + head + data)
        connection.shutdown(socket.SHUT_WR)
        assert connection.recv(1) == b""  # it was taken


def test_a_sample_is_described_however_long_the_folders_name_is(folder: Path) -> None:
    with listening(folder) as (fills, path):
        send(path, len(ONES), ONES)
        assert fills.words == {("7-0", 0, 0): (("", "const:1"),)}
    assert not path.exists()


def test_a_sample_that_was_cut_off_is_left_out_and_the_next_is_taken(folder: Path) -> None:
    with listening(folder) as (fills, path):
        send(path, 2 * len(ONES), ONES)
        send(path, len(ONES), b"", length=60_000)
        assert fills.words == {}
        send(path, len(ONES), ONES)
        assert len(fills.words) == 1
