"""Steps over graphs by edge, by front and by walker."""

from __future__ import annotations

from profiler.corpus.draw import Draw
from profiler.corpus.families.sparse import pattern_fills
from profiler.corpus.families.sparse_groups import float_add
from profiler.corpus.family import Draft, Sized, Wish, family
from profiler.corpus.writing.hand import hand, loop
from profiler.corpus.writing.sizes import Fills, draft, rows_for, sized, within_memory
from profiler.corpus.writing.walk import walk


@family("front_queue", "graphs")
def front_queue(draw: Draw) -> Draft:
    """Generate an item for each vertex of a front; what it reaches first goes into the next front."""
    habits = hand(draw)
    way = walk(draw, habits, exact=False)
    claim = draw.choose(("exchange", "compare", "or_bit", "min"), "claim")
    test = {
        "exchange": "atomic_xchg(&mark[u], 1) == 0",
        "compare": "mark[u] == 0 && atomic_cmpxchg(&mark[u], 0, depth) == 0",
        "or_bit": "(atomic_or(&mark[u >> 5], 1 << (u & 31)) & (1 << (u & 31))) == 0",
        "min": "atomic_min(&mark[u], depth) > depth",
    }[claim]
    push = draw.choose(
        (
            "const int at = atomic_inc(tail);\nif (at < capacity)\n    next[at] = u;",
            "next[atomic_inc(tail) % capacity] = u;",
            "const int at = atomic_add(&tail[0], 1);\nnext[min(at, capacity - 1)] = u;",
        ),
        "push",
    )
    tail = "volatile " if draw.chance(0.5) else ""
    form = draw.choose(("serial", "batched"), "form")
    if form == "serial":
        inner = f"if ({test}) {{\n{push}\n}}"
        walking = loop(draw, "e", "rows[v]", "rows[v + 1]", f"const int u = cols[e];\n{inner}")
    else:
        walking = f"""int kept[8];
int count = 0;
for (int e = rows[v]; e < rows[v + 1] && count < 8; e++) {{
    const int u = cols[e];
    if ({test})
        kept[count++] = u;
}}
if (count > 0) {{
    const int at = atomic_add(tail, count);
    for (int k = 0; k < count; k++)
        next[(at + k) % capacity] = kept[k];
}}
"""
    body = way.write(f"const int v = front[i];\n{walking}")
    names = [
        habits.takes("int", "rows"),
        habits.takes("int", "cols"),
        habits.takes("int", "front"),
        f"{tail}{habits.space} int *mark",
    ]
    names += [habits.gives("int", "next"), f"{tail}{habits.space} int *tail", habits.number("capacity", "int")]
    names += [habits.number("depth", "int"), habits.number("n")]

    def launch(d: Draw, w: Wish) -> Sized:
        edges = within_memory(w.data, 8)
        vertices = rows_for(d, w, edges)
        front = max(1, int(vertices * d.log_real(0.01, 1)))
        size = way.size(w, 8, front)
        capacity = d.log_integer(1, vertices)
        buffers = {
            "rows": vertices + 1,
            "cols": edges,
            "front": size.count,
            "mark": vertices,
            "next": capacity,
            "tail": 1,
        }
        fills: Fills = {
            **pattern_fills(d, edges, vertices),
            "front": d.choose((("randint", 0, vertices), ("sorted", 0, vertices))),
        }
        fills |= {"mark": d.choose((("zeros",), ("randint", 0, 2), ("randint", 0, 20))), "tail": ("zeros",)}
        work = size.done * (6 + 8 * edges / vertices)
        return sized(
            size.global_size,
            size.local_size,
            work,
            buffers,
            {"capacity": capacity, "depth": d.integer(1, 20), "n": size.count},
            fills,
        )

    return draft(habits, "advance", names, body, launch, in_place=("mark", "tail"))


