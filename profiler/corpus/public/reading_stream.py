"""BabelStream's result files -> rows: the time of each kernel and the size of the arrays, for GPUs.

Its repository keeps them below `results/` (in its history: the folder has since been removed), one file a device and
programming interface. The files of its first versions do not name the device: their own names do.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from profiler.corpus.public.row import PublicRow, settings
from profiler.corpus.public.stream import DOT, DOUBLE_BYTES, arrays

STREAM_SOURCE = "UoB-HPC/BabelStream results (own licence)"
# With error correction off where both were measured, since that is the bandwidth that datasheets state; CUDA and HIP
# only for devices that OpenCL was not measured on. Two files of one device have arrays of different lengths.
FILES = {
    "v3.3/titanxp/ocl.txt": "NVIDIA TITAN Xp",
    "v2.0/furyx/ocl.txt": "AMD Radeon R9 Fury X",
    "v2.0/s9150/ocl.txt": "AMD FirePro S9150",
    "v2.0/gtx980ti/ocl.txt": "NVIDIA GeForce GTX 980 Ti",
    "v2.0/k20x/ocl.txt": "Tesla K20X",
    "v1.0/opencl/nvidia-k80-ecc-off.txt": "Tesla K80",
    "v1.0/opencl/nvidia-k40c-ecc-off.txt": "Tesla K40c",
    "v1.0/opencl/nvidia-k20c-ecc-off.txt": "Tesla K20c",
    "v1.0/opencl/nvidia-gtx-580.txt": "NVIDIA GeForce GTX 580",
    "v1.0/opencl/nvidia-gtx-780-ti.txt": "NVIDIA GeForce GTX 780 Ti",
    "v1.0/opencl/nvidia-gtx-980.txt": "NVIDIA GeForce GTX 980",
    "v1.0/opencl/amd-a10-7850k-radeon-r7.txt": "AMD Radeon R7 Graphics (A10-7850K)",
    "v1.0/opencl/amd-firepro-s10000.txt": "AMD FirePro S10000",
    "v1.0/opencl/amd-radeon-7970.txt": "AMD Radeon HD 7970",
    "v1.0/opencl/amd-radeon-r9-290x.txt": "AMD Radeon R9 290X",
    "v1.0/opencl/amd-radeon-r9-295x2.txt": "AMD Radeon R9 295X2",
    "v1.0/opencl/amd-r9-fury-x.txt": "AMD Radeon R9 Fury X",
    "v1.0/opencl/amd-firepro-s9150-ecc-off.txt": "AMD FirePro S9150",
    "v1.0/opencl/nvidia-gtx-980-ti.txt": "NVIDIA GeForce GTX 980 Ti",
    "v2.0/furynano/hip.txt": "AMD Radeon R9 Nano",
    "v2.0/s9300x2/hip.txt": "AMD FirePro S9300 X2",
    "v2.0/titanx/hip.txt": "NVIDIA GeForce GTX TITAN X",
}
CUDA_GROUP = 1024  # work-items a group, as its CUDA and HIP versions launch; its OpenCL version lets the driver choose
_LINE = re.compile(r"^(Copy|Mul|Add|Triad|Dot)\s+([\d.]+)\s+([\d.]+)\s+([\d.]+)\s+([\d.]+)", re.MULTILINE)
_DOT_LAUNCH = re.compile(r"(\d+) groups of size (\d+)")
_KNOWN_DOUBLES = (50_000_000, 49_999_872, 50 << 20, 1 << 25)  # of an array, in its versions
_CLOSE = 0.01


def stream_rows(folder: Path) -> Iterator[PublicRow]:
    """Rows of the files below `folder`, its `results/`; files that are not there are left out."""
    for name, device in FILES.items():
        is_opencl = name.endswith("/ocl.txt") or "/opencl/" in name
        if (folder / name).is_file():
            yield from rows_of_text((folder / name).read_text("utf-8"), device, is_opencl=is_opencl)


def rows_of_text(text: str, device: str, *, is_opencl: bool) -> Iterator[PublicRow]:
    """Yield one row a kernel, with the time of the fastest run, which is what the stated rate is of.

    The mean lies 1 to 2 % above it, or far more where the first run was slow. The size of the arrays follows from rate
    and time, since the first versions do not state it exactly. Raises ValueError where it is none that BabelStream
    is run with.
    """
    dot_launch = _DOT_LAUNCH.search(text)
    found = [(name.lower(), *map(float, numbers)) for name, *numbers in _LINE.findall(text)]
    doubles = _doubles(found)
    for operation, mb_s, *_ in found:
        chosen: dict[str, object] = {} if is_opencl else {"group": CUDA_GROUP}
        if operation == DOT:
            if dot_launch is None:
                continue
            chosen = {"groups": dot_launch[1], "group": dot_launch[2]}
        said = settings({"operation": operation, "doubles": doubles})
        runtime_us = arrays(operation) * doubles * DOUBLE_BYTES / mb_s  # a MB/s is a byte a microsecond
        yield PublicRow("stream", device, said, settings(chosen), runtime_us, None, STREAM_SOURCE)


def _doubles(found: Iterable[tuple[str, float, float, float, float]]) -> int:
    """Return the length of an array; `found` holds operation, MB/s, and the least, greatest and mean seconds."""
    sizes = [1e6 * mb_s * least_s / arrays(operation) / DOUBLE_BYTES for operation, mb_s, least_s, *_ in found]
    mean = sum(sizes) / len(sizes)
    nearest = min(_KNOWN_DOUBLES, key=lambda known: abs(known - mean))
    if abs(nearest / mean - 1) > _CLOSE:
        raise ValueError(f"arrays of {mean:.0f} doubles: no size that BabelStream is run with")
    return nearest
