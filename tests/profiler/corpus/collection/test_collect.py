"""What a collection measures, leaves out and repeats, on a device that answers at once."""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from profiler.corpus.collection import ledger
from profiler.corpus.collection.collect import Stop, collect
from profiler.corpus.collection.lock import AlreadyCollecting, sole_collector
from profiler.corpus.collection.plan import CollectPlan
from profiler.corpus.collection.progress import Figures
from profiler.corpus.collection.store import CorpusStore, FailedCase, RowKey, StoredRow, is_floor
from profiler.corpus.collection.workplace import Workplace
from profiler.corpus.kernel import CorpusKernel
from profiler.measurement import DeviceGone
from profiler.store.database import StoreError

MakeKernel = Callable[..., CorpusKernel]
Filled = Callable[..., Path]


def _rows(folder: Path) -> list[StoredRow]:
    store = CorpusStore(folder)
    try:
        return list(store.rows())
    finally:
        store.close()


def _failures(folder: Path) -> list[FailedCase]:
    store = CorpusStore(folder)
    try:
        return store.failures()
    finally:
        store.close()


def _timed(folder: Path) -> Counter[str]:
    """How often each launch was timed on each device."""
    return Counter((folder.parent / "timed.txt").read_text().splitlines())


def _wanted(plan: CollectPlan, *kernels: CorpusKernel) -> set[RowKey]:
    firsts = {
        RowKey(device.id, kernel.id, each.launch.key)
        for device in plan.devices
        for kernel in kernels
        for each in kernel.launches
    }
    return firsts | {replace(key, repeat=1) for key in firsts if is_floor(key)}


def test_every_launch_is_measured_on_every_device_and_some_twice(
    plan: CollectPlan, make_kernel: MakeKernel, filled: Filled
) -> None:
    kernels = [make_kernel(f"k{at}", launches=5) for at in range(12)]
    folder = filled(*kernels)
    figures = collect(folder, replace(plan, chunk_kernels=20, launches=5))
    rows = _rows(folder)
    assert {row.key for row in rows} == _wanted(plan, *kernels)
    assert any(row.key.repeat for row in rows)
    assert sum(_timed(folder).values()) == len(rows)
    assert (figures.rows, figures.wanted_rows, figures.kernels, figures.doing) == (120, 120, 12, "done")
    assert not (folder / "caches").exists()


def test_what_is_done_is_not_done_again_and_what_is_new_joins(
    plan: CollectPlan, make_kernel: MakeKernel, filled: Filled, instant: Workplace
) -> None:
    old, new = make_kernel("old"), make_kernel("new")
    folder = filled(old)
    collect(folder, plan, workplace=instant)
    before = _timed(folder)
    filled(old, new)
    collect(folder, plan, workplace=instant)
    after = _timed(folder)
    assert all(after[line] == times for line, times in before.items())
    assert {row.key for row in _rows(folder)} == _wanted(plan, old, new)


def test_a_launch_is_built_and_shown_to_be_safe_before_it_is_timed(
    plan: CollectPlan, make_kernel: MakeKernel, filled: Filled, instant: Workplace
) -> None:
    folder = filled(make_kernel("k"))
    collect(folder, plan, workplace=instant)
    store = CorpusStore(folder)
    (kernel,) = store.all_kernels()
    assert [launch.checked for launch in kernel.launches] == ["guard pages", "guard pages"]
    built = {(kernel_id, launch_key) for kernel_id, launch_key, _ in store.facts("stub")}
    assert built == {(kernel.id, each.launch.key) for each in kernel.launches}
    store.close()


def test_a_kernel_that_ends_its_process_costs_itself_alone(
    plan: CollectPlan, make_kernel: MakeKernel, filled: Filled
) -> None:
    good, bad, once = make_kernel("good"), make_kernel("crash"), make_kernel("crash_once")
    folder = filled(good, bad, once)
    collect(folder, plan)
    assert {row.key for row in _rows(folder)} == _wanted(plan, good, once)
    given_up = [case for case in _failures(folder) if case.is_quarantined]
    assert {case.kernel_id for case in given_up} == {bad.id}
    assert {(case.code, case.tries) for case in given_up} == {("crashed", 2)}


