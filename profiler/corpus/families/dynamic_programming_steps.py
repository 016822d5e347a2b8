"""Steps over all pairs, chains of hidden states, and rows."""

from __future__ import annotations

from profiler.corpus.draw import Draw
from profiler.corpus.family import Draft, Sized, Wish, family
from profiler.corpus.writing.hand import finish_value, hand, literal, loop
from profiler.corpus.writing.plane import plane
from profiler.corpus.writing.sizes import Fills, draft, sized, within_memory
from profiler.corpus.writing.walk import walk


@family("rows_of_tables", "dynamic_programming")
def rows_of_tables(draw: Draw) -> Draft:
    """Generate the next row of a table from the last.

    Knapsacks, coins, subsets, paths down a field, seams, partitions.
    """
    habits = hand(draw)
    kind = draw.weighted({"int": 4.0, "float": 2.0, "uint": 1.0, "long": 0.4}, "type")
    way = walk(draw, habits)
    goal = draw.choose(
        ("knapsack", "bounded", "coins", "subset", "path", "path_wide", "seam", "grid_sum", "min_plus"), "goal"
    )
    most = draw.choose((3, 5, 9), "width")
    low, high = ("fmin", "fmax") if kind == "float" else ("min", "max")
    half = "old[i] * 0.5f" if kind == "float" else "old[i] / 2"
    coin = f"const int c = coins[k];\nif (c <= (int)i)\n    best = {low}(best, old[(int)i - c] + ({kind})1);"
    text = {
        "knapsack": draw.choose(
            (
                f"now[i] = (int)i >= weight ? {high}(old[i], old[(int)i - weight] + ({kind})value) : old[i];",
                (
                    f"{kind} best = old[i];\nif ((int)i >= weight) {{\n"
                    f"    const {kind} taken = old[(int)i - weight] + ({kind})value;\n"
                    f"    if (taken > best)\n        best = taken;\n}}\nnow[i] = best;"
                ),
            )
        ),
        "bounded": (
            f"{kind} best = old[i];\nfor (int k = 1; k <= {most} && k * weight <= (int)i; k++)\n"
            f"    best = {high}(best, old[(int)i - k * weight] + ({kind})(k * value));\nnow[i] = best;"
        ),
        "coins": (f"{kind} best = old[i];\n{loop(draw, 'k', '0', 'kinds', coin)}now[i] = best;"),
        "subset": "mask[i] = seen[i] | ((int)i >= weight ? seen[(int)i - weight] : 0);",
        "path": (
            "const int l = max((int)i - 1, 0), r = min((int)i + 1, (int)columns - 1);\n"
            f"now[i] = cost[i] + ({low}(old[l], {low}(old[i], old[r])) {'* 0.5f' if kind == 'float' else '/ 2'});"
        ),
        "path_wide": (
            f"{kind} best = old[i];\nfor (int s = -{most}; s <= {most}; s++)\n"
            f"    best = {low}(best, old[clamp((int)i + s, 0, (int)columns - 1)] + ({kind}"
            ")(s < 0 ? -s : s));\nnow[i] = best;"
        ),
        "seam": (
            "int from = i;\nif (i > 0 && old[i - 1] < old[from])\n    from = (int)i - 1;\n"
            "if ((int)i < (int)columns - 1 && old[(int)i + 1] < old[from])\n"
            "    from = (int)i + 1;\nway[i] = (char)(from - (int)i);\n"
            f"now[i] = cost[i] + {half.replace('[i]', '[from]')};"
        ),
        "grid_sum": (
            f"const {kind} l = i > 0 ? old[(int)i - 1] : cost[0];\n"
            f"now[i] = ({high}(l, old[i]) + cost[i]) {'* 0.5f' if kind == 'float' else '/ 2'};"
        ),
        "min_plus": (
            f"{kind} best = old[0] + cost[i];\n"
            f"{loop(draw, 'k', '1', 'kinds', f'best = {low}(best, old[k] + cost[((size_t)k * 7 + i) % columns]);')}"
            "now[i] = best;"
        ),
    }[goal]
    if goal not in ("subset", "seam") and draw.chance(0.4, "finish"):
        text += f"\nnow[i] = {finish_value(draw, 'now[i]', kind)};"
    names = [
        habits.takes(kind, "old"),
        habits.gives(kind, "now"),
        habits.takes(kind, "cost"),
        habits.takes("int", "coins"),
        habits.takes("uchar", "seen"),
    ]
    names += [
        habits.gives("uchar", "mask"),
        habits.gives("char", "way"),
        habits.number("weight", "int"),
        habits.number("value", "int"),
    ]
    names += [habits.number("kinds", "int"), habits.number("columns", "int"), habits.number("n")]

    def launch(d: Draw, w: Wish) -> Sized:
        size = way.size(w, 28)
        kinds = d.log_integer(1, 256)
        length = max(size.count, kinds)
        scalars = {
            "weight": d.log_integer(1, max(1, length)),
            "value": d.integer(1, 100),
            "kinds": kinds,
            "columns": size.count,
            "n": size.count,
        }
        buffers = dict.fromkeys(("old", "now", "cost", "seen", "mask", "way"), length) | {"coins": kinds}
        top = max(2, min(1000, length))
        fills: Fills = {
            "coins": ("randint", 1, top),
            "old": ("randint", 0, 1000) if kind != "float" else ("uniform", 0.5, 1000.0),
            "seen": ("randint", 0, 2),
        }
        cost = {"bounded": 7.0 * most, "coins": 6.0 * kinds, "path_wide": 14.0 * most, "min_plus": 14.0 * kinds}.get(
            goal, 9.0
        )
        return sized(size.global_size, size.local_size, size.done * cost, buffers, scalars, fills)

    return draft(habits, "next_row", names, way.write(text), launch)


