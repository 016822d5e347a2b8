"""Each element becomes something of its neighbours: lines, planes, boundaries, coefficients."""

from __future__ import annotations

from collections.abc import Sequence

from profiler.corpus.draw import Draw
from profiler.corpus.expressions import expression
from profiler.corpus.family import Draft, family
from profiler.corpus.writing.arrays import Array, Elements, Value, Values, line_draft, plane_draft
from profiler.corpus.writing.hand import Hand, hand
from profiler.corpus.writing.literals import literal, split_type
from profiler.corpus.writing.walk import walk

TYPES = {"float": 6.0, "double": 2.0, "int": 1.0, "float4": 0.8, "float2": 0.5}
Offset = tuple[int, int]


def shapes(draw: Draw, most: int = 3) -> list[Offset]:
    """Generate the offsets of a plane's stencil."""
    radius = draw.weighted({1: 4.0, 2: 2.0, most: 1.0}, "radius")
    kind = draw.choose(("star", "box", "diagonals", "row", "column", "half", "scattered"), "shape")
    square = [(x, y) for y in range(-radius, radius + 1) for x in range(-radius, radius + 1)]
    match kind:
        case "star":
            return [(x, y) for x, y in square if x == 0 or y == 0]
        case "box":
            return square if radius < 3 else [(x, y) for x, y in square if abs(x) + abs(y) <= radius]
        case "diagonals":
            return [(x, y) for x, y in square if abs(x) == abs(y)]
        case "row":
            return [(x, y) for x, y in square if y == 0]
        case "column":
            return [(x, y) for x, y in square if x == 0]
        case "half":
            return [(x, y) for x, y in square if y <= 0 and (x <= 0 or y < 0)][-8:]
    return [(0, 0), *draw.sample([o for o in square if o != (0, 0)], draw.integer(2, 7))]


def shifted(name: str, by: int) -> str:
    return name if by == 0 else f"{name} {'+' if by > 0 else '-'} {abs(by)}"


def bounded(kind: str, name: str, by: int, size: str) -> str:
    """Generate the neighbour's coordinate, brought inside.

    Offsets are small against no size: mirroring is clamped too.
    """
    text = shifted(name, by)
    if by == 0 or kind in ("skip", "zero", "padded"):
        return text
    match kind:
        case "clamp":
            return f"clamp({text}, 0, {size} - 1)"
        case "min_max":
            return f"max({text}, 0)" if by < 0 else f"min({text}, {size} - 1)"
        case "ternary":
            return f"({text} < 0 ? 0 : {text})" if by < 0 else f"({text} >= {size} ? {size} - 1 : {text})"
        case "wrap":
            return f"({text} + {abs(by)} * {size}) % {size}" if by < 0 else f"({text}) % {size}"
    if by < 0:
        return f"min((int)abs({text}), {size} - 1)"
    return f"max({size} - 1 - (int)abs({size} - 1 - ({text})), 0)"


BOUNDARIES = {"clamp": 2.0, "min_max": 1.0, "ternary": 1.0, "wrap": 1.5, "mirror": 1.0, "skip": 3.0}


