"""Steps of sparse solvers, sparse vectors, and ways from one sparse format to another."""

from __future__ import annotations

from profiler.corpus.draw import Draw
from profiler.corpus.families.sparse import pattern_fills
from profiler.corpus.family import Draft, Sized, Wish, family
from profiler.corpus.writing.hand import finish_value, hand, literal, loop
from profiler.corpus.writing.sizes import about, draft, rows_for, sized, within_memory
from profiler.corpus.writing.walk import walk


@family("sparse_solver_step", "sparse")
def sparse_solver_step(draw: Draw) -> Draft:
    """Jacobi and relaxation sweeps, residuals, and one level of a triangular solution."""
    habits, kind = hand(draw), draw.weighted({"float": 3.0, "double": 1.0}, "type")
    way = walk(draw, habits)
    what = draw.choose(("jacobi", "relaxed", "residual", "level", "level_packed", "chebyshev"), "what")
    half = literal(0.5, kind)
    skip = draw.choose(("test", "ternary", "subtract"), "diagonal")
    walking = {
        "test": loop(
            draw, "k", "rows[r]", "rows[r + 1]", "const int c = cols[k];\nif (c != (int)r)\n    sum += vals[k] * x[c];"
        ),
        "ternary": loop(draw, "k", "rows[r]", "rows[r + 1]", "sum += cols[k] == (int)r ? 0 : vals[k] * x[cols[k]];"),
        "subtract": loop(draw, "k", "rows[r]", "rows[r + 1]", "sum += vals[k] * x[cols[k]];")
        + "sum -= diag[r] * x[r];\n",
    }[skip]
    store = {
        "jacobi": "y[r] = (b[r] - sum) / diag[r];",
        "relaxed": f"y[r] = mix(x[r], (b[r] - sum) / diag[r], {half});",
        "residual": "y[r] = b[r] - sum;",
        "level": "y[r] = (b[r] - sum) / diag[r];",
        "level_packed": "y[i] = (b[i] - sum) * diag[i];",
        "chebyshev": f"const {kind} fresh = {half} * (b[r] - sum);\ny[r] = {half} * y[r] + fresh;",
    }[what]
    row = "order[first + i]" if what == "level" else "order[i]" if what == "level_packed" else "i"
    body = way.write(
        f"const {'int' if 'level' in what else habits.index} r = {row};\n"
        f"{kind} sum = {literal(0, kind)};\n{walking}{store}"
    )
    names = [
        habits.takes("int", "rows"),
        habits.takes("int", "cols"),
        habits.takes(kind, "vals"),
        habits.takes(kind, "diag"),
    ]
    names += [habits.takes(kind, "b"), habits.takes(kind, "x"), habits.gives(kind, "y"), habits.takes("int", "order")]
    names += [habits.number("first", "int"), habits.number("n")]

    def launch(d: Draw, w: Wish) -> Sized:
        nonzeros = within_memory(w.data, 24)
        size = way.size(w, 56, rows_for(d, w, nonzeros))
        first = d.integer(0, 1000) if d.chance(0.5) else 0
        rows = size.count + (first if what == "level" else 0)
        buffers = {"rows": rows + 1, "cols": nonzeros, "vals": nonzeros, "order": rows} | dict.fromkeys(
            ("diag", "b", "x", "y"), rows
        )
        fills = {**pattern_fills(d, nonzeros, rows), "order": ("perm",)}
        work = size.done * (12 + 6 * nonzeros / rows)
        return sized(size.global_size, size.local_size, work, buffers, {"n": size.count, "first": first}, fills)

    return draft(habits, "sweep", names, body, launch)


