"""Recordings are kept by project, and asked for by kernel."""

from __future__ import annotations

import shlex
from dataclasses import replace
from pathlib import Path

import pytest

from model.launch.launch import Origin
from model.launch.resolve import resolve
from model.opencl import project_files
from model.opencl.program import read_program
from profiler.recording import recorded_launches
from profiler.recording.recorded_entry import RecordedEntry
from profiler.recording.recordings import Recording, forget, project_of, recordings, save, sources_of
from profiler.store import Store

SOURCE = "kernel void mm(global float4 *a, int n, local float *t, read_only image2d_t im) { a[0].x = n; }\n"
ENTRY = RecordedEntry(
    kernel="mm", global_size=(64, 2), local_size=None, args=(("n", 7),), buffers=(("a", 32),),
    images=(("im", (16, 8)),), local_bytes=(("t", 256),), fills=(("a.x", "uniform:0:1"),), options="-DSIDE=2", count=3,
    event_us=10.0, total_us=30.0, fingerprint="f", device_id="pocl", device_name="A CPU",
)  # fmt: skip


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store.open(tmp_path / "data/store.sqlite3")


def recording(
    project: Path, *launches: RecordedEntry, command: tuple[str, ...] = ("run",), at: float = 1.0
) -> Recording:
    return Recording(project, command, str(project), at, 0, launches, ("a note",))


def test_a_recorded_launch_is_given_in_the_form_of_all_launches(store: Store, tmp_path: Path) -> None:
    save(store, recording(tmp_path, ENTRY))
    ((launch,),) = recorded_launches(store, tmp_path, ["mm", "other"]).values()
    assert (launch.count, launch.event_us, launch.total_us, launch.command) == (3, 10.0, 30.0, "run")
    assert (launch.kernel_fingerprint, launch.device_id, launch.device_name) == ("f", "pocl", "A CPU")
    assert (launch.spec.origin, launch.spec.driver_chooses_local) == (Origin.RECORDED, True)
    assert launch.spec.options.defines == (("SIDE", "2"),)
    said = resolve(read_program(SOURCE).kernels[0], launch.spec)
    assert (said.global_size, said.local_size, said.scalars["n"]) == ((64, 2), None, 7)
    assert (said.buffers, said.local_bytes, said.images) == ({"a": 32}, {"t": 256}, {"im": (16, 8, 1)})
    assert str(said.fills["a.x"]) == "uniform:0:1"


def test_what_takes_most_of_the_time_comes_first(store: Store, tmp_path: Path) -> None:
    often = replace(ENTRY, args=(("n", 1),), count=1000, event_us=None, total_us=None)
    long = replace(ENTRY, args=(("n", 2),), count=1, total_us=900.0)
    save(store, recording(tmp_path, often, ENTRY, long))
    found = recorded_launches(store, tmp_path, ["mm"])["mm"]
    assert [launch.count for launch in found] == [1, 3, 1000]


def test_other_projects_have_recordings_of_their_own(store: Store, tmp_path: Path) -> None:
    save(store, recording(tmp_path / "one", ENTRY))
    save(store, recording(tmp_path / "two", replace(ENTRY, count=8)))
    assert recorded_launches(store, tmp_path / "one", ["mm"])["mm"][0].count == 3
    assert recorded_launches(store, tmp_path, ["mm"]) == {}
    assert forget(store, tmp_path / "one") == 1
    assert [each.project for each in recordings(store)] == [tmp_path / "two"]


def test_a_command_that_runs_again_replaces_its_recording(store: Store, tmp_path: Path) -> None:
    save(store, recording(tmp_path, ENTRY))
    save(store, recording(tmp_path, replace(ENTRY, count=9), at=2.0))
    save(store, recording(tmp_path, replace(ENTRY, count=5), command=("other",), at=1.5))
    assert [each.launches[0].count for each in recordings(store, tmp_path)] == [9, 5]
    # Both have the same launch: the newest counts.
    assert [launch.count for launch in recorded_launches(store, tmp_path, ["mm"])["mm"]] == [9]


def test_a_source_goes_with_the_last_recording_that_has_it(store: Store, tmp_path: Path) -> None:
    sources = sources_of(store)
    kept = sources.keep("abcdef", b"text")
    with_source = replace(ENTRY, source="abcdef")
    save(store, recording(tmp_path, with_source))
    second = save(store, recording(tmp_path, with_source, command=("other",)))
    forget(store, number=second.id)
    assert kept.read_bytes() == b"text"
    forget(store, tmp_path)
    assert not kept.exists()


def test_a_source_goes_with_the_run_that_had_it_last(store: Store, tmp_path: Path) -> None:
    sources = sources_of(store)
    old, new = sources.keep("abcdef", b"old"), sources.keep("abc123", b"new")
    save(store, recording(tmp_path, replace(ENTRY, source="abcdef")))
    save(store, recording(tmp_path, replace(ENTRY, source="abc123"), at=2.0))
    assert (old.exists(), new.read_bytes()) == (False, b"new")
    save(store, recording(tmp_path, replace(ENTRY, source="abc123"), at=3.0))
    assert new.read_bytes() == b"new"


def test_a_launch_is_the_same_after_its_file_has_changed(store: Store, tmp_path: Path) -> None:
    save(store, recording(tmp_path, replace(ENTRY, file="a.cl", file_sha256="1")))
    save(store, recording(tmp_path, replace(ENTRY, file="a.cl", file_sha256="2", count=9), command=("other",), at=2.0))
    assert [launch.count for launch in recorded_launches(store, tmp_path, ["mm"])["mm"]] == [9]


def test_a_command_is_shown_as_a_shell_takes_it(store: Store, tmp_path: Path) -> None:
    save(store, recording(tmp_path, ENTRY, command=("python", "a b.py", "*", "it's")))
    ((launch,),) = recorded_launches(store, tmp_path, ["mm"]).values()
    assert shlex.split(launch.command) == ["python", "a b.py", "*", "it's"]


def test_headers_are_never_written_elsewhere(store: Store) -> None:
    path = sources_of(store).keep("key", b"text", [("inc/a.h", b"a"), ("../../b.h", b"b"), ("/tmp/c.h", b"c")])
    assert sorted(each.name for each in path.parent.rglob("*") if each.is_file()) == ["a.h", "program.cl"]
    assert not (path.parent.parent.parent / "b.h").exists()


def test_the_project_is_the_nearest_folder_that_is_marked_as_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inner = tmp_path / "a/b/c"
    inner.mkdir(parents=True)
    with monkeypatch.context() as without_signs:  # whatever lies above the folder of this test
        without_signs.setattr(project_files, "_PROJECT_SIGNS", ())
        assert project_of(inner) == inner
    (tmp_path / "a/.git").mkdir()
    assert project_of(inner) == tmp_path / "a"
    (tmp_path / "a/b/kernelcast.toml").write_text("")
    assert project_of(inner) == tmp_path / "a/b"