class Weights:
    """Where the coefficients come from. They sum to about 1, so that repeated steps stay in range."""

    def __init__(self, draw: Draw, habits: Hand, type_: str, count: int) -> None:
        scalar = split_type(type_)[0]
        self.is_real = scalar in ("float", "double")
        self.form = draw.weighted(
            {"literals": 2.0, "average": 1.5, "constant": 1.0, "buffer": 1.0, "arguments": 1.0, "macros": 1.0},
            "weights",
        )
        if not self.is_real:
            self.form = draw.choose(("average", "literals"))
        self.values: list[Value] = []
        self.arrays: list[Array] = []
        self.before = ""
        self._scalar, self._count = scalar, count
        share = 1.0 / count
        few = [share * f for f in (0.5, 1.0, 1.5)]
        numbers = [draw.choose(few) if self.is_real else draw.integer(1, 4) for _ in range(count)]
        match self.form:
            case "literals":
                self._names = [literal(scalar, n) for n in numbers]
            case "constant":
                listed = ", ".join(literal(scalar, n) for n in numbers)
                self.before = f"{habits.fixed} {scalar} weights[{count}] = {{{listed}}};\n"
                self._names = [f"weights[{k}]" for k in range(count)]
            case "buffer":
                space = draw.choose((habits.fixed, ""), "weights_space")
                fill = ("uniform", 0.5 * share, 1.5 * share)
                self.arrays = [Array("weights", scalar, length=lambda s, g: count, fill=fill, space=space)]
                self._names = [f"weights[{k}]" for k in range(count)]
            case "arguments":
                kinds = draw.integer(2, 3)

                def weight(draw: Draw) -> float:
                    return round(share * draw.real(0.5, 1.5), 4)

                self.values = [Value(f"w{k}", scalar, weight) for k in range(kinds)]
                self._names = [f"w{min(k, kinds - 1) if k < 2 else k % kinds}" for k in range(count)]
            case "macros":
                kinds = draw.integer(1, 3)
                self.before = "".join(f"#define W{k} {literal(scalar, numbers[k % count])}\n" for k in range(kinds))
                self._names = [f"W{k % kinds}" for k in range(count)]
            case _:
                self._names = [""] * count

    def total(self, draw: Draw, habits: Hand, type_: str, cells: Sequence[str]) -> tuple[list[str], str]:
        """Statements, and the expression of the weighted sum."""
        if self.form == "average":
            whole = " + ".join(cells)
            if not self.is_real:
                return [], f"({whole}) / {literal(type_, len(cells))}"
            return [], f"({whole}) * {literal(self._scalar, 1 / len(cells))}"
        if draw.chance(0.4, "accumulated"):
            lines = [f"{type_} sum = {self._names[0]} * {cells[0]};"]
            for name, cell in zip(self._names[1:], cells[1:], strict=True):
                lines.append(habits.add_product("sum", name, cell, self.is_real and type_ == self._scalar))
            return lines, "sum"
        return [], " + ".join(f"{n} * {c}" for n, c in zip(self._names, cells, strict=True))


def finish(draw: Draw, total: str, centre: str, type_: str) -> str:
    """Return what becomes of the weighted sum."""
    scalar = split_type(type_)[0]
    is_real = scalar in ("float", "double")
    kind = draw.weighted({"plain": 4.0, "relaxed": 1.5, "difference": 1.0, "expression": 1.0, "limited": 0.7}, "finish")
    share = literal(scalar, draw.choose((0.25, 0.5, 0.8)))
    match kind:
        case "relaxed" if is_real:
            return f"{centre} + {share} * (({total}) - {centre})"
        case "difference":
            return f"({total}) - {centre}"
        case "expression" if is_real:
            return expression(draw, [f"({total})", centre], type_, 2)
        case "limited" if is_real:
            return f"fmin(fmax({total}, {literal(scalar, 0)}), {literal(scalar, 1)})"
    return total


@family("line_stencil", group="stencils")
def line_stencil(draw: Draw) -> Draft:
    """Of one dimension: neighbours to both sides or one, any radius, unrolled or in a loop over the weights."""
    habits = hand(draw)
    type_ = draw.weighted(TYPES, "type")
    radius = draw.weighted({1: 3.0, 2: 2.0, 3: 1.5, 4: 1.0, 6: 0.7, 8: 0.7, 12: 0.3}, "radius")
    sides = draw.choose(("both", "both", "left", "right"), "sides")
    low, high = (0 if sides == "right" else -radius), (0 if sides == "left" else radius)
    spacing = draw.weighted({1: 5.0, 2: 1.0, 4: 0.5}, "spacing")
    offsets = [k * spacing for k in range(low, high + 1)]
    boundary = draw.weighted({**BOUNDARIES, "padded": 2.0}, "boundary")
    weights = Weights(draw, habits, type_, len(offsets))
    forms = ("unrolled", "loop", "variables") if weights.form in ("constant", "buffer") else ("unrolled", "variables")
    form = draw.choose(forms, "form")
    reach = radius * spacing
    lines, values = ["const int c = i, size = n;"], list(weights.values)
    if boundary == "padded":
        lines = [f"const int c = (int)i + {-low * spacing};"]
    cells = [f"src[{bounded(boundary, 'c', o, 'size')}]" for o in offsets]
    if form == "loop":
        step = f" * {spacing}" if spacing > 1 else ""
        place = f"c + k{step}"
        inside = {"wrap": f"(({place}) % size + size) % size", "mirror": f"min((int)abs({place}), size - 1)"}
        at = place if boundary in ("skip", "padded") else inside.get(boundary, f"clamp({place}, 0, size - 1)")
        lines.append(f"{type_} sum = {literal(type_, 0)};")
        shift = f"k + {-low}" if low else "k"
        product = habits.add_product("sum", f"weights[{shift}]", f"src[{at}]", type_ == split_type(type_)[0])
        lines.append(f"for (int k = {low}; k <= {high}; k++) {{\n    {product}\n}}")
        total = "sum"
    else:
        if form == "variables":
            lines += [f"const {type_} v{k} = {c};" for k, c in enumerate(cells)]
            cells = [f"v{k}" for k in range(len(cells))]
        more, total = weights.total(draw, habits, type_, cells)
        lines += more
    lines.append(f"dst[i] = {finish(draw, total, 'src[c]', type_)};")
    if boundary == "skip":
        other = draw.choose(("dst[i] = src[c];", f"dst[i] = {literal(type_, 0)};", ""))
        test = f"c >= {max(0, -low * spacing)} && c < size - {max(0, high * spacing)}"
        tail = f" else {{\n    {other}\n}}" if other else ""
        lines = [lines[0], f"if ({test}) {{\n" + "\n".join(lines[1:]) + f"\n}}{tail}"]

    def long(shape: tuple[int, ...], given: Values) -> int:
        return shape[0] + 2 * reach

    arrays = [Array("src", type_, length=long, per=1), Array("dst", type_, True), *weights.arrays]
    way = walk(draw, habits, exact=boundary == "padded")
    whole = Elements("line_stencil", arrays, "\n".join(lines), values, lambda _: 3.0 * len(offsets) + 3, weights.before)
    return line_draft(draw, habits, whole, way)


