"""Stencils through local memory: a tile and its halo are fetched by the group, then each item works on its own."""

from __future__ import annotations

from math import isqrt

from profiler.corpus.draw import Draw
from profiler.corpus.families.stencils import Weights, finish, shifted
from profiler.corpus.family import Draft, Sized, Wish, family
from profiler.corpus.writing.arrays import type_bytes
from profiler.corpus.writing.hand import Hand, hand
from profiler.corpus.writing.literals import literal
from profiler.corpus.writing.plane import shape
from profiler.corpus.writing.sizes import draft, fitting_local, sized, within_memory

TYPES = {"float": 5.0, "double": 1.0, "int": 1.0, "float2": 0.5, "float4": 0.4}


@family("tiled_line_stencil", group="stencils")
def tiled_line_stencil(draw: Draw) -> Draft:
    """Of one dimension, the group's part with a halo at both ends in local memory."""
    habits = hand(draw)
    type_ = draw.weighted(TYPES, "type")
    radius = draw.choose((1, 2, 3, 4, 5, 8, 16), "radius")
    taps = 2 * radius + 1
    weights = Weights(draw, habits, type_, taps)
    fixed = draw.choose((0, 32, 64, 128, 256), "fixed_group")
    cells = draw.weighted({1: 4.0, 2: 1.0, 4: 1.0}, "cells_an_item")
    group = str(fixed) if fixed else "(int)get_local_size(0)"
    several = draw.chance(0.3, "several_tiles")
    fetch = draw.choose(("loop", "ends", "thirds"), "fetch") if cells == 1 else "loop"
    edge = draw.choose(("clamp", "zero", "wrap"), "edge")
    zero = literal(type_, 0)

    def fetched(at: str) -> str:
        if edge == "zero":
            return f"({at} >= 0 && {at} < n) ? src[{at}] : {zero}"
        if edge == "wrap":
            return f"src[({at} % n + n) % n]"
        return f"src[clamp({at}, 0, n - 1)]"

    span = f"group * {cells}" if cells > 1 else "group"
    lines = [f"const int l = get_local_id(0), group = {group};"]
    if fixed:
        lines.append(f"{habits.near} {type_} near[{fixed * cells + 2 * radius}];")
    work = []
    first = "first"
    match fetch:
        case "loop":
            work.append(f"for (int k = l; k < {span} + {2 * radius}; k += group) {{\nint g = {first} + k - {radius};")
            work.append(f"near[k] = {fetched('g')};\n}}")
        case "ends":
            work.append(f"int g = {first} + l;\nnear[l + {radius}] = {fetched('g')};")
            work.append(f"for (int k = l; k < {radius}; k += group) {{\nint a = {first} - {radius} + k;")
            work.append(f"near[k] = {fetched('a')};\na = {first} + group + k;")
            work.append(f"near[group + {radius} + k] = {fetched('a')};\n}}")
        case _:
            work.append(f"int g = {first} + l;\nnear[l + {radius}] = {fetched('g')};\nif (l == 0) {{")
            work.append(f"for (int k = 0; k < {radius}; k++) {{\nint a = {first} - {radius} + k;")
            work.append(f"near[k] = {fetched('a')};\n}}\n}}")
            work.append(f"if (l == group - 1) {{\nfor (int k = 0; k < {radius}; k++) {{\nint a = {first} + group + k;")
            work.append(f"near[group + {radius} + k] = {fetched('a')};\n}}\n}}")
    work.append("barrier(CLK_LOCAL_MEM_FENCE);")
    at = "l" if cells == 1 else draw.choose(("l + c * group", f"l * {cells} + c"))
    names = [f"near[{shifted('p', k)}]" for k in range(taps)]
    more, total = weights.total(draw, habits, type_, names)
    inner = "\n".join([f"int p = {at};", f"int o = {first} + p;", "if (o < n) {", *more])
    inner += f"\ndst[o] = {finish(draw, total, f'near[p + {radius}]', type_)};\n}}"
    work.append(inner if cells == 1 else f"for (int c = 0; c < {cells}; c++) {{\n{inner}\n}}")
    if several:
        lines.append(f"for (int first = get_group_id(0) * {span}; first < n; first += get_num_groups(0) * {span}) {{")
        lines += [*work, "barrier(CLK_LOCAL_MEM_FENCE);", "}"]
    else:
        lines += [f"const int first = get_group_id(0) * {span};", *work]
    near = [] if fixed else [habits.shares(type_, "near")]
    parameters = [
        habits.takes(type_, "src"),
        habits.gives(type_, "dst"),
        *near,
        *_others(habits, weights),
        "const int n",
    ]
    attribute = f"__attribute__((reqd_work_group_size({fixed}, 1, 1)))" if fixed and draw.chance(0.5) else ""
    size = type_bytes(type_)

    def launch(draw: Draw, wish: Wish) -> Sized:
        local = fixed or fitting_local(wish, least=1)
        groups = max(1, wish.items // local)
        count = within_memory(wish.data, 2 * size)
        done = count if several else min(count, groups * local * cells)
        tiles = -(-done // (local * cells)) if several else groups
        operations = 3.0 * taps * done + 3.0 * tiles * (local * cells + 2 * radius)
        buffers = {"src": count, "dst": count, "weights": taps}
        scalars = {"n": count, **{v.name: v.value(draw) for v in weights.values}}
        cell = {"near": (local * cells + 2 * radius) * size} if near else {}
        fills = {a.name: a.fill for a in weights.arrays if a.fill and not callable(a.fill)}
        return sized(groups * local, local, operations, buffers, scalars, fills, cell)

    body = "\n".join(lines)
    return draft(habits, "line_tile", parameters, body, launch, before=weights.before, attribute=attribute)


def _others(habits: Hand, weights: Weights) -> list[str]:
    scalars = [habits.number(v.name, v.type) for v in weights.values]
    return [*(a.declared(habits) for a in weights.arrays), *scalars]


@family("tiled_plane_stencil", group="stencils")
def tiled_plane_stencil(draw: Draw) -> Draft:
    """Of two dimensions, with a tile and its frame in local memory."""
    habits = hand(draw)
    type_ = draw.weighted(TYPES, "type")
    radius = draw.weighted({1: 3.0, 2: 2.0, 3: 1.0, 4: 0.5}, "radius")
    star = draw.chance(0.6, "star")
    square = [(x, y) for y in range(-radius, radius + 1) for x in range(-radius, radius + 1)]
    offsets = [(x, y) for x, y in square if not star or x == 0 or y == 0][:49]
    weights = Weights(draw, habits, type_, len(offsets))
    wide, high = draw.choose(((8, 8), (16, 16), (16, 8), (32, 4), (32, 8), (64, 4), (16, 4), (4, 4), (8, 4)), "tile")
    rows = draw.weighted({1: 4.0, 2: 1.5, 4: 1.0}, "rows_an_item")
    across, down = wide + 2 * radius, high * rows + 2 * radius
    macros = draw.chance(0.5, "macros")
    before = weights.before
    w, h, r = str(wide), str(high * rows), str(radius)
    if macros:
        before += f"#define TX {wide}\n#define TY {high * rows}\n#define R {radius}\n"
        w, h, r = "TX", "TY", "R"
    flat = draw.chance(0.3, "flat_tile")
    edge = draw.choose(("clamp", "zero", "wrap"), "edge")
    fetch = draw.choose(("linear", "loops", "frame"), "fetch")

    def cell(b: str, a: str) -> str:
        return f"near[({b}) * ({w} + 2 * {r}) + {a}]" if flat else f"near[{b}][{a}]"

    def fetched(a: str, b: str) -> str:
        if edge == "zero":
            inside = f"{a} >= 0 && {a} < width && {b} >= 0 && {b} < height"
            return f"({inside}) ? src[{b} * width + {a}] : {literal(type_, 0)}"
        if edge == "wrap":
            return f"src[(({b}) % height + height) % height * width + (({a}) % width + width) % width]"
        return f"src[clamp({b}, 0, height - 1) * width + clamp({a}, 0, width - 1)]"

    size = f"[({h} + 2 * {r}) * ({w} + 2 * {r})]" if flat else f"[{h} + 2 * {r}][{w} + 2 * {r}]"
    lines = [f"{habits.near} {type_} near{size};", "const int lx = get_local_id(0), ly = get_local_id(1);"]
    lines.append(f"const int x0 = get_group_id(0) * {w}, y0 = get_group_id(1) * {h};")
    match fetch:
        case "linear":
            lines.append(f"for (int k = ly * {wide} + lx; k < {across * down}; k += {wide * high}) {{")
            lines.append(f"int b = k / {across}, a = k % {across};\nint gx = x0 + a - {r}, gy = y0 + b - {r};")
            lines.append(f"{cell('b', 'a')} = {fetched('gx', 'gy')};\n}}")
        case "loops":
            lines.append(f"for (int b = ly; b < {h} + 2 * {r}; b += {high}) {{")
            lines.append(f"for (int a = lx; a < {w} + 2 * {r}; a += {wide}) {{")
            lines.append(f"int gx = x0 + a - {r}, gy = y0 + b - {r};")
            lines.append(f"{cell('b', 'a')} = {fetched('gx', 'gy')};\n}}\n}}")
        case _:
            lines.append(f"for (int b = ly; b < {h} + 2 * {r}; b += {high}) {{\nint gx = x0 + lx, gy = y0 + b - {r};")
            lines.append(f"{cell('b', f'lx + {r}')} = {fetched('gx', 'gy')};\nif (lx < {r}) {{\nint gl = gx - {r};")
            lines.append(f"{cell('b', 'lx')} = {fetched('gl', 'gy')};\n}}\nif (lx >= {w} - {r}) {{\nint gr = gx + {r};")
            lines.append(f"{cell('b', f'lx + 2 * {r}')} = {fetched('gr', 'gy')};\n}}\n}}")
    lines.append("barrier(CLK_LOCAL_MEM_FENCE);")
    row = "ly" if rows == 1 else draw.choose((f"ly + q * {high}", f"ly * {rows} + q"))
    names = [cell(f"t + {y + radius}", f"lx + {x + radius}") for x, y in offsets]
    more, total = weights.total(draw, habits, type_, names)
    inner = [f"int t = {row};", "int x = x0 + lx, y = y0 + t;", "if (x < width && y < height) {", *more]
    inner.append(f"dst[y * width + x] = {finish(draw, total, cell(f't + {r}', f'lx + {r}'), type_)};\n}}")
    lines += inner if rows == 1 else [f"for (int q = 0; q < {rows}; q++) {{", *inner, "}"]
    parameters = [habits.takes(type_, "src"), habits.gives(type_, "dst"), *_others(habits, weights)]
    parameters += ["const int width", "const int height"]
    attribute = f"__attribute__((reqd_work_group_size({wide}, {high}, 1)))" if draw.chance(0.3) else ""
    bytes_ = type_bytes(type_)

    def launch(draw: Draw, wish: Wish) -> Sized:
        groups = max(1, wish.items // (wide * high))
        right = max(1, int(isqrt(groups) * Draw("tiles", wish.items).log_real(0.3, 3)))
        below = max(1, groups // right)
        width, height = shape(draw, within_memory(wish.data, 2 * bytes_))
        done = min(width, right * wide) * min(height, below * high * rows)
        operations = 3.0 * len(offsets) * done + 5.0 * right * below * across * down
        scalars = {"width": width, "height": height, **{v.name: v.value(draw) for v in weights.values}}
        buffers = {"src": width * height, "dst": width * height, "weights": len(offsets)}
        fills = {a.name: a.fill for a in weights.arrays if a.fill and not callable(a.fill)}
        return sized((right * wide, below * high), (wide, high), operations, buffers, scalars, fills)

    return draft(habits, "plane_tile", parameters, "\n".join(lines), launch, before=before, attribute=attribute)
