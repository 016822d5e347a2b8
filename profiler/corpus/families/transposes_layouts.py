"""Layouts are changed: axes permuted, small matrices turned over, planes cut into blocks."""

from __future__ import annotations

from profiler.corpus.draw import Draw
from profiler.corpus.families.transposes import TYPES, stored
from profiler.corpus.family import Draft, family
from profiler.corpus.writing.arrays import Array, Elements, Value, Values, line_draft, plane_draft
from profiler.corpus.writing.hand import hand
from profiler.corpus.writing.walk import walk


@family("permuted_axes", group="transposes")
def permuted_axes(draw: Draw) -> Draft:
    """Arrays of three or four dimensions with their axes in another order; each item finds its place by division."""
    habits = hand(draw)
    type_ = draw.weighted(TYPES, "type")
    rank = draw.choose((3, 3, 4), "rank")
    order = draw.shuffled(range(rank))  # axis 0 is the innermost of the source
    draw.choices["order"] = "".join(map(str, order))
    fixed = {k: draw.choose((2, 3, 4, 8, 16, 17)) for k in range(rank - 1) if draw.chance(0.25)}
    dims = [str(fixed[k]) if k in fixed else f"d{k}" for k in range(rank - 1)]
    values = [Value(f"d{k}", "int", lambda d: d.log_integer(1, 40)) for k in range(rank - 1) if k not in fixed]
    inner = " * ".join(dims)
    lines = [f"const int d{rank - 1} = ((int)n + {inner} - 1) / ({inner});"]
    dims.append(f"d{rank - 1}")
    t = draw.choose((habits.index, "int", "uint"))
    style = draw.choose(("divide", "remainders", "subtract"), "style")
    rest = "i"
    for k in range(rank - 1):
        if style == "remainders":
            product = " * ".join(dims[:k])
            lines.append(f"const {t} a{k} = {f'(i / ({product}))' if k else 'i'} % {dims[k]};")
        else:
            lines.append(f"const {t} q{k} = {rest} / {dims[k]};")
            left = f"{rest} % {dims[k]}" if style == "divide" else f"{rest} - q{k} * {dims[k]}"
            lines.append(f"const {t} a{k} = {left};")
            rest = f"q{k}"
    lines.append(f"const {t} a{rank - 1} = {rest if style != 'remainders' else f'i / ({inner})'};")
    nested = f"a{order[-1]}"
    for k in reversed(order[:-1]):
        nested = f"({nested} * {dims[k]} + a{k})"
    side = draw.choose(("scatter", "gather"), "side")
    source, target = ("i", nested) if side == "scatter" else (nested, "i")
    lines.append(f"dst[{target}] = {stored(draw, f'src[{source}]', type_)};")

    def long(shape: tuple[int, ...], given: Values) -> int:
        block = 1
        for k in range(rank - 1):
            block *= fixed.get(k) or int(given[f"d{k}"])
        return -(-shape[0] // block) * block

    arrays = [Array("src", type_, length=long, per=2), Array("dst", type_, True, length=long, per=2)]
    text = "\n".join(lines)
    return line_draft(draw, habits, Elements("permute", arrays, text, values), walk(draw, habits, exact=False))


@family("small_matrix_transposes", group="transposes")
def small_matrix_transposes(draw: Draw) -> Draft:
    """Each work-item turns a small matrix over: in registers, vectors or a private array; in place or not."""
    habits = hand(draw)
    type_ = draw.weighted({"float": 5.0, "double": 1.0, "int": 1.0, "short": 0.7, "uchar": 0.5}, "type")
    rows = draw.choose((2, 3, 4, 4, 5, 6, 8), "rows")
    columns = rows if draw.chance(0.6, "square") else draw.choose((2, 3, 4, 5, 8))
    size = rows * columns
    is_vector = columns in (2, 4, 8) and rows in (2, 4, 8)
    ways = ("array", "direct", "vectors" if is_vector else "array", "swaps" if rows == columns else "direct")
    way = draw.choose(ways, "way")
    layout = draw.choose(("together", "apart"), "layout")

    def place(name: str, k: str) -> str:
        return f"{name}[i * {size} + {k}]" if layout == "together" else f"{name}[i + ({k}) * n]"

    lines, target = [], "dst"
    match way:
        case "array":
            lines.append(f"{type_} m[{size}];")
            lines.append(f"for (int k = 0; k < {size}; k++) m[k] = {place('src', 'k')};")
            inner = f"{place('dst', f'c * {rows} + r')} = {stored(draw, f'm[r * {columns} + c]', type_)};"
            loops = [f"for (int r = 0; r < {rows}; r++)", f"for (int c = 0; c < {columns}; c++)"]
            lines.append("\n".join([*draw.shuffled(loops), f"    {inner}"]))
        case "direct":
            cells = [(r, c) for r in range(rows) for c in range(columns)]
            cells = draw.shuffled(cells) if draw.chance(0.3) else cells
            lines += [f"{place('dst', str(c * rows + r))} = {place('src', str(r * columns + c))};" for r, c in cells]
        case "vectors":
            layout = "together"
            taken, given = f"{type_}{columns}", f"{type_}{rows}"
            lines += [f"{taken} r{k} = vload{columns}(i * {rows} + {k}, src);" for k in range(rows)]
            for c in range(columns):
                listed = ", ".join(f"r{r}.s{c:x}" for r in range(rows))
                lines.append(f"vstore{rows}(({given})({listed}), i * {columns} + {c}, dst);")
        case _:
            target = "src"
            for r in range(rows):
                for c in range(r + 1, columns):
                    a, b = place("src", str(r * columns + c)), place("src", str(c * columns + r))
                    lines.append(f"{{\n{type_} t = {a};\n{a} = {b};\n{b} = t;\n}}")
    arrays = [Array("src", type_, target == "src", per=size), Array("dst", type_, True, per=size)]
    arrays = arrays[:1] if target == "src" else arrays
    text = "\n".join(lines)
    way_ = walk(draw, habits, exact=layout != "apart")
    return line_draft(draw, habits, Elements("turn_blocks", arrays, text, (), lambda _: 5.0 * size), way_)


@family("blocked_layouts", group="transposes")
def blocked_layouts(draw: Draw) -> Draft:
    """Row by row to blocks and back: tiles of a plane, channels in packets, Morton order within a tile."""
    habits = hand(draw)
    type_ = draw.weighted(TYPES, "type")
    wide, high = draw.choose((2, 4, 8, 16, 32), "block_width"), draw.choose((1, 2, 4, 8, 16), "block_height")
    inner = draw.choose(("rows", "columns", "morton", "shifts"), "inner")
    lines = [f"const int bx = x / {wide}, by = y / {high};", f"const int ix = x % {wide}, iy = y % {high};"]
    if inner == "shifts":
        a, b = wide.bit_length() - 1, high.bit_length() - 1
        lines = [f"const int bx = x >> {a}, by = y >> {b};", f"const int ix = x & {wide - 1}, iy = y & {high - 1};"]
    lines.append(f"const int across = (width + {wide - 1}) / {wide};")
    match inner:
        case "columns":
            local = f"ix * {high} + iy"
        case "morton":
            size = min(wide, high)
            bits = size.bit_length() - 1
            parts = [f"((ix >> {b} & 1) << {2 * b}) | ((iy >> {b} & 1) << {2 * b + 1})" for b in range(bits)]
            rest = f"(ix / {size} + iy / {size} * {wide // size}) * {size * size}"
            local = " + ".join([rest, *([f"({' | '.join(parts)})"] if parts else [])])
        case _:
            local = f"iy * {wide} + ix"
    lines.append(f"const int blocked = (by * across + bx) * {wide * high} + {local};")
    way = draw.choose(("to_blocks", "from_blocks"), "way")
    source, target = ("y * width + x", "blocked") if way == "to_blocks" else ("blocked", "y * width + x")
    lines.append(f"dst[{target}] = {stored(draw, f'src[{source}]', type_)};")

    def long(shape: tuple[int, ...], given: Values) -> int:
        return -(-shape[0] // wide) * -(-shape[1] // high) * wide * high

    blocked = {"src": way == "from_blocks", "dst": way == "to_blocks"}
    arrays = [
        Array(name, type_, name == "dst", 2 if blocked[name] else 1, long if blocked[name] else None)
        for name in ("src", "dst")
    ]
    return plane_draft(draw, habits, Elements(way, arrays, "\n".join(lines)))