@family("all_pairs_paths", "dynamic_programming")
def all_pairs_paths(draw: Draw) -> Draft:
    """One step of shortest paths between all pairs, and products in other rings: widest paths, reachability."""
    habits = hand(draw)
    kind = draw.weighted({"int": 3.0, "float": 3.0, "ushort": 0.5, "uchar": 0.5, "double": 0.5}, "type")
    way = plane(draw, habits, exact=False)
    ring = draw.choose(("shortest", "widest", "reach", "longest_bounded"), "ring")
    low, high = ("fmin", "fmax") if kind in ("float", "double") else ("min", "max")
    form = draw.choose(("step", "step", "step_branch", "product", "step_next", "several"), "form")

    def through(a: str, b: str) -> str:
        return {
            "shortest": f"({kind})({a} + {b})",
            "widest": f"{low}({a}, {b})",
            "reach": f"({kind})(({a} > 1) && ({b} > 1))",
            "longest_bounded": f"{low}(({kind})({a} + {b}), ({kind})100)",
        }[ring]

    better = low if ring == "shortest" else high
    sign = "<" if ring == "shortest" else ">"
    at = "dist[y * (size_t)nodes + x]"
    via = through("dist[y * (size_t)nodes + k]", "dist[k * (size_t)nodes + x]")
    if form == "step":
        text = f"out[y * (size_t)nodes + x] = {better}({at}, {via});"
    elif form == "step_branch":
        text = f"const {kind} t = {via};\nif (t {sign} {at})\n    out[y * (size_t)nodes + x] = t;"
    elif form == "step_next":
        text = (
            f"const {kind} t = {via};\nconst {kind} have = {at};\n"
            f"out[y * (size_t)nodes + x] = t {sign} have ? t : have;\n"
            f"next[y * (size_t)nodes + x] = t {sign} have ? k : -1;"
        )
    else:
        end = "nodes" if form == "product" else str(draw.choose((4, 8, 16)))
        first = "0" if form == "product" else "k"
        stop = end if form == "product" else f"min(k + {end}, nodes)"
        inner = f"best = {better}(best, {through('dist[y * (size_t)nodes + j]', 'dist[j * (size_t)nodes + x]')});"
        text = f"{kind} best = {at};\n{loop(draw, 'j', first, stop, inner)}out[y * (size_t)nodes + x] = best;"
    body = way.write(text, w="nodes", h="nodes")
    names = [
        habits.takes(kind, "dist"),
        habits.gives(kind, "out"),
        habits.gives("int", "next"),
        habits.number("k", "int"),
        habits.number("nodes", "int"),
    ]

    def launch(d: Draw, w: Wish) -> Sized:
        nodes = max(1, int(within_memory(min(w.data, 1 << 23), 20) ** 0.5))
        area = way.size(d, Wish(w.items, 1, w.local), 1)
        reach = area.global_size
        count = nodes * nodes
        if way.kind in ("flat",):
            done = min(reach[0], count)
        elif way.kind in ("flat_grid", "grid"):
            done = count
        elif way.kind in ("rows", "columns"):
            done = min(reach[0], nodes) * nodes
        else:
            done = min(reach[0], nodes) * min(reach[1], nodes)
        cost = 6.0 * nodes if form == "product" else 50.0 if form == "several" else 8.0
        fills: Fills = {"dist": ("uniform", 1.0, 50.0) if kind in ("float", "double") else ("randint", 0, 100)}
        return sized(
            reach,
            area.local_size,
            done * cost,
            {"dist": count, "out": count, "next": count},
            {"k": d.integer(0, nodes - 1), "nodes": nodes},
            fills,
        )

    return draft(habits, "paths_step", names, body, launch)


