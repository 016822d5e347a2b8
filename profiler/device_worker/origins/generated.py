"""The kernels that PyOpenCL writes at run time for its arrays and algorithms, recorded as it builds them."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pyopencl as cl

from profiler.corpus.origins.jobs import Written
from profiler.device_worker.probing import open_device
from profiler.measurement import MeasureError
from profiler.process.messages import AtStake, Outcome, Phase

if TYPE_CHECKING:
    from profiler.device_worker.main import Reporter

# Hardly typed, and some of it loads templates that not everybody has.
arrays: Any = importlib.import_module("pyopencl.array")
algorithm: Any = importlib.import_module("pyopencl.algorithm")
bitonic_sort: Any = importlib.import_module("pyopencl.bitonic_sort")
clmath: Any = importlib.import_module("pyopencl.clmath")
clrandom: Any = importlib.import_module("pyopencl.clrandom")
elementwise: Any = importlib.import_module("pyopencl.elementwise")
reduction: Any = importlib.import_module("pyopencl.reduction")
scans: Any = importlib.import_module("pyopencl.scan")
ITEMS = 1 << 10
FLOATS = (np.float32, np.float64)
INTEGERS = (np.int32, np.uint32, np.int64, np.int16, np.uint8)
_C = {
    np.float32: "float", np.float64: "double", np.int32: "int", np.uint32: "uint", np.int64: "long",
    np.int16: "short", np.uint8: "uchar",
}  # fmt: skip
_ELEMENTWISE = (
    "z[i] = a*x[i] + y[i]", "z[i] = x[i]*y[i] - a", "z[i] = x[i] > y[i] ? x[i] : a*y[i]",
    "z[i] = x[i]; y[i] = a + z[i]", "z[i] = i % 2 == 0 ? x[i] : y[i]", "z[n - 1 - i] = x[i] + a",
    "z[i] = x[i] + y[i] + (i > 0 ? x[i-1] : 0)", "z[i] = (x[i] + a)*(y[i] - a)*(x[i] + y[i])",
    "z[i] = 0; for (int k = 0; k < 8; ++k) z[i] += a*x[i] + k", "if (x[i] < a) z[i] = y[i]; else z[i] = x[i]*x[i]",
    "z[i] = (i > 0 && i + 1 < n) ? x[i-1] - 2*x[i] + x[i+1] : x[i]", "z[i] = ((x[i]*a + y[i])*a + x[i])*a + y[i]",
)  # fmt: skip
_FLOAT_ONLY = (
    "z[i] = sqrt(x[i]*x[i] + y[i]*y[i])", "z[i] = exp(-a*x[i]) * cos(y[i])", "z[i] = x[i] / (y[i] + a)",
    "z[i] = 1 / (1 + exp(-x[i]))", "z[i] = fmax(x[i], a) + fmin(y[i], a)", "z[i] = atan2(x[i], y[i]) + tanh(a)",
    "z[i] = pow(fabs(x[i]), a)", "z[i] = log1p(fabs(x[i])) - log(2 + fabs(y[i]))", "z[i] = sin(x[i])*sin(x[i]) + y[i]",
)  # fmt: skip
_REDUCTIONS = (
    ("0", "a+b", "x[i]"), ("0", "a+b", "x[i]*y[i]"), ("1", "a*b", "x[i]"), ("0", "max(a,b)", "x[i]*x[i]"),
    ("0", "a+b", "x[i] > y[i] ? 1 : 0"), ("0", "a+b", "(x[i]-y[i])*(x[i]-y[i])"), ("0", "min(a,b)", "x[i] + y[i]"),
    ("0", "a+b", "x[i]*i"), ("0", "a > b ? a : b", "x[i] - y[i]"),
)  # fmt: skip
_SCANS = ("a+b", "a*b", "max(a,b)", "min(a,b)", "a > b ? a : b", "a+b-1", "2*b-a")
_UNARY = (
    "sin", "cos", "tan", "exp", "log", "sqrt", "sinh", "cosh", "tanh", "asin", "acos", "atan", "exp2", "log2", "log10",
    "fabs", "floor", "ceil", "erf", "cbrt", "rint", "round", "trunc", "expm1", "log1p", "tgamma", "lgamma",
)  # fmt: skip


def run(device_id: str, tries: tuple[tuple[int, int], ...], limit_s: float, reporter: Reporter) -> None:
    """Send `Written` for each place in the list of what PyOpenCL is asked for; nothing for those beyond its end."""
    context = cl.Context([open_device(device_id)])
    makers = list(_makers(context, cl.CommandQueue(context)))
    for number, place in tries:
        reporter.send(AtStake((number,)))
        reporter.begin(0.0, "writing kernels", Phase("writing kernels", limit_s))
        outcome: Written | MeasureError = Written((), is_last=place >= len(makers))
        if place < len(makers):
            name, make = makers[place]
            with _recorded() as sources:
                try:
                    make()
                except (cl.Error, TypeError, ValueError, NotImplementedError, RuntimeError, AttributeError) as error:
                    if not sources:  # not every type can do everything
                        outcome = MeasureError(f"{name}: {error}")
            if sources:
                outcome = Written(tuple((f"{name}#{at}", source) for at, source in enumerate(sources)))
        reporter.send(Outcome(number, outcome))


@contextmanager
def _recorded() -> Iterator[list[str]]:
    """Record the sources of all programs that are built in the block, each once."""
    found: list[str] = []
    original = cl.Program.build

    def build(program: cl.Program, *arguments: object, **named: object) -> object:
        source = vars(program).get("_source")  # there is no public way to it before it is built
        if isinstance(source, str) and source not in found:
            found.append(source)
        return original(program, *arguments, **named)  # type: ignore[arg-type]

    cl.Program.build = build  # type: ignore[method-assign,assignment]
    try:
        yield found
    finally:
        cl.Program.build = original  # type: ignore[method-assign]


Make = Callable[[], object]


def _makers(context: cl.Context, queue: cl.CommandQueue) -> Iterator[tuple[str, Make]]:
    for kind in (*FLOATS, *INTEGERS):
        yield from _of_expressions(context, queue, kind)
        for name, make in {**_of_arrays(queue, kind), **_of_algorithms(context, queue, kind)}.items():
            yield f"{name}/{_C[kind]}", make
    for kind in FLOATS:
        x = arrays.to_device(queue, np.full(ITEMS, 0.5, kind))
        for name in _UNARY:
            yield f"clmath/{name}/{_C[kind]}", partial(getattr(clmath, name), x)
        for generator in (clrandom.PhiloxGenerator, clrandom.ThreefryGenerator):
            made = generator(context)
            yield f"clrandom/{generator.__name__}/uniform/{_C[kind]}", partial(made.fill_uniform, x)
            yield f"clrandom/{generator.__name__}/normal/{_C[kind]}", partial(made.fill_normal, x)


def _of_expressions(context: cl.Context, queue: cl.CommandQueue, kind: type[np.generic]) -> Iterator[tuple[str, Make]]:
    c = _C[kind]
    x, y, z = (arrays.to_device(queue, np.ones(ITEMS, kind)) for _ in range(3))

    def map_(text: str) -> None:
        elementwise.ElementwiseKernel(context, f"{c} a, {c} *x, {c} *y, {c} *z", text)(x.dtype.type(1), x, y, z)

    def reduce_(neutral: str, reduces: str, maps: str) -> None:
        takes = f"__global const {c} *x, __global const {c} *y"
        reduction.ReductionKernel(context, kind, neutral, reduces, maps, takes)(x, y)

    def scan_segments() -> None:
        scans.GenericScanKernel(
            context, kind, arguments=f"__global {c} *x, __global {c} *z, __global char *starts", input_expr="x[i]",
            scan_expr="across_seg_boundary ? b : (a+b)", neutral="0", is_segment_start_expr="starts[i]",
            output_statement="z[i] = item + prev_item;",
        )(x, z, arrays.zeros(queue, ITEMS, np.int8))  # fmt: skip

    for number, text in enumerate(_ELEMENTWISE + (_FLOAT_ONLY if kind in FLOATS else ())):
        yield f"elementwise/{number}/{c}", partial(map_, text)
    for number, texts in enumerate(_REDUCTIONS):
        yield f"reduction/{number}/{c}", partial(reduce_, *texts)
    for number, text in enumerate(_SCANS):
        for scan in (scans.InclusiveScanKernel, scans.ExclusiveScanKernel):
            yield f"scan/{scan.__name__}/{number}/{c}", partial(_scan, scan, context, kind, text, x)
    yield f"scan/segmented/{c}", scan_segments


def _scan(scan: Any, context: cl.Context, kind: type[np.generic], text: str, x: Any) -> None:  # noqa: ANN401  PyOpenCL's
    scan(context, kind, text, neutral="0")(x)


def _of_arrays(queue: cl.CommandQueue, kind: type[np.generic]) -> dict[str, Make]:
    x, y = (arrays.to_device(queue, np.full(ITEMS, 2, kind)) for _ in range(2))
    at = arrays.arange(queue, 0, ITEMS, 1, dtype=np.int32)
    return {
        "array/add": lambda: x + y, "array/subtract": lambda: x - y, "array/multiply": lambda: x * y,
        "array/divide": lambda: x / y, "array/add_scalar": lambda: x + 3, "array/rsubtract": lambda: 3 - x,
        "array/scale": lambda: 3 * x, "array/rdivide": lambda: 3 / x, "array/power": lambda: x**y,
        "array/power_scalar": lambda: x**2, "array/negative": lambda: -x, "array/abs": lambda: abs(x),
        "array/less": lambda: x < y, "array/equal": lambda: x == y, "array/and": lambda: x & y,
        "array/xor": lambda: x ^ y, "array/reverse": x.reverse, "array/take": lambda: arrays.take(x, at),
        "array/where": lambda: arrays.if_positive(x, x, y), "array/minimum": lambda: arrays.minimum(x, y),
        "array/maximum": lambda: arrays.maximum(x, y), "array/sum": lambda: arrays.sum(x),
        "array/dot": lambda: arrays.dot(x, y), "array/max": lambda: arrays.max(x), "array/min": lambda: arrays.min(x),
        "array/cumsum": lambda: arrays.cumsum(x), "array/diff": lambda: arrays.diff(x), "array/fill": lambda: x.fill(1),
        "array/any": x.any, "array/all": x.all, "array/arange": lambda: arrays.arange(queue, 0, 100, 1, dtype=kind),
        "array/vdot": lambda: arrays.vdot(x, y), "array/strided": lambda: x[::2] + y[::2],
        "array/astype": lambda: x.astype(np.float32), "array/subset_dot": lambda: arrays.subset_dot(at, x, y),
        "array/complex": lambda: (x + 1j) * (y - 1j), "array/complex_abs": lambda: abs(x + 1j),
        "array/complex_dot": lambda: arrays.dot(x + 1j, y + 2j), "array/real": lambda: (x + 1j).real,
    }  # fmt: skip


def _of_algorithms(context: cl.Context, queue: cl.CommandQueue, kind: type[np.generic]) -> dict[str, Make]:
    c = _C[kind]
    x = arrays.to_device(queue, np.arange(ITEMS).astype(kind))
    found: dict[str, Make] = {
        "algorithm/copy_if": lambda: algorithm.copy_if(x, "ary[i] > 3"),
        "algorithm/remove_if": lambda: algorithm.remove_if(x, "ary[i] > 3"),
        "algorithm/partition": lambda: algorithm.partition(x, "ary[i] > 3"),
        "algorithm/unique": lambda: algorithm.unique(x),
        "algorithm/bitonic_sort": lambda: bitonic_sort.BitonicSort(context)(x),
    }
    if kind in INTEGERS:
        found["algorithm/radix_sort"] = lambda: algorithm.RadixSort(
            context, f"{c} *ary", key_expr="ary[i]", sort_arg_names=["ary"]
        )(x)
        found["algorithm/key_values"] = lambda: algorithm.KeyValueSorter(context)(queue, x, x, ITEMS, np.int32)
    for count in (1, 2):
        lists = [(f"list{number}", kind) for number in range(count)]
        found[f"algorithm/lists{count}"] = partial(_build_lists, context, queue, lists)
    return found


def _build_lists(context: cl.Context, queue: cl.CommandQueue, lists: list[tuple[str, type[np.generic]]]) -> None:
    appends = " ".join(f"APPEND_{name}(j);" for name, _ in lists)
    takes = "LIST_ARG_DECL USER_ARG_DECL index_type i"
    body = f"void generate({takes}) {{ for (int j = 0; j < i % 4; ++j) {{ {appends} }} }}"
    algorithm.ListOfListsBuilder(context, lists, body, [])(queue, ITEMS)
