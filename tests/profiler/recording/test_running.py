"""The environment that a program is recorded in."""

from __future__ import annotations

from pathlib import Path

from profiler.recording.running import recording_environment

LAYER = Path("/cache/layer.so")


def environment(given: dict[str, str], layer: Path | None = LAYER) -> dict[str, str]:
    return recording_environment(given, Path("/logs"), layer=layer, socket=None, profile=False)


def test_pyopencls_cache_is_off_only_where_the_layer_records() -> None:
    assert environment({})["PYOPENCL_NO_CACHE"] == "1"
    assert "PYOPENCL_NO_CACHE" not in environment({}, layer=None)


def test_a_recording_inside_of_another_names_the_layer_once() -> None:
    inner = environment(environment({"OPENCL_LAYERS": "/usr/lib/other.so"}))
    assert inner["OPENCL_LAYERS"] == f"/usr/lib/other.so:{LAYER}"
