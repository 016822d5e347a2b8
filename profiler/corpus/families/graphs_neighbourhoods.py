"""Steps over graphs that look at neighbours' neighbours or choose among neighbours."""

from __future__ import annotations

from profiler.corpus.draw import Draw
from profiler.corpus.families.graphs import graph, graph_size, neighbours, with_vertices
from profiler.corpus.family import Draft, Sized, Wish, family
from profiler.corpus.writing.hand import hand, loop
from profiler.corpus.writing.sizes import Fills, draft
from profiler.corpus.writing.walk import walk


@family("vertex_colours", "graphs")
def vertex_colours(draw: Draw) -> Draft:
    """Greedy colouring, independent sets by priorities, conflicts, and degrees of what is left (k-core)."""
    habits = hand(draw)
    way = walk(draw, habits, exact=draw.chance(0.5))
    form = draw.choose(("smallest", "smallest_table", "priority", "conflict", "core", "matching"), "form")
    if form == "smallest":
        free = draw.choose(("popcount(taken & ~(taken + 1))", "31 - clz(~taken & (taken + 1))"), "free")
        inner = (
            f"uint taken = 0;\n{neighbours(draw, habits, 'taken |= 1u << (colour[u] & 31);')}out[v] = (int)({free});"
        )
    elif form == "smallest_table":
        inner = (
            f"uchar taken[32];\n{loop(draw, 'c', '0', '32', 'taken[c] = 0;')}"
            f"{neighbours(draw, habits, 'taken[colour[u] & 31] = 1;')}int c = 0;\n"
            "while (c < 31 && taken[c])\n    c++;\nout[v] = c;"
        )
    elif form == "priority":
        test = draw.choose(
            ("priority[u] > priority[v]", "priority[u] > priority[v] || (priority[u] == priority[v] && u > (int)v)")
        )
        loses = f"if (colour[u] == 0 && ({test})) {{\n    wins = 0;\n    break;\n}}"
        inner = (
            f"int wins = colour[v] == 0;\nif (wins) {{\n"
            f"{neighbours(draw, habits, loses, stops=True)}}}\nout[v] = wins ? round : colour[v];"
        )
    elif form == "conflict":
        clashes = "if (u < (int)v && colour[u] == colour[v])\n    clash++;"
        inner = f"int clash = 0;\n{neighbours(draw, habits, clashes)}out[v] = clash;"
    elif form == "core":
        inner = (
            f"int left = 0;\nif (colour[v] > 0) {{\n"
            f"{neighbours(draw, habits, 'left += colour[u] > 0;')}}}\nout[v] = left >= round ? left : 0;"
        )
    else:
        best = "if (colour[u] == 0 && (mate < 0 || priority[u] > priority[mate]))\n    mate = u;"
        inner = f"int mate = -1;\n{neighbours(draw, habits, best)}out[v] = mate;"
    names = [
        *graph(habits),
        habits.takes("int", "colour"),
        habits.takes("uint", "priority"),
        habits.gives("int", "out"),
    ]
    names += [habits.number("round", "int"), habits.number("n")]

    def launch(d: Draw, w: Wish) -> Sized:
        made = graph_size(d, w, way, 28)
        fills: Fills = {
            "colour": ("randint", 0, d.choose((2, 8, 32))),
            "priority": d.choose((("perm",), ("randint", 0, 1 << 30))),
        }
        return with_vertices(made, dict.fromkeys(("colour", "priority", "out"), 1), {"round": d.integer(1, 20)}, fills)

    return draft(habits, "colour_step", names, way.write(inner, "v"), launch)


@family("triangle_counting", "graphs")
def triangle_counting(draw: Draw) -> Draft:
    """Generate counts of common neighbours of edges' ends, by merging, searching or trying; lists have a limit."""
    habits = hand(draw)
    way = walk(draw, habits, exact=draw.chance(0.5))
    form = draw.choose(("merge", "search", "try", "clustering"), "form")
    limit = draw.choose((8, 32, 128), "limit")
    head = f"const int a0 = rows[v], a1 = min(rows[v + 1], a0 + {limit});\n"
    if form == "merge":
        inner = f"""const int b0 = rows[u], b1 = min(rows[u + 1], b0 + {limit});
int p = a0, q = b0;
while (p < a1 && q < b1) {{
    const int a = cols[p], b = cols[q];
    found += a == b;
    if (a <= b) p++;
    if (b <= a) q++;
}}"""
    elif form == "search":
        inner = f"""const int b0 = rows[u], b1 = min(rows[u + 1], b0 + {limit});
for (int p = a0; p < a1; p++) {{
    int low = b0, high = b1;
    while (low < high) {{
        const int middle = low + (high - low) / 2;
        if (cols[middle] < cols[p]) low = middle + 1;
        else high = middle;
    }}
    found += low < b1 && cols[low] == cols[p] ? 1 : 0;
}}"""
    else:
        found = "found++;" if form == "try" else "{ found++; break; }"
        inner = f"""for (int p = rows[u]; p < min(rows[u + 1], rows[u] + {limit}); p++)
    for (int q = a0; q < a1; q++)
        if (cols[p] == cols[q]) {found}"""
    only = draw.choose(("if (u > (int)v) {", "{", "if (u != (int)v) {"), "only")
    inside = "\n".join("    " + text for text in inner.split("\n"))
    store = "out[v] = found;" if form != "clustering" else "out[v] = found * 1000 / max((a1 - a0) * (a1 - a0 - 1), 1);"
    body = (
        f"{head}int found = 0;\nfor (int e = a0; e < a1; e++) {{\n"
        f"    const int u = cols[e];\n    {only}\n{inside}\n    }}\n}}\n{store}"
    )
    names = [*graph(habits), habits.gives("int", "out"), habits.number("n")]

    def launch(d: Draw, w: Wish) -> Sized:
        made = graph_size(d, w, way, 12)
        scalars = dict(made.launch.scalars)
        degree = min(limit, scalars["edges"] / scalars["n"])
        cost = {"merge": 8 * degree, "search": 6 * degree * 5, "try": 3 * degree * degree}.get(
            form, 2 * degree * degree
        )
        done = made.operations + scalars["n"] * degree * cost
        made = Sized(made.launch, min(done, made.operations * (2 + cost)))
        return with_vertices(made, {"out": 1}, {}, {})

    return draft(habits, "triangles", names, way.write(body, "v"), launch)
