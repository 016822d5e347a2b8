"""Sparse rows that several work-items share, and entries that are added with atomics."""

from __future__ import annotations

from profiler.corpus.draw import Draw
from profiler.corpus.families.sparse import pattern_fills
from profiler.corpus.family import Draft, Sized, Wish, family
from profiler.corpus.writing.hand import Hand, finish_value, hand, literal
from profiler.corpus.writing.sizes import about, draft, fitting_local, groups, rows_for, sized, within_memory
from profiler.corpus.writing.walk import walk

FLOAT_ADD = """
void {name}(volatile {space} float *at, float term)
{{
    union {{ uint bits; float value; }} old, next;
    do {{
        old.value = *at;
        next.value = {next};
    }} while ({swap}((volatile {space} uint *)at, old.bits, next.bits) != old.bits);
}}
"""


def float_add(draw: Draw, habits: Hand, name: str = "add_float") -> str:
    """Generate a float atomic of compare-and-swap.

    It forgets half of what was there, so that repeated runs stay bounded.
    """
    following = draw.choose(("old.value * 0.5f + term", "mad(old.value, 0.5f, term)", "0.5f * (old.value + term)"))
    return FLOAT_ADD.format(
        name=name, space=habits.space, next=following, swap=draw.choose(("atomic_cmpxchg", "atom_cmpxchg"))
    )


def tree(draw: Draw, name: str, lane: str, width: str, barrier: str, operation: str = "+") -> str:
    """Code that reduces `name[base + lane]` over `width` lanes, a power of two."""
    if draw.chance(0.7):
        steps = f"int s = {width} / 2; s > 0; s >>= 1"
        test = f"{lane} < s"
    else:
        steps = f"int s = 1; s < {width}; s <<= 1"
        test = f"({lane} & (2 * s - 1)) == 0"
    add = f"{name}[t] += {name}[t + s];" if operation == "+" else f"{name}[t] = {operation}({name}[t], {name}[t + s]);"
    return f"for ({steps}) {{\n    if ({test})\n        {add}\n    {barrier}\n}}\n"


@family("csr_group_a_row", "sparse")
def csr_group_a_row(draw: Draw) -> Draft:
    """All items of a group walk along one row and reduce their sums in local memory."""
    habits, kind = hand(draw), draw.weighted({"float": 4.0, "double": 1.0, "int": 1.0}, "type")
    fixed = draw.choose((0, 32, 64, 128, 256), "local_array")
    many = draw.chance(0.4, "rows_in_turn")
    barrier = draw.choose(("barrier(CLK_LOCAL_MEM_FENCE);", "barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);"))
    width = str(fixed) if fixed else "(int)get_local_size(0)"
    product = habits.add_product("sum", "vals[k]", "x[cols[k]]", kind != "int")
    what = draw.choose((product, product, product, "sum += vals[k];", "sum = max(sum, vals[k] * x[cols[k]]);"), "term")
    operation = "max" if "max" in what else "+"
    inside = (
        f"{kind} sum = {literal(0, kind)};\n"
        f"for (int k = rows[row] + t; k < rows[row + 1]; k += {width}) {{\n    {what}\n}}\n"
        f"part[t] = sum;\n{barrier}\n" + tree(draw, "part", "t", width, barrier, operation)
    )
    store = draw.choose(
        (
            "if (t == 0)\n    y[row] = {v};\n",
            "if (t == 0) {{\n    y[row] = alpha * {v};\n}}\n",
            "if (!t) y[row] = {v};\n",
        )
    )
    inside += store.format(v=finish_value(draw, "part[0]", kind))
    head = "const int t = get_local_id(0);\n" + (f"{habits.near} {kind} part[{fixed}];\n" if fixed else "")
    if many:
        inside = f"for (int row = get_group_id(0); row < n; row += get_num_groups(0)) {{\n{inside}{barrier}\n}}\n"
    else:
        inside = f"const int row = min((int)get_group_id(0), n - 1);\n{inside}"
    required = fixed and draw.chance(0.4)
    names = [
        habits.takes("int", "rows"),
        habits.takes("int", "cols"),
        habits.takes(kind, "vals"),
        habits.takes(kind, "x"),
    ]
    names += [habits.gives(kind, "y"), habits.number("n", "int"), habits.number("alpha", kind)]
    names += [] if fixed else [habits.shares(kind, "part")]

    def launch(d: Draw, w: Wish) -> Sized:
        local = fixed or fitting_local(w)
        count = groups(w, local)
        nonzeros = within_memory(w.data, 24)
        rows = rows_for(d, w, nonzeros) if many else count if d.chance(0.5) else rows_for(d, w, nonzeros)
        columns = about(d, rows)
        done = (rows if many else count) * (nonzeros / rows * 5 + local * 20)
        buffers = {"rows": rows + 1, "cols": nonzeros, "vals": nonzeros, "x": columns, "y": rows}
        fills = pattern_fills(d, nonzeros, columns)
        local_bytes = {"part": local * (8 if kind == "double" else 4)}
        return sized(
            count * local, local, done, buffers, {"n": rows, "alpha": 0.5 if kind != "int" else 3}, fills, local_bytes
        )

    attribute = f"__attribute__((reqd_work_group_size({fixed}, 1, 1)))" if required else ""
    return draft(habits, "spmv_group", names, head + inside, launch, attribute=attribute)


