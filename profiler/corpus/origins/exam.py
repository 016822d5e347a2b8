"""Keeps out what the exam is made of: the benchmark suites that accuracy is reported on, and copies of them."""

from __future__ import annotations

import re

_SUITES = (
    r"rodinia|parboil|polybench|opendwarfs|mixbench|clpeak|\bshoc\b|scalable heterogeneous computing|"
    r"amd[-_ ]?app[-_ ]?sdk|amd ?accelerated parallel processing|ati[-_ ]?stream[-_ ]?sdk|app ?sdk|"
    r"nvidia[-_ ]?(?:gpu[-_ ]?computing[-_ ]?|opencl[-_ ]?|cuda[-_ ]?)?sdk|gpu computing sdk|oclTranspose|"
    r"nvidia corporation.{0,40}all rights reserved.{0,400}end user license"
)
_NAMED = re.compile(_SUITES, re.IGNORECASE | re.DOTALL)
# Kernels that these suites, and only they, made known by name.
_KERNELS = re.compile(
    r"^(?:lud_|srad_|hotspot|calculate_temp|bpnn_|needle_cl|nw_kernel|pathfinder|dynproc_kernel|lavaMD|kernel_gpu_opencl|"
    r"streamcluster|mummergpu|IMGVF|GICOV|BFS_[12]|BFS_kernel_warp|gemver_|fdtd_kernel|correlation_|covar_|syr2?k_|"
    r"mm[23]_kernel|adi_kernel|jacobi[12]D_|bottom_scan|top_scan|cfd_|compute_flux|NearestNeighbor|"
    r"cutoff_potential_lattice|spmv_jds|histo_(?:main|prescan|final|intermediates)|mysgemmNT|"
    r"blackScholes$|histogram256$|matrixTranspose$|floydWarshallPass|bitonicSort$|fastWalshTransform|quasiRandomGenerator|"
    r"nbody_sim|QuasirandomGenerator|MersenneTwister|oclSobel)"
)
HEAD = 4000  # characters of a file in which an author says where it is from


def is_exam_path(path: str) -> bool:
    """Whether a path, or a part of one, names a suite."""
    return bool(_NAMED.search(path))


def is_exam_text(text: str) -> bool:
    """Whether the head of a file names a suite."""
    return bool(_NAMED.search(text[:HEAD]))


def is_exam_kernel(name: str) -> bool:
    return bool(_KERNELS.match(name))
