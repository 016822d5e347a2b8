"""Makes OpenCL drivers that came with pip known to the loader, for one device process."""

from __future__ import annotations

import contextlib
import importlib
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from platformdirs import user_cache_path

SYSTEM_VENDORS = Path("/etc/OpenCL/vendors")
LOADER_VARIABLES = ("OCL_ICD_VENDORS", "OCL_ICD_FILENAMES")
INTELS_PACKAGE, _INTELS_LIBRARY = "intel-opencl-rt", "libintelocl.so"
NVIDIAS_LIBRARY = "libnvidia-opencl.so.1"
_NVIDIAS_KERNEL_DRIVER = ("proc/driver/nvidia/version", "dev/nvidiactl")  # some containers have the latter alone
_LIBRARY_FOLDERS = (
    "usr/lib/x86_64-linux-gnu",
    "usr/lib/aarch64-linux-gnu",
    "usr/lib64",
    "usr/lib",
    "usr/local/nvidia/lib64",
    "run/opengl-driver/lib",
)


def intels_library() -> Path | None:
    """Intel's CPU runtime where pip put it: beside this Python, or in the user's own folder. None if it is nowhere."""
    beside = Path(sys.prefix) / "lib" / _INTELS_LIBRARY
    if beside.exists():
        return beside
    metadata = importlib.import_module("importlib.metadata")  # the server has this module, and need not wait for that
    try:
        files = metadata.distribution(INTELS_PACKAGE).files or ()
    except metadata.PackageNotFoundError:
        return None
    located = (Path(str(file.locate())).resolve() for file in files if file.name == _INTELS_LIBRARY)
    return next((path for path in located if path.exists()), None)


def nvidias_library() -> Path | None:
    """Return NVIDIA's OpenCL driver where it is installed and no file tells the loader so; None elsewhere.

    Containers get the driver's libraries from their host, and often without the file in /etc/OpenCL/vendors.
    """
    if not has_nvidias_kernel_driver(Path("/")):
        return None
    with contextlib.suppress(OSError):
        if any("nvidia" in file.read_text("utf-8", "replace") for file in SYSTEM_VENDORS.glob("*.icd")):
            return None
    return library_in(Path("/"))


def has_nvidias_kernel_driver(root: Path) -> bool:
    """Return whether it is loaded, and shown to this system or container."""
    return any((root / sign).exists() for sign in _NVIDIAS_KERNEL_DRIVER)


def library_in(root: Path) -> Path | None:
    """Return NVIDIA's OpenCL library in one of the usual folders below `root`."""
    return next((path for folder in _LIBRARY_FOLDERS if (path := root / folder / NVIDIAS_LIBRARY).exists()), None)


def without_blanks(library: Path, job_folder: Path) -> Path:
    """Intel's library under a path that it can read itself.

    It looks up its own path in /proc/self/maps and takes that to end at the first blank: the vector functions that lie
    beside it are not found then, and no context can be made. A link to it would not help, for maps names what it leads
    to; so the one library is copied into the user's cache and its neighbours are linked beside the copy. Where that has
    a blank in its own path, each job has a copy. If no folder will do, the library is returned as it was found.
    """
    if _is_plain(library):
        return library
    found = library.stat()
    name = f"intel-{found.st_size:x}-{found.st_mtime_ns:x}"
    for folder in (user_cache_path("kernelcast", appauthor=False), job_folder):
        copy = folder / name / library.name
        if not _is_plain(copy):
            continue
        with contextlib.suppress(OSError):  # no room, or not writable: then the next
            if not copy.exists():
                _copy(library, copy)
            return copy
    return library


def _copy(library: Path, copy: Path) -> None:
    """Whole or not at all, whoever else does the same meanwhile."""
    copy.parent.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    part = Path(tempfile.mkdtemp(dir=copy.parent.parent))
    try:
        shutil.copyfile(library.resolve(), part / library.name)
        for neighbour in library.parent.iterdir():
            if neighbour.name != library.name:
                (part / neighbour.name).symlink_to(neighbour.resolve())
        part.rename(copy.parent)
    except OSError:
        shutil.rmtree(part, ignore_errors=True)
        if not copy.exists():
            raise


def _is_plain(path: Path) -> bool:
    """Return whether the path can be in LD_LIBRARY_PATH, where a colon or a space would end it."""
    return re.search(r"[\s:]", str(path)) is None


def driver_environment(environment: Mapping[str, str], folder: Path) -> dict[str, str]:
    """Return `environment` with the drivers added that nothing on the system registers.

    These are Intel's CPU runtime of the wheel `intel-opencl-rt`, whose own .icd file holds a path of the machine it was
    built on, and whose libraries need LD_LIBRARY_PATH; and NVIDIA's driver in a container without its .icd file.
    PyOpenCL's loader finds the embedded PoCL by itself. Whoever sets the loader's variables is left alone. What the
    loader reads is written into `folder`, which the device process needs as long as it lives.
    """
    if any(name in environment for name in LOADER_VARIABLES):
        return dict(environment)
    intel, nvidia = intels_library(), nvidias_library()
    if intel is None and nvidia is None:
        return dict(environment)
    vendors = folder / "vendors"
    vendors.mkdir()
    if SYSTEM_VENDORS.is_dir():  # naming a folder hides the system's own
        for known in SYSTEM_VENDORS.glob("*.icd"):
            (vendors / f"system-{known.name}").symlink_to(known)
    changed = {"OCL_ICD_VENDORS": str(vendors)}
    if nvidia is not None:
        (vendors / "nvidia.icd").write_text(f"{nvidia}\n", "utf-8")
    if intel is not None:
        library = without_blanks(intel, folder)
        (vendors / "intel-cpu.icd").write_text(f"{library}\n", "utf-8")
        libraries = [str(library.parent), *filter(None, [environment.get("LD_LIBRARY_PATH")])]
        changed["LD_LIBRARY_PATH"] = os.pathsep.join(libraries)
    return {**environment, **changed}
