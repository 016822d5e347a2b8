"""Keeps out what the exam is made of: suites and programs that accuracy is reported on, copies, and their debtors."""

from __future__ import annotations

import re

_SUITES = (
    r"rodinia|parboil|polybench|opendwarfs|mixbench|clpeak|\bshoc\b|scalable heterogeneous computing|"
    r"amd[-_ ]?app[-_ ]?sdk|amd ?accelerated parallel processing|ati[-_ ]?stream[-_ ]?sdk|app ?sdk|"
    r"nvidia[-_ ]?(?:gpu[-_ ]?computing[-_ ]?|opencl[-_ ]?|cuda[-_ ]?)?sdk|gpu computing sdk|oclTranspose|"
    r"nvidia corporation.{0,40}all rights reserved.{0,400}end user license"
)
# Programs that the exam was widened to.
_PROGRAMS = (
    r"hecbench|openmm|gromacs|\bmcx(?:cl|lab|studio|_|\b)|monte carlo extreme|llama[-_. ]?cpp|\bggml|gpuowl|\bprpll\b|"
    r"ethminer|xmrig|john[-_ ]?the[-_ ]?ripper|\bjohn/|openwall|pyfai|\bblender\b|"
    r"(?:^|/)opencv(?:-[\d.]+)?/modules/"
)
_NAMED = re.compile(f"{_SUITES}|{_PROGRAMS}", re.IGNORECASE | re.DOTALL)
# How files of OpenCV's main repository begin, and those of its other one, which is no part of the exam.
_OPENCV = re.compile(r"open source computer vision library|part of (?:the )?opencv project", re.IGNORECASE)
_OTHER_OPENCV = "opencv+opencv_contrib@"
# Kernels that these suites and programs, and only they, made known by name.
_KERNELS = re.compile(
    r"^(?:lud_|srad_|hotspot|calculate_temp|bpnn_|needle_cl|nw_kernel|pathfinder|dynproc_kernel|lavaMD|kernel_gpu_opencl|"
    r"streamcluster|mummergpu|IMGVF|GICOV|BFS_[12]|BFS_kernel_warp|gemver_|fdtd_kernel|correlation_|covar_|syr2?k_|"
    r"mm[23]_kernel|adi_kernel|jacobi[12]D_|bottom_scan|top_scan|cfd_|compute_flux|NearestNeighbor|"
    r"cutoff_potential_lattice|spmv_jds|histo_(?:main|prescan|final|intermediates)|mysgemmNT|"
    r"blackScholes$|histogram256$|matrixTranspose$|floydWarshallPass|bitonicSort$|fastWalshTransform|quasiRandomGenerator|"
    r"nbody_sim|prescan$|uniformAdd$|QuasirandomGenerator|MersenneTwister|oclSobel|"
    r"nbnxn?m?_kernel|mcx_main_loop|ethash_(?:search|calculate_dag|hash)|cn[0-9]{1,2}$|randomx_|kernel_ocl_|"
    r"kernel_(?:mul_mat|mul_mv|mul_mm|get_rows|rms_norm|soft_max|rope_|cpy_f|diag_mask|gelu|silu)|"
    r"fftMiddle(?:In|Out)|carryFused|tailFused|tailSquare|tailMul)"
)
HEAD = 4000  # characters of a file in which an author says where it is from


def is_exam_path(path: str) -> bool:
    """Return whether a path, or a part of one, names a suite or program."""
    return bool(_NAMED.search(path))


def is_exam_text(text: str, package: str = "") -> bool:
    """Return whether the head of a file names a suite or program, be it as a credit alone.

    `package` is the name of the folder of the package that holds it.
    """
    head = text[:HEAD]
    return bool(_NAMED.search(head) or (not package.startswith(_OTHER_OPENCV) and _OPENCV.search(head)))


def is_exam_kernel(name: str) -> bool:
    return bool(_KERNELS.match(name))
