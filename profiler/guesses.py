"""What of a launch was guessed, and may be why its kernel goes astray: named, with what to write."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from model.launch.launch import Number
from model.opencl.types import PointerType, ScalarKind, ScalarType, VectorType, lane_names
from profiler.measurement import MeasureRequest

LANES = range(16)


def guessed_among(paths: Iterable[str], request: MeasureRequest) -> tuple[tuple[str, Number], ...]:
    """The scalars behind `paths` (`n`, `v.s1`, `p.width`) whose values nobody gave, as the launch names them."""
    wanted = set(paths)
    return tuple((name, value) for name, value in _guessed(request) if _spellings(name) & wanted)


def advice(request: MeasureRequest) -> str:
    """What to say of a launch, where nobody knows which argument misled its kernel; empty if all was given.

    These are the buffers of integers, which may be indices, and the integer scalars that were guessed.
    """
    filled = dict(request.launch.fills).keys() - _assumed(request)
    buffers = [
        f"fill.{parameter.name}=randint:0:16"
        for parameter in request.kernel.parameters
        if isinstance(parameter.type, PointerType)
        and _is_integer(parameter.type.pointee)
        and parameter.name in dict(request.launch.buffers)
        and parameter.name not in filled
    ]
    scalars = [f"{name}={value}" for name, value in _guessed(request) if isinstance(value, int)]
    if not buffers and not scalars:
        return ""
    names = [part.partition("=")[0].removeprefix("fill.") for part in (*buffers, *scalars)]
    return f"say what {listed(names)} hold{'s' * (len(names) == 1)}, as in // kernelcast: {' '.join(buffers + scalars)}"


def listed(names: Sequence[str]) -> str:
    """`a`, `b` and `c`."""
    quoted = [f"`{name}`" for name in names]
    return " and ".join([", ".join(quoted[:-1]), quoted[-1]] if len(quoted) > 1 else quoted)


def _guessed(request: MeasureRequest) -> list[tuple[str, Number]]:
    assumed = _assumed(request)
    return [(name, value) for name, value in request.launch.scalars if name in assumed]


def _assumed(request: MeasureRequest) -> set[str]:
    return {assumption.subject for assumption in request.launch.assumptions}


def _spellings(name: str) -> set[str]:
    """A plain `v` given for a vector stands for each of its lanes, and `v.x` is `v.s0`."""
    base, _, component = name.rpartition(".")
    if not component or not base:
        return {name, *(lane_names(name, lane)[0] for lane in LANES)}
    same = (names for lane in LANES if name in (names := lane_names(base, lane)))
    return {name, *next(same, ())}


def _is_integer(kind: object) -> bool:
    match kind:
        case ScalarType(kind=scalar) | VectorType(element=ScalarType(kind=scalar)):
            return scalar in (ScalarKind.SIGNED, ScalarKind.UNSIGNED)
        case _:
            return False
