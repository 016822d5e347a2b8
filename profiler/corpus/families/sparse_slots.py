"""Sparse matrices stored as slots, slices and diagonals: ELL, sliced ELL, JDS, DIA."""

from __future__ import annotations

from profiler.corpus.draw import Draw
from profiler.corpus.families.sparse import is_real, parameters, pattern_fills, stored, value_type
from profiler.corpus.family import Draft, Sized, Wish, family
from profiler.corpus.writing.hand import finish_value, hand, literal, loop
from profiler.corpus.writing.sizes import Fills, about, draft, power_below, rows_for, sized, within_memory
from profiler.corpus.writing.walk import walk


@family("ell_matrix_vector", "sparse")
def ell_matrix_vector(draw: Draw) -> Draft:
    """Generate the same number of slots for each row, some of them empty."""
    habits, kind = hand(draw), value_type(draw)
    way = walk(draw, habits, exact=False)
    by_rows = draw.chance(0.35, "row_major")
    at = "i * width + k" if by_rows else "(size_t)k * n + i"
    empty = draw.choose(("none", "minus_one", "zero_value", "count", "stop"), "empty")
    product = draw.choose(
        ("sum += v * x[c];", "sum = sum + v * x[c];", habits.add_product("sum", "v", "x[c]", is_real(kind)))
    )
    if empty == "minus_one":
        inner = f"const int c = cols[at];\nif (c >= 0) {{\n    const {kind} v = vals[at];\n    {product}\n}}"
    elif empty == "zero_value" and not kind[-1].isdigit():
        inner = f"const {kind} v = vals[at];\nif (v > 0) {{\n    const int c = max(cols[at], 0);\n    {product}\n}}"
    elif empty == "stop":
        inner = f"const int c = cols[at];\nif (c < 0)\n    break;\nconst {kind} v = vals[at];\n{product}"
    else:
        inner = f"const int c = max(cols[at], 0);\nconst {kind} v = vals[at];\n{product}"
    zero = f"({kind})(0)" if kind[-1].isdigit() else "0"
    inner = f"const size_t at = {at};\n{inner}"
    if empty == "stop":
        inner = "\n".join("    " + text for text in inner.split("\n"))
        walking = f"for (int k = 0; k < width; k++) {{\n{inner}\n}}\n"
    else:
        walking = loop(draw, "k", "0", "min(counts[i], (int)width)" if empty == "count" else "width", inner)
    body = way.write(f"{kind} sum = {zero};\n{walking}{stored(draw, kind)}")
    lengths = [habits.takes("int", name.split()[-1]) if "counts" in name else name for name in parameters(habits, kind)]
    names = [name if "counts" not in name else habits.takes("int", "counts") for name in lengths]
    deepest = draw.choose((8, 64, 512))

    def launch(d: Draw, w: Wish) -> Sized:
        slots = within_memory(w.data, 24)
        width = min(slots, d.log_integer(1, deepest))
        size = way.size(w, 40, max(1, min(1 << 21, slots // width)))
        columns = about(d, size.count)
        buffers = {
            "cols": width * size.count,
            "vals": width * size.count,
            "x": columns,
            "y": size.count,
            "counts": size.count,
        }
        least = -max(1, columns // 3) if empty in ("minus_one", "zero_value", "stop") and d.chance(0.8) else 0
        return sized(
            size.global_size, size.local_size, size.done * (3.0 + 5 * width),
            {**buffers, "diag": size.count, "scale": size.count},
            {"n": size.count, "width": width, "columns": columns, "alpha": 0.5, "beta": 0.25},
            {"cols": ("randint", least, columns), "counts": ("randint", 0, width + 1)},
        )  # fmt: skip

    return draft(habits, "spmv_ell", names, body, launch)


@family("sliced_ell_matrix_vector", "sparse")
def sliced_ell_matrix_vector(draw: Draw) -> Draft:
    """Slices of a few rows, each as wide as its longest row."""
    habits, kind = hand(draw), draw.weighted({"float": 3.0, "double": 1.0, "int": 1.0}, "type")
    way = walk(draw, habits, exact=False)
    height = draw.choose((2, 4, 8, 16, 32, 64), "slice")
    named = draw.chance(0.5)
    c = "SLICE" if named else str(height)
    split = draw.choose(("division", "shift"), "split")
    bits = height.bit_length() - 1
    slice_of, lane_of = (f"i / {c}", f"i % {c}") if split == "division" else (f"i >> {bits}", f"i & ({c} - 1)")
    head = f"const int slice = {slice_of};\nconst int lane = {lane_of};\nconst int first = slices[slice];\n"
    form = draw.choose(("width", "running"), "form")
    zero = literal(0, kind)
    if form == "width":
        inner = f"const int at = first + k * {c} + lane;\n" + habits.add_product(
            "sum", "vals[at]", "x[cols[at]]", is_real(kind)
        )
        head += f"const int width = (slices[slice + 1] - first) / {c};\n{kind} sum = {zero};\n"
        walking = loop(draw, "k", "0", "width", inner)
    else:
        inner = habits.add_product("sum", "vals[at]", "x[cols[at]]", is_real(kind))
        head += f"{kind} sum = {zero};\n"
        walking = loop(draw, "at", "first + lane", "slices[slice + 1]", inner, "int", c)
    store = f"y[{'order[i]' if draw.chance(0.4, 'permuted') else 'i'}] = {finish_value(draw, 'sum', kind)};"
    body = way.write(head + walking + store)
    names = [
        habits.takes("int", "slices"),
        habits.takes("int", "cols"),
        habits.takes(kind, "vals"),
        habits.takes(kind, "x"),
    ]
    names += [habits.takes("int", "order"), habits.gives(kind, "y"), habits.number("n")]

    def launch(d: Draw, w: Wish) -> Sized:
        nonzeros = within_memory(w.data, 24)
        size = way.size(w, 24, rows_for(d, w, nonzeros))
        columns, count = about(d, size.count), size.count
        fills = pattern_fills(d, nonzeros, columns)
        buffers = {
            "slices": count // height + 2,
            "cols": nonzeros,
            "vals": nonzeros,
            "x": columns,
            "order": count,
            "y": count,
        }
        fills = {"slices": fills["rows"], "cols": fills["cols"], "order": ("perm",)}
        return sized(
            size.global_size, size.local_size, size.done * (6 + 5 * nonzeros / count), buffers, {"n": count}, fills
        )

    return draft(habits, "spmv_sell", names, body, launch, before=f"#define SLICE {height}" if named else "")


@family("jagged_diagonals", "sparse")
def jagged_diagonals(draw: Draw) -> Draft:
    """Rows sorted by length; the k-th entries of all rows lie together."""
    habits, kind = hand(draw), draw.weighted({"float": 3.0, "double": 1.0, "int": 0.7}, "type")
    way = walk(draw, habits)
    zero, add = literal(0, kind), habits.add_product("sum", "vals[first + i]", "x[cols[first + i]]", is_real(kind))
    form = draw.choose(("break", "test", "while"), "form")
    if form == "break":
        walking = (
            "for (int d = 0; d < diagonals; d++) {\n    const int first = starts[d];\n"
            f"    if ((int)i >= starts[d + 1] - first)\n        break;\n    {add}\n}}\n"
        )
    elif form == "test":
        walking = loop(
            draw,
            "d",
            "0",
            "diagonals",
            f"const int first = starts[d];\nif (first + (int)i < starts[d + 1]) {{\n    {add}\n}}",
        )
    else:
        walking = (
            "int d = 0;\nint first = starts[0];\nwhile (d < diagonals && first + (int)i < starts[d + 1]) {\n"
            f"    {add}\n    d++;\n    first = starts[d];\n}}\n"
        )
    where = draw.choose(("order[i]", "order[i]", "i"), "where")
    body = way.write(f"{kind} sum = {zero};\n{walking}y[{where}] = {finish_value(draw, 'sum', kind)};")
    names = [
        habits.takes("int", "starts"),
        habits.takes("int", "cols"),
        habits.takes(kind, "vals"),
        habits.takes(kind, "x"),
    ]
    names += [
        habits.takes("int", "order"),
        habits.gives(kind, "y"),
        habits.number("diagonals", "int"),
        habits.number("n"),
    ]

    def launch(d: Draw, w: Wish) -> Sized:
        nonzeros = within_memory(w.data, 24)
        size = way.size(w, 24, rows_for(d, w, nonzeros))
        diagonals = min(1024, max(1, int(nonzeros / size.count * d.log_real(0.5, 3))))
        columns = about(d, size.count)
        buffers = {
            "starts": diagonals + 1,
            "cols": nonzeros,
            "vals": nonzeros,
            "x": columns,
            "order": size.count,
            "y": size.count,
        }
        fills: Fills = {**pattern_fills(d, nonzeros, columns), "order": ("perm",), "starts": ("csr_rows", nonzeros)}
        done = size.done * (4 + 6 * min(diagonals, nonzeros / size.count))
        return sized(size.global_size, size.local_size, done, buffers, {"n": size.count, "diagonals": diagonals}, fills)

    return draft(habits, "spmv_jds", names, body, launch)


@family("diagonal_format", "sparse")
def diagonal_format(draw: Draw) -> Draft:
    """Generate a few whole diagonals, each at its distance from the main one."""
    habits, kind = hand(draw), draw.weighted({"float": 3.0, "double": 1.0, "int": 0.7}, "type")
    way = walk(draw, habits, exact=False)
    cached, most = draw.chance(0.3, "constant"), draw.choose((8, 32, 128))
    at = draw.choose(("(size_t)d * n + i", "(size_t)i * diagonals + d"), "layout")
    edge = draw.choose(("test", "unsigned", "clamp", "wrap", "ternary"), "edge")
    column = "const int c = (int)i + offsets[d];\n"
    add = habits.add_product("sum", f"vals[{at}]", "x[c]", is_real(kind))
    inner = {
        "test": f"{column}if (c >= 0 && c < (int)n) {{\n    {add}\n}}",
        "unsigned": f"{column}if ((uint)c < (uint)n) {{\n    {add}\n}}",
        "clamp": f"const int c = clamp((int)i + offsets[d], 0, (int)n - 1);\n{add}",
        "wrap": f"int c = ((int)i + offsets[d]) % (int)n;\nc += c < 0 ? (int)n : 0;\n{add}",
        "ternary": f"{column}sum += c < 0 || c >= (int)n ? {literal(0, kind)} : vals[{at}] * x[c];",
    }[edge]
    body = way.write(
        f"{kind} sum = {literal(0, kind)};\n{loop(draw, 'd', '0', 'diagonals', inner)}"
        f"y[i] = {finish_value(draw, 'sum', kind)};"
    )
    offsets = f"{habits.fixed} int *offsets" if cached else habits.takes("int", "offsets")
    names = [offsets, habits.takes(kind, "vals"), habits.takes(kind, "x"), habits.gives(kind, "y")]
    names += [habits.number("diagonals", "int"), habits.number("n")]

    def launch(d: Draw, w: Wish) -> Sized:
        entries = within_memory(w.data, 12)
        diagonals = min(entries, d.log_integer(1, most))
        size = way.size(w, 24, max(1, entries // diagonals))
        reach = max(1, power_below(size.count) >> d.integer(0, 12))
        buffers = {"offsets": diagonals, "vals": diagonals * size.count, "x": size.count, "y": size.count}
        fills: Fills = {"offsets": ("randint", -reach, reach + 1)}
        scalars = {"diagonals": diagonals, "n": size.count}
        return sized(size.global_size, size.local_size, size.done * (3.0 + 6 * diagonals), buffers, scalars, fills)

    return draft(habits, "spmv_dia", names, body, launch)
