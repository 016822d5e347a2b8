"""`kernelcast predict` ends with what would help: as text for people, as JSON for programs."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

Run = Callable[..., subprocess.CompletedProcess[str]]

TURN = """// kernelcast: global=(2048, 2048) local=(64, 4) a=2048*2048 b=2048*2048 n=2048
__kernel void turn(__global const float *restrict a, __global float *restrict b, const int n)
{
    const int x = get_global_id(0), y = get_global_id(1);
    b[x * n + y] = a[y * n + x];
}
"""
GPU = "nvidia-a100-pcie-40gb"


def predict(run: Run, tmp_path: Path, *more: str, config: str = "") -> str:
    (tmp_path / "turn.cl").write_text(TURN)
    if config:
        (tmp_path / "kernelcast.toml").write_text(config)
    ran = run("predict", "turn.cl", "--device", GPU, *more)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def test_text_says_the_line_the_reason_and_the_figure(run: Run, tmp_path: Path) -> None:
    told = " ".join(predict(run, tmp_path).split())
    assert "Advice for turn (2048x2048 / 64x4): - line 5: Neighbouring work-items store to `b`" in told
    assert "It may save about" in told
    assert "[uncoalesced-access]" in told


def test_json_has_code_line_message_and_gain(run: Run, tmp_path: Path) -> None:
    (advice,) = json.loads(predict(run, tmp_path, "--format", "json"))["advice"]
    assert (advice["code"], advice["line"]) == ("uncoalesced-access", 5)
    assert "1024 bytes for 128" in advice["message"]
    assert advice["gain_us"] > 0


def test_what_the_project_ignores_is_not_said(run: Run, tmp_path: Path) -> None:
    told = predict(run, tmp_path, "--format", "json", config='[advice]\nignore = ["uncoalesced-access"]\n')
    assert json.loads(told)["advice"] == []
