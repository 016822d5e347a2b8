"""What Oclgrind's counts mean in our words: floating-point operations, and bytes moved in global memory.

Oclgrind counts LLVM instructions. One on a vector counts once, and a call of a built-in function counts as a call
under its mangled name, whatever it computes or moves; the tables below say what that is.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from tests.oracles.instructions.task import Executed

FLOPS_OF_INSTRUCTION = {"fadd": 1, "fsub": 1, "fmul": 1, "fdiv": 1, "frem": 1}
FLOPS_OF_INTRINSIC = {"llvm.fmuladd": 2, "llvm.fma": 2}
_PER_CALL = {  # on floats; a call on a vector is one instruction of that width
    2: "fma mad",
    3: "mix",
    7: "smoothstep",
    1: "degrees radians fmod remainder remquo sqrt rsqrt cbrt "
    "sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh sinpi cospi tanpi asinpi acospi atanpi sincos "
    "exp exp2 exp10 expm1 log log2 log10 log1p logb erf erfc tgamma lgamma lgamma_r pow powr pown rootn atan2 atan2pi "
    "hypot half_cos half_divide half_exp half_exp2 half_exp10 half_log half_log2 half_log10 half_powr half_recip "
    "half_rsqrt half_sin half_sqrt half_tan native_cos native_divide native_exp native_exp2 native_exp10 native_log "
    "native_log2 native_log10 native_powr native_recip native_rsqrt native_sin native_sqrt native_tan",
}
FLOPS_OF_CALL = {name: flops for flops, names in _PER_CALL.items() for name in names.split()}
_MANGLED = re.compile(r"call _Z(?P<length>\d+)(?P<rest>\w+)\(\)\Z")
_VECTOR_MEMORY = re.compile(
    r"v(?P<what>load|store)a?(?:_half)?(?P<width>\d*)(?:_rt[ezpn])?(?P<types>.*)P(?:U3AS(?P<space>\d))?V?K?(?P<element>Dh|[a-z])\Z"
)
_ELEMENT_BYTES = {"c": 1, "a": 1, "h": 1, "s": 2, "t": 2, "i": 4, "j": 4, "l": 8, "m": 8, "f": 4, "d": 8, "Dh": 2}
_GLOBAL = "1"
_UNSEEN = ("async_work_group_copy", "async_work_group_strided_copy")


@dataclass(frozen=True, slots=True)
class Moved:
    """Bytes of one call of vloadn or vstoren."""

    what: str
    space: str
    size_bytes: int


def flop_instructions(executed: Executed) -> float:
    """Floating-point operations, with one on a vector counted once and a fused multiply-add twice."""
    return float(sum(count * _flops(name) for name, count in executed.instructions.items()))


def global_bytes(executed: Executed, what: str) -> float:
    """Bytes that `load` or `store` instructions, and the vload and vstore functions, move in global memory."""
    called = sum(
        count * moved.size_bytes
        for name, count in executed.instructions.items()
        if (moved := _moved(name)) is not None and moved.what == what and moved.space == _GLOBAL
    )
    return float(executed.bytes_moved.get(f"{what} global", 0) + called)


def why_bytes_unseen(executed: Executed) -> str | None:
    """Why the bytes moved cannot be told from the counts: calls that move as many as their arguments say."""
    for name in executed.instructions:
        if any(unseen in name for unseen in _UNSEEN) or ("llvm.mem" in name and ".p1i8" in name):
            return f"`{name.removeprefix('call ')}` moves bytes that Oclgrind does not count"
    return None


def _flops(instruction: str) -> int:
    if instruction in FLOPS_OF_INSTRUCTION:
        return FLOPS_OF_INSTRUCTION[instruction]
    intrinsic = next((f for name, f in FLOPS_OF_INTRINSIC.items() if instruction.startswith(f"call {name}.")), None)
    if intrinsic is not None:
        return intrinsic
    name, types = _demangled(instruction)
    width = int(vector[1]) if (vector := re.match(r"Dv(\d+)_", types)) else 1
    if not re.match(r"(?:Dv\d+_)?(?:f|d|Dh)", types):
        return 0
    match name.removeprefix("fast_"):
        case "dot":
            return 2 * width - 1
        case "length":
            return 2 * width
        case "distance":
            return 2 * width + 1
        case "normalize":
            return 2 * width + 1
        case "cross":
            return 3
    return FLOPS_OF_CALL.get(name, 0)


def _moved(instruction: str) -> Moved | None:
    name, types = _demangled(instruction)
    found = _VECTOR_MEMORY.match(name + types)
    if found is None:
        return None
    size_bytes = int(found["width"] or 1) * _ELEMENT_BYTES[found["element"]]
    return Moved(found["what"], found["space"] or "0", size_bytes)


def _demangled(instruction: str) -> tuple[str, str]:
    """Name and the mangled types of its parameters; both empty for what is no call of a built-in function."""
    mangled = _MANGLED.match(instruction)
    if mangled is None:
        return "", ""
    length = int(mangled["length"])
    return mangled["rest"][:length], mangled["rest"][length:]
