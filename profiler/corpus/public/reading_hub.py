"""Kernel Tuner's cache files, as benchmark_hub keeps them (gzipped JSON) -> rows, for campaigns that no table has.

Files of one kernel on one GPU: every configuration with its runs. The median of the runs counts, not the `time` beside
them, which one copy of a campaign states otherwise. Campaigns whose runs contradict each other are not listed: those of
`pnpoly` on an RTX 2080 Ti and a TITAN RTX, where 20 million points against 600 edges took 0.02 ms. The kernel that ran
on the W7800 does not look at USE_SHMEM (with and without, times agree within 1 %): what says "without" is left out.
"""

from __future__ import annotations

import gzip
import json
import statistics
from collections.abc import Iterator
from pathlib import Path

from profiler.corpus.public.reading import TUNED_SOURCE, tuned_settings
from profiler.corpus.public.row import PublicRow

_UNUSED = "currently_unused/cachefiles/KernelTuner data"
# Below the repository: kernel and device. Two of the files do not name theirs.
CAMPAIGNS = {
    f"{_UNUSED}/convolution/RTX_3090.json.gz": ("convolution", "NVIDIA GeForce RTX 3090"),
    f"{_UNUSED}/gemm/RTX_3090.json.gz": ("gemm", "NVIDIA GeForce RTX 3090"),
    f"{_UNUSED}/pnpoly/RTX_3090.json.gz": ("pnpoly", "NVIDIA GeForce RTX 3090"),
    "cachefiles/convolution_milo/MI250X.json.gz": ("convolution", "AMD Instinct MI250X"),
    "cachefiles/convolution_milo/W7800.json.gz": ("convolution", "AMD Radeon PRO W7800"),
    "cachefiles/dedispersion_milo/MI250X.json.gz": ("dedispersion", "AMD Instinct MI250X"),
    "cachefiles/dedispersion_milo/W7800.json.gz": ("dedispersion", "AMD Radeon PRO W7800"),
}
ALWAYS_LOCAL = "convolution", "AMD Radeon PRO W7800"


def hub_rows(folder: Path) -> Iterator[PublicRow]:
    """Rows of the campaigns below `folder`, the repository; those that are not there are left out."""
    for name, (kernel, device) in CAMPAIGNS.items():
        if (folder / name).is_file():
            yield from campaign_rows(folder / name, kernel, device)


def campaign_rows(path: Path, kernel: str, device: str) -> Iterator[PublicRow]:
    """Yield the configurations that ran; where one did not build or launch, `time` holds a word."""
    cache = json.loads(gzip.decompress(path.read_bytes()))["cache"]
    for configuration in cache.values():
        times_ms = configuration.get("times")
        if isinstance(configuration["time"], str) or not times_ms:
            continue
        median_ms = statistics.median(times_ms)
        noise = 100 * statistics.pstdev(times_ms) / median_ms
        said = tuned_settings(kernel, configuration)
        if (kernel, device) == ALWAYS_LOCAL and dict(said)["use_shmem"] == "0":
            continue
        yield PublicRow(kernel, device, said, (), 1000 * median_ms, noise, TUNED_SOURCE)