def test_a_kernel_that_crashes_is_run_twice_on_a_platform_and_no_more(
    plan: CollectPlan, make_kernel: MakeKernel, filled: Filled
) -> None:
    """However many launches and devices there are."""
    folder = filled(make_kernel("crash", launches=5), good := make_kernel("good"))
    collect(folder, plan)
    assert {row.key for row in _rows(folder)} == _wanted(plan, good)
    assert sum(case.tries for case in _failures(folder) if case.launch_key) == 2
    assert [case.device for case in _failures(folder) if not case.launch_key] == ["build:stub"]


def test_what_does_not_build_is_not_run_and_not_tried_twice(
    plan: CollectPlan, make_kernel: MakeKernel, filled: Filled, instant: Workplace
) -> None:
    folder = filled(make_kernel("refuse"), good := make_kernel("good"))
    collect(folder, plan, workplace=instant)
    assert {row.key for row in _rows(folder)} == _wanted(plan, good)
    (case,) = _failures(folder)
    assert (case.device, case.code, case.tries, case.is_quarantined) == ("build:stub", "build_failed", 1, True)


def test_what_failed_can_be_tried_again(
    plan: CollectPlan, make_kernel: MakeKernel, filled: Filled, instant: Workplace
) -> None:
    folder = filled(make_kernel("refuse"))
    collect(folder, plan, workplace=instant)
    store = CorpusStore(folder)
    assert store.forget_failures() == 1
    store.close()
    collect(folder, plan, workplace=instant)
    assert len(_failures(folder)) == 1


def test_a_disturbed_row_is_measured_twice_and_says_so(
    plan: CollectPlan, make_kernel: MakeKernel, filled: Filled, instant: Workplace
) -> None:
    folder = filled(busy := make_kernel("busy"), calm := make_kernel("calm"))
    collect(folder, plan, workplace=instant)
    for row in _rows(folder):
        assert row.attempts == (2 if row.key.kernel_id == busy.id else 1)
        assert ("least disturbed" in row.note) == (row.key.kernel_id == busy.id)
    collect(folder, plan, workplace=instant)
    assert {row.key for row in _rows(folder)} == _wanted(plan, busy, calm)
    assert {row.attempts for row in _rows(folder)} == {1, 2}


def test_on_a_machine_that_is_never_quiet_nothing_is_repeated(
    plan: CollectPlan, make_kernel: MakeKernel, filled: Filled, instant: Workplace
) -> None:
    folder = filled(make_kernel("busy"))
    collect(folder, replace(plan, bad_percent=100.0), workplace=instant)
    assert {row.attempts for row in _rows(folder)} == {1}


def test_each_device_has_its_own_number_of_launches(
    plan: CollectPlan, make_kernel: MakeKernel, filled: Filled, instant: Workplace
) -> None:
    kernels = [make_kernel(f"k{at}", launches=5) for at in range(3)]
    folder = filled(*kernels)
    limited = replace(plan, launches=3, most_launches={"stub": 2, "stub-1core": 4})
    figures = collect(folder, limited, workplace=instant)
    assert figures.rows == figures.wanted_rows == 3 * 2 + 3 * 4
    rows = [row.key for row in _rows(folder) if row.key.repeat == 0]
    assert Counter(key.device for key in rows) == {"stub": 6, "stub-1core": 12}
    assert {key.launch_key for key in rows if key.device == "stub"} == {
        each.launch.key for each in kernels[0].launches[:2]
    }