@family("csr_vector_lanes", "sparse")
def csr_vector_lanes(draw: Draw) -> Draft:
    """Generate a few neighbouring items share a row, so that several rows fit into a group."""
    habits, kind = hand(draw), draw.weighted({"float": 4.0, "double": 1.0, "int": 1.0}, "type")
    lanes = draw.choose((2, 4, 8, 16, 32), "lanes")
    named = draw.chance(0.5)
    v = "LANES" if named else str(lanes)
    barrier = "barrier(CLK_LOCAL_MEM_FENCE);"
    reduce = draw.choose(("tree", "first_adds", "ladder"), "reduce")
    body = (
        f"const int t = get_local_id(0);\nconst int lane = t & ({v} - 1);\n"
        f"const int row = get_global_id(0) / {v};\n{kind} sum = {literal(0, kind)};\n"
        f"if (row < n) {{\n    const int last = rows[row + 1];\n"
        f"    for (int k = rows[row] + lane; k < last; k += {v}) {{\n"
        f"        {habits.add_product('sum', 'vals[k]', 'x[cols[k]]', kind != 'int')}\n"
        f"    }}\n}}\npart[t] = sum;\n{barrier}\n"
    )
    if reduce == "tree":
        body += tree(draw, "part", "lane", v, barrier)
        result = "part[t]"
    elif reduce == "ladder":
        for s in (16, 8, 4, 2, 1):
            body += f"if (lane < {s})\n    part[t] += part[t + {s}];\n{barrier}\n" if s < lanes else ""
        result = "part[t]"
    else:
        body += (
            f"{kind} total = {literal(0, kind)};\nif (lane == 0)\n"
            f"    for (int j = 0; j < {v}; j++)\n        total += part[t + j];\n"
        )
        result = "total"
    body += f"if (lane == 0 && row < n)\n    y[row] = {finish_value(draw, result, kind)};\n"
    names = [
        habits.takes("int", "rows"),
        habits.takes("int", "cols"),
        habits.takes(kind, "vals"),
        habits.takes(kind, "x"),
    ]
    names += [habits.gives(kind, "y"), habits.number("n", "int"), habits.shares(kind, "part")]

    def launch(d: Draw, w: Wish) -> Sized:
        local = fitting_local(w, max(8, lanes))
        items = groups(w, local) * local
        nonzeros = within_memory(w.data, 24)
        rows = max(1, items // lanes) if d.chance(0.3) else rows_for(d, w, nonzeros)
        columns = about(d, rows)
        done = items * 12 + min(rows, items // lanes) * nonzeros / rows * 5
        buffers = {"rows": rows + 1, "cols": nonzeros, "vals": nonzeros, "x": columns, "y": rows}
        local_bytes = {"part": local * (8 if kind == "double" else 4)}
        return sized(items, local, done, buffers, {"n": rows}, pattern_fills(d, nonzeros, columns), local_bytes)

    return draft(habits, "spmv_lanes", names, body, launch, before=f"#define LANES {lanes}" if named else "")


@family("coo_atomics", "sparse")
def coo_atomics(draw: Draw) -> Draft:
    """Each entry is added to its row with an atomic: integers directly, floats by compare-and-swap."""
    habits = hand(draw)
    kind = draw.weighted({"float": 3.0, "int": 2.0, "uint": 1.0}, "type")
    way = walk(draw, habits)
    product = draw.choose(
        ("vals[i] * x[cols[i]]", "vals[i] * x[cols[i]]", "vals[i]", "alpha * vals[i] * x[cols[i]]"), "term"
    )
    before = ""
    if kind == "float":
        before, add = float_add(draw, habits), f"add_float(y + ri[i], {product});"
    else:
        atomic = draw.choose(("atomic_add", "atomic_max", "atomic_xor", "atomic_add", "atomic_sub"), "atomic")
        add = f"{atomic}(&y[ri[i]], {product});"
    guard = draw.choose(("", "", f"if (vals[i] > {literal(1, kind)})\n    ", "if (ri[i] != cols[i])\n    "), "test")
    both = draw.chance(0.25, "symmetric")
    if both:
        other = product.replace("cols[i]", "ri[i]")
        add = f"{add}\n" + (
            f"add_float(y + cols[i], {other});" if kind == "float" else f"atomic_add(&y[cols[i]], {other});"
        )
        add = "{\n    " + add.replace("\n", "\n    ") + "\n}" if guard else add
    body = way.write(guard + add)
    names = [
        habits.takes("int", "ri"),
        habits.takes("int", "cols"),
        habits.takes(kind, "vals"),
        habits.takes(kind, "x"),
    ]
    names += [
        f"{'volatile ' if draw.chance(0.4) else ''}{habits.space} {kind} *y",
        habits.number("n"),
        habits.number("alpha", kind),
    ]

    def launch(d: Draw, w: Wish) -> Sized:
        size = way.size(w, 24)
        rows = rows_for(d, w, size.count)
        columns = rows if both else about(d, rows)
        orders = (
            ("sorted", 0, rows),
            ("randint", 0, rows),
            ("skewed", 0, rows),
            ("clustered", 0, rows, max(1, rows // 16)),
        )
        fills = {"ri": d.choose(orders), "cols": pattern_fills(d, 1, columns)["cols"]}
        buffers = {
            "ri": size.count,
            "cols": size.count,
            "vals": size.count,
            "x": max(rows, columns),
            "y": max(rows, columns),
        }
        scalars = {"n": size.count, "alpha": 0.5 if kind == "float" else 2}
        return sized(size.global_size, size.local_size, size.done * (28.0 if both else 16.0), buffers, scalars, fills)

    return draft(habits, "spmv_coo", names, body, launch, before=before)


@family("coo_segments", "sparse")
def coo_segments(draw: Draw) -> Draft:
    """Each item walks along some entries sorted by row and writes a row's sum when the row ends."""
    habits, kind = hand(draw), draw.weighted({"float": 4.0, "double": 1.0, "int": 1.0}, "type")
    each = draw.choose((4, 16, 64, 0), "entries_an_item")
    count = "each" if not each else str(each)
    product = draw.choose(
        ("vals[k] * x[cols[k]]", "vals[k] * x[cols[k]]", "vals[k]", "max(vals[k], x[cols[k]])"), "term"
    )
    flush = {"direct": "y[row] = sum;", "test": "if (row != first_row)\n            y[row] = sum;"}
    store = flush[draw.choose(("direct", "test"), "flush")]
    ends = draw.choose(("carry", "last", "both"), "ends")
    tail = {
        "carry": "carry_row[t] = row;\ncarry[t] = sum;",
        "last": "y[row] = sum;",
        "both": (
            "carry_row[2 * t] = first_row;\ncarry_row[2 * t + 1] = row;\n"
            "carry[2 * t] = y[first_row];\ncarry[2 * t + 1] = sum;"
        ),
    }[ends]
    body = f"""const int t = get_global_id(0);
const int begin = min(t * (int){count}, (int)n);
const int stop = min(begin + (int){count}, (int)n);
if (begin >= stop)
    return;
const int first_row = ri[begin];
int row = first_row;
{kind} sum = {literal(0, kind)};
for (int k = begin; k < stop; k++) {{
    if (ri[k] != row) {{
        {store}
        row = ri[k];
        sum = {literal(0, kind)};
    }}
    sum += {product};
}}
{tail}
"""
    names = [
        habits.takes("int", "ri"),
        habits.takes("int", "cols"),
        habits.takes(kind, "vals"),
        habits.takes(kind, "x"),
    ]
    names += [habits.gives(kind, "y"), habits.gives("int", "carry_row"), habits.gives(kind, "carry")]
    names += [habits.number("n"), habits.number("each", "int")]

    def launch(d: Draw, w: Wish) -> Sized:
        items = max(1, min(w.items, 1 << 21))
        local = None if w.local is None else min(w.local, 1024)
        items = items if local is None else max(1, round(items / local)) * local
        entries = within_memory(w.data, 24)
        length = each or d.log_integer(1, 512)
        rows = rows_for(d, w, entries)
        columns = about(d, rows)
        buffers = {
            "ri": entries,
            "cols": entries,
            "vals": entries,
            "x": columns,
            "y": rows,
            "carry_row": 2 * items,
            "carry": 2 * items,
        }
        fills = {"ri": ("sorted", 0, rows), "cols": pattern_fills(d, 1, columns)["cols"]}
        done = items * 4 + min(entries, items * length) * 7
        return sized(items, local, done, buffers, {"n": entries, "each": length}, fills)

    return draft(habits, "spmv_segments", names, body, launch)
