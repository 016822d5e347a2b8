"""Small texts that ask for much: deep nesting, doubling macros and calls, endless lines. Each takes its depth."""

from __future__ import annotations

from collections.abc import Callable

Bomb = Callable[[int], bytes]

_KERNEL = b"__kernel void k(__global float *a, int n) { int i = get_global_id(0); float x = a[i]; "


def _repeated(opening: bytes, middle: bytes, closing: bytes) -> Bomb:
    """Nested inside a kernel's body, with and without its end."""

    def bomb(depth: int) -> bytes:
        return _KERNEL + opening * depth + middle + closing * depth + b" a[i] = x; }"

    return bomb


def _lines(head: str, line: str, tail: str, most: int = 400) -> Bomb:
    """One line for each level, `{0}` being the level and `{1}` the one before."""

    def bomb(depth: int) -> bytes:
        levels = range(1, min(depth, most) + 1)
        return "\n".join([head, *(line.format(k, k - 1) for k in levels), tail.format(levels[-1])]).encode()

    return bomb


BOMBS: tuple[Bomb, ...] = (
    _repeated(b"x = (", b"1", b");"),
    _repeated(b"(", b"x", b")"),
    _repeated(b"{", b"x += 1.0f;", b"}"),
    _repeated(b"if (n > i) { ", b"x += 1.0f;", b" } else { x -= 1.0f; }"),
    _repeated(b"if (n) ", b"x += 1.0f;", b""),
    _repeated(b"for (int j = 0; j < n; ++j) ", b"x += a[j];", b""),
    _repeated(b"for (int j = 0; j < 1000000000; ++j) { ", b"x += a[i];", b" }"),
    _repeated(b"while (x < n) { ", b"x *= 2;", b" }"),
    _repeated(b"do ", b"x += 1;", b" while (x < n);"),
    _repeated(b"switch (n) { case 1: ", b"x += 1;", b" break; default: x = 2; }"),
    _repeated(b"n ? x : ", b"1", b""),
    _repeated(b"-", b"x", b""),
    _repeated(b"!", b"x", b""),
    _repeated(b"*", b"a", b""),
    _repeated(b"&", b"a", b""),
    _repeated(b"(int)", b"x", b""),
    _repeated(b"a[(int)", b"0", b"]"),
    _repeated(b"sizeof(", b"x", b")"),
    _repeated(b"sin(", b"x", b")"),
    _repeated(b"x = ", b"1;", b""),
    _repeated(b"x + ", b"1;", b""),
    _repeated(b"1 << ", b"1;", b""),
    _repeated(b"n && ", b"n;", b""),
    _repeated(b"i * i + ", b"1;", b""),
    _repeated(b"x.xyzw", b"", b""),
    _repeated(b"struct { int a; ", b"int b;", b" } s;"),
    _repeated(b"int v", b"", b"[2]"),
    _repeated(b"n *= n; ", b"", b""),
    _repeated(b"n <<= 3; for (int j = n; j > 0; j /= 2) x += j; ", b"", b""),
    _repeated(b"float4 v; v.xy = v.yx; ", b"", b""),
    _repeated(b"barrier(1); ", b"", b""),
    _repeated(b"/*", b"", b""),
    _repeated(b'"', b"", b""),
    _repeated(b"\\\n", b"", b""),
    _repeated(b"\n#if 1\n", b"x += 1;", b"\n#endif\n"),
    _repeated(b"\n#if 1\n", b"x += 1;", b""),
    _repeated(b"\n#ifdef A\n#else\n", b"x += 1;", b"\n#endif\n"),
    _repeated(b"goto l; l: ", b"", b""),
    _lines("#define M0 x +", "#define M{0} M{1} M{1}", "__kernel void k(__global int *a) {{ int x; a[0] = M{0} 1; }}"),
    _lines("#define M0(q) q", "#define M{0}(q) M{1}(M{1}(q))",
           "__kernel void k(__global int *a) {{ a[0] = M{0}(a[1]); }}"),
    _lines("float f0(float x) { return x; }", "float f{0}(float x) {{ return f{1}(x) + f{1}(x); }}",
           "__kernel void k(__global float *a) {{ a[0] = f{0}(a[0]); }}"),
    _lines("int f0(int n) { int s = 0; for (int i = 0; i < n; ++i) s += i; return s; }",
           "int f{0}(int n) {{ int s = 0; for (int i = 0; i < f{1}(n); ++i) s += f{1}(i); return s; }}",
           "__kernel void k(__global int *a, int n) {{ a[0] = f{0}(n); }}"),
    _lines("typedef struct { float4 v; } s0;", "typedef struct {{ s{1} a, b; }} s{0};",
           "__kernel void k(__global s{0} *a) {{ a[1] = a[0]; }}"),
    _lines("typedef struct { int v; } s0;", "typedef struct {{ s{1} a, b; }} s{0};",
           "__kernel void k(__global s{0} *a, s{0} b) {{ s{0} c = b; for (int i = 0; i < 9; ++i) c = i ? c : a[i]; "
           "a[1] = c; }}"),
    _lines("typedef float t0;", "typedef t{1} t{0}[3];", "__kernel void k(__global float *a) {{ t{0} q; a[0] = 1; }}"),
    _lines("typedef float t0;", "typedef t{1} *t{0};", "__kernel void k(__global float *a, t{0} b) {{ a[0] = 1; }}"),
    _lines("enum { e0 = 1,", "e{0} = e{1} * 2 + e{1},", "}}; __kernel void k(__global int *a) {{ a[e{0}] = e{0}; }}"),
    _lines("__kernel void k(__global int *a, int n) { int v0 = n;", "int v{0} = v{1} * v{1} + {0};",
           "for (int i = 0; i < v{0}; ++i) a[i % v{0}] = v{0}; }}"),
    _lines("__kernel void k(__global int *a) { int v0 = get_global_id(0);", "int v{0} = max(v{1} / 3, v{1} % 5);",
           "a[v{0}] = v{0}; }}"),
    _lines("__kernel void k(__global int *a, int n) {",
           "if ((get_local_id(0) ^ (get_group_id(0) + {0})) < n) n += a[n];",
           "a[0] = n; }} // {0}"),
    _lines("__kernel void k(__global int *a, int n) {", "if (a[{0}] > {1}) n += a[n];", "a[0] = n; }} // {0}"),
    _lines("__kernel void k(__global int *a, int n) {", "for (int i{0} = 0; i{0} < n - {0}; ++i{0}) {{ n += i{0};",
           "a[n] = 1; }} // {0}"),
    _lines("", "__kernel void k{0}(__global int *a, int n) {{ for (int i = 0; i < n; ++i) a[i] += {1}; }}", "// {0}"),
    _lines("__kernel void k(", "int p{0}, ", "__global int *a) {{ a[0] = p{0}; }}"),
    _lines("// kernelcast: global=N N=1", "// kernelcast: global={0} local={1} name=s{0}",
           "__kernel void k(__global int *a) {{ a[{0}] = 1; }}"),
    lambda depth: b"// kernelcast: global=" + b"2**" * depth + b"2\n" + _KERNEL + b"a[i] = x; }",
    lambda depth: b"// kernelcast: global=8 local=" + b"(" * depth + b"\n" + _KERNEL + b"a[i] = x; }",
    lambda depth: b"// kernelcast: global=N N=" + b"9" * depth + b" a=N*N*N\n" + _KERNEL + b"a[i] = x; }",
    lambda depth: _KERNEL + b"a[0] = " + b"7" * depth + b"; }",
    lambda depth: _KERNEL + b"a[0] = " + b"w" * depth + b"; }",
    lambda depth: b"{" * depth,
    lambda depth: b"(" * depth + b"}" * depth,
    lambda depth: b"__kernel void k(" * depth,
    lambda depth: b"__kernel " * depth + b"void k(__global int *a) {}",
    lambda depth: b"#include \"k.cl\"\n" * depth,
    lambda depth: b"#" * depth + b"\n" + b"##" * depth,
)  # fmt: skip
