"""Makes OpenCL drivers that came with pip known to the loader, for one device process."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

SYSTEM_VENDORS = Path("/etc/OpenCL/vendors")
LOADER_VARIABLES = ("OCL_ICD_VENDORS", "OCL_ICD_FILENAMES")
INTELS_PACKAGE, _INTELS_LIBRARY = "intel-opencl-rt", "libintelocl.so"


def intels_library() -> Path | None:
    """Intel's CPU runtime where pip put it: beside this Python, or in the user's own folder. None if it is nowhere."""
    beside = Path(sys.prefix) / "lib" / _INTELS_LIBRARY
    if beside.exists():
        return beside
    try:
        files = distribution(INTELS_PACKAGE).files or ()
    except PackageNotFoundError:
        return None
    located = (Path(str(file.locate())).resolve() for file in files if file.name == _INTELS_LIBRARY)
    return next((path for path in located if path.exists()), None)


def driver_environment(environment: Mapping[str, str], folder: Path) -> dict[str, str]:
    """`environment`, with Intel's CPU runtime added if the wheel `intel-opencl-rt` is installed beside us.

    That wheel's own .icd file holds a path of the machine it was built on, and its libraries need LD_LIBRARY_PATH.
    PyOpenCL's loader finds the embedded PoCL by itself. Whoever sets the loader's variables is left alone. What the
    loader reads is written into `folder`, which the device process needs as long as it lives.
    """
    library = intels_library()
    if any(name in environment for name in LOADER_VARIABLES) or library is None:
        return dict(environment)
    vendors = folder / "vendors"
    vendors.mkdir()
    (vendors / "intel-cpu.icd").write_text(f"{library}\n", "utf-8")
    if SYSTEM_VENDORS.is_dir():  # naming a folder hides the system's own
        for known in SYSTEM_VENDORS.glob("*.icd"):
            (vendors / f"system-{known.name}").symlink_to(known)
    libraries = [str(library.parent), *filter(None, [environment.get("LD_LIBRARY_PATH")])]
    return {**environment, "OCL_ICD_VENDORS": str(vendors), "LD_LIBRARY_PATH": os.pathsep.join(libraries)}
