"""Walkers on graphs, components, and work on single edges."""

from __future__ import annotations

from profiler.corpus.draw import Draw
from profiler.corpus.families.sparse import pattern_fills
from profiler.corpus.family import Draft, Sized, Wish, family
from profiler.corpus.writing.hand import finish_value, hand
from profiler.corpus.writing.sizes import Fills, draft, rows_for, sized, within_memory
from profiler.corpus.writing.walk import walk


@family("component_hooking", "graphs")
def component_hooking(draw: Draw) -> Draft:
    """Generate connected components: hooking of roots along edges, and shortening of the paths to them."""
    habits = hand(draw)
    way = walk(draw, habits)
    form = draw.choose(("hook", "hook_min", "hook_stochastic", "compress", "compress_bounded", "full_find"), "form")
    hops = draw.choose((2, 4, 16), "hops")
    low_high = "const int a = parent[from[i]];\nconst int b = parent[to[i]];\n"
    inner = {
        "hook": f"{low_high}if (a != b)\n    next[max(a, b)] = min(a, b);",
        "hook_min": (
            f"{low_high}if (a < b)\n    atomic_min(&next[b], a);\nelse if (b < a)\n    atomic_min(&next[a], b);"
        ),
        "hook_stochastic": (
            f"{low_high}const int ga = parent[a], gb = parent[b];\n"
            f"if (ga != gb) {{\n    atomic_min(&next[a], gb);\n    *again = 1;\n}}"
        ),
        "compress": "next[i] = parent[parent[i]];",
        "compress_bounded": (
            f"int p = parent[i];\nfor (int hop = 0; hop < {hops}; hop++)\n    p = parent[p];\nnext[i] = p;"
        ),
        "full_find": "int p = i, steps = 0;\nwhile (parent[p] != p && steps < 64) {\n"
        "    p = parent[p];\n    steps++;\n}\n"
        f"next[i] = {draw.choose(('p', 'steps', 'p + steps'))};",
    }[form]
    names = [
        habits.takes("int", "from"),
        habits.takes("int", "to"),
        habits.takes("int", "parent"),
        f"{habits.space} int *next",
    ]
    names += [f"{habits.space} int *again", habits.number("n")]
    edgewise = "from" in inner

    def launch(d: Draw, w: Wish) -> Sized:
        size = way.size(w, 16)
        vertices = rows_for(d, w, size.count) if edgewise else size.count
        roots = d.choose(
            (("iota",), ("perm",), ("randint", 0, vertices), ("skewed", 0, vertices), ("clustered", 0, vertices, 50))
        )
        ends = d.choose((("randint", 0, vertices), ("sorted", 0, vertices), ("clustered", 0, vertices, 50)))
        fills: Fills = {"from": ends, "to": ("randint", 0, vertices), "parent": roots, "next": ("iota",)}
        buffers = {"from": size.count, "to": size.count, "parent": vertices, "next": max(vertices, 1), "again": 1}
        work = size.done * {"compress_bounded": 2.0 * hops, "full_find": 60.0, "compress": 4.0}.get(form, 12.0)
        return sized(size.global_size, size.local_size, work, buffers, {"n": size.count}, fills)

    in_place = ("next",) if form in ("hook", "hook_min", "hook_stochastic") else ()
    return draft(habits, "hooking", names, way.write(inner), launch, in_place=in_place)