@family("edge_relaxation", "graphs")
def edge_relaxation(draw: Draw) -> Draft:
    """Distances over a list of edges or pulled by vertex: shortest paths, widest paths, heights."""
    habits = hand(draw)
    kind = draw.choose(("int", "uint", "float"), "type")
    way = walk(draw, habits, exact=draw.chance(0.4))
    by_vertex = kind == "float" or draw.chance(0.4, "by_vertex")
    widest = draw.chance(0.25, "widest")
    better, through = ("max", "min(dist[{u}], weights[{e}])") if widest else ("min", "dist[{u}] + weights[{e}]")
    if by_vertex:
        term = through.format(u="cols[e]", e="e")
        step = draw.choose(
            (
                f"best = {better}(best, {term});",
                f"const {kind} t = {term};\nif (t {'>' if widest else '<'} best)\n    best = t;",
            )
        )
        last = draw.choose(
            (
                "out[i] = best;",
                "if (best != dist[i])\n    out[i] = best;",
                "out[i] = best;\nif (best != dist[i])\n    *again = 1;",
            )
        )
        inner = f"{kind} best = dist[i];\n{loop(draw, 'e', 'rows[i]', 'rows[i + 1]', step)}{last}"
    else:
        term = through.format(u="from[i]", e="i")
        atomic = f"atomic_{better}(&out[to[i]], t);"
        test = draw.choose(
            ("", f"if (t {'>' if widest else '<'} dist[to[i]])\n    ", "if (active[from[i]])\n    "), "test"
        )
        old = draw.chance(0.3, "uses_old")
        if old:
            atomic = f"if (atomic_{better}(&out[to[i]], t) != t)\n        *again = 1;"
        inner = f"const {kind} t = {term};\n{test}{atomic}"
        if draw.chance(0.3, "both_ways"):
            back = through.format(u="to[i]", e="i")
            inner += f"\nconst {kind} s = {back};\natomic_{better}(&out[from[i]], s);"
    names = [
        habits.takes("int", "rows"),
        habits.takes("int", "cols"),
        habits.takes("int", "from"),
        habits.takes("int", "to"),
    ]
    names += [habits.takes(kind, "weights"), habits.takes(kind, "dist"), habits.takes("uchar", "active")]
    names += [habits.gives(kind, "out"), f"{habits.space} int *again", habits.number("n")]

    def launch(d: Draw, w: Wish) -> Sized:
        if by_vertex:
            edges = within_memory(w.data, 16)
            size = way.size(w, 24, rows_for(d, w, edges))
            vertices, work = size.count, size.done * (4 + 6 * edges / size.count)
        else:
            size = way.size(w, 24)
            edges, vertices, work = size.count, rows_for(d, w, size.count), size.done * 12.0
        ends = d.choose((("randint", 0, vertices), ("sorted", 0, vertices), ("skewed", 0, vertices)))
        fills: Fills = {**pattern_fills(d, edges, vertices), "from": ends, "to": ("randint", 0, vertices)}
        fills |= {
            "active": ("randint", 0, d.choose((2, 10))),
            "dist": ("uniform", 1, 1000) if kind == "float" else ("randint", 1, 1000),
        }
        fills |= {} if kind == "float" else {"weights": ("randint", 1, 100), "out": ("randint", 1, 1000)}
        buffers = {"rows": vertices + 1, "cols": edges, "from": edges, "to": edges, "weights": edges, "dist": vertices}
        buffers |= {"active": vertices, "out": vertices, "again": 1}
        return sized(size.global_size, size.local_size, work, buffers, {"n": size.count}, fills)

    return draft(habits, "relax", names, way.write(inner), launch, in_place=() if by_vertex else ("out",))


@family("push_along_edges", "graphs")
def push_along_edges(draw: Draw) -> Draft:
    """Each vertex or edge adds to its neighbours: ranks, counts, messages, degrees."""
    habits = hand(draw)
    kind = draw.choose(("int", "int", "float", "uint"), "type")
    way = walk(draw, habits)
    by_edge = draw.chance(0.5, "by_edge")
    share = {
        "int": "value[v] / max(rows[v + 1] - rows[v], 1)",
        "uint": "value[v] >> 2",
        "float": "value[v] * inverse[v]",
    }[kind]
    share = draw.choose((share, "value[v]", "value[v] * weights[e]"), "share")
    before = float_add(draw, habits) if kind == "float" else ""
    atomic = draw.choose(("atomic_add", "atomic_max", "atomic_xor"), "atomic")
    add = f"add_float(&out[u], {share});" if kind == "float" else f"{atomic}(&out[u], {share});"
    test = draw.choose(("", "", "if (active[v])\n    ", "if (value[v] > value[u])\n    "), "test")
    if by_edge:
        inner = f"const int v = from[e];\nconst int u = to[e];\n{test}{add}"
        text = way.write(inner.replace("rows[v + 1] - rows[v]", "degree[v]"), "e")
    else:
        walking = loop(
            draw, "e", "rows[v]", "rows[v + 1]", f"const int u = cols[e];\n{test if 'u' in test else ''}{add}"
        )
        text = way.write(f"{{\n{walking}}}" if "active" not in test else f"if (active[v]) {{\n{walking}}}", "v")
    names = [
        habits.takes("int", "rows"),
        habits.takes("int", "cols"),
        habits.takes("int", "from"),
        habits.takes("int", "to"),
    ]
    names += [
        habits.takes("int", "degree"),
        habits.takes(kind, "weights"),
        habits.takes(kind, "value"),
        habits.takes(kind, "inverse"),
    ]
    names += [
        habits.takes("uchar", "active"),
        f"{'volatile ' if draw.chance(0.3) else ''}{habits.space} {kind} *out",
        habits.number("n"),
    ]

    def launch(d: Draw, w: Wish) -> Sized:
        if by_edge:
            size = way.size(w, 20)
            edges, vertices, work = size.count, rows_for(d, w, size.count), size.done * 18.0
        else:
            edges = within_memory(w.data, 16)
            size = way.size(w, 32, rows_for(d, w, edges))
            vertices, work = size.count, size.done * (4 + 16 * edges / size.count)
        ends = d.choose((("randint", 0, vertices), ("sorted", 0, vertices), ("skewed", 0, vertices)))
        fills: Fills = {**pattern_fills(d, edges, vertices), "from": ends, "active": ("randint", 0, d.choose((2, 10)))}
        fills |= {"to": d.choose((("randint", 0, vertices), ("skewed", 0, vertices)))}
        buffers = {"rows": vertices + 1} | dict.fromkeys(("cols", "from", "to", "weights"), edges)
        buffers |= dict.fromkeys(("degree", "value", "inverse", "active", "out"), vertices)
        fills |= {"degree": ("randint", 1, 64)}
        return sized(size.global_size, size.local_size, work, buffers, {"n": size.count}, fills)

    return draft(habits, "push", names, text, launch, before=before)
