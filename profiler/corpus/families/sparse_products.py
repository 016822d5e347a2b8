"""Sparse matrices by dense ones and by blocks."""

from __future__ import annotations

from profiler.corpus.draw import Draw
from profiler.corpus.families.sparse import pattern_fills, row_sum
from profiler.corpus.family import Draft, Sized, Wish, family
from profiler.corpus.writing.hand import finish_value, hand, literal, loop
from profiler.corpus.writing.plane import plane
from profiler.corpus.writing.sizes import about, draft, rows_for, sized, within_memory
from profiler.corpus.writing.walk import walk


@family("sparse_by_dense", "sparse")
def sparse_by_dense(draw: Draw) -> Draft:
    """Y = A X: an item for each element of Y, or a row of Y by columns, or four columns at once."""
    habits = hand(draw)
    kind = draw.weighted({"float": 3.0, "double": 1.0, "float4": 1.5, "int": 0.7}, "type")
    form = draw.choose(("element", "element", "row_outer", "row_private"), "form")
    transposed = draw.chance(0.3, "x_transposed")
    x_at = "j * columns + cols[k]" if transposed else "cols[k] * width + j"
    zero = f"({kind})(0)" if kind[-1].isdigit() else literal(0, kind)
    scalar = kind.rstrip("4")
    wide = draw.choose((4, 8, 16))
    if form == "element":
        way = plane(draw, habits, exact=False)
        body = way.write(
            row_sum(draw, habits, kind, f"vals[k] * x[{x_at}]") + ("y[i * width + j] = "
f"{finish_value(draw, 'sum', kind)};"),
            "j", "i", "width", "n",
        )  # fmt: skip
    elif form == "row_outer":
        line = walk(draw, habits)
        inner = (
            row_sum(draw, habits, kind, f"vals[k] * x[{x_at}]")
            + f"y[(size_t)i * width + j] = {finish_value(draw, 'sum', kind)};"
        )
        body = line.write(loop(draw, "j", "0", "width", inner))
    else:
        line = walk(draw, habits)
        clear = loop(draw, "j", "0", str(wide), f"sums[j] = {zero};")
        add = loop(draw, "j", "0", str(wide), f"sums[j] += a * x[(cols[k] * {wide}) + j];")
        out = loop(draw, "j", "0", str(wide), f"y[(size_t)i * {wide} + j] = {finish_value(draw, 'sums[j]', kind)};")
        walking = loop(draw, "k", "rows[i]", "rows[i + 1]", f"const {scalar} a = vals[k];\n{add}")
        body = line.write(f"{kind} sums[{wide}];\n{clear}{walking}{out}")
    names = [
        habits.takes("int", "rows"),
        habits.takes("int", "cols"),
        habits.takes(scalar, "vals"),
        habits.takes(kind, "x"),
    ]
    names += [
        habits.gives(kind, "y"),
        habits.number("width", "int"),
        habits.number("columns", "int"),
        habits.number("n"),
    ]

    def launch(d: Draw, w: Wish) -> Sized:
        bytes_each = 32 if kind == "float4" else 16 if kind == "double" else 8
        width = wide if form == "row_private" else d.log_integer(1, 128)
        if form == "element":
            size = way.size(d, w, 2 * bytes_each)
            width, rows, done = size.width, size.height, size.done
            global_size, local_size = size.global_size, size.local_size
            nonzeros = within_memory(max(1, int(rows * d.log_real(0.5, 100))), 32)
        else:
            nonzeros = within_memory(max(1, w.data // width), 32)
            length = line.size(
                w, 2 * bytes_each * width, within_memory(rows_for(d, w, nonzeros), 2 * bytes_each * width)
            )
            global_size, local_size = (length.global_size,), None if length.local_size is None else (length.local_size,)
            rows, done = length.count, length.done * width
        columns = within_memory(about(d, rows), 2 * bytes_each * width)
        buffers = {"rows": rows + 1, "cols": nonzeros, "vals": nonzeros, "x": columns * width, "y": rows * width}
        scalars = {"width": width, "columns": columns, "n": rows}
        work = done * (4 + nonzeros / rows * (12 if kind == "float4" else 5))
        return sized(global_size, local_size, work, buffers, scalars, pattern_fills(d, nonzeros, columns))

    return draft(habits, "spmm", names, body, launch)


@family("sampled_dense_product", "sparse")
def sampled_dense_product(draw: Draw) -> Draft:
    """For each stored place the product of a row of A and a row of B (SDDMM)."""
    habits = hand(draw)
    kind = draw.weighted({"float": 3.0, "double": 1.0, "float4": 1.5, "int": 1.0}, "type")
    way = walk(draw, habits)
    whole, scalar = literal(0, kind.rstrip("4")), kind.rstrip("4")
    fixed = draw.choose((0, 0, 4, 8, 16, 64), "depth")
    depth = str(fixed) if fixed else "depth"
    bt = draw.chance(0.3, "b_transposed")
    b_at = "j * columns + c" if bt else f"c * {depth} + j"
    product = f"dot(a[r * {depth} + j], b[{b_at}])" if kind == "float4" else f"a[r * {depth} + j] * b[{b_at}]"
    by_rows = draw.chance(0.3, "by_rows")
    inner = f"{scalar} sum = {whole};\n" + loop(draw, "j", "0", depth, f"sum += {product};")
    place, value = ("k", "vals[k]") if by_rows else ("i", "vals[i]")
    result = draw.choose((f"{value} * {{v}}", "{v}", f"{{v}} - {value}", f"max({value}, {{v}})"), "sampled")
    inner += f"out[{place}] = {result.format(v=finish_value(draw, 'sum', scalar))};"
    if by_rows:
        body = way.write(
            "const int r = i;\n" + loop(draw, "k", "rows[r]", "rows[r + 1]", f"const int c = cols[k];\n{inner}")
        )
    else:
        body = way.write(f"const int r = ri[i];\nconst int c = cols[i];\n{inner}")
    names = [
        habits.takes("int", "rows"),
        habits.takes("int", "ri"),
        habits.takes("int", "cols"),
        habits.takes(scalar, "vals"),
    ]
    names += [habits.takes(kind, "a"), habits.takes(kind, "b"), habits.gives(scalar, "out")]
    names += [habits.number("depth", "int"), habits.number("columns", "int"), habits.number("n")]

    def launch(d: Draw, w: Wish) -> Sized:
        deep = fixed or d.log_integer(1, 256)
        bytes_row = deep * (16 if kind == "float4" else 8)
        if by_rows:
            entries = within_memory(w.data, 32)
            size = way.size(w, 4 + bytes_row * 2, min(rows_for(d, w, entries), within_memory(1 << 24, bytes_row * 3)))
            rows, done = size.count, size.done * entries / size.count
        else:
            size = way.size(w, 24)
            entries, done = size.count, float(size.done)
            rows = min(rows_for(d, w, entries), within_memory(1 << 24, bytes_row * 3))
        columns = min(about(d, rows), within_memory(1 << 24, bytes_row * 3))
        buffers = {"rows": rows + 1, "ri": entries, "cols": entries, "vals": entries, "out": entries}
        buffers |= {"a": rows * deep, "b": columns * deep}
        fills = {**pattern_fills(d, entries, columns), "ri": (d.choose(("sorted", "randint")), 0, rows)}
        work = done * (8 + deep * (12 if kind == "float4" else 5))
        scalars = {"depth": deep, "columns": columns, "n": size.count}
        return sized(size.global_size, size.local_size, work, buffers, scalars, fills)

    return draft(habits, "sddmm", names, body, launch)


@family("block_sparse", "sparse")
def block_sparse(draw: Draw) -> Draft:
    """Small dense blocks at sparse places (BCSR)."""
    habits, kind = hand(draw), draw.weighted({"float": 4.0, "double": 1.0, "int": 0.7}, "type")
    b = draw.choose((2, 3, 4, 6, 8), "block")
    form = draw.choose(("block_row", "row", "vectors") if b in (2, 4, 8) else ("block_row", "row"), "form")
    way = walk(draw, habits)
    by_columns = draw.chance(0.4, "column_major")
    zero = literal(0, kind)
    at = f"k * {b * b} + c * {b} + r" if by_columns else f"(k * {b} + r) * {b} + c"
    finish = finish_value(draw, "sum", kind)
    if form == "row":
        inner = loop(
            draw, "c", "0", str(b), habits.add_product("sum", f"vals[{at}]", f"x[cols[k] * {b} + c]", kind != "int")
        )
        body = way.write(
            f"const int block_row = i / {b};\nconst int r = i % {b};\n{kind} sum = {zero};\n"
            + loop(draw, "k", "rows[block_row]", "rows[block_row + 1]", inner)
            + f"y[i] = {finish};"
        )
    elif form == "block_row":
        add = loop(draw, "c", "0", str(b), f"sums[r] += vals[{at}] * x[cols[k] * {b} + c];")
        out = loop(draw, "r", "0", str(b), f"y[i * {b} + r] = {finish_value(draw, 'sums[r]', kind)};")
        body = way.write(
            f"{kind} sums[{b}] = {{0}};\n"
            + loop(draw, "k", "rows[i]", "rows[i + 1]", loop(draw, "r", "0", str(b), add))
            + out
        )
    else:
        vector = f"{kind}{b}"
        parts = " + ".join(f"vload{b}(k * {b} + {c}, vals) * at.s{c:x}" for c in range(b))
        body = way.write(
            f"{vector} sum = ({vector})(0);\n"
            + loop(draw, "k", "rows[i]", "rows[i + 1]", f"const {vector} at = vload{b}(cols[k], x);\nsum += {parts};")
            + f"vstore{b}(sum, i, y);"
        )
    names = [
        habits.takes("int", "rows"),
        habits.takes("int", "cols"),
        habits.takes(kind, "vals"),
        habits.takes(kind, "x"),
    ]
    names += [habits.gives(kind, "y"), habits.number("n")]

    def launch(d: Draw, w: Wish) -> Sized:
        blocks = within_memory(max(1, w.data // (b * b)), 12 + 10 * b * b)
        rows_wanted = min(rows_for(d, w, blocks), within_memory(1 << 24, 40 * b))
        size = way.size(w, 16 if form == "row" else 40 * b, rows_wanted * (b if form == "row" else 1))
        block_rows = -(-size.count // b) if form == "row" else size.count
        columns = min(about(d, block_rows), within_memory(1 << 24, 40 * b))
        buffers = {
            "rows": block_rows + 1,
            "cols": blocks,
            "vals": blocks * b * b,
            "x": columns * b,
            "y": size.count * b,
        }
        each = b if form == "row" else b * b
        work = size.done * (4 + blocks / block_rows * (3 + 4 * each))
        return sized(
            size.global_size, size.local_size, work, buffers, {"n": size.count}, pattern_fills(d, blocks, columns)
        )

    return draft(habits, "bcsr", names, body, launch)
