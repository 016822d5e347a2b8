"""`kernelcast devices --show` draws any device, in any terminal, without colours, and says every figure's unit."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.device import BandwidthPoint, Device, ProfileSource
from model.device_catalog import builtin_devices, device_from_json, find_builtin
from model.device_curves import Calibration, ChainPoint, RateNoise, ScalingPoint
from server.cli.devices import _outdated, _source
from server.cli.entry import main
from server.device_report.facts import groups, origin
from server.device_report.picture import picture_svg
from server.device_report.text import LEAST_WIDTH, plain, roofline_lines

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(autouse=True)
def own_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KERNELCAST_DATA_DIR", str(tmp_path / "data"))


@pytest.fixture
def t4() -> Device:
    device = find_builtin("nvidia-tesla-t4")
    assert device is not None
    return device


@pytest.fixture
def calibrated(t4: Device) -> Device:
    rates = replace(
        t4.rates,
        scaling=(ScalingPoint(1, 100.0, 1.0), ScalingPoint(40, 4000.0, 1.0)),
        chains=(ChainPoint(1, 1000.0), ChainPoint(4, 4000.0)),
        noise=(RateNoise("fp32_gflop_s", 1.25),),
    )
    return replace(
        t4,
        rates=rates,
        driver="550.1",
        source=ProfileSource.CALIBRATED,
        measured_at="2026-01-02T03:04:05+00:00",
        noise_percent=1.5,
        calibration=Calibration(2, False, 58.0, 300, 4, None, 0.2, 1.0, ("half: not supported",)),
    )


@pytest.mark.parametrize("device", builtin_devices(), ids=lambda device: device.id)
def test_every_known_device_can_be_drawn(device: Device) -> None:
    root = ElementTree.fromstring(picture_svg(device))
    assert root.tag == f"{SVG}svg"
    assert len(root.findall(f"{SVG}svg")) >= 2
    lines = roofline_lines(device, 80)
    assert all(len(line) <= 80 for line in lines)
    assert any("memory" in line for line in lines)


@given(st.sampled_from(builtin_devices()), st.integers(1, 300))
def test_no_line_is_wider_than_the_terminal(device: Device, width: int) -> None:
    lines = roofline_lines(device, width)
    assert max(map(len, lines)) <= max(width, LEAST_WIDTH)
    plain("\n".join(lines)).encode("ascii")


def test_the_plot_tells_levels_and_ceilings_apart_without_colour(t4: Device) -> None:
    lines = roofline_lines(t4, 90)
    legend = [line for line in lines if line[:2] in {"1 ", "2 ", "m "}]
    assert len(legend) == 3
    assert all("B/s" in line for line in legend)
    assert any(line.lstrip().startswith("fp32") for line in lines)
    assert not any("\x1b" in line for line in lines)


def test_a_calibration_says_when_and_how_sure_it_is(calibrated: Device) -> None:
    said = origin(calibrated)
    assert all(words in said for words in ("2026-01-02 03:04", "1.5 %", "58 s", "half: not supported"))
    figures = {figure.name: figure for group in groups(calibrated) for figure in group.figures}
    assert figures["fp32, in vectors"].noise == "± 1.2 %"
    assert "Throughput by work-groups" in picture_svg(calibrated)


def test_a_profile_without_curves_has_a_picture_all_the_same(t4: Device) -> None:
    bare = replace(t4, rates=replace(t4.rates, bandwidth=(), gather=(), strided=(), memory_levels=()))
    ElementTree.fromstring(picture_svg(bare))
    assert roofline_lines(bare, 80) == []
    one = replace(t4, rates=replace(t4.rates, bandwidth=(BandwidthPoint(1024, 1.0, 1.0),)))
    ElementTree.fromstring(picture_svg(one))


def test_names_never_become_markup(t4: Device) -> None:
    odd = replace(t4, name='<script>alert("x")</script> & \x00 \ud800', driver="]]>")
    root = ElementTree.fromstring(picture_svg(odd).encode("utf-8", "replace"))
    assert root.find(f".//{SVG}script") is None


@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "utf-8"])
def test_terminals_that_know_few_characters_get_the_same_figures(
    encoding: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = io.BytesIO()
    monkeypatch.setattr("sys.stdout", io.TextIOWrapper(written, encoding=encoding))
    assert main(["devices", "--show", "nvidia-tesla-t4"]) == 0
    text = written.getvalue().decode(encoding)
    assert "8.03 Tflop/s" in text
    assert "fp32 8,034" in text


@pytest.mark.parametrize("suffix", ["svg", "json", "text"])
def test_the_files_suffix_tells_the_format(suffix: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / f"my device.{suffix}"
    assert main(["devices", "--show", "nvidia-tesla-t4", "-o", str(path)]) == 0
    assert capsys.readouterr().out.strip() == str(path)
    text = path.read_text("utf-8")
    match suffix:
        case "svg":
            ElementTree.fromstring(text)
        case "json":
            assert device_from_json(text).id == json.loads(text)["id"] == "nvidia-tesla-t4"
        case _:
            assert "Tesla T4" in text
            assert "flop/s" in text


def test_a_png_is_made_or_the_package_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "t4.png"
    if main(["devices", "--show", "nvidia-tesla-t4", "-o", str(path)]) == 0:
        assert path.read_bytes().startswith(b"\x89PNG")
    else:
        assert "kernelcast[picture]" in capsys.readouterr().err


def test_what_cannot_be_shown_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["devices", "--show", "nvidia-tesla-t9"]) == 2
    assert "nvidia-tesla-t4" in capsys.readouterr().err
    assert main(["devices", "--format", "svg"]) == 2
    assert "--show" in capsys.readouterr().err
    assert main(["devices", "--show", "nvidia-tesla-t4", "-o", str(tmp_path / "no" / "t4.svg")]) == 1
    assert "cannot be written" in capsys.readouterr().err


def test_the_list_says_where_rates_come_from(t4: Device, calibrated: Device) -> None:
    assert "clpeak" in _source(t4)
    assert _source(calibrated).startswith("calibration of 2026-01-02, ")
    (hint,) = _outdated([replace(t4, driver="560.2")], [calibrated])
    assert "550.1" in hint
    assert "kernelcast calibrate nvidia-tesla-t4" in hint
    assert list(_outdated([calibrated], [calibrated])) == []
