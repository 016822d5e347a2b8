"""Launches of several processes are put together."""

from __future__ import annotations

from pathlib import Path

import pytest

from profiler.recording.interpret import entries_of
from profiler.recording.raw_log import BufferRaw, EventTimes, RawDevice, RawLaunch, RawProcess, RawProgram, ValueRaw
from profiler.recording.recorded_entry import RecordedEntry
from profiler.recording.sources import Sources, Workspace

SOURCE = b"kernel void scale(global float *x, int n) { x[get_global_id(0)] *= n; }\n"
DEVICE = RawDevice("A GPU", "1", "P")
PROGRAM = RawProgram("source", SOURCE, "-I inc -DA=1")


def launch(count: int, *times_us: float, program: RawProgram = PROGRAM, value: bytes = b"\7\0\0\0") -> RawLaunch:
    arguments = (BufferRaw(256), ValueRaw(value))
    times = EventTimes(len(times_us), sum(times_us), times_us)
    return RawLaunch(program, "scale", DEVICE, (64,), None, (0,), arguments, count, times)


@pytest.fixture
def sources(tmp_path: Path) -> Sources:
    return Sources(tmp_path / "data")


def entries(sources: Sources, tmp_path: Path, *launches: RawLaunch, folder: str = "/w") -> tuple[RecordedEntry, ...]:
    processes = [RawProcess(folder, 1.0, launches=(each,)) for each in launches]
    return entries_of(processes, sources, Workspace(tmp_path, sources), lambda: ())


def test_equal_launches_of_several_processes_are_one(sources: Sources, tmp_path: Path) -> None:
    (entry,) = entries(sources, tmp_path, launch(2, 10.0, 20.0), launch(1, 60.0))
    assert (entry.count, entry.event_us, entry.total_us) == (3, 20.0, 90.0)
    assert (entry.args, entry.buffers) == ((("n", 7),), (("x", 64),))


def test_launches_that_differ_in_what_has_no_name_are_one(sources: Sources, tmp_path: Path) -> None:
    nan = RawProgram("source", SOURCE.replace(b"int n", b"float n"), "")
    found = entries(
        sources, tmp_path, *(launch(2, 5.0, program=nan, value=value) for value in (b"\0\0\xc0\x7f", b"\1\0\xc0\x7f"))
    )
    (entry,) = found
    assert (entry.count, entry.args, entry.total_us) == (4, (), 20.0)
    assert "`n` is nan" in entry.notes[0]


def test_include_folders_are_seen_from_the_programs_folder(sources: Sources, tmp_path: Path) -> None:
    (entry,) = entries(sources, tmp_path, launch(1), folder="/somewhere")
    assert entry.options == "-DA=1 -I /somewhere/inc"


def test_arguments_without_a_source_are_given_by_position(sources: Sources, tmp_path: Path) -> None:
    (entry,) = entries(sources, tmp_path, launch(1, program=RawProgram("binary", None, "")))
    assert entry.positional == ("buffer of 256 bytes", "value 0x00000007")
    assert (entry.args, entry.source, entry.fingerprint) == ((), "", "")
    assert "made of a binary" in entry.notes[0]
