"""How long functions take on CPUs beside `exp`, by the library that a runtime has them in.

Measured once on an Intel Xeon (Sapphire Rapids) with PoCL 3.0 and Intel's runtime 2026.22: a loop of calls, less a loop
without. Calibrations measure the commonest functions on each device, and these times stand for the others.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import NamedTuple

from model.device import Device


class FunctionTime(NamedTuple):
    """What a function takes of one float, in times that `exp` takes, and of four at once beside `exp` of four.

    `four` is 0 where four at once are not what one is: those are priced as if nothing was known of the function.
    """

    one: float
    four: float


# By PoCL and by Intel's runtime.
_OF_FLOATS = {
    "acos": (1.40, 1.56),
    "acosh": (4.20, 7.66),
    "acospi": (1.40, 1.48),
    "asin": (1.43, 1.36),
    "asinh": (4.13, 3.40),
    "asinpi": (1.42, 1.47),
    "atan": (6.97, 1.35),
    "atan2": (6.80, 2.98),
    "atan2pi": (1.32, 2.85),
    "atanh": (3.97, 2.52),
    "atanpi": (1.08, 1.84),
    "cbrt": (7.05, 1.72),
    "cos": (3.17, 1.70),
    "cosh": (2.51, 1.32),
    "cospi": (1.60, 0.97),
    "erf": (8.42, 2.84),
    "erfc": (14.74, 11.38),
    "exp": (1.00, 1.00),
    "exp10": (1.63, 1.12),
    "exp2": (1.49, 0.76),
    "expm1": (4.44, 1.87),
    "fmod": (3.39, 1.18),
    "fract": (0.62, 8.65),
    "frexp": (0.57, 8.64),
    "half_cos": (3.21, 1.43),
    "half_divide": (0.17, 0.55),
    "half_exp": (0.99, 0.72),
    "half_exp10": (0.99, 0.72),
    "half_exp2": (0.99, 0.72),
    "half_log": (2.74, 0.91),
    "half_log10": (2.74, 0.91),
    "half_log2": (2.74, 0.91),
    "half_powr": (18.96, 1.78),
    "half_recip": (0.15, 0.21),
    "half_rsqrt": (0.19, 0.21),
    "half_sin": (3.21, 1.43),
    "half_sqrt": (0.20, 0.85),
    "half_tan": (4.23, 1.77),
    "hypot": (4.54, 0.89),
    "lgamma": (13.24, 71.89),
    "lgamma_r": (13.24, 71.89),
    "log": (2.69, 1.41),
    "log10": (3.10, 1.67),
    "log1p": (2.82, 2.22),
    "log2": (1.29, 1.59),
    "logb": (0.67, 0.52),
    "modf": (0.39, 8.98),
    "native_cos": (1.97, 1.64),
    "native_divide": (0.15, 0.11),
    "native_exp": (1.02, 0.74),
    "native_exp10": (1.61, 0.73),
    "native_exp2": (1.51, 0.53),
    "native_log": (2.75, 0.83),
    "native_log10": (3.15, 0.85),
    "native_log2": (1.32, 0.79),
    "native_powr": (19.01, 1.80),
    "native_recip": (0.16, 0.24),
    "native_rsqrt": (0.19, 0.21),
    "native_sin": (1.06, 1.40),
    "native_sqrt": (0.20, 0.90),
    "native_tan": (1.10, 1.23),
    "pow": (19.47, 3.71),
    "pown": (16.79, 1.26),
    "powr": (19.07, 2.91),
    "remainder": (4.10, 1.65),
    "remquo": (4.10, 1.65),
    "rootn": (16.66, 6.44),
    "rsqrt": (0.19, 0.75),
    "sin": (4.57, 1.61),
    "sincos": (3.53, 1.61),
    "sinh": (2.34, 1.50),
    "sinpi": (1.36, 0.93),
    "smoothstep": (0.96, 2.10),
    "sqrt": (0.19, 0.85),
    "tan": (4.23, 1.77),
    "tanh": (1.97, 1.73),
    "tanpi": (2.19, 1.99),
    "tgamma": (14.44, 100.65),
}
# By PoCL, of one and of four, and by Intel's runtime.
_OF_INTEGERS = {
    "bitselect": (0.24, 0.40, 0.08, 0.05),
    "clz": (0.18, 0.40, 0.07, 0.03),
    "ctz": (0.18, 0.40, 0.07, 0.03),
    "mad24": (0.24, 0.39, 0.21, 0.10),
    "mad_hi": (0.33, 0.76, 0.37, 0.15),
    "mad_sat": (0.62, 1.43, 0.76, 0.45),
    "mul24": (0.15, 0.33, 0.15, 0.06),
    "mul_hi": (0.31, 0.73, 0.35, 0.13),
    "rotate": (0.15, 0.34, 0.05, 0.03),
    "rounded": (0.35, 0.83, 0.02, 0.37),  # a float to an integer, otherwise than towards zero
    "saturate": (0.06, 0.16, 2.40, 0.25),  # a float to a short, an int or a long
    "saturate_char": (0.09, 0.17, 0.20, 0.08),  # a float to a char
    "popcount": (0.18, 0.61, 0.79, 0.00),
}
_POCL = {
    **{name: FunctionTime(pocl, pocl) for name, (pocl, _) in _OF_FLOATS.items()},
    **{name: FunctionTime(one, four) for name, (one, four, _, _) in _OF_INTEGERS.items()},
}
_INTELS = {
    **{name: FunctionTime(intels, 0) for name, (_, intels) in _OF_FLOATS.items()},
    **{name: FunctionTime(one, four) for name, (_, _, one, four) in _OF_INTEGERS.items()},
}


class Library(Enum):
    """Whose functions a device's kernels call."""

    POCL = "PoCL"
    INTELS = "Intel's runtime"
    OTHER = "another"


_TIMES: Mapping[Library, Mapping[str, FunctionTime]] = {Library.POCL: _POCL, Library.INTELS: _INTELS, Library.OTHER: {}}


def library_of(device: Device) -> Library:
    """Return whose functions a CPU's kernels call."""
    return Library.INTELS if device.is_intels_cpu else Library.POCL if device.is_pocl else Library.OTHER


def function_times(library: Library) -> Mapping[str, FunctionTime]:
    """Return the times by function; none where they were not measured."""
    return _TIMES[library]
