"""Kernels of our own whose work is known in closed form, with the launch of each at a size `n`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, lru_cache

from model.device import Device
from model.device_catalog import builtin_devices
from model.engine import Engine
from model.launch.launch import Launch
from model.prediction import Prediction
from model.predictor import Predictor
from model.work.work import Work

COPY = """__kernel void copy(__global const float *a, __global float *b, int n) {
    int i = get_global_id(0); if (i < n) b[i] = a[i]; }"""
SAXPY = """__kernel void saxpy(__global const float *x, __global float *y, float k, int n) {
    int i = get_global_id(0); if (i < n) y[i] = k * x[i] + y[i]; }"""
STRIDED = """__kernel void strided(__global const float *a, __global float *b, int step) {
    int i = get_global_id(0); b[i * step] = a[i * step]; }"""
TRANSPOSED = """__kernel void transposed(__global const float *a, __global float *b, int n) {
    int x = get_global_id(0), y = get_global_id(1); b[x * n + y] = a[x * n + y]; }"""
STRAIGHT = """__kernel void straight(__global const float *a, __global float *b, int n) {
    int x = get_global_id(0), y = get_global_id(1); b[y * n + x] = a[y * n + x]; }"""
REDUCTION = """__kernel void reduction(__global const float *a, __global float *sums, __local float *part) {
    int l = get_local_id(0); part[l] = a[get_global_id(0)]; barrier(CLK_LOCAL_MEM_FENCE);
    for (int s = get_local_size(0) / 2; s > 0; s >>= 1) {
        if (l < s) part[l] += part[l + s];
        barrier(CLK_LOCAL_MEM_FENCE); }
    if (l == 0) sums[get_group_id(0)] = part[0]; }"""
NAIVE = """__kernel void naive(__global const float *a, __global const float *b, __global float *c, int n) {
    int x = get_global_id(0), y = get_global_id(1); float s = 0;
    for (int k = 0; k < n; k++) s += a[y * n + k] * b[k * n + x];
    c[y * n + x] = s; }"""
ACROSS = """__kernel void across(__global const float *a, __global const float *b, __global float *c, int n) {
    int y = get_global_id(0), x = get_global_id(1); float s = 0;
    for (int k = 0; k < n; k++) s += a[y * n + k] * b[k * n + x];
    c[y * n + x] = s; }"""
TILED = """#define T 16
__kernel void tiled(__global const float *a, __global const float *b, __global float *c, int n) {
    __local float ta[T][T], tb[T][T];
    int x = get_local_id(0), y = get_local_id(1), col = get_global_id(0), row = get_global_id(1); float s = 0;
    for (int t = 0; t < n / T; t++) {
        ta[y][x] = a[row * n + t * T + x]; tb[y][x] = b[(t * T + y) * n + col];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int k = 0; k < T; k++) s += ta[y][k] * tb[k][x];
        barrier(CLK_LOCAL_MEM_FENCE); }
    c[row * n + col] = s; }"""
STENCIL = """__kernel void stencil(__global const float *a, __global float *b, int n) {
    int x = get_global_id(0), y = get_global_id(1);
    if (x > 0 && y > 0 && x < n - 1 && y < n - 1)
        b[y * n + x] = 0.2f * (a[y * n + x] + a[y * n + x - 1] + a[y * n + x + 1] + a[(y - 1) * n + x]
            + a[(y + 1) * n + x]); }"""
BODIES = """__kernel void bodies(__global const float4 *p, __global float4 *out, int n) {
    int i = get_global_id(0); float4 own = p[i]; float3 f = (float3)(0.0f);
    for (int j = 0; j < n; j++) { float3 d = p[j].xyz - own.xyz; float r = rsqrt(dot(d, d) + 0.01f);
        f += d * (p[j].w * r * r * r); }
    out[i] = (float4)(f, own.w); }"""
GATHER = """__kernel void gather(__global const int *at, __global const float *a, __global float *b) {
    int i = get_global_id(0); b[i] = a[at[i]]; }"""
HISTOGRAM = """__kernel void histogram(__global const int *a, __global int *bins) {
    atomic_inc(&bins[a[get_global_id(0)] & 255]); }"""
WAVES = """__kernel void waves(__global float *a, int rounds) {
    int i = get_global_id(0); float v = a[i];
    for (int k = 0; k < rounds; k++) v = sin(v) + exp(-v * v);
    a[i] = v; }"""
HASH = """__kernel void hash(__global uint *a, int rounds) {
    int i = get_global_id(0); uint v = a[i];
    for (int k = 0; k < rounds; k++) { v ^= v << 13; v ^= v >> 17; v ^= v << 5; v += 0x9e3779b9u; }
    a[i] = v; }"""
SCAN = """__kernel void scan(__global float *a, __local float *t) {
    int l = get_local_id(0), i = get_global_id(0); t[l] = a[i]; barrier(CLK_LOCAL_MEM_FENCE);
    for (int s = 1; s < get_local_size(0); s <<= 1) {
        float v = l >= s ? t[l - s] : 0.0f; barrier(CLK_LOCAL_MEM_FENCE);
        t[l] += v; barrier(CLK_LOCAL_MEM_FENCE); }
    a[i] = t[l]; }"""
CHAIN = """__kernel void chain(__global float *a, int rounds) {
    int i = get_global_id(0); float v = a[i];
    for (int k = 0; k < rounds; k++) v = fma(v, 1.0001f, 0.5f);
    a[i] = v; }"""

# The same within bounds, so that a side may be of any length.
BOUND_STRAIGHT = """__kernel void bound_straight(__global const float *a, __global float *b, int n) {
    int x = get_global_id(0), y = get_global_id(1); if (x < n && y < n) b[y * n + x] = a[y * n + x]; }"""
BOUND_TRANSPOSED = """__kernel void bound_transposed(__global const float *a, __global float *b, int n) {
    int x = get_global_id(0), y = get_global_id(1); if (x < n && y < n) b[x * n + y] = a[y * n + x]; }"""
BOUND_NAIVE = """__kernel void bound_naive(__global const float *a, __global const float *b, __global float *c, int n) {
    int x = get_global_id(0), y = get_global_id(1); if (x >= n || y >= n) return; float s = 0;
    for (int k = 0; k < n; k++) s += a[y * n + k] * b[k * n + x];
    c[y * n + x] = s; }"""
BOUND_TILED = """#define T 16
__kernel void bound_tiled(__global const float *a, __global const float *b, __global float *c, int n) {
    __local float ta[T][T], tb[T][T];
    int x = get_local_id(0), y = get_local_id(1), col = get_global_id(0), row = get_global_id(1); float s = 0;
    for (int t = 0; t < (n + T - 1) / T; t++) {
        ta[y][x] = row < n && t * T + x < n ? a[row * n + t * T + x] : 0;
        tb[y][x] = t * T + y < n && col < n ? b[(t * T + y) * n + col] : 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int k = 0; k < T; k++) s += ta[y][k] * tb[k][x];
        barrier(CLK_LOCAL_MEM_FENCE); }
    if (row < n && col < n) c[row * n + col] = s; }"""
FILTERED = """__kernel void filtered(
    __global const float *a, __constant float *w, __global float *b, int n, int pitch) {
    int x = get_global_id(0), y = get_global_id(1); if (x >= n || y >= n) return; float s = 0;
    for (int j = -3; j <= 3; j++)
        for (int i = -3; i <= 3; i++) s += w[(j + 3) * 7 + i + 3] * a[(y + j + 3) * pitch + x + i + 3];
    b[y * n + x] = s; }"""


@dataclass(frozen=True, slots=True)
class Sized:
    """A kernel under a launch that `n` scales. `sizes` go up to far beyond every cache."""

    text: str
    launch: Callable[[int], str]
    sizes: tuple[int, ...]

    def at(self, n: int) -> tuple[Work, Launch]:
        return analysed(self.text, self.launch(n))


def _line(buffers: str) -> Callable[[int], str]:
    return lambda n: f"global={n} local=64 n={n} " + " ".join(f"{name}={n}" for name in buffers.split())


def _square(n: int) -> str:
    return f"global={n},{n} local=16,16 n={n} a={n * n} b={n * n} c={n * n}"


def _plane(n: int) -> str:
    return f"global={n},{n} local=16,16 n={n} a={n * n} b={n * n}"


def _rounded_up(n: int) -> str:
    whole = -(-n // 16) * 16
    return f"global={whole},{whole} local=16,16 n={n} b={n * n}"


def _bound_plane(n: int) -> str:
    return f"{_rounded_up(n)} a={n * n}"


def _bound_square(n: int) -> str:
    return f"{_bound_plane(n)} c={n * n}"


LINES = (1 << 12, 1 << 16, 3 << 17, 1 << 20, 3 << 20, 1 << 23, 1 << 25, 1 << 27)
PLANES = (64, 256, 1024, 1536, 2048, 3072, 4096, 8192)
SQUARES = (64, 128, 256, 512, 768, 1024, 1536, 2048, 4096)
ROUNDS = (1, 2, 10, 100, 1000, 10_000)
KERNELS = {
    "copy": Sized(COPY, _line("a b"), LINES),
    "saxpy": Sized(SAXPY, lambda n: _line("x y")(n) + " k=2", LINES),
    "strided": Sized(STRIDED, lambda n: f"global={n} local=64 step=7 a={7 * n} b={7 * n}", LINES[:-2]),
    "transposed": Sized(TRANSPOSED, _plane, PLANES),
    "straight": Sized(STRAIGHT, _plane, PLANES),
    "reduction": Sized(REDUCTION, lambda n: f"global={n} local=256 a={n} sums={n // 256} part=256", LINES),
    "naive": Sized(NAIVE, _square, SQUARES),
    "across": Sized(ACROSS, _square, SQUARES),
    "tiled": Sized(TILED, _square, SQUARES),
    "stencil": Sized(STENCIL, _plane, PLANES),
    "bodies": Sized(
        BODIES, lambda n: f"global={n} local=64 n={n} p={n} out={n}", (1024, 4096, 16_384, 65_536, 1 << 18)
    ),
    "gather": Sized(GATHER, lambda n: f"global={n} local=64 at={n} a={n} b={n} fill.at=randint:0:{n}", LINES),
    "histogram": Sized(HISTOGRAM, lambda n: f"global={n} local=64 a={n} bins=256", LINES),
    "waves": Sized(WAVES, lambda n: f"global=65536 local=64 a=65536 rounds={n}", ROUNDS),
    "hash": Sized(HASH, lambda n: f"global=65536 local=64 a=65536 rounds={n}", ROUNDS),
    "chain": Sized(CHAIN, lambda n: f"global=65536 local=64 a=65536 rounds={n}", ROUNDS),
    "scan": Sized(SCAN, lambda n: f"global={n} local=256 a={n} t=256", LINES),
}

SIDES = (500, 512, 1000, 1007, 1008, 1009, 1023, 1024, 1025, 1500, 2047, 2048, 2049, 3000, 4095, 4096, 4097)
OF_ANY_SIDE = {
    "bound_straight": Sized(BOUND_STRAIGHT, _bound_plane, SIDES),
    "bound_stencil": Sized(STENCIL, _bound_plane, SIDES),
    "bound_transposed": Sized(BOUND_TRANSPOSED, _bound_plane, SIDES),
    "bound_naive": Sized(BOUND_NAIVE, _bound_square, SIDES),
    "bound_tiled": Sized(BOUND_TILED, _bound_square, SIDES),
    "filtered": Sized(FILTERED, lambda n: f"{_rounded_up(n)} pitch={n + 6} a={(n + 6) ** 2} w=49", SIDES),
}


@cache
def devices() -> tuple[Device, ...]:
    return builtin_devices()


@cache
def analysed(text: str, launch: str) -> tuple[Work, Launch]:
    """Whether a device could hold the buffers does not matter here: bounds hold for what nobody can run, too."""
    device = devices()[0]
    roomy = _with_room(device)
    (forecast,) = _engine().forecast(f"// kernelcast: {launch}\n{text}", None, roomy).forecasts
    assert forecast.work is not None, forecast.problem
    assert forecast.launch is not None
    return forecast.work, forecast.launch


@lru_cache(maxsize=1)
def _engine() -> Engine:
    return Engine()


def _with_room(device: Device) -> Device:

    return replace(device, global_mem_bytes=1 << 50, max_alloc_bytes=1 << 50, max_work_group_size=1024)


_PREDICTOR = Predictor(cache_size=1 << 16)


def predict(made: tuple[Work, Launch], device: Device) -> Prediction:
    return _PREDICTOR.predict(*made, device)
