"""What function of OpenCL a compiler's call means: each names its library's functions in its own way."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from model.opencl.builtins import BUILTINS

_ITANIUM = re.compile(r"_Z(?P<length>\d+)(?P<rest>\w+)$")  # Itanium C++ ABI, sec. 5.1
_VECTOR = re.compile(r"Dv(\d+)_")
# Intel's: __ocl_svml_z0_sinf16, __ocl_svml_e9_pow4 (of doubles). The letters name the instruction set.
_SVML = re.compile(r"__ocl_svml_\w\d_(?P<name>\w+?)f?(?P<lanes>1|2|4|8|16|32|64)(?:_\w+)?$")
_LIBDEVICE = re.compile(r"__nv_(?:fast_)?(?P<name>\w+?)f?$")


@dataclass(frozen=True, slots=True)
class LibraryFunction:
    """`lanes` elements in one call."""

    name: str
    lanes: int


@lru_cache(maxsize=1024)
def called_function(symbol: str) -> LibraryFunction:
    """Symbols that are nobody's we know stay as they are, with one lane."""
    if found := _SVML.match(symbol):
        return LibraryFunction(found["name"], int(found["lanes"]))
    if found := _ITANIUM.match(symbol):
        length = int(found["length"])
        name, arguments = found["rest"][:length], found["rest"][length:]
        lanes = _VECTOR.search(arguments)
        return LibraryFunction(name.removeprefix("_cl_").removeprefix("__"), int(lanes[1]) if lanes else 1)
    if found := _LIBDEVICE.match(symbol):
        return LibraryFunction(found["name"], 1)
    plain = symbol.removesuffix("f")
    return LibraryFunction(plain if plain in BUILTINS else symbol, 1)
