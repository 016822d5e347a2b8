"""Matrix products as libraries block them: tiles in local memory, accumulators in private arrays."""

from __future__ import annotations

from profiler.corpus.draw import Draw
from profiler.corpus.family import PROGRAM, Draft, Sized, Wish, family
from profiler.corpus.writing.programs import side, sized, uniform, up_to, within, written

_INPUTS = uniform(0.0, 1.0)


def _three(own: Draw, data: float, steps: tuple[int, int, int], most: int = 2048) -> tuple[int, int, int]:
    """Draw the sides m, n, k of a product, each a multiple of its step."""
    middle = side(data, 32, most)
    m, n, k = (up_to(within(middle * own.log_real(0.4, 2.5), 16, most), step) for step in steps)
    return m, n, k


@family("register_blocked", group="blocked_products", scale=PROGRAM)
def register_blocked(draw: Draw) -> Draft:
    """Each work-item keeps a block of the product in a private array, and reads straight from global memory."""
    rows, columns = draw.choose((1, 2, 4, 8), "rows"), draw.choose((1, 2, 4, 8), "columns")
    real, turned = draw.choose(("float", "float", "double"), "type"), draw.chance(0.5, "b is transposed")
    unroll = "#pragma unroll" if draw.chance(0.5, "unrolled") else ""
    source = written(
        """
        #define RM $R
        #define RN $C
        kernel void register_blocked(global const $T *a, global const $T *b, global $T *c, const int m, const int n,
                                     const int k, const $T alpha) {
            const int row = get_global_id(1) * RM, col = get_global_id(0) * RN;
            $T sums[RM][RN];
            for (int i = 0; i < RM; i++)
                for (int j = 0; j < RN; j++) sums[i][j] = 0;
            for (int p = 0; p < k; p++) {
                $T left[RM], right[RN];
                $U
                for (int i = 0; i < RM; i++) left[i] = a[(row + i) * k + p];
                $U
                for (int j = 0; j < RN; j++) right[j] = $B;
                $U
                for (int i = 0; i < RM; i++) {
                    $U
                    for (int j = 0; j < RN; j++) sums[i][j] += left[i] * right[j];
                }
            }
            for (int i = 0; i < RM; i++)
                for (int j = 0; j < RN; j++) c[(row + i) * n + col + j] = alpha * sums[i][j];
        }
        """,
        R=rows, C=columns, T=real, U=unroll, B="b[(col + j) * k + p]" if turned else "b[p * n + col + j]",
    )  # fmt: skip

    def launch(own: Draw, wish: Wish) -> Sized:
        m, n, k = _three(own, wish.data / 4, (8 * rows, 8 * columns, 4))
        return sized(
            2.0 * m * n * k, (n // columns, m // rows), (8, 8) if wish.local else None,
            {"a": m * k, "b": n * k, "c": m * n}, {"m": m, "n": n, "k": k, "alpha": 1.5}, {"a": _INPUTS, "b": _INPUTS},
        )  # fmt: skip

    return Draft(source, "register_blocked", launch)


@family("tiled_registers", group="blocked_products", scale=PROGRAM)
def tiled_registers(draw: Draw) -> Draft:
    """Tiles of both factors in local memory; each work-item sums several elements in a private array."""
    tile, work = draw.choose((16, 32), "tile"), draw.choose((1, 2, 4), "elements an item")
    depth = draw.choose((8, 16), "depth")
    real, pad = draw.choose(("float", "float", "double", "int"), "type"), draw.choose((0, 1), "padding")
    sides = tile // work
    source = written(
        """
        #define TS $N
        #define TK $K
        #define WPT $W
        #define RTS (TS / WPT)
        kernel __attribute__((reqd_work_group_size(RTS, RTS, 1)))
        void tiled_registers(const int m, const int n, const int k, const global $T *a, const global $T *b,
                             global $T *c) {
            local $T as[TK][TS + $P];
            local $T bs[TK][TS + $P];
            $T sums[WPT][WPT];
            const int tx = get_local_id(0), ty = get_local_id(1), lane = ty * RTS + tx;
            const int row0 = get_group_id(1) * TS, col0 = get_group_id(0) * TS;
            for (int i = 0; i < WPT; i++)
                for (int j = 0; j < WPT; j++) sums[i][j] = 0;
            for (int t = 0; t < k / TK; t++) {
                for (int e = lane; e < TS * TK; e += RTS * RTS) {
                    as[e % TK][e / TK] = a[(row0 + e / TK) * k + t * TK + e % TK];
                    bs[e / TS][e % TS] = b[(t * TK + e / TS) * n + col0 + e % TS];
                }
                barrier(CLK_LOCAL_MEM_FENCE);
                for (int p = 0; p < TK; p++)
                    for (int i = 0; i < WPT; i++)
                        for (int j = 0; j < WPT; j++)
                            sums[i][j] += as[p][ty + i * RTS] * bs[p][tx + j * RTS];
                barrier(CLK_LOCAL_MEM_FENCE);
            }
            for (int i = 0; i < WPT; i++)
                for (int j = 0; j < WPT; j++)
                    c[(row0 + ty + i * RTS) * n + col0 + tx + j * RTS] = sums[i][j];
        }
        """,
        N=tile, K=depth, W=work, T=real, P=pad,
    )  # fmt: skip

    def launch(own: Draw, wish: Wish) -> Sized:
        m, n, k = _three(own, wish.data / 8, (tile, tile, depth))
        return sized(
            3.0 * m * n * k, (n // work, m // work), (sides, sides), {"a": m * k, "b": n * k, "c": m * n},
            {"m": m, "n": n, "k": k}, {"a": _INPUTS, "b": _INPUTS} if real != "int" else None,
        )  # fmt: skip

    return Draft(source, "tiled_registers", launch)


@family("tiles_by_argument", group="blocked_products", scale=PROGRAM)
def tiles_by_argument(draw: Draw) -> Draft:
    """Tiles in local memory that the host allots; the tile is as wide as the work-group."""
    guarded = draw.chance(0.5, "sizes need not fit")
    unroll = draw.choose(("", "#pragma unroll", "#pragma unroll 4"), "unrolled")
    fixed = draw.choose((0, 8, 16), "tile known to the compiler")
    width = str(fixed) if fixed else "get_local_size(0)"
    load = (
        "row < m && t + lx < k ? a[row * k + t + lx] : 0.0f",
        "col < n && t + ly < k ? b[(t + ly) * n + col] : 0.0f",
    )
    plain = ("a[row * k + t + lx]", "b[(t + ly) * n + col]")
    source = written(
        """
        kernel void tiles_by_argument(global const float *a, global const float *b, global float *c, local float *ta,
                                      local float *tb, const int m, const int n, const int k) {
            const int w = $W, lx = get_local_id(0), ly = get_local_id(1);
            const int col = get_global_id(0), row = get_global_id(1);
            float sum = 0.0f;
            for (int t = 0; t < k; t += w) {
                ta[ly * w + lx] = $A;
                tb[ly * w + lx] = $B;
                barrier(CLK_LOCAL_MEM_FENCE);
                $U
                for (int p = 0; p < $W; p++) sum += ta[ly * w + p] * tb[p * w + lx];
                barrier(CLK_LOCAL_MEM_FENCE);
            }
            $STORE c[row * n + col] = sum;
        }
        """,
        W=width, A=(load if guarded else plain)[0], B=(load if guarded else plain)[1], U=unroll if fixed else "",
        STORE="if (row < m && col < n)" if guarded else "",
    )  # fmt: skip

    def launch(own: Draw, wish: Wish) -> Sized:
        tile = fixed or own.choose((4, 8, 16))
        m, n, k = _three(own, wish.data / 8, (1, 1, 1) if guarded else (tile, tile, tile), 1536)
        return sized(
            3.0 * m * n * k, (up_to(n, tile), up_to(m, tile)), (tile, tile), {"a": m * k, "b": n * k, "c": m * n},
            {"m": m, "n": n, "k": k}, {"a": _INPUTS, "b": _INPUTS}, {"ta": 4 * tile * tile, "tb": 4 * tile * tile},
        )  # fmt: skip

    return Draft(source, "tiles_by_argument", launch)


@family("batched_products", group="blocked_products", scale=PROGRAM)
def batched_products(draw: Draw) -> Draft:
    """Many small products, one for each work-item, their factors in private arrays."""
    size = draw.choose((2, 3, 4, 6, 8, 12), "size")
    interleaved = draw.chance(0.5, "interleaved")
    real = draw.choose(("float", "double"), "type")
    source = written(
        """
        #define N $N
        #define AT(e) $AT
        kernel void batched_products(global const $T *a, global const $T *b, global $T *c, const uint count) {
            const uint me = get_global_id(0);
            if (me >= count) return;
            $T left[N * N], right[N * N];
            for (int e = 0; e < N * N; e++) {
                left[e] = a[AT(e)];
                right[e] = b[AT(e)];
            }
            for (int i = 0; i < N; i++)
                for (int j = 0; j < N; j++) {
                    $T sum = 0;
                    for (int p = 0; p < N; p++) sum += left[i * N + p] * right[p * N + j];
                    c[AT(i * N + j)] = sum;
                }
        }
        """,
        N=size, AT="((e) * count + me)" if interleaved else "(me * N * N + (e))", T=real,
    )  # fmt: skip

    def launch(own: Draw, wish: Wish) -> Sized:
        count = within(4 * wish.data / size**2, 64, (1 << 23) // size**2)
        items, total = up_to(count, wish.local or 1), count * size**2
        return sized(
            count * (2.0 * size**3 + 3 * size**2), (items,), (wish.local,) if wish.local else None,
            {"a": total, "b": total, "c": total}, {"count": count}, {"a": _INPUTS, "b": _INPUTS},
        )  # fmt: skip

    return Draft(source, "batched_products", launch)


@family("lower_update", group="blocked_products", scale=PROGRAM)
def lower_update(draw: Draw) -> Draft:
    """Generate a product with its own transpose of which the lower half is wanted: groups above the diagonal leave."""
    tile, depth = draw.choose((8, 16), "tile"), draw.choose((8, 16, 32), "depth")
    source = written(
        """
        #define T $N
        #define D $K
        kernel __attribute__((reqd_work_group_size(T, T, 1)))
        void lower_update(global const float *a, global float *c, const int n, const int k, const float beta) {
            local float rows[T][D], cols[T][D];
            const int gx = get_group_id(0), gy = get_group_id(1), x = get_local_id(0), y = get_local_id(1);
            if (gx > gy) return;
            float sum = 0.0f;
            for (int p = 0; p < k; p += D) {
                for (int e = x; e < D; e += T) {
                    rows[y][e] = a[(gy * T + y) * k + p + e];
                    cols[y][e] = a[(gx * T + y) * k + p + e];
                }
                barrier(CLK_LOCAL_MEM_FENCE);
                for (int e = 0; e < D; e++) sum = fma(rows[y][e], cols[x][e], sum);
                barrier(CLK_LOCAL_MEM_FENCE);
            }
            const int at = (gy * T + y) * n + gx * T + x;
            if (gx < gy || x <= y) c[at] = beta * c[at] + sum;
        }
        """,
        N=tile, K=depth,
    )  # fmt: skip

    def launch(own: Draw, wish: Wish) -> Sized:
        n, _, k = _three(own, wish.data / 4, (tile, 1, depth))
        return sized(
            1.5 * n * n * k, (n, n), (tile, tile), {"a": n * k, "c": n * n}, {"n": n, "k": k, "beta": 0.5},
            {"a": uniform(0.0, 0.01), "c": _INPUTS},
        )  # fmt: skip

    return Draft(source, "lower_update", launch)


@family("row_dot_groups", group="blocked_products", scale=PROGRAM)
def row_dot_groups(draw: Draw) -> Draft:
    """Generate a matrix times a vector: a work-group for each few rows, partial sums in local memory."""
    group, rows = draw.choose((32, 64, 128), "group"), draw.choose((1, 2, 4), "rows a group")
    wide = draw.choose((1, 4), "vector")
    read = "dot(vload4(i, a + (first + r) * n), x4)" if wide == 4 else "a[(first + r) * n + i] * v"
    source = written(
        """
        #define GROUP $G
        #define ROWS $R
        kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
        void row_dot_groups(global const float *a, global const float *x, global float *y, const int n) {
            local float parts[ROWS][GROUP];
            const int lane = get_local_id(0), first = get_group_id(0) * ROWS;
            float sums[ROWS];
            for (int r = 0; r < ROWS; r++) sums[r] = 0.0f;
            for (int i = lane; i < n / $V; i += GROUP) {
                $LOAD
                for (int r = 0; r < ROWS; r++) sums[r] += $READ;
            }
            for (int r = 0; r < ROWS; r++) parts[r][lane] = sums[r];
            for (int gap = GROUP / 2; gap > 0; gap /= 2) {
                barrier(CLK_LOCAL_MEM_FENCE);
                if (lane < gap)
                    for (int r = 0; r < ROWS; r++) parts[r][lane] += parts[r][lane + gap];
            }
            if (lane < ROWS) y[first + lane] = parts[lane][0];
        }
        """,
        G=group, R=rows, V=wide, LOAD="const float4 x4 = vload4(i, x);" if wide == 4 else "const float v = x[i];",
        READ=read,
    )  # fmt: skip

    def launch(own: Draw, wish: Wish) -> Sized:
        n = up_to(own.log_real(128, 1 << 14), 4)
        m = up_to(within(4 * wish.data / n, rows, (1 << 25) // n), rows)
        return sized(
            3.0 * m * n, (m // rows * group,), (group,), {"a": m * n, "x": n, "y": m}, {"n": n},
            {"a": _INPUTS, "x": _INPUTS},
        )  # fmt: skip

    return Draft(source, "row_dot_groups", launch)


@family("channel_products", group="blocked_products", scale=PROGRAM)
def channel_products(draw: Draw) -> Draft:
    """Generate a layer of filters over channels.

    Filters of one block of outputs wait in local memory, sums in registers.
    """
    outputs, reach = draw.choose((4, 8, 16), "outputs an item"), draw.choose((1, 3), "reach")
    source = written(
        """
        #define OUTS $O
        #define K $K
        kernel void channel_products(global const float *input, global const float *filters, global const float *bias,
                                     global float *output, local float *held, const int w, const int h,
                                     const int channels) {
            const int x = get_global_id(0), y = get_global_id(1), block = get_group_id(2) * OUTS;
            const int lane = get_local_id(1) * get_local_size(0) + get_local_id(0);
            const int lanes = get_local_size(0) * get_local_size(1), wide = w + K - 1;
            float sums[OUTS];
            for (int o = 0; o < OUTS; o++) sums[o] = bias[block + o];
            for (int c = 0; c < channels; c++) {
                barrier(CLK_LOCAL_MEM_FENCE);
                for (int e = lane; e < OUTS * K * K; e += lanes)
                    held[e] = filters[((block + e / (K * K)) * channels + c) * K * K + e % (K * K)];
                barrier(CLK_LOCAL_MEM_FENCE);
                for (int dy = 0; dy < K; dy++)
                    for (int dx = 0; dx < K; dx++) {
                        const float v = input[(c * (h + K - 1) + y + dy) * wide + x + dx];
                        for (int o = 0; o < OUTS; o++) sums[o] += v * held[o * K * K + dy * K + dx];
                    }
            }
            for (int o = 0; o < OUTS; o++) output[((block + o) * h + y) * w + x] = fmax(sums[o], 0.0f);
        }
        """,
        O=outputs, K=reach,
    )  # fmt: skip

    def launch(own: Draw, wish: Wish) -> Sized:
        w, h = up_to(own.log_real(8, 256), 8), up_to(own.log_real(8, 256), 8)
        channels, blocks = own.log_integer(3, 128), own.log_integer(1, 128 // outputs)
        around = (w + reach - 1) * (h + reach - 1)
        return sized(
            2.0 * w * h * channels * blocks * outputs * reach**2, (w, h, blocks), (8, 8, 1),
            {
                "input": channels * around, "filters": blocks * outputs * channels * reach**2,
                "bias": blocks * outputs, "output": blocks * outputs * w * h,
            },
            {"w": w, "h": h, "channels": channels}, {"input": _INPUTS, "filters": uniform(-0.1, 0.1)},
            {"held": 4 * outputs * reach**2},
        )  # fmt: skip

    return Draft(source, "channel_products", launch)
