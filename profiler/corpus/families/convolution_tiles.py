"""Recursive filters along channels, and windows over tiles in local memory."""

from __future__ import annotations

from profiler.corpus.draw import Draw
from profiler.corpus.family import Draft, Sized, Wish, family
from profiler.corpus.writing.hand import finish_value, hand, literal, loop
from profiler.corpus.writing.sizes import Fills, draft, groups, sized, within_memory
from profiler.corpus.writing.walk import walk


@family("recursive_filters", "convolution")
def recursive_filters(draw: Draw) -> Draft:
    """Generate filters with feedback and banks of filters, one channel an item, along samples in time."""
    habits = hand(draw)
    kind = draw.weighted({"float": 4.0, "double": 1.0, "float2": 0.7, "float4": 0.7}, "type")
    scalar = "double" if kind == "double" else "float"
    way = walk(draw, habits)
    goal = draw.choose(
        (
            "first_order",
            "biquad",
            "biquad",
            "cascade",
            "lattice",
            "comb",
            "ring",
            "adaptive",
            "envelope",
            "fir_window",
            "median3",
        ),
        "goal",
    )
    layout = draw.choose(("by_time", "by_channel"), "layout")
    place = "(size_t)t * n + i" if layout == "by_time" else "(size_t)i * samples + t"
    zero = f"({kind})({literal(0, scalar)})"
    sections = draw.choose((2, 4, 8), "sections")
    ring = draw.choose((8, 16, 32), "ring")
    c = "coefficients"
    earlier = f"(size_t)(t - {ring}) * n + i" if layout == "by_time" else f"(size_t)i * samples + t - {ring}"
    rise = f"a > y ? a : y + {c}[0] * (a - y)"
    if kind[-1].isdigit():
        rise = f"select(mix(y, a, ({kind})(0.01f)), a, isgreater(a, y))"
    state, step = {
        "first_order": (f"{kind} y = {zero};\n", f"y = y + {c}[0] * (x - y);"),
        "biquad": (
            f"{kind} z1 = {zero}, z2 = {zero};\n",
            f"const {kind} y = {c}[0] * x + z1;\nz1 = {c}[1] * x - {c}[3] * y + z2;\nz2 = {c}[2] * x - {c}[4] * y;",
        ),
        "cascade": (
            (
                f"{kind} z1[{sections}], z2[{sections}];\n"
                f"for (int s = 0; s < {sections}; s++)\n    z1[s] = z2[s] = {zero};\n"
            ),
            (
                f"{kind} y = x;\nfor (int s = 0; s < {sections}; s++) {{\n    const {kind} v = y + z1[s];\n"
                f"    z1[s] = {c}[1] * y - {c}[3] * v + z2[s];\n    z2[s] = {c}[2] * y - {c}[4] * v;\n    y = v;\n}}"
            ),
        ),
        "lattice": (
            f"{kind} g[{sections + 1}];\nfor (int s = 0; s <= {sections}; s++)\n    g[s] = {zero};\n",
            (
                f"{kind} y = x;\nfor (int s = {sections}; s > 0; s--) {{\n"
                f"    y -= {c}[s & 7] * g[s - 1];\n    g[s] = g[s - 1] + {c}[s & 7] * y;\n}}\ng[0] = y;"
            ),
        ),
        "comb": (
            "",
            (f"const {kind} y = x + (t >= {ring} ? {literal(0.5, scalar)} * in[{earlier}] : {zero});"),
        ),
        "ring": (
            f"{kind} line[{ring}];\nfor (int s = 0; s < {ring}; s++)\n    line[s] = {zero};\n",
            f"const {kind} y = x + {literal(0.5, scalar)} * line[t & {ring - 1}];\nline[t & {ring - 1}] = y;",
        ),
        "adaptive": (
            (
                f"{kind} w[{sections}], line[{sections}];\n"
                f"for (int s = 0; s < {sections}; s++)\n    w[s] = line[s] = {zero};\n"
            ),
            (
                f"{kind} y = {zero};\nfor (int s = {sections} - 1; s > 0; s--)\n    line[s] = line[s - 1];\n"
                f"line[0] = x;\nfor (int s = 0; s < {sections}; s++)\n    y += w[s] * line[s];\n"
                f"const {kind} e = x - y;\nfor (int s = 0; s < {sections}; s++)\n"
                f"    w[s] = {literal(0.99, scalar)} * w[s] + {literal(0.01, scalar)} * e * line[s];"
            ),
        ),
        "envelope": (
            f"{kind} y = {zero};\n",
            (f"const {kind} a = fabs(x);\ny = {rise};"),
        ),
        "fir_window": (
            f"{kind} line[{ring}];\nfor (int s = 0; s < {ring}; s++)\n    line[s] = {zero};\n",
            (
                f"line[t & {ring - 1}] = x;\n{kind} y = {zero};\nfor (int s = 0; s < {ring}; s++)\n"
                f"    y += line[(t - s) & {ring - 1}] * {c}[s & 7];"
            ),
        ),
        "median3": (
            f"{kind} p = {zero}, q = {zero};\n",
            f"const {kind} y = fmax(fmin(p, q), fmin(fmax(p, q), x));\np = q;\nq = x;",
        ),
    }[goal]
    inside = f"const {kind} x = in[{place}];\n{step}\nout[{place}] = y;"
    decimated = draw.chance(0.2, "decimated")
    if decimated:
        inside = f"const {kind} x = in[{place}];\n{step}\nif ((t & 3) == 3)\n    out[{place}] = y;"
    text = state + loop(draw, "t", "0", "samples", inside)
    near = draw.choose((habits.fixed, f"const {habits.space}"), "space")
    names = [
        habits.takes(kind, "in"),
        habits.gives(kind, "out"),
        f"{near} {scalar} *coefficients",
        habits.number("samples", "int"),
        habits.number("n"),
    ]

    def launch(d: Draw, w: Wish) -> Sized:
        unit = {"float": 4, "float4": 16}.get(kind, 8)
        whole = within_memory(w.data, 2 * unit)
        samples = min(whole, d.log_integer(1, 8192))
        size = way.size(w, 2 * unit * samples, max(1, whole // samples))
        every = size.count * samples
        cost = {
            "cascade": 10.0 * sections,
            "lattice": 6.0 * sections,
            "adaptive": 9.0 * sections,
            "fir_window": 5.0 * ring,
        }.get(goal, 9.0)
        scalars = {"samples": samples, "n": size.count}
        fills = {"coefficients": ("uniform", 0.01, 0.1)}
        return sized(
            size.global_size,
            size.local_size,
            size.done * (5 + cost * samples),
            {"in": every, "out": every, "coefficients": 8},
            scalars,
            fills,
        )

    return draft(habits, "filter_channels", names, way.write(text), launch)


@family("tiled_windows", "convolution")
def tiled_windows(draw: Draw) -> Draft:
    """Two-dimensional windows over a tile with margins in local memory."""
    habits = hand(draw)
    wide, high = draw.choose(((8, 8), (16, 16), (16, 8), (32, 4), (32, 8), (4, 4)), "tile")
    r = draw.choose((1, 1, 2, 3), "radius")
    kind = draw.choose(("float", "float", "int", "uchar"), "type")
    work = "float" if kind == "float" else "int"
    goal = draw.choose(
        ("weights", "mean", "max", "separable", "laplace", "bilateral" if kind == "float" else "min"), "goal"
    )
    tw, th = wide + 2 * r, high + 2 * r
    barrier = "barrier(CLK_LOCAL_MEM_FENCE);"
    edge = draw.choose(("clamp", "zero"), "edge")
    pixel = (
        "in[clamp(gy, 0, height - 1) * width + clamp(gx, 0, width - 1)]"
        if edge == "clamp"
        else "(gx >= 0 && gy >= 0 && gx < width && gy < height ? in[gy * width + gx] : 0)"
    )
    flat = draw.chance(0.5, "flat_tile")
    pad = draw.choose((0, 1), "pad")

    def cell(row: str, column: str) -> str:
        return f"tile[({row}) * {tw + pad} + {column}]" if flat else f"tile[{row}][{column}]"

    array = (
        f"{habits.near} {work} tile[{th * (tw + pad)}];\n"
        if flat
        else f"{habits.near} {work} tile[{th}][{tw + pad}];\n"
    )
    head = (
        "const int lx = get_local_id(0), ly = get_local_id(1);\nconst int x = get_global_id(0), y = get_global_id(1);\n"
        f"const int x0 = get_group_id(0) * {wide} - {r}, y0 = get_group_id(1) * {high} - {r};\n"
    )
    if draw.chance(0.5, "loading"):
        load = (
            f"for (int j = ly; j < {th}; j += {high})\n    for (int i = lx; i < {tw}; i += {wide}) {{\n"
            f"        const int gx = x0 + i, gy = y0 + j;\n        {cell('j', 'i')} = {pixel};\n    }}\n"
        )
    else:
        load = (
            f"for (int k = ly * {wide} + lx; k < {tw * th}; k += {wide * high}) {{\n"
            f"    const int j = k / {tw}, i = k % {tw};\n"
            f"    const int gx = x0 + i, gy = y0 + j;\n    {cell('j', 'i')} = {pixel};\n}}\n"
        )
    middle = cell(f"ly + {r}", f"lx + {r}")
    around = cell("ly + j", "lx + i")
    size = 2 * r + 1
    more = ""
    high_name = "fmax" if work == "float" else "max"
    low_name = "fmin" if work == "float" else "min"
    if goal == "separable":
        more = f"{habits.near} {work} lines[{th * wide}];\n"
        first = (
            f"for (int j = ly; j < {th}; j += {high}) {{\n    {work} sum = 0;\n    for (int i = 0; i < {size}; i++)\n"
            f"        sum += {cell('j', 'lx + i')} * weights[i];\n    lines[j * {wide} + lx] = sum;\n}}\n{barrier}\n"
        )
        text = (
            f"{first}{work} sum = 0;\n"
            f"{loop(draw, 'j', '0', str(size), f'sum += lines[(ly + j) * {wide} + lx] * weights[j];')}"
        )
    elif goal == "laplace":
        text = (
            f"const {work} sum = {cell(f'ly + {r}', f'lx + {r - 1}')} + {cell(f'ly + {r}', f'lx + {r + 1}')}"
            f" + {cell(f'ly + {r - 1}', f'lx + {r}')} + {cell(f'ly + {r + 1}', f'lx + {r}')} - 4 * {middle};\n"
        )
    else:
        add = {
            "weights": (f"sum += {around}"
f" * weights[j * {size} + i];"), "mean": f"sum += {around};", "max": f"sum = {high_name}(sum, {around});",
            "min": f"sum = {low_name}(sum, {around});", "bilateral": (f"const float p = {around};\n"
f"const float e = exp(-fabs(p - {middle}));\nsum += p * e;\nall += e;"),
        }[goal]  # fmt: skip
        text = f"{work} sum = {'0' if goal not in ('max', 'min') else middle};\n" + (
            "float all = 0.0f;\n" if goal == "bilateral" else ""
        )
        text += loop(draw, "j", "0", str(size), loop(draw, "i", "0", str(size), add))
    result = {"mean": f"sum / {size * size}", "bilateral": "sum / (all + 0.001f)"}.get(goal, "sum")
    result = finish_value(draw, f"({result})", work, 1)
    store = f"if (x < width && y < height)\n    out[y * width + x] = {result};"
    names = [
        habits.takes(kind, "in"),
        f"{habits.fixed} {work} *weights",
        habits.gives(kind, "out"),
        habits.number("width", "int"),
        habits.number("height", "int"),
    ]
    required = f"__attribute__((reqd_work_group_size({wide}, {high}, 1)))" if draw.chance(0.5) else ""

    def launch(d: Draw, w: Wish) -> Sized:
        count = groups(w, wide * high)
        shapes = Draw("tiles", w.items, wide, high)
        across = max(1, min(count, 2048, int(count**0.5 * shapes.log_real(0.25, 4))))
        down = max(1, count // across)
        entries = within_memory(w.data, 10)
        width = max(1, min(entries, 1 << 14, int(entries**0.5 * d.log_real(0.2, 5))))
        height = max(1, entries // width)
        fills: Fills = {"weights": ("uniform", 0.0, 1.0 / size / size) if work == "float" else ("randint", 0, 3)}
        items = across * wide * down * high
        cost = {"separable": 10.0 * size, "laplace": 12.0, "bilateral": 26.0 * size**2}.get(goal, 5.0 * size**2)
        lengths = {"in": width * height, "out": width * height, "weights": size * size}
        return sized(
            (across * wide, down * high),
            (wide, high),
            items * (25 + cost),
            lengths,
            {"width": width, "height": height},
            fills,
        )

    return draft(
        habits,
        "window_tile",
        names,
        array + more + head + load + barrier + "\n" + text + store,
        launch,
        attribute=required,
    )
