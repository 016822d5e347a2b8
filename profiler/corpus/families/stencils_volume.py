"""Stencils in three dimensions, and those that march along an axis or through time with values kept in registers."""

from __future__ import annotations

from profiler.corpus.draw import Draw
from profiler.corpus.families.stencils import Weights, bounded, finish, shifted
from profiler.corpus.family import Draft, Sized, Wish, family
from profiler.corpus.logarithm import exp2, log2
from profiler.corpus.writing.arrays import Array, Elements, Value, Values, line_draft, type_bytes
from profiler.corpus.writing.hand import hand
from profiler.corpus.writing.literals import literal
from profiler.corpus.writing.plane import shape
from profiler.corpus.writing.sizes import draft, line, power_below, sized, within_memory
from profiler.corpus.writing.walk import walk

REALS = {"float": 5.0, "double": 1.5, "int": 0.7}
EDGES = {"clamp": 2.0, "min_max": 1.0, "wrap": 1.0, "skip": 3.0, "mirror": 0.5}


def volume(draw: Draw, elements: int) -> tuple[int, int, int]:
    """Width, height and depth of about so many elements."""
    deep = max(1, int(min(draw.log_real(1, 200), elements)))
    return *shape(draw, max(1, elements // deep)), deep


def box(wish: Wish, dimensions: int) -> tuple[tuple[int, ...], tuple[int, ...] | None]:
    """Global and local size in two or three dimensions; follow from `items` and `local` alone."""
    aspects = Draw("box", wish.items, wish.local or 0)
    left = None if wish.local is None else power_below(wish.local)
    groups = max(1, wish.items // (left or 1))
    sizes, locals_ = [], []
    for k in range(dimensions):
        last = k == dimensions - 1
        most = max(1, round(exp2(log2(groups) * 1.4 / (dimensions - k))))
        parts = groups if last else min(groups, aspects.log_integer(1, most))
        groups = max(1, groups // parts)
        part = 1
        if left is not None:
            part = left if last else min(left, aspects.choose((2, 4, 8, 16, 32)))
            left //= part
        sizes.append(parts * part)
        locals_.append(part)
    return tuple(sizes), None if left is None else tuple(locals_)


@family("volume_stencil", group="stencils")
def volume_stencil(draw: Draw) -> Draft:
    """Of three dimensions: stars, boxes, faces; one item an element, a column of them, or a loop over the grid."""
    habits = hand(draw)
    type_ = draw.weighted(REALS, "type")
    radius = draw.weighted({1: 4.0, 2: 1.5, 3: 0.7, 4: 0.5}, "radius")
    kind = draw.choose(("star", "star", "box", "faces", "plane", "column", "scattered"), "shape")
    cube = [
        (x, y, z)
        for z in range(-radius, radius + 1)
        for y in range(-radius, radius + 1)
        for x in range(-radius, radius + 1)
    ]
    away = {o: sum(1 for c in o if c) for o in cube}
    offsets = {
        "star": [o for o in cube if away[o] <= 1],
        "box": [o for o in cube if max(map(abs, o)) <= 1],
        "faces": [o for o in cube if away[o] <= 2 and max(map(abs, o)) <= 1],
        "plane": [o for o in cube if o[2] == 0 and away[o] <= 1],
        "column": [o for o in cube if o[0] == 0 and o[1] == 0],
    }.get(kind) or [(0, 0, 0), *draw.sample([o for o in cube if any(o)], draw.integer(3, 9))]
    weights = Weights(draw, habits, type_, len(offsets))
    edge = draw.weighted(EDGES, "boundary")
    way = draw.choose(("three", "three", "column", "flat", "grid"), "way")

    def cell(x: int, y: int, z: int) -> str:
        a, b, c = (bounded(edge, n, by, s) for n, by, s in (("x", x, "nx"), ("y", y, "ny"), ("z", z, "nz")))
        if spelled == "macro":
            return f"AT(src, {a}, {b}, {c})"
        if spelled == "base" and edge == "skip":
            steps = "".join(f" {'+' if by > 0 else '-'} {abs(by)} * {s}" for by, s in ((y, "nx"), (z, "nx * ny")) if by)
            return f"src[{shifted(f'at{steps}', x)}]"
        return f"src[(({c}) * ny + {b}) * nx + {a}]"

    spelled = draw.choose(("index", "macro", "base"), "spelled")
    before = weights.before
    if spelled == "macro":
        before += "#define AT(p, a, b, c) p[((c) * ny + (b)) * nx + (a)]\n"
    more, total = weights.total(draw, habits, type_, [cell(*o) for o in offsets])
    inner = ["const int at = (z * ny + y) * nx + x;", *more, f"dst[at] = {finish(draw, total, 'src[at]', type_)};"]
    if edge == "skip":
        low = [
            f"{n} >= {r}" for n, r in zip("xyz", [max(abs(o[k]) for o in offsets) for k in range(3)], strict=True) if r
        ]
        high = [
            f"{n} < n{n} - {r}"
            for n, r in zip("xyz", [max(abs(o[k]) for o in offsets) for k in range(3)], strict=True)
            if r
        ]
        inner = [f"if ({' && '.join(low + high)}) {{", *inner, "}"]
    text = "\n".join(inner)
    ids = ["const int x = get_global_id(0);", "const int y = get_global_id(1);", "const int z = get_global_id(2);"]
    match way:
        case "three":
            guard = "if (x >= nx || y >= ny || z >= nz) return;"
            body = "\n".join([*ids, guard, text])
        case "column":
            body = "\n".join([*ids[:2], "if (x < nx && y < ny) {", "for (int z = 0; z < nz; z++) {", text, "}\n}"])
        case "flat":
            found = "const int x = i % nx, y = i / nx % ny, z = i / (nx * ny);"
            body = f"const int i = get_global_id(0);\nif (i >= nx * ny * nz) return;\n{found}\n{text}"
        case _:
            body = "for (int z = get_global_id(2); z < nz; z += get_global_size(2))\n"
            body += "for (int y = get_global_id(1); y < ny; y += get_global_size(1))\n"
            body += f"for (int x = get_global_id(0); x < nx; x += get_global_size(0)) {{\n{text}\n}}"
    parameters = [habits.takes(type_, "src"), habits.gives(type_, "dst"), *(a.declared(habits) for a in weights.arrays)]
    parameters += [*(habits.number(v.name, v.type) for v in weights.values), *(f"const int n{c}" for c in "xyz")]

    def launch(draw: Draw, wish: Wish) -> Sized:
        nx, ny, nz = volume(draw, within_memory(wish.data, 2 * type_bytes(type_)))
        if way == "flat":
            items, one = line(wish)
            sizes: tuple[int, ...] = (items,)
            local = None if one is None else (one,)
            done = min(items, nx * ny * nz)
        else:
            sizes, local = box(wish, 2 if way == "column" else 3)  # type: ignore[assignment]
            reach = sizes if way == "three" else (*sizes[:2], nz) if way == "column" else (nx, ny, nz)
            done = min(nx, reach[0]) * min(ny, reach[1]) * min(nz, reach[2])
        total = 1
        for part in sizes:
            total *= part
        buffers = {"src": nx * ny * nz, "dst": nx * ny * nz, "weights": len(offsets)}
        scalars = {"nx": nx, "ny": ny, "nz": nz, **{v.name: v.value(draw) for v in weights.values}}
        fills = {a.name: a.fill for a in weights.arrays if a.fill and not callable(a.fill)}
        return sized(sizes, local, 5.0 * len(offsets) * done + total, buffers, scalars, fills)

    return draft(habits, "volume", parameters, body, launch, before=before)


@family("marching_stencil", group="stencils")
def marching_stencil(draw: Draw) -> Draft:
    """Each item goes down a column and keeps the last few values in registers or in a small array."""
    habits = hand(draw)
    type_ = draw.weighted(REALS, "type")
    radius = draw.choose((1, 1, 2, 3, 4), "radius")
    taps = 2 * radius + 1
    weights = Weights(draw, habits, type_, taps)
    queue = draw.choose(("names", "array", "ring"), "queue")
    sides = draw.chance(0.4, "beside")  # neighbours in the other direction as well
    along = draw.choose(("down", "right"), "direction")
    index = "r * n + i" if along == "down" else "i * rows + r"
    ahead = f"(r + {radius})" if along == "down" else f"r + {radius}"
    far = f"{ahead} * n + i" if along == "down" else f"i * rows + {ahead}"
    zero = literal(type_, 0)
    names = [f"v{k}" for k in range(taps)] if queue == "names" else [f"v[{k}]" for k in range(taps)]
    first = [f"{k} * n + i" if along == "down" else f"i * rows + {k}" for k in range(radius)]
    loads = [f"{k} < rows ? src[{at}] : {zero}" for k, at in enumerate(first)]
    lines = []
    if queue == "names":
        lines.append(f"{type_} {', '.join(f'{n} = {zero}' for n in names)};")
    else:
        lines.append(f"{type_} v[{taps}];\nfor (int k = 0; k < {taps}; k++) v[k] = {zero};")
    lines += [f"{names[radius + 1 + k]} = {text};" for k, text in enumerate(loads)]
    steps = []
    if queue == "array":
        steps.append(f"for (int k = 0; k < {taps - 1}; k++) v[k] = v[k + 1];")
    elif queue == "names":
        steps += [f"v{k} = v{k + 1};" for k in range(taps - 1)]
    newest = names[-1] if queue != "ring" else f"v[(r + {taps - 1}) % {taps}]"
    if queue == "ring":
        lines[1:] = [f"v[{radius + k}] = {text};" for k, text in enumerate(loads)]
        names = [f"v[(r + {k}) % {taps}]" for k in range(taps)]
    steps.append(f"{newest} = r + {radius} < rows ? src[{far}] : {zero};")
    more, total = weights.total(draw, habits, type_, names)
    value = finish(draw, total, names[radius], type_)
    if sides:
        left, right = ("max((int)i - 1, 0)", "min((int)i + 1, (int)n - 1)")
        places = [f"src[r * n + {s}]" if along == "down" else f"src[{s} * rows + r]" for s in (left, right)]
        value = f"({value}) {draw.choose('+-')} {literal(type_, 1)} * ({' - '.join(places)})"
    steps += [*more, f"dst[{index}] = {value};"]
    pragma = "#pragma unroll 2\n" if draw.chance(0.15) else ""
    lines.append(f"{pragma}for (int r = 0; r < rows; r++) {{\n" + "\n".join(steps) + "\n}")
    way = walk(draw, habits, exact=False)

    def long(shape: tuple[int, ...], given: Values) -> int:
        return shape[0] * int(given["rows"])

    values = [Value("rows", "int", lambda d: d.log_integer(2, 400)), *weights.values]
    # 400 elements a column at most: the budget for memory is that of the longest.
    arrays = [
        Array("src", type_, length=long, per=400),
        Array("dst", type_, True, length=long, per=400),
        *weights.arrays,
    ]
    each = 3.0 * taps + 6

    def operations(given: Values) -> float:
        return each * float(given["rows"])

    return line_draft(
        draw, habits, Elements("march", arrays, "\n".join(lines), values, operations, weights.before), way
    )


@family("several_steps_at_once", group="stencils")
def several_steps_at_once(draw: Draw) -> Draft:
    """Several steps of a line's stencil in one launch: each item works on a stretch that shrinks with every step."""
    habits = hand(draw)
    type_ = draw.weighted({"float": 5.0, "double": 1.5}, "type")
    steps = draw.choose((2, 2, 3, 4, 6), "steps")
    cells = draw.choose((1, 2, 4, 8, 16), "cells_an_item")
    edge = draw.choose(("clamp", "wrap", "padded"), "boundary")
    size = cells + 2 * steps
    first = {"padded": "start + k", "wrap": f"(start + k - {steps} + {steps} * size) % size"}.get(edge)
    place = first or f"clamp(start + k - {steps}, 0, size - 1)"
    w = [literal(type_, x) for x in draw.choose(((0.25, 0.5, 0.25), (0.3, 0.4, 0.3), (0.1, 0.8, 0.1)))]
    buffers = draw.choose(("two", "one"), "buffers")
    inner = f"{w[0]} * a[k - 1] + {w[1]} * a[k] + {w[2]} * a[k + 1]"
    form = draw.choose(("sum", "limited", "nonlinear"), "form")
    if form == "limited":
        inner = f"fmin(fmax({inner}, {literal(type_, 0.1)}), {literal(type_, 2)})"
    elif form == "nonlinear":
        inner = f"{inner} - {literal(type_, 0.05)} * a[k] * (a[k] - {literal(type_, 1)})"
    lines = [f"const int start = (int)i * {cells}, size = (int)n * {cells};", f"{type_} a[{size}];"]
    lines.append(f"for (int k = 0; k < {size}; k++) a[k] = src[{place}];")
    loop = f"for (int s = 1; s <= {steps}; s++) {{\n"
    if buffers == "two":
        lines.append(f"{type_} b[{size}];")
        loop += f"for (int k = s; k < {size} - s; k++) b[k] = {inner};\n"
        loop += f"for (int k = s; k < {size} - s; k++) a[k] = b[k];\n}}"
    else:
        # The old value of the element before is all that is still needed.
        loop += f"{type_} last = a[s - 1];\nfor (int k = s; k < {size} - s; k++) {{\n{type_} old = a[k];\n"
        loop += f"a[k] = {inner.replace('a[k - 1]', 'last')};\nlast = old;\n}}\n}}"
    lines.append(loop)
    lines.append(f"for (int k = 0; k < {cells}; k++) dst[start + k] = a[k + {steps}];")

    def long(shape: tuple[int, ...], given: Values) -> int:
        return shape[0] * cells + 2 * steps

    arrays = [Array("src", type_, length=long, per=cells), Array("dst", type_, True, per=cells)]
    each = 7.0 * size * steps
    way = walk(draw, habits, exact=False)
    return line_draft(draw, habits, Elements("steps", arrays, "\n".join(lines), (), lambda _: each), way)


@family("coloured_relaxation", group="stencils")
def coloured_relaxation(draw: Draw) -> Draft:
    """In place on every second or fourth element, the others being their neighbours; the colour is an argument."""
    habits = hand(draw)
    type_ = draw.weighted({"float": 5.0, "double": 1.5}, "type")
    colours = draw.choose(("line", "plane", "plane", "blocks"), "colours")
    over = draw.choose((literal(type_, 0.8), literal(type_, 0.5), "omega"), "relaxation")
    values = [
        Value("colour", "int", lambda d: d.integer(0, 1)),
        Value("omega", type_, lambda d: round(d.real(0.2, 0.9), 3)),
    ]
    half = literal(type_, 0.5 if colours == "line" else 0.25)
    right = draw.chance(0.5, "right_side")
    lines = ["const int w = width, k = i;"]
    values.append(Value("width", "int", lambda d: d.log_integer(3, 4000)))
    if colours == "line":
        lines = ["const int k = 2 * (int)i + colour + 1;", "if (k + 1 < 2 * (int)n) {"]
        around = ["u[k - 1]", "u[k + 1]"]
        values = values[:-1]
    elif colours == "plane":
        lines.append("const int y = k / w, x = k % w;")
        test = draw.choose(("((x + y) & 1) == colour", "(x + y) % 2 == colour", "((x ^ y) & 1) == colour"))
        lines.append(f"if (x > 0 && x < w - 1 && y > 0 && k + w < (int)n && {test}) {{")
        around = ["u[k - 1]", "u[k + 1]", "u[k - w]", "u[k + w]"]
    else:
        lines.append("const int y = k / w, x = k % w;")
        lines.append("if (x > 0 && x < w - 1 && y > 0 && k + w < (int)n && (x & 1) + 2 * (y & 1) == colour) {")
        around = ["u[k - 1]", "u[k + 1]", "u[k - w]", "u[k + w]"]
    mean = f"{half} * ({' + '.join(draw.shuffled(around))}{f' - {literal(type_, 0.1)} * f[k]' if right else ''})"
    lines.append(
        draw.choose(
            (f"u[k] += {over} * ({mean} - u[k]);", f"{type_} t = {mean};\nu[k] = mix(u[k], t, ({type_}){over});")
        )
    )
    if draw.chance(0.3, "residual"):
        lines.append(f"r[k] = fabs({mean} - u[k]);")
    lines.append("}")
    text = "\n".join(lines)
    wide = 2 if colours == "line" else 1
    arrays = [Array(name, type_, name in "ur", per=wide) for name in "ufr" if f"{name}[k" in text]
    used = [v for v in values if v.name in text]
    way = walk(draw, habits, exact=False)
    return line_draft(draw, habits, Elements("relax", arrays, text, used), way)