@family("graph_walkers", "graphs")
def graph_walkers(draw: Draw) -> Draft:
    """Random walks of bounded length, with restarts or a place to stop at."""
    habits = hand(draw)
    way = walk(draw, habits)
    step = draw.choose(
        (
            "state = state * 1664525u + 1013904223u;",
            "state ^= state << 13;\nstate ^= state >> 17;\nstate ^= state << 5;",
        ),
        "generator",
    )
    pick = draw.choose(
        ("state % (uint)degree", "(uint)(((ulong)state * degree) >> 32)", "mul_hi(state, (uint)degree)"), "pick"
    )
    form = draw.choose(("plain", "restart", "stop", "collect", "biased", "count"), "form")
    after = {
        "restart": "if ((state >> 24) < 32u)\n    v = start[i];",
        "stop": "if (v == target)\n    break;",
        "collect": "sum += value[v];",
        "biased": "if (value[v] > value[start[i]])\n    sum += 0.5f;",
        "count": "atomic_inc(&visits[v]);",
    }.get(form, "")
    last = {"collect": "out[i] = sum;", "biased": "out[i] = sum;", "stop": "out[i] = (float)s;"}.get(
        form, "end[i] = v;"
    )
    inside = "\n".join(
        "    " + text
        for text in (
            f"const int degree = rows[v + 1] - rows[v];\n{step}\n"
            f"if (degree > 0)\n    v = cols[rows[v] + {pick}];\n{after}"
        ).split("\n")
    )
    head = (
        "int v = start[i];\nuint state = (uint)i * 2654435761u + seed;\nstate |= 1u;\nfloat sum = 0;\n"
        if "sum" in last
        else "int v = start[i];\nuint state = ((uint)i + seed) | 1u;\n"
    )
    body = f"{head}int s = 0;\nfor (; s < steps; s++) {{\n{inside}\n}}\n{last}"
    names = [
        habits.takes("int", "rows"),
        habits.takes("int", "cols"),
        habits.takes("int", "start"),
        habits.takes("float", "value"),
    ]
    names += [habits.gives("float", "out"), habits.gives("int", "end"), f"{habits.space} int *visits"]
    names += [
        habits.number("steps", "int"),
        habits.number("target", "int"),
        habits.number("seed", "uint"),
        habits.number("n"),
    ]

    def launch(d: Draw, w: Wish) -> Sized:
        edges = within_memory(w.data, 8)
        vertices = rows_for(d, w, edges)
        walkers = w.items if d.chance(0.3) else d.log_integer(1, 1 << 22)
        size = way.size(w, 12, walkers)
        steps = d.log_integer(1, 2000)
        fills: Fills = {**pattern_fills(d, edges, vertices), "start": ("randint", 0, vertices)}
        buffers = {"rows": vertices + 1, "cols": edges, "start": size.count, "value": vertices, "visits": vertices}
        buffers |= {"out": size.count, "end": size.count}
        scalars = {"steps": steps, "target": d.integer(0, vertices - 1), "seed": d.integer(1, 1 << 30), "n": size.count}
        return sized(size.global_size, size.local_size, size.done * (6.0 + 14 * steps), buffers, scalars, fills)

    return draft(habits, "wander", names, way.write(body), launch)


@family("edge_lists", "graphs")
def edge_lists(draw: Draw) -> Draft:
    """Work on each edge alone: gradients over it, filters, orientation, weights from the ends."""
    habits, kind = hand(draw), draw.choose(("float", "float", "int", "float2", "float4"), "type")
    way = walk(draw, habits)
    packed = draw.chance(0.4, "pairs")
    head = "const int2 ends = pairs[i];\n" if packed else ""
    a, b = ("ends.x", "ends.y") if packed else ("from[i]", "to[i]")
    forms = [f"value[{b}] - value[{a}]", f"(value[{a}] + value[{b}]) / ({kind})(2)", f"max(value[{a}], value[{b}])"]
    forms += [f"value[{a}] * weights[i] + value[{b}]"]
    result = finish_value(draw, draw.choose(forms, "form"), kind)
    store = draw.choose(
        (
            "out[i] = {v};",
            "if ({a} < {b})\n    out[i] = {v};",
            "out[order[i]] = {v};",
            "out[i] = {a} == {b} ? ({k})(0) : {v};",
        ),
        "store",
    )
    body = way.write(head + store.format(a=a, b=b, v=result, k=kind))
    names = [
        habits.takes("int2", "pairs"),
        habits.takes("int", "from"),
        habits.takes("int", "to"),
        habits.takes(kind, "value"),
    ]
    names += [
        habits.takes(kind, "weights"),
        habits.takes("int", "order"),
        habits.gives(kind, "out"),
        habits.number("n"),
    ]

    def launch(d: Draw, w: Wish) -> Sized:
        size = way.size(w, 44)
        vertices = min(1 << 21, rows_for(d, w, size.count))
        ends = d.choose(
            (("randint", 0, vertices), ("sorted", 0, vertices), ("clustered", 0, vertices, d.log_integer(1, 1000)))
        )
        fills: Fills = {"pairs": ends, "from": ends, "to": ("randint", 0, vertices), "order": ("perm",)}
        buffers = dict.fromkeys(("pairs", "from", "to", "weights", "order", "out"), size.count) | {"value": vertices}
        return sized(size.global_size, size.local_size, size.done * 12.0, buffers, {"n": size.count}, fills)

    return draft(habits, "along_edges", names, body, launch)
