"""What operations and accesses cost on a CPU, as its runtime was seen to run them (`Rates.costs`).

Costs come by name: `vector.fp` and `scalar.fp` are straight-line code in groups of many work-items and of one;
`counted.fp` is the same operation in one of the surroundings of `Context`; `width.16` is `vector.fp` in groups of 16;
`call.exp` a function in straight-line code, `call4.exp` of four components, `call64.exp` of doubles. A surrounding that
was measured with few operations decides, by where its `fp` lies between `vector.fp` and `scalar.fp`, how far everything
else in it is vectorised: the same on a logarithmic scale.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import lru_cache

from model.analytic.bandwidth import read_between
from model.device import Cost, Device, Rates
from model.function_times import FunctionTime, Library, function_times, library_of
from model.opencl.builtins import BUILTINS
from model.opencl.types import AddressSpace
from model.work.counts import OpCount, OpKind, Pattern
from model.work.features.vectorization_contexts import (
    VECTOR_LANES,
    Context,
    ContextCount,
    Placed,
    SwitchedOff,
)
from model.work.regions.flat_blocks import Form

_FLOAT = frozenset({OpKind.ADD, OpKind.MUL, OpKind.FMA, OpKind.COMPARE})
_CALLED = frozenset({OpKind.SPECIAL, OpKind.NATIVE, OpKind.SIMPLE, OpKind.SQRT})
# A function that was not measured, and one like it that was.
_ALIKE = {
    "acosh": "log1p", "asinh": "log1p", "atanh": "log1p", "cosh": "sinh", "acospi": "acos", "asinpi": "asin",
    "atanpi": "atan", "atan2pi": "atan2", "sinpi": "sin", "cospi": "cos", "tanpi": "tan", "sincos": "tan",
    "powr": "pow", "rootn": "pow", "erfc": "erf", "tgamma": "pow", "lgamma": "pow", "lgamma_r": "pow", "logb": "log",
    "remainder": "fmod", "remquo": "fmod", "native_powr": "pow", "half_powr": "pow", "fmax": "fmin", "max": "min",
    "fdim": "fmin", "ceil": "floor", "trunc": "floor", "rint": "floor", "ctz": "clz", "popcount": "clz", "mad": "fma",
    "mul24": "mad24", "mad_hi": "mul_hi", "half_sqrt": "native_sqrt", "half_rsqrt": "native_rsqrt",
    "half_divide": "native_divide", "half_recip": "native_recip", "fract": "floor", "modf": "floor",
    "abs": "min", "abs_diff": "min", "add_sat": "min", "sub_sat": "min", "hadd": "min", "rhadd": "min",
    "native_cos": "native_sin", "native_tan": "native_sin", "native_exp2": "native_exp", "native_exp10": "native_exp",
    "native_log2": "native_log", "native_log10": "native_log", "degrees": "mix", "radians": "mix",
}  # fmt: skip


def alike(function: str) -> str:
    """Return the name of a function, or of one like it, under which it was measured."""
    return _ALIKE.get(function, function)


# Functions of vectors are calls as a whole, counted by the one operation that each has once.
_GEOMETRIC = {"dot": "dot", "length": "length", "fast_length": "length", "distance": "length", "normalize": "length",
              "fast_distance": "length", "fast_normalize": "length"}  # fmt: skip
INTERLEAVED = 4  # elements: compilers load such strides as whole vectors and pick
_LEAST_NS = 1e-5
_ENTERED_ONLY = 7.0  # see `Costs.run_masked_off`
UNIFORM_INDEX = 0.4  # of a private array's access, where lanes' indices are the same; chosen on training rows
_INTEGERS_AROUND, _FLOATS_AROUND = 2, 1  # beside each access of the private array that calibrations measure
_LEAST_AROUND = 0.2  # of it that the access itself takes, however noisy the other measurements are
# How many times as many vectors as of floats hold as many elements.
_VECTOR_TIMES = {"f64": 2.0, "i64": 2.0, "i16": 0.5, "i8": 0.25}


class Costs:
    """Costs of one device by name; `times` are its runtime's, for functions that were not measured on it."""

    def __init__(
        self,
        costs: tuple[Cost, ...],
        private_gb_s: float,
        times: Mapping[str, FunctionTime],
        *,
        is_intels: bool,
        lanes: int,
    ) -> None:
        self._times = times
        self._lanes = lanes  # of a vector of floats
        self._is_intels = is_intels  # which gathers where neighbours are not seen to be next to each other
        self._ns = {cost.name: max(cost.ns, _LEAST_NS) for cost in costs}
        self._private_ns = self._of_private_arrays(4 / private_gb_s)
        self._widths = [(1.0, self._ns["scalar.fp"]), *_points(self._ns, "width.", 1)]
        self._scatters = _points(self._ns, "scatter.", 1024)
        # Of a function that does next to nothing, where the runtime does not inline it. Half of what was measured is
        # what the sum of the results waits for.
        self.bare_call_ns = min(self._ns["call.fmin"], self._ns["call4.fmin"]) / 2
        self.local_atomic_ns = self._ns.get("atomic.local", 0.0)
        # Half of the work-items entered the branch that was measured. A runtime that makes branches of vectors leaves
        # them out where no work-item enters; others execute what is under a mask in any case.
        vector, scalar, branch = (self._ns[f"{how}.fp"] for how in ("vector", "scalar", "branch"))
        self.skips_masked = branch / 2 < math.sqrt(vector * scalar)
        self._between: dict[tuple[str, float], float] = {}

    def _of_private_arrays(self, measured_ns: float) -> dict[bool, float]:
        """Return the time of one access of a private array [ns], by whether all lanes use the same index.

        The calibration's time includes the operations around each access, which are counted separately. In scalar code
        they are subtracted. In vector code they take next to nothing, but the calibration's lanes differ in their
        indices, which takes a gather.
        """
        if self._is_intels:
            return {False: measured_ns, True: UNIFORM_INDEX * measured_ns}
        around_ns = _INTEGERS_AROUND * self._ns["scalar.int"] + _FLOATS_AROUND * self._ns["scalar.fp"]
        alone_ns = max(measured_ns - around_ns, _LEAST_AROUND * measured_ns)
        return {False: alone_ns, True: alone_ns}

    def run_masked_off(self, part: ContextCount) -> SwitchedOff:
        """Return what vectors execute of which the work-items' ids switch all lanes off.

        Intel's runtime does so with all but what its loops over work-items leave out: see `regions.loop_bounds`. Where
        vectors have fewer lanes than AVX-512's, a scatter takes an instruction for each, and code that gathers and
        scatters so much is entered only where a lane is on. Measured on a Zen 3: 3 gathers and a scatter are executed,
        4 and one are not, nor one gather and two scatters.
        """
        if not self._is_intels:
            return SwitchedOff() if self.skips_masked else part.off
        regions = [self._run_masked(region) for region in part.unbound]
        return SwitchedOff(
            tuple(op for region in regions for op in region.ops),
            tuple(placed for region in regions for placed in region.accesses),
        )

    def _run_masked(self, region: SwitchedOff) -> SwitchedOff:
        """Return a region, or what it takes to ask whether a lane is on: as long as one of its accesses."""
        if self._lanes >= VECTOR_LANES or sum(map(_entry_weight, region.accesses)) < _ENTERED_ONLY:
            return region
        return SwitchedOff((), region.accesses[:1])

    def scalar_share(self, context: Context, lanes: int, *, has_calls: bool) -> float:
        """0 where code in this surrounding is as fast as vector code, 1 where work-items go one by one."""
        vector, scalar = self._ns["vector.fp"], self._ns["scalar.fp"]
        seen = [read_between(self._widths, lanes)]
        if context is not Context.STRAIGHT:
            seen.append(self._ns[f"{context}.fp"])
        if has_calls:
            seen.append(self._ns["called.fp"])
        if scalar <= vector:
            return 0.0
        return min(1.0, max(0.0, math.log(max(seen) / vector) / math.log(scalar / vector)))

    def between(self, name: str, share: float) -> float:
        """`scalar.name` and `vector.name`, as far as code is vectorised."""
        found = self._between.get((name, share))
        if found is None:
            vector, scalar = self._ns[f"vector.{name}"], self._ns[f"scalar.{name}"]
            found = math.exp(math.log(vector) * (1 - share) + math.log(max(scalar, vector)) * share)
            self._between[name, share] = found
        return found

    def op_ns(self, op: OpCount, context: Context, share: float) -> float:
        """Return all operations of `op` in one surrounding [ns]."""
        is_double = op.element == "f64"
        if op.function in _GEOMETRIC:
            is_counted = op.kind is (OpKind.MUL if op.function == "dot" else OpKind.SQRT)
            return op.count * self._ns[f"call.{_GEOMETRIC[op.function]}"] if is_counted else 0.0
        if op.kind in _CALLED or f"call.{alike(op.function)}" in self._ns or op.function in self._times:
            return self._call_ns(op)
        # Explicit vectors fill a register where work-items are not side by side in it.
        count = op.count / math.pow(min(op.width, 8), share)
        wide = math.pow(_VECTOR_TIMES.get(op.element, 1.0), 1 - share)
        match op.kind:
            case OpKind.DIVIDE if op.function:
                return self._call_ns(op)
            case OpKind.DIVIDE:
                each = self._ns.get("call64.divide", 0.0) if is_double else 0.0
                return count * max(each, self.between("divide", share))
            case OpKind.CONVERT if op.element == "f16":
                return op.count / op.width * self._ns["call.vload_half"]  # a vector of halves is one call
            case OpKind.CONVERT:
                return count * self.between("convert", share)
            case OpKind.INT_MUL:
                return count * max(self.between("int_mul", share), self._ns["long.mul"] if wide > 1 else 0.0)
            case OpKind.INT_DIVIDE:
                each = self.between("int_divide", share)
                return count * (max(each, self._ns["long.divide"]) if op.element == "i64" else each)
            case kind if kind in _FLOAT and op.element[0] == "f":
                return count * wide * max(self._ns.get(f"{context}.fp", 0.0), self.between("fp", share))
        if context is Context.REDUCED:
            return count * wide * self._ns["reduced.fp"]
        return count * wide * self.between("int", share)

    def _call_ns(self, op: OpCount) -> float:
        time = self._times.get(op.function)
        if op.width > 1 and time is not None and not time.four:
            time = None
        each = self._one_call_ns(op, time)
        builtin = BUILTINS.get(op.function)
        parts = sum(count for _, count in builtin.costs) if builtin is not None else 1
        if op.width > 1:
            grows = op.kind in (OpKind.SPECIAL, OpKind.NATIVE) or time is not None
            like = "exp" if grows else "fmin"
            four, one = self._ns[f"call4.{like}"], self._ns[f"call.{like}"]
            # A cheap function of a vector costs what the call does; a dear one grows with what it computes.
            each = each * four / one if grows else four + max(0.0, each - one)
            if time is not None:
                each *= time.four / time.one
            each *= max(1.0, op.width / 4) / op.width
        return op.count * each / max(1, parts)

    def _one_call_ns(self, op: OpCount, time: FunctionTime | None) -> float:
        """Return one call as it was measured; else by one like it, as they are to each other on this runtime."""
        name, like = op.function, alike(op.function)
        if op.element == "f64":
            measured = self._ns.get(f"call64.{name}", 0.0) or self._beside("call64", time, "exp")
            if measured := measured or self._ns.get(f"call64.{like}", 0.0):
                return measured
        measured = self._ns.get(f"call.{name}", 0.0) or self._beside("call", time, like)
        measured = measured or self._beside("call", time, "exp") or self._ns.get(f"call.{like}", 0.0)
        return measured or self._unnamed_ns(op)

    def _beside(self, how: str, time: FunctionTime | None, other: str) -> float:
        """Return what a function of that `time` takes, by the `other`'s; 0 where either is not known."""
        if time is None or other not in self._times:
            return 0.0
        return self._ns.get(f"{how}.{other}", 0.0) * time.one / self._times[other].one

    def _unnamed_ns(self, op: OpCount) -> float:
        match op.kind:
            case OpKind.SPECIAL:
                return self._ns["call.exp"]
            case OpKind.NATIVE:
                return self._ns["call.native_exp"]
            case OpKind.SQRT:
                return self._ns.get("call64.sqrt" if op.element == "f64" else "call.sqrt", _LEAST_NS)
            case _:
                return self._ns["call.min" if op.element[0] == "i" else "call.fmin"]

    def access_ns(self, placed: Placed, context: Context, share: float) -> float:
        """Return all executions of a load or store whose bytes are in the nearest cache [ns]."""
        access, form = placed.access, placed.form
        is_local = access.space is AddressSpace.LOCAL
        size = access.element_bytes / 4
        if access.space is AddressSpace.PRIVATE:
            return access.count * self._private_ns[access.pattern is Pattern.BROADCAST] * max(1.0, size / 4)
        pattern = access.pattern
        is_seen = form is not Form.OPAQUE and not (is_local and placed.is_hidden)
        if not is_seen and pattern is Pattern.UNIT and (not is_local or self._is_intels):
            pattern = Pattern.GATHERED
        # Intel's runtime gathers pairs as 64 bits, vectors of 3 and 4 by their components, and wider ones not at all.
        by_components = self._is_intels and placed.is_hidden and access.pattern is Pattern.UNIT and 2 < size <= 4
        match pattern:
            case Pattern.UNIT if access.is_store:
                each = self._neighbours_ns(placed, "stored", "stored_offset", share)
                if placed.is_masked:  # AMD's processors take ten times as long for it: Fog's instruction tables
                    masked = self._ns.get("masked.stored", 0.0)
                    each = max(each, math.pow(masked, 1 - share) * math.pow(each, share))
            case Pattern.UNIT | Pattern.BROADCAST if is_local:
                added_ns = self._ns.get(f"{context}.shared", 0.0) - self._ns.get(f"{context}.fp", 0.0)
                each = max(self.between("shared", share), added_ns)
            case Pattern.UNIT:
                each = self._neighbours_ns(placed, "unit", "offset", share)
            case Pattern.BROADCAST:
                each = self.between("broadcast", share)
            case Pattern.STRIDED if access.stride_bytes <= INTERLEAVED * access.element_bytes:
                seen = self.between("interleaved", share) / self.between("strided", share)
                each = seen * self.between("scattered" if access.is_store else "strided", share)
            case _ if access.is_store:
                each = self.between("scattered", share)
            case Pattern.STRIDED:
                each = self.between("strided", share)
            case _:
                each = self.between("gathered", share)
        is_gather = each > self.between("gathered", share) / 2 and not by_components
        parts = _parts(size, share, is_gather=is_gather)
        return access.count * each * parts

    def _neighbours_ns(self, placed: Placed, plain: str, offset: str, share: float) -> float:
        """Return one access of neighbours next to each other.

        As `plain` was measured, a 32-bit index hides that they are; as `offset`, it does not, and an argument is in it.
        """
        if placed.access.space is AddressSpace.LOCAL:
            return self.between(offset, share)
        with_argument = self.between(offset, share)
        if placed.form is Form.OFFSET and not placed.is_hidden:
            return with_argument
        hidden = self.between(plain, share)
        if placed.form is Form.OFFSET:
            return max(hidden, with_argument)
        return hidden if placed.is_hidden else min(hidden, with_argument)

    def scatter_ns(self, footprint_bytes: float) -> float:
        """Return one store to a line that is somewhere in `footprint_bytes`."""
        return read_between(self._scatters, footprint_bytes)

    def image_ns(self, access: str) -> float:
        """Return the time of one `nearest` or `linear` image read, or one `write` [ns].

        Reads by float coordinates count as interpolated.
        """
        return self._ns.get(f"image.{access}", 0.0)

    def chain_ns(self, context: Context, scalar_share: float) -> float:
        """Return one operation that waits for the one before, in all work-items.

        Straight code waits as a counted loop does, which may be vectorised otherwise: lanes of a vector wait together.
        """
        if context is not Context.STRAIGHT:
            return self._ns.get(f"{context}.chain", 0.0)
        measured = self.scalar_share(Context.COUNTED, VECTOR_LANES, has_calls=False)
        lanes = max(1.0, self._ns["scalar.fp"] / self._ns["vector.fp"])
        return self._ns.get(f"{Context.COUNTED}.chain", 0.0) * math.pow(lanes, scalar_share - measured)


