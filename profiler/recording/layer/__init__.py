"""The OpenCL layer that records programs in any language: C sources, and `layer_library`, which builds or finds it.

The ICD loader loads it where OPENCL_LAYERS names it. `entry.c` is the way in; `layer.h` says what each file does.
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
# Once loaded it stays: threads of the program, and what it has registered for exit, may be inside when it is unloaded.
FLAGS = ("-std=c11", "-O2", "-fPIC", "-shared", "-fvisibility=hidden", "-pthread", "-Wl,-z,nodelete")
LIMIT_S = 120.0
_NO_LAYERS = ("win32", "cygwin", "darwin")  # their loaders or ours: the layer needs ELF, mmap and a loader with layers


class LayerUnavailable(KernelcastError):
    """The layer is not to be had on this machine; the message says why, and what to do."""

    code = "layer"


def layer_library() -> Path:
    """Return the layer's library, after building it if this machine has not yet. Raises LayerUnavailable."""
    if sys.platform in _NO_LAYERS:
        raise LayerUnavailable(f"the OpenCL layer is for Linux: on {sys.platform} only PyOpenCL programs are recorded")
    shipped = SOURCES / f"libkernelcast_layer-{sys.platform}-{platform.machine()}.so"
    if shipped.exists():
        return shipped
    path = cache_folder() / f"libkernelcast_layer-{_version()}-{platform.machine()}.so"
    if not path.exists():
        _build(path)
    return path


def cache_folder() -> Path:
    """Return where built libraries are kept."""
    return user_cache_path("kernelcast", appauthor=False) / "layer"


def _version() -> str:
    """Return what names everything that the library is made of."""
    digest = hashlib.sha256(" ".join(FLAGS).encode())
    for file in sorted(SOURCES.glob("*.[ch]")):
        digest.update(file.name.encode() + b"\0" + file.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


def _compiler() -> list[str]:
    """Return the command of a C compiler: the user's, the system's, or Zig's where its package is installed."""
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
    """Write the library whole or not at all, whoever else builds it meanwhile."""
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
