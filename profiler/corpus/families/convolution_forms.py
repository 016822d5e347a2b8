"""Convolution in other forms: columns for a product, small tiles by Winograd's way, recursive filters, local tiles."""

from __future__ import annotations

from profiler.corpus.draw import Draw
from profiler.corpus.families.convolution import WEIGHT_FILL
from profiler.corpus.family import Draft, Sized, Wish, family
from profiler.corpus.writing.hand import hand, loop
from profiler.corpus.writing.sizes import Fills, draft, sized
from profiler.corpus.writing.walk import walk


@family("patches_to_columns", "convolution")
def patches_to_columns(draw: Draw) -> Draft:
    """Patches laid out as columns of a matrix, put back again, pooled, padded or shuffled."""
    habits = hand(draw)
    kind = draw.choose(("float", "float", "uchar", "int"), "type")
    way = walk(draw, habits)
    goal = draw.choose(
        ("columns", "columns_by_place", "back", "max_pool", "mean_pool", "arg_pool", "unpool", "pixel_shuffle", "pad"),
        "goal",
    )
    k, stride = draw.choose((2, 3, 5), "kernel"), draw.choose((1, 2), "stride")
    split = (
        "const int x = i % out_width;\nconst int y = (i / out_width) % out_height;\n"
        "const int c = i / out_width / out_height;\n"
    )
    if draw.chance(0.4, "subtract"):
        split = (
            "const int row = i / out_width;\nconst int x = (int)i - row * out_width;\n"
            "const int c = row / out_height;\nconst int y = row - c * out_height;\n"
        )
    source = "in[((size_t)c * height + py) * width + px]"
    place = f"const int py = y * {stride} + v, px = x * {stride} + u;\n"
    edge = draw.choose(("test", "clamp"), "edge")
    if edge == "clamp":
        place = f"const int py = min(y * {stride} + v, height - 1), px = min(x * {stride} + u, width - 1);\n"
        value = source
    else:
        value = f"(py < height && px < width ? {source} : ({kind})0)"
    total = "int" if kind == "uchar" else kind

    def window(inner: str) -> str:
        return loop(draw, "v", "0", str(k), loop(draw, "u", "0", str(k), place + inner))

    text = {
        "columns": window(f"out[(((size_t)c * {k} + v) * {k}"
f" + u) * out_height * out_width + y * out_width + x] = {value};"),
        "columns_by_place": window(f"out[((size_t)(y * out_width + x) * channels + c) * {k * k}"
f" + v * {k} + u] = {value};"),
        "back": f"{total} sum = 0;\n" + loop(draw, "v", "0", str(k), loop(draw, "u", "0", str(k), ("const int qy = y "
"- v, qx = x - u;\n"
"if (qy >= 0 && qx >= 0)\n"
f"    sum += columns[(((size_t)c * {k} + v) * {k}"
" + u) * out_height * out_width + qy * out_width + qx];"))) + "out[i] = sum;",
        "max_pool": f"{kind} best = 0;\n{window(f'best = max(best, {value});')}out[i] = best;",
        "mean_pool": f"{total} sum = 0;\n{window(f'sum += {value};')}out[i] = sum / {k * k};",
        "arg_pool": f"{kind} best = 0;\nint where = 0;\n" + window(f"const {kind} p = {value};\nif (p > best) {{\n"
f"    best = p;\n    where = v * {k} + u;\n}}") + "out[i] = best;\nplaces[i] = where;",
        "unpool": (f"const int py = min(y / {stride}, height - 1), px = min(x / {stride}, width - 1);\n"
f"out[i] = (places[i] & 3) == (y % {stride}) * {stride} + x % {stride} ? {source} : ({kind})0;"),
        "pixel_shuffle": ("const int py = min(y / 2, height - 1), px = min(x / 2, width - 1);\n"
"out[i] = in[((size_t)((c * 4 + (y & 1) * 2 + (x & 1)) % channels) * height + py) * width + px];"),
        "pad": (f"const int py = clamp(y - {k}, 0, height - 1), px = clamp(x - {k}, 0, width - 1);\n"
f"out[i] = (y >= {k} && x >= {k} && y < height && x < width) ? {source} : {draw.choose((source, f'({kind})0'))};"),
    }[goal]  # fmt: skip
    names = [
        habits.takes(kind, "in"),
        habits.takes(kind, "columns"),
        f"{habits.space} int *places",
        habits.gives(kind, "out"),
    ]
    names += [habits.number(name, "int") for name in ("channels", "width", "height", "out_width", "out_height")] + [
        habits.number("n")
    ]
    many = k * k if goal.startswith("columns") else 1

    def launch(d: Draw, w: Wish) -> Sized:
        unit = {"uchar": 1, "int": 4}.get(kind, 4)
        each = unit * (2.0 + 2 * many + (k * k if goal == "back" else 0) + stride * stride) + 4
        size = way.size(w, each, max(1, w.data // many))
        across = min(size.count, d.log_integer(1, 2048))
        down = max(1, min(-(-size.count // across), d.log_integer(1, 2048)))
        channels = -(-size.count // (across * down))
        every = channels * across * down
        width, height = across * stride, down * stride
        lengths = {"in": channels * width * height, "columns": every * k * k, "places": every, "out": every * many}
        scalars = {
            "channels": channels,
            "width": width,
            "height": height,
            "out_width": across,
            "out_height": down,
            "n": size.count,
        }
        fills: Fills = {"places": ("randint", 0, 4)} if goal == "unpool" else {}
        work = size.done * (
            12.0 + (9 * k * k if "u + " in text or goal not in ("unpool", "pixel_shuffle", "pad") else 10)
        )
        return sized(size.global_size, size.local_size, work, lengths, scalars, fills)

    return draft(habits, "rearrange_patches", names, way.write(split + text), launch)


@family("small_tile_products", "convolution")
def small_tile_products(draw: Draw) -> Draft:
    """Tiles of a picture transformed, multiplied by transformed weights and put back."""
    habits = hand(draw)
    way = walk(draw, habits)
    goal = draw.choose(("input", "output", "weights", "multiply", "whole", "one_dimension"), "goal")
    load = (
        "float d[16];\nfor (int r = 0; r < 4; r++)\n    for (int c = 0; c < 4; c++)\n"
        "        d[r * 4 + c] = in[(size_t)min((int)(i / tiles) * 2 + r, "
        "rows - 1) * pitch + min((int)(i % tiles) * 2 + c, pitch - 1)];\n"
    )
    both = "float t[16];\n"
    for a, (s, o) in (("t", ("d", 4)), ("m", ("t", 1))):
        along = 1 if o == 4 else 4
        both += "float m[16];\n" if a == "m" else ""
        both += (
            f"for (int q = 0; q < 4; q++) {{\n    const int b = q * {along};\n"
            f"    {a}[b] = {s}[b] - {s}[b + {2 * o}];\n    {a}[b + {o}] = {s}[b + {o}] + {s}[b + {2 * o}];\n"
            f"    {a}[b + {2 * o}] = {s}[b + {2 * o}] - {s}[b + {o}];\n"
            f"    {a}[b + {3 * o}] = {s}[b + {o}] - {s}[b + {3 * o}];\n}}\n"
        )
    back = (
        "float r[8];\nfor (int q = 0; q < 4; q++) {\n    r[q] = m[q] + m[q + 4] + m[q + 8];\n"
        "    r[q + 4] = m[q + 4] - m[q + 8] - m[q + 12];\n}\n"
    )
    ends = (
        "for (int q = 0; q < 2; q++) {\n    out[(size_t)i * 4 + q * 2] = r[q * 4] + r[q * 4 + 1] + r[q * 4 + 2];\n"
        "    out[(size_t)i * 4 + q * 2 + 1] = r[q * 4 + 1] - r[q * 4 + 2] - r[q * 4 + 3];\n}\n"
    )
    scattered = draw.chance(0.5, "scattered")
    save = (
        "for (int q = 0; q < 16; q++)\n    out["
        + ("(size_t)q * n_tiles + i" if scattered else "(size_t)i * 16 + q")
        + "] = m[q];\n"
    )
    read_m = (
        "float m[16];\nfor (int q = 0; q < 16; q++)\n    m[q] = in["
        + ("(size_t)q * n_tiles + i" if scattered else "(size_t)i * 16 + q")
        + "];\n"
    )
    if goal == "input":
        text = load + both + save
    elif goal == "output":
        text = read_m + back + ends
    elif goal == "weights":
        text = (
            "float g[12], w[9];\nfor (int q = 0; q < 9; q++)\n"
            "    w[q] = weights[((size_t)i % w_count) * 9 + q];\nfor (int q = 0; q < 3; q++) {\n    g[q] = w[q];\n"
            "    g[q + 3] = 0.5f * (w[q] + w[q + 3] + w[q + 6]);\n"
            "    g[q + 6] = 0.5f * (w[q] - w[q + 3] + w[q + 6]);\n    g[q + 9] = w[q + 6];\n}\n"
            "for (int q = 0; q < 4; q++) {\n    out[(size_t)i * 16 + q * 4] = g[q * 3];\n"
            "    out[(size_t)i * 16 + q * 4 + 1] = 0.5f * (g[q * 3] + g[q * 3 + 1] + g[q * 3 + 2]);\n"
            "    out[(size_t)i * 16 + q * 4 + 2] = 0.5f * (g[q * 3] - g[q * 3 + 1] + g[q * 3 + 2]);\n"
            "    out[(size_t)i * 16 + q * 4 + 3] = g[q * 3 + 2];\n}\n"
        )
    elif goal == "multiply":
        step = (
            "for (int q = 0; q < 16; q++)\n    m[q] += in[((size_t)i * 16 + q)] * weights[c * 16 + q];"
            if draw.chance(0.5)
            else "for (int q = 0; q < 16; q++)\n    m[q] = mad(in[(size_t)i * 16 + q], weights[c * 16 + q], m[q]);"
        )
        text = (
            f"float m[16] = {{0.0f}};\n{loop(draw, 'c', '0', 'w_count', step)}for (int q = 0; q < 16; q++)\n"
            "    out[(size_t)i * 16 + q] = m[q];\n"
        )
    elif goal == "whole":
        text = load + both + "for (int q = 0; q < 16; q++)\n    m[q] *= weights[q];\n" + back + ends
    else:
        text = (
            "const float d0 = in[2 * i], d1 = in[2 * i + 1], d2 = in[2 * i + 2], d3 = in[2 * i + 3];\n"
            "const float m1 = (d0 - d2) * weights[0], m2 = (d1 + d2) * 0.5f * (weights[0] + weights[1] + weights[2]);\n"
            "const float m3 = (d2 - d1) * 0.5f * (weights[0] - weights[1] + weights[2]), m4 = (d1 - d3) * weights[2];\n"
            "out[2 * i] = m1 + m2 + m3;\nout[2 * i + 1] = m2 - m3 - m4;\n"
        )
    if draw.chance(0.4, "relu"):
        text = text.replace(
            "= r[q * 4] + r[q * 4 + 1] + r[q * 4 + 2];", "= fmax(r[q * 4] + r[q * 4 + 1] + r[q * 4 + 2], 0.0f);"
        )
    if draw.chance(0.3, "unrolled"):
        text = text.replace("for (int q", "#pragma unroll\nfor (int q", 2)
    names = [
        habits.takes("float", "in"),
        f"{draw.choose((habits.fixed, f'const {habits.space}'))} float *weights",
        habits.gives("float", "out"),
    ]
    names += [habits.number(name, "int") for name in ("tiles", "rows", "pitch", "n_tiles", "w_count")] + [
        habits.number("n")
    ]

    def launch(d: Draw, w: Wish) -> Sized:
        size = way.size(w, 160, max(1, w.data // 16))
        tiles = min(size.count, d.log_integer(1, 1024))
        rows, pitch = 2 * (-(-size.count // tiles)) + 2, 2 * tiles + 2
        channels = d.log_integer(1, 512)
        lengths = {
            "in": max(rows * pitch, 16 * size.count + 4),
            "weights": max(16, channels * 16),
            "out": 16 * size.count,
        }
        scalars = {
            "tiles": tiles,
            "rows": rows,
            "pitch": pitch,
            "n_tiles": size.count,
            "w_count": channels,
            "n": size.count,
        }
        cost = {"multiply": 32.0 * channels + 32, "one_dimension": 22.0}.get(goal, 150.0)
        return sized(size.global_size, size.local_size, size.done * cost, lengths, scalars, {"weights": WEIGHT_FILL})

    return draft(habits, "winograd_tiles", names, way.write(text), launch)
