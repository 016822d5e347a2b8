"""What of a launch was guessed, and may be why its kernel goes astray: named, with what to write.

A guess that failed is never advised again: where only the user knows the value, `...` stands for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from model.launch.fill import DEFAULT_INTEGER_LIMIT
from model.launch.fill_target import buffer_of
from model.launch.launch import Fill
from model.opencl.types import ArrayType, PointerType, ScalarKind, ScalarType, VectorType, lane_names
from profiler.measurement import KernelCrashed, MeasureError, MeasureRequest, OutOfResources, TimedOut
from profiler.process.exit_diagnosis import NO_ROOM

LANES = range(16)
UNKNOWN = "..."


@dataclass(frozen=True, slots=True)
class Guess:
    """Something of a launch that an annotation states as `key=value`; `taken` is what stood there without one."""

    key: str
    taken: str
    value: str = UNKNOWN  # what to write


def advice(guesses: Sequence[Guess]) -> str:
    """Return what to say of them; empty if there are none."""
    what = "what it is" if len(guesses) == 1 else "what they are"
    return f"{taken(guesses)}: say {what}: // kernelcast: {written(guesses)}" if guesses else ""


def taken(guesses: Sequence[Guess]) -> str:
    """`border` was guessed as 0."""
    if len(guesses) == 1:
        return f"`{guesses[0].key}` was guessed as {guesses[0].taken}"
    return f"{_enumerated([f'`{guess.key}` ({guess.taken})' for guess in guesses])} were guessed"


def written(guesses: Iterable[Guess]) -> str:
    """As in an annotation."""
    return " ".join(f"{guess.key}={guess.value}" for guess in guesses)


def with_advice(error: MeasureError, request: MeasureRequest) -> MeasureError:
    """`error`, or where guesses of `request` may be behind it and it does not say so, one like it that does."""
    if "// kernelcast:" in error.message or NO_ROOM in error.message:
        return error
    match error:
        case OutOfResources():
            guesses = guessed_sizes(request) + misleading(request)
        case KernelCrashed() | TimedOut() if error.message.startswith(f"kernel `{request.kernel.name}`"):
            guesses = [guess for guess in guessed_sizes(request) if guess.key in ("global", "local")]
            guesses += misleading(request)
        case _:
            return error
    guesses = list(dict.fromkeys(guesses))
    if not guesses:
        return error
    # A new one: the same may be that of several launches. Not `copy.copy`, which shares attributes once tblib is there.
    explained = type(error)(f"{error.message}; {advice(guesses)}", line=error.line, log=error.log)
    explained.ends_process = error.ends_process
    return explained


def misleading(request: MeasureRequest) -> list[Guess]:
    """Return the guesses that may mislead an index of which nothing more is known.

    These are contents and scalars that are integers; in a kernel without such guesses others that an index may rest on,
    and without those the launch's size.
    """
    fills, scalars = _guessed_fills(request), guessed_scalars(request)
    integers = [g for g in fills if _holds_integers(g.key.removeprefix("fill."), request)]
    integers += [g for g in scalars if g.taken.lstrip("-").isdecimal()]
    inferred = {f"fill.{name}" for name, _ in request.launch.fills}  # others only hold what any data may
    others = [g for g in fills if g.key in inferred] + scalars
    return integers or others or [g for g in guessed_sizes(request) if g.key == "global"]


def guessed_among(paths: Iterable[str], request: MeasureRequest) -> list[Guess]:
    """Return the scalars behind `paths` (`n`, `v.s1`, `p.width`) whose values nobody gave, as the launch names them."""
    wanted = set(paths)
    return [guess for guess in guessed_scalars(request) if _spellings(guess.key) & wanted]


def guessed_scalars(request: MeasureRequest) -> list[Guess]:
    assumed = _assumed(request)
    return [Guess(name, str(value)) for name, value in request.launch.scalars if name in assumed]


def guessed_sizes(request: MeasureRequest) -> list[Guess]:
    """Return how much there is of everything: work-items, elements of buffers, bytes of local memory."""
    launch, assumed = request.launch, _assumed(request)
    found = [("global", "x".join(map(str, launch.global_size)))]
    if launch.local_size is not None:
        found.append(("local", "x".join(map(str, launch.local_size))))
    found += [(name, f"{length} elements") for name, length in launch.buffers]
    found += [(name, f"{size} bytes") for name, size in launch.local_bytes]
    return [Guess(name, taken) for name, taken in found if name in assumed]


def index_fill(name: str, length: int, request: MeasureRequest) -> Guess:
    """Return what to write of the buffer `name`, which an index below `length` is read from."""
    fill = _fill_of(name, request)
    low, high = _range(fill, dict(request.launch.buffers).get(name, 1))
    has_failed = low >= 0 and high <= max(1, length)
    is_open = has_failed or not _holds_integers(name, request)
    return Guess(f"fill.{name}", str(fill), UNKNOWN if is_open else f"randint:0:{max(1, length)}")


def listed(names: Sequence[str]) -> str:
    """Return the names as text: `a`, `b` and `c`."""
    return _enumerated([f"`{name}`" for name in names])


def _enumerated(words: Sequence[str]) -> str:
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def _guessed_fills(request: MeasureRequest) -> list[Guess]:
    said = dict(request.launch.fills).keys() - _assumed(request)
    said |= {buffer_of(key) for key in said if "." in key}  # of structs some members
    names = [name for name, _ in request.launch.buffers if name not in said]
    return [Guess(f"fill.{name}", str(_fill_of(name, request))) for name in names]


def _fill_of(name: str, request: MeasureRequest) -> Fill:
    """Return what stood in a buffer, also where nobody said: see `model.contents`."""
    default = Fill("random")
    if _holds_integers(name, request):
        shortest = min((length for _, length in request.launch.buffers), default=1)
        default = Fill("randint", (0, max(1, min(DEFAULT_INTEGER_LIMIT, shortest))))
    return dict(request.launch.fills).get(name, default)


def _range(fill: Fill, length: int) -> tuple[float, float]:
    """Of integers that a fill yields, the least and the one beyond the greatest."""
    match fill.kind, fill.arguments:
        case "zeros", ():
            return 0, 1
        case (("iota" | "perm"), ()):
            return 0, length
        case "const", (value,):
            return value, value + 1
        case (("randint" | "uniform" | "sorted" | "clustered" | "skewed"), (low, high, *_)):
            return low, high
        case "csr_rows", (last, *_):
            return 0, last + 1
        case _:
            return 0, 2  # floats


def _assumed(request: MeasureRequest) -> set[str]:
    return {assumption.subject for assumption in request.launch.assumptions}


def _spellings(name: str) -> set[str]:
    """Return all spellings of a value: `v` given for a vector means each of its lanes, and `v.x` is `v.s0`."""
    base, _, component = name.rpartition(".")
    if not component or not base:
        return {name, *(lane_names(name, lane)[0] for lane in LANES)}
    same = (names for lane in LANES if name in (names := lane_names(base, lane)))
    return {name, *next(same, ())}


def _holds_integers(name: str, request: MeasureRequest) -> bool:
    parameter = request.kernel.parameter(name)
    element = parameter.type.pointee if parameter and isinstance(parameter.type, PointerType) else None
    while isinstance(element, ArrayType | VectorType):
        element = element.element
    return isinstance(element, ScalarType) and element.kind in (ScalarKind.SIGNED, ScalarKind.UNSIGNED)
