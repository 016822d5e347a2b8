"""Sparse matrices of which each work-item takes whole rows: CSR, ELL, JDS, DIA and what is done with them."""

from __future__ import annotations

from profiler.corpus.draw import Draw
from profiler.corpus.family import Draft, Sized, Wish, family
from profiler.corpus.writing.hand import Hand, finish_value, hand, literal, loop
from profiler.corpus.writing.sizes import Fills, about, draft, rows_for, sized, within_memory
from profiler.corpus.writing.walk import Walk, walk

VALUE_TYPES = {"float": 6.0, "double": 1.5, "int": 1.0, "float2": 0.5, "float4": 0.7, "long": 0.3}


def value_type(draw: Draw) -> str:
    return draw.weighted(VALUE_TYPES, "type")


def is_real(kind: str) -> bool:
    return kind.startswith(("float", "double"))


def pattern_fills(draw: Draw, nonzeros: int, columns: int) -> Fills:
    """Row pointers with lengths from even to very skewed; columns anywhere or close together."""
    rows = ("csr_rows", nonzeros, round(draw.real(0, 2), 2)) if draw.chance(0.6) else ("csr_rows", nonzeros)
    if draw.chance(0.4):
        run = max(1, draw.log_integer(1, max(1, columns // 2)))
        return {"rows": rows, "cols": ("clustered", 0, columns, run)}
    return {"rows": rows, "cols": ("randint", 0, columns)}


def csr_size(draw: Draw, wish: Wish, way: Walk, bytes_a_row: int = 48, per_nonzero: float = 4.0) -> Sized:
    """Generate a CSR matrix with `data` entries; the number of rows is its own, but for kernels without a guard."""
    nonzeros = within_memory(wish.data, 24)
    size = way.size(wish, bytes_a_row, rows_for(draw, wish, nonzeros))
    columns = about(draw, size.count)
    return sized(
        size.global_size,
        size.local_size,
        size.done * (4 + per_nonzero * nonzeros / size.count),
        {"rows": size.count + 1, "cols": nonzeros, "vals": nonzeros, "x": columns, "y": size.count, "diag": size.count,
         "scale": size.count, "counts": size.count},
        {"n": size.count, "columns": columns, "alpha": 0.5, "beta": 0.25, "limit": round(draw.real(0.6, 1.4), 2)},
        pattern_fills(draw, nonzeros, columns),
    )  # fmt: skip


def row_sum(draw: Draw, habits: Hand, kind: str, term: str, begin: str = "rows[i]", end: str = "rows[i + 1]") -> str:
    """Code that adds `term`, which names the entry `k`, over a row into `sum`."""
    zero = literal(0, kind) if not kind[-1].isdigit() else f"({kind})(0)"
    form = draw.choose(("for", "for", "while", "unrolled", "pairs", "pointer_end", "backwards"), "row_loop")
    index = habits.index
    match form:
        case "while":
            return (
                f"{kind} sum = {zero};\n{index} k = {begin};\nwhile (k < {end}) {{\n    sum += {term};\n    k++;\n}}\n"
            )
        case "unrolled":
            step = draw.choose((2, 4, 8))
            parts = "\n".join(f"    sum += {term.replace('[k]', f'[k + {j}]')};" for j in range(step))
            return (
                f"{kind} sum = {zero};\n{index} k = {begin};\nconst {index} stop = {end};\n"
                f"for (; k + {step} <= stop; k += {step}) {{\n{parts}\n}}\nfor (; k < stop; k++)\n    sum += {term};\n"
            )
        case "pairs":
            return (
                f"{kind} even = {zero}, odd = {zero};\n{index} k = {begin};\nconst {index} stop = {end};\n"
                f"for (; k + 1 < stop; k += 2) {{\n    even += {term};\n"
                f"    odd += {term.replace('[k]', '[k + 1]')};\n}}\n"
                f"if (k < stop)\n    even += {term};\n{kind} sum = even + odd;\n"
            )
        case "backwards":
            return f"{kind} sum = {zero};\nfor (int k = {end}; k-- > (int){begin};)\n    sum += {term};\n"
        case "pointer_end":
            return f"const {index} first = {begin}, last = {end};\n{kind} sum = {zero};\n" + loop(
                draw, "k", "first", "last", f"sum += {term};", index
            )
        case _:
            return f"{kind} sum = {zero};\n" + loop(draw, "k", begin, end, f"sum += {term};", index)


def stored(draw: Draw, kind: str) -> str:
    """Generate the statement that stores `sum` for row i; repeated runs stay bounded."""
    value = finish_value(draw, "sum", kind)
    if not is_real(kind) or draw.chance(0.6):
        return f"y[i] = {value};"
    form = draw.choose(
        ("{b} * y[i] + {a} * {v}", "{a} * (y[i] + {v})", "{v} * scale[i]", "{v} + diag[i] * x[i % columns]")
    )
    scalar = kind.rstrip("248")
    given = kind == "float" and draw.chance(0.5)
    a, b = ("alpha", "beta") if given else (literal(0.5, scalar), literal(0.25, scalar))
    return f"y[i] = {form.format(a=a, b=b, v=value)};"


def parameters(habits: Hand, kind: str, column: str = "int") -> list[str]:
    return [
        habits.takes("int", "rows"), habits.takes(column, "cols"), habits.takes(kind, "vals"), habits.takes(kind, "x"),
        habits.gives(kind, "y"), habits.takes(kind, "diag"), habits.takes(kind, "scale"), habits.gives("int", "counts"),
        habits.number("n"), habits.number("columns"), habits.number("width"), habits.number("limit", "float"),
        habits.number("alpha", "float"), habits.number("beta", "float"),
    ]  # fmt: skip


@family("csr_matrix_vector", "sparse")
def csr_matrix_vector(draw: Draw) -> Draft:
    habits, kind = hand(draw), value_type(draw)
    way = walk(draw, habits)
    column = draw.weighted({"int": 4.0, "uint": 1.0, "long": 0.4}, "column_type")
    plain = not kind[-1].isdigit()
    terms = ["vals[k] * x[cols[k]]"] * 4
    terms += (
        ["fabs(vals[k]) * x[cols[k]]", "(vals[k] - x[cols[k]]) * vals[k]"]
        if is_real(kind)
        else ["max(vals[k], x[cols[k]])"]
    )
    terms += ["(cols[k] == i ? 0 : vals[k] * x[cols[k]])", "(cols[k] < i ? vals[k] * x[cols[k]] : 0)"] if plain else []
    term = draw.choose(terms, "term")
    helper = ""
    if plain and "==" not in term and "<" not in term and draw.chance(0.15, "helper"):
        of_both = term.replace("vals[k]", "a").replace("x[cols[k]]", "b")
        helper = f"{kind} entry({kind} a, {kind} b)\n{{\n    return {of_both};\n}}"
        term = "entry(vals[k], x[cols[k]])"
    body = way.write(
        row_sum(draw, habits, kind, term.replace("== i", "== (int)i").replace("< i", "< (int)i")) + stored(draw, kind)
    )
    return draft(
        habits, "spmv", parameters(habits, kind, column), body, lambda d, w: csr_size(d, w, way), before=helper
    )


@family("csr_row_statistics", "sparse")
def csr_row_statistics(draw: Draw) -> Draft:
    """Generate sums, largest entries, counts and norms of rows, without a vector."""
    habits, kind = hand(draw), draw.weighted({"float": 3.0, "double": 1.0}, "type")
    way = walk(draw, habits)
    what = draw.choose(("sum", "max", "norm", "count", "minmax", "mean", "variance", "longest_run", "diagonal"), "what")
    each = {
        "sum": "total += vals[k];",
        "max": "total = fmax(total, fabs(vals[k]));",
        "norm": "total += vals[k] * vals[k];",
        "count": "total += vals[k] > limit ? 1 : 0;",
        "minmax": "low = fmin(low, vals[k]);\nhigh = fmax(high, vals[k]);",
        "mean": "total += vals[k];",
        "variance": "total += vals[k];\nsquares += vals[k] * vals[k];",
        "longest_run": "run = k > first && cols[k] == cols[k - 1] + 1 ? run + 1 : 1;\nlongest = max(longest, run);",
        "diagonal": "if (cols[k] == (int)i)\n    total = vals[k];",
    }[what]
    last = {
        "norm": "y[i] = sqrt(total);",
        "count": "counts[i] = (int)total;",
        "minmax": "y[i] = high - low;",
        "mean": "y[i] = total / max(last - first, 1);",
        "variance": "const int size = max(last - first, 1);\ny[i] = squares / size - (total / size) * (total / size);",
        "longest_run": "counts[i] = longest;",
    }.get(what, f"y[i] = {finish_value(draw, 'total', kind)};")
    variables = {
        "minmax": f"{kind} low = 1000, high = 0;",
        "variance": f"{kind} total = 0, squares = 0;",
        "longest_run": "int run = 0, longest = 0;",
    }.get(what, f"{kind} total = 0;")
    walking = loop(draw, "k", "first", "last", each)
    if what == "diagonal" and draw.chance(0.6, "stops"):
        walking = (
            "for (int k = first; k < last; k++) {\n    if (cols[k] == (int)i) {\n"
            "        total = vals[k];\n        break;\n    }\n}\n"
        )
    body = way.write(f"const int first = rows[i];\nconst int last = rows[i + 1];\n{variables}\n{walking}{last}")
    return draft(habits, "row_statistics", parameters(habits, kind), body, lambda d, w: csr_size(d, w, way, 48, 3))


@family("csr_row_scaling", "sparse")
def csr_row_scaling(draw: Draw) -> Draft:
    """Each entry by a factor of its row, its column or both; normalising rows; clipping small entries."""
    habits, kind = hand(draw), draw.weighted({"float": 3.0, "double": 1.0}, "type")
    way = walk(draw, habits)
    what = draw.choose(("row", "column", "both", "normalise", "softmax", "threshold", "shift"), "what")
    first, last = "rows[i]", "rows[i + 1]"
    into = draw.choose(("out[k]", "out[k]", "vals[k]"), "into") if what in ("threshold",) else "out[k]"
    one = {
        "row": f"{into} = vals[k] * scale[i];",
        "column": f"{into} = vals[k] * x[cols[k]];",
        "both": f"{into} = scale[i] * vals[k] * x[cols[k]];",
        "threshold": f"{into} = fabs(vals[k]) < limit ? 0 : vals[k];",
        "shift": f"{into} = cols[k] == (int)i ? vals[k] + scale[i] : vals[k];",
        "normalise": f"{into} = vals[k] * inverse;",
        "softmax": f"{into} = exp(vals[k] - top) * inverse;",
    }[what]
    before = ""
    if what == "normalise":
        each = draw.choose(("total += vals[k];", "total += vals[k] * vals[k];", "total = fmax(total, vals[k]);"))
        before = f"{kind} total = 0;\n" + loop(draw, "k", first, last, each)
        before += f"const {kind} inverse = 1 / ({draw.choose(('total', 'sqrt(total)'))} + {literal(0.125, kind)});\n"
    if what == "softmax":
        before = f"{kind} top = 0, total = 0;\n" + loop(draw, "k", first, last, "top = fmax(top, vals[k]);")
        before += loop(draw, "k", first, last, "total += exp(vals[k] - top);")
        before += f"const {kind} inverse = 1 / (total + {literal(0.125, kind)});\n"
    body = way.write(before + loop(draw, "k", first, last, one, habits.index))
    inputs = habits.gives(kind, "vals") if into == "vals[k]" else habits.takes(kind, "vals")
    names = [
        habits.takes("int", "rows"),
        habits.takes("int", "cols"),
        inputs,
        habits.gives(kind, "out"),
        habits.takes(kind, "x"),
    ]
    names += [habits.takes(kind, "scale"), habits.number("limit", "float"), habits.number("n")]

    def launch(d: Draw, w: Wish) -> Sized:
        size = csr_size(d, w, way, 32, 30 if what == "softmax" else 4)
        kept = size.launch
        out = ("out", dict(kept.buffers)["vals"])
        return sized(kept.global_size, kept.local_size, size.operations, dict([*kept.buffers, out]), dict(kept.scalars),
                     {name: (fill.kind, *fill.arguments) for name, fill in kept.fills})  # fmt: skip

    return draft(habits, "scale_rows", names, body, launch)
