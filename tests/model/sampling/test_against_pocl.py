"""The interpreter leaves the same bytes in every buffer as a real device does."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import pytest

from model.launch.launch import Fill, Launch
from model.opencl.program import read_program
from model.opencl.types import PointerType
from model.sampling.arguments import fills_of
from model.sampling.run import interpreted_buffers

pytestmark = pytest.mark.device

HEAD = """
typedef struct { float x; int n[3]; char c; } S;
union U { float f; uint u; uchar b[4]; };
enum { FIRST = 3, SECOND };
__constant int tab[] = {1, 2, 3, 5, 8};
__constant float steps[2][3] = {{1, 2, 3}, {4, 5}};
__constant struct { int a; float b; } pair = {4, 2.5f};
int member(S s, S* p) { p->n[1] = s.n[2] + 1; s.n[0] = 77; return s.n[0] + p->n[0]; }
int collatz(int n) { int c = 0; while (n > 1) { n = (n & 1) ? 3*n+1 : n/2; c++; if (c > 200) return -1; } return c; }
int chosen(int a, int b) { return b == 0 ? a : (a > b ? collatz(a) : collatz(b)); }
"""
# Each gets: int i, a (some large number), b (-8 .. 8), n = 6, float p, q in [0.5, 1.5), and sets int r, float v.
BODIES: dict[str, str] = {
    "division": "r = b ? a / b + a % b + (int)((uint)a / 7u) + (int)((uint)a % 8u) : 0;",
    "shifts": "r = (a >> 3) ^ (int)((uint)a >> 5) ^ (a << (b & 31)) ^ ((uint)a << 3u);",
    "widths": "char c = a; uchar d = a; short s = a; ushort t = a; long l = (long)a*a*b; ulong m = l;"
    "r = c + d*3 + s*5 + t + (int)(l >> 7) + (int)(m % 1000) + (c < d) + (a < (uint)b);",
    "loops": "for (int j = 0; j < b; j++) { if (j == 3) continue; if (j == n) break; r += j*a; } do { r++; "
    "} while (r < 0);",
    "switches": "switch (b & 7) { case 1: r += 1; case 2: r += 2; break; case 3: { r += 100; break; }"
    "default: r += 7; case 5: r *= 3; }",
    "vectors": "int4 w = (int4)(a, b, a+b, a-b); w.xz += w.yw; w.lo = w.hi.yx; int4 z = w > (int4)(0) ? w : -w;"
    "r = w.x + w.s1*3 + z.z + z.w + any(w == z) + all(w.xy == w.zw);",
    "structs": "S s = {1.5f, {a, b, 3}, (char)a}; S t = s; r = member(s, &t); r += t.n[1] + t.c "
    "+ (int)(s.x*4) + sizeof(S)"
    "+ s.n[0]; S many[2]; many[b & 1] = t; many[(b & 1) ^ 1] = s; r += many[0].n[1];",
    "pointers": "int arr[8]; for (int j = 0; j < 8; j++) arr[j] = a*j; int* at = arr + 2; at[1] = 5; *at++ = 9;"
    "r = arr[b & 7] + *at + at[-1] + (int)(at - arr); uchar* raw = (uchar*)arr; raw[3] = 1; r ^= arr[0];",
    "places": "int arr[8]; for (int j = 0; j < 8; j++) arr[j] = a + j; int* at = arr; *at++ += 3; *at++ ^= b; "
    "(*at++)--; ++*++at; int j = 5; arr[j++] -= 9; arr[--j] *= 2; S s[2] = {{1, {2, 3, 4}, 5}}; S* o = s; "
    "o++->c += 4; o->n[j++ & 1] -= b; r = (int)(at - arr) + j * 10 + (int)(o - s) * 100 + s[0].c + s[1].n[1]; "
    "for (j = 0; j < 8; j++) r ^= arr[j];",
    "constants": "r = tab[i%5]*SECOND + (int)steps[i&1][i%3] + pair.a + (int)(pair.b*2) "
    "+ sizeof(tab)/sizeof(tab[0]);",
    "integers": "r = mul24(a & 4095, b) + mad24(a & 4095, 3, b) + mul_hi(a, b << 20) + clz(a) + popcount(a) "
    "+ rotate(a, b)"
    "+ (int)abs(a) + (int)abs_diff(a, b) + hadd(a, b) + rhadd(a, b) + add_sat(a << 16, b << 28) "
    "+ sub_sat(a << 16, b << 28)"
    "+ max(a, b) - min(a, b) + clamp(a, -5, b + 20) + select(a, b, a > b) + bitselect(a, b, n)"
    "+ (int)upsample((short)a, (ushort)b) + mad_sat(a, a, b);",
    "conversions": "float f = a*0.37f; r = convert_int_rte(f) + convert_uchar_sat(f) + convert_char_sat_rtn(f)"
    "+ convert_short_sat(a*100) + convert_int_rtp(f) + as_int(f) + (int)as_float(a & 0x3fffffff);"
    "uchar4 z = convert_uchar4_sat((float4)(f, f*2, -f, 300.f)); r += z.x + z.y*2 + z.z*3 + z.w; r += as_int(z);",
    "helpers": "r = collatz(i + 1) + chosen(a, b); int k = i, m = b; while (m) { int t = k % m; k = m; m = t; "
    "} r += k*1000;",
    "early": "uint s = i*1664525u + 1013904223u; for (;;) { s ^= s << 13; s ^= s >> 17; s ^= s << 5; r++; "
    "if ((s & 15) == 0)"
    "break; if (r > 40) { ints[i] = -1; return; } }",
    "jumps": "int k = 0; again: r += a + k; if (++k > 30) goto end; if (r & 3) { r += b; goto again; } end: k += 40; "
    "for (int j = 0; j < 4; j++) { twice: r = r * 3 + j; if (r & 4) { r += 4; if ((r & 24) == 8) goto twice; } "
    "if (r < 0) continue; r ^= k; } if (b > 0) goto skip; r += 7; skip: r++;",
    "operators": "bool f = a > 0 && b > 0 || a < -100; r = f ? !b : ~a; r += -(-a) + +b; uchar c = 200; "
    "c += 100; r += c;"
    "c <<= 1; r += c; short s = 32767; s++; r += s; int k = i; r += k++ + 1; r += ++k; r += 'a' + 0x7fu + 010 "
    "+ sizeof(int4);",
    "arrays": "int2 m[3]; m[0] = (int2)(a, b); m[1].x = 5; m[1].y = m[0].x; m[2] = m[1] + m[0].yx; "
    "int3 t = (int3)(a, m[2]);"
    "t.z *= 2; r = m[2].x + m[2].y + t.x + t.y + t.z;",
    "unions": "union U w; w.f = a*1.5f; r = w.u; w.b[0] = i; r ^= w.u;",
    "bits": "long4 l = convert_long4((int4)(a, b, 3, 4)); ulong2 z = as_ulong2((int4)(a, b, 1, 2));"
    "r = (int)(l.x*l.y >> 3) + (int)(z.x >> 3) + (int)z.y; char16 c = (char16)(a); c.s3 = 7; c.odd = c.even;"
    "r += c.sf + c.s2 + shuffle((uint4)(1,2,3,4), (uint4)(3,2,1,0)).x;",
    "reduction": "__local int t[64]; int l = get_local_id(0); t[l] = a; barrier(CLK_LOCAL_MEM_FENCE); "
    "for (int s = 32; s > 0;"
    "s >>= 1) { if (l < s) t[l] += t[l + s]; barrier(CLK_LOCAL_MEM_FENCE); } r = t[0] + t[63 - l];",
    "atomics": "atomic_add(&ints[256 + (b & 3)], a); atomic_inc(ints + 260); atomic_max(ints + 261, a); "
    "atomic_min(ints + 262, a);"
    "atomic_or(&ints[263], 1 << (b & 31)); atomic_xor(&ints[264], a); atomic_sub(&ints[265], b);",
    "packed": "uchar4 c = vload4(i & 15, bytes); short3 s = vload3(i & 7, (__global const short*)bytes);"
    "r = c.x + c.w*2 + s.x + s.z; vstore3(c.xyz, i, (__global uchar*)(ints + 512));",
    "floats": "v = p / q; v = (v - p)*q; float3 w = (float3)(p, q, v); w = w*2.0f + 1.0f; w.yz /= p; "
    "v = w.x - w.y - w.z;",
    "rounding": "v = sqrt(fabs(p - q)) + floor(p*3) + ceil(q) + trunc(-p*4) + rint(p*7) + round(q*5) "
    "+ fmin(p, q) + fmax(p, q)"
    "+ sign(p - q) + step(p, q) + copysign(p, -q);",
    "halves": "vstore_half(p*3, i, (__global half*)(ints + 512)); v = vload_half(i, (__global half*)floats);",
}  # fmt: skip
MATH = (
    "v = sin(p) + cos(q) + tan(p) + exp(p) + log(q) + pow(p, q) + atan2(p, q) + exp2(p) + log2(q) + cbrt(p) "
    "+ hypot(p, q)"
    "+ rsqrt(q) + native_sin(p) + fmod(p, q*0.3f) + sinpi(p) + log1p(p) + expm1(p); float4 w = (float4)(p, q, p, 1);"
    "v += dot(w, w) + length(w) + distance(w, w*2) + normalize(w).y + cross(w, w.yzxw).x + mix(p, q, 0.3f)"
    "+ smoothstep(0.f, 2.f, p) + clamp(p, 0.6f, 1.2f) + fma(p, q, p) + mad(p, q, p) + degrees(p) + pown(p, 3) "
    "+ ldexp(p, 2)"
    "+ ilogb(p) + fdim(p, q); float o; v += fract(p*3, &o) + o + modf(q*3, &o) + o; int e; v += frexp(p*5, &e) + e;"
    "v += sincos(p, &o) + o; v += isnan(p) + isgreater(p, q) + signbit(-p) + any(isless(w, w*2));"
)
FILLS = (
    ("x", Fill("randint", (0, 1000))),
    ("y", Fill("randint", (0, 17))),
    ("ints", Fill("zeros")),
    ("floats", Fill("zeros")),
)
BUFFERS = {"ints": 1024, "floats": 256, "x": 256, "y": 256, "fx": 256, "fy": 256, "bytes": 1024}


def _kernel(name: str, body: str) -> str:
    return f"""__kernel void {name}(__global int* ints, __global float* floats, __global const int* x,
      __global const int* y, __global const float* fx, __global const float* fy, __global const uchar* bytes, int n) {{
      int i = get_global_id(0), a = x[i]*7919 - 30000, b = y[i] - 8, r = 0; float p = fx[i], q = fy[i], v = 0;
      {body}
      ints[i] = r; floats[i] = v; }}"""


SOURCE = HEAD + "\n".join(_kernel(name, body) for name, body in (*BODIES.items(), ("math_functions", MATH)))
LAUNCH = Launch((256,), (64,), scalars=(("n", 6),), buffers=tuple(BUFFERS.items()), fills=FILLS)
Ran = Callable[[str], Mapping[str, bytes]]


@pytest.fixture(scope="module")
def on_device() -> Ran:
    """Run one of the kernels on PoCL, with the contents that the interpreter makes."""
    import pyopencl as cl

    from model.contents.buffer import buffer_contents

    device = next(d for p in cl.get_platforms() for d in p.get_devices())
    context = cl.Context([device])
    queue = cl.CommandQueue(context)
    built = cl.Program(context, SOURCE).build(["-cl-std=CL1.2", "-cl-opt-disable", "-w"])
    program = read_program(SOURCE)

    def run(name: str) -> Mapping[str, bytes]:
        memories, arguments = {}, []
        for parameter in program.kernel(name).parameters:
            if not isinstance(parameter.type, PointerType):
                arguments.append(np.int32(6))
                continue
            length = BUFFERS[parameter.name]
            fills = fills_of(parameter.name, LAUNCH)
            held = np.zeros(length * parameter.type.pointee.size_bytes, np.uint8)
            buffer_contents(parameter.name, parameter.type.pointee, length, fills, min(BUFFERS.values())).write(held)
            memories[parameter.name] = held, cl.Buffer(context, cl.mem_flags.COPY_HOST_PTR, hostbuf=held)
            arguments.append(memories[parameter.name][1])
        getattr(built, name)(queue, LAUNCH.global_size, LAUNCH.local_size, *arguments)
        for held, buffer in memories.values():
            cl.enqueue_copy(queue, held, buffer)
        queue.finish()
        return {name: held.tobytes() for name, (held, _) in memories.items()}

    return run


@pytest.mark.parametrize("name", BODIES)
def test_every_byte_is_what_a_device_leaves(on_device: Ran, name: str) -> None:
    program = read_program(SOURCE)
    ours, theirs = interpreted_buffers(program, program.kernel(name), LAUNCH), on_device(name)
    for buffer, dtype in (("ints", np.int32), ("floats", np.float32)):
        np.testing.assert_array_equal(np.frombuffer(ours[buffer], dtype), np.frombuffer(theirs[buffer], dtype), buffer)


def test_functions_of_mathematics_agree_within_their_own_errors(on_device: Ran) -> None:
    program = read_program(SOURCE)
    ours = interpreted_buffers(program, program.kernel("math_functions"), LAUNCH)["floats"]
    theirs = on_device("math_functions")["floats"]
    np.testing.assert_allclose(np.frombuffer(ours, np.float32), np.frombuffer(theirs, np.float32), rtol=1e-5)
