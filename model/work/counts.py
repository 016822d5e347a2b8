"""Operations and accesses of one launch, counted over the whole NDRange."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from model.opencl.types import AddressSpace


class OpKind(StrEnum):
    """Operations by what they cost. Vector operations count once per component."""

    ADD = "add"  # + - of floats
    MUL = "mul"
    FMA = "fma"  # one operation here, two flops
    DIVIDE = "divide"
    SQRT = "sqrt"
    SPECIAL = "special"  # sin, exp, log, pow ... at full precision
    NATIVE = "native"  # native_* and half_*
    COMPARE = "compare"  # of floats
    SIMPLE = "simple"  # fmin, fmax, fabs, sign, floor, rint ...: one cheap instruction on floats that is no flop
    INTEGER = "integer"  # integer add, shift, logic, compare, select
    INT_MUL = "int_mul"
    INT_DIVIDE = "int_divide"
    CONVERT = "convert"
    BRANCH = "branch"


class Pattern(StrEnum):
    """How neighbouring work-items (dimension 0) stand to each other in one access."""

    BROADCAST = "broadcast"  # all on the same element
    UNIT = "unit"  # next to each other
    STRIDED = "strided"  # a fixed distance apart
    GATHERED = "gathered"  # wherever the data say


@dataclass(frozen=True, slots=True)
class OpCount:
    """`count` operations of one kind and element type (`f32`, `i64`, ...), one for each component of a vector.

    `count / width` is the number of instructions; `function` names the built-in function, where it is one.
    """

    kind: OpKind
    element: str
    count: float
    width: int = 1
    function: str = ""

    @property
    def flops(self) -> float:
        """Floating-point operations: an fma is two; comparisons, minima and roundings are none."""
        return self.count * _FLOPS.get(self.kind, 0) if self.element[0] == "f" else 0.0


_FLOPS = {
    OpKind.ADD: 1, OpKind.MUL: 1, OpKind.FMA: 2, OpKind.DIVIDE: 1, OpKind.SQRT: 1, OpKind.SPECIAL: 1, OpKind.NATIVE: 1,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class AccessCount:
    """One load or store in the source, over the whole launch."""

    buffer: str
    space: AddressSpace
    is_store: bool
    is_atomic: bool
    line: int  # from 0; -1 when it comes from another file
    pattern: Pattern
    stride_bytes: int  # across neighbouring work-items; 0 for broadcast and gathered
    element_bytes: int  # of one work-item's access (16 for a float4)
    count: float  # how often it is executed, over all work-items
    bytes: float  # requested, before caches
    footprint_bytes: float  # distinct bytes touched
    step_bytes: int | None = None  # from one iteration of the innermost loop to the next; None outside loops
    width: int = 1  # components of a vector, each of element_bytes / width
    waiting: float = 0.0  # executions that wait, one by one, for what the iteration before has loaded
    waiting_ops: int = 0  # operations between one of these and the next
    working_sets: tuple[tuple[float, float], ...] = ()  # shares of a gather, and the cache [bytes] in which they hit
    trips: float = 1.0  # iterations of all loops around it, for a work-item that enters them; 1 outside loops
    rows: tuple[Pattern, int] | None = None  # pattern and stride of neighbours in dimension 1, where there are any
    end_bytes: float | None = None  # where the furthest byte touched ends, from the buffer's start; None = data decide
    planes: tuple[Pattern, int] | None = None  # the same in dimension 2


@dataclass(frozen=True, slots=True)
class LineCount:
    """What one source line costs; the analytical model turns it into a share of time."""

    line: int
    ops: tuple[OpCount, ...]
    accesses: tuple[AccessCount, ...]
    barriers: float