def test_the_first_launches_of_all_kernels_come_first(
    plan: CollectPlan, make_kernel: MakeKernel, filled: Filled, instant: Workplace
) -> None:
    kernels = [make_kernel(f"k{at}", launches=3) for at in range(10)]
    folder = filled(*kernels)
    collect(folder, replace(plan, launches=1, chunk_kernels=4), workplace=instant)
    order = [line.split()[1:] for line in (folder.parent / "timed.txt").read_text().splitlines()]
    first = {(kernel.id, kernel.launches[0].launch.key) for kernel in kernels}
    last = {(kernel.id, kernel.launches[2].launch.key) for kernel in kernels}
    places = [at for at, (kernel_id, key) in enumerate(order) if (kernel_id, key) in first]
    assert max(places) < min(at for at, (kernel_id, key) in enumerate(order) if (kernel_id, key) in last)


def test_a_stop_keeps_what_was_measured(
    plan: CollectPlan, make_kernel: MakeKernel, filled: Filled, instant: Workplace
) -> None:
    kernels = [make_kernel(f"k{at}") for at in range(30)]
    folder = filled(*kernels)
    pressed = threading.Event()

    def press(figures: Figures) -> None:
        if figures.doing == "timing" and figures.rows:
            pressed.set()

    figures = collect(folder, plan, on_figures=press, cancel=Stop(pressed), workplace=instant)
    assert figures.doing == "stopped"
    assert 0 < figures.rows < figures.wanted_rows
    collect(folder, plan, workplace=instant)
    assert {row.key for row in _rows(folder)} == _wanted(plan, *kernels)
    assert set(_timed(folder)) >= {
        f"{row.key.device} {row.key.kernel_id} {row.key.launch_key}" for row in _rows(folder)
    }


def test_a_collection_whose_time_is_up_measures_nothing(
    plan: CollectPlan, make_kernel: MakeKernel, filled: Filled, instant: Workplace
) -> None:
    folder = filled(make_kernel("k"))
    assert collect(folder, plan, cancel=Stop(deadline_s=0.0), workplace=instant).doing == "stopped"
    assert _rows(folder) == []


def test_progress_can_be_watched(
    plan: CollectPlan, make_kernel: MakeKernel, filled: Filled, instant: Workplace
) -> None:
    folder = filled(make_kernel("k"), make_kernel("refuse"))
    seen: list[Figures] = []
    collect(folder, plan, on_figures=seen.append, workplace=instant)
    watched = json.loads((folder / "progress.json").read_text())
    assert (watched["rows"], watched["kernels"], watched["given_up"], watched["doing"]) == (4, 1, 1, "done")
    assert [figures.rows for figures in seen] == sorted(figures.rows for figures in seen)


def test_two_collections_do_not_share_a_folder(plan: CollectPlan, make_kernel: MakeKernel, filled: Filled) -> None:
    folder = filled(make_kernel("k"))
    with sole_collector(folder), pytest.raises(AlreadyCollecting, match="another folder with --workdir"):
        collect(folder, plan)


@pytest.mark.parametrize("job", ["time", "no_room"])
def test_a_device_that_fails_with_everything_is_not_held_against_the_kernels(
    job: str, plan: CollectPlan, make_kernel: MakeKernel, filled: Filled, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ledger, "MOST_IN_A_ROW", 4)
    folder = filled(*(make_kernel(f"crash{at}") for at in range(6)))
    with pytest.raises(ledger.NothingWorks, match="--retry-failed"):
        collect(folder, replace(plan, chunk_kernels=100, time_job=f"stub_device:{job}"))
    assert not any(case.is_quarantined for case in _failures(folder))


def test_a_device_that_does_not_open_ends_the_collection_and_costs_no_kernel(
    plan: CollectPlan, make_kernel: MakeKernel, filled: Filled
) -> None:
    folder = filled(make_kernel("k"))
    with pytest.raises(DeviceGone, match="fell off the bus"):
        collect(folder, replace(plan, time_job="stub_device:no_device"))
    assert (_rows(folder), _failures(folder)) == ([], [])
    assert not (folder / "caches").exists()


def test_a_damaged_store_is_named(tmp_path: Path, plan: CollectPlan) -> None:
    (tmp_path / "corpus.sqlite3").write_bytes(b"no database" * 100)
    with pytest.raises(StoreError, match=r"corpus\.sqlite3 cannot be used"):
        collect(tmp_path, plan)
