"""Matrix products: one item a cell, vectors of cells, blocks of cells in registers, and many small products."""

from __future__ import annotations

from profiler.corpus.draw import Draw
from profiler.corpus.family import Draft, Sized, Wish, family
from profiler.corpus.writing.habits import Hand, lay_out, literal
from profiler.corpus.writing.ndrange import BUDGET_BYTES, affordable, line, matrix, plane, sized, slack
from profiler.corpus.writing.types import bytes_of

KINDS = {"float": 6.0, "double": 1.5, "int": 1.0, "uint": 0.5}


def _depth(draw: Draw, rows: int, columns: int, bytes_each: int, data: int = 0) -> int:
    """Of the product, such that both operands stay affordable.

    Where the result's size is that of the launch, the operands are to have so many elements of data.
    """
    most = affordable(2048, (rows + columns) * bytes_each, BUDGET_BYTES // 2)
    return max(1, min(most, data // (rows + columns))) if data else draw.log_integer(1, most)


@family("matmul_naive", group="dense")
def matmul_naive(draw: Draw) -> Draft:
    hand = Hand(draw)
    kind = draw.weighted(KINDS, "type")
    a_at = draw.choose(("{i} * depth + {k}", "{k} * rows + {i}"), "layout of a")
    b_at = draw.choose(("{k} * columns + {j}", "{j} * depth + {k}"), "layout of b")
    ending = draw.weighted({"store": 3, "scaled": 1, "blend": 2, "bias": 1, "finished": 2}, "ending")
    uses_pointers = draw.chance(0.2, "pointers")

    mapped = hand.mapping(kind, 0.1)

    def cell(j: str, i: str) -> str:
        def step(k: str) -> str:
            at_a, at_b = a_at.format(i=i, k=k), b_at.format(j=j, k=k)
            return hand.add_product("sum", mapped(f"a[{at_a}]"), f"b[{at_b}]", kind)

        if uses_pointers:
            along_a, along_b = ("1" if "i} *" in a_at else "rows"), ("1" if "j} *" in b_at else "columns")
            space = f"__global {'const ' * hand.is_const}{kind}*"
            first_a, first_b = a_at.format(i=i, k="0"), b_at.format(j=j, k="0")
            moved = f"p += {along_a};\nq += {along_b};"
            loop = hand.loop("k", "0", "depth", lambda _: f"{hand.add_product('sum', '*p', '*q', kind)}\n{moved}")
            loop = f"{space} p = a + {first_a};\n{space} q = b + {first_b};\n{loop}"
        else:
            loop = hand.loop("k", "0", "depth", step)
        at = f"c[{i} * columns + {j}]"
        store = {
            "store": f"{at} = sum;",
            "scaled": f"{at} = alpha * sum;",
            "blend": f"{at} = alpha * sum + beta * {at};",
            "bias": f"{at} = sum + bias[{j}];",
            "finished": f"{at} = {hand.finished('sum', kind)};",
        }[ending]
        return f"{kind} sum = {literal(kind, 0)};\n{loop}\n{store}"

    cover = hand.cover_plane(("j", "columns"), ("i", "rows"), cell)
    buffers = [hand.reads(kind, "a"), hand.reads(kind, "b"), hand.writes(kind, "c")]
    buffers += [hand.reads(kind, "bias")] * (ending == "bias")
    factors = [f"const {kind} alpha"] * (ending in ("scaled", "blend")) + [f"const {kind} beta"] * (ending == "blend")
    head = hand.signature("matmul", [*buffers, *factors, *hand.counts("rows", "columns", "depth")])
    width = bytes_of(kind)

    def launch(draw: Draw, wish: Wish) -> Sized:
        size = (plane if cover.dimensions == 2 else line)(wish, 2 * width)
        rows, columns = matrix(draw, wish.data, 2 * width)
        if cover.is_exact:
            columns, rows = cover.fit(size, columns, rows)
        depth = _depth(draw, rows, columns, width, wish.data if cover.is_exact else 0)
        scalars: dict[str, int | float] = {"rows": rows, "columns": columns, "depth": depth}
        if factors:
            scalars["alpha"] = 1
        if ending == "blend":
            scalars["beta"] = 0 if kind in ("int", "uint") else 0.5
        lengths = {"a": rows * depth, "b": slack(draw, depth * columns), "c": rows * columns}
        lengths |= {"bias": columns} if ending == "bias" else {}
        return sized(size, cover.done(size, (columns, rows)) * (4 * depth + 6) + size.items, lengths, scalars)

    return Draft(lay_out(f"{head}\n{{\n{cover.text}\n}}"), "matmul", launch)


@family("matmul_vectorised", group="dense")
def matmul_vectorised(draw: Draw) -> Draft:
    """Generate a product where an item makes `width` cells of a row at once, or as many of several rows."""
    hand = Hand(draw)
    scalar = draw.weighted({"float": 5, "double": 1, "int": 1}, "type")
    width = draw.choose((2, 4, 8, 16), "vector width")
    high = draw.choose((1, 1, 2, 4), "rows an item")
    vector = f"{scalar}{width}"
    loads = draw.choose(("pointer", "vload"), "loads")
    is_guarded = draw.chance(0.8, "guard")
    a_vector = draw.chance(0.4, "vector of a")
    b_at = f"vload{width}((k{{k}}) * packs + x, b)" if loads == "vload" else "b[(k{k}) * packs + x]"
    step = width if a_vector else 1

    def inner(k: str) -> str:
        lines = []
        if a_vector:
            for r in range(high):
                source = f"vload{width}(0, a + (y * {high} + {r}) * depth + {k})"
                lines.append(f"{vector} a{r} = {source};")
            for s in range(width):
                lines.append(f"{vector} b{s:x} = {b_at.format(k=f' + {s}')};".replace("k +", f"{k} +"))
                lines += [hand.add_product(f"sum{r}", f"a{r}.s{s:x}", f"b{s:x}", "int") for r in range(high)]
        else:
            lines.append(f"{vector} bk = {b_at.format(k='')};".replace("(k)", f"({k})"))
            splat = f"({vector})(a[(y * {high} + {{r}}) * depth + {k}])"
            lines += [hand.add_product(f"sum{r}", splat.format(r=r), "bk", scalar) for r in range(high)]
        return "\n".join(lines)

    zeros = "\n".join(f"{vector} sum{r} = {literal(vector, 0)};" for r in range(high))
    row = f"(y * {high} + {{r}})"
    put = f"vstore{width}(sum{{r}}, {row} * packs + x, c);" if loads == "vload" else f"c[{row} * packs + x] = sum{{r}};"
    puts = "\n".join(put.format(r=r) for r in range(high))
    loop = hand.loop("k", "0", "depth", inner, str(step))
    body = f"{zeros}\n{loop}\n{puts}"
    body = hand.guard({"x": "packs", "y": "bands"}, body) if is_guarded else body
    held = scalar if loads == "vload" else vector
    buffers = [hand.reads(scalar, "a"), hand.reads(held, "b"), hand.writes(held, "c")]
    head = hand.signature("matmul_wide", [*buffers, *hand.counts("bands", "packs", "depth")])
    source = f"{head}\n{{\n{hand.item('x', 0)}\n{hand.item('y', 1)}\n{body}\n}}"
    each = bytes_of(scalar)

    def launch(draw: Draw, wish: Wish) -> Sized:
        size = plane(wish, 2 * each * width * high)
        rows, columns = matrix(draw, wish.data, 2 * each)
        packs, bands = max(1, columns // width), max(1, rows // high)
        if not is_guarded:
            packs, bands = size.global_size
        depth = _depth(draw, bands * high, packs * width, each, 0 if is_guarded else wish.data)
        depth = max(1, depth // step) * step
        done = min(packs, size.global_size[0]) * min(bands, size.global_size[1])
        wide = 1 if loads == "pointer" else width
        lengths = {"a": bands * high * depth, "b": depth * packs * wide, "c": bands * high * packs * wide}
        scalars = {"bands": bands, "packs": packs, "depth": depth}
        return sized(size, done * depth * (2 * width * high + width + high) + size.items * 4, lengths, scalars)

    return Draft(lay_out(source), "matmul_wide", launch)


@family("matmul_register_block", group="dense")
def matmul_register_block(draw: Draw) -> Draft:
    """Generate a product where an item keeps a block of cells in a private array."""
    hand = Hand(draw)
    kind = draw.weighted(KINDS, "type")
    high, wide = draw.choose((1, 2, 4, 6, 8), "block rows"), draw.choose((2, 3, 4, 8), "block columns")
    apart = draw.choose(("next to each other", "a grid apart"), "cells of an item")
    is_clamped = draw.chance(0.3, "clamped")  # whole blocks otherwise
    a_turned, b_turned = draw.chance(0.3, "a turned"), draw.chance(0.3, "b turned")
    row = f"y * {high} + {{r}}" if apart[0] == "n" else "y + {r} * get_global_size(1)"
    column = f"x * {wide} + {{s}}" if apart[0] == "n" else "x + {s} * get_global_size(0)"
    if is_clamped:
        row, column = f"min((uint)({row}), (uint)(rows - 1))", f"min((uint)({column}), (uint)(columns - 1))"
    keeps = draw.chance(0.6, "operands kept")

    def a_of(r: str, k: str) -> str:
        at = row.format(r=r)
        return f"a[({k}) * rows + {at}]" if a_turned else f"a[({at}) * depth + {k}]"

    def b_of(s: str, k: str) -> str:
        at = column.format(s=s)
        return f"b[({at}) * depth + {k}]" if b_turned else f"b[({k}) * columns + {at}]"

    def inner(k: str) -> str:
        def line_of(r: str) -> str:
            right = "right[{s}]" if keeps else b_of("{s}", k)
            add = hand.add_product(f"block[{r}][{{s}}]", "left" if keeps else a_of(r, k), right, kind)
            cells = hand.repeat(wide, lambda s: add.replace("{s}", s), "s")
            return f"{kind} left = {a_of(r, k)};\n{cells}" if keeps else cells

        taken = f"{kind} right[{wide}];\n{hand.repeat(wide, lambda s: f'right[{s}] = {b_of(s, k)};', 's')}\n"
        return (taken if keeps else "") + hand.repeat(high, lambda r: f"{{\n{line_of(r)}\n}}", "r")

    def cells(text: str) -> str:
        return f"for (int r = 0; r < {high}; ++r)\nfor (int s = 0; s < {wide}; ++s)\n{text}"

    zero = cells(f"block[r][s] = {literal(kind, 0)};")
    kept = hand.finished("block[r][s]", kind)
    store = cells(f"c[({row.format(r='r')}) * columns + {column.format(s='s')}] = {kept};")
    loop = hand.loop("k", "0", "depth", inner)
    buffers = [hand.reads(kind, "a"), hand.reads(kind, "b"), hand.writes(kind, "c")]
    head = hand.signature("matmul_block", [*buffers, *hand.counts("rows", "columns", "depth")])
    body = f"{kind} block[{high}][{wide}];\n{zero}\n{loop}\n{store}"
    source = f"{head}\n{{\n{hand.item('x', 0)}\n{hand.item('y', 1)}\n{body}\n}}"
    each = bytes_of(kind)

    def launch(draw: Draw, wish: Wish) -> Sized:
        size = plane(wish, 2 * each * wide * high)
        columns, rows = size.global_size[0] * wide, size.global_size[1] * high
        if is_clamped:
            rows, columns = matrix(draw, wish.data, 2 * each)
        depth = _depth(draw, rows, columns, each, 0 if is_clamped else wish.data)
        lengths = {"a": rows * depth, "b": depth * columns, "c": rows * columns}
        scalars = {"rows": rows, "columns": columns, "depth": depth}
        return sized(size, size.items * depth * (2 * wide * high + wide + high), lengths, scalars)

    return Draft(lay_out(source), "matmul_block", launch)


@family("matmul_batched", group="dense")
def matmul_batched(draw: Draw) -> Draft:
    """Many small square products: one an item, or one an item's row or cell."""
    hand = Hand(draw)
    kind = draw.weighted({"float": 5, "double": 2, "int": 1}, "type")
    order = draw.choose((2, 3, 4, 5, 6, 8, 12, 16), "order")
    share = draw.weighted({"matrix": 2 if order <= 8 else 0.3, "row": 1, "cell": 1}, "share")
    is_soa = draw.chance(0.35, "structure of arrays")
    is_macro = draw.chance(0.5, "macro")
    copies = draw.chance(0.5, "private copies")
    side = "ORDER" if is_macro else str(order)
    turned = draw.chance(0.3, "turned")

    def at(name: str, r: str, s: str) -> str:
        cell = f"({r}) * {side} + {s}"
        return f"{name}[({cell}) * batch + m]" if is_soa else f"{name}[m * {side} * {side} + {cell}]"

    def cell(r: str, s: str) -> str:
        def step(k: str) -> str:
            left = f"left[({r}) * {side} + {k}]" if copies and share == "matrix" else at("a", r, k)
            right = at("b", s, k) if turned else at("b", k, s)
            return hand.add_product("sum", left, right, kind)

        loop = f"for (int k = 0; k < {side}; ++k) {{\n{step('k')}\n}}"
        total = f"{kind} sum = {literal(kind, 0)};\n{loop}\n"
        return f"{total}{at('c', r, s)} = {hand.finished('sum', kind)};"

    element = "a[e * batch + m]" if is_soa else f"a[m * {side} * {side} + e]"
    copy = f"{kind} left[{side} * {side}];\nfor (int e = 0; e < {side} * {side}; ++e) {{\nleft[e] = {element};\n}}\n"
    copy = copy if copies and share == "matrix" else ""
    columns = f"for (int s = 0; s < {side}; ++s) {{\n{cell('r', 's')}\n}}"
    if share == "matrix":
        cover = hand.cover("m", "batch", lambda _: f"{copy}for (int r = 0; r < {side}; ++r) {{\n{columns}\n}}")
    elif share == "row":
        split = "{i} m = {t} / {n};\n{i} r = {t} % {n};\n"
        cover = hand.cover("t", f"batch * {side}", lambda t: split.format(i=hand.index, t=t, n=side) + columns, False)
    else:
        split = "{i} m = {t} / ({n} * {n});\n{i} r = {t} / {n} % {n};\n{i} s = {t} % {n};\n"
        text = cell("r", "s")
        cover = hand.cover(
            "t", f"batch * {side} * {side}", lambda t: split.format(i=hand.index, t=t, n=side) + text, False
        )
    buffers = [hand.reads(kind, "a"), hand.reads(kind, "b"), hand.writes(kind, "c")]
    head = hand.signature("matmul_batch", [*buffers, *hand.counts("batch")])
    define = f"#define ORDER {order}\n" if is_macro else ""
    shares = {"matrix": 1, "row": order, "cell": order * order}[share]

    def launch(draw: Draw, wish: Wish) -> Sized:
        square = order * order
        size = line(wish, 3 * square * bytes_of(kind) if cover.is_exact else 1)
        batch = max(1, affordable(wish.data, 3 * bytes_of(kind)) // square)
        (batch,) = cover.fit(size, batch)
        done = cover.done(size, (batch * shares,)) / shares
        lengths = dict.fromkeys(("a", "b", "c"), batch * square)
        return sized(size, done * square * (3 * order + 4) + size.items, lengths, {"batch": batch})

    return Draft(lay_out(f"{define}{head}\n{{\n{cover.text}\n}}"), "matmul_batch", launch)
