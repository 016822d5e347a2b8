"""One instruction, whatever language it was read from; and what function of OpenCL a call in machine code means."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from model.opencl.builtins import BUILTINS
from model.work.counts import OpKind

FLOAT_ARITHMETIC = frozenset(
    {OpKind.FMA, OpKind.ADD, OpKind.MUL, OpKind.DIVIDE, OpKind.SQRT, OpKind.SPECIAL, OpKind.NATIVE, OpKind.SIMPLE}
)
INTEGER_ARITHMETIC = frozenset({OpKind.INTEGER, OpKind.INT_MUL, OpKind.INT_DIVIDE})


@dataclass(frozen=True, slots=True)
class Instruction:
    """`kind` as in `model.compiled.InstructionCount`.

    An instruction may do two things (`add eax, [rsi]`): `loads` and `stores` say so of any kind, and `memory_lanes`
    how many elements. `target` is where a jump may lead, None where it leads nowhere in this code.
    """

    address: int
    kind: str
    element: str = ""
    lanes: int = 1
    space: str = ""
    loads: bool = False
    stores: bool = False
    memory_lanes: int = 1
    function: str = ""  # that it calls
    target: int | None = None
    falls_through: bool = True
    place: tuple[str, int] | None = None  # file and line (from 1) of the source
    vector_registers: tuple[str, ...] = ()
    slot: tuple[int, int, int] | None = None  # base, offset and bytes of what it touches, where that is on the stack
    motion: str = ""  # of a `move` that does more than a copy: `gather`, `scatter` or `shuffle`
    reads: tuple[str, ...] = ()  # registers; addresses as `[base+index*scale+offset]`, for values handed on in memory
    writes: tuple[str, ...] = ()
    constant: tuple[str, str, int] | None = None  # what it does to a register: `set`, `add` or `compare`, by how much

    @property
    def is_float_arithmetic(self) -> bool:
        return self.kind in FLOAT_ARITHMETIC and self.element[:1] == "f"

    @property
    def is_integer_arithmetic(self) -> bool:
        return self.kind in INTEGER_ARITHMETIC

    @property
    def width_bits(self) -> int:
        """Of the elements that it works on, together."""
        return self.lanes * int(self.element[1:] or 0) if self.element else 0


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