@family("hidden_states", "dynamic_programming")
def hidden_states(draw: Draw) -> Draft:
    """Generate a step of a chain of hidden states.

    Most likely, forward and backward sums, several sequences at once.
    """
    habits = hand(draw)
    kind = draw.weighted({"float": 4.0, "double": 1.0, "int": 1.0}, "type")
    way = walk(draw, habits)
    goal = draw.choose(("best", "best_from", "forward", "backward", "log_sum", "beam"), "goal")
    if kind == "int" and goal in ("forward", "backward", "log_sum"):
        goal = "best"
    fixed = draw.choose((0, 0, 4, 16, 32), "states")
    states = str(fixed) if fixed else "states"
    by_row = draw.chance(0.5, "row_major")
    change = f"change[s * {states} + k]" if by_row else f"change[k * {states} + s]"
    old = f"old[(size_t)q * {states} + k]"
    emit = "emit[s * symbols + seen[q]]"
    high = "max" if kind == "int" else "fmax"
    head = f"const int q = i / {states};\nconst int s = i - q * {states};\n"
    if goal in ("best", "best_from", "beam"):
        test = f"if ({old} > limit) {{{{\n{{0}}\n}}}}" if goal == "beam" else "{0}"
        if goal == "best_from":
            step = f"const {kind} v = {old} + {change};\nif (v > best) {{\n    best = v;\n    from = k;\n}}"
            text = (
                f"{head}{kind} best = old[(size_t)q * {states}] + change[s];\nint from = 0;\n"
                f"{loop(draw, 'k', '0', states, step)}now[i] = best / 2 + {emit};\nback[i] = from;"
            )
        else:
            step = test.format(f"best = {high}(best, {old} + {change});")
            text = f"{head}{kind} best = 0;\n{loop(draw, 'k', '0', states, step)}now[i] = best / 2 + {emit};"
    elif goal == "log_sum":
        text = (
            f"{head}{kind} top = 0;\n"
            f"{loop(draw, 'k', '0', states, f'top = fmax(top, {old} + {change});')}{kind} sum = 0;\n"
            f"{loop(draw, 'k', '0', states, f'sum += exp({old} + {change} - top);')}"
            f"now[i] = top / 2 + log(sum + {literal(1, kind)}) + {emit};"
        )
    else:
        step = (
            f"sum += {old} * {change};"
            if goal == "forward"
            else f"sum += {old} * change[k * {states} + s] * emit[k * symbols + seen[q]];"
        )
        text = (
            f"{head}{kind} sum = 0;\n"
            f"{loop(draw, 'k', '0', states, step)}now[i] = sum / ({kind}"
            f"){states}{f' * {emit}' if goal == 'forward' else ''};"
        )
    names = [
        habits.takes(kind, "old"),
        habits.gives(kind, "now"),
        habits.takes(kind, "change"),
        habits.takes(kind, "emit"),
        habits.takes("int", "seen"),
    ]
    names += [
        habits.gives("int", "back"),
        habits.number("states", "int"),
        habits.number("symbols", "int"),
        habits.number("limit", kind),
        habits.number("n"),
    ]

    def launch(d: Draw, w: Wish) -> Sized:
        size = way.size(w, 28)
        count = fixed or d.log_integer(1, 512)
        symbols = d.log_integer(1, 64)
        sequences = -(-size.count // count)
        buffers = dict.fromkeys(("old", "now", "back"), sequences * count) | {
            "change": count * count,
            "emit": count * symbols,
            "seen": sequences,
        }
        fills: Fills = {"seen": ("randint", 0, symbols)}
        scalars = {"states": count, "symbols": symbols, "limit": 5 if kind == "int" else 1.0, "n": size.count}
        work = size.done * (30.0 + count * (45.0 if goal == "log_sum" else 6.0))
        return sized(size.global_size, size.local_size, work, buffers, scalars, fills)

    return draft(habits, "state_step", names, way.write(text), launch)
