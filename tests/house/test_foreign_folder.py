"""A user's own folders called `model`, `server` or `profiler` are never imported, in no process of ours."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

IMPOSTORS = ("model", "server", "profiler", "numpy", "pyopencl")
IMPOSTOR = """
import pathlib
pathlib.Path({trace!r}).write_text(__name__)
raise SystemExit("an impostor was imported: " + __name__)
"""


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    """Exists as soon as any impostor was imported, whichever process did it."""
    return tmp_path / "trace"


@pytest.fixture
def foreign_folder(tmp_path: Path, trace: Path, repository: Path) -> Path:
    """A workspace that holds packages of our names beside a kernel."""
    folder = tmp_path / "work space"
    for name in IMPOSTORS:
        (folder / name).mkdir(parents=True)
        (folder / name / "__init__.py").write_text(IMPOSTOR.format(trace=str(trace)), encoding="utf-8")
    shutil.copy(repository / "tests/kernels/half_blend.cl", folder)
    return folder


def _run(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300, check=False)


def test_predicting_imports_none_of_them(kernelcast: str, foreign_folder: Path, trace: Path) -> None:
    done = _run(foreign_folder, kernelcast, "predict", "half_blend.cl", "--format", "json")
    assert not trace.exists(), trace.read_text()
    assert done.returncode == 0, done.stderr
    assert "half_blend" in done.stdout


@pytest.mark.device
def test_the_measuring_process_imports_none_of_them(kernelcast: str, foreign_folder: Path, trace: Path) -> None:
    done = _run(foreign_folder, kernelcast, "measure", "half_blend.cl", "--repeat", "5", "--format", "json")
    assert not trace.exists(), trace.read_text()
    assert done.returncode == 0, done.stderr
    assert '"median"' in done.stdout


@pytest.mark.device
def test_discovery_imports_none_of_them(kernelcast: str, foreign_folder: Path, trace: Path) -> None:
    done = _run(foreign_folder, kernelcast, "devices", "--format", "json")
    assert not trace.exists(), trace.read_text()
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)


def test_the_impostors_would_be_noticed(foreign_folder: Path, trace: Path) -> None:
    """Else the promises above would hold for the wrong reason."""
    import sys

    _run(foreign_folder, sys.executable, "-c", "import model")
    assert trace.exists()
