"""Updates in place at large strides: elimination steps, sweeps down columns, relaxation, stages of transforms."""

from __future__ import annotations

from profiler.corpus.draw import Draw
from profiler.corpus.family import PROGRAM, Draft, Sized, Wish, family
from profiler.corpus.writing.programs import side, sized, uniform, up_to, within, written

_CALM = uniform(0.5, 1.0)  # values that stay numbers however often a launch is repeated


def _side(own: Draw, data: float, low: int = 64, high: int = 4096) -> int:
    """Return the side of a square: a power of two half of the time, as programs have it."""
    length = side(data, low, high)
    return 1 << (length.bit_length() - 1) if own.chance(0.5) else length


@family("elimination_step", group="in_place", scale=PROGRAM)
def elimination_step(draw: Draw) -> Draft:
    """One step of an elimination: the rows below a pivot lose their share of its row."""
    by_column = draw.chance(0.4, "by column")
    real = draw.choose(("float", "double"), "type")
    row, column = ("get_global_id(1)", "get_global_id(0)")
    place = "a[col * n + row]" if by_column else "a[row * n + col]"
    pivot = "a[col * n + pivot]" if by_column else "a[pivot * n + col]"
    source = written(
        """
        kernel void elimination_step(global $T *a, global const $T *factors, const uint n, const uint pivot) {
            const uint col = $COL + pivot, row = $ROW + pivot + 1;
            if (row >= n || col >= n) return;
            $PLACE -= factors[row] * $PIVOT;
        }
        """,
        T=real, COL=column, ROW=row, PLACE=place, PIVOT=pivot,
    )  # fmt: skip

    def launch(own: Draw, wish: Wish) -> Sized:
        n = _side(own, 4 * wish.data)
        pivot = own.integer(0, n // 2)
        left = up_to(n - pivot, 16)
        return sized(
            6.0 * left * left, (left, left), (16, 16) if wish.local else None, {"a": n * n, "factors": n},
            {"n": n, "pivot": pivot}, {"a": _CALM, "factors": uniform(0.0, 1e-6)},
        )  # fmt: skip

    return Draft(source, "elimination_step", launch)


@family("column_sweep", group="in_place", scale=PROGRAM)
def column_sweep(draw: Draw) -> Draft:
    """Each work-item walks down, or along, a line of a matrix and carries a value on."""
    along = draw.chance(0.4, "along rows")
    both = draw.chance(0.4, "there and back")
    back = """
            for (int i = (int)lines - 2; i >= 0; i--) {
                $THERE
                carried = 0.5f * (a[at] + carried);
                a[at] = carried;
            }"""
    source = written(
        """
        kernel void column_sweep(global float *a, const uint lines, const uint pitch, const float keep) {
            const uint me = get_global_id(0);
            if (me >= $COUNT) return;
            float carried = 0.0f;
            for (uint i = 0; i < lines; i++) {
                $THERE
                carried = keep * carried + (1.0f - keep) * a[at];
                a[at] = carried;
            }"""
        + (back if both else "")
        + """
        }
        """,
        COUNT="pitch",
        THERE="const uint at = me * lines + i;" if along else "const uint at = i * pitch + me;",
    )

    def launch(own: Draw, wish: Wish) -> Sized:
        pitch = _side(own, 4 * wish.data)
        lines = _side(own, 4 * wish.data)
        items = up_to(pitch, wish.local or 1)
        return sized(
            (12.0 if both else 6.0) * lines * pitch, (items,), (wish.local,) if wish.local else None,
            {"a": lines * pitch}, {"lines": lines, "pitch": pitch, "keep": 0.75}, {"a": _CALM},
        )  # fmt: skip

    return Draft(source, "column_sweep", launch)


@family("every_other_point", group="in_place", scale=PROGRAM)
def every_other_point(draw: Draw) -> Draft:
    """Relaxation in place of every other point of a plane or a volume."""
    deep = draw.chance(0.4, "volume")
    real = draw.choose(("float", "float", "double"), "type")
    over = "1.3f" if real == "float" else "1.3"
    source = written(
        """
        kernel void every_other_point(global $T *u, global const $T *source, const int nx, const int ny, const int nz,
                                        const int colour) {
            const int y = get_global_id(1) + 1, z = get_global_id(2)$Z;
            const int x = 2 * get_global_id(0) + 1 + ((y + z + colour) & 1);
            if (x >= nx - 1 || y >= ny - 1 || z >= nz$ZE) return;
            const long at = ((long)z * ny + y) * nx + x;
            const $T around = u[at - 1] + u[at + 1] + u[at - nx] + u[at + nx]$DEEP;
            u[at] += $OVER * ((around - source[at]) * $SHARE - u[at]);
        }
        """,
        T=real, OVER=over, Z=" + 1" if deep else "", ZE=" - 1" if deep else "",
        DEEP=" + u[at - (long)nx * ny] + u[at + (long)nx * ny]" if deep else "",
        SHARE=("0.16666667" if deep else "0.25") + ("f" if real == "float" else ""),
    )  # fmt: skip

    def launch(own: Draw, wish: Wish) -> Sized:
        total = within(4 * wish.data, 1 << 12, 1 << 24)
        nz = within(total ** (1 / 3), 3, 256) if deep else 1
        ny = nx = _side(own, total / nz, 16)
        half = up_to(nx / 2, 8)
        return sized(
            6.0 * nx * ny * nz, (half, up_to(ny, 8), max(1, nz - 2) if deep else 1),
            (8, 8, 1) if wish.local else None, {"u": nx * ny * nz, "source": nx * ny * nz},
            {"nx": nx, "ny": ny, "nz": nz, "colour": own.integer(0, 1)}, {"u": _CALM, "source": uniform()},
        )  # fmt: skip

    return Draft(source, "every_other_point", launch)


@family("transform_stage", group="in_place", scale=PROGRAM)
def transform_stage(draw: Draw) -> Draft:
    """One stage of a transform in place: pairs far apart are turned against each other."""
    four = draw.chance(0.4, "radix 4")
    twiddle = draw.choose(("computed", "native", "table"), "twiddles")
    turn = {
        "computed": "const float2 w = (float2)(cos(angle * j), sin(angle * j));",
        "native": "const float2 w = (float2)(native_cos(angle * j), native_sin(angle * j));",
        "table": "const float2 w = turns[j];",
    }[twiddle]
    second = """
            const float2 c = turned(x[at + 2 * reach], w2), d = turned(x[at + 3 * reach], turned(w2, w));
            const float2 p = a + c, q = a - c, r = b + d, s = (float2)(b.y - d.y, d.x - b.x);
            x[at] = p + r;
            x[at + reach] = q + s;
            x[at + 2 * reach] = p - r;
            x[at + 3 * reach] = q - s;"""
    two = """
            x[at] = 0.7071f * (a + b);
            x[at + reach] = 0.7071f * (a - b);"""
    source = written(
        """
        inline float2 turned(const float2 v, const float2 w) {
            return (float2)(v.x * w.x - v.y * w.y, v.x * w.y + v.y * w.x);
        }
        kernel void transform_stage(global float2 *x, global const float2 *turns, const uint reach, const float angle) {
            const uint me = get_global_id(0), j = me & (reach - 1), at = $AT;
            $TURN
            const float2 a = x[at], b = turned(x[at + reach], w)$W2;"""
        + (second if four else two)
        + """
        }
        """,
        AT="((me - j) << 2) + j" if four else "((me - j) << 1) + j",
        TURN=turn,
        W2=", w2 = turned(w, w)" if four else "",
    )

    def launch(own: Draw, wish: Wish) -> Sized:
        bits = within(wish.data.bit_length() + 1, 12, 24)
        parts = 2 if four else 1
        reach_bits = own.integer(0, bits - parts)
        items = 1 << (bits - parts)
        return sized(
            (40.0 if twiddle == "computed" else 22.0) * items, (items,), _power(wish.local),
            {"x": 1 << bits, "turns": 1 << reach_bits},
            {"reach": 1 << reach_bits, "angle": -3.14159 / (1 << reach_bits)},
            {"x": uniform(0.0, 1e-3), "turns": uniform(0.0, 0.7)},
        )  # fmt: skip

    return Draft(source, "transform_stage", launch)


def _power(local: int | None) -> tuple[int] | None:
    return (local,) if local in (32, 64, 128, 256) else None


@family("turned_in_place", group="in_place", scale=PROGRAM)
def turned_in_place(draw: Draw) -> Draft:
    """Generate a square matrix transposed in place, two tiles at a time through local memory."""
    tile, pad = draw.choose((8, 16, 32), "tile"), draw.choose((0, 1), "padding")
    real = draw.choose(("float", "uint", "float2"), "type")
    rows = draw.choose((1, 2, 4), "rows an item")
    source = written(
        """
        #define TILE $N
        #define ROWS $R
        kernel __attribute__((reqd_work_group_size(TILE, TILE / ROWS, 1)))
        void turned_in_place(global $T *a, const uint n) {
            local $T upper[TILE][TILE + $P], lower[TILE][TILE + $P];
            const uint gx = get_group_id(0), gy = get_group_id(1);
            if (gx < gy) return;
            const uint x = get_local_id(0);
            for (uint y = get_local_id(1); y < TILE; y += TILE / ROWS) {
                upper[y][x] = a[(gy * TILE + y) * n + gx * TILE + x];
                lower[y][x] = a[(gx * TILE + y) * n + gy * TILE + x];
            }
            barrier(CLK_LOCAL_MEM_FENCE);
            for (uint y = get_local_id(1); y < TILE; y += TILE / ROWS) {
                a[(gy * TILE + y) * n + gx * TILE + x] = lower[x][y];
                a[(gx * TILE + y) * n + gy * TILE + x] = upper[x][y];
            }
        }
        """,
        N=tile, R=rows, P=pad, T=real,
    )  # fmt: skip

    def launch(own: Draw, wish: Wish) -> Sized:
        n = up_to(_side(own, 4 * wish.data, 64), tile)
        return sized(
            8.0 * n * n,
            (n, n // rows),
            (tile, tile // rows),
            {"a": n * n},
            {"n": n},
            {"a": uniform(0, 1)} if real != "uint" else None,
        )

    return Draft(source, "turned_in_place", launch)


@family("lifting_step", group="in_place", scale=PROGRAM)
def lifting_step(draw: Draw) -> Draft:
    """Generate a wavelet's prediction and update, in place down the columns of a picture at a growing distance."""
    steps = draw.choose((1, 2, 4), "steps")
    value = draw.choose(("float", "int", "short"), "type")
    real = value == "float"
    lines = []
    for number in range(steps):
        gain = f"{draw.real(-0.4, 0.4):.4f}f *" if real else ""
        shift = "" if real else " >> 2"
        odd = number % 2 == 0
        first = "gap" if odd else "0"
        earlier = "p[(i - gap) * pitch]"
        before = earlier if odd else f"i ? {earlier} : p[(i + gap) * pitch]"
        lines.append(
            f"    for (uint i = {first}; i + gap < rows; i += 2 * gap) {{\n"
            f"        const {value} before = {before};\n"
            f"        p[i * pitch] += {gain} ((before + p[(i + gap) * pitch]){shift});\n"
            "    }"
        )
    source = written(
        """
        kernel void lifting_step(global $T *picture, const uint rows, const uint pitch, const uint gap) {
            if (get_global_id(0) >= pitch) return;
            global $T *p = picture + get_global_id(0);
        $LINES
        }
        """,
        T=value,
        LINES="\n".join(lines),
    )

    def launch(own: Draw, wish: Wish) -> Sized:
        pitch, rows = _side(own, 4 * wish.data), _side(own, 4 * wish.data)
        gap = 1 << own.integer(0, 4)
        items = up_to(pitch, wish.local or 1)
        return sized(
            4.0 * steps * pitch * rows / gap, (items,), (wish.local,) if wish.local else None,
            {"picture": rows * pitch},
            {"rows": rows, "pitch": pitch, "gap": gap}, {"picture": uniform(0.0, 1e-3)} if real else None,
        )  # fmt: skip

    return Draft(source, "lifting_step", launch)


@family("many_small_systems", group="in_place", scale=PROGRAM)
def many_small_systems(draw: Draw) -> Draft:
    """Generate a small banded system for each work-item, solved in place.

    The systems interleave or lie one after another.
    """
    interleaved = draw.chance(0.6, "interleaved")
    real = draw.choose(("float", "double"), "type")
    source = written(
        """
        #define AT(i) $AT
        kernel void many_small_systems(global const $T *below, global const $T *above, global $T *right,
                                       global $T *held, const uint size, const uint count) {
            const uint me = get_global_id(0);
            if (me >= count) return;
            $T factor = 0, value = 0;
            for (uint i = 0; i < size; i++) {
                const $T pivot = ($T)4 - below[AT(i)] * factor;
                factor = above[AT(i)] / pivot;
                value = (right[AT(i)] - below[AT(i)] * value) / pivot;
                held[AT(i)] = factor;
                right[AT(i)] = value;
            }
            for (int i = (int)size - 2; i >= 0; i--) {
                value = right[AT(i)] - held[AT(i)] * value;
                right[AT(i)] = value;
            }
        }
        """,
        AT="((i) * count + me)" if interleaved else "(me * size + (i))",
        T=real,
    )

    def launch(own: Draw, wish: Wish) -> Sized:
        size = own.log_integer(8, 1024)
        count = within(4 * wish.data / size, 16, (1 << 23) // size)
        items, total = up_to(count, wish.local or 1), size * count
        calm = uniform(0.1, 0.9)
        return sized(
            40.0 * total, (items,), (wish.local,) if wish.local else None,
            {"below": total, "above": total, "right": total, "held": total}, {"size": size, "count": count},
            {"below": calm, "above": calm, "right": calm},
        )  # fmt: skip

    return Draft(source, "many_small_systems", launch)
