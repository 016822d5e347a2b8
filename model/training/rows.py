"""The rows to learn from, in arrays: facts of launches, devices and compiled code, analytical and measured times.

A folder of Parquet files holds them (`profiler.corpus.facts` writes it); here only arrays are known.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]
Texts = npt.NDArray[np.str_]
Flags = npt.NDArray[np.bool_]
COMPILER_TESTS = "compiler tests"  # the group of packages that hold kernels to compile, not to run


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """One entry a measured launch on a device; first come the arrays of facts, each [rows, ...].

    `split` is that of the row's kernel: `train`, `known` (of families in training, held out of it), `validation`,
    `test-origins` or `left out`.
    """

    launch: Floats  # [rows, launch facts]
    analytic: Floats  # [rows, analytic facts], log2 us
    device: Floats  # [rows, device facts]
    compiled: Floats  # [rows, compiled facts]; NaN where nobody compiled it
    terms: Floats  # [rows, TERMS], log2 of the launch's totals in the device's own measure
    runtime: Ints  # [rows], index of RUNTIMES
    log2_us: Floats  # [rows], as measured, brought to the pace of the machine where the device's profile was calibrated
    weight: Floats  # [rows]
    kernel: Texts  # [rows], ids
    launch_key: Texts
    device_name: Texts
    family: Texts
    group: Texts
    origin: Texts
    split: Texts
    vary: Texts  # what sets the launch apart from its kernel's first
    is_repeat: Flags  # measured again, for the noise
    is_disturbed: Flags
    items: Floats  # work-items
    data: Floats  # elements that the kernel works on; 0 = not known

    def where(self, *splits: str) -> Ints:
        """Return the indices of the rows of `splits` that were measured for the first time."""
        found: Ints = np.flatnonzero(np.isin(self.split, splits) & ~self.is_repeat)
        return found

    def judged(self, *splits: str) -> Ints:
        """Return the indices of undisturbed rows to judge by; kernels of compiler tests do not count as programs."""
        counts = ~self.is_repeat & ~self.is_disturbed & (self.group != COMPILER_TESTS)
        found: Ints = np.flatnonzero(np.isin(self.split, splits) & counts)
        return found
