"""Planes and matrices are laid out anew: transposed, rotated, one or many at a time."""

from __future__ import annotations

from math import isqrt

from profiler.corpus.draw import Draw
from profiler.corpus.expressions import expression
from profiler.corpus.family import Draft, Sized, Wish, family
from profiler.corpus.writing.arrays import Array, Elements, Value, Values, plane_draft, type_bytes
from profiler.corpus.writing.hand import hand
from profiler.corpus.writing.plane import shape
from profiler.corpus.writing.sizes import draft, sized, within_memory

TYPES = {"float": 5.0, "double": 1.5, "int": 1.5, "uchar": 1.0, "short": 0.7, "float2": 0.8, "float4": 0.8, "uint": 0.7}


def stored(draw: Draw, value: str, type: str) -> str:
    """Generate the value as it is, or scaled, converted, combined on the way."""
    return value if draw.chance(0.55) else expression(draw, [value], type, draw.integer(1, 2))


@family("matrix_transpose", group="transposes")
def matrix_transpose(draw: Draw) -> Draft:
    """Element by element, with rows as long as the matrix is wide or with padding; added to, or scaled."""
    habits = hand(draw)
    type_ = draw.weighted(TYPES, "type")
    pitch = draw.weighted({"none": 4.0, "literal": 1.0, "argument": 1.5}, "padding")
    pad = draw.choose((1, 4, 16, 32))
    values, wide, high = [], "width", "height"
    if pitch == "literal":
        wide, high = f"(width + {pad})", f"(height + {pad})"
    elif pitch == "argument":
        values = [Value("pad", "int", lambda d: d.choose((0, 1, 3, 8, 32)))]
        wide, high = "(width + pad)", "(height + pad)"
    side = draw.choose(("read_rows", "write_rows"), "side")
    source, target = f"y * {wide} + x", f"x * {high} + y"
    if side == "write_rows":  # the walk is over the result's rows
        source, target = f"x * {high} + y", f"y * {wide} + x"
    if draw.chance(0.3, "named_places"):
        lines = [f"const {habits.index} from = {source};", f"const {habits.index} to = {target};"]
        source, target = "from", "to"
    else:
        lines = []
    also = draw.weighted({"nothing": 4.0, "add": 1.0, "blend": 1.0, "second": 0.7}, "also")
    value = stored(draw, f"src[{source}]", type_)

    def long(shape: tuple[int, ...], given: Values) -> int:
        extra = pad if pitch == "literal" else int(given.get("pad", 0))
        return (shape[0] + extra) * (shape[1] + extra)

    arrays = [Array("src", type_, length=long, per=2), Array("dst", type_, True, length=long, per=2)]
    match also:
        case "add":
            value = f"{value} + add[{target}]"
            arrays.append(Array("add", type_, length=long, per=2))
        case "blend":
            value = expression(draw, [f"src[{source}]", f"add[{target}]"], type_, 2)
            arrays.append(Array("add", type_, length=long, per=2))
        case "second":
            lines.append(f"dst2[{target}] = {expression(draw, [f'src[{source}]'], type_, 1)};")
            arrays.append(Array("dst2", type_, True, length=long, per=2))
    lines.append(f"dst[{target}] = {value};")
    text = "\n".join(lines)
    arrays = [a for a in arrays if f"{a.name}[" in text]
    return plane_draft(draw, habits, Elements("transpose", arrays, text, values))


