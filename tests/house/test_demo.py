"""The demo shows what happened: figures where there are figures, reasons where there are none."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

BROKEN = (
    "// kernelcast: global=64 x=64\n__kernel void broken(__global float *x) { x[get_global_id(0)] = undeclared; }\n"
)


def _demo(repository: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(repository / "tests/demo/show.py"), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)


@pytest.mark.device
def test_a_kernel_that_does_not_build_is_a_row_with_the_reason(repository: Path, tmp_path: Path) -> None:
    shutil.copy(repository / "tests/kernels/half_blend.cl", tmp_path)
    (tmp_path / "broken.cl").write_text(BROKEN, encoding="utf-8")
    picture = tmp_path / "pictures/demo.svg"
    arguments = ("--kernels", str(tmp_path), "--budget-s", "0.2", "--picture", str(picture))
    done = _demo(repository, *arguments)
    assert done.returncode == 0, done.stdout + done.stderr
    rows = {line.split()[0]: line for line in done.stdout.splitlines() if line.split()}
    assert "see below" in rows["broken"]
    assert "broken.cl does not build: line 2: use of undeclared identifier" in rows["broken:"]
    assert "%" in rows["half_blend"]
    assert "1 of 2 launches" in done.stdout
    assert "`.venv/bin/kernelcast learn --device pocl`" in done.stdout, "what would make predictions better"
    assert "half_blend" in picture.read_text(encoding="utf-8")


def test_without_a_device_the_demo_says_so(repository: Path) -> None:
    done = _demo(repository, "--device", "no-such-device")
    assert done.returncode == 1
    assert "The demo cannot run" in done.stdout
    assert "Traceback" not in done.stderr