def _points(ns: dict[str, float], prefix: str, unit: int) -> list[tuple[float, float]]:
    """Return the costs whose names are a number after `prefix`, by that number times `unit`."""
    return sorted((float(name.removeprefix(prefix)) * unit, x) for name, x in ns.items() if name.startswith(prefix))


def _entry_weight(placed: Placed) -> float:
    """Return what an access adds to the reasons to ask first whether any lane is on."""
    is_vector = placed.access.pattern is Pattern.UNIT and not placed.is_hidden and placed.form is not Form.OPAQUE
    return 0.0 if is_vector else (3.0 if placed.access.is_store else 1.0) * max(1.0, placed.access.element_bytes / 4)


def _parts(words: float, share: float, *, is_gather: bool) -> float:
    """Return how many accesses of one word an access of `words` is worth.

    Narrower ones share vectors, wider ones are taken apart in vector code (less so where each lane loads its own
    anyway), and go through registers of 16 bytes where work-items go one by one.
    """
    if words > 1:
        return math.pow(words, (0.5 if is_gather else 1.0) * (1 - share)) * math.pow(max(1.0, words / 4), share)
    if is_gather:
        return 1.0
    return math.pow(max(words, 0.25), 0.5 * (1 - share))


_OPERATIONS = (
    "fp unit offset interleaved shared stored stored_offset broadcast strided gathered scattered divide convert int "
    "int_mul int_divide"
)
_NEEDED = frozenset(
    {f"{how}.{name}" for name in _OPERATIONS.split() for how in ("vector", "scalar")}
    | {f"{context}.fp" for context in (*Context, "called") if context is not Context.STRAIGHT}
    | {f"call.{name}" for name in ["exp", "fmin", "min", "native_exp", "sqrt", "vload_half", "dot", "length"]}
    | {"call4.exp", "call4.fmin", "long.mul", "long.divide", "scatter.256"}
)


def costs_of(device: Device) -> Costs | None:
    """Return None if they were not measured, or by a calibration that measured less."""
    return _costs(device.rates, library_of(device), device.preferred_multiple)


@lru_cache(maxsize=64)
def _costs(rates: Rates, library: Library, lanes: int) -> Costs | None:
    if not rates.costs or not _NEEDED.issubset(cost.name for cost in rates.costs):
        return None
    times = function_times(library)
    return Costs(rates.costs, rates.private_bandwidth_gb_s, times, is_intels=library is Library.INTELS, lanes=lanes)
