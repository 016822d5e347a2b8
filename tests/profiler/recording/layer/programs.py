"""The program that the tests and the bench record, built against the ICD loader of PyOpenCL's wheel."""

from __future__ import annotations

import importlib.util
import os
import subprocess
from pathlib import Path

from profiler.device_worker.unknown_processor import is_old, nearest_known, pocl_libraries, processor_facts
from profiler.recording.layer import SOURCES

NAME_PROCESSOR = Path(__file__).resolve().parents[3] / "newer_processors" / "name_processor.c"
WARNINGS = ("-Wall", "-Wextra", "-Werror")


def bundled_loader() -> Path | None:
    """Return the ICD loader that PyOpenCL's wheel brings: C programs can use it, too."""
    spec = importlib.util.find_spec("pyopencl")
    if spec is None or spec.origin is None:
        return None
    return next(iter((Path(spec.origin).parent / ".libs").glob("libOpenCL*")), None)


def loader_environment(loader: Path) -> dict[str, str]:
    """Return what a program needs to find PoCL through that loader, beside the caller's environment."""
    environment = {**os.environ, "PYOPENCL_HOME": str(loader.parent.parent)}
    if not is_old(facts := processor_facts()):
        environment["KERNELCAST_TESTS_POCL"] = next(iter(pocl_libraries()))
        environment["KERNELCAST_TESTS_PROCESSOR"] = nearest_known(facts["flags"].split())
    return environment


def compile_launcher(loader: Path, into: Path, *flags: str) -> Path:
    """Build `launcher.c` against the loader, with whose RPATH it finds the drivers beside it."""
    link = (str(loader), f"-Wl,--disable-new-dtags,-rpath,{loader.parent}", "-pthread", "-ldl")
    command = [
        "cc",
        "-std=gnu11",
        "-O1",
        *WARNINGS,
        *flags,
        f"-I{SOURCES}",
        str(Path(__file__).with_name("launcher.c")),
        str(NAME_PROCESSOR),
        *link,
        "-o",
    ]
    subprocess.run([*command, str(into)], check=True, timeout=120)
    return into
