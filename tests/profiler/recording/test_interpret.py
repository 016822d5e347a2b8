"""Launches of several processes are put together."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from profiler.recording.interpret import entries_of
from profiler.recording.raw_log import (
    BufferRaw,
    EventTimes,
    LocalRaw,
    OtherRaw,
    RawArgument,
    RawDevice,
    RawLaunch,
    RawProcess,
    RawProgram,
    UnseenRaw,
    ValueRaw,
)
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


def test_untimed_launches_count_as_the_timed_ones_among_them(sources: Sources, tmp_path: Path) -> None:
    nan = RawProgram("source", SOURCE.replace(b"int n", b"float n"), "")
    timed = launch(2, 5.0, program=nan, value=b"\0\0\xc0\x7f")
    (entry,) = entries(sources, tmp_path, timed, launch(6, program=nan, value=b"\1\0\xc0\x7f"))
    assert (entry.count, entry.event_us, entry.total_us) == (8, 5.0, 40.0)


@pytest.mark.parametrize("null", [ValueRaw(bytes(8)), LocalRaw(8), UnseenRaw(8), OtherRaw("null")])
def test_a_null_pointer_is_told_in_each_form_that_logs_have(
    null: RawArgument, sources: Sources, tmp_path: Path
) -> None:
    text = b"kernel void scale(global float *x, read_only image2d_t from) { if (x) x[0] = 1; }\n"
    made = replace(launch(1, program=RawProgram("source", text, "")), arguments=(null, null))
    (entry,) = entries(sources, tmp_path, made)
    assert (entry.buffers, entry.images) == ((), ())
    assert entry.notes == ("`x` is null in the program", "`from` is null in the program")


def test_launches_of_other_values_under_one_number_are_told(sources: Sources, tmp_path: Path) -> None:
    (entry,) = entries(sources, tmp_path, replace(launch(9), values_vary=True))
    assert entry.notes == ("launches with other values of its scalar arguments are counted as this one",)


def test_the_file_of_a_kernel_is_looked_up_once(
    sources: Sources, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked_up: list[str] = []
    search = Workspace.file_with_kernel

    def counted(workspace: Workspace, name: str, *others: Any) -> Path | None:
        looked_up.append(name)
        return search(workspace, name, *others)

    monkeypatch.setattr(Workspace, "file_with_kernel", counted)
    file = tmp_path / "scale.cl"
    file.write_bytes(b"// mine\n" + SOURCE)
    found = entries(sources, tmp_path, *(launch(1, value=bytes([n, 0, 0, 0])) for n in range(1, 9)))
    assert {entry.file for entry in found} == {str(file)}
    assert looked_up == ["scale"]


def test_include_folders_are_seen_from_the_programs_folder(sources: Sources, tmp_path: Path) -> None:
    (entry,) = entries(sources, tmp_path, launch(1), folder="/somewhere")
    assert entry.options == "-DA=1 -I /somewhere/inc"


def test_arguments_without_a_source_are_given_by_position(sources: Sources, tmp_path: Path) -> None:
    (entry,) = entries(sources, tmp_path, launch(1, program=RawProgram("binary", None, "")))
    assert entry.positional == ("buffer of 256 bytes", "value 0x00000007")
    assert (entry.args, entry.source, entry.fingerprint) == ((), "", "")
    assert "made of a binary" in entry.notes[0]