@family("plane_stencil", group="stencils")
def plane_stencil(draw: Draw) -> Draft:
    """Of two dimensions: stars, boxes, diagonals or any neighbours, with boundaries of every kind."""
    habits = hand(draw)
    type_ = draw.weighted(TYPES, "type")
    offsets = shapes(draw)
    boundary = draw.weighted({**BOUNDARIES, "padded": 1.0}, "boundary")
    weights = Weights(draw, habits, type_, len(offsets))
    low = min(min(o) for o in offsets)
    high = max(max(o) for o in offsets)
    pad = max(-low, high)
    wide = f"(width + {2 * pad})" if boundary == "padded" else "width"
    layout = draw.choose(("indices", "macro", "base", "variables"), "layout")
    lines, before = ["const int cx = x, cy = y;"], weights.before
    if boundary == "padded":
        lines = [f"const int cx = (int)x + {pad}, cy = (int)y + {pad};"]

    def cell(x: int, y: int) -> str:
        across, down = (bounded(boundary, n, by, size) for n, by, size in (("cx", x, "w"), ("cy", y, "h")))
        if layout == "macro":
            return f"AT(src, {across}, {down})"
        if layout == "base" and boundary in ("skip", "padded"):
            far = f" {'+' if y > 0 else '-'} {abs(y)} * {wide}" if y else ""
            return f"src[{shifted(f'at{far}', x)}]"
        return f"src[({down}) * {wide} + {across}]"

    lines.append("const int w = width, h = height;")
    if layout == "macro":
        before += f"#define AT(p, a, b) p[(b) * {wide} + (a)]\n"
    if layout == "base" and boundary in ("skip", "padded"):
        lines.append(f"const int at = cy * {wide} + cx;")
    cells = [cell(x, y) for x, y in offsets]
    if layout == "variables":
        lines += [f"const {type_} v{k} = {c};" for k, c in enumerate(cells)]
        cells = [f"v{k}" for k in range(len(cells))]
    head = len(lines)
    more, total = weights.total(draw, habits, type_, cells)
    lines += more
    target = "dst[cy * width + cx]" if boundary != "padded" else "dst[y * width + x]"
    lines.append(f"{target} = {finish(draw, total, cell(0, 0), type_)};")
    if boundary == "skip":
        start = 2 if layout == "variables" else head  # neighbours may be loaded inside only
        other = draw.choose((f"{target} = src[cy * {wide} + cx];", f"{target} = {literal(type_, 0)};", ""))
        test = f"cx >= {pad} && cy >= {pad} && cx < w - {pad} && cy < h - {pad}"
        tail = f" else {{\n    {other}\n}}" if other else ""
        lines = [*lines[:start], f"if ({test}) {{\n" + "\n".join(lines[start:]) + f"\n}}{tail}"]

    def long(shape: tuple[int, ...], given: Values) -> int:
        return (shape[0] + 2 * pad) * (shape[1] + 2 * pad) if boundary == "padded" else shape[0] * shape[1]

    arrays = [Array("src", type_, length=long, per=2), Array("dst", type_, True), *weights.arrays]
    each = 4.0 * len(offsets) + 4
    whole = Elements("plane_stencil", arrays, "\n".join(lines), weights.values, lambda _: each, before)
    return plane_draft(draw, habits, whole)