@family("sparse_vectors", "sparse")
def sparse_vectors(draw: Draw) -> Draft:
    """Two sorted lists of places a row: products, unions or the size of what they share, by merging or by searching."""
    habits, kind = hand(draw), draw.weighted({"float": 3.0, "double": 0.7, "int": 1.0}, "type")
    way = walk(draw, habits, exact=False)
    form = draw.choose(("merge", "merge_branches", "search", "quadratic"), "form")
    what = draw.choose(("dot", "count", "max"), "what")
    hit = {"dot": "sum += va[p] * vb[q];", "count": "sum += 1;", "max": "sum = max(sum, va[p] * vb[q]);"}[what]
    length = draw.choose(("length", "length", "16", "32"), "length")
    head = (
        f"const int p0 = i * {length}, q0 = pair[i] * {length};\n"
        f"const int pe = p0 + {length}, qe = q0 + {length};\n{kind} sum = 0;\n"
    )
    if form == "merge":
        inner = f"""int p = p0, q = q0;
while (p < pe && q < qe) {{
    const int a = ia[p], b = ib[q];
    if (a == b) {{
        {hit}
    }}
    p += a <= b;
    q += b <= a;
}}
"""
    elif form == "merge_branches":
        inner = f"""int p = p0;
int q = q0;
while (p < pe && q < qe) {{
    if (ia[p] < ib[q])
        p++;
    else if (ib[q] < ia[p])
        q++;
    else {{
        {hit}
        p++;
        q++;
    }}
}}
"""
    elif form == "search":
        inner = f"""for (int p = p0; p < pe; p++) {{
    int low = q0, high = qe;
    while (low < high) {{
        const int middle = (low + high) >> 1;
        if (ib[middle] < ia[p])
            low = middle + 1;
        else
            high = middle;
    }}
    const int q = min(low, qe - 1);
    if (ib[q] == ia[p])
        {hit}
}}
"""
    else:
        inner = (
            "for (int p = p0; p < pe; p++)\n    for (int q = q0; q < qe; q++)\n"
            f"        if (ia[p] == ib[q]) {{\n            {hit}\n        }}\n"
        )
    body = way.write(f"{head}{inner}y[i] = {finish_value(draw, 'sum', kind)};")
    names = [habits.takes("int", "ia"), habits.takes("int", "ib"), habits.takes(kind, "va"), habits.takes(kind, "vb")]
    names += [habits.takes("int", "pair"), habits.gives(kind, "y"), habits.number("length", "int"), habits.number("n")]

    def launch(d: Draw, w: Wish) -> Sized:
        entries = within_memory(w.data, 26)
        long = int(length) if length.isdigit() else min(entries, d.log_integer(1, 256))
        size = way.size(w, 12, max(1, entries // long))
        entries = size.count * long
        others = max(1, min(size.count, d.log_integer(1, size.count)))
        span = max(2, int(entries * d.log_real(0.5, 8)))
        buffers = {
            "ia": entries,
            "ib": others * long,
            "va": entries,
            "vb": others * long,
            "pair": size.count,
            "y": size.count,
        }
        # Every list is part of one ascending sequence, so lists that lie at the same share of it have places in common.
        sorts = ("sorted", 0, span) if d.chance(0.7) else ("clustered", 0, span, 3)
        fills = {"ia": sorts, "ib": sorts, "pair": ("sorted", 0, others) if d.chance(0.6) else ("randint", 0, others)}
        cost = {"search": 6 * long.bit_length(), "quadratic": 3 * long}.get(form, 12)
        return sized(
            size.global_size,
            size.local_size,
            size.done * (4 + long * cost),
            buffers,
            {"length": long, "n": size.count},
            fills,
        )

    return draft(habits, "sparse_pairs", names, body, launch)


@family("sparse_conversion", "sparse")
def sparse_conversion(draw: Draw) -> Draft:
    """From row pointers to row numbers, to dense rows, to counts of columns; looking up single entries."""
    habits, kind = hand(draw), draw.weighted({"float": 3.0, "double": 0.7, "int": 1.0}, "type")
    way = walk(draw, habits)
    what = draw.choose(
        ("expand", "dense", "count_columns", "bandwidth", "lookup", "sort_check", "row_of_entry"), "what"
    )
    inner = {
        "expand": loop(draw, "k", "rows[i]", "rows[i + 1]", "ri[k] = i;", habits.index),
        "dense": loop(draw, "j", "0", "width", "dense[(size_t)i * width + j] = 0;")
        + loop(draw, "k", "rows[i]", "rows[i + 1]", "dense[(size_t)i * width + cols[k] % width] = vals[k];"),
        "count_columns": loop(draw, "k", "rows[i]", "rows[i + 1]", "atomic_inc(&counts[cols[k]]);"),
        "bandwidth": "int widest = 0;\n"
        + loop(draw, "k", "rows[i]", "rows[i + 1]", "widest = max(widest, abs_diff_of((int)i, cols[k]));")
        + "ri[i] = widest;",
        "lookup": f"{kind} found = 0;\n"
        + ("for (int k = rows[i]; k < rows[i + 1]; k++)\n    if (cols[k] == wanted[i]) {\n"
"        found = vals[k];\n        break;\n    }\n")
        + "out[i] = found;",
        "sort_check": "int wrong = 0;\n"
        + loop(draw, "k", "rows[i] + 1", "rows[i + 1]", "wrong += cols[k] < cols[k - 1];")
        + "ri[i] = wrong;",
        "row_of_entry": ("int low = 0, high = row_count;\nwhile (high - low > 1) {\n"
"    const int middle = (low + high) / 2;\n")
        + "    if (rows[middle] <= (int)i)\n        low = middle;\n    else\n        high = middle;\n}\nri[i] = low;",
    }[what]  # fmt: skip
    wide = draw.choose((8, 64, 512))
    before = "int abs_diff_of(int a, int b)\n{\n    return a > b ? a - b : b - a;\n}" if what == "bandwidth" else ""
    body = way.write(inner)
    names = [
        habits.takes("int", "rows"),
        habits.takes("int", "cols"),
        habits.takes(kind, "vals"),
        habits.takes("int", "wanted"),
    ]
    names += [
        habits.gives(kind, "dense"),
        habits.gives(kind, "out"),
        habits.gives("int", "ri"),
        habits.gives("int", "counts"),
    ]
    names += [habits.number("width", "int"), habits.number("row_count", "int"), habits.number("n")]

    def launch(d: Draw, w: Wish) -> Sized:
        entries = within_memory(w.data, 24)
        width = d.log_integer(1, wide) if what == "dense" else 1
        each = {"row_of_entry": 8.0, "dense": 16.0 + 8 * width}.get(what, 24.0)
        size = way.size(w, each, entries if what == "row_of_entry" else rows_for(d, w, entries))
        rows = rows_for(d, w, size.count) if what == "row_of_entry" else size.count
        columns = about(d, rows)
        buffers = {
            "rows": rows + 1,
            "cols": entries,
            "vals": entries,
            "wanted": rows,
            "dense": rows * width,
            "out": rows,
        }
        buffers |= {"ri": max(entries, rows) if what in ("expand", "row_of_entry") else rows, "counts": columns}
        buffers["ri"] = max(buffers["ri"], size.count)
        fills = {**pattern_fills(d, entries, columns), "wanted": ("randint", 0, columns)}
        cost = 6 * rows.bit_length() if what == "row_of_entry" else 3 + width * 2 + 4 * entries / rows
        scalars = {"width": width, "row_count": rows, "n": size.count}
        return sized(size.global_size, size.local_size, size.done * cost, buffers, scalars, fills)

    return draft(habits, "convert_rows", names, body, launch, before=before)
