"""The layer's library is built on first use, and says what is missing where it cannot be."""

from __future__ import annotations

import importlib.util
import os
import subprocess
from pathlib import Path

import pytest

from profiler.recording import layer
from profiler.recording.layer import LayerUnavailable, layer_library


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("CC", raising=False)


def compiler(folder: Path, script: str) -> None:
    folder.mkdir()
    (folder / "cc").write_text(f"#!/bin/sh\n{script}\n")
    (folder / "cc").chmod(0o755)


def test_a_library_is_built_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compiler(tmp_path / "bin", 'echo ran >> "$0.log"; for last; do :; done; echo library > "$last"')
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    assert layer_library() == layer_library()
    assert layer_library().read_text() == "library\n"
    assert (tmp_path / "bin" / "cc.log").read_text() == "ran\n"
    assert [path.name for path in layer.cache_folder().iterdir()] == [layer_library().name]


def test_without_a_compiler_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    with pytest.raises(LayerUnavailable, match="install gcc"):
        layer_library()


def test_a_compiler_that_fails_is_quoted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compiler(tmp_path / "bin", "echo 'log.c:1: fatal error: stdio.h: No such file or directory' >&2; exit 1")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    with pytest.raises(LayerUnavailable, match=r"stdio\.h: No such file.*libc6-dev"):
        layer_library()
    assert list(layer.cache_folder().iterdir()) == []


def test_a_cache_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file")
    with pytest.raises(LayerUnavailable, match="cache/kernelcast/layer cannot hold"):
        layer_library()


COMPARISON = """
#include <stddef.h>
#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_0_APIS
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <CL/cl_icd.h>
#define PLACE(place, result, name, parameters) \
    _Static_assert(offsetof(cl_icd_dispatch, name) == place * sizeof(void *), #name);
"""


def test_places_of_functions_are_those_of_khronos_headers(tmp_path: Path) -> None:
    if not Path("/usr/include/CL/cl_icd.h").exists():
        pytest.skip("no OpenCL headers here; make oracle-packages")
    ours = (layer.SOURCES / "opencl.h").read_text()
    tables = ours[ours.index("/* Functions that the layer calls") : ours.index("#define DECLARE_PLACE")]
    source = tmp_path / "comparison.c"
    source.write_text(f"{COMPARISON}{tables}\nCALLED_FUNCTIONS(PLACE)\nHOOKED_FUNCTIONS(PLACE)\n")
    subprocess.run(["cc", "-std=c11", "-w", "-fsyntax-only", str(source)], check=True, timeout=60)
