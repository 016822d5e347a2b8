"""On the command line, a file that its host program joins with others is measured and compiled with them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from server.cli.entry import main

pytestmark = pytest.mark.device


SUMS = """__kernel void sums(__global REAL4 *x)
{
    __local REAL4 t[TILE];
    t[get_local_id(0) % TILE] = x[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = 0; i < ROUNDS; i++)
        x[get_global_id(0)] += t[MIN(i, TILE - 1)];
}
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "kernelcast.toml").touch()
    (tmp_path / "defines.cl").write_text("#define ID get_global_id(0)\n#define GAIN 3\n")
    (tmp_path / "own helpers.cl").write_text("float heavy(float v)\n{\n    return v * GAIN;\n}\n")
    path = tmp_path / "main.cl"
    path.write_text("__kernel void move(__global float *out)\n{\n    out[ID] = heavy(out[ID]);\n}\n")
    return path


def test_it_is_measured(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["measure", str(file), "--device", "pocl", "--global", "4096", "--format", "json"]) == 0
    answer = json.loads(capsys.readouterr().out.splitlines()[0])
    assert answer["runtime_us"]["median"] > 0
    assert any("defines.cl and own helpers.cl" in str(each) for each in answer["assumptions"])


def test_stand_ins_are_built_and_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "sums.cl"
    path.write_text(SUMS)
    assert main(["measure", str(path), "--device", "pocl", "--global", "4096", "--format", "json"]) == 0
    answer = json.loads(capsys.readouterr().out.splitlines()[0])
    assert answer["runtime_us"]["median"] > 0
    assert any("`REAL4`=float4, `MIN`=" in str(each) for each in answer["assumptions"])
    assert any("`ROUNDS`=" in str(each) for each in answer["assumptions"])
    assert main(["compile", str(path), "--device", "pocl", "--global", "4096"]) == 0


def test_errors_keep_the_files_own_lines(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file.write_text(file.read_text().replace("heavy(out[ID]);", "heavy(out[ID]) +;"))
    assert main(["compile", str(file), "--device", "pocl", "--global", "4096"]) == 1
    assert "line 3" in capsys.readouterr().err
