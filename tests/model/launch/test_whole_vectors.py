"""A vector's value as a list says what its components say one by one, wherever a launch is written."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from model.device_catalog import find_builtin
from model.engine import Engine, FileForecast
from model.launch.config import load_config
from server.cli.entry import main

_KERNEL = """__kernel void k(__global float *x, uint2 size, int n) {
  int i = get_global_id(0), j = get_global_id(1);
  if (i < size.x && j < size.y) x[j * size.x + i] += n;
}
"""


def _forecast(text: str, path: Path | None = None) -> FileForecast:
    device = find_builtin("generic-gpu")
    assert device is not None
    config = load_config(path.parent) if path is not None else None
    return Engine().forecast(text, path, device, config=config)


def _buffer(answer: FileForecast) -> int:
    (forecast,) = answer.forecasts
    assert forecast.launch is not None, forecast.problem
    return dict(forecast.launch.buffers)["x"]


def test_in_an_annotation() -> None:
    whole = _forecast(f"// kernelcast: global=(512, 512) size=(512, 2*64) n=1\n{_KERNEL}")
    parts = _forecast(f"// kernelcast: global=(512, 512) size.x=512 size.y=2*64 n=1\n{_KERNEL}")
    assert _buffer(whole) == _buffer(parts) == 512 * 128
    assert whole.annotation_problems == ()


def test_in_the_configuration(tmp_path: Path) -> None:
    (tmp_path / "kernelcast.toml").write_text('[[launch]]\nkernel = "k"\nglobal = [512, 512]\nargs.size = [512, 128]\n')
    assert _buffer(_forecast(_KERNEL, tmp_path / "k.cl")) == 512 * 128


@pytest.mark.parametrize("size", [[512, 128], "512, 128", ["512", "2*64"]])
def test_in_a_batch_and_in_a_call(tmp_path: Path, capsys: pytest.CaptureFixture[str], size: object) -> None:
    file, batch = tmp_path / "k.cl", tmp_path / "batch.jsonl"
    file.write_text(_KERNEL)
    batch.write_text(json.dumps({"file": str(file), "global": [512, 512], "args": {"size": size, "n": 1}}))
    assert main(["predict", "--batch", str(batch), "--device", "generic-gpu"]) == 0
    assert json.loads(capsys.readouterr().out)["launch"]["args"] == {"size.x": 512, "size.y": 128, "n": 1}
    call = ["predict", str(file), "--global", "512,512", "--arg", "size=(512, 128)", "--device", "generic-gpu"]
    assert main([*call, "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["launch"]["buffers"] == {"x": 512 * 128}


def test_a_wrong_number_of_values_is_named() -> None:
    answer = _forecast(f"// kernelcast: size=(1, 2, 3)\n{_KERNEL}")
    assert "`size` is a uint2 and takes 2 values" in answer.annotation_problems[0].message
    answer = _forecast(f"// kernelcast: n=(1, 2)\n{_KERNEL}")
    assert "`n` takes one value" in answer.annotation_problems[0].message
