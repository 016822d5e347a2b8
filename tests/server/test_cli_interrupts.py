"""Ctrl-C while kernels are measured: what is done already is kept and shown, and the call says that it was ended."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from profiler.measurement import Cancelled, Measurement, MeasureRequest
from profiler.side_by_side import SideBySide, Version
from profiler.store import Store
from server.cli import main
from server.cli.terminal import cancelled_by_ctrl_c

SCALE = """// kernelcast: global=64 n=64 name=first
// kernelcast: global=128 n=128 name=second
kernel void scale(global float *x, int n) { int i = get_global_id(0); if (i < n) x[i] *= 2.0f; }
"""


@pytest.fixture(autouse=True)
def terminal() -> Iterator[None]:
    """A shell that runs the tests in its background has them ignore interrupts; no terminal does."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("KERNELCAST_DATA_DIR", str(tmp_path / "data"))
    path = tmp_path / "k.cl"
    path.write_text(SCALE)
    return path


@pytest.fixture(autouse=True)
def pressed_after_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """A device on which one launch is measured before somebody presses Ctrl-C, and no other."""
    measured: list[MeasureRequest] = []

    def measure_all(requests: Sequence[MeasureRequest], cancel: Any, **_: object) -> list[Measurement | Cancelled]:
        outcomes: list[Measurement | Cancelled] = []
        for request in requests:
            if measured:
                signal.raise_signal(signal.SIGINT)
                assert cancel.is_set()
                outcomes.append(Cancelled("cancelled"))
            else:
                measured.append(request)
                outcomes.append(measurement_of(request))
        return outcomes

    monkeypatch.setattr("server.cli.runs.measure_all", measure_all)


def measurement_of(request: MeasureRequest) -> Measurement:
    return Measurement(
        request.kernel.name, request.kernel.fingerprint, request.launch.key, request.launch.describe(),
        request.device_id, "A CPU", "1", median_us=1234.0, p10_us=1200.0, p90_us=1300.0, ci95_us=(1230.0, 1240.0),
        repeats=9, batches=3, batch_spread_percent=1.0, local_size=(8,), load_average=0.1,
        measured_at="2026-01-01T00:00:00+00:00",
    )  # fmt: skip


@pytest.mark.device
@pytest.mark.parametrize("sizes", [(), ("--sizes", "1x,2x")])
def test_what_was_measured_before_is_shown_and_kept(
    file: Path, capsys: pytest.CaptureFixture[str], sizes: tuple[str, ...]
) -> None:
    assert main(["measure", str(file), "--device", "pocl", *sizes]) == 130
    said = capsys.readouterr()
    assert "1.2 ms" in said.out
    assert "128" not in said.out.split("Assumed")[0]
    assert "interrupted" in said.err
    assert "cancelled" not in said.err
    (kept,) = Store.open().everything()
    assert kept.measurement.median_us == 1234.0


@pytest.mark.device
def test_a_batch_ends_behind_what_was_measured(file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    batch = tmp_path / "batch.jsonl"
    batch.write_text("".join(json.dumps({"file": str(file), "id": each, "device": "pocl"}) + "\n" for each in "abc"))
    assert main(["measure", "--batch", str(batch)]) == 130
    assert [json.loads(line)["id"] for line in capsys.readouterr().out.splitlines()] == ["a"]


@pytest.mark.device
@pytest.mark.parametrize("is_late", [True, False])
def test_a_search_shows_and_keeps_what_was_measured_until_then(
    file: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, is_late: bool
) -> None:
    def measure(requests: Sequence[MeasureRequest], cancel: Any, **_: object) -> SideBySide:
        signal.raise_signal(signal.SIGINT)
        assert cancel.is_set()
        cancelled = [Version(request, error=Cancelled("cancelled")) for request in requests]
        first = Version(requests[0], (1234.0,), 1234.0, (1230.0, 1240.0), 9, measurement=measurement_of(requests[0]))
        return SideBySide((first, *cancelled[1:]) if is_late else tuple(cancelled), was_cancelled=True)

    monkeypatch.setattr("server.tuning.measuring.measure_side_by_side", measure)
    before = file.read_text()
    assert main(["tune", str(file), "--device", "pocl", "--analytic-only", "--write"]) == 130
    said = capsys.readouterr()
    assert "interrupted" in said.err
    assert ("1.2 ms" in said.out) is is_late
    assert ("cancelled before anything was measured" in said.out) is not is_late
    assert len(Store.open().everything()) == int(is_late)
    assert file.read_text() == before


def test_a_second_press_does_not_wait() -> None:
    with cancelled_by_ctrl_c() as cancel:
        signal.raise_signal(signal.SIGINT)
        assert cancel.is_set()
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_who_ignores_interrupts_goes_on_ignoring_them() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with cancelled_by_ctrl_c() as cancel:
        signal.raise_signal(signal.SIGINT)
        assert not cancel.is_set()
