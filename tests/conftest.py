"""What all tests share: a user-data folder of their own, and one guard for tests that need an OpenCL device."""

from __future__ import annotations

import functools
import gc
import os
import runpy
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from profiler.device_worker.unknown_processor import is_old, processor_facts

REPOSITORY = Path(__file__).resolve().parent.parent

# Set before anything of ours reads it, and inherited by every process a test starts: no test may see or change the
# calibrations, measurements and reports of whoever runs it.
_DATA = tempfile.TemporaryDirectory(prefix="kernelcast-tests-")
os.environ["XDG_DATA_HOME"] = _DATA.name
os.environ["XDG_CACHE_HOME"] = str(Path(_DATA.name) / "cache")
# Threads that spin while they wait take the processors from the other workers: trees grew twenty times as slowly.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
# What the analytical model says is asserted without a learned model; tests of the latter bring weights of their own, or
# ask for those that ship by taking this away.
os.environ["KERNELCAST_WEIGHTS"] = str(Path(_DATA.name) / "no weights")
# What PoCL has built once it need not build again: users' device processes have a folder each, which tests that are
# about it take away this for. The workers of pytest-xdist share that of the process that started them.
os.environ.setdefault("POCL_CACHE_DIR", str(Path(_DATA.name) / "pocl"))
Path(os.environ["POCL_CACHE_DIR"]).mkdir(exist_ok=True)

# PoCL's compiler may be older than this processor; Kernelcast's own processes know how to go on then.
if not is_old(processor_facts()):
    _SITE = REPOSITORY / "tests" / "newer_processors"
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (str(_SITE), os.environ.get("PYTHONPATH"))))
    runpy.run_path(str(_SITE / "sitecustomize.py"))

# Tests assert what is true on every machine at every moment; how fast it is, `make bench` measures.
settings.register_profile("kernelcast", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("kernelcast")


@pytest.fixture(scope="session", autouse=True)
def _remove_data() -> Iterator[None]:
    yield
    _DATA.cleanup()


@pytest.fixture(scope="session")
def repository() -> Path:
    """The root of the checkout."""
    return REPOSITORY


@pytest.fixture(scope="session")
def kernelcast() -> str:
    """The installed console script: the only way in which Kernelcast is ever started."""
    script = Path(sys.executable).with_name("kernelcast")
    if not script.exists():
        pytest.fail(f"{script} is missing: run `make test`, which installs it")
    return str(script)


def pytest_collection_finish() -> None:
    """All tests and what they import stay to the end: no search for garbage need go through millions of objects."""
    gc.collect()
    gc.freeze()


def pytest_runtest_setup(item: pytest.Item) -> None:
    if item.get_closest_marker("device") and (reason := _why_no_device()):
        pytest.skip(reason)


@functools.cache
def _why_no_device() -> str | None:
    """Asked in a process of its own, since a broken driver may take its process down."""
    probe = "import pyopencl; print(sum(len(p.get_devices()) for p in pyopencl.get_platforms()))"
    answer = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, timeout=120, check=False)
    if answer.returncode == 0 and answer.stdout.strip() != "0":
        return None
    last_words = (answer.stderr.strip().splitlines() or ["no devices"])[-1]
    return f"no OpenCL device here ({last_words}); `pip install pocl-binary-distribution` brings one"
