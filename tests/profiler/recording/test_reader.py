"""A log is read as far as it was written, whatever ended the program."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from profiler.recording.raw_log import BufferRaw, LocalRaw, OtherRaw, RawProcess, ValueRaw
from profiler.recording.reader import read_folder, read_process

SOURCE = b"kernel void scale(global float *x, int n) { x[get_global_id(0)] *= n; }\n"
HEAD = {"record": "process", "version": 1, "pid": 7, "writer": "layer", "cwd": "/w"}
DEVICE = {"record": "device", "id": 0, "name": "A GPU", "driver_version": "1", "platform": "P"}
PROGRAM = {"record": "program", "id": 0, "kind": "source", "source": "program-x.cl", "sha256": "x", "options": "-DA=1"}
LAUNCH = {
    "record": "launch", "id": 0, "program": 0, "kernel": "scale", "device": 0, "global": [64, 2], "local": None,
    "offset": [0, 0],
    "args": [{"kind": "buffer", "bytes": 256}, {"kind": "local", "bytes": 8},
             {"kind": "value", "hex": "07000000"}, {"kind": "null"}],
}  # fmt: skip
LINES: list[dict[str, Any]] = [{**HEAD, "started_at": 5.0}, DEVICE, PROGRAM, LAUNCH]


def slot(count: int, *times_us: float) -> bytes:
    samples = [*times_us, *[0.0] * 29][:29]
    return struct.pack("<QQd29d", count, len(times_us), sum(times_us), *samples)


@pytest.fixture
def log(tmp_path: Path) -> Path:
    (tmp_path / "program-x.cl").write_bytes(SOURCE)
    (tmp_path / "7-0.counts").write_bytes(slot(3, 10.0, 30.0, 20.0) + slot(0) * 1023)
    path = tmp_path / "7-0.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in LINES), "utf-8")
    return path


def read(path: Path) -> RawProcess:
    process = read_process(path)
    assert process is not None
    return process


def test_a_launch_is_read_with_all_that_belongs_to_it(log: Path) -> None:
    (process,) = read_folder(log.parent)
    (launch,) = process.launches
    assert (process.cwd, process.started_at) == ("/w", 5.0)
    assert (launch.kernel, launch.global_size, launch.local_size, launch.count) == ("scale", (64, 2), None, 3)
    assert (launch.program.text, launch.program.options, launch.device.name) == (SOURCE, "-DA=1", "A GPU")
    assert launch.arguments == (
        BufferRaw(256), LocalRaw(8), ValueRaw(bytes([7, 0, 0, 0])), OtherRaw("null")
    )  # fmt: skip
    assert (launch.times.median_us, launch.times.mean_us) == (20.0, 20.0)


def test_a_launch_that_was_never_enqueued_is_none(log: Path) -> None:
    log.with_suffix(".counts").write_bytes(slot(0))
    assert read(log).launches == ()
    log.with_suffix(".counts").unlink()
    assert read(log).launches == ()


@given(cut=st.integers(0, sum(len(json.dumps(line)) + 1 for line in LINES)))
def test_a_log_that_was_cut_off_anywhere_gives_the_lines_before(
    cut: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("cut")
    text = "".join(json.dumps(line) + "\n" for line in LINES)
    (folder / "7-0.jsonl").write_text(text[:cut], "utf-8")
    (folder / "7-0.counts").write_bytes(slot(1))
    process = read_process(folder / "7-0.jsonl")
    whole = text[:cut].count("\n")
    assert (process is not None) == (whole >= 1)
    if process is not None:
        assert len(process.launches) == (whole == 4)
        assert process.problems == ()


@given(
    junk=st.lists(st.one_of(st.binary(max_size=40), st.dictionaries(st.text(max_size=8), st.integers())), max_size=5)
)
def test_lines_that_make_no_sense_cost_only_themselves(
    junk: list[bytes | dict[str, int]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("junk")
    bad = [line if isinstance(line, bytes) else json.dumps({"record": "launch", **line}).encode() for line in junk]
    good = [json.dumps(line).encode() for line in LINES]
    (folder / "7-0.jsonl").write_bytes(b"\n".join([*good, *bad, b'{"record": "varies", "launch": 0}', b""]))
    (folder / "7-0.counts").write_bytes(slot(1) * 3)
    process = read_process(folder / "7-0.jsonl")
    assert process is not None
    assert [(launch.kernel, launch.values_vary) for launch in process.launches][:1] == [("scale", True)]


def test_a_source_is_looked_for_beside_the_log_alone(log: Path) -> None:
    log.write_text(log.read_text("utf-8").replace("program-x.cl", "../../etc/passwd"), "utf-8")
    assert read(log).launches[0].program.text is None
