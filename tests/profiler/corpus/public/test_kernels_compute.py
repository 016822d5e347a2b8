"""The kernels that stand for public measurements compute what those did, under any setting of their macros."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from model.opencl.program import read_program
from profiler.corpus.public import convolution, dedispersion, gemm, lattice, pnpoly
from profiler.corpus.public.elementwise import elementwise
from profiler.corpus.public.row import PublicLaunch, PublicRow, settings
from profiler.corpus.public.rows_of_floats import layer_norm, softmax
from profiler.corpus.public.small_products import small_products
from profiler.corpus.public.stream import stream

pytestmark = pytest.mark.device
Array = npt.NDArray[Any]
Run = Callable[..., None]
NUMBERS = {"float": np.float32, "double": np.float64}


@pytest.fixture(scope="module")
def run() -> Run:
    """`run(program, {"x": array, ...})`: runs it with its own launch, and leaves what it wrote in the arrays."""
    import pyopencl as cl

    context = cl.Context([cl.get_platforms()[0].get_devices()[0]])
    queue = cl.CommandQueue(context)

    def run_program(program: PublicLaunch, arrays: Mapping[str, Array]) -> None:
        # Unoptimised code computes the same, and loops that are to be unrolled take LLVM half a minute.
        built = cl.Program(context, program.source).build([*program.options.arguments(), "-cl-opt-disable"])
        kernel = getattr(built, program.kernel)
        flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
        buffers = {name: cl.Buffer(context, flags, hostbuf=array) for name, array in arrays.items()}
        scalars = dict(program.launch.scalars)
        local = dict(program.launch.local_bytes)
        parameters = read_program(program.source, options=program.options).kernel(program.kernel).parameters
        for at, parameter in enumerate(parameters):
            if parameter.name in buffers:
                kernel.set_arg(at, buffers[parameter.name])
            elif parameter.name in local:
                kernel.set_arg(at, cl.LocalMemory(local[parameter.name]))
            else:
                number = NUMBERS.get(parameter.type.name, np.int32)
                kernel.set_arg(at, number(scalars[parameter.name]))
        cl.enqueue_nd_range_kernel(queue, kernel, program.launch.global_size, program.launch.local_size)
        for name, array in arrays.items():
            cl.enqueue_copy(queue, array, buffers[name])

    return run_program


def _row(family: str, said: Mapping[str, object], chosen: Mapping[str, object] | None = None) -> PublicRow:
    return PublicRow(family, "", settings(said), settings(chosen or {}), 1.0, None, "")


def _floats(*shape: int, seed: int = 1) -> npt.NDArray[np.float32]:
    return np.random.default_rng(seed).uniform(0.1, 2.0, shape).astype(np.float32)


_EXPECTED: dict[str, Callable[[Array, Array], Array]] = {
    "add": lambda x, y: x + y,
    "mul": lambda x, y: x * y,
    "div": lambda x, y: x / y,
    "pow": lambda x, y: x**y,
    "addu": lambda x, _: x + 0.5,
    "mulu": lambda x, _: x * 0.5,
    "divu": lambda x, _: x * 0.5,
    "powu": lambda x, _: x * x,
    "relu": lambda x, _: np.maximum(x, 0),
    "gelu": lambda x, _: x * 0.5 * (1 + np.vectorize(math.erf)(x / math.sqrt(2))),
    "tanh": lambda x, _: np.tanh(x),
}


@pytest.mark.parametrize("operation", _EXPECTED)
def test_elementwise_operations_reach_the_last_element(run: Run, operation: str) -> None:
    row = _row("elementwise", {"operation": operation, "rows": 7, "columns": 73}, {"group": 64})
    x, y, z = _floats(511) - 0.05, _floats(511, seed=2), np.zeros(511, np.float32)
    run(elementwise(row), {"x": x, "y": y, "z": z} if operation in ("add", "mul", "div", "pow") else {"x": x, "z": z})
    np.testing.assert_allclose(z, _EXPECTED[operation](x, y), rtol=2e-5)


@pytest.mark.parametrize(
    ("variant", "lanes", "lines", "columns"),
    [("registers", 32, 4, 530), ("registers", 64, 2, 1000), ("groups", 64, 1, 1031), ("local", 128, 1, 1032)],
)
def test_softmax_is_the_same_in_all_variants(run: Run, variant: str, lanes: int, lines: int, columns: int) -> None:
    row = _row("softmax", {"rows": 6, "columns": columns}, {"variant": variant, "lanes": lanes, "lines": lines})
    x, z = 20 * _floats(6, columns), np.zeros((6, columns), np.float32)
    run(softmax(row), {"x": x, "z": z})
    expected = np.exp(x - x.max(1, keepdims=True))
    np.testing.assert_allclose(z, expected / expected.sum(1, keepdims=True), rtol=1e-4, atol=1e-7)


@pytest.mark.parametrize(("lanes", "lines"), [(32, 4), (64, 4)])
def test_layer_normalisation_has_its_gain_and_shift(run: Run, lanes: int, lines: int) -> None:
    row = _row("layer_norm", {"rows": 5, "columns": 1100}, {"lanes": lanes, "lines": lines})
    x, gain, shift, z = _floats(5, 1100), _floats(1100), _floats(1100, seed=3), np.zeros((5, 1100), np.float32)
    run(layer_norm(row), {"x": x, "gain": gain, "shift": shift, "z": z})
    scale = 1 / np.sqrt(x.var(1, keepdims=True) + 1e-5)
    np.testing.assert_allclose(z, (x - x.mean(1, keepdims=True)) * scale * gain + shift, rtol=2e-3, atol=2e-3)


@pytest.mark.parametrize("use_shmem", [0, 1])
@pytest.mark.parametrize(
    ("group", "tile", "use_padding"), [((16, 4), (1, 1), 0), ((8, 8), (3, 2), 0), ((16, 2), (2, 4), 1)]
)
def test_convolution_whatever_its_tiles(
    run: Run, group: tuple[int, int], tile: tuple[int, int], use_padding: int, use_shmem: int
) -> None:
    said = {
        "block_size_x": group[0],
        "block_size_y": group[1],
        "tile_size_x": tile[0],
        "tile_size_y": tile[1],
        "use_shmem": use_shmem,
        "use_padding": use_padding,
    }
    width, height = 50, 41
    image, weights = _floats(height + 14, width + 14), _floats(15, 15, seed=2)
    output = np.zeros((height, width), np.float32)
    run(
        convolution.of_size(_row("convolution", said), width, height),
        {"output": output, "input": image, "weights": weights},
    )
    expected = sum(weights[j, i] * image[j : j + height, i : i + width] for j in range(15) for i in range(15))
    np.testing.assert_allclose(output, expected, rtol=1e-4)


@pytest.mark.parametrize(
    ("group", "tile", "strides"), [((4, 16), (1, 1), (0, 0)), ((2, 8), (3, 4), (1, 0)), ((8, 4), (2, 3), (0, 1))]
)
def test_dedispersion_whatever_its_tiles(
    run: Run, group: tuple[int, int], tile: tuple[int, int], strides: tuple[int, int]
) -> None:
    said = dict(zip(dedispersion.MACROS, (*group, *tile, *strides), strict=True))
    samples, measures, channels = 70, 45, 9
    program = dedispersion.of_size(_row("dedispersion", said), samples, measures, channels)
    pitch = int(dict(program.launch.scalars)["pitch"])
    taken = np.random.default_rng(4).integers(0, 256, (channels, pitch)).astype(np.uint8)
    delays = _floats(channels)
    output = np.zeros((measures, samples), np.float32)
    run(program, {"input": taken, "delays": delays, "output": output})
    for measure in range(measures):
        shifts = (np.float32(measure) * delays).astype(int)
        expected = sum(taken[c, s : s + samples].astype(np.float32) for c, s in enumerate(shifts))
        np.testing.assert_array_equal(output[measure], expected)


@pytest.mark.parametrize("between", [0, 1, 2, 3])
@pytest.mark.parametrize(("method", "tile"), [(0, 1), (1, 3), (2, 8)])
def test_points_in_a_polygon_by_every_method(run: Run, between: int, method: int, tile: int) -> None:
    said = {"block_size_x": 32, "tile_size": tile, "between_method": between, "use_method": method}
    count = 1000
    angles = np.linspace(0, 2 * np.pi, 24, endpoint=False)
    polygon = np.stack([np.cos(angles), np.sin(angles)], 1).astype(np.float32)
    points = np.random.default_rng(5).uniform(-1.5, 1.5, (count, 2)).astype(np.float32)
    inside = np.full(count, -1, np.int32)
    run(pnpoly.of_size(_row("pnpoly", said), count, 24), {"inside": inside, "points": points, "polygon": polygon})
    radius = np.hypot(*points.T)
    assert set(inside[radius < np.cos(np.pi / 24) - 1e-3]) == {1}
    assert set(inside[radius > 1 + 1e-3]) == {0}


@pytest.mark.parametrize(
    "macros",
    [
        (16, 16, 16, 8, 8, 8, 8, 2, 1, 1, 0, 0, 0, 0),
        (32, 64, 16, 8, 16, 16, 8, 2, 2, 4, 0, 0, 1, 1),
        (64, 32, 32, 8, 8, 8, 16, 2, 4, 1, 1, 1, 1, 0),
        (64, 64, 16, 8, 8, 16, 16, 2, 8, 8, 1, 0, 0, 1),
    ],
    ids=lambda macros: "-".join(map(str, macros)),
)
def test_matrices_are_multiplied_whatever_the_tiles(run: Run, macros: tuple[int, ...]) -> None:
    side = 128
    said = dict(zip(gemm.MACROS, macros, strict=True))
    a, b, c = _floats(side, side), _floats(side, side, seed=2), _floats(side, side, seed=3)  # [k, m], [k, n], [n, m]
    expected = (a.T @ b).T + 0.5 * c
    run(gemm.of_size(_row("gemm", said), side), {"a": a, "b": b, "c": c})
    np.testing.assert_allclose(c, expected, rtol=1e-4)


@pytest.mark.parametrize("operation", ["copy", "mul", "add", "triad"])
def test_streams_do_what_their_names_say(run: Run, operation: str) -> None:
    program = stream(_row("stream", {"operation": operation, "doubles": 777}))
    a, b, c = (np.random.default_rng(seed).uniform(0, 1, 777) for seed in range(3))
    expected = {"copy": a.copy(), "mul": 0.4 * c, "add": a + b, "triad": b + 0.4 * c}[operation]
    arrays = {"a": a, "b": b, "c": c}
    run(program, {name: arrays[name] for name, _ in program.launch.buffers})
    np.testing.assert_allclose({"mul": b, "triad": a}.get(operation, c), expected)


def test_a_dot_product_has_a_part_from_each_group(run: Run) -> None:
    program = stream(_row("stream", {"operation": "dot", "doubles": 5000}, {"groups": 3, "group": 64}))
    a, b, sums = np.linspace(0, 1, 5000), np.linspace(1, 2, 5000), np.zeros(3)
    run(program, {"a": a, "b": b, "sums": sums})
    assert sums.min() > 0
    assert sums.sum() == pytest.approx(a @ b)


SIDE = 8
_VELOCITIES = np.array(
    [(0, 0, 0), *(v for first in ((1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 0), (1, 0, 1), (0, 1, 1), (1, -1, 0),
     (1, 0, -1), (0, 1, -1)) for v in (first, tuple(-each for each in first)))]
)  # fmt: skip
_WEIGHTS = np.array([1 / 3] + [1 / 18] * 6 + [1 / 36] * 12)


def _moved(density: Array, direction: int) -> Array:
    """One cell along a direction; axes are z, y and x."""
    return np.roll(density, tuple(_VELOCITIES[direction][::-1]), (0, 1, 2))


def _in_place(densities: Array, *, is_odd: bool) -> Array:
    """Where the kernel finds them in a step: opposite directions take turns at a cell and its neighbour."""
    found = np.zeros_like(densities)
    found[0] = densities[0]
    for first in range(1, 19, 2):
        found[first if is_odd else first + 1] = densities[first]
        found[first + 1 if is_odd else first] = _moved(densities[first + 1], first)
    return found


def _after_a_step(densities: Array, rate: float) -> Array:
    density = 1 + densities.sum(0)
    velocity = np.tensordot(_VELOCITIES, densities, (0, 0)) / density
    along = np.tensordot(_VELOCITIES, velocity, (1, 0))
    equal = _WEIGHTS[:, None, None, None] * (
        density * (1 + 3 * along + 4.5 * along**2 - 1.5 * (velocity**2).sum(0)) - 1
    )
    after = densities + rate * (equal - densities)
    return np.stack([_moved(after[i], i) for i in range(19)])


@pytest.mark.parametrize(("storage", "scale", "kind"), [("fp32", 1.0, np.float32), ("fp16s", 2.0**15, np.float16)])
def test_a_lattice_relaxes_and_streams_in_place(run: Run, storage: str, scale: float, kind: type) -> None:
    expected = np.random.default_rng(6).normal(0, 1e-3, (19, SIDE, SIDE, SIDE))
    f, flags = (scale * _in_place(expected, is_odd=True)).astype(kind), np.zeros(SIDE**3, np.uint8)
    program = lattice.of_size(storage, SIDE)
    for step in (1, 2, 3):
        scalars = (("step", step), ("rate", 0.8))
        run(replace(program, launch=replace(program.launch, scalars=scalars)), {"f": f, "flags": flags})
        expected = _after_a_step(expected, 0.8)
    np.testing.assert_allclose(f / scale, _in_place(expected, is_odd=False), atol=2e-6 if scale > 1 else 3e-7)


def test_the_lattices_own_format_of_16_bits_keeps_what_it_reads(run: Run) -> None:
    bits = np.random.default_rng(7).integers(0, 1 << 16, (19, SIDE**3)).astype(np.uint16)
    bits[:, :16] = np.arange(16)  # denormals, and zero
    f, flags = bits.copy(), np.zeros(SIDE**3, np.uint8)
    program = lattice.of_size("fp16c", SIDE)
    for step in (0, 1):  # nothing is relaxed: densities only change places
        scalars = (("step", step), ("rate", 0.0))
        run(replace(program, launch=replace(program.launch, scalars=scalars)), {"f": f, "flags": flags})
    assert sorted(f.ravel() & 0x7FFF) == sorted(bits.ravel() & 0x7FFF)


_ADD_BY_EXCHANGE = """
void add(volatile __global float *sum, const float value) {
    uint old, next;
    do {
        old = as_uint(*sum);
        next = as_uint(as_float(old) + value);
    } while (atomic_cmpxchg((volatile __global uint *)sum, old, next) != old);
}
#define ADD(place, value) add(place, value)
"""  # where the device has no atomic additions of floats


@pytest.mark.parametrize(("rows", "columns", "group"), [(5, 1, 7), (2, 3, 32)])
def test_small_products_are_added_to_their_c(run: Run, rows: int, columns: int, group: int) -> None:
    m, n, k, triples = 5, 7, 3, 70
    said = {"m": m, "n": n, "k": k, "batch": 9, "rows": rows, "columns": columns, "group": group, "triples": triples}
    program = small_products(_row("small_products", {**said, "type": "float"}))
    source = program.source.replace("typedef atomic_float atomic_number_t;", _ADD_BY_EXCHANGE)
    random = np.random.default_rng(8)
    a, b = _floats(20, k, m), _floats(20, k, n, seed=2)
    of_a, of_b, of_c = random.integers(0, 20, triples), random.integers(0, 20, triples), np.arange(triples) // 16
    stack = np.stack([of_a * m * k, of_b * k * n, of_c * m * n], 1).astype(np.int32)
    c = np.zeros((5, n, m), np.float32)
    run(replace(program, source=source), {"a": a, "b": b, "c": c, "stack": stack})
    expected = np.zeros_like(c)
    for i, j, at in zip(of_a, of_b, of_c, strict=True):
        expected[at] += (a[i].T @ b[j]).T
    np.testing.assert_allclose(c, expected, rtol=1e-4)
