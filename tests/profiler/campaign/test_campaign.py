"""What a campaign measures and reports, without a device."""

from __future__ import annotations

import threading
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from model.device import Device
from model.device_catalog import find_builtin
from model.device_curves import CALIBRATION_VERSION, Calibration
from model.launch.launch import Launch
from profiler.campaign.campaign import CalibrationWanted, CampaignPlan, run_campaign
from profiler.campaign.kernels import CORPUS, LAUNCHES_EACH, OWN, corpus_spread, own_kernels
from profiler.campaign.predicting import Estimate, Predicted
from profiler.campaign.report import AFTER, BEFORE, Report, accuracy, host_sentences, noise, write_report
from profiler.campaign.rows import CampaignRow
from profiler.corpus.collection.store import RowKey, StoredRow
from profiler.corpus.kernel import GENERATOR, CorpusKernel, CorpusLaunch, RowTiming
from profiler.measurement import KernelCrashed


@pytest.fixture
def device() -> Device:
    found = find_builtin("nvidia-h200")
    assert found is not None
    return found


def test_the_first_kernels_are_of_as_many_families_and_the_same_again() -> None:
    first = list(islice(corpus_spread(()), 4))
    assert len({kernel.family for kernel in first}) == 4
    assert all(1 <= len(kernel.launches) <= LAUNCHES_EACH for kernel in first)
    known = {kernel.reference for kernel in first[:2]}
    assert [kernel.id for kernel in islice(corpus_spread(known), 2)] == [kernel.id for kernel in first[2:]]


def test_own_kernels_have_all_their_launches_and_what_is_wrong_is_told(tmp_path: Path, device: Device) -> None:
    (tmp_path / "a.cl").write_text(
        "// kernelcast: global=64 n=64\n// kernelcast: global=128 n=128\n// kernelcast: global=64 n=64 -DTWICE\n"
        "kernel void add(global float *x, int n) { int i = get_global_id(0); if (i < n) x[i] += 1.0f; }\n"
    )
    (tmp_path / "b.cl").write_text("// kernelcast: global=( m=3\nkernel void b(global int *x) { x[0] = 1; }\n")
    kernels, lost = own_kernels(tmp_path, device)
    add = [kernel for kernel in kernels if kernel.name == "add"]
    assert sorted(each.launch.global_size[0] for kernel in add for each in kernel.launches) == [64, 64, 128]
    assert add[0].in_place == ("x",)  # read and changed: the next run would begin with other values
    assert any(sentence.startswith("b.cl: ") for sentence in lost)


class Asked(dict[str, Any]):
    """What a campaign asked of a device, in place of asking it."""


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Asked:
    found = Asked(calibrations=[], collections=[])

    def calibrate(device_id: str, *, quick: bool, **_: object) -> Device:
        found["calibrations"].append(quick)
        if found.get("crashes"):
            raise KernelCrashed("the driver crashed")
        profile = found["profile"]
        assert isinstance(profile, Device)
        made = Calibration(CALIBRATION_VERSION, quick, 1.0, 1, 0, None, 0.0, None)
        return replace(profile, calibration=made)

    monkeypatch.setattr("profiler.campaign.campaign.calibrate", calibrate)
    monkeypatch.setattr("profiler.campaign.campaign.collect", lambda *a, **k: found["collections"].append(a))
    return found


def _run(folder: Path, device: Device, wanted: CalibrationWanted) -> Report:
    plan = CampaignPlan(folder, device, 1e-6, None, wanted)
    return run_campaign(plan, lambda *_: None, threading.Event())


def test_a_calibration_is_kept_until_a_better_one_or_another_driver_is_there(
    tmp_path: Path, device: Device, asked: Asked
) -> None:
    asked["profile"] = device
    for wanted in (CalibrationWanted.QUICK, CalibrationWanted.QUICK, CalibrationWanted.FULL, CalibrationWanted.QUICK):
        assert _run(tmp_path, device, wanted).calibrated is not None
    assert asked["calibrations"] == [True, False]
    other = asked["profile"] = replace(device, driver="of tomorrow")
    assert _run(tmp_path, other, CalibrationWanted.NONE).calibrated is None
    assert _run(tmp_path, other, CalibrationWanted.QUICK).calibrated is not None


def test_a_device_that_cannot_be_calibrated_is_reported_all_the_same(
    tmp_path: Path, device: Device, asked: Asked
) -> None:
    asked["crashes"] = True
    report = _run(tmp_path, device, CalibrationWanted.QUICK)
    assert report.notes == ("The device could not be calibrated: the driver crashed",)
    assert "the driver crashed" in (tmp_path / "report.md").read_text()
    assert not (tmp_path / "profile.json").exists()


def _row(name: str, median_us: float, wall_us: float, *, origin: str = GENERATOR, repeat: int = 0) -> CampaignRow:
    launch = CorpusLaunch(Launch((64,), (64,)))
    kernel = CorpusKernel(name, origin, "family", "group", f"family/{name}", name, "", launches=(launch,))
    batches = (median_us,) * 3
    moment = "2026-01-01T00:00:00+00:00"
    timing = RowTiming(
        median_us, median_us, median_us, wall_us, 9, batches, batches, 2.0, None, None, False, 0.0, moment
    )
    stored = StoredRow(RowKey("gpu", name, launch.launch.key, repeat), timing, False, 1, "", 1)
    return CampaignRow(kernel, launch, stored, "1.0")


@pytest.fixture
def report(device: Device) -> Report:
    """Of two corpus rows, one of them measured twice, and one own; after is right, and before is twice that."""
    rows = [_row("a", 10.0, 15.0), _row("b", 40.0, 45.0), _row("c", 20.0, 25.0, origin=OWN)]
    predicted = {
        row.key: Predicted(Estimate(2 * us, 2 * us, None), Estimate(us, 3 * us, us + 5))
        for row in rows
        for us in (row.stored.timing.median_us,)
    }
    rows.append(_row("b", 44.0, 45.0, repeat=1))
    return Report(device, device, tuple(rows), predicted, {"corpus": (2, 60.0)}, {"crashed": 1}, ("a note",))


def test_accuracy_is_told_by_part_before_and_after(report: Report) -> None:
    lines = {(line.part, line.who): line.figures for line in accuracy(report)}
    assert {part for part, _ in lines} == {OWN, CORPUS}
    assert lines[CORPUS, BEFORE].median_ape == pytest.approx(100, rel=1e-3)
    assert lines[CORPUS, AFTER].median_ape == pytest.approx(0, abs=1e-3)
    assert lines[CORPUS, AFTER].rows == 2
    assert (CORPUS, f"{AFTER}, analytical model alone") in lines
    assert (CORPUS, f"{BEFORE}, analytical model alone") not in lines  # it is the prediction


def test_the_noise_floor_is_that_of_rows_measured_twice(report: Report) -> None:
    (own, corpus) = noise(report)
    assert (own.pairs, corpus.pairs) == (0, 1)
    assert corpus.pairs_median == pytest.approx(10)
    assert corpus.batches_median == pytest.approx(2)


def test_events_longer_than_the_host_waited_are_told(report: Report) -> None:
    assert host_sentences(report)[0].startswith("0 of 3 launches")
    wrong = replace(report, rows=(_row("a", 10.0, 5.0),))
    assert host_sentences(wrong)[0].endswith("check this driver's events.")


def test_the_page_says_what_is_missing(report: Report, tmp_path: Path) -> None:
    write_report(tmp_path, report)
    page = (tmp_path / "report.md").read_text()
    assert "- given up, `crashed`: 1" in page
    assert "- a note" in page
    assert "| corpus | 2 | 60 |" in page
