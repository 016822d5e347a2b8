"""The OpenCL layer, which records programs in any language: its C sources, and `layer_library`, which builds it.

The ICD loader loads the library that OPENCL_LAYERS names. `entry.c` has its entry points; `layer.h` lists the files.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import platform
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from platformdirs import user_cache_path

from model.errors import KernelcastError

SOURCES = Path(__file__).parent
COMPILERS = ("cc", "gcc", "clang")
# The library is never unloaded: threads of the program and its exit handlers may be running in it.
FLAGS = ("-std=c11", "-O2", "-fPIC", "-shared", "-fvisibility=hidden", "-pthread", "-Wl,-z,nodelete")
LIMIT_S = 120.0


class LayerUnavailable(KernelcastError):
    """The layer is not available on this machine; the message says why and what to do."""

    code = "layer"


def layer_library() -> Path:
    """Return the path of the layer's library; build it on first use. Raises LayerUnavailable."""
    shipped = SOURCES / f"libkernelcast_layer-{sys.platform}-{platform.machine()}.so"
    if shipped.exists():
        return shipped
    path = cache_folder() / f"libkernelcast_layer-{_version()}-{platform.machine()}.so"
    if not path.exists():
        _build(path)
    return path


def cache_folder() -> Path:
    """Return the folder of built libraries."""
    return user_cache_path("kernelcast", appauthor=False) / "layer"


def _version() -> str:
    """Return a hash of the sources and flags that the library is built from."""
    digest = hashlib.sha256(" ".join(FLAGS).encode())
    for file in sorted(SOURCES.glob("*.[ch]")):
        digest.update(file.name.encode() + b"\0" + file.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


def _compiler() -> list[str]:
    """Return the command of a C compiler: the one in CC, the system's, or Zig's if its package is installed."""
    if (chosen := shlex.split(os.environ.get("CC", ""))) and shutil.which(chosen[0]):
        return chosen
    for name in COMPILERS:
        if found := shutil.which(name):
            return [found]
    if importlib.util.find_spec("ziglang") is not None:
        return [sys.executable, "-m", "ziglang", "cc"]
    raise LayerUnavailable(
        "no C compiler to build the OpenCL layer with, so only PyOpenCL programs are recorded: install gcc and the C"
        " library's headers (on Debian: sudo apt install gcc libc6-dev), or pip install ziglang"
    )


def _build(path: Path) -> None:
    """Build the library and move it into place, so that no process ever sees an incomplete one."""
    compiler = _compiler()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=path.parent, prefix=".building-") as folder:
            built = Path(folder) / path.name
            _compile(compiler, built)
            built.replace(path)
    except OSError as error:
        raise LayerUnavailable(
            f"{path.parent} cannot hold the OpenCL layer: {error.strerror}; make room there or set XDG_CACHE_HOME"
        ) from None


def _compile(compiler: list[str], built: Path) -> None:
    command = [*compiler, *FLAGS, *map(str, sorted(SOURCES.glob("*.c"))), "-o", str(built)]
    try:
        ran = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", timeout=LIMIT_S,
            check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise LayerUnavailable(f"`{compiler[0]}` did not build the OpenCL layer within {LIMIT_S:.0f} s") from None
    if ran.returncode != 0:
        errors = [line for line in ran.stderr.splitlines() if "error" in line.lower()] or ran.stderr.splitlines()
        first = errors[0] if errors else f"status {ran.returncode}"
        raise LayerUnavailable(
            f"`{shlex.join(compiler)}` cannot build the OpenCL layer: {first}; are the C library's headers there"
            " (on Debian: sudo apt install libc6-dev)? Another compiler can be named in CC"
        )
