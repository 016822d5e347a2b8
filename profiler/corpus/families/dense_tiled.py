"""Matrix products that share tiles through local memory."""

from __future__ import annotations

from profiler.corpus.draw import Draw
from profiler.corpus.family import Draft, Sized, Wish, family
from profiler.corpus.writing.habits import Hand, lay_out, literal
from profiler.corpus.writing.ndrange import affordable, matrix, plane, sized
from profiler.corpus.writing.types import bytes_of

KINDS = {"float": 6.0, "double": 1.5, "int": 1.0}
FENCE = "barrier(CLK_LOCAL_MEM_FENCE);"


@family("matmul_tiled", group="dense")
def matmul_tiled(draw: Draw) -> Draft:
    """Generate a square group, a square tile of each operand; edges are padded with zeros or forbidden."""
    hand = Hand(draw)
    kind = draw.weighted(KINDS, "type")
    tile = draw.choose((4, 8, 8, 16, 16, 32), "tile")
    if kind == "double":
        tile = min(tile, 16)
    is_padded = draw.chance(0.3, "bank padding")
    is_guarded = draw.chance(0.5, "guard")
    a_turned, b_turned = draw.chance(0.25, "a turned"), draw.chance(0.25, "b turned")
    flat = draw.chance(0.3, "flat tiles")
    swapped = draw.chance(0.2, "rows along x")
    fixed = draw.chance(0.5, "fixed local size")
    pitch = f"TILE + {1}" if is_padded else "TILE"
    zero = literal(kind, 0)
    i, j = ("get_global_id(0)", "get_global_id(1)") if swapped else ("get_global_id(1)", "get_global_id(0)")
    li, lj = ("get_local_id(0)", "get_local_id(1)") if swapped else ("get_local_id(1)", "get_local_id(0)")

    def place(name: str, r: str, s: str) -> str:
        return f"{name}[({r}) * ({pitch}) + {s}]" if flat else f"{name}[{r}][{s}]"

    extent = f"[TILE * ({pitch})]" if flat else f"[TILE][{pitch}]"
    a_cell = "a[(t * TILE + lj) * rows + i]" if a_turned else "a[i * depth + t * TILE + lj]"
    b_cell = "b[j * depth + t * TILE + li]" if b_turned else "b[(t * TILE + li) * columns + j]"
    if is_guarded:
        a_cell = f"(i < rows && t * TILE + lj < depth) ? {a_cell} : {zero}"
        b_cell = f"(j < columns && t * TILE + li < depth) ? {b_cell} : {zero}"
    add = hand.add_product("sum", place("left", "li", "{k}"), place("right", "{k}", "lj"), kind)
    unrolls = draw.weighted({"loop": 3, "pragma": 2, "copies": 1 if tile <= 8 else 0}, "inner loop")
    if unrolls == "copies":
        inner = "\n".join(add.replace("{k}", str(k)) for k in range(tile))
    else:
        hint = "#pragma unroll\n" if unrolls == "pragma" else ""
        inner = f"{hint}for (int k = 0; k < TILE; ++k) {{\n{add.replace('{k}', 'k')}\n}}"
    tiles = "(depth + TILE - 1) / TILE" if is_guarded else "depth / TILE"
    fill = f"{place('left', 'li', 'lj')} = {a_cell};\n{place('right', 'li', 'lj')} = {b_cell};"
    step = f"{fill}\n{FENCE}\n{inner}\n{FENCE}"
    loop = hand.loop("t", "0", tiles, lambda _: step, form="for")
    store = f"c[i * columns + j] = {hand.finished('sum', kind)};"
    store = f"if (i < rows && j < columns) {{\n{store}\n}}" if is_guarded else store
    buffers = [hand.reads(kind, "a"), hand.reads(kind, "b"), hand.writes(kind, "c")]
    head = hand.signature(
        "matmul_tiled", [*buffers, *hand.counts("rows", "columns", "depth")], (tile, tile) if fixed else None
    )
    source = f"""
#define TILE {tile}
{head}
{{
    __local {kind} left{extent};
    __local {kind} right{extent};
    const {hand.index} i = {i};
    const {hand.index} j = {j};
    const {hand.index} li = {li};
    const {hand.index} lj = {lj};
    {kind} sum = {zero};
    {loop}
    {store}
}}"""
    each = bytes_of(kind)

    def launch(draw: Draw, wish: Wish) -> Sized:
        size = plane(wish, 2 * each, local=(tile, tile))
        rows, columns = matrix(draw, wish.data, 2 * each)
        if not is_guarded:
            columns, rows = size.global_size[:: -1 if swapped else 1]
        depth = draw.log_integer(1, affordable(2048, (rows + columns) * each, 90_000_000))
        if not is_guarded:
            if tile * (rows + columns) * each > 90_000_000:
                size = plane(Wish(1 << 20, wish.data, None), local=(tile, tile))
                columns, rows = size.global_size[:: -1 if swapped else 1]
            depth = (
                max(1, min(wish.data // (rows + columns), 90_000_000 // ((rows + columns) * each), 2048) // tile) * tile
            )
        lengths = {"a": rows * depth, "b": depth * columns, "c": rows * columns}
        scalars = {"rows": rows, "columns": columns, "depth": depth}
        steps = -(-depth // tile)
        return sized(size, size.items * (steps * (tile * 4 + 12) + 8), lengths, scalars)

    return Draft(lay_out(source), "matmul_tiled", launch)


@family("matmul_tiled_block", group="dense")
def matmul_tiled_block(draw: Draw) -> Draft:
    """Tiles in local memory, and several cells of the result an item."""
    hand = Hand(draw)
    kind = draw.weighted({"float": 5, "int": 1, "double": 1}, "type")
    tile = draw.choose((8, 16, 16, 32), "tile")
    each = draw.choose([n for n in (2, 4, 8) if n <= tile], "cells an item")
    rows_here = tile // each
    deep = draw.choose([d for d in (4, 8, 16, 32) if d <= tile], "tile depth")
    along = draw.choose(("columns", "rows"), "cells along")
    is_apart = draw.chance(0.5, "apart")
    zero = literal(kind, 0)
    wide, high = (rows_here, tile) if along == "columns" else (tile, rows_here)
    moving, staying = ("lx", "ly") if along == "columns" else ("ly", "lx")
    slot = f"{moving} + {{w}} * {rows_here}" if is_apart else f"{moving} * {each} + {{w}}"
    row, column = (staying, slot) if along == "columns" else (slot, staying)
    number = wide * high
    holds = draw.chance(0.5, "operand held")
    held = f"left[{staying}][k]" if along == "columns" else f"right[k][{staying}]"
    other = f"right[k][{slot}]" if along == "columns" else f"left[{slot}][k]"
    hold = f"const {kind} held = {held};\n" if holds else ""
    add_cell = hand.add_product("sum[{w}]", "held" if holds else held, other, kind)
    add = hand.repeat(each, lambda w: add_cell.format(w=w), "w")
    to = f"c[(by * {tile} + {row}) * columns + bx * {tile} + {column}]"
    keep = hand.repeat(each, lambda w: f"{to.format(w=w)} = sum[{w}];", "w")
    buffers = [hand.reads(kind, "a"), hand.reads(kind, "b"), hand.writes(kind, "c")]
    head = hand.signature("matmul_tiles", [*buffers, *hand.counts("columns", "depth")], (wide, high))
    source = f"""
{head}
{{
    __local {kind} left[{tile}][{deep}{" + 1" * draw.chance(0.3)}];
    __local {kind} right[{deep}][{tile}];
    const int lx = get_local_id(0), ly = get_local_id(1);
    const int bx = get_group_id(0), by = get_group_id(1);
    const int me = ly * {wide} + lx;
    {kind} sum[{each}];
    for (int w = 0; w < {each}; ++w)
    sum[w] = {zero};
    for (int t = 0; t < depth; t += {deep}) {{
        for (int e = me; e < {tile * deep}; e += {number})
        left[e / {deep}][e % {deep}] = a[(by * {tile} + e / {deep}) * depth + t + e % {deep}];
        for (int e = me; e < {tile * deep}; e += {number})
        right[e / {tile}][e % {tile}] = b[(t + e / {tile}) * columns + bx * {tile} + e % {tile}];
        {FENCE}
        for (int k = 0; k < {deep}; ++k) {{
            {hold}{add}
        }}
        {FENCE}
    }}
    {keep}
}}"""
    size_bytes = bytes_of(kind)

    def launch(draw: Draw, wish: Wish) -> Sized:
        size = plane(Wish(min(wish.items, (1 << 22) // each), wish.data, wish.local), local=(wide, high))
        columns, rows = size.global_size[0] // wide * tile, size.global_size[1] // high * tile
        # The data are the operands here: the result's size follows from the number of groups.
        most = affordable(4096, (rows + columns) * size_bytes, 100_000_000)
        depth = max(deep, min(wish.data // (rows + columns), most))
        depth = max(1, depth // deep) * deep
        lengths = {"a": rows * depth, "b": depth * columns, "c": rows * columns}
        return sized(size, size.items * depth * (3 * each + 3), lengths, {"columns": columns, "depth": depth})

    return Draft(lay_out(source), "matmul_tiles", launch)


@family("gram_tiled", group="dense")
def gram_tiled(draw: Draw) -> Draft:
    """Products or distances between all pairs of rows, through one tile of each side."""
    hand = Hand(draw)
    kind = draw.weighted({"float": 5, "double": 1, "int": 1}, "type")
    tile = draw.choose((4, 8, 16), "tile")
    measure = draw.choose(("product", "square", "absolute", "largest", "half"), "measure")
    only_lower = draw.chance(0.3, "lower half only")
    difference = "left[li][k] - right[lj][k]"
    magnitude = f"fabs({difference})" if kind != "int" else f"(int)abs({difference})"
    steps = {
        "product": hand.add_product("sum", "left[li][k]", "right[lj][k]", kind),
        "square": f"{kind} d = {difference};\n{hand.add_product('sum', 'd', 'd', kind)}",
        "absolute": f"sum += {magnitude};",
        "largest": f"sum = max(sum, {magnitude});",
        "half": f"sum += {literal(kind, 2)} * left[li][k] * right[lj][k] - left[li][k] * left[li][k];",
    }
    zero = literal(kind, 0)
    is_pitched = draw.chance(0.4, "bank padding")
    column_major = draw.chance(0.3, "column major")
    at = "x[(k0 + lj) * points + {p}]" if column_major else "x[{p} * features + k0 + lj]"
    first, second = at.format(p="i"), at.format(p="(j - lj + li)")
    store = f"out[i * points + j] = {hand.finished('sum', kind)};"
    mirrored = only_lower and draw.chance(0.5, "mirrored")
    store += "\nout[j * points + i] = sum;" if mirrored else ""
    limits = "i < points && j < points" + " && j <= i" * only_lower
    pitch = f"{tile}{' + 1' * is_pitched}"
    source = f"""
{hand.signature("gram", [hand.reads(kind, "x"), hand.writes(kind, "out"), *hand.counts("points", "features")])}
{{
    __local {kind} left[{tile}][{pitch}], right[{tile}][{pitch}];
    const int lj = get_local_id(0), li = get_local_id(1);
    const int j = get_global_id(0), i = get_global_id(1);
    {kind} sum = {zero};
    for (int k0 = 0; k0 < features; k0 += {tile}) {{
        left[li][lj] = i < points && k0 + lj < features ? {first} : {zero};
        right[li][lj] = j - lj + li < points && k0 + lj < features ? {second} : {zero};
        {FENCE}
        {"#pragma unroll" * draw.chance(0.4)}
        for (int k = 0; k < {tile}; ++k) {{
            {steps[measure]}
        }}
        {FENCE}
    }}
    if ({limits}) {{
        {store}
    }}
}}"""
    each = bytes_of(kind)

    def launch(draw: Draw, wish: Wish) -> Sized:
        size = plane(wish, 1, local=(tile, tile))
        features = draw.log_integer(1, 512)
        points = max(1, min(wish.data // features, 4096))
        lengths = {"x": points * features, "out": points * points}
        scalars = {"points": points, "features": features}
        operations = size.items * (-(-features // tile) * (tile * 4 + 12) + 8)
        return sized(size, operations * (each / 4), lengths, scalars)

    return Draft(lay_out(source), "gram", launch)
