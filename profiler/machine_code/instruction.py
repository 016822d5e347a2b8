"""One instruction, whatever language it was read from."""

from __future__ import annotations

from dataclasses import dataclass

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