@family("tiled_transpose", group="transposes")
def tiled_transpose(draw: Draw) -> Draft:
    """Through a tile in local memory, padded against bank conflicts or not, several rows an item or one."""
    habits = hand(draw)
    type_ = draw.weighted({"float": 5.0, "double": 1.0, "int": 1.5, "uchar": 0.7, "float2": 0.7, "short": 0.5}, "type")
    tile = draw.choose((4, 8, 16, 16, 32), "tile")
    rows = draw.choose([r for r in (1, 2, 4, 8) if r <= tile // 2 and tile * tile // r <= 1024], "rows_an_item")
    pad = draw.weighted({1: 3.0, 0: 2.0, 2: 0.5}, "padding")
    shown = draw.weighted({"literal": 2.0, "macro": 3.0}, "spelled")
    size = "TILE" if shown == "macro" else str(tile)
    before = f"#define TILE {tile}\n" if shown == "macro" else ""
    wide = f"{size} + {pad}" if pad else size
    flat = draw.chance(0.25, "flat_tile")
    high = tile // rows

    def cell(down: str, across: str) -> str:
        return f"near[({down}) * ({wide}) + {across}]" if flat else f"near[{down}][{across}]"

    where = draw.choose(("inside", "argument"), "tile_memory") if flat else "inside"
    lines = []
    if where == "inside":
        lines.append(f"{habits.near} {type_} near{f'[{size} * ({wide})]' if flat else f'[{size}][{wide}]'};")
    lines.append("const int lx = get_local_id(0), ly = get_local_id(1);")
    gx, gy = "get_group_id(0)", "get_group_id(1)"
    diagonal = draw.chance(0.15, "diagonal")
    if diagonal:
        lines.append("const int gy = get_group_id(1);")
        lines.append("const int gx = (get_group_id(0) + get_group_id(1)) % get_num_groups(0);")
        gx, gy = "gx", "gy"
    lines.append(f"{habits.index} x = {gx} * {size} + lx;\n{habits.index} y = {gy} * {size} + ly;")
    step = f" + {high} * k" if rows > 1 else ""
    guard = draw.choose(("nested", "joined"), "guard")
    test = f"x < {{w}} && y{step} < {{h}}" if guard == "joined" else f"x < {{w}}) if (y{step} < {{h}}"

    def looped(inner: str) -> str:
        if rows == 1:
            return inner
        pragma = draw.choose(("", "#pragma unroll\n"))
        return f"{pragma}for (int k = 0; k < {rows}; k++) {{\n    {inner}\n}}"

    load = f"if ({test.format(w='width', h='height')}) {cell(f'ly{step}', 'lx')} = src[(y{step}) * width + x];"
    lines.append(looped(load))
    fence = draw.choose(("CLK_LOCAL_MEM_FENCE", "CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE"))
    lines.append(f"barrier({fence});")
    lines.append(f"x = {gy} * {size} + lx;\ny = {gx} * {size} + ly;")
    value = stored(draw, cell("lx", f"ly{step}"), type_)
    lines.append(looped(f"if ({test.format(w='height', h='width')}) dst[(y{step}) * height + x] = {value};"))
    body = "\n".join(lines)
    near = "" if where == "inside" else habits.shares(type_, "near")
    parameters = [habits.takes(type_, "src"), habits.gives(type_, "dst"), *([near] if near else [])]
    parameters += [habits.number("width"), habits.number("height")]
    attribute = f"__attribute__((reqd_work_group_size({tile}, {high}, 1)))" if draw.chance(0.3) else ""

    def launch(draw: Draw, wish: Wish) -> Sized:
        groups = max(1, wish.items // (tile * high))
        across = max(1, int(isqrt(groups) * Draw("tiles", wish.items).log_real(0.3, 3)))
        down = max(1, groups // across)
        width, height = shape(draw, within_memory(wish.data, 2 * type_bytes(type_)))
        done = min(width, across * tile) * min(height, down * tile)
        cells = {"near": tile * (tile + pad) * type_bytes(type_)} if near else {}
        buffers = {"src": width * height, "dst": width * height}
        total = across * down * tile * high
        return sized(
            (across * tile, down * high), (tile, high), 8.0 * done + 4 * total, buffers,
            {"width": width, "height": height}, local_bytes=cells,
        )  # fmt: skip

    return draft(habits, "transpose_tiles", parameters, body, launch, before=before, attribute=attribute)


@family("rotated_planes", group="transposes")
def rotated_planes(draw: Draw) -> Draft:
    """Planes are rotated by right angles, mirrored, shifted around, cropped; one channel or several."""
    habits = hand(draw)
    type_ = draw.weighted({**TYPES, "uchar": 2.0, "uchar4": 1.0}, "type")
    channels = draw.weighted({1: 4.0, 3: 1.5, 2: 0.5, 4: 1.0}, "channels")
    turns = {
        "right": "x * height + (height - 1 - y)",
        "left": "(width - 1 - x) * height + y",
        "half": "(height - 1 - y) * width + (width - 1 - x)",
        "across": "y * width + (width - 1 - x)",
        "down": "(height - 1 - y) * width + x",
        "anti": "(width - 1 - x) * height + (height - 1 - y)",
        "shift": "((y + dy) % height) * width + (x + dx) % width",
        "double": "2 * y * (2 * width) + 2 * x",
        "halve": "(y / 2) * width + x / 2",
        "swap_quarters": "((y + height / 2) % height) * width + (x + width / 2) % width",
        "interlace": "((y & 1) * ((height + 1) / 2) + y / 2) * width + x",
    }
    turn = draw.choose(tuple(turns), "turn")
    values = [Value(n, "int", lambda d: d.integer(0, 99)) for n in ("dx", "dy")] if turn == "shift" else []
    t = habits.index if turn not in ("right", "left", "half", "across", "down", "anti") else "int"
    lines = [f"const {t} there = {turns[turn]};", f"const {t} here = y * width + x;"]
    side = "write" if turn == "double" else "read" if turn == "halve" else draw.choose(("read", "write"), "side")
    source, target = ("there", "here") if side == "read" else ("here", "there")
    if channels == 1:
        lines.append(f"dst[{target}] = {stored(draw, f'src[{source}]', type_)};")
    elif draw.chance(0.4, "channel_loop"):
        inner = f"dst[{target} * {channels} + c] = src[{source} * {channels} + c];"
        lines.append(f"for (int c = 0; c < {channels}; c++) {{\n    {inner}\n}}")
    else:
        picks = draw.shuffled(range(channels)) if draw.chance(0.3) else list(range(channels))
        lines += [f"dst[{target} * {channels} + {c}] = src[{source} * {channels} + {p}];" for c, p in enumerate(picks)]
    if turn == "double":
        extra = ("there + 1", "there + 2 * width", "there + 2 * width + 1")
        if channels == 1:
            lines += [f"dst[{e}] = src[here];" for e in extra[: draw.integer(1, 3)]]
    more = 4 if turn == "double" else 1
    arrays = [Array("src", type_, per=channels), Array("dst", type_, True, per=channels * more)]
    return plane_draft(draw, habits, Elements(f"rotate_{turn}", arrays, "\n".join(lines), values))


@family("batched_transpose", group="transposes")
def batched_transpose(draw: Draw) -> Draft:
    """Many matrices of one shape, the matrix by a loop, by the third dimension or by division."""
    habits = hand(draw)
    type_ = draw.weighted(TYPES, "type")
    by = draw.choose(("loop", "third", "division", "first"), "batch")
    scale = draw.chance(0.4, "scaled")
    value = "src[b * rows * columns + r * columns + c]"
    if scale or draw.chance(0.3):
        value = expression(draw, [value, *(["factor[b]"] if scale else [])], type_, 2)
    store = f"dst[b * rows * columns + c * rows + r] = {value};"
    t = habits.index
    match by:
        case "loop":
            body = f"const {t} c = get_global_id(0), r = get_global_id(1);\nif (c >= columns || r >= rows) return;\n"
            body += f"for ({t} b = 0; b < batch; b++) {{\n    {store}\n}}"
        case "third":
            body = f"const {t} c = get_global_id(0), r = get_global_id(1), b = get_global_id(2);\n"
            body += f"if (c < columns && r < rows && b < batch) {{\n    {store}\n}}"
        case "first":
            body = f"const {t} b = get_global_id(0);\nif (b >= batch) return;\nfor ({t} r = 0; r < rows; r++)\n"
            body += f"    for ({t} c = 0; c < columns; c++) {{\n        {store}\n    }}"
        case _:
            body = f"for ({t} k = get_global_id(0); k < batch * rows * columns; k += get_global_size(0)) {{\n"
            body += f"    {t} b = k / (rows * columns), q = k % (rows * columns);\n"
            body += f"    {t} r = q / columns, c = q % columns;\n"
            body += f"    {store}\n}}"
    each = type_bytes(type_)

    def launch(draw: Draw, wish: Wish) -> Sized:
        count = within_memory(wish.data, 2.2 * each)
        small = draw.log_integer(1, max(1, min(count, 5000)))
        columns, rows = shape(draw, small)
        batch = max(1, count // (rows * columns))
        local = wish.local
        items = wish.items if local is None else max(1, round(wish.items / local)) * local
        aspect = Draw("batches", wish.items, wish.local or 0)
        if by in ("division", "first"):
            sizes: tuple[int, ...] = (items,)
            groups: tuple[int, ...] | None = None if local is None else (local,)
            done = count if by == "division" else min(batch, items) * rows * columns
        else:
            wide = aspect.log_integer(1, max(1, items // (local or 1))) * (local or 1)
            down = max(1, items // wide)
            deep = max(1, min(64, aspect.log_integer(1, 64), down)) if by == "third" else 1
            sizes = (wide, max(1, down // deep)) + ((deep,) if by == "third" else ())
            groups = None if local is None else (local, 1) + ((1,) if by == "third" else ())
            done = min(columns, sizes[0]) * min(rows, sizes[1]) * (min(batch, deep) if by == "third" else batch)
        total = 1
        for part in sizes:
            total *= part
        length = batch * rows * columns
        buffers = {"src": length, "dst": length, "factor": batch}
        return sized(sizes, groups, 8.0 * done + total, buffers, {"rows": rows, "columns": columns, "batch": batch})

    parameters = [habits.takes(type_, "src"), habits.takes(type_, "factor"), habits.gives(type_, "dst")]
    parameters += [habits.number(n) for n in ("rows", "columns", "batch")]
    return draft(habits, "transpose_batch", parameters, body, launch)
