"""Grids worked on in steps: halos that shrink, planes that march, fronts that move through a tile."""

from __future__ import annotations

from profiler.corpus.draw import Draw
from profiler.corpus.family import PROGRAM, Draft, Sized, Wish, family
from profiler.corpus.writing.programs import randint, side, sized, uniform, up_to, within, written


@family("shrinking_halo", group="stepped_grids", scale=PROGRAM)
def shrinking_halo(draw: Draw) -> Draft:
    """Several time steps of a tile in local memory: with each, one ring less of it is right."""
    steps, side_items = draw.choose((1, 2, 3, 4), "steps"), draw.choose((16, 24, 32), "tile with halo")
    formula = draw.choose(("spread", "wave", "reaction"), "formula")
    change = {
        "spread": "c + rate * (l + r + u + d - 4.0f * c)",
        "wave": "1.9f * c - 0.95f * before + rate * (l + r + u + d - 4.0f * c)",
        "reaction": "c + rate * (l + r + u + d - 4.0f * c) + 0.01f * c * (1.0f - c)",
    }[formula]
    source = written(
        """
        #define STEPS $S
        #define SIDE $N
        #define INNER (SIDE - 2 * STEPS)
        kernel __attribute__((reqd_work_group_size(SIDE, SIDE, 1)))
        void shrinking_halo(global const float *from, global float *to, const int w, const int h, const float rate) {
            local float now[SIDE][SIDE], next[SIDE][SIDE];
            const int tx = get_local_id(0), ty = get_local_id(1);
            const int x = (int)get_group_id(0) * INNER + tx - STEPS, y = (int)get_group_id(1) * INNER + ty - STEPS;
            const int cx = clamp(x, 0, w - 1), cy = clamp(y, 0, h - 1);
            float before = from[cy * w + cx];
            now[ty][tx] = before;
            barrier(CLK_LOCAL_MEM_FENCE);
            for (int step = 1; step <= STEPS; step++) {
                const int valid = tx >= step && tx < SIDE - step && ty >= step && ty < SIDE - step;
                if (valid) {
                    const float c = now[ty][tx], l = now[ty][tx - 1], r = now[ty][tx + 1];
                    const float u = now[ty - 1][tx], d = now[ty + 1][tx];
                    next[ty][tx] = $CHANGE;
                    before = c;
                }
                barrier(CLK_LOCAL_MEM_FENCE);
                if (step < STEPS) {
                    if (valid) now[ty][tx] = next[ty][tx];
                    barrier(CLK_LOCAL_MEM_FENCE);
                }
            }
            if (tx >= STEPS && tx < SIDE - STEPS && ty >= STEPS && ty < SIDE - STEPS && x < w && y < h)
                to[y * w + x] = next[ty][tx];
        }
        """,
        S=steps, N=side_items, CHANGE=change,
    )  # fmt: skip

    def launch(own: Draw, wish: Wish) -> Sized:
        inner = side_items - 2 * steps
        w, h = (within(side(4 * wish.data, 32, 4096) * own.log_real(0.5, 2), 16, 4096) for _ in range(2))
        across, down = -(-w // inner), -(-h // inner)
        return sized(
            20.0 * steps * across * down * side_items**2, (across * side_items, down * side_items),
            (side_items, side_items), {"from": w * h, "to": w * h}, {"w": w, "h": h, "rate": 0.2}, {"from": uniform()},
        )  # fmt: skip

    return Draft(source, "shrinking_halo", launch)


@family("marching_planes", group="stepped_grids", scale=PROGRAM)
def marching_planes(draw: Draw) -> Draft:
    """Generate a volume from plane to plane: a queue of planes in registers, the middle one a tile in local memory."""
    reach, tile = draw.choose((1, 2, 4), "reach"), draw.choose((8, 16), "tile")
    keeps = draw.chance(0.7, "tile in local memory")
    taps = [f"{draw.real(0.01, 0.2):.4f}f" for _ in range(reach)]
    flat = " + ".join(
        f"{tap} * (plane[ty][tx - {r}] + plane[ty][tx + {r}] + plane[ty - {r}][tx] + plane[ty + {r}][tx])"
        if keeps
        else f"{tap} * (u[at - {r}] + u[at + {r}] + u[at - {r} * w] + u[at + {r} * w])"
        for r, tap in enumerate(taps, 1)
    )
    deep = " + ".join(f"{tap} * (queue[{reach - r}] + queue[{reach + r}])" for r, tap in enumerate(taps, 1))
    fill_tile = """
                barrier(CLK_LOCAL_MEM_FENCE);
                plane[ty][tx] = queue[R];
                if (lx < R) {
                    plane[ty][lx] = u[at - R];
                    plane[ty][tx + TILE] = u[at + TILE];
                }
                if (ly < R) {
                    plane[ly][tx] = u[at - R * w];
                    plane[ty + TILE][tx] = u[at + TILE * w];
                }
                barrier(CLK_LOCAL_MEM_FENCE);"""
    source = written(
        """
        #define R $R
        #define TILE $N
        kernel __attribute__((reqd_work_group_size(TILE, TILE, 1)))
        void marching_planes(global const float *u, global float *v, const int w, const int h, const int d) {
            $PLANE
            const int lx = get_local_id(0), ly = get_local_id(1), tx = lx + R, ty = ly + R, area = w * h;
            const int x = get_global_id(0) + R, y = get_global_id(1) + R;
            float queue[2 * R + 1];
            int at = y * w + x;
            for (int q = 1; q <= 2 * R; q++) queue[q] = u[at + (q - 1) * area];
            at += (R - 1) * area;
            for (int z = R; z < d - R; z++) {
                at += area;
                for (int q = 0; q < 2 * R; q++) queue[q] = queue[q + 1];
                queue[2 * R] = u[at + R * area];"""
        + (fill_tile if keeps else "")
        + """
                v[at] = 0.5f * queue[R] + $FLAT + $DEEP;
            }
        }
        """,
        R=reach, N=tile, PLANE="local float plane[TILE + 2 * R][TILE + 2 * R];" if keeps else "", FLAT=flat, DEEP=deep,
    )  # fmt: skip

    def launch(own: Draw, wish: Wish) -> Sized:
        total = within(4 * wish.data, 1 << 13, 1 << 25)
        edge = within(total ** (1 / 3), 8, 512)
        gx, gy = up_to(edge * own.log_real(0.7, 1.5), tile), up_to(edge, tile)
        d = within(total / (gx * gy), 2 * reach + 1, 512)
        w, h = gx + 2 * reach, gy + 2 * reach
        return sized(
            gx * gy * (d - 2 * reach) * (8.0 * reach + 10), (gx, gy), (tile, tile), {"u": w * h * d, "v": w * h * d},
            {"w": w, "h": h, "d": d}, {"u": uniform()},
        )  # fmt: skip

    return Draft(source, "marching_planes", launch)


@family("tile_front", group="stepped_grids", scale=PROGRAM)
def tile_front(draw: Draw) -> Draft:
    """Best scores of two sequences, tile by tile: a front moves through each tile, with a barrier at every step."""
    tile = draw.choose((8, 16, 32), "tile")
    local_score = draw.chance(0.5, "never below zero")
    gap, same, other = draw.integer(1, 4), draw.integer(2, 6), draw.integer(1, 4)
    source = written(
        """
        #define T $N
        kernel __attribute__((reqd_work_group_size(T, 1, 1)))
        void tile_front(global const uchar *first, global const uchar *second, global int *best, const int tiles) {
            local int score[T + 1][T + 1];
            local uchar across[T], down[T];
            const int lane = get_local_id(0), group = get_group_id(0);
            int most = 0;
            for (int tile = 0; tile < tiles; tile++) {
                across[lane] = first[(group * tiles + tile) * T + lane];
                down[lane] = second[group * T + lane];
                score[0][lane + 1] = -(lane + 1) * $GAP;
                score[lane + 1][0] = tile == 0 ? -(lane + 1) * $GAP : score[lane + 1][T];
                if (lane == 0) score[0][0] = 0;
                barrier(CLK_LOCAL_MEM_FENCE);
                for (int front = 0; front < 2 * T - 1; front++) {
                    const int x = front - lane;
                    if (x >= 0 && x < T) {
                        const int match = down[lane] == across[x] ? $SAME : -$OTHER;
                        int s = score[lane][x] + match;
                        s = max(s, score[lane + 1][x] - $GAP);
                        s = max(s, score[lane][x + 1] - $GAP);
                        $ZERO
                        score[lane + 1][x + 1] = s;
                        most = max(most, s);
                    }
                    barrier(CLK_LOCAL_MEM_FENCE);
                }
            }
            best[group * T + lane] = most;
        }
        """,
        N=tile, GAP=gap, SAME=same, OTHER=other, ZERO="s = max(s, 0);" if local_score else "",
    )  # fmt: skip

    def launch(own: Draw, wish: Wish) -> Sized:
        tiles = own.log_integer(1, 256)
        groups = within(4 * wish.data / (tiles * tile * 8), 1, (1 << 24) // (tiles * tile))
        return sized(
            12.0 * groups * tiles * 2 * tile * tile, (groups * tile,), (tile,),
            {"first": groups * tiles * tile, "second": groups * tile, "best": groups * tile}, {"tiles": tiles},
            {"first": randint(0, 4), "second": randint(0, 4)},
        )  # fmt: skip

    return Draft(source, "tile_front", launch)


@family("line_in_steps", group="stepped_grids", scale=PROGRAM)
def line_in_steps(draw: Draw) -> Draft:
    """Many steps of a line in local memory, back and forth between two copies; what goes wrong at ends is dropped."""
    group, steps = draw.choose((64, 128, 256), "group"), draw.choose((4, 8, 16, 24), "steps")
    pick = draw.choose(("average", "extreme", "limited"), "formula")
    formula = {
        "average": "0.25f * l + 0.5f * c + 0.25f * r",
        "extreme": "fmin(l, fmin(c, r)) + 0.001f * c",
        "limited": "c + 0.3f * copysign(fmin(fabs(l - c), fabs(r - c)), l - c)",
    }[pick]
    source = written(
        """
        #define GROUP $G
        #define STEPS $S
        kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
        void line_in_steps(global const float *from, global float *to, const int n, const int rounds) {
            local float line[2][GROUP];
            const int lane = get_local_id(0);
            const int at = (int)get_group_id(0) * (GROUP - 2 * STEPS) + lane - STEPS, inside = clamp(at, 0, n - 1);
            for (int round = 0; round < rounds; round++) {
                line[0][lane] = from[round * n + inside];
                barrier(CLK_LOCAL_MEM_FENCE);
                int now = 0;
                for (int step = 0; step < STEPS; step++) {
                    const float c = line[now][lane], l = line[now][max(lane - 1, 0)];
                    const float r = line[now][min(lane + 1, GROUP - 1)];
                    line[1 - now][lane] = $FORMULA;
                    now = 1 - now;
                    barrier(CLK_LOCAL_MEM_FENCE);
                }
                if (lane >= STEPS && lane < GROUP - STEPS && at < n) to[round * n + at] = line[now][lane];
                barrier(CLK_LOCAL_MEM_FENCE);
            }
        }
        """,
        G=group, S=steps, FORMULA=formula,
    )  # fmt: skip

    def launch(own: Draw, wish: Wish) -> Sized:
        rounds = own.log_integer(1, 64)
        n = within(4 * wish.data / rounds, group, (1 << 25) // rounds)
        groups = -(-n // (group - 2 * steps))
        return sized(
            12.0 * steps * rounds * groups * group, (groups * group,), (group,), {"from": rounds * n, "to": rounds * n},
            {"n": n, "rounds": rounds}, {"from": uniform()},
        )  # fmt: skip

    return Draft(source, "line_in_steps", launch)


@family("two_pass_window", group="stepped_grids", scale=PROGRAM)
def two_pass_window(draw: Draw) -> Draft:
    """Generate a separable window over a picture: rows first, into local memory, then columns."""
    reach, w, h = draw.choose((1, 2, 4, 7), "reach"), draw.choose((16, 32), "width"), draw.choose((4, 8), "height")
    value = draw.choose(("float", "uchar", "ushort"), "type")
    what = draw.choose(("weighted", "largest"), "what")
    step = "sum += weights[k + REACH] * v;" if what == "weighted" else "sum = fmax(sum, v);"
    store = "sum" if value == "float" else f"convert_{value}_sat(sum)"
    source = written(
        """
        #define REACH $R
        #define W $W
        #define H $H
        kernel __attribute__((reqd_work_group_size(W, H, 1)))
        void two_pass_window(global const $T *picture, global $T *result, constant float *weights, const int width,
                             const int height) {
            local float across[H + 2 * REACH][W];
            const int lx = get_local_id(0), ly = get_local_id(1), x = get_global_id(0), y = get_global_id(1);
            for (int row = ly; row < H + 2 * REACH; row += H) {
                const int there = clamp((int)get_group_id(1) * H + row - REACH, 0, height - 1);
                float sum = 0.0f;
                for (int k = -REACH; k <= REACH; k++) {
                    const float v = picture[there * width + clamp(x + k, 0, width - 1)];
                    $STEP
                }
                across[row][lx] = sum;
            }
            barrier(CLK_LOCAL_MEM_FENCE);
            float sum = 0.0f;
            for (int k = -REACH; k <= REACH; k++) {
                const float v = across[ly + REACH + k][lx];
                $STEP
            }
            if (x < width && y < height) result[y * width + x] = $STORE;
        }
        """,
        R=reach, W=w, H=h, T=value, STEP=step, STORE=store,
    )  # fmt: skip

    def launch(own: Draw, wish: Wish) -> Sized:
        width, height = (within(side(4 * wish.data, 32, 5000) * own.log_real(0.5, 2), 16, 5000) for _ in range(2))
        return sized(
            6.0 * width * height * (2 * reach + 1) * 2, (up_to(width, w), up_to(height, h)), (w, h),
            {"picture": width * height, "result": width * height, "weights": 2 * reach + 1},
            {"width": width, "height": height}, {"weights": uniform(0.0, 1 / (2 * reach + 1))},
        )  # fmt: skip

    return Draft(source, "two_pass_window", launch)


@family("moved_populations", group="stepped_grids", scale=PROGRAM)
def moved_populations(draw: Draw) -> Draft:
    """Nine populations of a plane move to their neighbours and relax towards what their sums say."""
    together = draw.chance(0.4, "populations of a point together")
    real = draw.choose(("float", "float", "double"), "type")
    end = "f" if real == "float" else ""
    ways = [(0, 0), (1, 0), (0, 1), (-1, 0), (0, -1), (1, 1), (-1, 1), (-1, -1), (1, -1)]
    shares = ["4.0/9.0"] + ["1.0/9.0"] * 4 + ["1.0/36.0"] * 4
    lines = []
    for way, (dx, dy) in enumerate(ways):
        lines.append(f"    const {real} f{way} = from[AT({way}, (x + w - ({dx})) % w, (y + h - ({dy})) % h)];")
    lines.append(f"    const {real} rho = " + " + ".join(f"f{way}" for way in range(9)) + ";")
    for axis in (0, 1):
        plus = " + ".join(f"f{way}" for way, at in enumerate(ways) if at[axis] == 1)
        minus = " - ".join(f"f{way}" for way, at in enumerate(ways) if at[axis] == -1)
        lines.append(f"    const {real} u{'xy'[axis]} = ({plus} - {minus}) / rho;")
    lines.append(f"    const {real} square = 1.5{end} * (ux * ux + uy * uy);")
    for way, ((dx, dy), share) in enumerate(zip(ways, shares, strict=True)):
        lines.append(f"    const {real} p{way} = 3.0{end} * ({dx} * ux + {dy} * uy);")
        balance = f"({real})({share}) * rho * (1.0{end} + p{way} + 0.5{end} * p{way} * p{way} - square)"
        lines.append(f"    to[AT({way}, x, y)] = f{way} - omega * (f{way} - {balance});")
    source = written(
        """
        #define AT(way, x, y) $AT
        kernel void moved_populations(global const $T *from, global $T *to, const int w, const int h, const $T omega) {
            const int x = get_global_id(0), y = get_global_id(1);
            if (x >= w || y >= h) return;
        $LINES
        }
        """,
        AT="(((y) * w + (x)) * 9 + (way))" if together else "(((way) * h + (y)) * w + (x))",
        T=real, LINES="\n".join(lines),
    )  # fmt: skip

    def launch(own: Draw, wish: Wish) -> Sized:
        w, h = (within(side(wish.data, 16, 1600) * own.log_real(0.5, 2), 16, 1600) for _ in range(2))
        return sized(
            130.0 * w * h, (up_to(w, 16), up_to(h, 8)), (16, 8) if wish.local else None,
            {"from": 9 * w * h, "to": 9 * w * h}, {"w": w, "h": h, "omega": 1.1}, {"from": uniform(0.05, 0.2)},
        )  # fmt: skip

    return Draft(source, "moved_populations", launch)
