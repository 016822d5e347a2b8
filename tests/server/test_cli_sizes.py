"""`kernelcast measure --sizes`, and what `kernelcast predict` makes of it."""

from __future__ import annotations

import argparse
import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from server.cli.flags import SizesWanted, sizes_wanted
from tests.server.conftest import answers

Run = Callable[..., "subprocess.CompletedProcess[str]"]
SCALE = """// kernelcast: global=65536 local=64 n=65536
kernel void scale(global float *x, int n) {
  int i = get_global_id(0);
  if (i < n) x[i] *= 2.0f;
}
"""
LARGE = SCALE.replace("65536", "1048576")
FAST = ("--device", "pocl", "--repeat", "5")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "my kernels" / "k.cl"
    path.parent.mkdir()
    path.write_text(SCALE)
    return path


@pytest.mark.device
def test_other_sizes_are_predicted_through_those_that_were_measured(run: Run, file: Path) -> None:
    sizes = answers(run("measure", str(file), "--sizes", "auto", *FAST, "--format", "json"))
    assert [answer["work"]["work_items"] for answer in sizes] == [16384, 32768, 65536, 131072]
    for answer in sizes:
        assert answer["basis"] == "measured"
        assert answer["repeats"] == 5
        assert {"launch_overhead_us", "checked", "settled", "notes", "wall_us"} <= answer.keys()
        assert len(answer["fit"]["points"]) == 4
        assert answer["fit"]["left_out_us"] > 0
        off = answer["fit"]["left_out_us"] / answer["runtime_us"]["median"] - 1
        assert answer["fit"]["left_out_error_percent"] == pytest.approx(100 * off)

    large, edited = file.with_name("large.cl"), file.with_name("edited.cl")
    large.write_text(LARGE)
    edited.write_text(LARGE.replace("2.0f", "3.0f"))
    asked = [
        {"file": str(large)},
        {"file": str(edited)},
        {"file": str(large), "device": "generic-cpu"},
        {"file": str(large), "options": "-cl-fast-relaxed-math"},
    ]
    batch = "\n".join(json.dumps({"device": "pocl", **one}) for one in asked)
    through, after_an_edit, elsewhere, otherwise_built = answers(run("predict", "--batch", "-", stdin=batch))
    assert through["basis"] == "measured"
    assert "through 4 measurements of this kernel on this device" in through["assumptions"][0]["text"]
    assert [a["basis"] for a in (after_an_edit, elsewhere, otherwise_built)] == ["analytic"] * 3

    (alone,) = answers(run("predict", str(large), "--device", "pocl", "--ignore-measurements", "--format", "json"))
    assert alone["basis"] == "analytic"
    told = run("predict", str(large), "--device", "pocl").stdout
    assert "predicted from measurements" in told
    assert "through 4 measurements of this kernel on this device" in told


@pytest.mark.device
def test_the_table_says_how_well_the_line_goes_through_the_sizes(run: Run, file: Path) -> None:
    done = run("measure", str(file), "--sizes", "16k,1x", *FAST)
    assert done.returncode == 0, done.stderr
    assert "16384 / 64" in done.stdout
    assert "65536 / 64" in done.stdout
    assert "x the analytical time" in done.stdout
    assert "Each size is predicted through the others to" in done.stdout
    assert "launch overhead" in done.stdout


@pytest.mark.device
def test_launches_can_be_written_out(run: Run, file: Path) -> None:
    done = run("measure", str(file), "--sizes", "global=1024 n=1000; global=4096 n=4000", *FAST, "--format", "json")
    assert [answer["launch"]["args"] for answer in answers(done)] == [{"n": 1000}, {"n": 4000}]
    assert [answer["launch"]["global"] for answer in answers(done)] == [[1024], [4096]]
    assert all(len(answer["fit"]["points"]) == 2 for answer in answers(done))


@pytest.mark.parametrize(
    ("said", "wanted"),
    [
        ("auto", SizesWanted()),
        ("65536, 64k,1M", SizesWanted(work_items=(65536, 65536, 1 << 20))),
        ("0.5x,2x", SizesWanted(factors=(0.5, 2.0))),
        (".25x", SizesWanted(factors=(0.25,))),
    ],
)
def test_sizes_are_written_as_numbers_or_as_multiples(said: str, wanted: SizesWanted) -> None:
    assert sizes_wanted(said) == wanted


def test_written_launches_are_read_as_annotations_are() -> None:
    first, second = sizes_wanted("global=(64,64) local=8,8; n=7 fill.x=zeros ;").launches
    assert first.global_size is not None
    assert len(first.global_size) == 2
    assert dict(second.fills)["x"].kind == "zeros"


@pytest.mark.parametrize("said", ["", "big", "1024,", "-5", "0", "0x,1x", "4k8", "1e9", "global=", "global=1 n", "2 x"])
def test_what_is_no_size_is_named(said: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError):
        sizes_wanted(said)


def test_a_wrong_size_is_a_wrong_call_that_says_what_is_allowed(run: Run, file: Path) -> None:
    done = run("measure", str(file), "--sizes", "huge")
    assert done.returncode == 2
    assert "'huge' is not a size" in done.stderr
    assert "auto" in done.stderr
    done = run("measure", "--batch", "-", "--sizes", "auto", stdin="")
    assert done.returncode == 2
    assert "a batch says each size itself" in done.stderr
